//! The regressor x(k): where its entries stand, which samples they are, and what stands in for samples that nobody knows.

use std::ops::Range;

use num_traits::Float;

use crate::lags::{InitialState, Lags};
use crate::normalise::ScaledExperiment;
use crate::window::Window;

/// The layout of x(k) = [ y(k-1), …, y(k-n_y), u(k-n_d), …, u(k-n_d-n_x) ] for given numbers of channels.
///
/// Outputs come first, newest first, all channels of one lag side by side; then the inputs likewise. An entry whose sample
/// lies before the record is zero: the training mean, in normalised units.
///
/// ```
/// use intervalid_data::{Lags, Regressor, ScaledExperiment};
///
/// let experiment = ScaledExperiment::new(vec![vec![1.0, 2.0, 3.0]], vec![vec![10.0, 20.0, 30.0]]);
/// let regressor = Regressor::new(Lags::new(1, 0, 2)?, 1, 1);
/// let mut x = vec![0.0; regressor.len()];
/// regressor.write_measured(&experiment, 1, &mut x);
/// // y(0), nothing before it, u(1), u(0)
/// assert_eq!(x, [10.0, 0.0, 2.0, 1.0]);
/// assert_eq!((regressor.output_row(2, 0), regressor.input_row(1, 0)), (1, 3));
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regressor {
    lags: Lags,
    inputs: usize,
    outputs: usize,
}

impl Regressor {
    /// The regressor of a model with these lags and numbers of channels.
    #[inline]
    pub fn new(lags: Lags, inputs: usize, outputs: usize) -> Self {
        Self { lags, inputs, outputs }
    }

    /// Which samples x(k) holds.
    #[inline]
    pub fn lags(self) -> Lags {
        self.lags
    }

    /// Number of input channels.
    #[inline]
    pub fn inputs(self) -> usize {
        self.inputs
    }

    /// Number of output channels.
    #[inline]
    pub fn outputs(self) -> usize {
        self.outputs
    }

    /// Number of entries.
    #[inline]
    pub fn len(self) -> usize {
        self.lags.regressor_len(self.inputs, self.outputs)
    }

    /// Whether there are no entries; never true for a model with outputs.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// How many entries are outputs; they come first.
    #[inline]
    pub fn output_len(self) -> usize {
        self.lags.ny * self.outputs
    }

    /// Entry of y(k-lag) of an output channel; `lag` counts from 1.
    #[inline]
    pub fn output_row(self, lag: usize, channel: usize) -> usize {
        (lag - 1) * self.outputs + channel
    }

    /// Entries of y(k-lag), all channels; `lag` counts from 1.
    #[inline]
    pub fn output_rows(self, lag: usize) -> Range<usize> {
        self.output_row(lag, 0)..self.output_row(lag + 1, 0)
    }

    /// Entry of u(k-n_d-tap) of an input channel; `tap` counts from 0.
    #[inline]
    pub fn input_row(self, tap: usize, channel: usize) -> usize {
        self.output_len() + tap * self.inputs + channel
    }

    /// Entries of u(k-n_d-tap), all channels; `tap` counts from 0.
    #[inline]
    pub fn input_rows(self, tap: usize) -> Range<usize> {
        self.input_row(tap, 0)..self.input_row(tap + 1, 0)
    }

    /// The sample k-n_d-tap, if the record has begun by then.
    #[inline]
    pub fn input_sample(self, k: usize, tap: usize) -> Option<usize> {
        k.checked_sub(self.lags.input_age(tap))
    }

    /// Writes x(k) from measured data.
    ///
    /// # Panics
    /// If `x` or the channels of `experiment` do not have the sizes of this regressor.
    pub fn write_measured<T: Float>(self, experiment: &ScaledExperiment<T>, k: usize, x: &mut [T]) {
        let measured = PastOutputs::measured_before(k);
        self.write_outputs(experiment, &measured, k, |_, _| T::zero(), x);
        self.write_inputs(experiment, k, x);
    }

    /// Writes the inputs of x(k) and leaves the outputs as they are.
    ///
    /// # Panics
    /// As [`write_measured`](Self::write_measured).
    #[inline]
    pub fn write_inputs<T: Float>(self, experiment: &ScaledExperiment<T>, k: usize, x: &mut [T]) {
        self.check(experiment, x);
        self.for_each_input(experiment, k, |row, value| x[row] = value);
    }

    /// Calls `put(row, value)` for every input of x(k), for layouts in which x(k) is no slice.
    ///
    /// # Panics
    /// If `experiment` has fewer inputs than this regressor, or ends before the newest of these samples.
    #[inline]
    pub fn for_each_input<T: Float>(self, experiment: &ScaledExperiment<T>, k: usize, mut put: impl FnMut(usize, T)) {
        for tap in 0..self.lags.input_taps() {
            let sample = self.input_sample(k, tap);
            for channel in 0..self.inputs {
                let value = sample.map_or_else(T::zero, |sample| experiment.input(channel)[sample]);
                put(self.input_row(tap, channel), value);
            }
        }
    }

    /// Writes the outputs of x(k) and leaves the inputs as they are. `predicted(step, channel)` is the model's own
    /// prediction, asked for where `past` says that no measurement is known.
    ///
    /// # Panics
    /// As [`write_measured`](Self::write_measured).
    #[inline]
    pub fn write_outputs<T: Float>(
        self,
        experiment: &ScaledExperiment<T>,
        past: &PastOutputs,
        k: usize,
        predicted: impl Fn(usize, usize) -> T,
        x: &mut [T],
    ) {
        self.check(experiment, x);
        for lag in 1..=self.lags.ny {
            let source = past.source(k, lag);
            for (channel, to) in x[self.output_rows(lag)].iter_mut().enumerate() {
                *to = match source {
                    PastOutput::Measured(sample) => experiment.output(channel)[sample],
                    PastOutput::Predicted(step) => predicted(step, channel),
                    PastOutput::Unknown => T::zero(),
                };
            }
        }
    }

    /// Moves the outputs of x on by one sample: `newest`, one value per channel, becomes y(k-1).
    #[inline]
    pub fn push_outputs<T: Copy>(self, newest: impl Iterator<Item = T>, x: &mut [T]) {
        x.copy_within(..self.output_len() - self.outputs, self.outputs);
        for (to, value) in x[..self.outputs].iter_mut().zip(newest) {
            *to = value;
        }
    }

    fn check<T: Float>(self, experiment: &ScaledExperiment<T>, x: &[T]) {
        assert_eq!(x.len(), self.len(), "regressor length");
        assert_eq!(
            (experiment.inputs(), experiment.outputs()),
            (self.inputs, self.outputs),
            "channels of the regressor"
        );
    }
}

/// Where a past output of x(k) comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastOutput {
    /// The measurement of this sample.
    Measured(usize),
    /// The model's own prediction, counted from the first predicted sample.
    Predicted(usize),
    /// Nobody knows it: zero.
    Unknown,
}

/// The rule by which a run takes its past outputs: a measurement where it is known, the model's own prediction from the
/// first predicted sample on, zero otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastOutputs {
    known: Range<usize>,
    first_predicted: usize,
}

impl PastOutputs {
    /// Measurements of the samples `known`, predictions from `first_predicted` on.
    #[inline]
    pub fn new(known: Range<usize>, first_predicted: usize) -> Self {
        Self { known, first_predicted }
    }

    /// The rule of a free run over `window`.
    #[inline]
    pub fn of_run(window: Window, lags: Lags, initial: InitialState) -> Self {
        Self::new(initial.known_outputs(window.start, lags), window.start + 1)
    }

    /// All samples before `k` are measured: predictions one step ahead.
    #[inline]
    pub fn measured_before(k: usize) -> Self {
        Self::new(0..k, k)
    }

    /// Where y(k-lag) comes from.
    #[inline]
    pub fn source(&self, k: usize, lag: usize) -> PastOutput {
        match k.checked_sub(lag) {
            Some(sample) if self.known.contains(&sample) => PastOutput::Measured(sample),
            Some(sample) if sample >= self.first_predicted => PastOutput::Predicted(sample - self.first_predicted),
            _ => PastOutput::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment() -> ScaledExperiment<f64> {
        ScaledExperiment::new(
            vec![vec![1.0, 2.0, 3.0, 4.0, 5.0], vec![-1.0, -2.0, -3.0, -4.0, -5.0]],
            vec![vec![10.0, 20.0, 30.0, 40.0, 50.0]],
        )
    }

    #[test]
    fn outputs_come_first_and_newest_first() {
        let regressor = Regressor::new(Lags { nx: 1, nd: 1, ny: 2 }, 2, 1);
        let mut x = [f64::NAN; 6];
        regressor.write_measured(&experiment(), 4, &mut x);
        assert_eq!(x.map(|x| x as i64), [40, 30, 4, -4, 3, -3]);
        regressor.write_measured(&experiment(), 1, &mut x);
        assert_eq!(x.map(|x| x as i64), [10, 0, 1, -1, 0, 0]);
        assert_eq!((regressor.output_rows(2), regressor.input_rows(1)), (1..2, 4..6));
        regressor.push_outputs([7.0].into_iter(), &mut x);
        assert_eq!(x.map(|x| x as i64), [7, 10, 1, -1, 0, 0]);
    }

    #[test]
    fn a_run_knows_measurements_then_its_own_predictions() {
        let lags = Lags { nx: 0, nd: 0, ny: 3 };
        let window = Window {
            experiment: 0,
            start: 1,
            len: 4,
        };
        let sources = |initial, k| {
            let past = PastOutputs::of_run(window, lags, initial);
            [1, 2, 3].map(|lag| past.source(k, lag))
        };
        use PastOutput::{Measured, Predicted, Unknown};
        assert_eq!(sources(InitialState::ZeroPadded, 2), [Measured(1), Unknown, Unknown]);
        assert_eq!(sources(InitialState::Measured, 2), [Measured(1), Measured(0), Unknown]);
        assert_eq!(
            sources(InitialState::ZeroPadded, 4),
            [Predicted(1), Predicted(0), Measured(1)]
        );
        assert_eq!(
            sources(InitialState::Warmup(1), 4),
            [Predicted(1), Measured(2), Measured(1)]
        );
        let regressor = Regressor::new(lags, 2, 1);
        let past = PastOutputs::of_run(window, lags, InitialState::ZeroPadded);
        let mut x = vec![0.0; regressor.len()];
        regressor.write_outputs(&experiment(), &past, 4, |step, _| 0.5 + step as f64, &mut x);
        assert!(
            x.iter()
                .zip([1.5, 0.5, 20.0, 0.0, 0.0])
                .all(|(a, b)| (a - b).abs() < 1e-15)
        );
    }
}
