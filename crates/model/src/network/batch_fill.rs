//! From scaled records to the tiles that networks work on.

use intervalid_data::{InitialState, Lags, PastOutput, PastOutputs, Regressor, Scaled, Window};
use intervalid_interval::Real;

use crate::network::Batch;

/// Fills a batch with windows: input taps, known outputs and targets. Samples past the last window stay zero.
pub(crate) fn fill<T: Real>(
    batch: &mut Batch<T>,
    scaled: &Scaled<T>,
    lags: Lags,
    initial: InitialState,
    windows: &[Window],
) {
    assert!(windows.len() <= batch.width(), "more windows than the batch holds");
    batch.windows = windows.len();
    let width = batch.width();
    let outputs = batch.outputs;
    if windows.len() < width {
        batch.start.fill(T::zero());
        batch.target.fill(T::zero());
        batch.frames.x.fill(T::zero());
    }
    for (lane, window) in windows.iter().enumerate() {
        let experiment = &scaled.experiments()[window.experiment];
        let regressor = Regressor::new(lags, experiment.inputs(), outputs);
        let past = PastOutputs::of_run(*window, lags, initial);
        let first = window.start + 1;
        for output in 0..outputs {
            let measured = experiment.output(output);
            for lag in 1..=lags.ny {
                let row = regressor.output_row(lag, output);
                batch.start[row * width + lane] = match past.source(first, lag) {
                    PastOutput::Measured(sample) => measured[sample],
                    PastOutput::Predicted(_) | PastOutput::Unknown => T::zero(),
                };
            }
            for step in 0..batch.steps {
                let row = step * outputs + output;
                batch.target[row * width + lane] = measured[first + step];
            }
        }
        for step in 0..batch.steps {
            let x = batch.frames.x_mut(step);
            regressor.for_each_input(experiment, first + step, |row, value| x[row * width + lane] = value);
        }
    }
}
