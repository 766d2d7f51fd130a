//! What is kept of a stretch of samples: sums.

use serde::{Deserialize, Serialize};

/// One sample of one output.
///
/// `residual` and `place` are (y - ŷ)/σ and (ŷ - μ)/σ with the mean μ and standard deviation σ of the training part, `half_width` is
/// that of the band over σ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sample {
    pub(super) residual: f64,
    pub(super) place: f64,
    pub(super) half_width: f64,
    pub(super) missed: bool,
}

impl Sample {
    /// The residual in half-widths of the band.
    pub(super) fn score(&self) -> f64 {
        self.residual / self.half_width
    }

    pub(super) fn is_sound(&self) -> bool {
        let small = |value: f64| value.abs() <= FURTHEST;
        small(self.residual) && small(self.place) && self.half_width > 0.0 && self.half_width <= FURTHEST
    }
}

/// Residuals and predictions further away, in standard deviations, count as this far.
pub(super) const FURTHEST: f64 = 1e6;
/// More than any plant gives. A file that claims more could count beyond the end of its numbers.
pub(super) const MOST_SAMPLES: u64 = 1 << 53;
/// Sums beyond this could add up to infinity.
const MOST_SUM: f64 = 1e290;
/// Keeps a stretch without any error from dividing by zero.
const NEXT_TO_NOTHING: f64 = 1e-24;

/// Sums over a stretch; with s the score, r the residual, x the place and h the half-width of each sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Moments {
    pub(super) samples: u64,
    pub(super) misses: u64,
    s: f64,
    ss: f64,
    r: f64,
    rr: f64,
    x: f64,
    xx: f64,
    rx: f64,
    hh: f64,
}

impl Moments {
    pub(super) fn add(&mut self, sample: &Sample) {
        let Sample {
            residual: r, place: x, ..
        } = *sample;
        let s = sample.score();
        self.samples += 1;
        self.misses += u64::from(sample.missed);
        self.s += s;
        self.ss += s * s;
        self.r += r;
        self.rr += r * r;
        self.x += x;
        self.xx += x * x;
        self.rx += r * x;
        self.hh += sample.half_width * sample.half_width;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.samples += other.samples;
        self.misses += other.misses;
        self.s += other.s;
        self.ss += other.ss;
        self.r += other.r;
        self.rr += other.rr;
        self.x += other.x;
        self.xx += other.xx;
        self.rx += other.rx;
        self.hh += other.hh;
    }

    fn n(&self) -> f64 {
        self.samples.max(1) as f64
    }

    /// Share of samples outside the band.
    pub(super) fn miss_share(&self) -> f64 {
        self.misses as f64 / self.n()
    }

    /// Mean residual.
    pub(super) fn level(&self) -> f64 {
        self.r / self.n()
    }

    /// Variance of the place.
    pub(super) fn excitation(&self) -> f64 {
        (self.xx / self.n() - (self.x / self.n()).powi(2)).max(0.0)
    }

    /// Slope of the residual over the prediction: 0.1 where the plant answers a tenth more than the model. Zero where nothing moves.
    pub(super) fn gain(&self) -> f64 {
        let covariance = self.rx / self.n() - self.r / self.n() * self.x / self.n();
        match self.excitation() > 1e-9 {
            true => covariance / self.excitation(),
            false => 0.0,
        }
    }

    /// Variance of the residual but for level and gain.
    pub(super) fn noise(&self) -> f64 {
        let variance = self.rr / self.n() - self.level().powi(2);
        (variance - self.gain().powi(2) * self.excitation()).max(0.0)
    }

    /// Mean square of the half-width.
    pub(super) fn half_width(&self) -> f64 {
        (self.hh / self.n()).sqrt()
    }

    /// Student's t of the mean score: blind to how large errors are, so that more noise does not look like a level.
    pub(super) fn level_statistic(&self) -> f64 {
        let n = self.n();
        let mean = self.s / n;
        let variance = (self.ss / n - mean * mean).max(NEXT_TO_NOTHING);
        mean / (variance / n).sqrt()
    }

    /// Student's t of the slope of the residual over the prediction.
    pub(super) fn gain_statistic(&self) -> f64 {
        let noise = self.noise().max(NEXT_TO_NOTHING);
        self.gain() * (self.n() * self.excitation() / noise).sqrt()
    }

    /// Logarithm of the variance of the score.
    pub(super) fn noise_statistic(&self) -> f64 {
        let n = self.n();
        (self.ss / n - (self.s / n).powi(2)).max(NEXT_TO_NOTHING).ln()
    }

    pub(super) fn is_sound(&self) -> bool {
        let signed = [self.s, self.r, self.x, self.rx];
        let squares = [self.ss, self.rr, self.xx, self.hh];
        self.misses <= self.samples
            && self.samples <= MOST_SAMPLES
            && signed.iter().all(|sum| sum.abs() <= MOST_SUM)
            && squares.iter().all(|sum| (0.0..=MOST_SUM).contains(sum))
    }
}

/// τ = 1 + 2 Σ ρ(lag) up to the first ρ that is not positive, at most half the values; at least 1.
pub(super) fn correlation_time(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let covariance = |lag: usize| -> f64 {
        let later = values.iter().skip(lag);
        later.zip(values).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let variance = covariance(0);
    let mut time = 1.0;
    for lag in 1..values.len() / 2 {
        let correlation = covariance(lag) / variance;
        if correlation.is_nan() || correlation <= 0.0 {
            break;
        }
        time += 2.0 * correlation;
    }
    time
}
