//! The Levinson–Durbin recursion.

/// The prediction error filter 1, a_1, a_2, … of a signal with these autocovariances, of lag 0, 1, 2, …
///
/// It ends early, before the tap that the ones before predict with an error of no more than `least`: the length of the
/// filter is the number of neighbouring samples that carry information of their own.
///
/// **Reference.** J. Durbin, The fitting of time-series models, Revue de l'Institut International de Statistique 28, 1960.
#[must_use]
pub(crate) fn levinson_durbin(covariance: &[f64], least: f64) -> Vec<f64> {
    let mut filter = vec![1.0];
    let mut error = covariance.first().copied().unwrap_or(0.0);
    for lag in 1..covariance.len() {
        if error <= least {
            break;
        }
        let sum: f64 = filter
            .iter()
            .enumerate()
            .map(|(index, a)| a * covariance[lag - index])
            .sum();
        let reflection = -sum / error;
        let previous = filter.clone();
        filter.push(0.0);
        for index in 1..=lag {
            filter[index] += reflection * previous[lag - index];
        }
        error *= 1.0 - reflection * reflection;
    }
    filter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_autoregression_is_found_and_nothing_beyond_it() {
        // y(k) = 0.8 y(k-1) + e: covariances fall as 0.8^lag, and the filter is 1, -0.8, 0, 0.
        let covariance: Vec<f64> = (0..4).map(|lag| 0.8_f64.powi(lag)).collect();
        let filter = levinson_durbin(&covariance, 0.0);
        for (found, expected) in filter.iter().zip([1.0, -0.8, 0.0, 0.0]) {
            assert!((found - expected).abs() < 1e-12, "{filter:?}");
        }
        // The first prediction leaves 0.36 of the variance: too little to go on.
        assert_eq!(levinson_durbin(&covariance, 0.4).len(), 2);
        assert_eq!(levinson_durbin(&[0.0, 0.0], 0.0), [1.0]);
    }
}
