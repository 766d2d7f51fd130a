//! z-scores with the training part's statistics, and back.

use num_traits::{Float, NumCast};
use serde::{Deserialize, Serialize};

use crate::channel::{Channel, ChannelKind};
use crate::dataset::Dataset;
use crate::error::DataError;
use crate::experiment::Experiment;
use crate::split::Part;

/// The affine map of one channel: normalised = (physical - mean) / std.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// Mean of the channel over the part it was fitted on.
    pub mean: f64,
    /// Standard deviation with n-1, positive.
    pub std: f64,
}

impl Scale {
    /// The map that changes nothing.
    pub const IDENTITY: Self = Self { mean: 0.0, std: 1.0 };

    /// Physical to normalised.
    pub fn to_normalised(self, physical: f64) -> f64 {
        (physical - self.mean) / self.std
    }

    /// Normalised to physical.
    pub fn to_physical(self, normalised: f64) -> f64 {
        normalised * self.std + self.mean
    }

    /// A difference of two normalised values (an error, a width) in physical units.
    pub fn width_to_physical(self, width: f64) -> f64 {
        width * self.std
    }
}

/// One [`Scale`] per channel, fitted once and applied to every part alike.
///
/// ```
/// use intervalid_data::{Normaliser, ReadOptions, Split, SplitFractions, load};
///
/// let dataset = load(&["hair-dryer"], None, &ReadOptions::default())?;
/// let split = Split::new(&dataset, SplitFractions::default())?;
/// let normaliser = Normaliser::fit(&dataset, &split.train)?;
/// let scaled = normaliser.scale::<f32>(&dataset);
/// let (physical, normalised) = (dataset.experiments()[0].output(0)[7], scaled.experiments()[0].output(0)[7]);
/// assert!((normaliser.outputs[0].to_physical(f64::from(normalised)) - physical).abs() < 1e-5);
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Normaliser {
    /// Input scales in channel order.
    pub inputs: Vec<Scale>,
    /// Output scales in channel order.
    pub outputs: Vec<Scale>,
}

impl Normaliser {
    /// Mean and standard deviation (n-1) of every channel over `part`, which should be the training part.
    ///
    /// # Errors
    /// If `part` has fewer than two samples, or a channel is constant there: dividing by its standard deviation would
    /// turn rounding noise into signal.
    pub fn fit(dataset: &Dataset, part: &Part) -> Result<Self, DataError> {
        part.check(dataset)?;
        let fit_all = |channels: &[Channel], column: fn(&Experiment, usize) -> &[f64]| {
            let scales = channels.iter().enumerate();
            scales
                .map(|(index, channel)| fit_scale(dataset, part, channel, |e| column(e, index)))
                .collect::<Result<Vec<_>, DataError>>()
        };
        Ok(Self {
            inputs: fit_all(dataset.inputs(), Experiment::input)?,
            outputs: fit_all(dataset.outputs(), Experiment::output)?,
        })
    }

    /// A normaliser that leaves all channels as they are.
    pub fn identity(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs: vec![Scale::IDENTITY; inputs],
            outputs: vec![Scale::IDENTITY; outputs],
        }
    }

    /// Whether `dataset` has the channels the normaliser was fitted for; ask before scaling data that a saved model meets
    /// for the first time.
    ///
    /// # Errors
    /// Names the kind of channel and both counts.
    pub fn check_channels(&self, dataset: &Dataset) -> Result<(), DataError> {
        for (kind, expected, found) in [
            (ChannelKind::Input, self.inputs.len(), dataset.inputs().len()),
            (ChannelKind::Output, self.outputs.len(), dataset.outputs().len()),
        ] {
            if expected != found {
                return Err(DataError::ChannelCount {
                    dataset: dataset.name().to_owned(),
                    kind,
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }

    /// All experiments of `dataset` in normalised units and precision `T`: the one copy that training works on.
    ///
    /// # Panics
    /// If `dataset` has other numbers of channels than the normaliser, see [`Normaliser::check_channels`].
    pub fn scale<T: Float + Send + Sync + 'static>(&self, dataset: &Dataset) -> Scaled<T> {
        assert_eq!(dataset.inputs().len(), self.inputs.len(), "input channels");
        assert_eq!(dataset.outputs().len(), self.outputs.len(), "output channels");
        let scale_all = |experiment: &Experiment, scales: &[Scale], column: fn(&Experiment, usize) -> &[f64]| {
            let columns = scales.iter().enumerate();
            columns
                .map(|(index, scale)| {
                    column(experiment, index)
                        .iter()
                        .map(|&value| narrow(scale.to_normalised(value)))
                        .collect()
                })
                .collect()
        };
        let experiments = dataset.experiments().iter().map(|experiment| {
            ScaledExperiment::new(
                scale_all(experiment, &self.inputs, Experiment::input),
                scale_all(experiment, &self.outputs, Experiment::output),
            )
        });
        Scaled {
            experiments: experiments.collect(),
        }
    }

    /// A normalised value of output `channel` in physical units; bounds go the same way as values.
    ///
    /// # Panics
    /// If there is no such output.
    pub fn output_to_physical<T: Float>(&self, channel: usize, normalised: T) -> f64 {
        self.outputs[channel].to_physical(widen(normalised))
    }

    /// A physical value of output `channel` in normalised units.
    ///
    /// # Panics
    /// If there is no such output.
    pub fn output_to_normalised<T: Float>(&self, channel: usize, physical: f64) -> T {
        narrow(self.outputs[channel].to_normalised(physical))
    }

    /// A width or error of output `channel` in physical units.
    ///
    /// # Panics
    /// If there is no such output.
    pub fn output_width_to_physical<T: Float>(&self, channel: usize, width: T) -> f64 {
        self.outputs[channel].width_to_physical(widen(width))
    }
}

// Both casts succeed for f32 and f64, the precisions in use.
fn narrow<T: Float>(value: f64) -> T {
    <T as NumCast>::from(value).unwrap_or_else(T::nan)
}

fn widen<T: Float>(value: T) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

fn fit_scale<'a>(
    dataset: &'a Dataset,
    part: &Part,
    channel: &Channel,
    column: impl Fn(&'a Experiment) -> &'a [f64],
) -> Result<Scale, DataError> {
    let values = || {
        part.segments().iter().flat_map(|segment| {
            column(&dataset.experiments()[segment.experiment])[segment.start..segment.end]
                .iter()
                .copied()
        })
    };
    let count = part.samples();
    if count < 2 {
        return Err(DataError::TooFewForStatistics { samples: count });
    }
    let (lowest, highest) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
    if lowest >= highest {
        return Err(DataError::ConstantChannel {
            channel: channel.name.clone(),
            value: lowest,
            samples: count,
        });
    }
    // Two passes: the one-pass formula loses all digits when the mean is large against the spread.
    let mean = values().sum::<f64>() / count as f64;
    let std = (values().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1) as f64).sqrt();
    if !(std.is_finite() && std > 0.0) {
        return Err(DataError::StatisticsOverflow {
            channel: channel.name.clone(),
            lowest,
            highest,
        });
    }
    Ok(Scale { mean, std })
}

/// One experiment in normalised units.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaledExperiment<T> {
    inputs: Vec<Vec<T>>,
    outputs: Vec<Vec<T>>,
}

impl<T> ScaledExperiment<T> {
    /// Columns in channel order, all of the same length.
    ///
    /// # Panics
    /// If the columns differ in length or there is no output.
    pub fn new(inputs: Vec<Vec<T>>, outputs: Vec<Vec<T>>) -> Self {
        assert!(!outputs.is_empty(), "at least one output");
        let length = outputs[0].len();
        assert!(
            inputs.iter().chain(&outputs).all(|column| column.len() == length),
            "equal column lengths"
        );
        Self { inputs, outputs }
    }

    /// Number of input channels.
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Number of output channels.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.outputs[0].len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All samples of input channel `channel`.
    ///
    /// # Panics
    /// If there is no such input.
    pub fn input(&self, channel: usize) -> &[T] {
        &self.inputs[channel]
    }

    /// All samples of output channel `channel`.
    ///
    /// # Panics
    /// If there is no such output.
    pub fn output(&self, channel: usize) -> &[T] {
        &self.outputs[channel]
    }
}

/// A data set in normalised units, in the precision a model computes in.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaled<T> {
    experiments: Vec<ScaledExperiment<T>>,
}

impl<T> Scaled<T> {
    /// Experiments that are in normalised units already.
    pub fn new(experiments: Vec<ScaledExperiment<T>>) -> Self {
        Self { experiments }
    }

    /// All experiments, in the order of the data set.
    pub fn experiments(&self) -> &[ScaledExperiment<T>] {
        &self.experiments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::{Split, SplitFractions};

    fn dataset(u: Vec<f64>, y: Vec<f64>) -> Dataset {
        let experiment = Experiment::new("e", vec![u], vec![y]);
        Dataset::new(
            "d",
            vec![Channel::new("u")],
            vec![Channel::new("y")],
            None,
            vec![experiment],
        )
        .expect("valid")
    }

    #[test]
    fn statistics_come_from_the_training_part_with_n_minus_1() {
        let dataset = dataset(vec![1.0, 2.0, 3.0, 100.0], vec![0.0, 2.0, 1.0, -7.0]);
        let split = Split::new(
            &dataset,
            SplitFractions {
                train: 0.75,
                validation: 0.0,
                test: 0.25,
            },
        )
        .expect("splits");
        let normaliser = Normaliser::fit(&dataset, &split.train).expect("fits");
        assert!((normaliser.inputs[0].mean - 2.0).abs() < 1e-15);
        assert!((normaliser.inputs[0].std - 1.0).abs() < 1e-15);
        let scaled = normaliser.scale::<f32>(&dataset);
        assert!((scaled.experiments()[0].input(0)[3] - 98.0).abs() < 1e-5);
        assert!(
            (normaliser.output_to_physical(0, normaliser.output_to_normalised::<f64>(0, -7.0)) + 7.0).abs() < 1e-14
        );
        assert!((normaliser.output_width_to_physical(0, 2.0_f32) - 2.0).abs() < 1e-7);
    }

    #[test]
    fn messages() {
        let constant = dataset(vec![1.0, 2.0], vec![0.1, 0.1]);
        assert_eq!(
            Normaliser::fit(&constant, &Part::whole(&constant)).map_err(|e| e.to_string()),
            Err("channel 'y' is constant (0.1) over all 2 samples of the training part: remove it or train on a part in \
                 which it moves"
                .to_owned())
        );
        assert_eq!(
            Normaliser::identity(2, 1)
                .check_channels(&constant)
                .map_err(|e| e.to_string()),
            Err("data set 'd' has 1 input(s), expected 2".to_owned())
        );
        let short = dataset(vec![1.0], vec![0.1]);
        assert_eq!(
            Normaliser::fit(&short, &Part::whole(&short)).map_err(|e| e.to_string()),
            Err("1 sample(s) are too few for a mean and a standard deviation: at least 2 are needed".to_owned())
        );
        let huge = dataset(vec![1e308, -1e308, 1e308], vec![0.0, 0.1, 0.2]);
        assert_eq!(
            Normaliser::fit(&huge, &Part::whole(&huge)).map_err(|e| e.to_string()),
            Err("channel 'u' ranges from -1e308 to 1e308, which is outside what double precision can normalise: rescale it"
                .to_owned())
        );
    }
}
