//! The rigorous twin of [`Interval`]: representation, constructors, arithmetic.

mod affine;
mod elementary;

use core::{
    fmt,
    ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign},
};

use crate::arith::{ExtremeProducts, extreme_products};
use crate::rounding::{add_down, add_up, mul_down, mul_up, sub_down, sub_up};
use crate::{Interval, IntervalError, Real};

pub use affine::EnclosureMatrix;

/// A closed set of reals `[inf, sup]` that contains the exact result of the computation that made it.
///
/// Promise: if every operand contains its true value, so does the result, whatever was rounded on the way
/// (inclusion property, [Moore, Kearfott and Cloud (2009), ch. 2–3][mkc]). Ends are rounded outward, and only where
/// the nearest float is not exact already. The model is the set-based one of [IEEE 1788.1-2017][std] without
/// empty sets and decorations: `inf <= sup`, no NaN, and at least one real number inside, so `inf < +inf` and
/// `sup > -inf`. Overflow gives an unbounded end, never a wrong one.
///
/// It is slower than [`Interval`], which is the one to train with. It bounds rounding and parameter sets, not
/// noise: a statement about coverage is a model's `Band`.
///
/// ```
/// use intervalid_interval::Enclosure;
///
/// let tenth = Enclosure::from_point(0.1)?; // the float nearest to 0.1, exactly
/// let sum = tenth + tenth + tenth;
/// assert!(sum.contains(0.1 + 0.1 + 0.1));
/// assert!(sum.wid() > 0.0); // the sum is not a float: two neighbours enclose it
/// assert_eq!((tenth + tenth).wid(), 0.0); // doubling is exact
/// # Ok::<(), intervalid_interval::IntervalError>(())
/// ```
///
/// [mkc]: https://doi.org/10.1137/1.9780898717716
/// [std]: https://doi.org/10.1109/IEEESTD.2018.8277144
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosure {
    lower: f64,
    upper: f64,
}

impl Enclosure {
    /// The whole real line: nothing is known.
    pub const ENTIRE: Self = Self {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
    };

    /// The set `{0}`, the start of sums and the initial state of recurrent networks.
    pub const ZERO: Self = Self { lower: 0.0, upper: 0.0 };

    /// The set `{value}`, exactly. (0.1 is not a float, so `from_point(0.1)` does not contain one tenth.)
    ///
    /// # Errors
    ///
    /// [`IntervalError::NotANumber`] for NaN, [`IntervalError::NoRealNumber`] for an infinity.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// assert_eq!(Enclosure::from_point(2.0)?.inf(), 2.0);
    /// assert!(Enclosure::from_point(f64::INFINITY).is_err());
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn from_point(value: f64) -> Result<Self, IntervalError> {
        Self::from_bounds(value, value)
    }

    /// The set `[lower, upper]`, exactly.
    ///
    /// # Errors
    ///
    /// [`IntervalError::NotANumber`] if a bound is NaN, [`IntervalError::Reversed`] if `lower > upper`,
    /// [`IntervalError::NoRealNumber`] if both are the same infinity.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// let half_line = Enclosure::from_bounds(0.0, f64::INFINITY)?;
    /// assert!(half_line.contains(f64::MAX));
    /// assert!(Enclosure::from_bounds(1.0, 0.0).is_err());
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn from_bounds(lower: f64, upper: f64) -> Result<Self, IntervalError> {
        Interval::new(lower, upper)?; // NaN and order are checked in one place
        if lower == f64::INFINITY || upper == f64::NEG_INFINITY {
            return Err(IntervalError::NoRealNumber { lower, upper });
        }
        Ok(Self { lower, upper })
    }

    /// The interval parameter `[centre - below, centre + above]`, rounded outward.
    ///
    /// # Errors
    ///
    /// Those of [`from_point`](Self::from_point) for `centre`; [`IntervalError::Margin`] if a margin is
    /// negative, infinite or NaN.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// let weight = Enclosure::from_margins(0.5, 0.25, 1.0)?;
    /// assert_eq!((weight.inf(), weight.sup()), (0.25, 1.5));
    /// assert!(Enclosure::from_margins(0.5, -0.1, 0.0).is_err());
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn from_margins(centre: f64, below: f64, above: f64) -> Result<Self, IntervalError> {
        let centre = Self::from_point(centre)?;
        for margin in [below, above] {
            if !(margin.is_finite() && margin >= 0.0) {
                return Err(IntervalError::Margin { margin });
            }
        }
        Ok(Self::from_ends(
            sub_down(centre.lower, below),
            add_up(centre.upper, above),
        ))
    }

    /// The smallest set that holds both `self` and `other`.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// let hull = Enclosure::from_point(0.0)?.hull(Enclosure::from_point(4.0)?);
    /// assert_eq!(hull, Enclosure::from_bounds(0.0, 4.0)?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self {
            lower: self.lower.min(other.lower),
            upper: self.upper.max(other.upper),
        }
    }

    /// Lower end; `-inf` if the set is unbounded below.
    ///
    /// ```
    /// # use intervalid_interval::Enclosure;
    /// assert_eq!(Enclosure::ENTIRE.inf(), f64::NEG_INFINITY);
    /// ```
    #[inline]
    #[must_use]
    pub fn inf(self) -> f64 {
        self.lower
    }

    /// Upper end; `inf` if the set is unbounded above.
    ///
    /// ```
    /// # use intervalid_interval::Enclosure;
    /// assert_eq!(Enclosure::ENTIRE.sup(), f64::INFINITY);
    /// ```
    #[inline]
    #[must_use]
    pub fn sup(self) -> f64 {
        self.upper
    }

    /// The set of squares; narrower than `self * self`, whose operands would vary independently.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// let square = Enclosure::from_bounds(-1.0, 2.0)?.square();
    /// assert_eq!(square, Enclosure::from_bounds(0.0, 4.0)?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn square(self) -> Self {
        let (mig, mag) = (self.mig(), self.mag());
        Self::from_ends(mul_down(mig, mig), mul_up(mag, mag))
    }

    /// Ends that were rounded outward from an exact, ordered pair.
    #[inline]
    fn from_ends(lower: f64, upper: f64) -> Self {
        debug_assert!(lower <= upper, "ends out of order: {lower} > {upper}");
        debug_assert!(lower < f64::INFINITY && upper > f64::NEG_INFINITY);
        Self { lower, upper }
    }

    #[inline]
    fn ends(self) -> (f64, f64) {
        (self.lower, self.upper)
    }

    /// A scalar operand. NaN and infinities are not real numbers: nothing is known then.
    #[inline]
    fn from_scalar(value: f64) -> Self {
        if value.is_finite() {
            Self {
                lower: value,
                upper: value,
            }
        } else {
            Self::ENTIRE
        }
    }
}

impl<T: Real> TryFrom<Interval<T>> for Enclosure {
    type Error = IntervalError;

    /// The same ends, exactly. What the interval lost to rounding before is not recovered.
    fn try_from(interval: Interval<T>) -> Result<Self, IntervalError> {
        Self::from_bounds(interval.inf().as_f64(), interval.sup().as_f64())
    }
}

impl fmt::Display for Enclosure {
    /// `[inf, sup]`. Without a precision each end reads back as the same float; with one, it is rounded to
    /// nearest and the printed pair is no longer rigorous.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Interval::from_ends(self.lower, self.upper), formatter)
    }
}

impl Add for Enclosure {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self::from_ends(add_down(self.lower, other.lower), add_up(self.upper, other.upper))
    }
}

impl Sub for Enclosure {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self::from_ends(sub_down(self.lower, other.upper), sub_up(self.upper, other.lower))
    }
}

impl Neg for Enclosure {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self::from_ends(-self.upper, -self.lower)
    }
}

impl Mul for Enclosure {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let down = |(a, b)| mul_down(a, b);
        let up = |(a, b)| mul_up(a, b);
        match extreme_products(self.ends(), other.ends()) {
            ExtremeProducts::Decided { least, greatest } => Self::from_ends(down(least), up(greatest)),
            ExtremeProducts::Candidates { least, greatest } => {
                Self::from_ends(down(least[0]).min(down(least[1])), up(greatest[0]).max(up(greatest[1])))
            }
        }
    }
}

macro_rules! scalar_operators {
    ($($operator:ident $method:ident),*) => {$(
        impl $operator<f64> for Enclosure {
            type Output = Self;

            #[inline]
            fn $method(self, scalar: f64) -> Self {
                $operator::$method(self, Self::from_scalar(scalar))
            }
        }

        impl $operator<Enclosure> for f64 {
            type Output = Enclosure;

            #[inline]
            fn $method(self, enclosure: Enclosure) -> Enclosure {
                $operator::$method(Enclosure::from_scalar(self), enclosure)
            }
        }
    )*};
}
scalar_operators!(Add add, Sub sub, Mul mul);

impl AddAssign for Enclosure {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Enclosure {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl MulAssign for Enclosure {
    #[inline]
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}
