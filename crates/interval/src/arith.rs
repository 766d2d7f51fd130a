//! Sum, difference, product and square of intervals in ordinary rounding.

use core::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::{Interval, Real};

/// End-point product with `0 * inf = 0`: the operands are never NaN, so NaN can only mean that case.
#[inline]
fn times<T: Real>((left, right): (T, T)) -> T {
    let product = left * right;
    if product.is_nan() { T::zero() } else { product }
}

/// Where a set lies relative to zero; decides which end-point products bound a product.
#[derive(Clone, Copy)]
enum SignCase {
    /// `inf >= 0`
    NonNegative,
    /// `sup <= 0` and not `NonNegative`
    NonPositive,
    /// `inf < 0 < sup`
    Straddling,
}

impl SignCase {
    #[inline]
    fn of<T: Real>(lower: T, upper: T) -> Self {
        if lower >= T::zero() {
            Self::NonNegative
        } else if upper <= T::zero() {
            Self::NonPositive
        } else {
            Self::Straddling
        }
    }
}

/// Which end-point products are the ends of a product of sets.
pub(crate) enum ExtremeProducts<T> {
    /// The signs decide: the factors of the least and of the greatest product.
    Decided { least: (T, T), greatest: (T, T) },
    /// Both sets straddle zero: the values decide, two candidates for each end.
    Candidates { least: [(T, T); 2], greatest: [(T, T); 2] },
}

/// With a = [a, A] and b = [b, B] (capital: upper end), the least and the greatest of the four end-point products
/// ab, aB, Ab, AB by sign (Moore, Kearfott and Cloud 2009, ch. 2):
///
/// ```text
///             |  b >= 0   |  B <= 0   |  b < 0 < B
/// ------------+-----------+-----------+---------------------------
/// a >= 0      |  ab, AB   |  Ab, aB   |  Ab, AB
/// A <= 0      |  aB, Ab   |  AB, ab   |  aB, ab
/// a < 0 < A   |  aB, AB   |  Ab, ab   |  min(aB, Ab), max(ab, AB)
/// ```
#[inline]
pub(crate) fn extreme_products<T: Real>((al, au): (T, T), (bl, bu): (T, T)) -> ExtremeProducts<T> {
    use SignCase::{NonNegative, NonPositive, Straddling};
    let (least, greatest) = match (SignCase::of(al, au), SignCase::of(bl, bu)) {
        (NonNegative, NonNegative) => ((al, bl), (au, bu)),
        (NonNegative, NonPositive) => ((au, bl), (al, bu)),
        (NonNegative, Straddling) => ((au, bl), (au, bu)),
        (NonPositive, NonNegative) => ((al, bu), (au, bl)),
        (NonPositive, NonPositive) => ((au, bu), (al, bl)),
        (NonPositive, Straddling) => ((al, bu), (al, bl)),
        (Straddling, NonNegative) => ((al, bu), (au, bu)),
        (Straddling, NonPositive) => ((au, bl), (al, bl)),
        (Straddling, Straddling) => {
            return ExtremeProducts::Candidates {
                least: [(al, bu), (au, bl)],
                greatest: [(al, bl), (au, bu)],
            };
        }
    };
    ExtremeProducts::Decided { least, greatest }
}

impl<T: Real> Add for Interval<T> {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self::from_ends(self.inf() + other.inf(), self.sup() + other.sup())
    }
}

impl<T: Real> Sub for Interval<T> {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self::from_ends(self.inf() - other.sup(), self.sup() - other.inf())
    }
}

impl<T: Real> Neg for Interval<T> {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self::from_ends(-self.sup(), -self.inf())
    }
}

impl<T: Real> Mul for Interval<T> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        match extreme_products((self.inf(), self.sup()), (other.inf(), other.sup())) {
            ExtremeProducts::Decided { least, greatest } => Self::from_ends(times(least), times(greatest)),
            ExtremeProducts::Candidates { least, greatest } => Self::from_ends(
                times(least[0]).min(times(least[1])),
                times(greatest[0]).max(times(greatest[1])),
            ),
        }
    }
}

impl<T: Real> Interval<T> {
    /// The set of squares; narrower than `self * self`, whose operands would vary independently.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// let x = Interval::new(-1.0, 2.0)?;
    /// assert_eq!(x.square(), Interval::new(0.0, 4.0)?);
    /// assert_eq!(x * x, Interval::new(-2.0, 4.0)?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn square(self) -> Self {
        let (mig, mag) = (self.mig(), self.mag());
        Self::from_ends(mig * mig, mag * mag)
    }
}

/// Interval with a scalar on either side. A macro because `T op Interval<T>` cannot be generic (orphan rule).
macro_rules! scalar_operators {
    ($($real:ty),*) => {$(
        scalar_operators!(@one $real, Add add, Sub sub, Mul mul);
    )*};
    (@one $real:ty, $($operator:ident $method:ident),*) => {$(
        impl $operator<$real> for Interval<$real> {
            type Output = Self;

            #[inline]
            fn $method(self, scalar: $real) -> Self {
                $operator::$method(self, Self::from_scalar(scalar))
            }
        }

        impl $operator<Interval<$real>> for $real {
            type Output = Interval<$real>;

            #[inline]
            fn $method(self, interval: Interval<$real>) -> Interval<$real> {
                $operator::$method(Interval::from_scalar(self), interval)
            }
        }
    )*};
}
scalar_operators!(f32, f64);

impl<T: Real> AddAssign for Interval<T> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<T: Real> SubAssign for Interval<T> {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<T: Real> MulAssign for Interval<T> {
    #[inline]
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}
