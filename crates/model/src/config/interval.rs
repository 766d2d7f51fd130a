use serde::{Deserialize, Serialize};

use crate::train::loss::QuantileLevel;
use crate::train::optim::{GradNormOptimiser, Schedule};

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

/// What only interval networks read: how their margins Δ are trained (docs/method.md, sections 4 to 6).
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `strategy` | | cascade | cascade, joint |
/// | `margin` | σ_Δ | abs | abs, relu |
/// | `width_penalty` | λ | 0.5 | > 0 |
/// | `level` | α' | corrected | corrected, literal |
/// | `margin_hidden`, `margin_output` | r_h, r_o | 1, 1 (LSTM 0.2, 1) | ≥ 0 |
/// | `margin_floor` | | 0.001 (paper: 0) | ≥ 0 |
/// | `margin_epochs` | | as `epochs` | ≥ 1, of the cascade's second stage |
/// | `margin_batch` | | as `batch` | ≥ 1 windows, in the cascade's second stage |
/// | `margin_rate` | | 1 | > 0 |
/// | `margin_schedule` | | as `schedule` | of the cascade's second stage |
/// | `miss_factor` | | 1 | > 0, below 1/(1-α) |
/// | `gradnorm_beta` | β | 0.1 | ≥ 0 |
/// | `gradnorm_rate` | | 0.005 | > 0 |
/// | `gradnorm_optimiser` | | gradient (paper: adam) | gradient, adam |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalConfig {
    /// Training strategy.
    pub strategy: Strategy,
    /// Margin function.
    pub margin: MarginActivation,
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
    /// Epochs of the cascade's second stage, where they are not `epochs`.
    pub margin_epochs: Option<usize>,
    /// Windows per mini-batch in the cascade's second stage, where they are not `batch`.
    pub margin_batch: Option<usize>,
    /// Step size of the margins relative to that of θ.
    pub margin_rate: f64,
    /// How the margins' step size changes over the epochs of the cascade's second stage, where it is not `schedule`.
    pub margin_schedule: Option<Schedule>,
    /// L_RQR-W aims at this times 1-α misses: below 1, since bands are tighter on the windows they were trained on.
    pub miss_factor: f64,
    /// GradNorm's exponent.
    pub gradnorm_beta: f64,
    /// GradNorm's step size.
    pub gradnorm_rate: f64,
    /// How GradNorm's scales are moved. Model files of version 0.1 do not say, and meant plain steps.
    pub gradnorm_optimiser: GradNormOptimiser,
}

impl Default for IntervalConfig {
    fn default() -> Self {
        Self {
            strategy: Strategy::Cascade,
            margin: MarginActivation::Abs,
            width_penalty: 0.5,
            level: QuantileLevel::Corrected,
            margin_hidden: 1.0,
            margin_output: 1.0,
            margin_floor: 1e-3,
            margin_epochs: None,
            margin_batch: None,
            margin_rate: 1.0,
            margin_schedule: None,
            miss_factor: 1.0,
            gradnorm_beta: 0.1,
            gradnorm_rate: 5e-3,
            gradnorm_optimiser: GradNormOptimiser::Gradient,
        }
    }
}
