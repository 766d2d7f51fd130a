//! From scaled records to the tiles that networks work on.

use intervalid_data::{InitialState, Lags, Scaled, Window};
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
    assert!(
        windows.len() <= batch.groups * batch.width(),
        "more windows than the batch holds"
    );
    batch.windows = windows.len();
    let width = batch.width();
    let outputs = batch.outputs;
    if windows.len() < batch.groups * width {
        batch.start.fill(T::zero());
        batch.target.fill(T::zero());
        batch.frames.x.fill(T::zero());
    }
    for (index, window) in windows.iter().enumerate() {
        let (group, lane) = (index / width, index % width);
        let experiment = &scaled.experiments()[window.experiment];
        let known = initial.known_outputs(window.start, lags);
        for output in 0..outputs {
            let measured = experiment.output(output);
            for lag in 0..lags.ny {
                let row = (group * lags.ny + lag) * outputs + output;
                let sample = window.start.checked_sub(lag).filter(|sample| known.contains(sample));
                batch.start[row * width + lane] = sample.map_or(T::zero(), |sample| measured[sample]);
            }
            for step in 0..batch.steps {
                let row = (group * batch.steps + step) * outputs + output;
                batch.target[row * width + lane] = measured[window.start + 1 + step];
            }
        }
        let inputs = experiment.inputs();
        for step in 0..batch.steps {
            let x = batch.frames.x_mut(group * batch.steps + step);
            for tap in 0..lags.input_taps() {
                let sample = (window.start + 1 + step).checked_sub(lags.nd + tap);
                for input in 0..inputs {
                    let row = lags.ny * outputs + tap * inputs + input;
                    x[row * width + lane] = sample.map_or(T::zero(), |sample| experiment.input(input)[sample]);
                }
            }
        }
    }
}
