//! Interval weights times crisp inputs in centre and radius form.
//!
//! With centre c = (w + W)/2 and radius r = (W - w)/2 of the weights `[w, W]`, and a crisp input x, the exact bounds are
//! c·x ∓ r·|x|: two fused products per weight and sample instead of two blends and two products.

use super::centred_adjoint::CentredAdjoint;
use super::vector::Vector;
use super::{LANES, area};
use crate::real::Real;
use crate::simd_dispatch;

/// A matrix of interval weights `[out, in]` for products with crisp tiles.
#[derive(Clone, Debug)]
pub struct CentredWeights<T> {
    out: usize,
    inner: usize,
    centre: Vec<T>,
    radius: Vec<T>,
}

impl<T: Real> CentredWeights<T> {
    /// Weights of a shape, all zero.
    #[must_use]
    pub fn new(out: usize, inner: usize) -> Self {
        Self {
            out,
            inner,
            centre: vec![T::zero(); area(out, inner)],
            radius: vec![T::zero(); area(out, inner)],
        }
    }

    pub(super) fn shape(&self) -> (usize, usize) {
        (self.out, self.inner)
    }

    pub(super) fn centre(&self) -> &[T] {
        &self.centre
    }

    pub(super) fn radius(&self) -> &[T] {
        &self.radius
    }

    /// Takes new bounds.
    ///
    /// # Panics
    /// If the slices are not `out * inner` long.
    pub fn update(&mut self, lower: &[T], upper: &[T]) {
        assert_eq!(
            lower.len(),
            self.centre.len(),
            "lower weights [{}, {}]",
            self.out,
            self.inner
        );
        assert_eq!(
            upper.len(),
            self.centre.len(),
            "upper weights [{}, {}]",
            self.out,
            self.inner
        );
        let half = T::of(0.5);
        let bounds = lower.iter().zip(upper);
        for ((centre, radius), (&lower, &upper)) in self.centre.iter_mut().zip(&mut self.radius).zip(bounds) {
            *centre = half * (lower + upper);
            *radius = half * (upper - lower);
        }
    }

    /// Adds the product with a crisp tile `[in][width]` to the bounds of the outputs `[out][width]`.
    ///
    /// # Panics
    /// If a shape does not fit.
    pub fn forward_add(&self, input: &[T], lower: &mut [T], upper: &mut [T], width: usize) {
        self.assert_shapes(input, lower, upper, width);
        // SAFETY: the shapes are asserted.
        unsafe { forward(self, input, lower, upper, width) }
    }

    /// Reverse mode of [`forward_add`](Self::forward_add) for one tile: adds to the adjoint of the inputs and to that of
    /// the weights.
    ///
    /// # Panics
    /// If a shape does not fit.
    pub fn backward_add(
        &self,
        input: &[T],
        lower_adjoint: &[T],
        upper_adjoint: &[T],
        input_adjoint: &mut [T],
        weight_adjoint: &mut CentredAdjoint<T>,
        width: usize,
    ) {
        self.assert_shapes(input, lower_adjoint, upper_adjoint, width);
        assert_eq!(input_adjoint.len(), input.len(), "adjoint of the inputs");
        assert_eq!(weight_adjoint.shape(), self.shape(), "adjoint of the weights");
        weight_adjoint.add_tile(self, input, lower_adjoint, upper_adjoint, input_adjoint, width);
    }

    fn assert_shapes(&self, input: &[T], lower: &[T], upper: &[T], width: usize) {
        assert!(
            width.is_multiple_of(LANES),
            "tile width {width} is not a multiple of {LANES}"
        );
        let (inputs, outputs) = (area(self.inner, width), area(self.out, width));
        assert_eq!(input.len(), inputs, "tile of {} inputs", self.inner);
        assert_eq!(lower.len(), outputs, "lower bounds of {} outputs", self.out);
        assert_eq!(upper.len(), outputs, "upper bounds of {} outputs", self.out);
    }
}

simd_dispatch! {
    unsafe fn forward<T>(weights: &CentredWeights<T>, input: &[T], lower: &mut [T], upper: &mut [T], width: usize) = forward_body;
}

/// # Safety
/// Call it through `simd_dispatch!`, with shapes as `forward_add` asserts them.
#[inline(always)]
unsafe fn forward_body<T: Real, V: Vector<T>>(
    weights: &CentredWeights<T>,
    input: &[T],
    lower: &mut [T],
    upper: &mut [T],
    width: usize,
) {
    for sample in (0..width).step_by(2 * V::LANES) {
        let pairs = sample + 2 * V::LANES <= width;
        let mut o = 0;
        while o < weights.out {
            let rows = (weights.out - o).min(3);
            // SAFETY: `rows` rows from `o` on, and one or two registers of samples, are inside the shapes that the caller
            // vouches for, since lanes divide `width`.
            unsafe {
                match (rows, pairs) {
                    (3, true) => forward_block::<T, V, 3, 2>(weights, input, lower, upper, width, o, sample),
                    (2, true) => forward_block::<T, V, 2, 2>(weights, input, lower, upper, width, o, sample),
                    (_, true) => forward_block::<T, V, 1, 2>(weights, input, lower, upper, width, o, sample),
                    (3, false) => forward_block::<T, V, 3, 1>(weights, input, lower, upper, width, o, sample),
                    (2, false) => forward_block::<T, V, 2, 1>(weights, input, lower, upper, width, o, sample),
                    (_, false) => forward_block::<T, V, 1, 1>(weights, input, lower, upper, width, o, sample),
                }
            }
            o += rows;
        }
    }
}

/// # Safety
/// As [`forward_body`]; rows `o..o + OUT` and samples `sample..sample + N·V::LANES` are inside the tiles.
#[inline(always)]
unsafe fn forward_block<T: Real, V: Vector<T>, const OUT: usize, const N: usize>(
    weights: &CentredWeights<T>,
    input: &[T],
    lower: &mut [T],
    upper: &mut [T],
    width: usize,
    o: usize,
    sample: usize,
) {
    // SAFETY: the caller vouches for the instructions and the block; centre and radius are `[out, in]` since they were made.
    unsafe {
        let zero = V::splat(T::zero());
        let (mut centre, mut radius) = ([[zero; N]; OUT], [[zero; N]; OUT]);
        let (c, r) = (
            weights.centre.as_ptr().add(o * weights.inner),
            weights.radius.as_ptr().add(o * weights.inner),
        );
        let input = input.as_ptr().add(sample);
        for i in 0..weights.inner {
            let mut x = [zero; N];
            let mut magnitude = [zero; N];
            for n in 0..N {
                x[n] = V::load(input.add(i * width + n * V::LANES));
                magnitude[n] = x[n].max(zero.sub(x[n]));
            }
            for row in 0..OUT {
                let (c, r) = (
                    V::splat(*c.add(row * weights.inner + i)),
                    V::splat(*r.add(row * weights.inner + i)),
                );
                for n in 0..N {
                    centre[row][n] = c.mul_add(x[n], centre[row][n]);
                    radius[row][n] = r.mul_add(magnitude[n], radius[row][n]);
                }
            }
        }
        for row in 0..OUT {
            for n in 0..N {
                let place = (o + row) * width + sample + n * V::LANES;
                let at = lower.as_mut_ptr().add(place);
                V::load(at).add(centre[row][n].sub(radius[row][n])).store(at);
                let at = upper.as_mut_ptr().add(place);
                V::load(at).add(centre[row][n].add(radius[row][n])).store(at);
            }
        }
    }
}
