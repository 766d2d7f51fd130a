//! A fitted interval network and how it simulates.

use intervalid_data::{Channel, Dataset, Normaliser, Part, Window, runs};
use intervalid_interval::Real;

use crate::config::FitConfig;
use crate::error::{ModelError, Result};
use crate::network::{Architecture, IntervalParameters, Network, Stepper};
use crate::prediction::Band;
use crate::simulate::Run;

/// A fitted interval network: crisp parameters θ, margins Δ, and all that is needed to use it on new data.
#[derive(Clone, Debug, PartialEq)]
pub struct Model<T> {
    pub(crate) architecture: Architecture,
    pub(crate) theta: Vec<T>,
    /// Δ_lo ≥ 0.
    pub(crate) margin_lower: Vec<T>,
    /// Δ_hi ≥ 0.
    pub(crate) margin_upper: Vec<T>,
    pub(crate) normaliser: Normaliser,
    pub(crate) inputs: Vec<Channel>,
    pub(crate) outputs: Vec<Channel>,
    pub(crate) sample_time: Option<f64>,
    pub(crate) config: FitConfig,
}

impl<T: Real> Model<T> {
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

    /// Scaling of the channels.
    #[must_use]
    pub fn normaliser(&self) -> &Normaliser {
        &self.normaliser
    }

    /// Input channels it was fitted on.
    #[must_use]
    pub fn inputs(&self) -> &[Channel] {
        &self.inputs
    }

    /// Output channels it was fitted on.
    #[must_use]
    pub fn outputs(&self) -> &[Channel] {
        &self.outputs
    }

    /// Sample time of the record it was fitted on.
    #[must_use]
    pub fn sample_time(&self) -> Option<f64> {
        self.sample_time
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
        let mut bands = Vec::new();
        let mut stepper = Stepper::new(&self.architecture, &self.theta);
        let mut network = Network::new(&self.architecture);
        let parameters = self.interval_parameters();
        let scaled = self.checked_scale(dataset)?;
        for window in runs(dataset, part, self.architecture.lags, self.config.initial)? {
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

    pub(crate) fn checked_scale(&self, dataset: &Dataset) -> Result<intervalid_data::Scaled<T>> {
        for (what, expected, found) in [
            ("inputs", self.inputs.len(), dataset.inputs().len()),
            ("outputs", self.outputs.len(), dataset.outputs().len()),
        ] {
            if expected != found {
                return Err(ModelError::Channels { what, expected, found });
            }
        }
        Ok(self.normaliser.scale(dataset))
    }

    pub(crate) fn band(&self, run: &Run<T>, window: Window) -> Band {
        let outputs = self.outputs.len();
        let steps = run.diverged_at.unwrap_or(run.y.len() / outputs);
        let physical = |values: &[T]| -> Vec<Vec<f64>> {
            (0..outputs)
                .map(|output| {
                    let value = |step| {
                        self.normaliser
                            .output_to_physical(output, values[step * outputs + output])
                    };
                    (0..steps).map(value).collect()
                })
                .collect()
        };
        Band {
            experiment: window.experiment,
            first: window.start + 1,
            warmup: run.warmup.min(steps),
            lower: physical(&run.lower),
            centre: physical(&run.y),
            upper: physical(&run.upper),
            diverged_at: run.diverged_at,
        }
    }
}
