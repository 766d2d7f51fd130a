//! The numbers behind a box plot.

/// Summary of a sample after Tukey.
///
/// Quartiles interpolate linearly between order statistics (type 7 of Hyndman and Fan 1996,
/// doi:10.1080/00031305.1996.10473566, the default of NumPy and R). Whiskers end at the farthest values within 1.5
/// times the interquartile range of the box; values beyond are outliers.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxStatistics {
    /// Number of finite values.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Middle value.
    pub median: f64,
    /// First quartile.
    pub lower_quartile: f64,
    /// Third quartile.
    pub upper_quartile: f64,
    /// Lowest value that is no outlier.
    pub lower_whisker: f64,
    /// Highest value that is no outlier.
    pub upper_whisker: f64,
    /// Values beyond the whiskers, in ascending order.
    pub outliers: Vec<f64>,
}

impl BoxStatistics {
    /// Summary of the finite values; `None` when there is none.
    pub fn new(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        if sorted.is_empty() {
            return None;
        }
        sorted.sort_unstable_by(f64::total_cmp);
        let count = sorted.len();
        let (lower_quartile, upper_quartile) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
        let reach = 1.5 * (upper_quartile - lower_quartile);
        let is_outlier = |value: &&f64| **value < lower_quartile - reach || **value > upper_quartile + reach;
        let mut inside = sorted.iter().filter(|value| !is_outlier(value));
        // Quartiles are never outliers of themselves, but rounding may leave no value between them.
        let lower_whisker = inside.next().copied().unwrap_or(lower_quartile);
        let upper_whisker = inside.next_back().copied().unwrap_or(lower_whisker);
        Some(Self {
            count,
            // Dividing first cannot overflow.
            mean: sorted.iter().map(|value| value / count as f64).sum(),
            median: quantile(&sorted, 0.5),
            lower_quartile,
            upper_quartile,
            // Interpolated quartiles can lie beyond the last value that is no outlier; whiskers start at the box.
            lower_whisker: lower_whisker.min(lower_quartile),
            upper_whisker: upper_whisker.max(upper_quartile),
            outliers: sorted.iter().filter(is_outlier).copied().collect(),
        })
    }
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let weight = position - below as f64;
    sorted[below] * (1.0 - weight) + sorted[above] * weight
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 4.0 * f64::EPSILON * b.abs().max(1.0)
    }

    #[test]
    fn by_hand() {
        // Sorted: 1 2 3 4 5 6 7 8 9 30. Positions 2.25, 4.5, 6.75 of 0..=9.
        let summary = BoxStatistics::new(&[30.0, 1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0, 5.0, f64::NAN]).unwrap();
        assert!(close(summary.lower_quartile, 3.25) && close(summary.upper_quartile, 7.75));
        assert!(close(summary.median, 5.5) && close(summary.mean, 7.5));
        // Fences at 3.25 - 6.75 and 7.75 + 6.75.
        assert!(close(summary.lower_whisker, 1.0) && close(summary.upper_whisker, 9.0));
        assert_eq!((summary.count, summary.outliers.as_slice()), (10, [30.0].as_slice()));
    }

    #[test]
    fn small_samples() {
        assert_eq!(BoxStatistics::new(&[]), None);
        assert_eq!(BoxStatistics::new(&[f64::INFINITY]), None);
        let single = BoxStatistics::new(&[2.5]).unwrap();
        assert!(close(single.lower_whisker, 2.5) && close(single.upper_whisker, 2.5) && single.outliers.is_empty());
        let pair = BoxStatistics::new(&[1.0, 3.0]).unwrap();
        assert!(close(pair.lower_quartile, 1.5) && close(pair.median, 2.0));
        assert!(close(pair.lower_whisker, 1.0) && close(pair.upper_whisker, 3.0));
    }
}
