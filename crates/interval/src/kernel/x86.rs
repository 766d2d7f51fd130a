//! [`Vector`] on AVX2 with FMA and on AVX-512.

use core::arch::x86_64::*;

use super::vector::{Quad, Vector, assert_lanes, sealed};

/// # Safety
/// The processor has these instructions.
#[inline(always)]
unsafe fn halves_4(x: __m128) -> f32 {
    // SAFETY: passed on to the caller.
    unsafe {
        let pair = _mm_add_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_add_ss(pair, _mm_shuffle_ps::<1>(pair, pair)))
    }
}

/// # Safety
/// The processor has these instructions.
#[inline(always)]
unsafe fn halves_4_double(x: __m256d) -> f64 {
    // SAFETY: passed on to the caller.
    unsafe {
        let pair = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
        _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)))
    }
}

/// The intrinsics of one register type differ from the next one's by prefix and suffix only.
macro_rules! vector {
    ($name:ident, $quad:ident, $scalar:ty, $register:ty, $lanes:literal, $registers:literal, $splat:ident, $load:ident, $store:ident, $add:ident,
     $sub:ident, $mul:ident, $div:ident, $fmadd:ident, $fnmadd:ident, $max:ident, $min:ident, $greater:expr, $negative:expr,
     $sum:expr) => {
        #[doc = concat!(stringify!($lanes), " numbers of type `", stringify!($scalar), "`.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name($register);

        const _: () = assert_lanes($lanes);
        const _: () = assert!(size_of::<$name>() == $lanes * size_of::<$scalar>());

        impl sealed::Sealed for $name {}

        impl Vector<$scalar> for $name {
            const LANES: usize = $lanes;
            const REGISTERS: usize = $registers;
            type Quad = $quad;

            #[inline(always)]
            unsafe fn splat(value: $scalar) -> Self {
                // SAFETY: the caller vouches for these instructions.
                Self(unsafe { $splat(value) })
            }

            #[inline(always)]
            unsafe fn load(from: *const $scalar) -> Self {
                // SAFETY: the caller vouches for these instructions and for a register of readable numbers; no alignment is needed.
                Self(unsafe { $load(from) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $scalar) {
                // SAFETY: the caller vouches for these instructions and for a register of writable numbers; no alignment is needed.
                unsafe { $store(to, self.0) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: the caller vouches for these instructions.
                Self(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                // SAFETY: the caller vouches for these instructions.
                Self(unsafe { $sub(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                // SAFETY: the caller vouches for these instructions.
                Self(unsafe { $mul(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn div(self, other: Self) -> Self {
                // SAFETY: the caller vouches for these instructions.
                Self(unsafe { $div(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn mul_add(self, other: Self, sum: Self) -> Self {
                // SAFETY: the caller vouches for these instructions.
                Self(unsafe { $fmadd(self.0, other.0, sum.0) })
            }

            #[inline(always)]
            unsafe fn mul_sub_from(self, other: Self, sum: Self) -> Self {
                // SAFETY: the caller vouches for these instructions.
                Self(unsafe { $fnmadd(self.0, other.0, sum.0) })
            }

            #[inline(always)]
            unsafe fn max(self, other: Self) -> Self {
                // SAFETY: the caller vouches for these instructions.
                Self(unsafe { $max(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn min(self, other: Self) -> Self {
                // SAFETY: the caller vouches for these instructions.
                Self(unsafe { $min(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn select_greater(self, other: Self, then: Self, otherwise: Self) -> Self {
                // SAFETY: the caller vouches for these instructions.
                Self(unsafe { $greater(self.0, other.0, then.0, otherwise.0) })
            }

            #[inline(always)]
            unsafe fn select_negative(self, then: Self, otherwise: Self) -> Self {
                // SAFETY: the caller vouches for these instructions.
                Self(unsafe { $negative(self.0, then.0, otherwise.0) })
            }

            #[inline(always)]
            unsafe fn sum(self) -> $scalar {
                // SAFETY: the caller vouches for these instructions.
                unsafe { $sum(self.0) }
            }
        }
    };
}

vector!(
    F32x4,
    F32x4,
    f32,
    __m128,
    4,
    16,
    _mm_set1_ps,
    _mm_loadu_ps,
    _mm_storeu_ps,
    _mm_add_ps,
    _mm_sub_ps,
    _mm_mul_ps,
    _mm_div_ps,
    _mm_fmadd_ps,
    _mm_fnmadd_ps,
    _mm_max_ps,
    _mm_min_ps,
    |a, b, then, otherwise| _mm_blendv_ps(otherwise, then, _mm_cmp_ps::<_CMP_GT_OQ>(a, b)),
    |sign, then, otherwise| _mm_blendv_ps(otherwise, then, sign),
    |x| halves_4(x)
);
vector!(
    F32x8,
    F32x4,
    f32,
    __m256,
    8,
    16,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_mul_ps,
    _mm256_div_ps,
    _mm256_fmadd_ps,
    _mm256_fnmadd_ps,
    _mm256_max_ps,
    _mm256_min_ps,
    |a, b, then, otherwise| _mm256_blendv_ps(otherwise, then, _mm256_cmp_ps::<_CMP_GT_OQ>(a, b)),
    |sign, then, otherwise| _mm256_blendv_ps(otherwise, then, sign),
    |x| halves_4(_mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x)))
);
vector!(
    F64x4,
    F64x4,
    f64,
    __m256d,
    4,
    16,
    _mm256_set1_pd,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_add_pd,
    _mm256_sub_pd,
    _mm256_mul_pd,
    _mm256_div_pd,
    _mm256_fmadd_pd,
    _mm256_fnmadd_pd,
    _mm256_max_pd,
    _mm256_min_pd,
    |a, b, then, otherwise| _mm256_blendv_pd(otherwise, then, _mm256_cmp_pd::<_CMP_GT_OQ>(a, b)),
    |sign, then, otherwise| _mm256_blendv_pd(otherwise, then, sign),
    |x| halves_4_double(x)
);
vector!(
    F32x16,
    F32x4,
    f32,
    __m512,
    16,
    32,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps,
    _mm512_div_ps,
    _mm512_fmadd_ps,
    _mm512_fnmadd_ps,
    _mm512_max_ps,
    _mm512_min_ps,
    |a, b, then, otherwise| _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b), otherwise, then),
    |sign, then, otherwise| _mm512_mask_blend_ps(_mm512_movepi32_mask(_mm512_castps_si512(sign)), otherwise, then),
    |x| {
        let eight = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps::<1>(x));
        halves_4(_mm_add_ps(
            _mm256_castps256_ps128(eight),
            _mm256_extractf128_ps::<1>(eight),
        ))
    }
);
vector!(
    F64x8,
    F64x4,
    f64,
    __m512d,
    8,
    32,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_mul_pd,
    _mm512_div_pd,
    _mm512_fmadd_pd,
    _mm512_fnmadd_pd,
    _mm512_max_pd,
    _mm512_min_pd,
    |a, b, then, otherwise| _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_GT_OQ>(a, b), otherwise, then),
    |sign, then, otherwise| _mm512_mask_blend_pd(_mm512_movepi64_mask(_mm512_castpd_si512(sign)), otherwise, then),
    |x| halves_4_double(_mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd::<1>(x)))
);

impl Quad<f32> for F32x4 {
    #[inline(always)]
    unsafe fn swap_halves(self) -> Self {
        // SAFETY: the caller vouches for these instructions.
        Self(unsafe { _mm_shuffle_ps::<0b01_00_11_10>(self.0, self.0) })
    }
}

impl Quad<f64> for F64x4 {
    #[inline(always)]
    unsafe fn swap_halves(self) -> Self {
        // SAFETY: the caller vouches for these instructions.
        Self(unsafe { _mm256_permute2f128_pd::<1>(self.0, self.0) })
    }
}
