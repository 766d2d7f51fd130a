//! What is asked of a fit's bands and predictions besides the coverage it is trained for.

use std::collections::BTreeMap;

use intervalid_data::{Dataset, Split, Trend};
use intervalid_model::{FitConfig, LEVEL_REACH, Method, OutputRange};
use serde::{Deserialize, Deserializer};
use toml::Value;

use crate::error::{OutsideRange, Result, WorkflowError};
use crate::settings::Settings;

/// More bands than anybody can tell apart.
const MOST_LEVELS: usize = 20;

/// What is asked of bands and predictions besides the coverage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BandRequest {
    /// Further coverages at which the model is run and judged, ascending.
    pub levels: Vec<f64>,
    /// Physical limits of outputs, by name.
    pub output_range: OutputRanges,
    /// Channels that drift, by name: a straight line is taken out of them before the fit, and put back into predictions.
    pub detrend: Vec<String>,
    /// Whether the coverage is that of all outputs together.
    pub together: bool,
}

/// Physical limits of outputs by name: text such as `0:10`, `0:` or `:10`, or two numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputRanges(pub BTreeMap<String, OutputRange>);

/// A range as it is typed: `0:10`, or one end alone.
///
/// # Errors
/// If it is anything else, in words.
pub fn parse_range(text: &str) -> std::result::Result<OutputRange, String> {
    let expected = || format!("expected a range such as 0:10, 0: or :10, found '{text}'");
    let end = |end: &str| match end.trim() {
        "" => Ok(None),
        end => end.parse::<f64>().map(Some).map_err(|_| expected()),
    };
    let (least, most) = text.split_once(':').ok_or_else(expected)?;
    sound(OutputRange {
        least: end(least)?,
        most: end(most)?,
    })
}

/// The range, if it has an end and something inside.
fn sound(range: OutputRange) -> std::result::Result<OutputRange, String> {
    let OutputRange { least, most } = range;
    let is_finite = [least, most].iter().flatten().all(|end| end.is_finite());
    let is_ordered = least.zip(most).is_none_or(|(least, most)| least < most);
    match (is_finite && is_ordered, (least, most)) {
        (true, (None, None)) | (false, _) => Err(format!(
            "expected a least value below a greatest one, or one of them, found '{range}'"
        )),
        _ => Ok(range),
    }
}

impl<'de> Deserialize<'de> for OutputRanges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let wrong = |error: String| serde::de::Error::custom(error);
        let number = |value: &Value| {
            value
                .as_float()
                .or_else(|| value.as_integer().map(|whole| whole as f64))
        };
        let range = |value: &Value| match value {
            Value::String(text) => parse_range(text),
            Value::Array(ends) => match ends.as_slice() {
                [least, most] if number(least).is_some() && number(most).is_some() => sound(OutputRange {
                    least: number(least).filter(|end| *end > f64::NEG_INFINITY),
                    most: number(most).filter(|end| *end < f64::INFINITY),
                }),
                _ => Err(format!("expected two numbers, found {value}")),
            },
            value => Err(format!("expected text such as 0:10 or two numbers, found {value}")),
        };
        let given = BTreeMap::<String, Value>::deserialize(deserializer)?;
        let ranges = given
            .into_iter()
            .map(|(name, value)| Ok((name, range(&value).map_err(wrong)?)));
        Ok(Self(ranges.collect::<std::result::Result<_, _>>()?))
    }
}

impl BandRequest {
    /// What settings ask for beside this coverage.
    pub(crate) fn new(settings: &Settings, coverage: f64) -> Self {
        let given = settings.levels.iter().flatten().copied();
        let all: Vec<f64> = std::iter::once(coverage).chain(given).collect();
        Self {
            levels: main_coverage(&all, coverage).map_or_else(Vec::new, |(_, others)| others),
            output_range: settings.output_range.clone().unwrap_or_default(),
            detrend: settings.detrend.clone().unwrap_or_default(),
            together: settings.together.unwrap_or(false),
        }
    }

    /// Refuses coverages that a calibrated model does not have beside this one, and too many.
    pub(crate) fn check(&self, coverage: f64) -> Result<()> {
        let (least, most) = (LEVEL_REACH.0.min(coverage), LEVEL_REACH.1.max(coverage));
        let refused = |found: String, reason: String| WorkflowError::Setting {
            key: "coverage".to_owned(),
            found,
            reason,
        };
        if let Some(level) = self.levels.iter().find(|level| !(least..=most).contains(*level)) {
            let reason = format!("expected shares from {least} to {most} beside the coverage {coverage}");
            return Err(refused(level.to_string(), reason));
        }
        if self.levels.len() >= MOST_LEVELS {
            let found = format!("{} shares", self.levels.len() + 1);
            return Err(refused(found, format!("expected at most {MOST_LEVELS}")));
        }
        Ok(())
    }

    /// The trend of a record's training part; none where none is asked for.
    ///
    /// # Errors
    /// If there is no channel of a name.
    pub(crate) fn trend(&self, dataset: &Dataset, split: &Split) -> Result<Option<Trend>> {
        match self.detrend.as_slice() {
            [] => Ok(None),
            channels => Ok(Some(Trend::fit(dataset, &split.train, channels)?)),
        }
    }

    /// The limits of every output of a record; none where none are asked for.
    ///
    /// # Errors
    /// If there is no output of that name, or samples for training and validation lie outside its limits.
    pub(crate) fn output_ranges(&self, dataset: &Dataset, split: &Split) -> Result<Vec<OutputRange>> {
        let OutputRanges(asked) = &self.output_range;
        let names: Vec<&str> = dataset.outputs().iter().map(|channel| channel.name.as_str()).collect();
        if let Some(name) = asked.keys().find(|name| !names.contains(&name.as_str())) {
            return Err(WorkflowError::RangeOfNothing {
                name: name.clone(),
                outputs: names.iter().map(|name| (*name).to_owned()).collect(),
            });
        }
        let segments = split.train.segments().iter().chain(split.validation.segments());
        for segment in segments {
            let experiment = &dataset.experiments()[segment.experiment];
            for (output, name) in names.iter().enumerate() {
                let Some(range) = asked.get(*name) else { continue };
                let samples = &experiment.output(output)[segment.start..segment.end];
                if let Some(at) = samples.iter().position(|value| !range.contains(*value)) {
                    let sample = segment.start + at;
                    return Err(WorkflowError::OutsideRange(Box::new(OutsideRange {
                        output: (*name).to_owned(),
                        value: samples[at],
                        range: *range,
                        experiment: experiment.name().to_owned(),
                        sample,
                        row: experiment.row(sample).map(|row| row.to_string()),
                        count: samples.iter().filter(|value| !range.contains(**value)).count(),
                    })));
                }
            }
        }
        match asked.is_empty() {
            true => Ok(Vec::new()),
            false => Ok(names
                .iter()
                .map(|name| asked.get(*name).copied().unwrap_or_default())
                .collect()),
        }
    }

    /// Refuses further coverages of one model whose band will be for one, and a coverage of all outputs together that nothing sizes.
    pub(crate) fn check_one(&self, config: &FitConfig, calibrate: bool) -> Result<()> {
        self.check(config.coverage)?;
        if self.together && !calibrate {
            return Err(WorkflowError::TogetherWithoutCalibration { model: config.model });
        }
        let has_one_band = matches!(config.model.method(), Method::Interval | Method::Linear);
        match has_one_band && !calibrate && !self.levels.is_empty() {
            true => Err(WorkflowError::LevelsWithoutCalibration { model: config.model }),
            false => Ok(()),
        }
    }
}

/// Of several coverages the one that a model is trained for and judged by, and the others, ascending: `preferred` if it is among
/// them, else the first. None of none.
///
/// ```
/// use intervalid_workflow::main_coverage;
///
/// assert_eq!(main_coverage(&[0.5, 0.9, 0.99], 0.9), Some((0.9, vec![0.5, 0.99])));
/// assert_eq!(main_coverage(&[0.99, 0.5, 0.99], 0.9), Some((0.99, vec![0.5])));
/// ```
#[must_use]
pub fn main_coverage(levels: &[f64], preferred: f64) -> Option<(f64, Vec<f64>)> {
    let is_preferred = |level: &&f64| level.to_bits() == preferred.to_bits();
    let main = *levels.iter().find(is_preferred).or(levels.first())?;
    let is_other = |level: &f64| level.to_bits() != main.to_bits();
    let mut others: Vec<f64> = levels.iter().copied().filter(is_other).collect();
    others.sort_by(f64::total_cmp);
    others.dedup_by(|a, b| a.to_bits() == b.to_bits());
    Some((main, others))
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Channel, Experiment, SplitFractions};

    use super::*;

    #[test]
    fn ranges_are_read_as_they_are_typed() {
        let range = |least, most| Ok(OutputRange { least, most });
        assert_eq!(parse_range("0:10"), range(Some(0.0), Some(10.0)));
        assert_eq!(parse_range("-2.5 :"), range(Some(-2.5), None));
        assert_eq!(parse_range(":1e3"), range(None, Some(1e3)));
        for bad in ["", ":", "3", "10:0", "0:0", "a:b", "0:nan", "0:inf"] {
            assert!(parse_range(bad).is_err(), "{bad}");
        }
        let settings = |text: &str| Settings::from_table(&text.parse().expect("TOML"));
        let asked = settings("output_range = { level = '0:10', flow = [0, 2.5] }").expect("sound");
        let OutputRanges(ranges) = asked.output_range.expect("given");
        assert_eq!(ranges["flow"].to_string(), "0:2.5");
        let refused = settings("output_range = { level = '10:0' }").expect_err("no range");
        assert!(refused.to_string().contains("found '10:0'"), "{refused}");
    }

    #[test]
    fn samples_outside_are_named_but_not_those_of_the_test() {
        let column = |factor: f64| (0..20).map(|k| factor * f64::from(k)).collect::<Vec<_>>();
        let experiment = Experiment::new("run", vec![column(1.0)], vec![column(1.0)]);
        let (inputs, outputs) = (vec![Channel::new("u")], vec![Channel::new("level")]);
        let dataset = Dataset::new("d", inputs, outputs, None, vec![experiment]).expect("valid");
        let split = Split::new(&dataset, SplitFractions::new(0.5, 0.1, 0.4).expect("shares")).expect("splits");
        let asked = |name: &str, range: &str| BandRequest {
            output_range: OutputRanges([(name.to_owned(), parse_range(range).expect("a range"))].into()),
            ..BandRequest::default()
        };
        // 12 to 19 are for the test.
        assert!(asked("level", "0:11").output_ranges(&dataset, &split).is_ok());
        let outside = asked("level", "0:9.5")
            .output_ranges(&dataset, &split)
            .expect_err("10 and 11 are beyond");
        assert_eq!(
            outside.to_string(),
            "'level' is 10 at sample 10 (counted from 0) of experiment 'run', outside of its range 0:9.5 like 1 more"
        );
        let nothing = asked("flow", "0:1")
            .output_ranges(&dataset, &split)
            .expect_err("no such output");
        assert_eq!(
            nothing.to_string(),
            "a range is given for 'flow': expected an output (level)"
        );
    }
}
