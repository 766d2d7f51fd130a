use intervalid_data::{InitialState, Lags};
use serde::{Deserialize, Serialize};

use super::flat::FlatConfig;
use super::{GaussianConfig, IntervalConfig, NetworkConfig, TrainingConfig};
use crate::kind::{ModelKind, Precision};
use crate::train::Stage;
use crate::train::optim::Schedule;

/// Everything that decides a fit besides the data.
///
/// Interval networks minimise L_MSE for θ and L_RQR-W for the margins Δ (docs/method.md, sections 4 and 6), the baselines a Gaussian
/// likelihood (section 8), ARX the one-step error. A model reads the groups that concern it.
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `model` | | inode | see [`ModelKind`] |
/// | `lags` | n_x, n_d, n_y | 2, 0, 3 | n_y ≥ 1 |
/// | `lag_search` | | false | |
/// | `initial` | | zero | zero, measured, warmup:N |
/// | `coverage` | α | 0.9 | (0, 1) |
/// | `precision` | | f32 | f32, f64; ARX is always f64 |
/// | `seed` | | 1 | below 2⁶³ |
/// | `network` | | | see [`NetworkConfig`]; all but ARX |
/// | `training` | | | see [`TrainingConfig`]; all but ARX |
/// | `interval` | | | see [`IntervalConfig`]; inode, ilstm |
/// | `gaussian` | | | see [`GaussianConfig`]; the baselines |
///
/// In files there is one level of keys: `epochs`, not `training.epochs`.
///
/// ```
/// use intervalid_model::{FitConfig, ModelKind};
///
/// let config = FitConfig {
///     model: ModelKind::Ilstm,
///     ..FitConfig::default()
/// };
/// let config = config.with(|config| config.training.epochs = 20);
/// assert_eq!(config.checked()?.training.epochs, 20);
/// # Ok::<(), intervalid_model::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "FlatConfig", from = "FlatConfig")]
pub struct FitConfig {
    /// Which model.
    pub model: ModelKind,
    /// Regressor.
    pub lags: Lags,
    /// Choose the lags by a search for the best linear model on the validation part; `lags` is then what it found.
    pub lag_search: bool,
    /// How simulations start.
    pub initial: InitialState,
    /// Promised share of targets inside the band.
    pub coverage: f64,
    /// Type of the numbers.
    pub precision: Precision,
    /// Seed of everything random.
    pub seed: u64,
    /// Shape of the network.
    pub network: NetworkConfig,
    /// How its parameters are found.
    pub training: TrainingConfig,
    /// What only interval networks read.
    pub interval: IntervalConfig,
    /// What only the Gaussian baselines read.
    pub gaussian: GaussianConfig,
}

impl Default for FitConfig {
    fn default() -> Self {
        Self {
            model: ModelKind::Inode,
            lags: Lags { nx: 2, nd: 0, ny: 3 },
            lag_search: false,
            initial: InitialState::ZeroPadded,
            coverage: 0.9,
            precision: Precision::F32,
            seed: 1,
            network: NetworkConfig::default(),
            training: TrainingConfig::default(),
            interval: IntervalConfig::default(),
            gaussian: GaussianConfig::default(),
        }
    }
}

impl FitConfig {
    /// This configuration with a change, in one expression.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The coverage that L_RQR-W aims at: α, raised where `miss_factor` is below 1.
    #[must_use]
    pub fn trained_coverage(&self) -> f64 {
        // Written so that a factor of 1 leaves α as it is, to the bit.
        self.coverage + (1.0 - self.coverage) * (1.0 - self.interval.miss_factor)
    }

    /// What decides a cascade's first stage: this configuration with all that concerns the band at its default. Cascades in
    /// which it is equal can share their crisp network ([`fit_cascades`](crate::fit_cascades)).
    #[must_use]
    pub fn first_stage(&self) -> Self {
        Self {
            coverage: Self::default().coverage,
            interval: IntervalConfig {
                strategy: self.interval.strategy,
                gradnorm_beta: self.interval.gradnorm_beta,
                gradnorm_rate: self.interval.gradnorm_rate,
                ..IntervalConfig::default()
            },
            ..self.clone()
        }
    }

    /// Schedule of a stage.
    #[must_use]
    pub fn stage_schedule(&self, stage: Stage) -> Schedule {
        let all = self.training.schedule;
        match stage {
            Stage::Margins => self.interval.margin_schedule.unwrap_or(all),
            Stage::Crisp | Stage::Joint | Stage::Likelihood => all,
        }
    }

    /// Epochs of a stage.
    #[must_use]
    pub fn stage_epochs(&self, stage: Stage) -> usize {
        let all = self.training.epochs;
        match stage {
            Stage::Margins => self.interval.margin_epochs.unwrap_or(all),
            Stage::Crisp | Stage::Joint | Stage::Likelihood => all,
        }
    }
}
