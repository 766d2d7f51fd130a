//! Where a model has seen data, and where it extrapolates.

use intervalid_data::{Lags, PastOutputs, Regressor, Scaled};
use nalgebra::{Cholesky, DMatrix};
use serde::{Deserialize, Serialize};

use crate::band::prediction::Band;

/// The region of regressors that a model was fitted on: where an ellipsoid around their mean and a box overlap.
///
/// A sample is extrapolated where d² = ‖L⁻¹(x - x̄)‖² exceeds `limit`, the largest d² of the training part, or where a
/// coordinate leaves `lowest` to `highest`. LLᵀ is the covariance of the training regressors, with a small ridge since
/// neighbouring lags are nearly equal. x are outputs and inputs, up to three lags of each, in normalised units. The
/// ellipsoid knows which values go together; the box knows how large they were, which switching inputs hide from the
/// ellipsoid: a switch has a larger d² than twice the level.
///
/// The outputs of training regressors are the simulated ones and, once more, the measured ones: a free run without inputs
/// comes to rest, while predictions that start from measurements go wherever the plant has been. Since measured outputs may
/// be outliers, all of them but a small share lie inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingRegion {
    /// Which samples x holds.
    pub lags: Lags,
    /// Mean x̄.
    pub centre: Vec<f64>,
    /// Rows of L⁻¹, lower triangle.
    pub whitening: Vec<Vec<f64>>,
    /// Largest d² of the training part.
    pub limit: f64,
    /// Least value of each coordinate, with a little room; empty in files of versions that knew the ellipsoid alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lowest: Vec<f64>,
    /// Greatest value of each coordinate, likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub highest: Vec<f64>,
}

/// Lags beyond these say little that the first ones do not.
const MOST_LAGS: usize = 3;
/// Variance added to every coordinate, whose own is about one.
const RIDGE: f64 = 1e-2;
/// The box is wider than the data by this share of their range on each side: the next sample of a like record may lie there.
const ROOM: f64 = 0.05;
/// The share of regressors with measured outputs that may lie outside on each side: outliers do not widen the region.
const OUTLIERS: f64 = 0.005;

impl TrainingRegion {
    /// The region of these free runs over training data; none where there are too few samples to tell.
    pub(crate) fn fit(scaled: &Scaled<f64>, bands: &[Band], to_normalised: &Normalise<'_>, lags: Lags) -> Option<Self> {
        let lags = Lags {
            nx: lags.nx.min(MOST_LAGS - 1),
            nd: lags.nd,
            ny: lags.ny.min(MOST_LAGS),
        };
        let mut rows: Vec<f64> = Vec::new();
        let mut width = 0;
        for outputs in [Outputs::Simulated, Outputs::Measured] {
            for band in bands {
                each_regressor(scaled, band, to_normalised, (lags, outputs), |x| {
                    width = x.len();
                    rows.extend_from_slice(x);
                });
            }
        }
        if width == 0 || rows.len() < 8 * width * width {
            return None;
        }
        let count = rows.len() / width;
        let rows = DMatrix::from_row_slice(count, width, &rows);
        let centre = rows.row_mean();
        let centred = DMatrix::from_fn(count, width, |row, column| rows[(row, column)] - centre[column]);
        let mut covariance = centred.transpose() * &centred / count as f64;
        for index in 0..width {
            covariance[(index, index)] += RIDGE;
        }
        let inverse = Cholesky::new(covariance)?.l().try_inverse()?;
        let sides: Vec<(f64, f64)> = rows
            .column_iter()
            .map(|column| {
                let (low, high) = edges(column.iter().copied());
                let room = ROOM * (high - low);
                (low - room, high + room)
            })
            .collect();
        let mut region = Self {
            lags,
            centre: centre.iter().copied().collect(),
            whitening: (0..width)
                .map(|row| (0..=row).map(|column| inverse[(row, column)]).collect())
                .collect(),
            limit: 0.0,
            lowest: sides.iter().map(|side| side.0).collect(),
            highest: sides.iter().map(|side| side.1).collect(),
        };
        let distances = rows
            .row_iter()
            .map(|row| region.distance(&row.iter().copied().collect::<Vec<_>>()));
        region.limit = edges(distances).1;
        Some(region)
    }

    fn distance(&self, x: &[f64]) -> f64 {
        let row = |row: &Vec<f64>| -> f64 {
            let sum: f64 = row
                .iter()
                .zip(x.iter().zip(&self.centre))
                .map(|(w, (x, c))| w * (x - c))
                .sum();
            sum * sum
        };
        self.whitening.iter().map(row).sum()
    }

    /// Whether a regressor lies inside; what is not a number does not.
    pub(crate) fn holds(&self, x: &[f64]) -> bool {
        let sides = self.lowest.iter().zip(&self.highest);
        let is_in_box = x.iter().zip(sides).all(|(x, (low, high))| low <= x && x <= high);
        is_in_box && self.distance(x) <= self.limit
    }

    /// Whether a plant that has had these inputs and outputs for long, in normalised units, lies inside.
    ///
    /// # Panics
    /// If they are other numbers of channels than those of the model.
    #[must_use]
    pub fn holds_rest(&self, inputs: &[f64], outputs: &[f64]) -> bool {
        let regressor = Regressor::new(self.lags, inputs.len(), outputs.len());
        assert_eq!(regressor.len(), self.centre.len(), "a value per channel");
        let mut x = outputs.repeat(self.lags.ny);
        x.extend(inputs.repeat(self.lags.input_taps()));
        self.holds(&x)
    }

    /// For every predicted sample of a band, whether it lies outside the region.
    pub(crate) fn outside(&self, scaled: &Scaled<f64>, band: &Band, to_normalised: &Normalise<'_>) -> Vec<bool> {
        let mut flags = Vec::with_capacity(band.len());
        each_regressor(scaled, band, to_normalised, (self.lags, Outputs::Simulated), |x| {
            flags.push(!self.holds(x));
        });
        flags
    }

    /// What the file of a model with these lags may not hold, in words.
    pub(crate) fn check(&self, model: Lags, inputs: usize, outputs: usize) -> Result<(), String> {
        let Lags { nx, nd, ny } = self.lags;
        if nd != model.nd || nx > model.nx || ny > model.ny {
            return Err(format!(
                "its region has lags {}, expected at most those of the model, {model}, and its dead time",
                self.lags
            ));
        }
        let width = self
            .lags
            .ny
            .checked_mul(outputs)
            .and_then(|lags| self.lags.nx.checked_add(1)?.checked_mul(inputs)?.checked_add(lags));
        let shaped = self.lags.ny <= MOST_LAGS
            && Some(self.centre.len()) == width
            && self.whitening.len() == self.centre.len()
            && self
                .whitening
                .iter()
                .enumerate()
                .all(|(row, values)| values.len() == row + 1)
            && [0, self.centre.len()].contains(&self.lowest.len())
            && self.highest.len() == self.lowest.len();
        let finite = self
            .centre
            .iter()
            .chain(self.whitening.iter().flatten())
            .chain(&self.lowest)
            .chain(&self.highest)
            .all(|value| value.is_finite());
        if shaped && finite && self.limit.is_finite() && self.limit >= 0.0 {
            return Ok(());
        }
        Err(format!(
            "its region has {} coordinates, expected numbers for lags {}",
            self.centre.len(),
            self.lags
        ))
    }
}

/// A physical value of an output in normalised units.
pub(crate) type Normalise<'a> = dyn Fn(usize, f64) -> f64 + 'a;

/// Which outputs of the predicted samples a regressor holds.
#[derive(Clone, Copy)]
enum Outputs {
    Simulated,
    Measured,
}

/// Least and greatest of `values`, whose first half is of simulated outputs, which all count, and whose second half of
/// measured ones, of which [`OUTLIERS`] do not.
fn edges(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut values: Vec<f64> = values.collect();
    let half = values.len() / 2;
    let (simulated, measured) = values.split_at_mut(half);
    measured.sort_by(f64::total_cmp);
    let few = (OUTLIERS * measured.len() as f64) as usize;
    let inner = &measured[few..measured.len() - few];
    let all = simulated.iter().chain(inner).copied();
    all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// The regressor of every predicted sample; outputs before the first of them are measured.
fn each_regressor(
    scaled: &Scaled<f64>,
    band: &Band,
    to_normalised: &Normalise<'_>,
    (lags, outputs): (Lags, Outputs),
    mut visit: impl FnMut(&[f64]),
) {
    let experiment = &scaled.experiments()[band.experiment];
    let regressor = Regressor::new(lags, experiment.inputs(), experiment.outputs());
    let simulated = |step: usize, output: usize| to_normalised(output, band.centre[output][step]);
    let mut x = vec![0.0; regressor.len()];
    for k in band.first..band.first + band.len() {
        let past = match outputs {
            Outputs::Simulated => PastOutputs::new(0..band.first, band.first),
            Outputs::Measured => PastOutputs::measured_before(k),
        };
        regressor.write_outputs(experiment, &past, k, simulated, &mut x);
        regressor.write_inputs(experiment, k, &mut x);
        visit(&x);
    }
}
