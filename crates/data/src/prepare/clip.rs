//! Spikes of a sensor, by Hampel's rule.
//!
//! A sample is a spike if it is further than K·1.4826·MAD from the median of the samples up to [`NEIGHBOURS`] before and after it, where MAD is the
//! median distance from that median; it becomes the median. 1.4826·MAD estimates the standard deviation of Gaussian noise.
//! F. R. Hampel, "The influence curve and its role in robust estimation", J. Am. Stat. Assoc. 69 (1974), doi:10.1080/01621459.1974.10482962.

/// Samples on either side that a sample is compared with. A step in the signal is none: the sample itself is in the larger half.
pub(super) const NEIGHBOURS: usize = 5;
/// With fewer on either side a sample is not judged: the ends of a record have no two sides.
const LEAST_NEIGHBOURS: usize = 3;
/// Makes a median distance a standard deviation, for Gaussian noise.
const TO_STANDARD_DEVIATION: f64 = 1.4826;

/// Replaces the spikes of a column and says which samples they were.
pub(super) fn clip(column: &mut [f64], limit: f64) -> Vec<usize> {
    let original = column.to_vec();
    let mut spikes = Vec::new();
    let mut window = Vec::with_capacity(2 * NEIGHBOURS + 1);
    for (sample, value) in column.iter_mut().enumerate() {
        let reach = NEIGHBOURS.min(sample).min(original.len() - 1 - sample);
        if reach < LEAST_NEIGHBOURS {
            continue;
        }
        window.clear();
        window.extend_from_slice(&original[sample - reach..=sample + reach]);
        let centre = median(&mut window);
        window.iter_mut().for_each(|other| *other = (*other - centre).abs());
        let distance = (original[sample] - centre).abs();
        let mut spread = TO_STANDARD_DEVIATION * median(&mut window);
        if spread <= 0.0 {
            // Most neighbours are equal, as where a sensor rests or counts coarsely: its own steps are the scale then, if it makes any. It may
            // make them seldom, so more of the past is asked.
            let known = &original[sample.saturating_sub(2 * NEIGHBOURS)..=sample + reach];
            let away = known.iter().map(|other| (other - centre).abs());
            let mut others: Vec<f64> = away.filter(|other| *other > 0.0).collect();
            others.sort_by(f64::total_cmp);
            spread = if others.len() > 1 { others[0] } else { 0.0 };
        }
        if distance > limit * spread {
            *value = centre;
            spikes.push(sample);
        }
    }
    spikes
}

/// The median of an odd number of finite values.
fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step response with noise of ±1.
    fn signal() -> Vec<f64> {
        let noise = |k: u32| f64::from(k.wrapping_mul(2_654_435_761) >> 16) / 32768.0 - 1.0;
        (0..200).map(|k| if k < 80 { 10.0 } else { 90.0 } + noise(k)).collect()
    }

    #[test]
    fn spikes_go_and_steps_stay() {
        let clean = signal();
        let mut column = clean.clone();
        assert_eq!(clip(&mut column, 8.0), [0_usize; 0], "a step is none");
        assert_eq!(column, clean);
        // Single samples, and three in a row; the ends are not judged.
        for at in [0, 40, 120, 121, 122, 199] {
            column[at] = 500.0;
        }
        let spikes = clip(&mut column, 8.0);
        assert_eq!(spikes, [40, 120, 121, 122]);
        for at in spikes {
            assert!((column[at] - clean[at]).abs() <= 2.0, "{at}: {}", column[at]);
        }
        assert!((column[199] - 500.0).abs() < 1e-12);
    }

    #[test]
    fn flat_and_coarse_signals() {
        let mut flat = vec![3.0; 30];
        flat[12] = 9999.0;
        assert_eq!(clip(&mut flat, 6.0), [12]);
        assert!((flat[12] - 3.0).abs() < 1e-12);
        // A counter that flickers between two values is no spike; one that jumps is.
        let mut coarse: Vec<f64> = (0..60).map(|k| f64::from(u8::from(k % 4 == 0))).collect();
        coarse[31] = 40.0;
        assert_eq!(clip(&mut coarse, 6.0), [31]);
    }

    #[test]
    fn hardly_any_gaussian_sample_is_clipped_at_six() {
        use rand::SeedableRng;
        use rand_distr::{Distribution, StandardNormal};
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let mut noise: Vec<f64> = (0..20_000).map(|_| StandardNormal.sample(&mut random)).collect();
        let clipped = clip(&mut noise, 6.0).len();
        assert!(clipped < 60, "{clipped} of 20000");
    }
}
