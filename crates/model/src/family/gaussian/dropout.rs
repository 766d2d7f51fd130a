//! Monte Carlo dropout: hidden activations are zeroed at random, in training and in prediction (docs/method.md, section 8).
//!
//! A mask is 0 with probability r and 1/(1-r) otherwise, so that its mean is 1. Every step of every window has its own.
//! In an LSTM the masks are on what the next layer sees, not on a cell's memory.
//!
//! Y. Gal, Z. Ghahramani: Dropout as a Bayesian approximation, ICML 2016.

use intervalid_interval::Real;
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

use crate::network::{Architecture, Frames};

/// Fills the masks of all hidden layers on all tiles of the parts of a batch: a layer of all parts before the next one.
pub(crate) fn draw_masks<'a, T: Real>(
    parts: impl Iterator<Item = &'a mut Frames<T>>,
    architecture: &Architecture,
    rate: f64,
    rng: &mut ChaCha8Rng,
) {
    let mut parts: Vec<&mut Frames<T>> = parts.collect();
    let mut mask = Masks::new(rate);
    for (layer, &size) in architecture.hidden.iter().enumerate() {
        for frames in &mut parts {
            let (tiles, width) = (frames.tiles, frames.width);
            frames.masks.resize(architecture.hidden.len(), Vec::new());
            let masks = &mut frames.masks[layer];
            masks.resize(tiles * size * width, T::zero());
            masks.iter_mut().for_each(|to| *to = mask.draw(rng));
        }
    }
}

/// Source of single mask values: four from each random word, which is what makes masks cheap beside the network.
pub(super) struct Masks<T> {
    /// A draw of 16 bits below this is a zero.
    threshold: u64,
    kept: T,
    bits: u64,
    left: u32,
}

impl<T: Real> Masks<T> {
    pub(super) fn new(rate: f64) -> Self {
        Self {
            threshold: (rate * 65_536.0).round() as u64,
            kept: T::of(1.0 / (1.0 - rate)),
            bits: 0,
            left: 0,
        }
    }

    pub(super) fn draw(&mut self, rng: &mut ChaCha8Rng) -> T {
        if self.left == 0 {
            self.bits = rng.next_u64();
            self.left = 4;
        }
        let draw = self.bits & 0xffff;
        self.bits >>= 16;
        self.left -= 1;
        if draw < self.threshold { T::zero() } else { self.kept }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn share_of_zeros_is_the_rate_and_the_mean_is_one() {
        for rate in [0.0, 0.05, 0.5] {
            let mut masks = Masks::<f64>::new(rate);
            let mut rng = ChaCha8Rng::seed_from_u64(11);
            let n = 200_000;
            let draws: Vec<f64> = (0..n).map(|_| masks.draw(&mut rng)).collect();
            let zeros = draws.iter().filter(|&&mask| mask < 0.5).count() as f64 / f64::from(n);
            let deviation = (rate * (1.0 - rate) / f64::from(n)).sqrt();
            assert!(
                (zeros - rate).abs() <= 4.0 * deviation + 1.0 / 65_536.0,
                "{rate}: {zeros}"
            );
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            assert!(
                (mean - 1.0).abs() <= 4.0 * deviation / (1.0 - rate) + 1e-4,
                "{rate}: {mean}"
            );
        }
    }
}
