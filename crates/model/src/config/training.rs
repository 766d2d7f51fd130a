use intervalid_data::WindowConfig;

use crate::train::optim::Schedule;

/// How the parameters of a network are found, of whatever method.
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `window` | N, n_step | 40, 5 | N ≥ 2, n_step ≥ 1 |
/// | `epochs` | | 150 | ≥ 1, per stage |
/// | `batch` | | 64 | ≥ 1 windows |
/// | `learning_rate` | | 0.005 | > 0 |
/// | `schedule` | | step | constant, step, cosine |
/// | `gradient_clip` | | 5 | > 0 |
/// | `patience` | | none | ≥ 1 epochs without a better validation loss; of a joint stage counted in its second half |
/// | `weight_decay` | | 0 | ≥ 0 |
/// | `weight_noise` | | 0 | ≥ 0 |
/// | `averaging` | | 0 | \[0, 1) |
/// | `hidden_decay` | | 0 | ≥ 0 |
/// | `train_on_validation` | | false | |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingConfig {
    /// Training windows.
    pub window: WindowConfig,
    /// Epochs of each stage.
    pub epochs: usize,
    /// Windows per mini-batch.
    pub batch: usize,
    /// Adam's step size.
    pub learning_rate: f64,
    /// How the step size changes over the epochs.
    pub schedule: Schedule,
    /// Largest Euclidean norm of a gradient.
    pub gradient_clip: f64,
    /// Stop a stage after this many epochs without improvement.
    pub patience: Option<usize>,
    /// Decoupled decay of weights (not of biases): each step takes away this share of them times the step size.
    pub weight_decay: f64,
    /// Standard deviation of the noise added to every weight (not to biases) where a gradient of θ is taken.
    pub weight_noise: f64,
    /// Decay per iteration of the running mean of θ and Δ' that is validated and kept instead of the last iterate; 0 keeps
    /// none.
    pub averaging: f64,
    /// As `weight_decay`, of hidden layers and cells only. Where all weights decay, a small read-out asks for large hidden values,
    /// which saturate; where the read-out is free, small hidden weights leave a network nearly linear.
    pub hidden_decay: f64,
    /// Train on the validation part, too. It still chooses the epoch, and then hardly tells a network that has learnt its samples by
    /// heart: for settings that were found on other splits, on short records whose newest samples are worth more than the choice.
    pub train_on_validation: bool,
}

impl Default for TrainingConfig {
    fn default() -> Self {
        Self {
            window: WindowConfig { length: 40, step: 5 },
            epochs: 150,
            batch: 64,
            learning_rate: 5e-3,
            schedule: Schedule::Step,
            gradient_clip: 5.0,
            patience: None,
            weight_decay: 0.0,
            weight_noise: 0.0,
            averaging: 0.0,
            hidden_decay: 0.0,
            train_on_validation: false,
        }
    }
}
