/// What only the Gaussian baselines read (docs/method.md, section 8).
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `prior_std` | ρ | 1 | > 0; Bayesian |
/// | `dropout` | | 0.05 | \[0, 1); dropout |
/// | `members` | M | 5 | 1 to 10000; ensemble |
/// | `samples` | S | 100 | 1 to 10000; Bayesian, dropout |
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
}

impl Default for GaussianConfig {
    fn default() -> Self {
        Self {
            prior_std: 1.0,
            dropout: 0.05,
            members: 5,
            samples: 100,
        }
    }
}
