//! One generic loop body, compiled once per [`SimdLevel`](super::SimdLevel).

/// Defines a function that runs an `#[inline(always)]` body compiled for the instruction set found at run time.
///
/// The body is generic over the number type and its [`Vector`](crate::kernel::Vector).
///
/// ```
/// use intervalid_interval::kernel::Vector;
/// use intervalid_interval::{Real, simd_dispatch};
///
/// #[inline(always)]
/// fn axpy_body<T: Real, V: Vector<T>>(a: T, x: &[T], y: &mut [T]) {
///     assert!(x.len() == y.len() && x.len() % V::LANES == 0);
///     for place in (0..x.len()).step_by(V::LANES) {
///         // SAFETY: `place + V::LANES` is inside both slices, and `simd_dispatch!` runs this body.
///         unsafe {
///             let sum = V::splat(a).mul_add(V::load(&x[place]), V::load(&y[place]));
///             sum.store(&mut y[place]);
///         }
///     }
/// }
///
/// simd_dispatch! {
///     /// y ← a·x + y
///     pub fn axpy<T>(a: T, x: &[T], y: &mut [T]) = axpy_body;
/// }
///
/// let mut y = [1.0; 16];
/// axpy(2.0, &[10.0; 16], &mut y);
/// assert_eq!(y, [21.0; 16]);
/// ```
#[macro_export]
macro_rules! simd_dispatch {
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
                $body::<T, T::Avx2>($($argument),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[allow(clippy::too_many_arguments)]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
            fn avx512<T: $crate::Real>($($argument: $type),*) {
                $body::<T, T::Avx512>($($argument),*);
            }
            match $crate::kernel::SimdLevel::current() {
                // SAFETY: `SimdLevel::current` only returns levels that this processor offers.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::SimdLevel::Avx2 => unsafe { avx2::<T>($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::SimdLevel::Avx512 => unsafe { avx512::<T>($($argument),*) },
                _ => $body::<T, $crate::kernel::Portable<T>>($($argument),*),
            }
        }
    };
}
