//! Suggested lags from an ARX order search.

use serde::{Deserialize, Serialize};

use crate::arx::{ArxModel, push_rows};
use crate::dataset::Dataset;
use crate::dead_time::answers;
use crate::error::DataError;
use crate::lags::{InitialState, Lags};
use crate::least_squares::TriangularFactor;
use crate::normalise::{Normaliser, Scaled};
use crate::regressor::Regressor;
use crate::split::{Part, Segment, Split};
use crate::window::{Window, free_run_windows};

/// Settings of [`suggest_lags`].
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `max_nx` | 6 | ≥ 0 | most input taps beyond the first |
/// | `min_nd` | 0 | ≥ 0 | least dead time |
/// | `max_nd` | 5 | ≥ `min_nd` | largest dead time |
/// | `max_ny` | 8 | ≥ 1 | most output lags |
/// | `initial` | `zero` | | how the scored free runs start |
/// | `tolerance` | 0.02 | ≥ 0 | a smaller model may be worse by this share of the best error |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LagSearchConfig {
    /// Most input taps beyond the first.
    pub max_nx: usize,
    /// Least dead time.
    pub min_nd: usize,
    /// Largest dead time.
    pub max_nd: usize,
    /// Most output lags.
    pub max_ny: usize,
    /// How the scored free runs start.
    pub initial: InitialState,
    /// Share of the best error that a smaller model may be worse by.
    pub tolerance: f64,
}

impl Default for LagSearchConfig {
    fn default() -> Self {
        Self {
            max_nx: 6,
            min_nd: 0,
            max_nd: 5,
            max_ny: 8,
            initial: InitialState::ZeroPadded,
            tolerance: 0.02,
        }
    }
}

impl LagSearchConfig {
    /// As many dead times, up to each that correlations on `part` show, where these limits end before it: a plant whose answer comes late
    /// would be searched in vain. Empty where no answer is to be seen, where they reach far enough, or where experiments are so short that much of
    /// them would pass before the first prediction: errors on what is left do not compare with others.
    #[must_use]
    pub fn later(&self, dataset: &Dataset, part: &Part) -> Vec<Self> {
        let mut later: Vec<Self> = Vec::new();
        for seen in answers(dataset, part) {
            let is_searched = |limits: &Self| (limits.min_nd..=limits.max_nd).contains(&seen);
            if seen <= self.max_nd || later.iter().any(is_searched) || passed(part, seen + self.max_nx) > MOST_PASSED {
                continue;
            }
            // What answers weakly at first is seen late, never early.
            later.push(Self {
                min_nd: (seen - self.max_nd.saturating_sub(self.min_nd)).max(self.max_nd + 1),
                max_nd: seen,
                ..*self
            });
        }
        later
    }
}

/// Later answers are not looked for where this share of the samples would pass before a model has seen its inputs.
const MOST_PASSED: f64 = 0.2;

/// The share of a part that lies less than `samples` after the beginning of an experiment.
fn passed(part: &Part, samples: usize) -> f64 {
    let of = |segment: &Segment| samples.clamp(segment.start, segment.end) - segment.start;
    let passed: usize = part.segments().iter().map(of).sum();
    passed as f64 / part.samples().max(1) as f64
}

/// One row of the table of [`suggest_lags`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LagCandidate {
    /// The lags tried.
    pub lags: Lags,
    /// Coefficients of the ARX model, the biases included.
    pub parameters: usize,
    /// Root mean square error of the free run over the validation part, in normalised units (of [`suggest_lags`]: standard deviations of the
    /// training outputs); infinite where it diverges.
    pub validation_rmse: f64,
}

/// The outcome of [`suggest_lags`].
#[derive(Clone, Debug, PartialEq)]
pub struct LagSuggestion {
    /// The smallest model whose error is within the tolerance of the best.
    pub suggested: LagCandidate,
    /// The model with the smallest error.
    pub best: LagCandidate,
    /// All candidates, ordered by n_y, n_d, n_x; those of later dead times, where there are any, after the others.
    pub candidates: Vec<LagCandidate>,
}

/// Fits an ARX model for every combination of lags up to the limits on the training part and scores its free run on the
/// validation part. Where correlations show that the plant answers later than the largest dead time, as many later ones are tried too.
///
/// Limits that the training part is too short for are an error, not silently lowered.
///
/// # Errors
/// If the tolerance is negative, a channel is constant on the training part, or [`compare_lags`] fails.
pub fn suggest_lags(dataset: &Dataset, split: &Split, config: &LagSearchConfig) -> Result<LagSuggestion, DataError> {
    if !(config.tolerance.is_finite() && config.tolerance >= 0.0) {
        return Err(DataError::SearchTolerance {
            found: config.tolerance,
        });
    }
    let scaled = Normaliser::fit(dataset, &split.train)?.scale::<f64>(dataset);
    let mut candidates = compare_lags(dataset, &scaled, split, config)?;
    for later in config.later(dataset, &split.train) {
        // A record too short for them keeps the others.
        candidates.extend(compare_lags(dataset, &scaled, split, &later).unwrap_or_default());
    }
    let by_error = |a: &&LagCandidate, b: &&LagCandidate| a.validation_rmse.total_cmp(&b.validation_rmse);
    let best = *candidates.iter().min_by(by_error).ok_or(DataError::LeastSquares)?;
    let limit = best.validation_rmse * (1.0 + config.tolerance);
    let good_enough = candidates.iter().filter(|candidate| candidate.validation_rmse <= limit);
    let suggested = good_enough
        .min_by(|a, b| a.parameters.cmp(&b.parameters).then(by_error(a, b)))
        .copied()
        .unwrap_or(best);
    Ok(LagSuggestion {
        suggested,
        best,
        candidates,
    })
}

/// The table behind [`suggest_lags`], ordered by n_y, n_d, n_x, in units that were fitted elsewhere: `scaled` is the data set in them.
/// A channel may be at rest over the whole training part.
///
/// All candidates are solved from one triangular factor of the largest regressor, so the record is read once however
/// many there are; they share its rows, which makes their errors comparable.
///
/// # Errors
/// If a limit is out of range, the validation part is empty or too short, or the training part has fewer samples than the largest
/// model has coefficients.
pub fn compare_lags(
    dataset: &Dataset,
    scaled: &Scaled<f64>,
    split: &Split,
    config: &LagSearchConfig,
) -> Result<Vec<LagCandidate>, DataError> {
    let (inputs, outputs) = (dataset.inputs().len(), dataset.outputs().len());
    if config.max_nd < config.min_nd {
        return Err(DataError::DeadTimes {
            least: config.min_nd,
            largest: config.max_nd,
        });
    }
    // Covers u(k-min_nd) … u(k-max_nd-max_nx), from which each candidate picks its taps.
    let range = config.max_nd - config.min_nd;
    let largest = Lags::new(config.max_nx.saturating_add(range), config.min_nd, config.max_ny)?;
    let layout = Regressor::new(largest, inputs, outputs);
    let width = layout.len();
    let needed = largest.memory() + width + 2;
    if split.train.samples() < needed {
        return Err(DataError::TooShort {
            what: "this lag search",
            needed,
            found: split.train.samples(),
        });
    }
    let mut factor = TriangularFactor::new(width + 1 + outputs);
    push_rows(&mut factor, scaled, &split.train, largest)?;

    let targets: Vec<usize> = (width + 1..width + 1 + outputs).collect();
    let mut candidates = Vec::new();
    // Without inputs, taps and dead time mean nothing.
    let (max_nx, dead_times) = if inputs == 0 {
        (0, 0..=0)
    } else {
        (config.max_nx, config.min_nd..=config.max_nd)
    };
    for ny in 1..=config.max_ny {
        for nd in dead_times.clone() {
            let tap = nd.saturating_sub(config.min_nd);
            for nx in 0..=max_nx {
                let lags = Lags { nx, nd, ny };
                let mut regressors: Vec<usize> = (0..layout.output_row(ny + 1, 0)).collect();
                regressors.extend(layout.input_row(tap, 0)..layout.input_row(tap + lags.input_taps(), 0));
                regressors.push(width);
                let parameters = regressors.len() * outputs;
                let mut coefficients = factor.solve(&regressors, &targets)?;
                let bias = coefficients.iter_mut().map(|row| row.pop().unwrap_or(0.0)).collect();
                let model = ArxModel {
                    lags,
                    coefficients,
                    bias,
                };
                let windows = free_run_windows(dataset, &split.validation, lags, config.initial)?;
                let validation_rmse = free_run_rmse(&model, scaled, &windows, config.initial);
                candidates.push(LagCandidate {
                    lags,
                    parameters,
                    validation_rmse,
                });
            }
        }
    }
    Ok(candidates)
}

/// Infinite if a run diverges.
fn free_run_rmse(model: &ArxModel, scaled: &Scaled<f64>, windows: &[Window], initial: InitialState) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for window in windows {
        let experiment = &scaled.experiments()[window.experiment];
        let scored = window.scored(initial);
        let unscored = window.predicted().len() - scored.len();
        let Some(run) = model.simulate(experiment, *window, initial) else {
            return f64::INFINITY;
        };
        for (channel, column) in run.iter().enumerate() {
            let measured = &experiment.output(channel)[scored.clone()];
            sum += column[unscored..]
                .iter()
                .zip(measured)
                .map(|(y, m)| (y - m).powi(2))
                .sum::<f64>();
            count += measured.len();
        }
    }
    (sum / count as f64).sqrt()
}
