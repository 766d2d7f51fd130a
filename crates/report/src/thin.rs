//! Fewer points of long series, without losing an extreme.

/// Which of these values a line of about `most` points needs: of each stretch the first, the least, the greatest and the last, as figures keep
/// them of each column of pixels. Of what is not a number the first of every stretch stays, since it parts what is before it from
/// what comes after.
pub(crate) fn kept(values: &[f64], most: usize) -> Vec<usize> {
    if values.len() <= most {
        return (0..values.len()).collect();
    }
    let length = values.len().div_ceil((most / 4).max(1));
    let is_gap = |index: usize| values[index].is_nan();
    let mut kept = Vec::new();
    for start in (0..values.len()).step_by(length) {
        let end = (start + length).min(values.len());
        let numbers = || (start..end).filter(|index| !is_gap(*index));
        let by_value = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        let gaps = (start..end).filter(|&index| is_gap(index) && (index == 0 || !is_gap(index - 1)));
        let mut found: Vec<usize> = gaps.collect();
        found.extend(numbers().next());
        found.extend(numbers().min_by(by_value));
        found.extend(numbers().max_by(by_value));
        found.extend(numbers().next_back());
        found.sort_unstable();
        found.dedup();
        kept.extend(found);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_ends_and_gaps_stay() {
        let mut values: Vec<f64> = (0..10_000).map(|k| (0.01 * f64::from(k)).sin()).collect();
        (values[7], values[5003]) = (5.0, -6.0);
        values[6001] = f64::NAN;
        values[8000..8500].fill(f64::NAN);
        let found = kept(&values, 1000);
        assert!(found.len() <= 1000 + 2, "{}", found.len());
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
        for index in [0, 7, 5003, 6001, 8000, 9999] {
            assert!(found.contains(&index), "{index}");
        }
        let gaps = found.iter().filter(|index| values[**index].is_nan());
        assert_eq!(gaps.count(), 2, "one for each gap");
    }

    #[test]
    fn short_series_stay_whole() {
        assert_eq!(kept(&[1.0, f64::NAN, 2.0], 3), [0, 1, 2]);
        assert!(kept(&[], 3).is_empty());
        assert_eq!(kept(&[f64::NAN; 9], 4), [0]);
    }
}
