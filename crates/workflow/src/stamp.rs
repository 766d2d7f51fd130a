//! Which samples a fit was judged on, so that fits can be compared by what they saw and not by what files are called.

use std::collections::{BTreeMap, BTreeSet};

use intervalid_data::{Channel, Dataset, Experiment, Part, Segment, Split};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Digits of a hash that are kept: enough to tell the records of one person apart.
const DIGITS: usize = 16;

/// A record and its test part by content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordStamp {
    /// Hash of all samples.
    pub data: String,
    /// How many.
    pub samples: usize,
    /// Hash of the samples of the test part, none where there is none.
    pub test: Option<String>,
    /// How many.
    pub test_samples: usize,
    /// Hash of every experiment that was learnt from, be it in part; earlier versions did not say.
    #[serde(default)]
    pub learnt: Vec<String>,
    /// Hash of every experiment that the test part is of, be it in part; earlier versions did not say.
    #[serde(default)]
    pub judged: Vec<String>,
    /// Every experiment of any part by its beginning, so that it is known where it has grown; earlier versions did not say.
    #[serde(default)]
    pub starts: Vec<KnownStart>,
    /// Inputs with their units.
    pub inputs: Vec<Channel>,
    /// Outputs with their units.
    pub outputs: Vec<Channel>,
    /// Seconds between samples, if known.
    pub sample_time: Option<f64>,
}

/// An experiment by its first samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownStart {
    /// How many samples are hashed: all that rows to come cannot change.
    pub samples: usize,
    /// [`start_hashes`] of so many.
    pub hash: String,
    /// Samples up to the end of what was learnt from; 0 of an experiment that only judged.
    pub learnt: usize,
    /// [`start_hashes`] of 16 samples, 32, 64 and so on, as far as the samples reach: by these it is known where it was cut short. Earlier
    /// versions had none.
    #[serde(default)]
    pub marks: Vec<String>,
}

/// The lengths at which beginnings are marked: each twice the one before. A recording that was cut short has a mark in its second half.
fn mark_lengths() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(16_usize), |length| length.checked_mul(2))
}

impl RecordStamp {
    /// That of a record and its parts.
    #[must_use]
    pub fn new(dataset: &Dataset, split: &Split) -> Self {
        let hashes = |parts: &[&Part]| -> Vec<String> {
            let segments = parts.iter().flat_map(|part| part.segments());
            let experiments: BTreeSet<usize> = segments.map(|segment| segment.experiment).collect();
            experiments.into_iter().map(|index| hash_of(dataset, index)).collect()
        };
        Self {
            data: hash(dataset, &Part::whole(dataset)),
            samples: dataset.samples(),
            test: (!split.test.is_empty()).then(|| hash(dataset, &split.test)),
            test_samples: split.test.samples(),
            learnt: hashes(&[&split.train, &split.validation]),
            judged: hashes(&[&split.test]),
            starts: starts(dataset, split),
            inputs: dataset.inputs().to_vec(),
            outputs: dataset.outputs().to_vec(),
            sample_time: dataset.sample_time(),
        }
    }

    /// The first experiment of `dataset` that was learnt from, under whatever name, be it longer than what was known or cut short.
    #[must_use]
    pub fn learnt_of<'a>(&self, dataset: &'a Dataset) -> Option<&'a Experiment> {
        first_of(dataset, |index| self.learnt_until(dataset, index).is_some())
    }

    /// The first experiment of `dataset` that the record holds, in whatever part and under whatever name, be it longer or cut short.
    #[must_use]
    pub fn held_of<'a>(&self, dataset: &'a Dataset) -> Option<&'a Experiment> {
        first_of(dataset, |index| self.held_until(dataset, index).is_some())
    }

    /// Where the samples end that were learnt from, in an experiment of `dataset`; none where nothing of it was learnt. 0 where
    /// the stamp does not say how much of it, as those of earlier versions.
    ///
    /// # Panics
    /// If there is no such experiment.
    #[must_use]
    pub fn learnt_until(&self, dataset: &Dataset, experiment: usize) -> Option<usize> {
        let known = self.known_starts(dataset, experiment);
        let learnt = known.map(|start| start.learnt).filter(|learnt| *learnt > 0).max();
        if learnt.is_some() {
            return learnt;
        }
        let whole = hash_of(dataset, experiment);
        match (self.learnt.contains(&whole), self.judged.contains(&whole)) {
            (true, false) => Some(dataset.experiments()[experiment].len()),
            (true, true) => Some(0),
            (false, _) => self.is_all_unlisted(dataset).then_some(0),
        }
    }

    /// Where the samples end that the record holds, in whatever part, of an experiment of `dataset`; none where it holds nothing of it.
    ///
    /// # Panics
    /// If there is no such experiment.
    #[must_use]
    pub fn held_until(&self, dataset: &Dataset, experiment: usize) -> Option<usize> {
        let whole = hash_of(dataset, experiment);
        if self.learnt.contains(&whole)
            || self.judged.contains(&whole)
            || self.test.as_ref() == Some(&whole)
            || self.is_all_unlisted(dataset)
        {
            return Some(dataset.experiments()[experiment].len());
        }
        let known = self.known_starts(dataset, experiment);
        known.map(|start| start.samples.max(start.learnt)).max()
    }

    /// Whether the samples are those of the record, all of them, where the stamp is of a version that did not list experiments.
    fn is_all_unlisted(&self, dataset: &Dataset) -> bool {
        self.learnt.is_empty() && self.data == hash(dataset, &Part::whole(dataset))
    }

    /// Experiments of the record that an experiment of `dataset` is, or begins with, or is a beginning of. Of the last, half of its
    /// samples at least are compared.
    fn known_starts(&self, dataset: &Dataset, experiment: usize) -> impl Iterator<Item = &KnownStart> {
        let samples = &dataset.experiments()[experiment];
        let last_mark = mark_lengths()
            .take_while(|length| *length <= samples.len())
            .enumerate()
            .last();
        // Many recordings have few lengths.
        let lengths = self.starts.iter().map(|start| start.samples);
        let lengths: BTreeSet<usize> = lengths.chain(last_mark.map(|(_, length)| length)).collect();
        let lengths: Vec<usize> = lengths.into_iter().collect();
        let found = start_hashes(dataset, experiment, &lengths);
        let found: BTreeMap<usize, Option<String>> = lengths.into_iter().zip(found).collect();
        let whole = hash_of(dataset, experiment);
        let is_whole = self.learnt.contains(&whole) || self.judged.contains(&whole);
        let is_known = move |start: &KnownStart| {
            let has = |length: usize, hash: &String| {
                found.get(&length).and_then(Option::as_ref) == Some(hash) && (is_whole || samples.is_known_by(length))
            };
            // Of no samples at all every recording is the continuation.
            let has_grown = start.samples > 0 && has(start.samples, &start.hash);
            let was_cut =
                || last_mark.is_some_and(|(mark, length)| start.marks.get(mark).is_some_and(|hash| has(length, hash)));
            has_grown || was_cut()
        };
        self.starts.iter().filter(move |start| is_known(start))
    }

    /// What keeps the numbers of `other` from being compared with those of this record, in words; empty if nothing does.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        let names = |channels: &[Channel]| channels.iter().map(|channel| channel.name.clone()).collect::<Vec<_>>();
        for (what, own, others) in [
            ("inputs", &self.inputs, &other.inputs),
            ("outputs", &self.outputs, &other.outputs),
        ] {
            if names(own) != names(others) {
                let [own, others] = [own, others].map(|channels| names(channels).join(", "));
                found.push(format!("the {what} are {others}, not {own}"));
            }
            for (channel, twin) in own.iter().zip(others) {
                if let (Some(unit), Some(another)) = (&channel.unit, &twin.unit)
                    && unit != another
                {
                    found.push(format!("'{}' is in {another}, not in {unit}", channel.name));
                }
            }
        }
        if self.test != other.test {
            found.push(match self.data == other.data {
                true => format!(
                    "the test part is another one of the same data ({} samples, not {})",
                    other.test_samples, self.test_samples
                ),
                false if (self.samples, self.test_samples) == (other.samples, other.test_samples) => {
                    "the data differ, sample by sample".to_owned()
                }
                false => format!(
                    "the data differ ({} samples, {} of them for the test, not {} and {})",
                    other.samples, other.test_samples, self.samples, self.test_samples
                ),
            });
        }
        found
    }
}

fn first_of(dataset: &Dataset, is_known: impl Fn(usize) -> bool) -> Option<&Experiment> {
    let index = (0..dataset.experiments().len()).find(|index| is_known(*index))?;
    Some(&dataset.experiments()[index])
}

/// The experiments of all parts by their beginnings.
fn starts(dataset: &Dataset, split: &Split) -> Vec<KnownStart> {
    let mut learnt: BTreeMap<usize, usize> = BTreeMap::new();
    let parts = [(&split.train, true), (&split.validation, true), (&split.test, false)];
    for (part, is_learnt) in parts {
        for segment in part.segments() {
            let until = learnt.entry(segment.experiment).or_default();
            *until = (*until).max(if is_learnt { segment.end } else { 0 });
        }
    }
    let start = |(experiment, learnt): (usize, usize)| {
        let length = dataset.experiments()[experiment].len();
        // The last line may be half a number still, and rows to come change samples that they are made into.
        let samples = length.saturating_sub(dataset.unsettled() + 1);
        let mut lengths: Vec<usize> = mark_lengths().take_while(|length| *length < samples).collect();
        lengths.push(samples);
        let mut marks: Vec<String> = start_hashes(dataset, experiment, &lengths)
            .into_iter()
            .collect::<Option<_>>()?;
        let hash = marks.pop()?;
        Some(KnownStart {
            samples,
            hash,
            learnt,
            marks,
        })
    };
    learnt.into_iter().filter_map(start).collect()
}

/// Over the values; names are not part of it.
fn hash(dataset: &Dataset, part: &Part) -> String {
    let mut hasher = Sha256::new();
    each_sample(dataset, part, |bytes| hasher.update(bytes));
    digits(hasher)
}

/// That of a whole experiment.
fn hash_of(dataset: &Dataset, experiment: usize) -> String {
    let whole = Segment {
        experiment,
        start: 0,
        end: dataset.experiments()[experiment].len(),
    };
    hash(dataset, &Part::from_segments(vec![whole]))
}

fn digits(hasher: Sha256) -> String {
    let digest = hasher.finalize();
    let hex = digest.iter().map(|byte| format!("{byte:02x}"));
    hex.collect::<String>()[..DIGITS].to_owned()
}

/// Hashes of the first `lengths` samples of an experiment, so that a recording which has grown is known by its beginning; none of
/// lengths beyond its end.
///
/// # Panics
/// If there is no such experiment.
#[must_use]
pub fn start_hashes(dataset: &Dataset, experiment: usize, lengths: &[usize]) -> Vec<Option<String>> {
    let experiment = &dataset.experiments()[experiment];
    let inputs = (0..dataset.inputs().len()).map(|channel| experiment.input(channel));
    let outputs = (0..dataset.outputs().len()).map(|channel| experiment.output(channel));
    let columns: Vec<&[f64]> = inputs.chain(outputs).collect();
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&index| lengths[index]);
    let mut found = vec![None; lengths.len()];
    let mut hasher = Sha256::new();
    let mut done = 0;
    for index in order {
        if lengths[index] > experiment.len() {
            break;
        }
        for sample in done..lengths[index] {
            columns
                .iter()
                .for_each(|column| hasher.update(column[sample].to_le_bytes()));
        }
        done = lengths[index];
        found[index] = Some(digits(hasher.clone()));
    }
    found
}

/// The samples of a part as bytes to hash: of every segment its length, so that no two parts give the same bytes, then the values
/// of the inputs and of the outputs, channel by channel.
///
/// # Panics
/// If the part is not one of this record.
pub fn each_sample(dataset: &Dataset, part: &Part, mut take: impl FnMut(&[u8])) {
    for segment in part.segments() {
        let experiment = &dataset.experiments()[segment.experiment];
        take(&(segment.len() as u64).to_le_bytes());
        let inputs = (0..dataset.inputs().len()).map(|channel| experiment.input(channel));
        let outputs = (0..dataset.outputs().len()).map(|channel| experiment.output(channel));
        for column in inputs.chain(outputs) {
            for value in &column[segment.start..segment.end] {
                take(&value.to_le_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Experiment, SplitFractions};

    use super::*;

    fn stamp(unit: &str, scale: f64, split: &str) -> RecordStamp {
        let column = |factor: f64| (0..20).map(|k| factor * f64::from(k)).collect::<Vec<_>>();
        let experiment = Experiment::new("e", vec![column(1.0)], vec![column(scale)]);
        let outputs = vec![Channel::new("y").with_unit(unit)];
        let dataset = Dataset::new("d", vec![Channel::new("u")], outputs, None, vec![experiment]).expect("valid");
        let fractions: SplitFractions = split.parse().expect("shares");
        RecordStamp::new(&dataset, &Split::new(&dataset, fractions).expect("splits"))
    }

    #[test]
    fn a_recording_that_has_grown_is_known_by_its_beginning() {
        let column = |samples: u32| (0..samples).map(|k| f64::from(k * k % 7)).collect::<Vec<_>>();
        let recording = |samples| {
            let experiment = Experiment::new("e", vec![column(samples)], vec![column(samples)]);
            let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
            Dataset::new("d", inputs, outputs, None, vec![experiment]).expect("valid")
        };
        let whole = start_hashes(&recording(10), 0, &[10]);
        let found = start_hashes(&recording(20), 0, &[30, 10, 20, 0]);
        assert_eq!(found[1], whole[0]);
        assert!(found[0].is_none() && found[2].is_some() && found[2] != found[1] && found[3].is_some());
    }

    #[test]
    fn what_was_learnt_is_known_at_the_beginning_of_a_longer_recording() {
        let column = |samples: u32, seed: u32| (0..samples).map(|k| f64::from(k * k * 41 % 101 + seed)).collect();
        let record = |runs: &[(u32, u32)]| {
            let experiment = |&(samples, seed): &(u32, u32)| -> Experiment {
                Experiment::new("e", vec![column(samples, seed)], vec![column(samples, seed + 1)])
            };
            let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
            Dataset::new("d", inputs, outputs, None, runs.iter().map(experiment).collect()).expect("valid")
        };
        let alone = record(&[(100, 0)]);
        let one = RecordStamp::new(&alone, &Split::new(&alone, SplitFractions::default()).expect("splits"));
        let grown = record(&[(50, 7), (160, 0)]);
        let until = |stamp: &RecordStamp| {
            [0, 1].map(|index| (stamp.learnt_until(&grown, index), stamp.held_until(&grown, index)))
        };
        assert_eq!(until(&one), [(None, None), (Some(70), Some(99))]);
        // The beginning of what was learnt is known as well, down to its first samples; that of another recording is not.
        for samples in [16, 40, 64, 99] {
            let cut = record(&[(samples, 0), (samples, 7)]);
            let learnt = [0, 1].map(|index| one.learnt_until(&cut, index));
            assert_eq!(learnt, [Some(70), None], "{samples}");
        }
        assert!(one.learnt_of(&record(&[(15, 0)])).is_none());
        assert_eq!(one.learnt_until(&record(&[(100, 0)]), 0), Some(70));
        assert!(one.learnt_of(&grown).is_some() && one.learnt_of(&record(&[(160, 7)])).is_none());
        // Of two recordings the second judges alone.
        let both = record(&[(100, 7), (100, 0)]);
        let whole = |experiment| {
            let segment = Segment {
                experiment,
                start: 0,
                end: 100,
            };
            Part::from_segments(vec![segment])
        };
        let split = Split {
            train: whole(0),
            validation: Part::default(),
            test: whole(1),
        };
        let two = RecordStamp::new(&both, &split);
        assert!(two.learnt_of(&record(&[(160, 0)])).is_none() && two.held_of(&record(&[(160, 0)])).is_some());
        // Earlier versions knew whole experiments, not how much of them was learnt from.
        let old = RecordStamp {
            starts: Vec::new(),
            ..one
        };
        assert_eq!(old.learnt_until(&record(&[(100, 0)]), 0), Some(0));
        assert_eq!(until(&old), [(None, None); 2]);
    }

    #[test]
    fn content_and_parts_decide() {
        let one = stamp("m", 2.0, "0.5,0.1,0.4");
        assert_eq!(one.differences(&stamp("m", 2.0, "0.5,0.1,0.4")), [""; 0]);
        // The same test part after another division of the rest still compares.
        assert_eq!(one.differences(&stamp("m", 2.0, "0.4,0.2,0.4")), [""; 0]);
        assert_eq!(
            one.differences(&stamp("m", 2.0, "0.5,0.2,0.3")),
            ["the test part is another one of the same data (6 samples, not 8)"]
        );
        assert_eq!(
            one.differences(&stamp("mm", 3.0, "0.5,0.1,0.4")),
            ["'y' is in mm, not in m", "the data differ, sample by sample"]
        );
    }
}
