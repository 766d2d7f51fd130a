//! Correlations of signals over several runs, and how large they are by chance.

/// Two-sided 95 % of a normal distribution.
pub const NORMAL_95: f64 = 1.959_963_984_540_054;

/// Signals without their common mean.
#[must_use]
pub fn centred(mut signals: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n: usize = signals.iter().map(Vec::len).sum();
    let mean = signals.iter().flatten().sum::<f64>() / n.max(1) as f64;
    signals.iter_mut().flatten().for_each(|value| *value -= mean);
    signals
}

/// Σ_k a(k)·b(k-l) / √(Σa²·Σb²) for l = -lags…lags, pooled over runs, which are not joined.
#[must_use]
pub fn correlation(a: &[Vec<f64>], b: &[Vec<f64>], lags: usize) -> Vec<f64> {
    let energy = |signals: &[Vec<f64>]| signals.iter().flatten().map(|value| value * value).sum::<f64>();
    let scale = (energy(a) * energy(b)).sqrt();
    let product = |later: &[f64], earlier: &[f64], lag: usize| -> f64 {
        later.iter().skip(lag).zip(earlier).map(|(x, y)| x * y).sum()
    };
    let at = |lag: i64| {
        let shift = lag.unsigned_abs() as usize;
        let pairs = a.iter().zip(b);
        let sum: f64 = match lag >= 0 {
            true => pairs.map(|(a, b)| product(a, b, shift)).sum(),
            false => pairs.map(|(a, b)| product(b, a, shift)).sum(),
        };
        if scale > 0.0 { sum / scale } else { 0.0 }
    };
    (-(lags as i64)..=lags as i64).map(at).collect()
}

/// 95 % bound on the cross-correlation of two independent signals that are each autocorrelated: their variance is
/// Σ_l ρ_a(l)·ρ_b(l) / n (Bartlett), and never less than that of white ones.
#[must_use]
pub fn bartlett(a: &[f64], b: &[f64], n: usize) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    NORMAL_95 * (sum.max(1.0) / n as f64).sqrt()
}
