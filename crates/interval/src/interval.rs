//! The scalar interval: representation, invariant, constructors.

use core::fmt;

use crate::{IntervalError, Real};

/// A closed interval `[inf, sup]` whose ends are computed in ordinary rounding.
///
/// Promise: `inf <= sup` and neither is NaN; an end may be infinite. Arithmetic follows the end-point
/// formulas of [Moore, Kearfott and Cloud (2009), ch. 2][mkc], each end rounded to nearest, so a result is
/// the set up to rounding and **not rigorous**: the exact range can stick out by half a unit in the last
/// place per operation (activations: one unit). For a certificate use [`Enclosure`](crate::Enclosure),
/// which contains the exact range. Neither says anything about probability: a claim about coverage is
/// a model's `Band`.
///
/// Undefined ends take the widest reading, never NaN: `0 * inf` is 0, because the reals in the set are
/// finite ([IEEE 1788.1-2017][std]), and an end `inf - inf` or a NaN scalar operand gives the whole line.
///
/// ```
/// use intervalid_interval::Interval;
///
/// let weight = Interval::new(-1.0, 2.0)?;
/// let state = Interval::new(3.0, 4.0)?;
/// assert_eq!(weight * state, Interval::new(-4.0, 8.0)?);
/// assert_eq!(weight - weight, Interval::new(-3.0, 3.0)?); // operands vary independently
/// # Ok::<(), intervalid_interval::IntervalError>(())
/// ```
///
/// [mkc]: https://doi.org/10.1137/1.9780898717716
/// [std]: https://doi.org/10.1109/IEEESTD.2018.8277144
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval<T> {
    lower: T,
    upper: T,
}

impl<T: Real> Interval<T> {
    /// The interval `[lower, upper]`.
    ///
    /// # Errors
    ///
    /// [`IntervalError::NotANumber`] if a bound is NaN, [`IntervalError::Reversed`] if `lower > upper`.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// assert!(Interval::new(0.0, f64::INFINITY).is_ok());
    /// assert!(Interval::new(1.0, 0.0).is_err());
    /// assert!(Interval::new(f64::NAN, 0.0).is_err());
    /// ```
    pub fn new(lower: T, upper: T) -> Result<Self, IntervalError> {
        if lower <= upper {
            return Ok(Self { lower, upper });
        }
        let (lower, upper) = (lower.as_f64(), upper.as_f64());
        Err(if lower.is_nan() || upper.is_nan() {
            IntervalError::NotANumber { lower, upper }
        } else {
            IntervalError::Reversed { lower, upper }
        })
    }

    /// The zero-width interval `[value, value]`.
    ///
    /// # Errors
    ///
    /// [`IntervalError::NotANumber`] if `value` is NaN.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// assert_eq!(Interval::point(1.5)?.wid(), 0.0);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn point(value: T) -> Result<Self, IntervalError> {
        Self::new(value, value)
    }

    /// The whole line `[-inf, inf]`: nothing is known.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// assert!(Interval::<f32>::entire().contains(-1e30));
    /// ```
    #[must_use]
    pub fn entire() -> Self {
        Self {
            lower: T::neg_infinity(),
            upper: T::infinity(),
        }
    }

    /// The smallest interval that holds both `self` and `other`.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// let left = Interval::new(0.0, 1.0)?;
    /// let right = Interval::new(3.0, 4.0)?;
    /// assert_eq!(left.hull(right), Interval::new(0.0, 4.0)?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self {
            lower: self.lower.min(other.lower),
            upper: self.upper.max(other.upper),
        }
    }

    /// Lower end.
    ///
    /// ```
    /// # use intervalid_interval::Interval;
    /// assert_eq!(Interval::new(-1.0, 2.0)?.inf(), -1.0);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[inline]
    pub fn inf(self) -> T {
        self.lower
    }

    /// Upper end.
    ///
    /// ```
    /// # use intervalid_interval::Interval;
    /// assert_eq!(Interval::new(-1.0, 2.0)?.sup(), 2.0);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[inline]
    pub fn sup(self) -> T {
        self.upper
    }

    /// A scalar operand as an interval; NaN carries no information, so it becomes the whole line.
    #[inline]
    pub(crate) fn from_scalar(value: T) -> Self {
        Self::from_ends(value, value)
    }

    /// Ends computed by formulas that are ordered in exact arithmetic; a NaN end (`inf - inf`) becomes
    /// unbounded.
    #[inline]
    pub(crate) fn from_ends(lower: T, upper: T) -> Self {
        let lower = if lower.is_nan() { T::neg_infinity() } else { lower };
        let upper = if upper.is_nan() { T::infinity() } else { upper };
        debug_assert!(lower <= upper, "ends out of order: {lower} > {upper}");
        Self { lower, upper }
    }

    /// Ends computed by a function that is monotone in exact arithmetic but perhaps not in the last bit.
    #[inline]
    pub(crate) fn from_unordered(first: T, second: T) -> Self {
        Self::from_ends(first.min(second), first.max(second))
    }
}

impl<T: Real> TryFrom<(T, T)> for Interval<T> {
    type Error = IntervalError;

    /// `(lower, upper)`, checked as in [`Interval::new`].
    fn try_from((lower, upper): (T, T)) -> Result<Self, IntervalError> {
        Self::new(lower, upper)
    }
}

impl<T: Real> fmt::Display for Interval<T> {
    /// `[inf, sup]`; width and precision apply to both ends.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[")?;
        fmt::Display::fmt(&self.lower, formatter)?;
        formatter.write_str(", ")?;
        fmt::Display::fmt(&self.upper, formatter)?;
        formatter.write_str("]")
    }
}
