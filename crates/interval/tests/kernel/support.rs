//! Draws, references and bounds that the kernel tests share.

use intervalid_interval::Real;
use intervalid_interval::kernel::{SimdLevel, with_level};
use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// So many cases; under Miri, which is ten thousand times slower, two.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    ProptestConfig::with_cases(if cfg!(miri) { 2 } else { usual })
}

/// Below, at and beyond the blocks of the kernels.
pub(crate) fn size() -> impl Strategy<Value = usize> {
    let sizes: &'static [usize] = match cfg!(miri) {
        true => &[1, 3, 7, 10],
        false => &[1, 2, 3, 5, 7, 10, 40, 47, 49, 97],
    };
    proptest::sample::select(sizes)
}

pub(crate) fn width() -> impl Strategy<Value = usize> {
    let widths: &'static [usize] = if cfg!(miri) { &[16, 32] } else { &[16, 32, 48, 64] };
    proptest::sample::select(widths)
}

/// The shape of one product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) out: usize,
    pub(crate) inner: usize,
    pub(crate) width: usize,
}

pub(crate) fn shape() -> impl Strategy<Value = Shape> {
    (size(), size(), width()).prop_map(|(out, inner, width)| Shape { out, inner, width })
}

/// The result of `work` at each level; twice, to see that the bits repeat.
pub(crate) fn at_all_levels<T: Real>(work: impl Fn() -> Vec<T>) -> Vec<(SimdLevel, Vec<T>)> {
    let run = |&level| {
        let (first, second) = (with_level(level, &work), with_level(level, &work));
        let bits = |values: &[T]| -> Vec<u64> { values.iter().map(|v| v.as_f64().to_bits()).collect() };
        assert_eq!(bits(&first), bits(&second), "{level:?} does not repeat its bits");
        (level, first)
    };
    SimdLevel::available().iter().map(run).collect()
}

/// Draws that both precisions hold exactly.
pub(crate) struct Draw(ChaCha8Rng);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(crate) fn number<T: Real>(&mut self, low: f32, high: f32) -> T {
        T::of(f64::from(self.0.random_range(low..high)))
    }

    pub(crate) fn numbers<T: Real>(&mut self, count: usize) -> Vec<T> {
        (0..count).map(|_| self.number(-1.0, 1.0)).collect()
    }

    pub(crate) fn index(&mut self, count: usize) -> usize {
        self.0.random_range(0..count)
    }

    /// A set of any kind: of one sign, on both sides of zero, a point, zero, or with an end at zero.
    pub(crate) fn set<T: Real>(&mut self) -> (T, T) {
        let (x, y): (T, T) = (self.number(0.0, 1.0), self.number(0.0, 1.0));
        match self.index(9) {
            0 => (x.min(y), x.max(y)),
            1 => (-x.max(y), -x.min(y)),
            2 | 3 => (-x, y),
            4 => (x, x),
            5 => (-x, -x),
            6 => (T::zero(), T::zero()),
            7 => (T::zero(), y),
            _ => (-x, T::zero()),
        }
    }

    /// Sets at least 0.05 clear of every kink of their products with each other: ends away from zero, and ratios of
    /// the ends of straddling sets near 1, 4 or 1/4 for weights but near 2 or 1/2 for inputs.
    pub(crate) fn clear_set<T: Real>(&mut self, input: bool) -> (T, T) {
        let x: f64 = self.number(0.5, 1.0);
        let y = x + self.number::<f64>(0.1, 0.5);
        let ratios: &[f64] = if input { &[2.0, 0.5] } else { &[1.0, 4.0, 0.25] };
        let ratio = ratios[self.index(ratios.len())] * self.number::<f64>(0.95, 1.05);
        let (lower, upper) = match self.index(3) {
            0 => (x, y),
            1 => (-y, -x),
            _ => (-x, x * ratio),
        };
        (T::of(f64::from(lower as f32)), T::of(f64::from(upper as f32)))
    }

    pub(crate) fn sets<T: Real>(&mut self, count: usize) -> Bounds<T> {
        (0..count).map(|_| self.set::<T>()).unzip()
    }

    pub(crate) fn clear_sets<T: Real>(&mut self, count: usize, input: bool) -> Bounds<T> {
        (0..count).map(|_| self.clear_set::<T>(input)).unzip()
    }

    /// A point of each set, often an end.
    pub(crate) fn points_in<T: Real>(&mut self, (lower, upper): &Bounds<T>) -> Vec<T> {
        let ends = lower.iter().zip(upper);
        ends.map(|(&l, &u)| match self.index(4) {
            0 => l,
            1 => u,
            _ => (l + (u - l) * self.number(0.0, 1.0)).max(l).min(u),
        })
        .collect()
    }
}

/// Lower and upper ends, apart.
pub(crate) type Bounds<T> = (Vec<T>, Vec<T>);

/// Values with the magnitude that their rounding error is relative to.
pub(crate) struct Reference {
    pub(crate) values: Vec<f64>,
    pub(crate) magnitudes: Vec<f64>,
}

impl Reference {
    pub(crate) fn starting_at<T: Real>(start: &[T]) -> Self {
        let values: Vec<f64> = start.iter().map(|v| v.as_f64()).collect();
        let magnitudes = values.iter().map(|v| v.abs()).collect();
        Self { values, magnitudes }
    }

    pub(crate) fn add(&mut self, place: usize, term: f64) {
        self.add_rounded_at(place, term, term.abs());
    }

    /// A term that is the difference of larger ones, whose magnitude its rounding error is relative to.
    pub(crate) fn add_rounded_at(&mut self, place: usize, term: f64, magnitude: f64) {
        self.values[place] += term;
        self.magnitudes[place] += magnitude;
    }

    /// The documented bound: `terms * epsilon` relative to the sum of the magnitudes. A reference in double precision
    /// rounds by as much as the `f64` kernel, hence the factor of two.
    pub(crate) fn check<T: Real>(&self, what: &str, found: &[T], terms: usize) {
        assert_eq!(found.len(), self.values.len());
        let tolerance = 2.0 * (terms + 1) as f64 * T::epsilon().as_f64();
        for (place, found) in found.iter().enumerate() {
            let (found, expected) = (found.as_f64(), self.values[place]);
            assert!(
                (found - expected).abs() <= tolerance * self.magnitudes[place],
                "{what} {}: [{place}] expected {expected:e}, found {found:e}",
                T::NAME
            );
        }
    }
}

/// The least and the greatest of the four products of the ends, exact for ends of 24 bits.
pub(crate) fn hull(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let products = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
    let fold = |f: fn(f64, f64) -> f64| products.into_iter().reduce(f).unwrap_or_default();
    (fold(f64::min), fold(f64::max))
}

pub(crate) fn pair<T: Real>(bounds: &Bounds<T>, place: usize) -> (f64, f64) {
    (bounds.0[place].as_f64(), bounds.1[place].as_f64())
}

pub(crate) fn crisp<T: Real>(values: &[T]) -> Bounds<T> {
    (values.to_vec(), values.to_vec())
}
