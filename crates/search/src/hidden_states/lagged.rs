//! Models on lagged outputs among those with hidden states: their lags are the states.
//!
//! With x(k) = [y(k-1) … y(k-n_y), u(k-1) … u(k-m)] a model on lags is a state-space model whose first states are its own prediction,
//! x₁(k+1) = ŷ(k), and whose others move on by one place. An observer that puts the measurement in place of the prediction, K = 1 there and
//! 0 elsewhere, keeps measured lags. So a mean can have models of both families, and they are judged and started alike.

use super::history::MeasuredStart;
use super::rounds::HiddenSearch;
use super::stress::{bears, run_backwards};
use crate::doubt::disagreement;
use crate::output_error::Narx;
use crate::score::score;
use crate::state_space::{Fitted, Observer, Shape, StateSpace};

/// Lags beyond this many states are no candidates for a mean: every member would have to carry them.
const MOST_STATES: usize = 20;

/// The state-space model that predicts what `narx` predicts, with the observer that keeps measured lags, where inputs come `dead_time`
/// samples late. None for more than one hidden layer, a shorter dead time, or too many lags.
pub(crate) fn with_lags_as_states(narx: &Narx, dead_time: usize) -> Option<(StateSpace, Observer)> {
    let (nu, ny, lags) = (narx.inputs, narx.outputs, narx.lags);
    let later = lags.nd.checked_sub(dead_time)?;
    // The present input is no state.
    let past_inputs = if nu == 0 { 0 } else { later + lags.input_taps() - 1 };
    let regressor = narx.regressor();
    let states = regressor.output_len() + past_inputs * nu;
    let hidden = match *narx.hidden.as_slice() {
        [] => 0,
        [units] => units,
        _ => return None,
    };
    if states > MOST_STATES {
        return None;
    }
    let width = states + nu;
    // Entry of [x(k); u(k)] that holds an entry of the regressor.
    let place = |entry: usize| match entry.checked_sub(regressor.output_len()) {
        None => entry,
        Some(input) => match (later + input / nu, input % nu) {
            (0, channel) => states + channel,
            (age, channel) => regressor.output_len() + (age - 1) * nu + channel,
        },
    };
    let placed = |row: &[f64]| {
        let mut placed = vec![0.0; width];
        row.iter()
            .enumerate()
            .for_each(|(entry, weight)| placed[place(entry)] = *weight);
        placed
    };
    let length = regressor.len();
    let (inner, rest) = narx.theta.split_at(hidden * length);
    let (inner_bias, rest) = rest.split_at(hidden);
    let (readout, rest) = rest.split_at(ny * hidden);
    let (bias, linear) = rest.split_at(ny);
    let inner: Vec<f64> = inner.chunks_exact(length).flat_map(placed).collect();
    let linear: Vec<f64> = linear.chunks_exact(length).flat_map(placed).collect();
    let mut moves = vec![0.0; (states - ny) * width];
    for (row, state) in (ny..states).enumerate() {
        // The first of the past inputs is the present one.
        let from = match state.checked_sub(regressor.output_len()) {
            Some(channel) if channel < nu => states + channel,
            Some(_) => state - nu,
            None => state - ny,
        };
        moves[row * width + from] = 1.0;
    }
    let zeros = |count: usize| std::iter::repeat_n(0.0, count);
    let mut theta = [&inner, inner_bias, readout].concat();
    theta.extend(zeros((states - ny) * hidden));
    theta.extend(linear.iter().chain(&moves).chain(bias));
    theta.extend(zeros(states - ny));
    theta.extend([inner.as_slice(), inner_bias, readout, &linear, bias].concat());
    let shape = Shape {
        states,
        inputs: nu,
        outputs: ny,
        state_hidden: hidden,
        output_hidden: hidden,
    };
    let mut gain = vec![0.0; states * ny];
    (0..ny).for_each(|output| gain[output * ny + output] = 1.0);
    Some((StateSpace::new(shape, theta), Observer::of_gain(gain)))
}

impl HiddenSearch {
    /// A candidate on lagged outputs, a model of each division that judges, judged on held-out samples as those with hidden states are; none
    /// where its lags cannot be states, or where a model does not stay in sight.
    pub(crate) fn start_lagged(&self, models: &[Narx]) -> Option<MeasuredStart> {
        let lags = models.first()?.lags;
        let history = self
            .histories()
            .into_iter()
            .find(|&n| n > lags.nd + lags.nx.max(lags.ny))?;
        let mut members = Vec::new();
        for (division, narx) in models.iter().enumerate() {
            let (model, observer) = with_lags_as_states(narx, self.dead_time)?;
            let x0 = vec![vec![0.0; model.shape().states]; self.runs.len()];
            let fitted = Fitted { model, x0 };
            if !bears(&fitted, &self.stress) {
                return None;
            }
            members.push((division, fitted, observer));
        }
        let elsewhere = members.iter().map(|(_, fitted, _)| run_backwards(fitted, &self.stress));
        let doubt = disagreement(&elsewhere.collect::<Vec<_>>());
        let errors = self.held_out_errors(&members, history)?;
        Some(MeasuredStart {
            shape: members.first()?.1.model.shape(),
            history,
            score: score(&errors, self.blocks(), self.coverage()).doubted(doubt),
            errors,
        })
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::{InitialState, Lags, ScaledExperiment, Window};

    use super::*;
    use crate::state_space::Run;

    const SAMPLES: usize = 80;

    /// Two inputs, two outputs, a network of three units or none, with weights that are no pattern.
    fn narx(lags: Lags, hidden: &[usize]) -> Narx {
        let mut narx = Narx {
            lags,
            inputs: 2,
            outputs: 2,
            hidden: hidden.to_vec(),
            theta: Vec::new(),
        };
        let (length, units) = (narx.regressor_len(), hidden.first().copied().unwrap_or(0));
        let count = units * (length + 1) + 2 * (units + length + 1);
        narx.theta = (0..count)
            .map(|at| 0.2 * (1.7 * (at * at % 101) as f64).sin())
            .collect();
        narx
    }

    fn channel(rate: f64) -> Vec<f64> {
        (0..SAMPLES).map(|k| (rate * (k * k % 97) as f64).sin()).collect()
    }

    #[test]
    fn a_model_on_lags_and_one_with_its_lags_as_states_predict_the_same() {
        let experiment = ScaledExperiment::new(vec![channel(0.37), channel(0.71)], vec![channel(0.23), channel(0.53)]);
        let start = 30;
        for (lags, dead_time) in [
            ((2, 0, 3), 0),
            ((0, 2, 1), 0),
            ((1, 3, 2), 3),
            ((2, 2, 1), 1),
            ((0, 0, 1), 0),
        ] {
            let lags = Lags::new(lags.0, lags.1, lags.2).expect("valid");
            for hidden in [&[3][..], &[]] {
                let narx = narx(lags, hidden);
                let mut expected = Vec::new();
                let window = Window {
                    experiment: 0,
                    start: start - 1,
                    len: SAMPLES - start + 1,
                };
                let is_finite = narx.run(
                    &experiment,
                    window,
                    InitialState::Measured,
                    &mut narx.tape(),
                    |_, _, y| {
                        expected.extend_from_slice(y);
                    },
                );
                assert!(is_finite);

                let (model, observer) = with_lags_as_states(&narx, dead_time).expect("few lags");
                let rows = |of: &dyn Fn(usize, usize) -> f64| (0..2 * SAMPLES).map(|at| of(at % 2, at / 2)).collect();
                let late = |of, k: usize| k.checked_sub(dead_time).map_or(0.0, |k| experiment.input(of)[k]);
                let run = Run::new(2, 2, rows(&late), rows(&|of, k| experiment.output(of)[k]));
                let state = observer.follow(&model, &run.slice(10..start), &vec![0.0; model.shape().states]);
                let found = model
                    .simulate(&run.slice(start..SAMPLES), &state.expect("finite"))
                    .expect("finite");
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(
                        (found - expected).abs() < 1e-12,
                        "{lags} {hidden:?}: {found} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_no_state_space_model_of_few_states_is_left_alone() {
        let few = Lags::new(1, 1, 1).expect("valid");
        assert!(with_lags_as_states(&narx(few, &[3]), 1).is_some());
        assert!(with_lags_as_states(&narx(few, &[3]), 2).is_none());
        assert!(with_lags_as_states(&narx(Lags::new(8, 0, 3).expect("valid"), &[]), 0).is_none());
        let deep = Narx {
            hidden: vec![3, 3],
            ..narx(few, &[3])
        };
        assert!(with_lags_as_states(&deep, 1).is_none());
    }
}
