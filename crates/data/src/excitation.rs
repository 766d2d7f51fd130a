//! How much a signal tells about the system it drives.

use crate::levinson::levinson_durbin;

/// How many of `taps` neighbouring samples of a signal it takes until the ones before predict the next, that one included:
/// one more than the order of persistent excitation, as far as a record can tell, and at most `taps`.
///
/// A sample counts as predicted where less than 0.1 % of the signal's variance is left. White noise gives `taps`, a
/// constant signal 1, and a sine 3, if the record is so long that its ends do not matter.
///
/// **Reference.** L. Ljung, *System Identification: Theory for the User*, 2nd ed., Prentice Hall 1999, section
/// 13.2.
///
/// ```
/// let sine: Vec<f64> = (0..100_000).map(|k| (0.7 * f64::from(k)).sin()).collect();
/// assert_eq!(intervalid_data::excitation_order(&sine, 10), 3);
/// ```
#[must_use]
pub fn excitation_order(values: &[f64], taps: usize) -> usize {
    let centre = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let covariance: Vec<f64> = (0..taps)
        .map(|lag| {
            let later = values.iter().skip(lag);
            later.zip(values).map(|(a, b)| (a - centre) * (b - centre)).sum()
        })
        .collect();
    let least = 1e-3 * covariance.first().copied().unwrap_or(0.0);
    levinson_durbin(&covariance, least).len().min(taps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_noise_excites_everything_and_a_constant_nothing() {
        let noise: Vec<f64> = (0..500).map(|k| ((k * k) as f64 * 0.37).sin()).collect();
        assert_eq!(excitation_order(&noise, 10), 10);
        let ramp: Vec<f64> = (0..50_000).map(|k| f64::from(k) * 1e-3).collect();
        assert!(excitation_order(&ramp, 10) <= 2);
        assert_eq!(excitation_order(&[3.0; 20], 10), 1);
        assert_eq!(excitation_order(&noise, 0), 0);
        assert_eq!(excitation_order(&[], 10), 1);
    }
}
