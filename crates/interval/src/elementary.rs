//! Monotone activations of intervals in ordinary rounding.
//!
//! Each function increases, so the image of `[a, b]` is `[f(a), f(b)]`. All run through double precision and
//! the portable `libm`, so a result is the same on every platform; in `f32` an end is the exact value rounded
//! once (to within 0.501 units in the last place), in `f64` it is off by at most 3 units. The batch kernels trade
//! some of that for speed and state their own bound. The identity needs no function.

use crate::{Interval, Real};

/// `1 / (1 + exp(-x))`, without cancellation or overflow on either side of 0.
fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + libm::exp(-x))
    } else {
        let growth = libm::exp(x);
        growth / (1.0 + growth)
    }
}

/// `ln(1 + exp(x))`, written so that the exponential cannot overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}

impl<T: Real> Interval<T> {
    /// The image under an increasing function. The hull guards the invariant, because a rounded function
    /// need not be monotone in its last bit.
    #[inline]
    fn map_increasing(self, function: impl Fn(f64) -> f64) -> Self {
        Self::from_unordered(
            T::of(function(self.inf().as_f64())),
            T::of(function(self.sup().as_f64())),
        )
    }

    /// Exponential.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// let image = Interval::new(f64::NEG_INFINITY, 0.0)?.exp();
    /// assert_eq!(image, Interval::new(0.0, 1.0)?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn exp(self) -> Self {
        self.map_increasing(libm::exp)
    }

    /// Hyperbolic tangent.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// let image = Interval::new(-1.0_f32, 40.0)?.tanh();
    /// assert_eq!((image.inf(), image.sup()), (-0.761_594_2, 1.0));
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn tanh(self) -> Self {
        self.map_increasing(libm::tanh)
    }

    /// Logistic sigmoid `1 / (1 + exp(-x))`.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// assert_eq!(Interval::new(0.0, f64::INFINITY)?.sigmoid(), Interval::new(0.5, 1.0)?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn sigmoid(self) -> Self {
        self.map_increasing(sigmoid)
    }

    /// Softplus `ln(1 + exp(x))`.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// assert_eq!(Interval::point(0.0)?.softplus().mid(), std::f64::consts::LN_2);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn softplus(self) -> Self {
        self.map_increasing(softplus)
    }

    /// Rectifier `max(x, 0)`; exact.
    ///
    /// ```
    /// use intervalid_interval::Interval;
    ///
    /// assert_eq!(Interval::new(-1.0, 2.0)?.relu(), Interval::new(0.0, 2.0)?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn relu(self) -> Self {
        Self::from_ends(self.inf().max(T::zero()), self.sup().max(T::zero()))
    }
}
