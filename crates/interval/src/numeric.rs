//! Numbers that describe a set: mid, rad, wid, mag, mig, membership.

use crate::{Enclosure, Interval, Real, rounding};

/// A finite point of `[lower, upper]` near its middle. The two infinite cases follow IEEE 1788.1-2017:
/// 0 for the whole line, the largest finite number on a half line.
fn midpoint<T: Real>(lower: T, upper: T) -> T {
    if lower == T::neg_infinity() && upper == T::infinity() {
        return T::zero();
    }
    let two = T::one() + T::one();
    let sum = lower + upper;
    // Halving first cannot overflow but loses the last bit of subnormal ends, so it is the second choice.
    let middle = if sum.is_finite() {
        sum / two
    } else {
        lower / two + upper / two
    };
    middle.max(T::min_value()).min(T::max_value())
}

impl<T: Real> Interval<T> {
    /// Midpoint, rounded; always finite: 0 for the whole line, the largest finite number of the right sign
    /// for a half line.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// assert_eq!(Interval::new(1.0, 4.0)?.mid(), 2.5);
    /// assert_eq!(Interval::new(f64::MAX, f64::MAX)?.mid(), f64::MAX);
    /// assert_eq!(Interval::<f64>::entire().mid(), 0.0);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn mid(self) -> T {
        midpoint(self.inf(), self.sup())
    }

    /// Radius: the larger distance from [`mid`](Self::mid) to an end, rounded to nearest.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// assert_eq!(Interval::new(1.0, 4.0)?.rad(), 1.5);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn rad(self) -> T {
        let mid = self.mid();
        (mid - self.inf()).max(self.sup() - mid)
    }

    /// Width `sup - inf`, rounded to nearest; 0 for a point, even an infinite one.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// assert_eq!(Interval::new(1.0, 4.0)?.wid(), 3.0);
    /// assert_eq!(Interval::point(f64::INFINITY)?.wid(), 0.0);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn wid(self) -> T {
        // Written with `<` so that two equal infinities give 0 and not NaN.
        if self.inf() < self.sup() {
            self.sup() - self.inf()
        } else {
            T::zero()
        }
    }

    /// Magnitude: the largest absolute value in the set.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// assert_eq!(Interval::new(-3.0, 2.0)?.mag(), 3.0);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn mag(self) -> T {
        self.inf().abs().max(self.sup().abs())
    }

    /// Mignitude: the smallest absolute value in the set, 0 if it holds 0.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// assert_eq!(Interval::new(-3.0, -2.0)?.mig(), 2.0);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn mig(self) -> T {
        if self.contains(T::zero()) {
            T::zero()
        } else {
            self.inf().abs().min(self.sup().abs())
        }
    }

    /// Whether `value` lies in the set, ends included; never for NaN.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// let unit = Interval::new(0.0, 1.0)?;
    /// assert!(unit.contains(1.0) && !unit.contains(1.5) && !unit.contains(f64::NAN));
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[inline]
    pub fn contains(self, value: T) -> bool {
        self.inf() <= value && value <= self.sup()
    }

    /// Whether every point of `other` lies in the set.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// let unit = Interval::new(0.0, 1.0)?;
    /// assert!(unit.contains_interval(Interval::new(0.0, 0.5)?));
    /// assert!(!unit.contains_interval(Interval::new(0.5, 1.5)?));
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[inline]
    pub fn contains_interval(self, other: Self) -> bool {
        self.inf() <= other.inf() && other.sup() <= self.sup()
    }
}

impl Enclosure {
    /// A finite point of the set near its middle (not a bound on anything).
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// assert_eq!(Enclosure::from_bounds(1.0, 4.0)?.mid(), 2.5);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn mid(self) -> f64 {
        midpoint(self.inf(), self.sup())
    }

    /// Upper bound of the distance from [`mid`](Self::mid) to any point of the set.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// assert_eq!(Enclosure::from_bounds(1.0, 4.0)?.rad(), 1.5);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn rad(self) -> f64 {
        let mid = self.mid();
        rounding::sub_up(mid, self.inf()).max(rounding::sub_up(self.sup(), mid))
    }

    /// Upper bound of the width `sup - inf`; exactly 0 for a point.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// assert_eq!(Enclosure::from_bounds(1.0, 4.0)?.wid(), 3.0);
    /// assert!(Enclosure::from_bounds(-1e-30, 1.0)?.wid() > 1.0);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn wid(self) -> f64 {
        rounding::sub_up(self.sup(), self.inf())
    }

    /// Magnitude: the largest absolute value in the set; exact.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// assert_eq!(Enclosure::from_bounds(-3.0, 2.0)?.mag(), 3.0);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn mag(self) -> f64 {
        self.inf().abs().max(self.sup().abs())
    }

    /// Mignitude: the smallest absolute value in the set, 0 if it holds 0; exact.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// assert_eq!(Enclosure::from_bounds(-3.0, -2.0)?.mig(), 2.0);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn mig(self) -> f64 {
        if self.contains(0.0) {
            0.0
        } else {
            self.inf().abs().min(self.sup().abs())
        }
    }

    /// Whether the real number `value` lies in the set; never for NaN or an infinity.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// assert!(Enclosure::ENTIRE.contains(f64::MAX));
    /// assert!(!Enclosure::ENTIRE.contains(f64::INFINITY));
    /// ```
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        value.is_finite() && self.inf() <= value && value <= self.sup()
    }

    /// Whether every point of `other` lies in the set.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// assert!(Enclosure::ENTIRE.contains_enclosure(Enclosure::from_bounds(0.0, 1.0)?));
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn contains_enclosure(self, other: Self) -> bool {
        self.inf() <= other.inf() && other.sup() <= self.sup()
    }
}
