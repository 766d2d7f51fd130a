//! Reverse mode of [`CentredWeights`]: crisp products, once the adjoints are in centre and radius form.
//!
//! With p = ∂/∂(c·x) = h + g and q = ∂/∂(r·|x|) = h - g of the adjoints g, h of the lower and upper bounds:
//! x̄ = cᵀp + sign(x)·rᵀq, c̄ = p·xᵀ, r̄ = q·|x|ᵀ. The last two wait until there are several tiles, so that their sums
//! stay in registers from tile to tile.

use super::CentredWeights;
use super::area;
use super::matmul::{matmul_transposed, outer_add};
use crate::real::Real;
use crate::simd_dispatch;

/// Tiles that wait for their products. More would leave the second-level cache, fewer would add up more often.
const WAITING: usize = 8;

/// Adjoint of [`CentredWeights`], summed over tiles.
#[derive(Clone, Debug)]
pub struct CentredAdjoint<T> {
    out: usize,
    inner: usize,
    /// Adjoints of centres and radii `[out, in]`, of all tiles but those that wait.
    centre: Vec<T>,
    radius: Vec<T>,
    waiting: Waiting<T>,
    /// cᵀp and rᵀq of the tile at hand, `[in][width]`.
    from_centre: Vec<T>,
    from_radius: Vec<T>,
}

/// Tiles whose products with the inputs are still to be done.
#[derive(Clone, Debug, Default)]
struct Waiting<T> {
    tiles: usize,
    width: usize,
    /// p and q, `[tile][out][width]`.
    p: Vec<T>,
    q: Vec<T>,
    /// x and |x|, `[tile][in][width]`.
    x: Vec<T>,
    magnitude: Vec<T>,
}

impl<T: Real> CentredAdjoint<T> {
    /// Zero adjoint of `[out, in]` weights.
    #[must_use]
    pub fn new(out: usize, inner: usize) -> Self {
        let zeros = vec![T::zero(); area(out, inner)];
        Self {
            out,
            inner,
            centre: zeros.clone(),
            radius: zeros,
            waiting: Waiting::default(),
            from_centre: Vec::new(),
            from_radius: Vec::new(),
        }
    }

    /// `(out, in)`
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.out, self.inner)
    }

    /// Takes one tile: inputs `[in][width]` and the adjoints of the bounds `[out][width]`. The caller has checked the
    /// shapes.
    pub(super) fn add_tile(
        &mut self,
        weights: &CentredWeights<T>,
        input: &[T],
        lower_adjoint: &[T],
        upper_adjoint: &[T],
        input_adjoint: &mut [T],
        width: usize,
    ) {
        self.make_room(width);
        let (outputs, inputs) = (self.out * width, self.inner * width);
        let waiting = &mut self.waiting;
        let p = &mut waiting.p[waiting.tiles * outputs..][..outputs];
        let q = &mut waiting.q[waiting.tiles * outputs..][..outputs];
        sum_and_difference(lower_adjoint, upper_adjoint, p, q);
        let x = &mut waiting.x[waiting.tiles * inputs..][..inputs];
        x.copy_from_slice(input);
        magnitudes(input, &mut waiting.magnitude[waiting.tiles * inputs..][..inputs]);
        waiting.tiles += 1;

        matmul_transposed(weights.centre(), p, &mut self.from_centre, width);
        matmul_transposed(weights.radius(), q, &mut self.from_radius, width);
        add_with_sign(input, &self.from_centre, &self.from_radius, input_adjoint);
    }

    /// Room for one more tile of this width.
    fn make_room(&mut self, width: usize) {
        if self.waiting.width != width {
            self.multiply();
            self.waiting.width = width;
            let (outputs, inputs) = (area(self.out, width), area(self.inner, width));
            for buffer in [&mut self.waiting.p, &mut self.waiting.q] {
                buffer.resize(WAITING * outputs, T::zero());
            }
            for buffer in [&mut self.waiting.x, &mut self.waiting.magnitude] {
                buffer.resize(WAITING * inputs, T::zero());
            }
            for buffer in [&mut self.from_centre, &mut self.from_radius] {
                buffer.resize(inputs, T::zero());
            }
        }
        if self.waiting.tiles == WAITING {
            self.multiply();
        }
    }

    /// Multiplies what waits.
    fn multiply(&mut self) {
        let Waiting {
            tiles,
            width,
            ref p,
            ref q,
            ref x,
            ref magnitude,
        } = self.waiting;
        if tiles == 0 {
            return;
        }
        let (out, inner) = (self.out, self.inner);
        let (outputs, inputs) = (tiles * out * width, tiles * inner * width);
        outer_add(&p[..outputs], &x[..inputs], &mut self.centre, out, inner, width);
        outer_add(&q[..outputs], &magnitude[..inputs], &mut self.radius, out, inner, width);
        self.waiting.tiles = 0;
    }

    /// Adds the sums, as adjoints of the weights' bounds, to `lower` and `upper` (`[out, in]`) and starts again at zero.
    ///
    /// # Panics
    /// If the slices are not `out * inner` long.
    pub fn drain_into(&mut self, lower: &mut [T], upper: &mut [T]) {
        assert_eq!(lower.len(), self.centre.len(), "adjoint of the lower weights");
        assert_eq!(upper.len(), self.centre.len(), "adjoint of the upper weights");
        self.multiply();
        let half = T::of(0.5);
        let sums = self.centre.iter_mut().zip(&mut self.radius);
        for ((lower, upper), (centre, radius)) in lower.iter_mut().zip(upper).zip(sums) {
            *lower += half * (*centre - *radius);
            *upper += half * (*centre + *radius);
            (*centre, *radius) = (T::zero(), T::zero());
        }
    }
}

simd_dispatch! {
    fn sum_and_difference<T>(lower: &[T], upper: &[T], sum: &mut [T], difference: &mut [T]) = sum_and_difference_body;
}

#[inline(always)]
fn sum_and_difference_body<T: Real>(lower: &[T], upper: &[T], sum: &mut [T], difference: &mut [T]) {
    let bounds = lower.iter().zip(upper);
    for ((sum, difference), (&lower, &upper)) in sum.iter_mut().zip(difference).zip(bounds) {
        *sum = upper + lower;
        *difference = upper - lower;
    }
}

simd_dispatch! {
    fn magnitudes<T>(values: &[T], to: &mut [T]) = magnitudes_body;
}

#[inline(always)]
fn magnitudes_body<T: Real>(values: &[T], to: &mut [T]) {
    for (to, value) in to.iter_mut().zip(values) {
        *to = value.abs();
    }
}

simd_dispatch! {
    fn add_with_sign<T>(x: &[T], plain: &[T], signed: &[T], to: &mut [T]) = add_with_sign_body;
}

/// `to += plain + sign(x)·signed`
#[inline(always)]
fn add_with_sign_body<T: Real>(x: &[T], plain: &[T], signed: &[T], to: &mut [T]) {
    for ((to, x), (&plain, &signed)) in to.iter_mut().zip(x).zip(plain.iter().zip(signed)) {
        *to += if x.is_sign_negative() {
            plain - signed
        } else {
            plain + signed
        };
    }
}
