//! Physical limits of outputs: what a plant cannot leave, predictions and bands do not leave either.

use serde::{Deserialize, Serialize};

use super::prediction::Band;

/// The range of one output in its unit; either end may be missing.
///
/// Predictions and bounds beyond an end are put on it. The simulation itself goes on from what the model computed, so that limits
/// change what is said of a sample and not the samples after it. Measured values inside the range are inside the band as before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputRange {
    /// The least value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// The greatest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
}

impl OutputRange {
    /// The value, or the end of the range that it lies beyond.
    #[must_use]
    pub fn clipped(&self, value: f64) -> f64 {
        match *self {
            Self { least: Some(least), .. } if value < least => least,
            Self { most: Some(most), .. } if value > most => most,
            _ => value,
        }
    }

    /// Whether a value lies in the range, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.least.is_none_or(|least| least <= value) && self.most.is_none_or(|most| value <= most)
    }

    /// What is wrong with it, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        let ends = [self.least, self.most];
        if ends.iter().flatten().any(|end| !end.is_finite()) {
            return Err(format!("an output range is {self}, expected numbers"));
        }
        match ends {
            [Some(least), Some(most)] if least >= most => Err(format!(
                "an output range is {self}, expected its least value before a greater one"
            )),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for OutputRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let end = |end: Option<f64>| end.map_or_else(String::new, |end| end.to_string());
        write!(f, "{}:{}", end(self.least), end(self.most))
    }
}

/// What is wrong with the ranges of as many outputs, in words; none limits nothing.
pub(crate) fn check_ranges(ranges: &[OutputRange], outputs: usize) -> Result<(), String> {
    if !ranges.is_empty() && ranges.len() != outputs {
        return Err(format!("it has {} output ranges for {outputs} output(s)", ranges.len()));
    }
    ranges.iter().try_for_each(OutputRange::check)
}

/// Puts predictions and bounds inside the ranges, one per output; none limits nothing.
pub(crate) fn limit(bands: &mut [Band], ranges: &[OutputRange]) {
    for band in bands {
        for columns in [&mut band.lower, &mut band.centre, &mut band.upper] {
            for (column, range) in columns.iter_mut().zip(ranges) {
                column.iter_mut().for_each(|value| *value = range.clipped(*value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "a value stays, or is an end")]
    fn values_beyond_an_end_are_put_on_it() {
        let both = OutputRange {
            least: Some(0.0),
            most: Some(10.0),
        };
        assert_eq!(
            [-1.0, 0.0, 3.0, 10.5].map(|value| both.clipped(value)),
            [0.0, 0.0, 3.0, 10.0]
        );
        assert_eq!([-0.1, 0.0, 10.0].map(|value| both.contains(value)), [false, true, true]);
        let above = OutputRange {
            least: Some(2.0),
            most: None,
        };
        assert_eq!([1.0, 1e9].map(|value| above.clipped(value)), [2.0, 1e9]);
        assert!(above.clipped(f64::NAN).is_nan(), "what is no number stays none");
        assert_eq!(
            (both.to_string(), above.to_string()),
            ("0:10".to_owned(), "2:".to_owned())
        );
    }

    #[test]
    fn ranges_without_inside_are_refused() {
        let range = |least, most| OutputRange { least, most };
        assert!(range(Some(1.0), None).check().is_ok());
        for bad in [
            range(Some(1.0), Some(1.0)),
            range(Some(2.0), Some(1.0)),
            range(None, Some(f64::NAN)),
            range(Some(f64::INFINITY), None),
        ] {
            assert!(bad.check().is_err(), "{bad}");
        }
    }
}
