//! Scores of a free run under the rules of a protocol.

use std::f64::consts::{PI, SQRT_2};

use intervalid_data::normal_quantile;
use intervalid_model::{Aligned, Metrics};

use crate::protocol::Target;
use crate::result::Score;

/// The runs over one test that are judged: the band offline and the one that follows the measured outputs.
pub(crate) struct Judged<'a> {
    pub(crate) offline: &'a [Aligned<'a>],
    pub(crate) online: &'a [Aligned<'a>],
}

impl Judged<'_> {
    /// Scores at a coverage, in the unit that `factor` leads to. `is_normal` where the band is that of a normal distribution.
    pub(crate) fn score(&self, target: Target, coverage: f64, factor: f64, is_normal: bool) -> Score {
        let metrics = Metrics::of(self.offline, coverage);
        let diverged = metrics.diverged_at.is_some() || metrics.n == 0;
        let scaled = |value: Option<f64>| value.map(|value| factor * value);
        let normal = (is_normal && !diverged)
            .then(|| normal_scores(self.offline, coverage))
            .flatten();
        Score {
            test: target.test,
            output: target.output,
            n: metrics.n,
            rmse: scaled(metrics.rmse),
            fit_percent: metrics.fit_percent,
            picp: metrics.picp,
            picp_online: Metrics::of(self.online, coverage).picp,
            width: scaled((!diverged).then(|| mean_width(self.offline))),
            interval_score: scaled(metrics.interval_score),
            crps: scaled(normal.map(|(crps, _)| crps)),
            // A density has the inverse unit of its argument.
            nll: normal.map(|(_, nll)| nll + factor.ln()),
            diverged_at: metrics.diverged_at,
        }
    }
}

fn mean_width(runs: &[Aligned<'_>]) -> f64 {
    let widths = runs.iter().flat_map(|run| run.upper.iter().zip(run.lower));
    let (sum, n) = widths.fold((0.0, 0_usize), |(sum, n), (upper, lower)| (sum + upper - lower, n + 1));
    sum / n.max(1) as f64
}

/// Mean CRPS and mean negative log-likelihood of normal distributions whose central interval of this coverage is the band; none if a
/// band has no width.
///
/// With z = (y-μ)/σ: CRPS = σ(z(2Φ(z)-1) + 2φ(z) - 1/√π), NLL = ½ln(2πσ²) + ½z².
///
/// **Reference.** T. Gneiting, A. E. Raftery, J. Amer. Statist. Assoc. 102(477), 2007, eq. (21), doi:10.1198/016214506000001437.
fn normal_scores(runs: &[Aligned<'_>], coverage: f64) -> Option<(f64, f64)> {
    let quantile = normal_quantile(0.5 + 0.5 * coverage);
    let (mut crps, mut nll, mut n) = (0.0, 0.0, 0_usize);
    for run in runs {
        let bounds = run.lower.iter().zip(run.upper);
        for ((y, mean), (lower, upper)) in run.target.iter().zip(run.centre).zip(bounds) {
            let sigma = (upper - lower) / (2.0 * quantile);
            if sigma.is_nan() || sigma <= 0.0 {
                return None;
            }
            let z = (y - mean) / sigma;
            let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
            // 2Φ(z) - 1 = erf(z/√2)
            crps += sigma * (z * libm::erf(z / SQRT_2) + 2.0 * density - 1.0 / PI.sqrt());
            nll += 0.5 * (2.0 * PI * sigma * sigma).ln() + 0.5 * z * z;
            n += 1;
        }
    }
    let mean = |sum: f64| Some(sum / n as f64).filter(|mean| mean.is_finite());
    mean(crps).zip(mean(nll))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One sample at distance z·σ from a normal distribution with this σ, at 90 %.
    fn scores(z: f64, sigma: f64) -> (f64, f64) {
        let half = sigma * normal_quantile(0.95);
        let run = Aligned {
            target: &[2.0 + z * sigma],
            lower: &[2.0 - half],
            centre: &[2.0],
            upper: &[2.0 + half],
            diverged_at: None,
        };
        normal_scores(&[run], 0.9).expect("a width")
    }

    #[test]
    fn normal_scores_have_their_closed_forms() {
        // CRPS of a standard normal at its mean: (√2 - 1)/√π.
        let (crps, nll) = scores(0.0, 1.0);
        assert!((crps - (SQRT_2 - 1.0) / PI.sqrt()).abs() < 1e-12, "{crps}");
        assert!((nll - 0.5 * (2.0 * PI).ln()).abs() < 1e-12, "{nll}");
        // Far away it is the distance less σ/√π.
        let (crps, _) = scores(30.0, 2.0);
        assert!((crps - (60.0 - 2.0 / PI.sqrt())).abs() < 1e-9, "{crps}");
        // By the definition ∫(F(x) - [x ≥ y])² dx, summed.
        let (z, step) = (0.7, 1e-3);
        let integral: f64 = (-9000..9000)
            .map(|k| (f64::from(k) + 0.5) * step)
            .map(|x| {
                let below = 0.5 * (1.0 + libm::erf(x / SQRT_2));
                (below - if x >= z { 1.0 } else { 0.0 }).powi(2) * step
            })
            .sum();
        assert!((scores(z, 1.0).0 - integral).abs() < 1e-5);
    }

    #[test]
    fn units_are_the_protocols() {
        let target = || Target {
            test: "t".to_owned(),
            output: "y".to_owned(),
        };
        let run = [Aligned {
            target: &[0.0, 1.0, 2.0],
            lower: &[-1.0, 0.0, 0.0],
            centre: &[0.5, 1.5, 1.5],
            upper: &[1.0, 2.0, 1.0],
            diverged_at: None,
        }];
        let judged = Judged {
            offline: &run,
            online: &run,
        };
        let [one, milli] = [1.0, 1000.0].map(|factor| judged.score(target(), 0.9, factor, true));
        let close = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-9 * b.abs().max(1.0));
        assert!(close(one.rmse, 0.5) && close(milli.rmse, 500.0));
        assert!(close(one.width, 5.0 / 3.0) && close(milli.width, 5000.0 / 3.0));
        assert!(close(milli.picp, 2.0 / 3.0) && milli.fit_percent == one.fit_percent);
        assert!(close(milli.interval_score, 1000.0 * one.interval_score.unwrap_or(0.0)));
        assert!(close(milli.nll, one.nll.unwrap_or(0.0) + 1000_f64.ln()));
        assert_eq!(judged.score(target(), 0.9, 1.0, false).crps, None);
    }
}
