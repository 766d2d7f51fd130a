//! How good a simulated band is.

use serde::Serialize;

/// Simulated output with its band, beside the measurement; one entry per scored sample, in physical units.
#[derive(Clone, Debug, Default)]
pub(crate) struct Band {
    pub(crate) measured: Vec<f64>,
    pub(crate) predicted: Vec<f64>,
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
}

/// Error and coverage over one part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Metrics {
    /// Scored samples.
    pub(crate) n: usize,
    /// Root mean square error, in the output's unit.
    pub(crate) rmse: f64,
    /// 100·(1 - ‖ŷ-y‖ / ‖ŷ-mean ŷ‖).
    pub(crate) fit_percent: f64,
    /// Share of the samples inside the band, ends included.
    pub(crate) picp: f64,
    /// Mean width of the band over the range of the measurement.
    pub(crate) pinaw: f64,
}

/// Metrics of `band`, which has at least one sample and moves.
pub(crate) fn evaluate(band: &Band) -> Metrics {
    let n = band.measured.len();
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / n as f64;
    let centre = mean(&mut band.measured.iter().copied());
    let error = mean(&mut band.measured.iter().zip(&band.predicted).map(|(m, y)| (m - y).powi(2)));
    let variance = mean(&mut band.measured.iter().map(|m| (m - centre).powi(2)));
    let ends = band.lower.iter().zip(&band.upper);
    let inside = band
        .measured
        .iter()
        .zip(ends.clone())
        .filter(|(m, (lower, upper))| *lower <= *m && *m <= *upper);
    let lowest = band.measured.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = band.measured.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Metrics {
        n,
        rmse: error.sqrt(),
        fit_percent: 100.0 * (1.0 - (error / variance).sqrt()),
        picp: inside.count() as f64 / n as f64,
        pinaw: mean(&mut ends.map(|(lower, upper)| upper - lower)) / (highest - lowest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let band = Band {
            measured: vec![0.0, 1.0, 2.0, 4.0],
            predicted: vec![0.0, 1.0, 2.0, 2.0],
            lower: vec![0.0, 0.5, 1.5, 1.5],
            upper: vec![1.0, 1.5, 2.5, 2.5],
        };
        let metrics = evaluate(&band);
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        assert!(close(metrics.rmse, 1.0) && close(metrics.picp, 0.75) && close(metrics.pinaw, 0.25));
        assert!(close(metrics.fit_percent, 100.0 * (1.0 - (4.0_f64 / 8.75).sqrt())));
    }
}
