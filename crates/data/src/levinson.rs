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

/// Correlations of a signal with others that are the same but for their delays, `own` apart from one another, as what each of them explains alone:
/// x(τ)/√(T⁻¹)(τ, τ), where T x = `correlations` and T is the Toeplitz matrix of `own`.
///
/// The system is solved by Levinson's recursion, and the diagonal of T⁻¹ is that of the Gohberg–Semencul formula.
pub(crate) fn semipartial(own: &[f64], correlations: &[f64]) -> Vec<f64> {
    let mut own = own.to_vec();
    let Some(variance) = own.first_mut().filter(|variance| **variance > 0.0) else {
        return correlations.to_vec();
    };
    // The floor keeps a perfectly predictable signal from dividing by nothing.
    let least = 1e-9 * *variance;
    *variance += least;
    let mut filter = vec![1.0];
    let mut error = own[0];
    let mut solution = vec![correlations[0] / error];
    for lag in 1..correlations.len() {
        let against =
            |values: &[f64]| -> f64 { values.iter().zip(own[1..=lag].iter().rev()).map(|(x, r)| x * r).sum() };
        let reflection = -against(&filter) / error;
        let previous = filter.clone();
        filter.push(0.0);
        for index in 1..=lag {
            filter[index] += reflection * previous[lag - index];
        }
        error = (error * (1.0 - reflection * reflection)).max(least);
        let step = (correlations[lag] - against(&solution)) / error;
        solution.push(0.0);
        for (x, a) in solution.iter_mut().zip(filter.iter().rev()) {
            *x += step * a;
        }
    }
    let mut diagonal = 0.0;
    let last = filter.len();
    let alone = solution.iter().enumerate().map(|(index, x)| {
        let later = if index == 0 { 0.0 } else { filter[last - index] };
        diagonal += (filter[index].powi(2) - later.powi(2)) / error;
        // Never less but for rounding.
        x / diagonal.max(1.0 / own[0]).sqrt()
    });
    alone.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_delay_explains_is_not_counted_at_others() {
        // A white signal: the correlations themselves.
        let found = semipartial(&[1.0, 0.0, 0.0], &[0.1, 0.7, 0.2]);
        for (found, expected) in found.iter().zip([0.1, 0.7, 0.2]) {
            assert!((found - expected).abs() < 1e-8, "{found}");
        }
        // An answer at delay 2 alone: T times (0, 0, 0.8, 0).
        let own = [1.0, -0.5, 0.3, 0.1];
        let plain: Vec<f64> = (0..4_usize).map(|delay| 0.8 * own[delay.abs_diff(2)]).collect();
        let found = semipartial(&own, &plain);
        assert!(
            found
                .iter()
                .enumerate()
                .all(|(delay, r)| (delay == 2) == (r.abs() > 1e-8)),
            "{found:?}"
        );
        // Against the inverse of T in full: of two delays, x = (c0 - r c1, c1 - r c0)/(1 - r²), and the diagonal is 1/(1 - r²).
        let (r, c): (f64, [f64; 2]) = (0.6, [0.5, 0.4]);
        let expected = [
            (c[0] - r * c[1]) / (1.0 - r * r).sqrt(),
            (c[1] - r * c[0]) / (1.0 - r * r).sqrt(),
        ];
        for (found, expected) in semipartial(&[1.0, r], &c).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-8, "{found} {expected}");
        }
        // Three: the diagonal of the inverse is (1 - r1²), (1 - r2²), (1 - r1²) over the determinant.
        let (r1, r2) = (0.5, 0.2);
        let determinant = 1.0 + 2.0 * r1 * r1 * r2 - 2.0 * r1 * r1 - r2 * r2;
        let x = [0.3, -0.2, 0.4];
        let plain = [
            x[0] + r1 * x[1] + r2 * x[2],
            r1 * x[0] + x[1] + r1 * x[2],
            r2 * x[0] + r1 * x[1] + x[2],
        ];
        let diagonal = [1.0 - r1 * r1, 1.0 - r2 * r2, 1.0 - r1 * r1].map(|value: f64| value / determinant);
        for ((found, x), d) in semipartial(&[1.0, r1, r2], &plain).iter().zip(x).zip(diagonal) {
            assert!((found - x / d.sqrt()).abs() < 1e-7, "{found}");
        }
        assert_eq!(semipartial(&[0.0, 0.0], &[0.0, 0.0]), [0.0, 0.0], "an input at rest");
    }

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
