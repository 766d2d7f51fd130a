//! What a user chooses, as plain data; [`FitConfig::check`] is the only way from here to training.

use intervalid_data::{InitialState, Lags, WindowConfig};
use serde::{Deserialize, Serialize};

use crate::error::{ModelError, Result};
use crate::kind::{Method, ModelKind, Precision};
use crate::train::Stage;
use crate::train::loss::QuantileLevel;
use crate::train::optim::Schedule;

/// How θ and Δ are trained (docs/method.md, section 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// C-INN: first θ by L_MSE, then Δ around the frozen θ by L_RQR-W.
    #[default]
    Cascade,
    /// J-INN: θ and Δ together, the losses balanced by GradNorm.
    Joint,
}

impl Strategy {
    /// `cascade` or `joint`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Cascade => "cascade",
            Strategy::Joint => "joint",
        }
    }
}

/// σ_Δ, which keeps margins non-negative (docs/method.md, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MarginActivation {
    /// |Δ'|, the paper's models "-2".
    #[default]
    Abs,
    /// max(Δ', 0), the paper's models "-1".
    Relu,
}

impl MarginActivation {
    /// `abs` or `relu`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MarginActivation::Abs => "abs",
            MarginActivation::Relu => "relu",
        }
    }
}

/// More members or draws than anybody needs: a number from a damaged file must not ask for all memory.
const MOST_NETWORKS: usize = 10_000;

/// Seeds are written to configuration files, whose integers have a sign.
const LARGEST_SEED: u64 = i64::MAX as u64;

/// Everything that decides a fit besides the data.
///
/// Interval networks minimise L_MSE for θ and L_RQR-W for the margins Δ (docs/method.md, sections 4 and 6), the baselines a Gaussian
/// likelihood (section 8), ARX the one-step error. A model reads the fields that concern it.
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `model` | | inode | see [`ModelKind`] |
/// | `hidden` | | 40, 40 | positive widths |
/// | `lags` | n_x, n_d, n_y | 2, 0, 3 | n_y ≥ 1 |
/// | `lag_search` | | false | |
/// | `linear_path` | a | false | |
/// | `initial` | | zero | zero, measured, warmup:N |
/// | `window` | N, n_step | 40, 5 | N ≥ 2, n_step ≥ 1 |
/// | `strategy` | | cascade | cascade, joint |
/// | `margin` | σ_Δ | abs | abs, relu |
/// | `coverage` | α | 0.9 | (0, 1) |
/// | `width_penalty` | λ | 0.5 | > 0 |
/// | `level` | α' | corrected | corrected, literal |
/// | `margin_hidden`, `margin_output` | r_h, r_o | 1, 1 (LSTM 0.2, 1) | ≥ 0 |
/// | `margin_floor` | | 0.001 (paper: 0) | ≥ 0 |
/// | `epochs` | | 150 | ≥ 1, per stage |
/// | `margin_epochs` | | as `epochs` | ≥ 1, of the cascade's second stage |
/// | `margin_batch` | | as `batch` | ≥ 1 windows, in the cascade's second stage |
/// | `margin_rate` | | 1 | > 0 |
/// | `margin_schedule` | | as `schedule` | of the cascade's second stage |
/// | `miss_factor` | | 1 | > 0, below 1/(1-α) |
/// | `weight_decay` | | 0 | ≥ 0 |
/// | `weight_noise` | | 0 | ≥ 0 |
/// | `averaging` | | 0 | \[0, 1) |
/// | `batch` | | 64 | ≥ 1 windows |
/// | `learning_rate` | | 0.005 | > 0 |
/// | `schedule` | | step | constant, step, cosine |
/// | `gradient_clip` | | 5 | > 0 |
/// | `patience` | | none | epochs without a better validation loss |
/// | `gradnorm_beta` | β | 0.1 | ≥ 0 |
/// | `gradnorm_rate` | | 0.005 | > 0 |
/// | `prior_std` | ρ | 1 | > 0; Bayesian |
/// | `dropout` | | 0.05 | \[0, 1); dropout |
/// | `members` | M | 5 | ≥ 1; ensemble |
/// | `samples` | S | 100 | ≥ 1; Bayesian, dropout |
/// | `precision` | | f32 | f32, f64; ARX is always f64 |
/// | `seed` | | 1 | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitConfig {
    /// Which model.
    pub model: ModelKind,
    /// Widths of the hidden layers or cells.
    pub hidden: Vec<usize>,
    /// Regressor.
    pub lags: Lags,
    /// Choose the lags by a search for the best linear model on the validation part; `lags` is then what it found.
    pub lag_search: bool,
    /// Learn a linear function of the regressor beside the network, started at the least-squares ARX fit.
    pub linear_path: bool,
    /// How simulations start.
    pub initial: InitialState,
    /// Training windows.
    pub window: WindowConfig,
    /// Training strategy.
    pub strategy: Strategy,
    /// Margin function.
    pub margin: MarginActivation,
    /// Promised share of targets inside the band.
    pub coverage: f64,
    /// Weight of the squared width in RQR-W.
    pub width_penalty: f64,
    /// Quantile level of RQR-W.
    pub level: QuantileLevel,
    /// Initial margins of hidden layers relative to |θ|.
    pub margin_hidden: f64,
    /// Initial margins of the read-out relative to |θ|.
    pub margin_output: f64,
    /// Least initial margin, so that a parameter that starts at zero can have one at all.
    pub margin_floor: f64,
    /// Epochs of each stage.
    pub epochs: usize,
    /// Epochs of the cascade's second stage, where they are not `epochs`.
    pub margin_epochs: Option<usize>,
    /// Windows per mini-batch.
    pub batch: usize,
    /// Windows per mini-batch in the cascade's second stage, where they are not `batch`.
    pub margin_batch: Option<usize>,
    /// Step size of the margins relative to that of θ.
    pub margin_rate: f64,
    /// How the margins' step size changes over the epochs of the cascade's second stage, where it is not `schedule`.
    pub margin_schedule: Option<Schedule>,
    /// L_RQR-W aims at this times 1-α misses: below 1, since bands are tighter on the windows they were trained on.
    pub miss_factor: f64,
    /// Decoupled decay of weights (not of biases): each step takes away this share of them times the step size.
    pub weight_decay: f64,
    /// Standard deviation of the noise added to every weight (not to biases) where a gradient of θ is taken.
    pub weight_noise: f64,
    /// Decay per iteration of the running mean of θ and Δ' that is validated and kept instead of the last iterate; 0 keeps
    /// none.
    pub averaging: f64,
    /// Adam's step size.
    pub learning_rate: f64,
    /// How the step size changes over the epochs.
    pub schedule: Schedule,
    /// Largest Euclidean norm of a gradient.
    pub gradient_clip: f64,
    /// Stop a stage after this many epochs without improvement.
    pub patience: Option<usize>,
    /// GradNorm's exponent.
    pub gradnorm_beta: f64,
    /// GradNorm's step size.
    pub gradnorm_rate: f64,
    /// Standard deviation of the Gaussian prior of a Bayesian network's parameters.
    pub prior_std: f64,
    /// Share of the hidden activations that dropout sets to zero.
    pub dropout: f64,
    /// Networks of an ensemble.
    pub members: usize,
    /// Draws of a Bayesian or dropout network per prediction.
    pub samples: usize,
    /// Type of the numbers.
    pub precision: Precision,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for FitConfig {
    fn default() -> Self {
        Self {
            model: ModelKind::Inode,
            hidden: vec![40, 40],
            lags: Lags { nx: 2, nd: 0, ny: 3 },
            lag_search: false,
            linear_path: false,
            initial: InitialState::ZeroPadded,
            window: WindowConfig { length: 40, step: 5 },
            strategy: Strategy::Cascade,
            margin: MarginActivation::Abs,
            coverage: 0.9,
            width_penalty: 0.5,
            level: QuantileLevel::Corrected,
            margin_hidden: 1.0,
            margin_output: 1.0,
            margin_floor: 1e-3,
            epochs: 150,
            margin_epochs: None,
            batch: 64,
            margin_batch: None,
            margin_rate: 1.0,
            margin_schedule: None,
            miss_factor: 1.0,
            weight_decay: 0.0,
            weight_noise: 0.0,
            averaging: 0.0,
            learning_rate: 5e-3,
            schedule: Schedule::Step,
            gradient_clip: 5.0,
            patience: None,
            gradnorm_beta: 0.1,
            gradnorm_rate: 5e-3,
            prior_std: 1.0,
            dropout: 0.05,
            members: 5,
            samples: 100,
            precision: Precision::F32,
            seed: 1,
        }
    }
}

impl FitConfig {
    /// The coverage that L_RQR-W aims at: α, raised where `miss_factor` is below 1.
    #[must_use]
    pub fn trained_coverage(&self) -> f64 {
        // Written so that a factor of 1 leaves α as it is, to the bit.
        self.coverage + (1.0 - self.coverage) * (1.0 - self.miss_factor)
    }

    /// What decides a cascade's first stage: this configuration with all that concerns the band at its default. Cascades in
    /// which it is equal can share their crisp network ([`fit_cascades`](crate::fit_cascades)).
    #[must_use]
    pub fn first_stage(&self) -> Self {
        let neutral = Self::default();
        Self {
            margin: neutral.margin,
            coverage: neutral.coverage,
            width_penalty: neutral.width_penalty,
            level: neutral.level,
            margin_hidden: neutral.margin_hidden,
            margin_output: neutral.margin_output,
            margin_floor: neutral.margin_floor,
            margin_epochs: neutral.margin_epochs,
            margin_batch: neutral.margin_batch,
            margin_rate: neutral.margin_rate,
            margin_schedule: neutral.margin_schedule,
            miss_factor: neutral.miss_factor,
            ..self.clone()
        }
    }

    /// Schedule of a stage.
    #[must_use]
    pub fn stage_schedule(&self, stage: Stage) -> Schedule {
        match stage {
            Stage::Margins => self.margin_schedule.unwrap_or(self.schedule),
            Stage::Crisp | Stage::Joint | Stage::Likelihood => self.schedule,
        }
    }

    /// Epochs of a stage.
    #[must_use]
    pub fn stage_epochs(&self, stage: Stage) -> usize {
        match stage {
            Stage::Margins => self.margin_epochs.unwrap_or(self.epochs),
            Stage::Crisp | Stage::Joint | Stage::Likelihood => self.epochs,
        }
    }

    /// Checks every range that does not depend on the data.
    ///
    /// # Errors
    /// [`ModelError::Option`] naming the first option outside its range.
    pub fn check(&self) -> Result<()> {
        let share = |option, value: f64| match value {
            value if value > 0.0 && value < 1.0 => Ok(()),
            value if value > 1.0 && value < 100.0 => {
                let hint = format!("a share between 0 and 1 (did you mean {}?)", value / 100.0);
                Err(ModelError::option(option, value, hint))
            }
            value => Err(ModelError::option(option, value, "a share between 0 and 1")),
        };
        share("coverage", self.coverage)?;
        let positive = [
            ("width_penalty", self.width_penalty),
            ("learning_rate", self.learning_rate),
            ("gradient_clip", self.gradient_clip),
            ("gradnorm_rate", self.gradnorm_rate),
            ("prior_std", self.prior_std),
            ("margin_rate", self.margin_rate),
        ];
        for (option, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ModelError::option(option, value, "a positive number"));
            }
        }
        let at_least_zero = [
            ("margin_hidden", self.margin_hidden),
            ("margin_output", self.margin_output),
            ("margin_floor", self.margin_floor),
            ("gradnorm_beta", self.gradnorm_beta),
            ("weight_decay", self.weight_decay),
            ("weight_noise", self.weight_noise),
        ];
        for (option, value) in at_least_zero {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(ModelError::option(option, value, "zero or a positive number"));
            }
        }
        if self.margin_hidden + self.margin_output + self.margin_floor <= 0.0 {
            return Err(ModelError::option(
                "margin_output",
                0,
                "a positive start of some margins, or none can grow",
            ));
        }
        if !(self.miss_factor > 0.0 && self.trained_coverage() > 0.0) {
            let expected = format!("a number above 0 and below {}", 1.0 / (1.0 - self.coverage));
            return Err(ModelError::option("miss_factor", self.miss_factor, expected));
        }
        if !(0.0..1.0).contains(&self.averaging) {
            return Err(ModelError::option(
                "averaging",
                self.averaging,
                "a number from 0 to below 1",
            ));
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(ModelError::option("dropout", self.dropout, "a share from 0 to below 1"));
        }
        if self.linear_path && self.model.method() != Method::Interval {
            return Err(ModelError::option(
                "linear_path",
                true,
                "false, except for inode and ilstm",
            ));
        }
        let counts = [
            ("epochs", self.epochs),
            ("batch", self.batch),
            ("members", self.members),
            ("samples", self.samples),
            ("margin_epochs", self.margin_epochs.unwrap_or(1)),
            ("margin_batch", self.margin_batch.unwrap_or(1)),
        ];
        for (option, value) in [("members", self.members), ("samples", self.samples)] {
            if value > MOST_NETWORKS {
                return Err(ModelError::option(option, value, format!("at most {MOST_NETWORKS}")));
            }
        }
        for (option, value) in counts {
            if value == 0 {
                return Err(ModelError::option(option, value, "at least 1"));
            }
        }
        if self.seed > LARGEST_SEED {
            return Err(ModelError::option("seed", self.seed, format!("at most {LARGEST_SEED}")));
        }
        if self.patience == Some(0) {
            return Err(ModelError::option("patience", 0, "at least one epoch, or none"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_refused_with_the_share_that_was_meant() {
        let config = FitConfig {
            coverage: 90.0,
            ..FitConfig::default()
        };
        let message = config.check().unwrap_err().to_string();
        assert_eq!(
            message,
            "coverage = 90 is not allowed: expected a share between 0 and 1 (did you mean 0.9?)"
        );
    }

    #[test]
    fn every_number_out_of_range_is_named() {
        type Break = fn(&mut FitConfig);
        let broken: [(&str, Break); 18] = [
            ("coverage", |c| c.coverage = f64::NAN),
            ("width_penalty", |c| c.width_penalty = 0.0),
            ("learning_rate", |c| c.learning_rate = -1.0),
            ("gradient_clip", |c| c.gradient_clip = f64::INFINITY),
            ("margin_floor", |c| c.margin_floor = -0.1),
            ("epochs", |c| c.epochs = 0),
            ("batch", |c| c.batch = 0),
            ("patience", |c| c.patience = Some(0)),
            ("miss_factor", |c| c.miss_factor = 11.0),
            ("averaging", |c| c.averaging = 1.0),
            ("weight_decay", |c| c.weight_decay = f64::NAN),
            ("margin_epochs", |c| c.margin_epochs = Some(0)),
            ("prior_std", |c| c.prior_std = 0.0),
            ("dropout", |c| c.dropout = 1.0),
            ("members", |c| c.members = 0),
            ("samples", |c| c.samples = 0),
            ("samples", |c| c.samples = usize::MAX),
            ("seed", |c| c.seed = u64::MAX),
        ];
        for (name, set) in broken {
            let mut config = FitConfig::default();
            set(&mut config);
            assert!(config.check().unwrap_err().to_string().starts_with(name), "{name}");
        }
        assert!(FitConfig::default().check().is_ok());
    }
}
