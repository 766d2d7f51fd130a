//! The few vector operations that the kernels are written in, and their portable form.

use super::LANES;
use crate::real::Real;

pub(super) mod sealed {
    pub trait Sealed {}
}

/// `LANES` numbers of type `T` in one register.
///
/// Sealed: the kernels rely on its constant, and on methods that do what they say, for memory safety.
///
/// # Safety
/// Methods may use instructions that only [`simd_dispatch!`](crate::simd_dispatch) has checked for: call them from a
/// body that it runs, nowhere else.
pub trait Vector<T>: Copy + sealed::Sealed {
    /// Numbers per register: a power of two, at least 4, that divides [`LANES`](super::LANES).
    const LANES: usize;

    /// Registers that the instruction set has; kernels that keep more sums than these hold would spill them.
    const REGISTERS: usize;

    /// A register of four numbers, for data that fill no longer one; it rounds as this one does.
    type Quad: Quad<T>;

    /// All lanes equal.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn splat(value: T) -> Self;

    /// Reads `LANES` numbers.
    ///
    /// # Safety
    /// `LANES` numbers must be readable at `from`; and see the trait.
    unsafe fn load(from: *const T) -> Self;

    /// Writes `LANES` numbers.
    ///
    /// # Safety
    /// `LANES` numbers must be writable at `to`; and see the trait.
    unsafe fn store(self, to: *mut T);

    /// `self + other`
    ///
    /// # Safety
    /// See the trait.
    unsafe fn add(self, other: Self) -> Self;

    /// `self - other`
    ///
    /// # Safety
    /// See the trait.
    unsafe fn sub(self, other: Self) -> Self;

    /// `self · other`
    ///
    /// # Safety
    /// See the trait.
    unsafe fn mul(self, other: Self) -> Self;

    /// `self / other`
    ///
    /// # Safety
    /// See the trait.
    unsafe fn div(self, other: Self) -> Self;

    /// `self · other + sum`, rounded once where the processor can.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn mul_add(self, other: Self, sum: Self) -> Self;

    /// `sum - self · other`, rounded once where the processor can.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn mul_sub_from(self, other: Self, sum: Self) -> Self;

    /// The larger number; `other` where either is NaN.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn max(self, other: Self) -> Self;

    /// The smaller number; `other` where either is NaN.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn min(self, other: Self) -> Self;

    /// `then` in the lanes where `self > other`, `otherwise` elsewhere.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn select_greater(self, other: Self, then: Self, otherwise: Self) -> Self;

    /// `then` in the lanes where the sign bit of `self` is set, `otherwise` elsewhere.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn select_negative(self, then: Self, otherwise: Self) -> Self;

    /// The sum of all lanes: the upper half is added to the lower one until a single number is left.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn sum(self) -> T;
}

/// Four numbers in one register.
///
/// # Safety
/// As [`Vector`].
pub trait Quad<T>: Vector<T> {
    /// The last two numbers in front of the first two.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn swap_halves(self) -> Self;
}

/// Arrays that the compiler turns into whatever registers the architecture always has.
#[derive(Clone, Copy, Debug)]
pub struct Portable<T>([T; 4]);

const _: () = assert_lanes(4);

/// What the kernels rely on, checked when they are compiled.
pub(super) const fn assert_lanes(lanes: usize) {
    assert!(lanes >= 4 && lanes.is_power_of_two() && LANES.is_multiple_of(lanes));
}

impl<T> sealed::Sealed for Portable<T> {}

impl<T: Real> Portable<T> {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        Self(core::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }
}

impl<T: Real> Vector<T> for Portable<T> {
    const LANES: usize = 4;
    const REGISTERS: usize = 16;
    type Quad = Self;

    #[inline(always)]
    unsafe fn splat(value: T) -> Self {
        Self([value; 4])
    }

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller vouches for four readable numbers.
        Self(unsafe { from.cast::<[T; 4]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller vouches for four writable numbers.
        unsafe { to.cast::<[T; 4]>().write(self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }

    #[inline(always)]
    unsafe fn mul_add(self, other: Self, sum: Self) -> Self {
        Self(core::array::from_fn(|lane| {
            portable_mul_add(self.0[lane], other.0[lane], sum.0[lane])
        }))
    }

    #[inline(always)]
    unsafe fn mul_sub_from(self, other: Self, sum: Self) -> Self {
        Self(core::array::from_fn(|lane| {
            portable_mul_add(-self.0[lane], other.0[lane], sum.0[lane])
        }))
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    unsafe fn select_greater(self, other: Self, then: Self, otherwise: Self) -> Self {
        Self(core::array::from_fn(|lane| {
            if self.0[lane] > other.0[lane] {
                then.0[lane]
            } else {
                otherwise.0[lane]
            }
        }))
    }

    #[inline(always)]
    unsafe fn select_negative(self, then: Self, otherwise: Self) -> Self {
        Self(core::array::from_fn(|lane| {
            if self.0[lane].is_sign_negative() {
                then.0[lane]
            } else {
                otherwise.0[lane]
            }
        }))
    }

    #[inline(always)]
    unsafe fn sum(self) -> T {
        let [a, b, c, d] = self.0;
        (a + c) + (b + d)
    }
}

impl<T: Real> Quad<T> for Portable<T> {
    #[inline(always)]
    unsafe fn swap_halves(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([c, d, a, b])
    }
}

/// Fused only where that is one instruction of every processor of the architecture; a library call would cost a
/// hundred times a product and a sum.
#[inline(always)]
fn portable_mul_add<T: Real>(a: T, b: T, c: T) -> T {
    if cfg!(target_arch = "aarch64") {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}
