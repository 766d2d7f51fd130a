//! Loops over lanes, compiled once per instruction set.
//!
//! Plain loops over arrays will not do: the compiler turns a loop over [`Lane`]s into one that gathers a number from each of eight
//! lanes, several times slower than lane by lane.

use std::marker::PhantomData;

use intervalid_interval::Real;
use intervalid_interval::kernel::Vector;

use super::lanes::Lane;

/// Arithmetic on lanes in the registers `V`. Who has one runs code compiled for their instructions, on a processor that has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simd<V>(PhantomData<V>);

/// A lane as the registers that hold it. No pointer to it is taken: where checks are on, the compiler would compare the pointer with
/// others and keep the lane in memory.
#[repr(C)]
union Registers<T: Copy, V: Copy, const N: usize> {
    lane: Lane<T, N>,
    one: V,
    two: [V; 2],
    four: [V; 4],
}

impl<T: Real, V: Vector<T>, const N: usize> Registers<T, V, N> {
    /// Registers of a lane: one, two or four, and nothing else fits the union.
    const COUNT: usize = {
        let count = N / V::LANES;
        assert!(count * V::LANES == N && (count == 1 || count == 2 || count == 4));
        assert!(size_of::<V>() == V::LANES * size_of::<T>());
        count
    };
}

/// A method of [`Simd`] that works register by register.
macro_rules! by_register {
    ($(#[$meta:meta])* fn $name:ident($($argument:ident),+) = $expression:expr;) => {
        $(#[$meta])*
        #[inline(always)]
        pub(crate) fn $name<T: Real, const N: usize>(self, $($argument: Lane<T, N>),+) -> Lane<T, N>
        where
            V: Vector<T>,
        {
            $(let $argument = Registers::<T, V, N> { lane: $argument };)+
            // SAFETY: a lane is as many numbers as the registers read here, any of which are sound; who made this value vouches for
            // the instructions.
            unsafe {
                match Registers::<T, V, N>::COUNT {
                    1 => {
                        $(let $argument = $argument.one;)+
                        Registers { one: $expression }.lane
                    }
                    2 => {
                        by_register!(@at two 0, first, ($($argument),+), $expression);
                        by_register!(@at two 1, second, ($($argument),+), $expression);
                        Registers { two: [first, second] }.lane
                    }
                    _ => {
                        by_register!(@at four 0, first, ($($argument),+), $expression);
                        by_register!(@at four 1, second, ($($argument),+), $expression);
                        by_register!(@at four 2, third, ($($argument),+), $expression);
                        by_register!(@at four 3, fourth, ($($argument),+), $expression);
                        Registers { four: [first, second, third, fourth] }.lane
                    }
                }
            }
        }
    };
    (@at $field:ident $place:literal, $name:ident, ($($argument:ident),+), $expression:expr) => {
        let $name = {
            $(let $argument = $argument.$field[$place];)+
            $expression
        };
    };
}

impl<V> Simd<V> {
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
        fn magnitude(a) = a.max(V::splat(T::zero()).sub(a));
    }

    by_register! {
        /// A number that is not negative, with the sign of another.
        fn with_sign(a, sign) = sign.select_negative(a.mul(V::splat(-T::one())), a);
    }

    by_register! {
        /// tanh as the kernels compute it.
        fn tanh(x) = T::tanh_lanes(x);
    }

    /// a within ± `range`; NaN stays NaN.
    #[inline(always)]
    pub(crate) fn within<T: Real, const N: usize>(self, a: Lane<T, N>, range: T) -> Lane<T, N>
    where
        V: Vector<T>,
    {
        self.at_least(self.at_most(a, Lane::splat(range)), Lane::splat(-range))
    }

    /// Horner's rule, constant term first.
    #[inline(always)]
    pub(crate) fn polynomial<T: Real, const N: usize, const TERMS: usize>(
        self,
        x: Lane<T, N>,
        coefficients: [T; TERMS],
    ) -> Lane<T, N>
    where
        V: Vector<T>,
    {
        let mut sum = Lane::splat(coefficients[TERMS - 1]);
        let mut at = TERMS - 1;
        while at > 0 {
            at -= 1;
            sum = self.add_product(Lane::splat(coefficients[at]), sum, x);
        }
        sum
    }
}

/// Defines a function that runs an `#[inline(always)]` body compiled for the instructions found at run time; the body's first
/// argument is the [`Simd`] of their registers of numbers of a type.
macro_rules! per_level {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $body:ident in $real:ty;) => {
        $(#[$meta])*
        $visibility fn $name($($argument: $type),*) {
            use intervalid_interval::kernel::Portable;
            use intervalid_interval::{Real, SimdLevel};
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($argument: $type),*) {
                // SAFETY: these instructions are enabled here, and callers vouch for the processor.
                let simd = unsafe { $crate::state_space::levels::Simd::<<$real as Real>::Avx2>::new() };
                $body(simd, $($argument),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
            fn avx512($($argument: $type),*) {
                // SAFETY: as above.
                let simd = unsafe { $crate::state_space::levels::Simd::<<$real as Real>::Avx512>::new() };
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
                    let simd = unsafe { $crate::state_space::levels::Simd::<Portable<$real>>::new() };
                    $body(simd, $($argument),*);
                }
            }
        }
    };
}

pub(crate) use per_level;
