//! One model walking along the measurements, and some steps ahead of them from every place.

use intervalid_data::{ArxModel, DIVERGED, InitialState, Lags, PastOutputs, Regressor, Scaled, Window};
use intervalid_interval::Real;

use crate::network::Stepper;

/// Which predictions are wanted.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    /// Ascending.
    pub(super) horizons: &'a [usize],
    /// Samples between origins.
    pub(super) stride: usize,
    /// Whether the first samples, which are not as far from the start as a horizon, get what a free run predicts there.
    pub(super) from_the_start: bool,
}

/// Predictions of one window, normalised: `[horizon][step][output]`, not a number where there is none.
pub(super) type Ahead = Vec<Vec<f64>>;

/// What moves from step to step.
pub(super) trait Walker<T> {
    fn reset(&mut self);
    fn step(&mut self, regressor: &[T], y: &mut [T]);
    /// Keeps the state, and goes back to it.
    fn save(&mut self);
    fn restore(&mut self);
}

pub(super) struct NetworkWalker<T> {
    stepper: Stepper<T>,
    saved: Vec<[Vec<T>; 2]>,
}

impl<T: Real> NetworkWalker<T> {
    pub(super) fn new(stepper: Stepper<T>) -> Self {
        let saved = stepper.states().map(|(h, c)| [h.to_vec(), c.to_vec()]).collect();
        Self { stepper, saved }
    }
}

impl<T: Real> Walker<T> for NetworkWalker<T> {
    fn reset(&mut self) {
        self.stepper.reset();
    }

    fn step(&mut self, regressor: &[T], y: &mut [T]) {
        y.copy_from_slice(self.stepper.step(regressor));
    }

    fn save(&mut self) {
        for ([h, c], (from_h, from_c)) in self.saved.iter_mut().zip(self.stepper.states()) {
            h.copy_from_slice(from_h);
            c.copy_from_slice(from_c);
        }
    }

    fn restore(&mut self) {
        for ((to_h, to_c), [h, c]) in self.stepper.states_mut().zip(&self.saved) {
            to_h.copy_from_slice(h);
            to_c.copy_from_slice(c);
        }
    }
}

/// A model without states.
pub(super) struct LinearWalker<'a>(pub(super) &'a ArxModel);

impl Walker<f64> for LinearWalker<'_> {
    fn reset(&mut self) {}

    fn step(&mut self, regressor: &[f64], y: &mut [f64]) {
        self.0.step(regressor, y);
    }

    fn save(&mut self) {}

    fn restore(&mut self) {}
}

/// All predictions of a plan over one window.
pub(super) fn walk<T: Real>(
    walker: &mut impl Walker<T>,
    scaled: &Scaled<T>,
    window: Window,
    (lags, initial): (Lags, InitialState),
    plan: Plan<'_>,
) -> Ahead {
    let experiment = &scaled.experiments()[window.experiment];
    let outputs = experiment.outputs();
    let layout = Regressor::new(lags, experiment.inputs(), outputs);
    let steps = window.len - 1;
    let furthest = plan.horizons.last().copied().unwrap_or(1);
    let mut found = vec![vec![f64::NAN; steps * outputs]; plan.horizons.len()];
    let mut regressor = vec![T::zero(); layout.len()];
    let mut own = vec![T::zero(); furthest * outputs];
    let limit = T::of(DIVERGED);
    let oldest = initial.known_outputs(window.start, lags).start;
    // Within a warm-up states have not settled and outputs are still unknown: nobody predicts from there.
    let first_origin = initial.unscored();
    walker.reset();
    for (origin, k) in window.predicted().enumerate() {
        let past = PastOutputs::new(oldest..k, k);
        // The first step from an origin is also the one that moves the origin on.
        // Further than the last horizon that ends within the window nothing is looked at, but from the start.
        let left = steps - origin;
        let wanted = match origin.checked_sub(first_origin) {
            Some(0) => furthest.min(left),
            Some(since) if since.is_multiple_of(plan.stride) => {
                let within = plan.horizons.iter().rev().find(|horizon| **horizon <= left);
                within.copied().unwrap_or(1)
            }
            _ => 1,
        };
        for ahead in 0..wanted {
            let (before, now) = own.split_at_mut(ahead * outputs);
            let predicted = |step: usize, output: usize| before[step * outputs + output];
            layout.write_outputs(experiment, &past, k + ahead, predicted, &mut regressor);
            layout.write_inputs(experiment, k + ahead, &mut regressor);
            let y = &mut now[..outputs];
            walker.step(&regressor, y);
            if ahead == 0 {
                walker.save();
            }
            if y.iter().any(|y| y.is_nan() || y.abs() > limit) {
                break;
            }
            let at = (origin + ahead) * outputs;
            for (horizon, found) in plan.horizons.iter().zip(&mut found) {
                let is_so_far_ahead = origin >= first_origin && *horizon == ahead + 1;
                // So early in the run nobody knows more than its start.
                let is_early = plan.from_the_start && origin <= first_origin && ahead < *horizon;
                if is_so_far_ahead || is_early {
                    for (to, y) in found[at..at + outputs].iter_mut().zip(&*y) {
                        *to = y.as_f64();
                    }
                }
            }
        }
        walker.restore();
    }
    found
}
