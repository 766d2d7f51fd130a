//! A look at the record before anything is fitted.

use intervalid_data::{Dataset, Experiment, Part, Split, count, describe, excitation_order, find_dead_times};
use serde::{Deserialize, Serialize};

/// Something about a record that a user should know, in plain words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// One sentence.
    pub text: String,
}

/// What a [`Finding`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingKind {
    /// Its size.
    Record,
    /// How long an input takes to act.
    #[serde(rename = "dead time")]
    DeadTime,
    /// How much an input moves.
    Excitation,
    /// Levels that wander.
    Drift,
    /// Something odd in the data.
    Warning,
}

impl FindingKind {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::DeadTime => "dead time",
            Self::Excitation => "excitation",
            Self::Drift => "drift",
            Self::Warning => "warning",
        }
    }
}

/// Blocks whose levels are compared.
const BLOCKS: usize = 5;
/// A last block whose mean is further from the mean of all than this many standard deviations has drifted.
const DRIFT: f64 = 1.0;
/// Taps over which an input's excitation is looked at.
const TAPS: usize = 10;

/// Looks at the training and validation parts of a record: dead time, excitation, drift, saturation, constant stretches.
#[must_use]
pub fn describe_record(dataset: &Dataset, split: &Split) -> Vec<Finding> {
    let part = split.train.followed_by(&split.validation);
    let mut findings = vec![Finding {
        kind: FindingKind::Record,
        text: format!(
            "{} to learn from in {}, with {} and {}",
            count(part.samples(), "sample"),
            count(part.segments().len(), "stretch"),
            count(dataset.inputs().len(), "input"),
            count(dataset.outputs().len(), "output"),
        ),
    }];
    dead_times(dataset, &part, &mut findings);
    for (index, channel) in dataset.inputs().iter().enumerate() {
        let values = column(dataset, &part, |experiment| experiment.input(index));
        let order = excitation_order(&values, TAPS);
        if order < TAPS {
            findings.push(Finding {
                kind: FindingKind::Excitation,
                text: format!(
                    "input '{}' excites only about {order} of {TAPS} neighbouring taps: models with more are not determined by it",
                    channel.name
                ),
            });
        }
        drift(&channel.name, &values, &mut findings);
    }
    for (index, channel) in dataset.outputs().iter().enumerate() {
        let values = column(dataset, &part, |experiment| experiment.output(index));
        drift(&channel.name, &values, &mut findings);
    }
    findings.extend(describe(dataset).warnings.iter().map(|warning| Finding {
        kind: FindingKind::Warning,
        text: warning.to_string(),
    }));
    findings
}

fn column<'a>(dataset: &'a Dataset, part: &Part, of: impl Fn(&'a Experiment) -> &'a [f64]) -> Vec<f64> {
    let segments = part.segments().iter();
    segments
        .flat_map(|segment| &of(&dataset.experiments()[segment.experiment])[segment.start..segment.end])
        .copied()
        .collect()
}

/// Samples beyond which the first answer that stands out of the noise need not be the first one: slow plants answer little by little.
const LATE: usize = 5;

fn dead_times(dataset: &Dataset, part: &Part, findings: &mut Vec<Finding>) {
    // A record too short for the estimate is not worth an error here.
    let pairs = find_dead_times(dataset, part).unwrap_or_default();
    for pair in pairs {
        let (input, output) = (&dataset.inputs()[pair.input].name, &dataset.outputs()[pair.output].name);
        let text = match pair.delay {
            Some(0) => format!("'{input}' acts on '{output}' without delay"),
            Some(delay) if delay > LATE => format!(
                "an answer of '{output}' to '{input}' stands out of the noise after {}; a slow plant may answer sooner",
                count(delay, "sample")
            ),
            Some(delay) => format!("'{input}' acts on '{output}' after {}", count(delay, "sample")),
            // Slow plants answer a slow input without any delay that stands out.
            None => format!(
                "no answer of '{output}' to '{input}' within {} stands out of the noise",
                count(pair.correlation.len() - 1, "sample")
            ),
        };
        findings.push(Finding {
            kind: FindingKind::DeadTime,
            text,
        });
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn drift(name: &str, values: &[f64], findings: &mut Vec<Finding>) {
    let all = mean(values);
    let spread = mean(&values.iter().map(|v| (v - all).powi(2)).collect::<Vec<_>>()).sqrt();
    let Some(last) = values.chunks(values.len().div_ceil(BLOCKS).max(1)).last() else {
        return;
    };
    let shift = (mean(last) - all) / spread.max(f64::MIN_POSITIVE);
    if values.len() >= 10 * BLOCKS && shift.abs() > DRIFT {
        findings.push(Finding {
            kind: FindingKind::Drift,
            text: format!(
                "the last fifth of '{name}' lies {:.1} standard deviations {} its mean: coverage on later data is doubtful",
                shift.abs(),
                if shift > 0.0 { "above" } else { "below" }
            ),
        });
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::{LinearSystem, SplitFractions};

    use super::*;

    #[test]
    fn drift_and_dead_time_are_told_in_words() {
        let record = LinearSystem {
            dead_time: 2,
            ..LinearSystem::default()
        };
        let dataset = record.generate(1000, 3).expect("generates").into_dataset();
        let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
        let texts: Vec<String> = describe_record(&dataset, &split).into_iter().map(|f| f.text).collect();
        assert!(
            texts.iter().any(|text| text == "'u' acts on 'y' after 2 samples"),
            "{texts:?}"
        );
        let mut findings = Vec::new();
        let steps: Vec<f64> = (0..100)
            .map(|k| f64::from(u8::from(k >= 80)) + 0.01 * f64::from(k % 3))
            .collect();
        drift("y", &steps, &mut findings);
        assert!(findings[0].text.contains("above its mean"));
    }
}
