//! What a simulation knows of the time before its first step.

use intervalid_data::{Channel, InitialState, Lags, Regressor, Scale};
use intervalid_interval::Real;

use crate::error::{ModelError, Result};
use crate::interface::ModelInterface;
use crate::simulate::range::check_range;

/// The samples before the first step, in physical units and in order of time: all channels of the oldest sample, then all
/// of the next. Inputs and outputs both end at the sample just before the first step; older samples than
/// [`HistoryNeeds`] tells are ignored, but for the few outputs that a monitored simulation looks back to.
///
/// Where there are fewer inputs than the model's lags reach back to, the missing ones are taken at the training mean, as
/// at the beginning of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct History<'a> {
    /// Past inputs.
    pub inputs: &'a [f64],
    /// Measured outputs.
    pub outputs: &'a [f64],
}

/// How many samples of [`History`] a model uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryNeeds {
    /// Samples of the inputs that the first step can make use of.
    pub inputs: usize,
    /// Samples of the inputs without which it cannot start: those of its warm-up.
    pub least_inputs: usize,
    /// Samples of the outputs, all of which it needs.
    pub outputs: usize,
}

impl HistoryNeeds {
    /// Those of a model with these lags and this start.
    #[must_use]
    pub fn new(lags: Lags, initial: InitialState) -> Self {
        let warmup = initial.unscored();
        Self {
            inputs: lags.input_age(lags.nx).saturating_add(warmup),
            least_inputs: warmup,
            outputs: match initial {
                InitialState::ZeroPadded => 1,
                InitialState::Measured => lags.ny,
                InitialState::Warmup(steps) | InitialState::History(steps) => steps.saturating_add(1),
            },
        }
    }
}

impl<'a> History<'a> {
    /// Checks lengths and values, and leaves out what is not needed.
    pub(super) fn checked(self, needs: HistoryNeeds, interface: &ModelInterface) -> Result<Self> {
        let ModelInterface {
            inputs,
            outputs,
            normaliser,
            ..
        } = interface;
        let history = Self {
            inputs: rows("past inputs", self.inputs, inputs, needs.least_inputs, needs.inputs)?,
            outputs: rows("past outputs", self.outputs, outputs, needs.outputs, needs.outputs)?,
        };
        in_range("past input", history.inputs, inputs, &normaliser.inputs)?;
        in_range("past output", history.outputs, outputs, &normaliser.outputs)?;
        Ok(history)
    }
}

fn rows<'a>(
    what: &'static str,
    values: &'a [f64],
    channels: &[Channel],
    least: usize,
    most: usize,
) -> Result<&'a [f64]> {
    let count = channels.len();
    if count == 0 && values.is_empty() {
        return Ok(values);
    }
    if count == 0 || !values.len().is_multiple_of(count) {
        return Err(ModelError::Length {
            what,
            found: format!("{} numbers", values.len()),
            expected: format!("a multiple of {count}, one number per channel and sample"),
        });
    }
    let found = values.len() / count;
    if found < least {
        return Err(ModelError::Length {
            what,
            found: format!("{found} samples"),
            expected: format!("at least {least}, the last before the first step"),
        });
    }
    let kept = &values[values.len() - found.min(most) * count..];
    finite(what, kept, channels)?;
    Ok(kept)
}

/// Whether all values, channel by channel, are numbers.
pub(super) fn finite(what: &'static str, values: &[f64], channels: &[Channel]) -> Result<()> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(position) => Err(ModelError::NotFinite {
            what,
            channel: channels[position % channels.len()].name.clone(),
            value: values[position],
        }),
    }
}

/// Whether a model may run on all values, channel by channel.
pub(super) fn in_range(what: &'static str, values: &[f64], channels: &[Channel], scales: &[Scale]) -> Result<()> {
    let mut at = channels.iter().zip(scales).cycle();
    for (&value, (channel, &scale)) in values.iter().zip(&mut at) {
        check_range(what, (channel, scale), value, None)?;
    }
    Ok(())
}

/// The last inputs, normalised, as a ring.
#[derive(Clone, Debug)]
pub(super) struct InputTaps<T> {
    regressor: Regressor,
    samples: usize,
    /// Place of the newest sample.
    newest: usize,
    values: Vec<T>,
}

impl<T: Real> InputTaps<T> {
    /// Room for the inputs that x(k) reaches back to, all at the training mean.
    pub(super) fn new(regressor: Regressor) -> Self {
        let lags = regressor.lags();
        let samples = lags.input_age(lags.input_taps());
        Self {
            regressor,
            samples,
            newest: 0,
            values: vec![T::zero(); samples * regressor.inputs()],
        }
    }

    pub(super) fn clear(&mut self) {
        self.values.fill(T::zero());
    }

    pub(super) fn push(&mut self, sample: impl Iterator<Item = T>) {
        self.newest = (self.newest + self.samples - 1) % self.samples;
        let channels = self.regressor.inputs();
        let at = self.newest * channels;
        for (to, value) in self.values[at..at + channels].iter_mut().zip(sample) {
            *to = value;
        }
    }

    fn sample(&self, age: usize) -> &[T] {
        let channels = self.regressor.inputs();
        let at = (self.newest + age) % self.samples * channels;
        &self.values[at..at + channels]
    }

    /// Writes the inputs of the regressor.
    pub(super) fn write(&self, x: &mut [T]) {
        let lags = self.regressor.lags();
        for tap in 0..lags.input_taps() {
            x[self.regressor.input_rows(tap)].copy_from_slice(self.sample(lags.input_age(tap)));
        }
    }

    /// All samples, newest first.
    pub(super) fn save(&self) -> Vec<f64> {
        let samples = (0..self.samples).flat_map(|age| self.sample(age));
        samples.map(|value| value.as_f64()).collect()
    }

    pub(super) fn restore(&mut self, saved: &[f64]) {
        self.newest = 0;
        for (to, &value) in self.values.iter_mut().zip(saved) {
            *to = T::of(value);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}
