//! The inner loops: batches of samples against weights, with their reverse mode.
//!
//! **Layout.** A *tile* holds one value per channel and sample, channel-major: `tile[channel * width + sample]`, and
//! `width` is a multiple of [`LANES`], so samples fill SIMD registers whatever the layer sizes are. A batch is a
//! sequence of tiles; the weights stay in cache from one tile to the next. Unused samples of the last tile are padding:
//! their adjoints must be zero. Weights are row-major `[out, in]`.
//!
//! **Reproducibility.** The order of every sum depends on shapes and weights only, so a kernel gives the same bits on
//! every call at one [`SimdLevel`]. Levels differ by fused rounding: the results agree to `in * epsilon` relative to the sum
//! of the magnitudes of the terms.
//!
//! Shapes are asserted at entry; a failed assertion is a caller's bug, not bad input.

mod activation;
mod centred_adjoint;
mod centred_product;
mod dispatch;
mod elementwise;
mod interval_product;
mod level;
mod matmul;
mod one_sample;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use activation::{TANH_DENOMINATOR, TANH_ERROR_F32, TANH_NUMERATOR, sigmoid, tanh};
pub(crate) use activation::{each_lane, sigmoid_f32, sigmoid_f64, tanh_f32};
pub use centred_adjoint::CentredAdjoint;
pub use centred_product::CentredWeights;
pub use elementwise::product;
pub use interval_product::{IntervalWeights, WeightAdjoint};
pub use level::{SimdLevel, with_level};
pub use matmul::{
    affine, fill_channels, matmul_add, matmul_transposed, matmul_transposed_add, outer_add, sum_channels_add,
};
pub use one_sample::{CentredColumns, IntervalRows};
pub use vector::{Portable, Quad, Vector};
#[cfg(target_arch = "x86_64")]
pub use x86::{F32x4, F32x8, F32x16, F64x4, F64x8};

/// Widths of tiles are multiples of this many samples: one AVX-512 register of `f32`.
pub const LANES: usize = 16;

/// Numbers of a `rows` by `columns` matrix or tile. Lengths are compared with this product, so it must not wrap around.
#[inline]
fn area(rows: usize, columns: usize) -> usize {
    rows.checked_mul(columns)
        .unwrap_or_else(|| panic!("a shape of {rows} by {columns} numbers does not fit into memory"))
}

/// The tile width that holds `samples` samples.
#[must_use]
pub const fn padded(samples: usize) -> usize {
    samples.div_ceil(LANES) * LANES
}
