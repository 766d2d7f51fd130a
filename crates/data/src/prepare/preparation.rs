//! Which steps are taken, in which order.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{clip, decimate};
use crate::channel::{Channel, channel_index};
use crate::dataset::Dataset;
use crate::error::DataError;
use crate::experiment::Experiment;
use crate::spot::{Mark, SpotKind};
use crate::warning::Warning;

/// What is done to a recording before anything else; nothing by default.
///
/// Gaps are filled and spikes are clipped, then a record is resampled where that is asked for, then samples are thinned out.
///
/// ```
/// use intervalid_data::{Preparation, ReadOptions, load};
///
/// let prepare = Preparation { decimate: Some(2), ..Preparation::default() };
/// let thinned = load(&["hair-dryer"], None, &ReadOptions { prepare: prepare.clone(), ..ReadOptions::default() })?;
/// assert_eq!((thinned.samples(), thinned.sample_time()), (500, Some(0.16)));
/// assert_eq!(thinned.preparation(), &prepare);
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preparation {
    /// Runs of at most so many missing samples of a channel become a straight line between their neighbours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_gaps: Option<usize>,
    /// Samples far from the median of their neighbours become that median.
    #[serde(skip_serializing_if = "ClipSpikes::is_none")]
    pub clip_spikes: ClipSpikes,
    /// Every so-manyth sample is kept, after a filter against aliasing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimate: Option<usize>,
}

/// Which channels lose their spikes, and from how many standard deviations on a sample is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClipSpikes {
    /// None.
    #[default]
    None,
    /// All outputs.
    Outputs(f64),
    /// Channels by name.
    Named(Vec<(String, f64)>),
    /// Every channel in its place, inputs before outputs: what a record and a model remember, since names of columns may change.
    Channels(Vec<Option<f64>>),
}

impl ClipSpikes {
    /// Whether nothing is clipped.
    #[must_use]
    pub fn is_none(&self) -> bool {
        match self {
            Self::None => true,
            Self::Outputs(_) => false,
            Self::Named(names) => names.is_empty(),
            Self::Channels(limits) => limits.iter().all(Option::is_none),
        }
    }

    fn limits(&self) -> Vec<f64> {
        match self {
            Self::None => Vec::new(),
            Self::Outputs(limit) => vec![*limit],
            Self::Named(names) => names.iter().map(|(_, limit)| *limit).collect(),
            Self::Channels(limits) => limits.iter().flatten().copied().collect(),
        }
    }

    /// The limit of every channel, inputs before outputs.
    fn per_channel(&self, inputs: &[Channel], outputs: &[Channel]) -> Result<Vec<Option<f64>>, DataError> {
        let mut limits = vec![None; inputs.len() + outputs.len()];
        match self {
            Self::None => {}
            Self::Outputs(limit) => limits[inputs.len()..].fill(Some(*limit)),
            Self::Named(names) => {
                for (name, limit) in names {
                    limits[channel_index(inputs, outputs, name)?] = Some(*limit);
                }
            }
            Self::Channels(given) if given.len() == limits.len() => limits.clone_from(given),
            Self::Channels(given) => {
                return Err(DataError::PreparationChannels {
                    expected: given.len(),
                    found: limits.len(),
                });
            }
        }
        Ok(limits)
    }
}

/// As it is typed: `6` for all outputs, `level=6,flow=8` for some channels.
impl FromStr for ClipSpikes {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        let refused = || DataError::ParseClipSpikes { found: text.to_owned() };
        if let Ok(limit) = text.trim().parse::<f64>() {
            return Ok(Self::Outputs(limit));
        }
        // A name may hold a comma or an equals sign: what is after the last `=` of a piece is the number.
        let mut names = Vec::new();
        let mut open = String::new();
        for piece in text.split(',') {
            open.push_str(piece);
            match open
                .rsplit_once('=')
                .map(|(name, limit)| (name, limit.trim().parse::<f64>()))
            {
                Some((name, Ok(limit))) if !name.trim().is_empty() => {
                    names.push((name.trim().trim_matches('"').to_owned(), limit));
                    open.clear();
                }
                _ => open.push(','),
            }
        }
        match open.is_empty() && !names.is_empty() {
            true => Ok(Self::Named(names)),
            false => Err(refused()),
        }
    }
}

impl fmt::Display for ClipSpikes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Outputs(limit) => write!(f, "{limit}"),
            Self::Named(names) => {
                let names: Vec<String> = names.iter().map(|(name, limit)| format!("{name}={limit}")).collect();
                f.write_str(&names.join(","))
            }
            Self::Channels(limits) => {
                let limits: Vec<String> = limits
                    .iter()
                    .map(|limit| limit.map_or_else(|| "-".to_owned(), |limit| limit.to_string()))
                    .collect();
                f.write_str(&limits.join(","))
            }
        }
    }
}

impl Preparation {
    /// Longest gap that may be filled: beyond it nobody knows what happened.
    pub const MOST_FILLED: usize = 1000;
    /// Most samples that become one.
    pub const MOST_DECIMATED: usize = 1000;
    /// Least and most standard deviations that make a spike: below that many sound samples would be clipped.
    pub const SPIKE_LIMITS: (f64, f64) = (3.0, 1e6);

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses settings out of range.
    ///
    /// # Errors
    /// [`DataError::Preparation`] with the setting.
    pub fn check(&self) -> Result<(), DataError> {
        let refused = |setting, found: String, expected: String| DataError::Preparation {
            setting,
            found,
            expected,
        };
        if let Some(samples) = self.fill_gaps
            && !(1..=Self::MOST_FILLED).contains(&samples)
        {
            let expected = format!("1 to {} samples", Self::MOST_FILLED);
            return Err(refused("fill_gaps", samples.to_string(), expected));
        }
        if let Some(factor) = self.decimate
            && !(2..=Self::MOST_DECIMATED).contains(&factor)
        {
            let expected = format!("2 to {} samples that become one", Self::MOST_DECIMATED);
            return Err(refused("decimate", factor.to_string(), expected));
        }
        let (least, most) = Self::SPIKE_LIMITS;
        if let Some(limit) = self
            .clip_spikes
            .limits()
            .iter()
            .find(|limit| !(least..=most).contains(*limit))
        {
            let expected = format!("{least} to {most} standard deviations");
            return Err(refused("clip_spikes", limit.to_string(), expected));
        }
        Ok(())
    }

    /// The same for a table of the inputs alone, of which there are so many.
    #[must_use]
    pub fn of_inputs(&self, inputs: usize) -> Self {
        let clip_spikes = match &self.clip_spikes {
            ClipSpikes::Channels(limits) => ClipSpikes::Channels(limits.iter().copied().take(inputs).collect()),
            _ => ClipSpikes::None,
        };
        Self {
            clip_spikes: if clip_spikes.is_none() {
                ClipSpikes::None
            } else {
                clip_spikes
            },
            ..self.clone()
        }
    }

    /// The prepared record. Gaps are none of its business: a record has no missing samples.
    ///
    /// # Errors
    /// If a setting is out of range, there is no channel of a name, or the record is prepared already.
    pub fn apply(&self, dataset: Dataset) -> Result<Dataset, DataError> {
        let mut clipping = Clipping::new(self, dataset.inputs(), dataset.outputs())?;
        if !dataset.preparation().is_none() {
            return Err(DataError::PreparedTwice);
        }
        clipping.unsettled = clipping.reach();
        let mut experiments: Vec<Experiment> = dataset.experiments().to_vec();
        for channel in 0..clipping.limits.len() {
            for experiment in &mut experiments {
                let spikes = clipping.clip(channel, experiment.column_mut(channel));
                clipping.note(channel, &spikes, |sample| experiment.place(sample));
                experiment.add_marks(spike_marks(&spikes, channel));
            }
        }
        self.after_clipping(dataset, experiments, clipping)
    }

    /// What is left to do to the experiments of a record whose spikes are clipped.
    fn after_clipping(
        &self,
        dataset: Dataset,
        mut experiments: Vec<Experiment>,
        clipping: Clipping,
    ) -> Result<Dataset, DataError> {
        let channels = dataset.channels().map(|channel| channel.name.as_str());
        let told = clipping.warnings(channels);
        let mut warnings = dataset.warnings().to_vec();
        warnings.extend(told);
        let mut sample_time = dataset.sample_time();
        if let Some(factor) = self.decimate {
            let before = dataset.samples();
            experiments = experiments
                .iter()
                .map(|experiment| decimate::decimate(experiment, factor))
                .collect();
            sample_time = sample_time.map(|seconds| seconds * factor as f64);
            warnings.push(Warning::Decimated {
                factor,
                before,
                after: experiments.iter().map(Experiment::len).sum(),
                sample_time,
            });
        }
        let unsettled = match self.decimate {
            Some(factor) => decimate::REACH + clipping.unsettled.div_ceil(factor),
            None => clipping.unsettled,
        };
        let clip_spikes = match self.clip_spikes.is_none() {
            true => ClipSpikes::None,
            false => ClipSpikes::Channels(clipping.limits),
        };
        let done = Self {
            clip_spikes,
            ..self.clone()
        };
        Ok(dataset
            .with_experiments(sample_time, experiments)?
            .with_warnings(warnings)
            .with_preparation(done)
            .with_unsettled(unsettled))
    }

    /// The prepared record, where its spikes were clipped while it was read.
    ///
    /// # Errors
    /// Those of a record with other experiments.
    pub(crate) fn apply_to_clipped(&self, dataset: Dataset, clipping: Clipping) -> Result<Dataset, DataError> {
        let experiments = dataset.experiments().to_vec();
        self.after_clipping(dataset, experiments, clipping)
    }

    /// What it does, a sentence each, with the names of the channels.
    #[must_use]
    pub fn in_words(&self, channels: &[&str]) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(samples) = self.fill_gaps {
            words.push(format!(
                "Gaps of up to {samples} missing sample(s) are filled by straight lines."
            ));
        }
        let clipped: Vec<String> = match &self.clip_spikes {
            ClipSpikes::None => Vec::new(),
            ClipSpikes::Outputs(limit) => vec![format!("all outputs (from {limit} standard deviations on)")],
            ClipSpikes::Named(names) => names
                .iter()
                .map(|(name, limit)| format!("{name} (from {limit} standard deviations on)"))
                .collect(),
            ClipSpikes::Channels(limits) => {
                let named = limits
                    .iter()
                    .zip(channels)
                    .filter_map(|(limit, name)| limit.map(|limit| (name, limit)));
                named
                    .map(|(name, limit)| format!("{name} (from {limit} standard deviations on)"))
                    .collect()
            }
        };
        if !clipped.is_empty() {
            words.push(format!(
                "Spikes become the median of their neighbours: {}.",
                clipped.join(", ")
            ));
        }
        if let Some(factor) = self.decimate {
            words.push(format!(
                "One sample in {factor} is kept, after a low-pass filter without delay."
            ));
        }
        words
    }
}

/// Which channels lose their spikes, and those that were found.
#[derive(Clone, Debug)]
pub(crate) struct Clipping {
    /// Inputs before outputs.
    limits: Vec<Option<f64>>,
    /// How many of each channel, and where the first ones were.
    found: Vec<(usize, Vec<String>)>,
    /// Samples at the end of an experiment that rows to come may change, before they are thinned out.
    unsettled: usize,
}

impl Clipping {
    /// What a preparation asks for, before anything is found.
    ///
    /// # Errors
    /// If a setting is out of range, or there is no channel of a name.
    pub(crate) fn new(prepare: &Preparation, inputs: &[Channel], outputs: &[Channel]) -> Result<Self, DataError> {
        prepare.check()?;
        let limits = prepare.clip_spikes.per_channel(inputs, outputs)?;
        let found = vec![(0, Vec::new()); limits.len()];
        Ok(Self {
            limits,
            found,
            unsettled: 0,
        })
    }

    /// Clips the spikes of consecutive samples of a channel and says which they were.
    pub(crate) fn clip(&self, channel: usize, column: &mut [f64]) -> Vec<usize> {
        self.limits[channel].map_or_else(Vec::new, |limit| clip::clip(column, limit))
    }

    /// Rows at the end that rows to come may change.
    pub(crate) fn reach(&self) -> usize {
        match self.limits.iter().any(Option::is_some) {
            true => clip::NEIGHBOURS,
            false => 0,
        }
    }

    /// Notes that the last so many samples of an experiment may change.
    pub(crate) fn unsettle(&mut self, samples: usize) {
        self.unsettled = self.unsettled.max(samples);
    }

    /// Counts spikes of a channel; `place` says where one is.
    pub(crate) fn note(&mut self, channel: usize, spikes: &[usize], place: impl Fn(usize) -> String) {
        let (count, shown) = &mut self.found[channel];
        *count += spikes.len();
        let left = SHOWN.saturating_sub(shown.len());
        shown.extend(spikes.iter().take(left).map(|spike| place(*spike)));
    }

    /// What was found in each channel that was looked at.
    fn warnings<'a>(&self, channels: impl Iterator<Item = &'a str>) -> Vec<Warning> {
        let all = channels.zip(&self.limits).zip(&self.found);
        let told = all.filter_map(|((channel, limit), (count, shown))| {
            Some(Warning::SpikesClipped {
                channel: channel.to_owned(),
                limit: (*limit)?,
                count: *count,
                shown: shown.clone(),
            })
        });
        told.collect()
    }
}

/// Spikes as an experiment remembers them; neighbours are one.
pub(crate) fn spike_marks(spikes: &[usize], channel: usize) -> impl Iterator<Item = Mark> + use<'_> {
    spikes.chunk_by(|a, b| a + 1 == *b).map(move |run| Mark {
        kind: SpotKind::SpikeClipped,
        channel: Some(channel),
        start: run[0],
        end: run[0] + run.len(),
    })
}

/// Places that a message names.
const SHOWN: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Channel;

    fn record(spike_at: usize) -> Dataset {
        let u: Vec<f64> = (0..60).map(|k| f64::from(u8::from(k / 9 % 2 == 0))).collect();
        let mut y: Vec<f64> = (0..60).map(|k| (f64::from(k) * 0.2).sin()).collect();
        y[spike_at] = 50.0;
        let experiment = Experiment::new("run", vec![u], vec![y]);
        let [inputs, outputs] = ["valve", "level"].map(|name| vec![Channel::new(name)]);
        Dataset::new("d", inputs, outputs, Some(0.5), vec![experiment]).expect("valid")
    }

    #[test]
    fn steps_are_told_and_remembered_by_place() {
        let asked = Preparation {
            clip_spikes: "level=6".parse().expect("a channel"),
            decimate: Some(3),
            ..Preparation::default()
        };
        let prepared = asked.apply(record(31)).expect("applies");
        assert_eq!((prepared.samples(), prepared.sample_time()), (20, Some(1.5)));
        let stored = prepared.preparation();
        assert_eq!(stored.clip_spikes, ClipSpikes::Channels(vec![None, Some(6.0)]));
        // The stored form does the same to a record whose columns have other names.
        let again = stored.apply(record(31)).expect("applies");
        assert_eq!(again, prepared);
        let told: Vec<String> = prepared.warnings().iter().map(Warning::to_string).collect();
        assert!(told[0].contains("1 spike") && told[0].contains("sample 31"), "{told:?}");
        assert!(prepared.experiments()[0].output(0).iter().all(|y| y.abs() < 2.0));
        assert_eq!(
            asked.apply(prepared).expect_err("once is enough").to_string(),
            "the record is prepared already: spikes are clipped and samples thinned out once"
        );
    }

    #[test]
    fn settings_out_of_range_are_named() {
        for (asked, message) in [
            (
                Preparation {
                    decimate: Some(1),
                    ..Preparation::default()
                },
                "decimate is 1: expected 2 to 1000 samples that become one",
            ),
            (
                Preparation {
                    fill_gaps: Some(0),
                    ..Preparation::default()
                },
                "fill_gaps is 0: expected 1 to 1000 samples",
            ),
            (
                Preparation {
                    clip_spikes: ClipSpikes::Outputs(f64::NAN),
                    ..Preparation::default()
                },
                "clip_spikes is NaN: expected 3 to 1000000 standard deviations",
            ),
        ] {
            assert_eq!(asked.apply(record(3)).expect_err("out of range").to_string(), message);
        }
        let unknown = Preparation {
            clip_spikes: ClipSpikes::Named(vec![("levle".to_owned(), 6.0)]),
            ..Preparation::default()
        };
        let refused = unknown.apply(record(3)).expect_err("no such channel").to_string();
        assert_eq!(refused, "no channel 'levle': the channels are valve, level");
    }

    #[test]
    fn limits_are_read_as_they_are_typed() {
        let read = |text: &str| text.parse::<ClipSpikes>();
        assert_eq!(read(" 6.5 ").expect("a number"), ClipSpikes::Outputs(6.5));
        let names = |list: &[(&str, f64)]| {
            ClipSpikes::Named(list.iter().map(|(name, limit)| ((*name).to_owned(), *limit)).collect())
        };
        assert_eq!(
            read("level=6, flow = 8").expect("names"),
            names(&[("level", 6.0), ("flow", 8.0)])
        );
        assert_eq!(
            read("\"level, cold\"=6").expect("a name"),
            names(&[("level, cold", 6.0)])
        );
        for bad in ["", "level", "level=", "=6", "level=six", "level=6,flow"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        for text in ["6.5", "level=6,flow=8"] {
            assert_eq!(read(text).expect("reads").to_string(), text);
        }
    }
}
