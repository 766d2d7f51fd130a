//! Where in a record the things are that a user should look at.
//!
//! What readers and [`crate::Preparation`] did at a place, experiments remember as marks; where a channel stands still or sits at its
//! limit, the samples themselves tell. [`describe`](crate::describe) has the same in sentences about whole channels.

use serde::Serialize;

use crate::dataset::Dataset;
use crate::experiment::Experiment;
use crate::read::significant;
use crate::warning::Warning;

/// What there is to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SpotKind {
    /// Samples before this one are missing: an experiment of its own starts here.
    AfterGap,
    /// Missing samples that became a straight line.
    GapFilled,
    /// A sample far from its neighbours that became their median.
    SpikeClipped,
    /// A channel sits at its smallest or largest value.
    Saturated,
    /// A channel does not change.
    Constant,
}

/// Samples of an experiment that something was done to, or that look odd.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spot {
    /// What it is.
    pub kind: SpotKind,
    /// Which channel, inputs counted before outputs; none where it is about all.
    pub channel: Option<usize>,
    /// Which experiment.
    pub experiment: usize,
    /// First sample of the experiment.
    pub start: usize,
    /// The sample after the last one.
    pub end: usize,
}

/// What an experiment remembers of itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) kind: SpotKind,
    pub(crate) channel: Option<usize>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Mark {
    /// The same mark after every `factor`-th sample was kept.
    pub(crate) fn thinned(&self, factor: usize) -> Self {
        Self {
            start: self.start / factor,
            end: (self.end.saturating_sub(1)) / factor + 1,
            ..self.clone()
        }
    }
}

impl Spot {
    /// What is there, in a sentence with the channel's name.
    ///
    /// # Panics
    /// If it is a spot of another record.
    #[must_use]
    pub fn in_words(&self, dataset: &Dataset) -> String {
        let experiment = &dataset.experiments()[self.experiment];
        let channel = self.channel.map(|channel| dataset.channels().nth(channel));
        let name = channel.flatten().map_or("", |channel| channel.name.as_str());
        let name = crate::display_name(name);
        let samples = match self.end - self.start {
            1 => "1 sample".to_owned(),
            samples => format!("{samples} samples"),
        };
        let place = experiment.place(self.start);
        // A filter leaves rounding on what stands still.
        let value = || {
            self.channel
                .map(|channel| significant(experiment.column(channel)[self.start]))
                .unwrap_or_default()
        };
        match self.kind {
            SpotKind::AfterGap => format!(
                "'{}' starts at {place}, after a gap: models do not look across it",
                crate::display_name(experiment.name())
            ),
            SpotKind::GapFilled => {
                format!("{name}: a gap of {samples} from {place} on was filled by a straight line")
            }
            SpotKind::SpikeClipped => format!("{name}: a spike of {samples} from {place} on was clipped"),
            SpotKind::Saturated => format!("{name}: exactly {} for {samples} from {place} on: saturation?", value()),
            SpotKind::Constant => format!("{name}: no change over {samples} from {place} on ({})", value()),
        }
    }
}

/// Everything there is to look at, by experiment and sample. `warnings` are those of [`describe`](crate::describe), which decides what is odd.
#[must_use]
pub fn spots(dataset: &Dataset, warnings: &[Warning]) -> Vec<Spot> {
    let mut found = Vec::new();
    for (experiment, content) in dataset.experiments().iter().enumerate() {
        found.extend(content.marks().iter().map(|mark| Spot {
            kind: mark.kind,
            channel: mark.channel,
            experiment,
            start: mark.start,
            end: mark.end,
        }));
    }
    for warning in warnings {
        match warning {
            Warning::Saturation { channel, value, .. } => {
                let at = |sample: f64| sample.to_bits() == value.to_bits();
                found.extend(runs(dataset, channel, SpotKind::Saturated, at));
            }
            Warning::Constant { channel, .. } => found.extend(runs(dataset, channel, SpotKind::Constant, |_| true)),
            Warning::ConstantStretch {
                channel,
                index,
                start,
                samples,
                ..
            } => {
                let channel = dataset.channel_index(channel).ok();
                found.extend(channel.map(|channel| Spot {
                    kind: SpotKind::Constant,
                    channel: Some(channel),
                    experiment: *index,
                    start: *start,
                    end: start + samples,
                }));
            }
            _ => {}
        }
    }
    found.sort_by_key(|spot| (spot.experiment, spot.start, spot.channel, spot.kind));
    // A stretch at a limit that is also the longest without change is one place to look at.
    found.dedup_by(|later, earlier| {
        (later.experiment, later.channel, later.start, later.end)
            == (earlier.experiment, earlier.channel, earlier.start, earlier.end)
    });
    found
}

/// Stretches of a channel whose samples are so.
fn runs(dataset: &Dataset, channel: &str, kind: SpotKind, is_so: impl Fn(f64) -> bool) -> Vec<Spot> {
    let Ok(index) = dataset.channel_index(channel) else {
        return Vec::new();
    };
    let of = |(experiment, content): (usize, &Experiment)| {
        let mut start = 0;
        let mut found = Vec::new();
        for run in content.column(index).chunk_by(|a, b| is_so(*a) == is_so(*b)) {
            if is_so(run[0]) {
                found.push(Spot {
                    kind,
                    channel: Some(index),
                    experiment,
                    start,
                    end: start + run.len(),
                });
            }
            start += run.len();
        }
        found
    };
    dataset.experiments().iter().enumerate().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Channel;
    use crate::{Preparation, ReadOptions, describe, read};

    fn words(dataset: &Dataset) -> Vec<String> {
        let found = spots(dataset, &describe(dataset).warnings);
        found.iter().map(|spot| spot.in_words(dataset)).collect()
    }

    #[test]
    fn limits_and_stand_stills_have_their_places() {
        // Up and down between limits that cut it off, with a stuck stretch in between.
        let mut y: Vec<f64> = (0..300).map(|k| (8.0 * (f64::from(k) * 0.13).sin()).min(6.0)).collect();
        y[100..140].fill(1.25);
        let u: Vec<f64> = (0..300).map(|k| (f64::from(k) * 0.7).cos()).collect();
        let experiment = Experiment::new("e", vec![u], vec![y.clone()]);
        let channels = ["u", "y"].map(|name| vec![Channel::new(name)]);
        let [inputs, outputs] = channels;
        let dataset = Dataset::new("d", inputs, outputs, None, vec![experiment]).expect("valid");
        let found = spots(&dataset, &describe(&dataset).warnings);
        let stuck: Vec<_> = found.iter().filter(|spot| spot.kind == SpotKind::Constant).collect();
        assert_eq!((stuck.len(), stuck[0].start, stuck[0].end), (1, 100, 140));
        let limited: usize = found
            .iter()
            .filter(|spot| spot.kind == SpotKind::Saturated)
            .map(|spot| {
                assert!(y[spot.start..spot.end].iter().all(|y| (y - 6.0).abs() < 1e-12));
                assert!(spot.channel == Some(1));
                spot.end - spot.start
            })
            .sum();
        assert_eq!(limited, y.iter().filter(|y| **y >= 6.0).count());
        assert!(words(&dataset).contains(&"y: no change over 40 samples from sample 100 on (1.25)".to_owned()));
    }

    #[test]
    fn what_was_done_to_a_file_has_its_places() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        let mut text = "u,y\n".to_owned();
        for k in 0..120 {
            let y = (f64::from(k) * 0.2).sin();
            text += &match k {
                20 | 21 => format!("{},\n", k % 5),
                60 => format!("{},500\n", k % 5),
                80..90 => ",\n".to_owned(),
                _ => format!("{},{y}\n", k % 5),
            };
        }
        std::fs::write(&path, text).expect("written");
        let mut options = ReadOptions {
            missing: crate::MissingPolicy::Split,
            prepare: Preparation {
                fill_gaps: Some(3),
                clip_spikes: "6".parse().expect("a limit"),
                ..Preparation::default()
            },
            ..ReadOptions::default()
        };
        let dataset = read(&[&path], &options).expect("read");
        let expected = [
            "y: a gap of 2 samples from line 22 on was filled by a straight line",
            "y: a spike of 1 sample from line 62 on was clipped",
            "'a#2' starts at line 92, after a gap: models do not look across it",
        ];
        assert_eq!(words(&dataset), expected);
        // Thinned out, they are where their samples went.
        options.prepare.decimate = Some(4);
        let dataset = read(&[&path], &options).expect("read");
        let found = spots(&dataset, &describe(&dataset).warnings);
        let places: Vec<_> = found
            .iter()
            .map(|spot| (spot.experiment, spot.start, spot.end))
            .collect();
        assert_eq!(places, [(0, 5, 6), (0, 15, 16), (1, 0, 1)]);
    }
}
