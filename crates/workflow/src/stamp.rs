//! Which samples a fit was judged on, so that fits can be compared by what they saw and not by what files are called.

use std::collections::BTreeSet;

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
    /// Inputs with their units.
    pub inputs: Vec<Channel>,
    /// Outputs with their units.
    pub outputs: Vec<Channel>,
    /// Seconds between samples, if known.
    pub sample_time: Option<f64>,
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
            inputs: dataset.inputs().to_vec(),
            outputs: dataset.outputs().to_vec(),
            sample_time: dataset.sample_time(),
        }
    }

    /// The first experiment of `dataset` that was learnt from, under whatever name.
    #[must_use]
    pub fn learnt_of<'a>(&self, dataset: &'a Dataset) -> Option<&'a Experiment> {
        self.first_of(dataset, |hash| self.learnt.contains(hash))
    }

    /// The first experiment of `dataset` that the record holds, in whatever part and under whatever name.
    #[must_use]
    pub fn held_of<'a>(&self, dataset: &'a Dataset) -> Option<&'a Experiment> {
        self.first_of(dataset, |hash| {
            self.learnt.contains(hash) || self.judged.contains(hash) || self.test.as_ref() == Some(hash)
        })
    }

    fn first_of<'a>(&self, dataset: &'a Dataset, is_known: impl Fn(&String) -> bool) -> Option<&'a Experiment> {
        let is_all = self.data == hash(dataset, &Part::whole(dataset));
        let mut experiments = dataset.experiments().iter().enumerate();
        experiments
            .find(|(index, _)| is_all || is_known(&hash_of(dataset, *index)))
            .map(|(_, experiment)| experiment)
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
                false => format!(
                    "the data differ ({} samples, {} of them for the test, not {} and {})",
                    other.samples, other.test_samples, self.samples, self.test_samples
                ),
            });
        }
        found
    }
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
            [
                "'y' is in mm, not in m",
                "the data differ (20 samples, 8 of them for the test, not 20 and 8)"
            ]
        );
    }
}
