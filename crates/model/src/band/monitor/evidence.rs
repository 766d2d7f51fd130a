//! Evidence against a claim that may be looked at after every step, without a price for looking.

use serde::{Deserialize, Serialize};

use super::moments::MOST_SAMPLES;

/// An e-process: a number that starts at 1 and, while the claim holds, does not grow on the average.
///
/// **Method.** A bettor g multiplies its money by a factor F_g(j) ≥ 0 whose mean is at most 1 if the claim holds at step j. A share
/// w_j = 1/((j+1)(j+2)) of the money enters at step j, so that a change after a thousand steps finds fresh money; the rest waits:
/// E(j) = mean over g of Σ_{i≤j} w_i Π_{i≤l≤j} F_g(l) + 1/(j+2). The sum is kept by S ← (S + w_j)·F.
///
/// **What it promises.** If the claim holds at every step, E exceeds 1/δ at any time with probability at most δ.
///
/// **Reference.** J. Ville, *Étude critique de la notion de collectif*, 1939; A. Ramdas, P. Grünwald, V. Vovk, G. Shafer, Game-theoretic
/// statistics and safe anytime-valid inference, *Statistical Science* 38(4), 2023, section 2. The money that enters later: J. Shin,
/// A. Ramdas, A. Rinaldo, E-detectors, *New England Journal of Statistics in Data Science* 2(2), 2024, here with weights that sum to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Evidence {
    /// What each bettor has.
    sums: Vec<f64>,
    steps: u64,
    now: f64,
    greatest: f64,
}

/// More than this says nothing more; without it a long drift would leave the range of numbers.
pub(super) const MOST: f64 = 1e100;

impl Evidence {
    pub(super) fn new(bettors: usize) -> Self {
        Self {
            sums: vec![0.0; bettors],
            steps: 0,
            now: 1.0,
            greatest: 1.0,
        }
    }

    /// One step, with a factor per bettor.
    pub(super) fn step(&mut self, factors: impl IntoIterator<Item = f64>) {
        let step = self.steps as f64;
        let enters = 1.0 / ((step + 1.0) * (step + 2.0));
        for (sum, factor) in self.sums.iter_mut().zip(factors) {
            *sum = ((*sum + enters) * factor).min(MOST);
        }
        self.steps += 1;
        let waits = 1.0 / (step + 2.0);
        self.now = self.sums.iter().sum::<f64>() / self.sums.len() as f64 + waits;
        self.greatest = self.greatest.max(self.now);
    }

    pub(super) fn now(&self) -> f64 {
        self.now
    }

    pub(super) fn greatest(&self) -> f64 {
        self.greatest
    }

    /// Whether its numbers are such as steps of so many bettors leave.
    pub(super) fn is_sound(&self, bettors: usize) -> bool {
        let sound = |value: f64| (0.0..=2.0 * MOST).contains(&value);
        self.steps <= MOST_SAMPLES
            && self.sums.len() == bettors
            && self.sums.iter().copied().all(sound)
            && sound(self.now)
            && sound(self.greatest)
    }
}

/// Stakes of the bettors on a mean, as shares of all that may be staked.
pub(super) const STAKES: [f64; 6] = [0.05, 0.1, 0.2, 0.4, 0.7, 0.95];

/// Factors of bets that the mean of `share`, a number between 0 and 1, is more than `claimed`.
///
/// F = 1 + (f/m)(M - m), which is 1 on the average where M has the mean m: I. Waudby-Smith, A. Ramdas, Estimating means of bounded
/// random variables by betting, *JRSS B* 86(1), 2024, eq. (24).
pub(super) fn more_than(share: f64, claimed: f64) -> impl Iterator<Item = f64> {
    STAKES
        .into_iter()
        .map(move |stake| 1.0 + stake * (share / claimed - 1.0))
}

/// Exponents of the bettors on small ranks.
pub(super) const EXPONENTS: [f64; 5] = [0.1, 0.2, 0.35, 0.5, 0.75];

/// Factors of bets that `p`, uniform if the claim holds, is small: κ p^(κ-1), whose integral is 1.
///
/// V. Vovk, A. Gammerman, G. Shafer, *Algorithmic Learning in a Random World*, 2nd ed., 2022, section 8.1 (power martingales).
pub(super) fn small(p: f64) -> impl Iterator<Item = f64> {
    EXPONENTS
        .into_iter()
        .map(move |exponent| exponent * p.powf(exponent - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_one_on_the_average() {
        let mut means = [0.0; EXPONENTS.len()];
        let n = 200_000;
        for k in 0..n {
            let p = (f64::from(k) + 0.5) / f64::from(n);
            small(p).zip(&mut means).for_each(|(f, mean)| *mean += f / f64::from(n));
        }
        // Midpoints miss a little of the pole at 0 where the exponent is small.
        assert!(means.iter().all(|mean| (0.6..=1.0 + 1e-9).contains(mean)), "{means:?}");
        assert!((means[3] - 1.0).abs() < 1e-2, "{means:?}");
        for factor in more_than(0.15, 0.15) {
            assert!((factor - 1.0).abs() < 1e-12);
        }
        assert!(more_than(0.0, 0.15).all(|factor| factor > 0.0));
    }

    #[test]
    fn money_neither_appears_nor_vanishes() {
        let mut evidence = Evidence::new(3);
        for _ in 0..1000 {
            evidence.step([1.0; 3]);
        }
        assert!((evidence.now() - 1.0).abs() < 1e-12, "{}", evidence.now());
    }

    #[test]
    fn a_late_change_is_found_too() {
        let mut evidence = Evidence::new(STAKES.len());
        for _ in 0..1000 {
            evidence.step(more_than(0.05, 0.15));
        }
        assert!(evidence.now() < 1.0);
        let steps = (0..).find(|_| {
            evidence.step(more_than(0.6, 0.15));
            evidence.now() > 400.0
        });
        assert!(steps.is_some_and(|steps| steps < 25), "{steps:?}");
    }
}
