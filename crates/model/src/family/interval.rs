//! One interval network and how it simulates.

use intervalid_data::{Scaled, Window};
use intervalid_interval::Real;

use super::body::{Fitted, NetworkParameters};
use crate::band::prediction::Band;
use crate::interface::Simulated;
use crate::network::{Architecture, IntervalParameters, Network, Stepper};
use crate::simulate::free_run::FreeRun;

/// Crisp parameters θ and their margins Δ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IntervalNetwork<T> {
    pub(crate) architecture: Architecture,
    pub(crate) theta: Vec<T>,
    /// Δ_lo ≥ 0.
    pub(crate) margin_lower: Vec<T>,
    /// Δ_hi ≥ 0.
    pub(crate) margin_upper: Vec<T>,
}

impl<T: Real> IntervalNetwork<T> {
    pub(crate) fn interval_parameters(&self) -> IntervalParameters<T> {
        let mut parameters = IntervalParameters::new(&self.architecture.layout());
        parameters.update(&self.theta, &self.margin_lower, &self.margin_upper);
        parameters
    }

    /// θ, Δ_lo and Δ_hi.
    pub(crate) fn parameter_sets(&self) -> [Vec<T>; 3] {
        [self.theta.clone(), self.margin_lower.clone(), self.margin_upper.clone()]
    }

    pub(crate) fn numbers(&self) -> NetworkParameters {
        let numbers = |value: &dyn Fn(usize) -> T| (0..self.theta.len()).map(|index| value(index).as_f64()).collect();
        NetworkParameters {
            theta: numbers(&|index| self.theta[index]),
            margin_lower: numbers(&|index| self.margin_lower[index]),
            margin_upper: numbers(&|index| self.margin_upper[index]),
            lower: numbers(&|index| self.theta[index] - self.margin_lower[index]),
            upper: numbers(&|index| self.theta[index] + self.margin_upper[index]),
        }
    }
}

impl<T: Real> Fitted<'_, IntervalNetwork<T>> {
    /// Free runs with the band as the margins alone make it.
    pub(crate) fn simulate(&self, scaled: &Scaled<T>, windows: &[Window]) -> Vec<Band> {
        let IntervalNetwork {
            architecture, theta, ..
        } = self.body;
        let mut bands = Vec::new();
        let mut stepper = Stepper::new(architecture, theta);
        let mut network = Network::new(architecture);
        let parameters = self.body.interval_parameters();
        for &window in windows {
            let start = (architecture, self.config.initial);
            let bounds = (&mut network, &parameters);
            let run = FreeRun::simulate_bounded(start, window, scaled, &mut stepper, bounds);
            bands.push(self.band(&run, window));
        }
        bands
    }

    pub(crate) fn band(&self, run: &FreeRun<T>, window: Window) -> Band {
        let simulated = Simulated {
            lower: &run.lower,
            centre: &run.y,
            upper: &run.upper,
            diverged_at: run.ends_at(),
        };
        self.interface.band(window, self.config.initial, &simulated)
    }
}
