//! A fitted interval network and how it simulates.

use intervalid_data::{Dataset, Part, Window, free_run_windows};
use intervalid_interval::Real;

use crate::band::prediction::Band;
use crate::config::FitConfig;
use crate::error::Result;
use crate::interface::{ModelInterface, Simulated};
use crate::network::{Architecture, IntervalParameters, Network, Stepper};
use crate::simulate::free_run::Run;

/// A fitted interval network: crisp parameters θ, margins Δ, and all that is needed to use it on new data.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalModel<T> {
    pub(crate) architecture: Architecture,
    pub(crate) theta: Vec<T>,
    /// Δ_lo ≥ 0.
    pub(crate) margin_lower: Vec<T>,
    /// Δ_hi ≥ 0.
    pub(crate) margin_upper: Vec<T>,
    pub(crate) interface: ModelInterface,
    pub(crate) config: FitConfig,
}

impl<T: Real> IntervalModel<T> {
    /// Shape of the network.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// θ, flat; [`Architecture::layout`] says what is where.
    #[must_use]
    pub fn theta(&self) -> &[T] {
        &self.theta
    }

    /// Δ_lo and Δ_hi, flat, both non-negative.
    #[must_use]
    pub fn margins(&self) -> (&[T], &[T]) {
        (&self.margin_lower, &self.margin_upper)
    }

    /// Channels it was fitted on, and their scaling.
    #[must_use]
    pub fn interface(&self) -> &ModelInterface {
        &self.interface
    }

    /// The resolved configuration of the fit.
    #[must_use]
    pub fn config(&self) -> &FitConfig {
        &self.config
    }

    /// Free-run simulation with prediction intervals over every segment of a part, started as the model was trained.
    ///
    /// # Errors
    /// If the data have other channels or the part is too short.
    pub fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        Ok(self.interface.calibrate(self.simulate_uncalibrated(dataset, part)?))
    }

    /// As [`simulate`](Self::simulate), the band as the margins alone make it.
    pub(crate) fn simulate_uncalibrated(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        let mut bands = Vec::new();
        let mut stepper = Stepper::new(&self.architecture, &self.theta);
        let mut network = Network::new(&self.architecture);
        let parameters = self.interval_parameters();
        let scaled = self.interface.scale(dataset)?;
        for window in free_run_windows(dataset, part, self.architecture.lags, self.config.initial)? {
            let mut run = Run::new(&self.architecture, window, self.config.initial);
            run.simulate(&mut stepper, &self.architecture, &scaled, self.config.initial);
            run.bound(&mut network, &parameters);
            bands.push(self.band(&run, window));
        }
        Ok(bands)
    }

    pub(crate) fn interval_parameters(&self) -> IntervalParameters<T> {
        let mut parameters = IntervalParameters::new(&self.architecture.layout());
        parameters.update(&self.theta, &self.margin_lower, &self.margin_upper);
        parameters
    }

    pub(crate) fn band(&self, run: &Run<T>, window: Window) -> Band {
        let simulated = Simulated {
            lower: &run.lower,
            centre: &run.y,
            upper: &run.upper,
            diverged_at: run.diverged_at,
        };
        self.interface.band(window, run.warmup, &simulated)
    }
}
