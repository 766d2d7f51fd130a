//! Values of a chart in few bytes.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

/// Stands for a value that is missing or not finite.
const MISSING: u16 = u16::MAX;

/// Values as sixteen-bit steps between `low` and `high`, little-endian in base64: a record of a hundred thousand samples
/// with its band stays near a megabyte. A step is finer than any screen shows; what is counted or printed is computed
/// before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Column {
    low: f64,
    high: f64,
    data: String,
}

impl Column {
    pub(crate) fn new(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
        // Halves, so that the range of any two finite numbers is finite.
        let range = high / 2.0 - low / 2.0;
        let step = |value: f64| match value.is_finite() {
            false => MISSING,
            true if range > 0.0 => {
                let share = (value / 2.0 - low / 2.0) / range;
                (share * f64::from(MISSING - 1)).round() as u16
            }
            true => 0,
        };
        let bytes: Vec<u8> = values.iter().flat_map(|&value| step(value).to_le_bytes()).collect();
        Self {
            low,
            high,
            data: BASE64_STANDARD.encode(bytes),
        }
    }

    pub(crate) fn low(&self) -> f64 {
        self.low
    }

    pub(crate) fn high(&self) -> f64 {
        self.high
    }

    /// How many values there are; in words why they cannot be read.
    pub(crate) fn count(&self) -> Result<usize, String> {
        let bytes = BASE64_STANDARD.decode(&self.data);
        let bytes = bytes.map_err(|error| format!("not base64: {error}"))?;
        match bytes.len() % 2 {
            0 => Ok(bytes.len() / 2),
            _ => Err("half a value at its end: values are two bytes each".to_owned()),
        }
    }

    /// Whether the shorter of both is the end of the longer one, as far as their steps tell.
    pub(crate) fn ends_like(&self, other: &Self) -> bool {
        let (a, b) = (self.values(), other.values());
        let common = a.len().min(b.len());
        // Half a step each, and what is lost in computing it.
        let largest = [self.low, self.high, other.low, other.high].map(f64::abs).into_iter();
        let lost = 8.0 * f64::EPSILON * largest.fold(0.0, f64::max);
        let near = 0.5 * (self.step() + other.step()) * (1.0 + 1e-6) + lost;
        let tails = a[a.len() - common..].iter().zip(&b[b.len() - common..]);
        tails.into_iter().all(|(a, b)| match (a.is_nan(), b.is_nan()) {
            (false, false) => (a - b).abs() <= near,
            (a, b) => a == b,
        })
    }

    fn step(&self) -> f64 {
        (self.high / 2.0 - self.low / 2.0) / f64::from(MISSING - 1) * 2.0
    }

    /// None where they cannot be read.
    pub(crate) fn values(&self) -> Vec<f64> {
        let bytes = BASE64_STANDARD.decode(&self.data).unwrap_or_default();
        let steps = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let value = |step| match step {
            MISSING => f64::NAN,
            step => self.low + f64::from(step) * self.step(),
        };
        steps.map(value).collect()
    }
}

/// Numbers of short series: five digits are more than a chart shows, and what is not finite is missing.
pub(crate) fn rounded(values: impl IntoIterator<Item = f64>) -> Vec<Option<f64>> {
    let round = |value: f64| {
        format!("{value:.4e}")
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
    };
    values.into_iter().map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_to_a_step() {
        let values = [-3.0, 0.1, 7.0, f64::NAN, f64::INFINITY, 2.5];
        let column = Column::new(values);
        for (value, back) in values.into_iter().zip(column.values()) {
            assert!(back.is_nan() != value.is_finite());
            assert!(
                back.is_nan() || (value - back).abs() <= 10.0 / 65534.0 / 2.0 + 1e-12,
                "{value} {back}"
            );
        }
    }

    #[test]
    fn ends_are_alike_in_other_steps() {
        let values: Vec<f64> = (0..50)
            .map(|k| (f64::from(k) * 0.7).sin() + 30.0 / f64::from(k + 1))
            .collect();
        let whole = Column::new(values.iter().copied());
        let end = Column::new(values[9..].iter().copied());
        assert!(whole.ends_like(&end) && end.ends_like(&whole));
        let later = Column::new(values[9..49].iter().copied());
        assert!(!whole.ends_like(&later));
        let mut other = values.clone();
        other[20] += 2e-3;
        assert!(!whole.ends_like(&Column::new(other.iter().copied())));
        other[20] = f64::NAN;
        let missing = Column::new(other.iter().copied());
        assert!(!whole.ends_like(&missing) && missing.ends_like(&Column::new(other[15..].iter().copied())));
    }

    #[test]
    fn odd_columns() {
        assert_eq!(Column::new([4.0, 4.0]).values(), [4.0, 4.0]);
        assert!(Column::new([]).values().is_empty());
        assert!(Column::new([f64::NAN]).values()[0].is_nan());
        let wide = Column::new([-f64::MAX, f64::MAX]);
        assert_eq!(BASE64_STANDARD.decode(&wide.data).expect("base64"), [0, 0, 0xfe, 0xff]);
        assert_eq!(rounded([1.234_567, f64::NAN]), [Some(1.2346), None]);
    }
}
