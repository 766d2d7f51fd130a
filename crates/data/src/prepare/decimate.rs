//! Fewer samples, after a filter against aliasing.
//!
//! The filter is a sinc of cut-off 0.8 times the new Nyquist frequency under a Hamming window, [`REACH`] new samples to either side: 53 dB down from
//! 1.05 times the new Nyquist frequency on, and flat to 1 % up to half of it. It is symmetric, so that it delays nothing, and the same for every channel, so that the dynamics between them stay as they
//! are. At the ends of an experiment the weights that have a sample are scaled to sum to one.
//! A. V. Oppenheim, R. W. Schafer, "Discrete-Time Signal Processing", section 7.5.

use std::f64::consts::PI;

use crate::experiment::Experiment;
use crate::time::TimeAxis;

/// How far the filter reaches to either side, in new samples.
pub(super) const REACH: usize = 8;
/// Cut-off as a share of the new Nyquist frequency.
const CUT_OFF: f64 = 0.8;

/// Every `factor`-th sample of the filtered experiment, from its first on.
pub(super) fn decimate(experiment: &Experiment, factor: usize) -> Experiment {
    let weights = weights(factor);
    let thinned = experiment.map_columns(|column| thin(column, factor, &weights));
    let time = experiment.time().map(|axis| TimeAxis {
        step: axis.step * factor as f64,
        ..*axis
    });
    let marks = experiment.marks().iter().map(|mark| mark.thinned(factor)).collect();
    thinned.with_time(time).with_row_stride(factor as u64).with_marks(marks)
}

fn thin(column: &[f64], factor: usize, weights: &[f64]) -> Vec<f64> {
    let filtered = |centre: usize| {
        let (mut sum, mut total) = (weights[0] * column[centre], weights[0]);
        for (distance, weight) in weights.iter().enumerate().skip(1) {
            if let Some(before) = centre.checked_sub(distance) {
                (sum, total) = (sum + weight * column[before], total + weight);
            }
            if let Some(after) = column.get(centre + distance) {
                (sum, total) = (sum + weight * after, total + weight);
            }
        }
        sum / total
    };
    (0..column.len()).step_by(factor).map(filtered).collect()
}

/// Weights of a sample and of those one, two, … samples away on either side.
fn weights(factor: usize) -> Vec<f64> {
    let reach = REACH * factor;
    let cut_off = CUT_OFF / factor as f64;
    let weight = |distance: usize| {
        let x = PI * cut_off * distance as f64;
        let sinc = if distance == 0 { 1.0 } else { x.sin() / x };
        sinc * (0.54 + 0.46 * (PI * distance as f64 / (reach as f64 + 1.0)).cos())
    };
    (0..=reach).map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(period: f64) -> Vec<f64> {
        (0..4000).map(|k| (2.0 * PI * f64::from(k) / period).sin()).collect()
    }

    /// Largest error against the wave itself in the middle, where the filter has all its samples.
    fn error(period: f64, factor: usize, expected: f64) -> f64 {
        let wave = wave(period);
        let thinned = thin(&wave, factor, &weights(factor));
        let middle = REACH + 1..thinned.len() - REACH - 1;
        middle
            .map(|k| (thinned[k] - expected * wave[k * factor]).abs())
            .fold(0.0, f64::max)
    }

    #[test]
    fn slow_waves_pass_and_fast_ones_do_not() {
        for factor in [2, 4, 10] {
            let nyquist_period = 2.0 * factor as f64;
            // Half the new Nyquist frequency: passes, with no delay.
            let slow = error(2.0 * nyquist_period, factor, 1.0);
            assert!(slow < 0.01, "{factor}: {slow}");
            // One and a half times it would come back as half of it.
            let fast = error(nyquist_period / 1.5, factor, 0.0);
            assert!(fast < 0.005, "{factor}: {fast}");
        }
    }

    #[test]
    fn constants_stay_up_to_the_ends() {
        let thinned = thin(&[2.5; 23], 5, &weights(5));
        assert_eq!(thinned.len(), 5);
        assert!(thinned.iter().all(|value| (value - 2.5).abs() < 1e-12), "{thinned:?}");
    }
}
