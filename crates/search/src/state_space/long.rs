//! Gauss–Newton on records too long to use whole from the first step on.
//!
//! The objective is that of [`descend`]. A step costs O(N P²) for N samples and P parameters; the first stage takes 50 P samples,
//! enough to find the basin and not so few that a model learns to diverge elsewhere.

use super::descent::{DescentConfig, Fitted, descend, mean_squared_error};
use super::run::{Run, Scored};

/// Settings of [`descend_long`].
///
/// | field | default | purpose |
/// |---|---|---|
/// | `descent` | | of the last stage, on all samples; its λ holds for all stages |
/// | `per_parameter` | 50 | samples per parameter in the first stage: with fewer a model learns to diverge elsewhere |
/// | `first_iterations` | 30 | most steps of the first stage |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongConfig {
    /// Of the last stage.
    pub descent: DescentConfig,
    /// Samples per parameter in the first stage.
    pub per_parameter: usize,
    /// Steps of the first stage.
    pub first_iterations: usize,
}

impl Default for LongConfig {
    fn default() -> Self {
        Self {
            descent: DescentConfig::default(),
            per_parameter: 50,
            first_iterations: 30,
        }
    }
}

/// Descends on the beginning of every run first, then on all samples that count; returns the model and its mean squared error
/// over them. None if the start diverges.
///
/// Beginnings cost least, since sensitivities must be carried through whatever lies between samples that count. The first stage
/// is left out where it would use more than half of the samples, and forgotten where its result is worse than its start.
///
/// `keep_on(steps, mse)` is asked before every step.
pub fn descend_long(
    start: Fitted,
    runs: &[Run],
    scored: &Scored,
    config: LongConfig,
    mut keep_on: impl FnMut(usize, f64) -> bool,
) -> Option<(Fitted, f64)> {
    let mut now = start;
    let mut mse = mean_squared_error(&now, runs, scored)?;
    let wanted = config.per_parameter * now.model.shape.parameters();
    if 2 * wanted < scored.samples() {
        let beginnings = beginnings(runs, scored, wanted as f64 / scored.samples() as f64);
        let first = DescentConfig {
            iterations: config.first_iterations,
            ..config.descent
        };
        let found = descend(now.clone(), runs, &beginnings, first, &mut keep_on)?.fitted;
        if let Some(better) = mean_squared_error(&found, runs, scored).filter(|found| *found < mse) {
            (now, mse) = (found, better);
        }
    }
    match descend(now.clone(), runs, scored, config.descent, keep_on) {
        Some(descent) => Some((descent.fitted, descent.mse)),
        None => Some((now, mse)),
    }
}

/// The samples that count in the first `share` of every run.
pub(crate) fn beginnings(runs: &[Run], scored: &Scored, share: f64) -> Scored {
    let flags: Vec<Vec<bool>> = runs
        .iter()
        .enumerate()
        .map(|(index, run)| scored.flags(index, run.len()))
        .collect();
    Scored::matching(runs, |run, k| {
        flags[run][k] && (k as f64) < share * flags[run].len() as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_space::fit_linear::{LinearConfig, fit_linear};
    use crate::state_space::fixtures::saturating_plant;
    use crate::state_space::start::beside_linear;

    #[test]
    fn a_long_record_of_a_saturating_plant_is_learnt() {
        let runs = [saturating_plant(6000)];
        let scored = Scored::outside(&runs, 3000..4000);
        assert_eq!(beginnings(&runs, &scored, 0.75).ranges(0), [0..3000, 4000..4500]);
        let first_order = LinearConfig {
            states: 1,
            ..LinearConfig::default()
        };
        let linear = fit_linear(&runs, &scored, first_order).expect("fits");
        let start = Fitted {
            model: beside_linear(&linear.model, 3, 0, 1),
            x0: linear.x0,
        };
        let config = LongConfig {
            descent: DescentConfig {
                weight_penalty: 1e-8,
                ..DescentConfig::default()
            },
            ..LongConfig::default()
        };
        let (found, mse) = descend_long(start, &runs, &scored, config, |_, _| true).expect("stable");
        assert!(mse < 1e-4, "{mse}");
        let apart = mean_squared_error(&found, &runs, &Scored::between(&runs, 3000..4000)).expect("stable");
        assert!(apart < 2e-4, "{apart}");
    }
}
