//! Loops over lanes, compiled once per instruction set.
//!
//! Plain loops over arrays will not do: the compiler turns a loop over [`Lane`]s into one that gathers a number from each of eight
//! lanes, several times slower than lane by lane.

use std::marker::PhantomData;

use intervalid_interval::kernel::{TANH_DENOMINATOR, TANH_NUMERATOR, Vector};

use super::lanes::{LANES, Lane};

/// Arithmetic on lanes in the registers `V`. Who has one runs code compiled for their instructions, on a processor that has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simd<V>(PhantomData<V>);

/// A lane as the registers that hold it. No pointer to it is taken: where checks are on, the compiler would compare the pointer with
/// others and keep the lane in memory.
#[repr(C)]
union Registers<V: Copy> {
    lane: Lane,
    one: V,
    two: [V; 2],
}

impl<V: Vector<f64>> Registers<V> {
    /// A lane is one register or two, and nothing else fits the union.
    const IS_ONE: bool = {
        assert!(V::LANES == LANES || 2 * V::LANES == LANES);
        assert!(size_of::<V>() == V::LANES * size_of::<f64>());
        V::LANES == LANES
    };
}

/// A method of [`Simd`] that works register by register.
macro_rules! by_register {
    ($(#[$meta:meta])* fn $name:ident($($argument:ident),+) = $expression:expr;) => {
        $(#[$meta])*
        #[inline(always)]
        pub(crate) fn $name(self, $($argument: Lane),+) -> Lane {
            $(let $argument = Registers::<V> { lane: $argument };)+
            // SAFETY: a lane is as many numbers as the registers read here, any of which are sound; who made this value vouches for
            // the instructions.
            unsafe {
                if Registers::<V>::IS_ONE {
                    $(let $argument = $argument.one;)+
                    Registers { one: $expression }.lane
                } else {
                    let first = {
                        $(let $argument = $argument.two[0];)+
                        $expression
                    };
                    let second = {
                        $(let $argument = $argument.two[1];)+
                        $expression
                    };
                    Registers { two: [first, second] }.lane
                }
            }
        }
    };
}

impl<V: Vector<f64>> Simd<V> {
    /// # Safety
    /// The processor has the instructions of `V`, and the function that calls this is compiled for them.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(PhantomData)
    }

    by_register! {
        /// sum + a b, in one rounding where the instruction exists.
        fn add_product(sum, a, b) = a.mul_add(b, sum);
    }

    by_register! {
        /// a b
        fn product(a, b) = a.mul(b);
    }

    by_register! {
        /// a + b
        fn sum(a, b) = a.add(b);
    }

    by_register! {
        /// a - b
        fn difference(a, b) = a.sub(b);
    }

    by_register! {
        /// a / b
        fn quotient(a, b) = a.div(b);
    }

    by_register! {
        /// The smaller of `limit` and a; NaN stays NaN.
        fn at_most(a, limit) = limit.min(a);
    }

    by_register! {
        /// The larger of `limit` and a; NaN stays NaN.
        fn at_least(a, limit) = limit.max(a);
    }

    by_register! {
        /// |a|
        fn magnitude(a) = a.max(V::splat(0.0).sub(a));
    }

    by_register! {
        /// A number that is not negative, with the sign of another.
        fn with_sign(a, sign) = sign.select_negative(a.mul(V::splat(-1.0)), a);
    }

    /// a within ± `range`; NaN stays NaN.
    #[inline(always)]
    pub(crate) fn within(self, a: Lane, range: f64) -> Lane {
        self.at_least(self.at_most(a, Lane::splat(range)), Lane::splat(-range))
    }

    /// Horner's rule, constant term first.
    #[inline(always)]
    pub(crate) fn polynomial<const N: usize>(self, x: Lane, coefficients: [f64; N]) -> Lane {
        let mut sum = Lane::splat(coefficients[N - 1]);
        let mut at = N - 1;
        while at > 0 {
            at -= 1;
            sum = self.add_product(Lane::splat(coefficients[at]), sum, x);
        }
        sum
    }

    /// tanh within 1e-6: x P(x²) / Q(x²) with the polynomials of the single-precision kernels, plenty for first-order steps.
    #[inline(always)]
    pub(crate) fn rough_tanh(self, x: Lane) -> Lane {
        let x = self.within(x, 8.0);
        let square = self.product(x, x);
        let top = self.product(self.polynomial(square, TANH_NUMERATOR.map(f64::from)), x);
        self.quotient(top, self.polynomial(square, TANH_DENOMINATOR.map(f64::from)))
    }
}

/// Defines a function that runs an `#[inline(always)]` body compiled for the instructions found at run time; the body's first
/// argument is the [`Simd`] of their registers.
macro_rules! per_level {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $body:ident;) => {
        $(#[$meta])*
        $visibility fn $name($($argument: $type),*) {
            use intervalid_interval::SimdLevel;
            use intervalid_interval::kernel::Portable;
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($argument: $type),*) {
                // SAFETY: these instructions are enabled here, and callers vouch for the processor.
                let simd = unsafe { $crate::state_space::levels::Simd::<intervalid_interval::kernel::F64x4>::new() };
                $body(simd, $($argument),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
            fn avx512($($argument: $type),*) {
                // SAFETY: as above.
                let simd = unsafe { $crate::state_space::levels::Simd::<intervalid_interval::kernel::F64x8>::new() };
                $body(simd, $($argument),*);
            }
            match SimdLevel::current() {
                // SAFETY: `SimdLevel::current` only returns levels that this processor offers.
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx2 => unsafe { avx2($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx512 => unsafe { avx512($($argument),*) },
                _ => {
                    // SAFETY: every processor runs the portable form.
                    let simd = unsafe { $crate::state_space::levels::Simd::<Portable<f64>>::new() };
                    $body(simd, $($argument),*);
                }
            }
        }
    };
}

pub(crate) use per_level;

#[cfg(test)]
mod tests {
    use intervalid_interval::kernel::{SimdLevel, with_level};

    use super::*;

    per_level! {
        fn rough(values: &mut [Lane]) = rough_body;
    }

    #[inline(always)]
    fn rough_body<V: Vector<f64>>(simd: Simd<V>, values: &mut [Lane]) {
        values.iter_mut().for_each(|value| *value = simd.rough_tanh(*value));
    }

    #[test]
    fn the_rough_tanh_keeps_its_error_bound() {
        for &level in SimdLevel::available() {
            with_level(level, || {
                for index in -1000..=1000 {
                    let x = 0.012 * f64::from(index);
                    let mut found = [Lane::splat(x)];
                    rough(&mut found);
                    let worst = found[0]
                        .0
                        .iter()
                        .map(|found| (found - x.tanh()).abs())
                        .fold(0.0, f64::max);
                    assert!(worst < 1e-6, "{level:?} {x}: {found:?}");
                }
                let mut found = [Lane::splat(f64::NAN)];
                rough(&mut found);
                assert!(found[0].0.iter().all(|found| found.is_nan()));
            });
        }
    }
}
