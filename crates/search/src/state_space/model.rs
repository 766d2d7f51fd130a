//! The neural state-space model: parameters, one step, free runs.
//!
//! x(k+1) = A x(k) + B u(k) + W₂ tanh(W₁ [x(k); u(k)] + b₁) + b_x
//!
//! ŷ(k) = C x(k) + D u(k) + V₂ tanh(V₁ [x(k); u(k)] + c₁) + b_y

use super::map::Map;
use super::run::Run;

/// Sizes of a model. Either network may be absent; with neither the model is linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// States.
    pub states: usize,
    /// Inputs.
    pub inputs: usize,
    /// Outputs.
    pub outputs: usize,
    /// Units of the network in the state map.
    pub state_hidden: usize,
    /// Units of the network in the output map.
    pub output_hidden: usize,
}

impl Shape {
    /// z = [x; u] to x(k+1).
    pub(crate) fn state_map(self) -> Map {
        Map {
            rows: self.states,
            width: self.states + self.inputs,
            hidden: self.state_hidden,
        }
    }

    /// z = [x; u] to ŷ(k).
    pub(crate) fn output_map(self) -> Map {
        Map {
            rows: self.outputs,
            width: self.states + self.inputs,
            hidden: self.output_hidden,
        }
    }

    /// Number of parameters of both maps.
    pub fn parameters(self) -> usize {
        self.state_map().parameters() + self.output_map().parameters()
    }
}

/// A state-space model with a network beside the linear path of either map.
///
/// θ is the state map's parameters followed by the output map's. Those of a map lie side by side, matrices row by row: W₁, b₁,
/// W₂, its linear path ([A B] or [C D]), its bias.
///
/// **Reference.** J. Suykens, J. Vandewalle, B. De Moor, *Artificial Neural Networks for Modelling and Control of
/// Non-Linear Systems*, Kluwer 1996, chapter 2.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpace {
    pub(crate) shape: Shape,
    pub(crate) theta: Vec<f64>,
}

/// Beyond this size a state counts as diverged.
pub(crate) const DIVERGED: f64 = 1e6;

/// Buffers of one step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// [x(k); u(k)]
    pub(crate) z: Vec<f64>,
    /// Units of the state map's network.
    pub(crate) state_units: Vec<f64>,
    /// Units of the output map's network.
    pub(crate) output_units: Vec<f64>,
    /// x(k+1)
    pub(crate) next: Vec<f64>,
    /// ŷ(k)
    pub(crate) output: Vec<f64>,
}

impl Step {
    /// Buffers for models of `shape`.
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            z: vec![0.0; shape.states + shape.inputs],
            state_units: vec![0.0; shape.state_hidden],
            output_units: vec![0.0; shape.output_hidden],
            next: vec![0.0; shape.states],
            output: vec![0.0; shape.outputs],
        }
    }
}

impl StateSpace {
    /// A model from its parameters, laid out as above.
    ///
    /// # Panics
    /// If their number is not that of `shape`.
    pub fn new(shape: Shape, theta: Vec<f64>) -> Self {
        assert_eq!(theta.len(), shape.parameters(), "parameters of the shape");
        Self { shape, theta }
    }

    /// A linear model of nx states, nu inputs and ny outputs from its matrices [A B] and [C D], row by row, with zero biases.
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub fn linear((nx, nu, ny): (usize, usize, usize), ab: &[f64], cd: &[f64]) -> Self {
        let shape = Shape {
            states: nx,
            inputs: nu,
            outputs: ny,
            state_hidden: 0,
            output_hidden: 0,
        };
        assert_eq!(
            (ab.len(), cd.len()),
            (nx * (nx + nu), ny * (nx + nu)),
            "sizes of the matrices"
        );
        let mut theta = ab.to_vec();
        theta.resize(ab.len() + nx, 0.0);
        theta.extend(cd);
        theta.resize(shape.parameters(), 0.0);
        Self { shape, theta }
    }

    /// The same model with more states and units, which do nothing.
    ///
    /// # Panics
    /// If `shape` is smaller, or has other channels.
    pub(crate) fn widened(&self, shape: Shape) -> Self {
        let (now, nx) = (self.shape, self.shape.states);
        assert!(
            shape.states >= nx && shape.state_hidden >= now.state_hidden && shape.output_hidden >= now.output_hidden,
            "a larger shape"
        );
        assert_eq!((shape.inputs, shape.outputs), (now.inputs, now.outputs), "channels");
        let mut theta = now.state_map().widen(self.state_theta(), shape.state_map(), nx);
        theta.extend(now.output_map().widen(self.output_theta(), shape.output_map(), nx));
        Self { shape, theta }
    }

    /// The same model without states and units at the ends that do nothing, as [`widened`](Self::widened) adds them.
    pub(crate) fn narrowed(&self) -> Self {
        let mut least = self.clone();
        let smaller: [fn(Shape) -> Option<Shape>; 3] = [
            |shape| {
                let states = shape.states.checked_sub(1).filter(|&states| states > 0)?;
                Some(Shape { states, ..shape })
            },
            |shape| {
                let state_hidden = shape.state_hidden.checked_sub(1)?;
                Some(Shape { state_hidden, ..shape })
            },
            |shape| {
                let output_hidden = shape.output_hidden.checked_sub(1)?;
                Some(Shape { output_hidden, ..shape })
            },
        ];
        for smaller in smaller {
            while let Some(fewer) = smaller(least.shape).and_then(|shape| least.only(shape)) {
                least = fewer;
            }
        }
        least
    }

    /// The part of it that has a smaller shape; none if the rest does something.
    fn only(&self, shape: Shape) -> Option<Self> {
        // Every parameter of the smaller model in the place that it has in the larger one, counted from one: new ones are 0.
        let numbered = Self::new(shape, (1..=shape.parameters()).map(|place| place as f64).collect());
        let mut theta = vec![0.0; shape.parameters()];
        for (&place, &value) in numbered.widened(self.shape).theta.iter().zip(&self.theta) {
            match (place as usize).checked_sub(1) {
                Some(place) => theta[place] = value,
                None if value == 0.0 => {}
                None => return None,
            }
        }
        Some(Self::new(shape, theta))
    }

    /// Sizes.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// θ
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// Parameters of the state map.
    pub(crate) fn state_theta(&self) -> &[f64] {
        &self.theta[..self.shape.state_map().parameters()]
    }

    /// Parameters of the output map.
    pub(crate) fn output_theta(&self) -> &[f64] {
        &self.theta[self.shape.state_map().parameters()..]
    }

    /// ŷ(k) and x(k+1) from z = [x(k); u(k)] in `step`.
    #[inline]
    pub(crate) fn step(&self, step: &mut Step) {
        let (state, output) = self.theta.split_at(self.shape.state_map().parameters());
        self.shape
            .output_map()
            .apply(output, &step.z, &mut step.output_units, &mut step.output);
        self.shape
            .state_map()
            .apply(state, &step.z, &mut step.state_units, &mut step.next);
    }

    /// Free run over the first `len` samples of `run` from x(0) = `x0`: `visit(k, step)` sees every step, x(k+1) included.
    ///
    /// Returns false if the state left every sensible range, where the run ends.
    ///
    /// # Panics
    /// If the sizes of model, state and run differ.
    pub(crate) fn run(
        &self,
        run: &Run,
        x0: &[f64],
        len: usize,
        step: &mut Step,
        mut visit: impl FnMut(usize, &Step),
    ) -> bool {
        let nx = self.shape.states;
        assert_eq!(
            (run.inputs(), run.outputs()),
            (self.shape.inputs, self.shape.outputs),
            "channels"
        );
        step.z[..nx].copy_from_slice(x0);
        for k in 0..len.min(run.len()) {
            step.z[nx..].copy_from_slice(run.u(k));
            self.step(step);
            visit(k, step);
            if step.next.iter().any(|x| x.is_nan() || x.abs() > DIVERGED) {
                return false;
            }
            step.z[..nx].copy_from_slice(&step.next);
        }
        true
    }

    /// ŷ of a free run from x(0) = `x0`, `[sample][output]`; none if it diverges.
    ///
    /// # Panics
    /// If the sizes of model, state and run differ.
    pub fn simulate(&self, run: &Run, x0: &[f64]) -> Option<Vec<f64>> {
        let mut predicted = Vec::with_capacity(run.len() * self.shape.outputs);
        let mut step = Step::new(self.shape);
        self.run(run, x0, run.len(), &mut step, |_, step| predicted.extend(&step.output))
            .then_some(predicted)
    }

    /// x after a free run from x(0) = `x0` over the first `len` samples; none if it diverges.
    ///
    /// # Panics
    /// If the sizes of model, state and run differ.
    pub fn state_after(&self, run: &Run, x0: &[f64], len: usize) -> Option<Vec<f64>> {
        let mut step = Step::new(self.shape);
        step.next.copy_from_slice(x0);
        self.run(run, x0, len, &mut step, |_, _| {}).then_some(step.next)
    }

    /// This model with networks of other sizes beside its linear paths: those it has are replaced by `state` and `output`,
    /// each W₁, b₁ and W₂ one after the other.
    ///
    /// # Panics
    /// If the lengths do not fit.
    pub(crate) fn with_networks(
        &self,
        state_hidden: usize,
        output_hidden: usize,
        state: &[f64],
        output: &[f64],
    ) -> Self {
        let shape = Shape {
            state_hidden,
            output_hidden,
            ..self.shape
        };
        let linear_of = |map: Map, theta: &[f64]| theta[map.linear().start..].to_vec();
        let mut theta = state.to_vec();
        theta.extend(linear_of(self.shape.state_map(), self.state_theta()));
        theta.extend(output);
        theta.extend(linear_of(self.shape.output_map(), self.output_theta()));
        assert_eq!(theta.len(), shape.parameters(), "lengths of the networks");
        Self { shape, theta }
    }

    /// Which parameters a penalty holds back: weights of the networks with 1, linear paths with `linear`, biases not at all.
    pub(crate) fn penalty_weights(&self, linear: f64) -> Vec<f64> {
        let mut weights = Vec::with_capacity(self.theta.len());
        for map in [self.shape.state_map(), self.shape.output_map()] {
            let mut of = vec![0.0; map.parameters()];
            of[map.inner()].fill(1.0);
            of[map.outer()].fill(1.0);
            of[map.linear()].fill(linear);
            weights.extend(of);
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn impulse() -> Run {
        Run::new(1, 1, vec![1.0, 0.0, 0.0, 0.0], vec![0.0; 4])
    }

    #[test]
    fn a_linear_model_answers_an_impulse() {
        let model = StateSpace::linear((1, 1, 1), &[0.5, 2.0], &[3.0, 1.0]);
        let found = model.simulate(&impulse(), &[0.0]);
        assert_eq!(found, Some(vec![1.0, 6.0, 3.0, 1.5]));
        assert_eq!(model.state_after(&impulse(), &[0.0], 2), Some(vec![1.0]));
        assert_eq!(model.state_after(&impulse(), &[0.25], 0), Some(vec![0.25]));
    }

    #[test]
    fn a_wider_model_runs_as_before() {
        let shape = Shape {
            states: 2,
            inputs: 1,
            outputs: 1,
            state_hidden: 2,
            output_hidden: 1,
        };
        let theta = (0..shape.parameters())
            .map(|at| 0.3 * (1.7 * at as f64).sin())
            .collect();
        let model = StateSpace::new(shape, theta);
        let wider = model.widened(Shape {
            states: 4,
            state_hidden: 3,
            output_hidden: 2,
            ..shape
        });
        let found = wider.simulate(&impulse(), &[0.4, -0.2, 0.0, 0.0]);
        assert_eq!(found, model.simulate(&impulse(), &[0.4, -0.2]));
        assert_eq!(model.widened(shape), model);
        // And back.
        assert_eq!(wider.narrowed(), model);
        assert_eq!(model.narrowed(), model);
    }

    #[test]
    fn silent_networks_change_nothing_and_divergence_is_told() {
        let model = StateSpace::linear((1, 1, 1), &[0.5, 2.0], &[3.0, 1.0]);
        // W₁ (2 × 2), b₁ (2), W₂ (1 × 2) = 0.
        let network = [0.3, 0.4, -0.5, 0.6, 0.1, 0.2, 0.0, 0.0];
        let wider = model.with_networks(2, 2, &network, &network);
        assert_eq!(wider.simulate(&impulse(), &[0.0]), model.simulate(&impulse(), &[0.0]));
        let weights: f64 = wider.penalty_weights(0.5).iter().sum();
        assert!((weights - 2.0 * (6.0 + 0.5 * 2.0)).abs() < 1e-12);
        let unstable = StateSpace::linear((1, 1, 1), &[1e4, 2.0], &[3.0, 1.0]);
        assert_eq!(unstable.simulate(&impulse(), &[0.0]), None);
    }
}
