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

    fn decoded(column: &Column) -> Vec<f64> {
        let bytes = BASE64_STANDARD.decode(&column.data).expect("base64");
        let steps = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        steps
            .map(|step| match step {
                MISSING => f64::NAN,
                step => column.low + f64::from(step) / 65534.0 * (column.high - column.low),
            })
            .collect()
    }

    #[test]
    fn values_come_back_to_a_step() {
        let values = [-3.0, 0.1, 7.0, f64::NAN, f64::INFINITY, 2.5];
        let column = Column::new(values);
        for (value, back) in values.into_iter().zip(decoded(&column)) {
            assert!(back.is_nan() != value.is_finite());
            assert!(
                back.is_nan() || (value - back).abs() <= 10.0 / 65534.0 / 2.0 + 1e-12,
                "{value} {back}"
            );
        }
    }

    #[test]
    fn odd_columns() {
        assert_eq!(decoded(&Column::new([4.0, 4.0])), [4.0, 4.0]);
        assert!(decoded(&Column::new([])).is_empty());
        assert!(decoded(&Column::new([f64::NAN]))[0].is_nan());
        let wide = Column::new([-f64::MAX, f64::MAX]);
        assert_eq!(BASE64_STANDARD.decode(&wide.data).expect("base64"), [0, 0, 0xfe, 0xff]);
        assert_eq!(rounded([1.234_567, f64::NAN]), [Some(1.2346), None]);
    }
}
