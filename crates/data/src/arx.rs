//! ARX models: the linear baseline, and the start of a network's linear path.

use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::lags::{InitialState, Lags};
use crate::least_squares::TriangularFactor;
use crate::normalise::{Scaled, ScaledExperiment};
use crate::regressor::{PastOutputs, Regressor};
use crate::split::Part;
use crate::window::Window;

/// A linear model ŷ(k) = A x(k) + b in normalised units, with the regressor x(k) of [`Lags`].
///
/// **Fit.** Least squares on one-step predictions: A, b = argmin Σ_k ‖y(k) - A x̂(k) - b‖², x̂ from measured data. The
/// sum runs over the samples whose whole regressor exists in their experiment. Collinear regressors get the solution
/// of least norm.
///
/// **Assumptions.** One-step least squares is consistent where the equation error is white; with output noise its
/// free run is biased towards fast decay.
///
/// **Reference.** L. Ljung, *System Identification: Theory for the User*, 2nd ed., Prentice Hall 1999, section 4.2,
/// eqs. (4.7)–(4.12).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArxModel {
    /// Which samples x(k) holds.
    pub lags: Lags,
    /// A: one row per output, one entry per regressor entry.
    pub coefficients: Vec<Vec<f64>>,
    /// b: one entry per output; zeros where it was not fitted.
    pub bias: Vec<f64>,
}

/// A free run has diverged when a normalised prediction leaves ± this many training standard deviations or is not a number: one
/// rule for every kind of model, in whole records, step by step and in exported code.
pub const DIVERGED: f64 = 1e4;

impl ArxModel {
    /// Fits the model on `part` of normalised data; `with_bias` adds the constant b.
    ///
    /// Memory is that of one block of rows, whatever the length of the record.
    ///
    /// # Errors
    /// If the lags are out of range, no sample of `part` has a whole regressor, or the solver fails.
    pub fn fit(scaled: &Scaled<f64>, part: &Part, lags: Lags, with_bias: bool) -> Result<Self, DataError> {
        lags.check()?;
        let (inputs, outputs) = channels(scaled);
        let width = lags.regressor_len(inputs, outputs);
        // Row of the factor: x(k), 1, y(k).
        let mut factor = TriangularFactor::new(width + 1 + outputs);
        push_rows(&mut factor, scaled, part, lags)?;
        let regressors: Vec<usize> = (0..width + usize::from(with_bias)).collect();
        let targets: Vec<usize> = (width + 1..width + 1 + outputs).collect();
        let mut coefficients = factor.solve(&regressors, &targets)?;
        let bias = coefficients
            .iter_mut()
            .map(|row| if with_bias { row.pop().unwrap_or(0.0) } else { 0.0 })
            .collect();
        Ok(Self {
            lags,
            coefficients,
            bias,
        })
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.coefficients.len()
    }

    /// ŷ = A x + b for a given regressor.
    ///
    /// # Panics
    /// If the lengths do not fit the model.
    pub fn step(&self, regressor: &[f64], prediction: &mut [f64]) {
        assert_eq!(prediction.len(), self.outputs(), "prediction length");
        for ((y, row), bias) in prediction.iter_mut().zip(&self.coefficients).zip(&self.bias) {
            assert_eq!(row.len(), regressor.len(), "regressor length");
            *y = bias + row.iter().zip(regressor).map(|(a, x)| a * x).sum::<f64>();
        }
    }

    /// One-step predictions of the samples `window` predicts, from measured outputs: one column per output.
    ///
    /// # Panics
    /// If the window is not inside the experiment or its channels do not fit the model.
    pub fn predict(&self, experiment: &ScaledExperiment<f64>, window: Window) -> Vec<Vec<f64>> {
        let regressor = self.regressor(experiment);
        let mut x = vec![0.0; regressor.len()];
        let mut prediction = vec![0.0; self.outputs()];
        let mut columns = vec![Vec::with_capacity(window.predicted().len()); self.outputs()];
        for k in window.predicted() {
            regressor.write_measured(experiment, k, &mut x);
            self.step(&x, &mut prediction);
            columns
                .iter_mut()
                .zip(&prediction)
                .for_each(|(column, y)| column.push(*y));
        }
        columns
    }

    /// Free run over `window`: own predictions are fed back, except where `initial` says that measured outputs are
    /// known. One column per output, one entry per predicted sample, a warm-up included.
    ///
    /// None if the run diverges ([`DIVERGED`]).
    ///
    /// # Panics
    /// If the window is not inside the experiment or its channels do not fit the model.
    pub fn simulate(
        &self,
        experiment: &ScaledExperiment<f64>,
        window: Window,
        initial: InitialState,
    ) -> Option<Vec<Vec<f64>>> {
        let outputs = self.outputs();
        assert_eq!(outputs, experiment.outputs(), "output channels");
        assert!(
            window.start + window.len <= experiment.len(),
            "window inside its experiment"
        );
        let regressor = self.regressor(experiment);
        let past = PastOutputs::of_run(window, self.lags, initial);
        let mut x = vec![0.0; regressor.len()];
        let mut prediction = vec![0.0; outputs];
        let mut columns = vec![Vec::with_capacity(window.predicted().len()); outputs];
        for k in window.predicted() {
            let predicted = |step: usize, channel: usize| columns[channel][step];
            regressor.write_outputs(experiment, &past, k, predicted, &mut x);
            regressor.write_inputs(experiment, k, &mut x);
            self.step(&x, &mut prediction);
            if prediction.iter().any(|y| y.is_nan() || y.abs() > DIVERGED) {
                return None;
            }
            for (column, y) in columns.iter_mut().zip(&prediction) {
                column.push(*y);
            }
        }
        Some(columns)
    }

    fn regressor(&self, experiment: &ScaledExperiment<f64>) -> Regressor {
        Regressor::new(self.lags, experiment.inputs(), experiment.outputs())
    }
}

pub(crate) fn channels(scaled: &Scaled<f64>) -> (usize, usize) {
    scaled
        .experiments()
        .first()
        .map_or((0, 0), |experiment| (experiment.inputs(), experiment.outputs()))
}

/// One row x(k), 1, y(k) per sample of `part` whose whole regressor lies in its experiment.
pub(crate) fn push_rows(
    factor: &mut TriangularFactor,
    scaled: &Scaled<f64>,
    part: &Part,
    lags: Lags,
) -> Result<(), DataError> {
    let (inputs, outputs) = channels(scaled);
    let regressor = Regressor::new(lags, inputs, outputs);
    let width = regressor.len();
    for segment in part.segments() {
        let experiment = scaled.experiments().get(segment.experiment);
        let samples = experiment.map_or(0, ScaledExperiment::len);
        let Some(experiment) = experiment.filter(|_| segment.end <= samples) else {
            return Err(DataError::ForeignPart {
                segment: *segment,
                samples,
            });
        };
        for k in segment.start.max(lags.memory())..segment.end {
            factor.push_row(|row| {
                regressor.write_measured(experiment, k, &mut row[..width]);
                row[width] = 1.0;
                for channel in 0..outputs {
                    row[width + 1 + channel] = experiment.output(channel)[k];
                }
            });
        }
    }
    if factor.rows() == 0 {
        let found = part.segments().iter().map(|segment| segment.end).max().unwrap_or(0);
        return Err(DataError::TooShort {
            what: "an ARX fit",
            needed: lags.memory() + 1,
            found,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Segment;

    /// y(k) = 1.5 y(k-1) - 0.7 y(k-2) + u(k-1) + 0.5 u(k-2), a common textbook system; noise free.
    fn second_order(samples: usize) -> Scaled<f64> {
        let u: Vec<f64> = (0..samples).map(|k| ((k * k) as f64 * 0.37).sin()).collect();
        let mut y = vec![0.0; samples];
        for k in 2..samples {
            y[k] = 1.5 * y[k - 1] - 0.7 * y[k - 2] + u[k - 1] + 0.5 * u[k - 2];
        }
        Scaled::new(vec![ScaledExperiment::new(vec![u], vec![y])])
    }

    fn part(start: usize, end: usize) -> Part {
        Part::from_segments(vec![Segment {
            experiment: 0,
            start,
            end,
        }])
    }

    #[test]
    fn recovers_a_known_system_and_simulates_it() {
        let scaled = second_order(2000);
        let lags = Lags { nx: 1, nd: 1, ny: 2 };
        let model = ArxModel::fit(&scaled, &part(0, 1000), lags, true).expect("fits");
        for (found, expected) in model.coefficients[0].iter().zip([1.5, -0.7, 1.0, 0.5]) {
            assert!((found - expected).abs() < 1e-10, "{found} {expected}");
        }
        assert!(model.bias[0].abs() < 1e-10);

        let experiment = &scaled.experiments()[0];
        let window = Window {
            experiment: 0,
            start: 1000,
            len: 500,
        };
        let truth = &experiment.output(0)[1001..1500];
        let error = |initial| {
            let simulated = model.simulate(experiment, window, initial).expect("stable");
            simulated[0]
                .iter()
                .zip(truth)
                .map(|(a, b)| (a - b).abs())
                .collect::<Vec<_>>()
        };
        // The measured history starts the run on the true trajectory.
        assert!(error(InitialState::Measured).iter().all(|e| *e < 1e-7));
        // A wrong past decays with the poles (|p| = 0.84).
        let padded = error(InitialState::ZeroPadded);
        assert!(padded[0] > 0.1 && padded[300] < 1e-7);
        // After two warm-up samples both lags are measured.
        let warmed = error(InitialState::Warmup(2));
        assert!(warmed[0] > 0.1 && warmed[2..].iter().all(|e| *e < 1e-7));
        let one_step = model.predict(experiment, window);
        assert!(one_step[0].iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-8));
    }

    #[test]
    fn an_unstable_model_diverges() {
        let scaled = second_order(2000);
        let model = ArxModel {
            lags: Lags { nx: 0, nd: 0, ny: 1 },
            coefficients: vec![vec![3.0, 1.0]],
            bias: vec![0.0],
        };
        let run = |len: usize| {
            let window = Window {
                experiment: 0,
                start: 0,
                len,
            };
            model.simulate(&scaled.experiments()[0], window, InitialState::ZeroPadded)
        };
        assert_eq!(run(2000), None);
        // Before it has left the range it is a run like any other.
        assert!(run(5).is_some_and(|run| run[0].len() == 4));
    }

    #[test]
    fn a_part_of_another_record_is_refused() {
        let lags = Lags { nx: 0, nd: 0, ny: 1 };
        let message = ArxModel::fit(&second_order(20), &part(0, 21), lags, false).map_err(|e| e.to_string());
        assert_eq!(
            message.map(|_| ()),
            Err("samples 0..21 of experiment 0 do not exist: it has 20 samples; split the same data set".to_owned())
        );
    }

    #[test]
    fn too_short_for_the_lags() {
        let message = ArxModel::fit(&second_order(20), &part(0, 5), Lags { nx: 2, nd: 6, ny: 1 }, false)
            .map_err(|e| e.to_string());
        assert_eq!(
            message.map(|_| ()),
            Err("too short for an ARX fit: 9 consecutive samples are needed, the longest stretch has 5".to_owned())
        );
    }
}
