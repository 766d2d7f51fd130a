//! Bands: what a model claims about measured outputs, in physical units.

/// A simulation with its prediction interval over consecutive samples of one experiment.
///
/// A band is a model's claim about coverage, not an enclosure. `lower ≤ centre ≤ upper` always.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Index of the experiment.
    pub experiment: usize,
    /// Sample of the first prediction, from 0.
    pub first: usize,
    /// Unscored predictions at the start (warm-up).
    pub warmup: usize,
    /// Per output: lower bounds.
    pub lower: Vec<Vec<f64>>,
    /// Per output: point predictions.
    pub centre: Vec<Vec<f64>>,
    /// Per output: upper bounds.
    pub upper: Vec<Vec<f64>>,
    /// First step (from 0) at which the simulation left every reasonable range; predictions end there.
    pub diverged_at: Option<usize>,
}

impl Band {
    /// Predicted samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.centre.first().map_or(0, Vec::len)
    }

    /// Whether nothing was predicted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
