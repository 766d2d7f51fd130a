//! A fitted network with Gaussian likelihood and how it simulates.

use intervalid_data::{Dataset, Part, free_run_windows, normal_quantile};
use intervalid_interval::Real;

use super::bayesian::draw;
use super::predictive::Predictive;
use crate::band::prediction::Band;
use crate::config::FitConfig;
use crate::error::Result;
use crate::interface::{ModelInterface, Simulated};
use crate::kind::Method;
use crate::network::Architecture;
use crate::network::initialise::{Purpose, generator};

/// A fitted Bayesian, dropout or ensemble network.
///
/// Its band is μ̂ ± z_α·σ̂ with the mean and standard deviation over its draws or members; only z_α depends on the
/// coverage.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianModel<T> {
    pub(crate) architecture: Architecture,
    /// Parameters of every member of an ensemble; means of the Bayesian parameters; θ of a dropout network.
    pub(crate) members: Vec<Vec<T>>,
    /// Standard deviations of the Bayesian parameters; empty elsewhere.
    pub(crate) spread: Vec<T>,
    pub(crate) interface: ModelInterface,
    pub(crate) config: FitConfig,
}

impl<T: Real> GaussianModel<T> {
    /// Shape of the network.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Parameters, flat: of every member of an ensemble, or the one vector of the other methods (means, if Bayesian).
    #[must_use]
    pub fn members(&self) -> &[Vec<T>] {
        &self.members
    }

    /// Standard deviations of the parameters of a Bayesian network; empty for the others.
    #[must_use]
    pub fn spread(&self) -> &[T] {
        &self.spread
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

    /// The same model with a band for another coverage. Training did not depend on it.
    ///
    /// # Errors
    /// If `coverage` is not between 0 and 1.
    pub fn at_coverage(&self, coverage: f64) -> Result<Self> {
        let config = FitConfig {
            coverage,
            ..self.config.clone()
        };
        config.check()?;
        let mut model = Self { config, ..self.clone() };
        // Scales were found for the other coverage.
        model.interface.calibration = None;
        Ok(model)
    }

    /// Free-run simulation with prediction intervals over every segment of a part, started as the model was trained.
    ///
    /// # Errors
    /// If the data have other channels or the part is too short.
    pub fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        let scaled = self.interface.scale::<T>(dataset)?;
        let FitConfig { initial, seed, .. } = self.config;
        let z = T::of(normal_quantile(0.5 + 0.5 * self.config.coverage));
        let mut predictive = self.predictive();
        let mut rng = generator(seed, Purpose::PredictionMasks, 0);
        let mut bands = Vec::new();
        for window in free_run_windows(dataset, part, self.architecture.lags, initial)? {
            let moments = predictive.simulate(&scaled, window, initial, &mut rng);
            let bound = |side: T| -> Vec<T> {
                let moments = moments.mean.iter().zip(&moments.std);
                moments.map(|(&mean, &std)| mean + side * std).collect()
            };
            let simulated = Simulated {
                lower: &bound(-z),
                centre: &moments.mean,
                upper: &bound(z),
                diverged_at: moments.diverged_at,
            };
            bands.push(self.interface.band(window, initial.unscored(), &simulated));
        }
        Ok(self.interface.calibrate(bands))
    }

    fn predictive(&self) -> Predictive<T> {
        let samples = self.config.samples;
        match self.config.model.method() {
            Method::Bayesian => {
                let mut rng = generator(self.config.seed, Purpose::PredictionDraws, 0);
                let draws: Vec<Vec<T>> = (0..samples)
                    .map(|_| draw(&self.members[0], &self.spread, &mut rng))
                    .collect();
                Predictive::new(&self.architecture, draws.iter().map(Vec::as_slice), None)
            }
            Method::Dropout => {
                let same = std::iter::repeat_n(self.members[0].as_slice(), samples);
                Predictive::new(&self.architecture, same, Some(self.config.dropout))
            }
            Method::Ensemble | Method::Interval | Method::Linear => {
                Predictive::new(&self.architecture, self.members.iter().map(Vec::as_slice), None)
            }
        }
    }
}
