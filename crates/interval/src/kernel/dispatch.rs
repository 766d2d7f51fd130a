//! One generic loop body, compiled once per [`SimdLevel`](super::SimdLevel).

/// Defines a function that runs an `#[inline(always)]` body compiled for the instruction set found at run time.
///
/// The body is generic over the number type and its [`Vector`](crate::kernel::Vector). One that calls the methods of the
/// vector is an `unsafe fn`, since only the right instruction set makes them sound; so is the function then. What it asks
/// of its callers beyond that is the body's own contract (as a rule: lengths), which a safe function asserts at entry.
/// The body of a safe function is a plain loop that leaves vectors to the compiler.
///
/// ```
/// use intervalid_interval::kernel::Vector;
/// use intervalid_interval::{Real, simd_dispatch};
///
/// /// y ← a·x + y
/// fn axpy<T: Real>(a: T, x: &[T], y: &mut [T]) {
///     assert!(x.len() == y.len() && x.len().is_multiple_of(16));
///     // SAFETY: the lengths are those that the body asks for.
///     unsafe { axpy_dispatched(a, x, y) }
/// }
///
/// simd_dispatch! {
///     unsafe fn axpy_dispatched<T>(a: T, x: &[T], y: &mut [T]) = axpy_body;
/// }
///
/// /// # Safety
/// /// Call it through `simd_dispatch!`; the slices are equally long, and whole registers.
/// #[inline(always)]
/// unsafe fn axpy_body<T: Real, V: Vector<T>>(a: T, x: &[T], y: &mut [T]) {
///     for place in (0..x.len()).step_by(V::LANES) {
///         // SAFETY: a register from `place` on is inside both slices.
///         unsafe {
///             let at = y.as_mut_ptr().add(place);
///             V::splat(a).mul_add(V::load(x.as_ptr().add(place)), V::load(at)).store(at);
///         }
///     }
/// }
///
/// let mut y = [1.0; 16];
/// axpy(2.0, &[10.0; 16], &mut y);
/// assert_eq!(y, [21.0; 16]);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! simd_dispatch {
    ($(#[$meta:meta])* $visibility:vis unsafe fn $name:ident<T>($($argument:ident: $type:ty),* $(,)?) = $body:ident;) => {
        $(#[$meta])*
        #[expect(clippy::allow_attributes, reason = "the lint below fires for some argument lists only")]
        #[allow(clippy::too_many_arguments)]
        #[inline]
        $visibility unsafe fn $name<T: $crate::Real>($($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[allow(clippy::too_many_arguments)]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2<T: $crate::Real>($($argument: $type),*) {
                // SAFETY: the register's instructions are enabled here; the body's contract is passed on to the caller.
                unsafe { $body::<T, T::Avx2>($($argument),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[allow(clippy::too_many_arguments)]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
            unsafe fn avx512<T: $crate::Real>($($argument: $type),*) {
                // SAFETY: the register's instructions are enabled here; the body's contract is passed on to the caller.
                unsafe { $body::<T, T::Avx512>($($argument),*) }
            }
            match $crate::kernel::SimdLevel::current() {
                // SAFETY: `SimdLevel::current` only returns levels that this processor offers; the body's contract is
                // passed on to the caller.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::SimdLevel::Avx2 => unsafe { avx2::<T>($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::SimdLevel::Avx512 => unsafe { avx512::<T>($($argument),*) },
                // SAFETY: every processor runs the portable form; the body's contract is passed on to the caller.
                _ => unsafe { $body::<T, $crate::kernel::Portable<T>>($($argument),*) },
            }
        }
    };
    ($(#[$meta:meta])* $visibility:vis fn $name:ident<T>($($argument:ident: $type:ty),* $(,)?) = $body:ident;) => {
        $(#[$meta])*
        #[expect(clippy::allow_attributes, reason = "the lint below fires for some argument lists only")]
        #[allow(clippy::too_many_arguments)]
        #[inline]
        $visibility fn $name<T: $crate::Real>($($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[allow(clippy::too_many_arguments)]
            #[target_feature(enable = "avx2,fma")]
            fn avx2<T: $crate::Real>($($argument: $type),*) {
                $body::<T>($($argument),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[allow(clippy::too_many_arguments)]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
            fn avx512<T: $crate::Real>($($argument: $type),*) {
                $body::<T>($($argument),*);
            }
            match $crate::kernel::SimdLevel::current() {
                // SAFETY: `SimdLevel::current` only returns levels that this processor offers.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::SimdLevel::Avx2 => unsafe { avx2::<T>($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::SimdLevel::Avx512 => unsafe { avx512::<T>($($argument),*) },
                _ => $body::<T>($($argument),*),
            }
        }
    };
}
