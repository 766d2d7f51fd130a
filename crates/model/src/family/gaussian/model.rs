//! Networks with Gaussian likelihood and how they simulate.

use intervalid_data::{Dataset, Part, normal_quantile};
use intervalid_interval::Real;

use super::bayesian::draw;
use super::predictive::Predictive;
use crate::band::prediction::Band;
use crate::error::Result;
use crate::family::body::Fitted;
use crate::interface::Simulated;
use crate::kind::Method;
use crate::network::Architecture;
use crate::network::initialise::{Purpose, generator};

/// Bayesian, dropout or ensemble networks.
///
/// Their band is μ̂ ± z_α·σ̂ with the mean and standard deviation over draws or members; only z_α depends on the coverage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GaussianNetworks<T> {
    pub(crate) architecture: Architecture,
    /// Parameters of every member of an ensemble; means of the Bayesian parameters; θ of a dropout network.
    pub(crate) members: Vec<Vec<T>>,
    /// Standard deviations of the Bayesian parameters; empty elsewhere.
    pub(crate) spread: Vec<T>,
}

impl<T: Real> GaussianNetworks<T> {
    /// Parameters of every member, then the spread of a Bayesian network.
    pub(crate) fn parameter_sets(&self) -> Vec<Vec<T>> {
        let spread = (!self.spread.is_empty()).then(|| self.spread.clone());
        self.members.iter().cloned().chain(spread).collect()
    }
}

impl<T: Real> Fitted<'_, GaussianNetworks<T>> {
    /// Free runs with their band.
    pub(crate) fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        let (initial, seed) = (self.config.initial, self.config.seed);
        let z = T::of(normal_quantile(0.5 + 0.5 * self.config.coverage));
        let mut predictive = self.predictive();
        let mut rng = generator(seed, Purpose::PredictionMasks, 0);
        let mut bands = Vec::new();
        let lags = self.body.architecture.lags;
        let (scaled, windows) = self.interface.runs(dataset, part, (lags, initial))?;
        for window in windows {
            let moments = predictive.simulate(&scaled, window, (initial, self.config.gaussian.feedback), &mut rng);
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
            bands.push(self.interface.band(window, initial, &simulated));
        }
        Ok(bands)
    }

    fn predictive(&self) -> Predictive<T> {
        let samples = self.config.gaussian.samples;
        match self.config.model.method() {
            Method::Bayesian => {
                let mut rng = generator(self.config.seed, Purpose::PredictionDraws, 0);
                let draws: Vec<Vec<T>> = (0..samples)
                    .map(|_| draw(&self.body.members[0], &self.body.spread, &mut rng))
                    .collect();
                Predictive::new(&self.body.architecture, draws.iter().map(Vec::as_slice), None)
            }
            Method::Dropout => {
                let same = std::iter::repeat_n(self.body.members[0].as_slice(), samples);
                Predictive::new(&self.body.architecture, same, Some(self.config.gaussian.dropout))
            }
            Method::Ensemble | Method::Interval | Method::Linear => Predictive::new(
                &self.body.architecture,
                self.body.members.iter().map(Vec::as_slice),
                None,
            ),
        }
    }
}
