use serde::{Deserialize, Serialize};

/// Which outputs the networks of a baseline see in a free run (docs/method.md, section 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Feedback {
    /// All of them their mean: one trajectory, whose spread cannot grow by itself.
    #[default]
    Mean,
    /// Each its own, as the paper's appendix evaluates members.
    Own,
}

/// What only the Gaussian baselines read (docs/method.md, section 8).
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `prior_std` | ρ | 1 | > 0; Bayesian |
/// | `dropout` | | 0.05 | \[0, 1); dropout |
/// | `members` | M | 5 | 1 to 10000; ensemble |
/// | `samples` | S | 100 | 1 to 10000; Bayesian, dropout |
/// | `feedback` | | mean (paper: own) | mean, own |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianConfig {
    /// Standard deviation of the Gaussian prior of a Bayesian network's parameters.
    pub prior_std: f64,
    /// Share of the hidden activations that dropout sets to zero.
    pub dropout: f64,
    /// Networks of an ensemble.
    pub members: usize,
    /// Draws of a Bayesian or dropout network per prediction.
    pub samples: usize,
    /// Which outputs the networks see. Model files of version 0.1 do not say, and meant their mean.
    pub feedback: Feedback,
}

impl Default for GaussianConfig {
    fn default() -> Self {
        Self {
            prior_std: 1.0,
            dropout: 0.05,
            members: 5,
            samples: 100,
            feedback: Feedback::Mean,
        }
    }
}
