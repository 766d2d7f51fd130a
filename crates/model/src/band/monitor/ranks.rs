//! Where a value stands among those before it.

use serde::{Deserialize, Serialize};

use super::moments::MOST_SAMPLES;

/// Ranks of values that come one after the other, as numbers that are independent and uniform if the values are exchangeable.
///
/// p(j) = (how many of the values so far are greater + θ(j)·how many are equal) / j, the value itself among them, and θ(j) a number
/// between 0 and 1 that only depends on j: the same values give the same ranks, however often the program was ended in between.
///
/// **Reference.** V. Vovk, A. Gammerman, G. Shafer, *Algorithmic Learning in a Random World*, 2nd ed., 2022, section 2.2 (smoothed
/// conformal predictors: their p-values are independent and uniform).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ranks {
    /// Ascending.
    seen: Vec<f64>,
    count: u64,
    /// Tells tests apart: they must not share their θ.
    salt: u64,
}

/// Then all are forgotten, and ranks start again: memory must not grow for years.
const MOST: usize = 2000;
/// Ranks among fewer values tell nothing.
const LEAST: usize = 8;
/// No rank is smaller.
const SMALLEST: f64 = 1e-12;

impl Ranks {
    pub(super) fn new(salt: u64) -> Self {
        Self {
            seen: Vec::new(),
            count: 0,
            salt,
        }
    }

    /// The rank of the next value, small for a great one; none among too few.
    pub(super) fn rank(&mut self, value: f64) -> Option<f64> {
        if self.seen.len() >= MOST {
            self.seen.clear();
        }
        self.count += 1;
        let before = self.seen.partition_point(|&seen| seen < value);
        let up_to = self.seen.partition_point(|&seen| seen <= value);
        let n = self.seen.len();
        let theta = uniform(self.salt ^ self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let rank = ((n - up_to) as f64 + theta * (up_to - before + 1) as f64) / (n + 1) as f64;
        self.seen.insert(up_to, value);
        (n >= LEAST).then(|| rank.clamp(SMALLEST, 1.0 - SMALLEST))
    }

    /// Whether it is what [`rank`](Self::rank) leaves.
    pub(super) fn is_sound(&self, salt: u64) -> bool {
        self.salt == salt
            && self.seen.len() <= MOST
            && (self.seen.len() as u64..=MOST_SAMPLES).contains(&self.count)
            && self.seen.iter().all(|value| value.is_finite())
            && self.seen.is_sorted()
    }
}

/// A number between 0 and 1 (S. Vigna's splitmix64).
fn uniform(seed: u64) -> f64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    ((z >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_uniform_and_small_for_great_values() {
        let mut ranks = Ranks::new(1);
        // The golden ratio's multiples: as even as values get, in no order.
        let values = (1..1000).map(|k| (f64::from(k) * 0.618_033_988_749_895).fract());
        let found: Vec<f64> = values.filter_map(|value| ranks.rank(value)).collect();
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        assert_eq!(found.len(), 999 - LEAST);
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        assert!(ranks.rank(2.0).is_some_and(|rank| rank < 1.1e-3));
        assert!(ranks.rank(-2.0).is_some_and(|rank| rank > 0.998));
        assert!(ranks.is_sound(1) && !ranks.is_sound(2));
    }

    #[test]
    fn equal_values_are_spread() {
        let mut ranks = Ranks::new(7);
        let found: Vec<f64> = (0..500).filter_map(|_| ranks.rank(0.0)).collect();
        let below = found.iter().filter(|&&rank| rank < 0.25).count() as f64 / found.len() as f64;
        assert!((below - 0.25).abs() < 0.06, "{below}");
    }

    #[test]
    fn memory_is_bounded() {
        let mut ranks = Ranks::new(7);
        for k in 0..2 * MOST {
            ranks.rank(k as f64);
        }
        assert!(ranks.seen.len() <= MOST && ranks.is_sound(7));
    }
}
