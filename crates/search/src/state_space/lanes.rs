//! Eight numbers side by side: of eight models, or in eight columns. What is done to millions of them is in `levels`.

/// Models side by side.
pub(crate) const LANES: usize = 8;

/// One number of every model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(crate) struct Lane(pub(crate) [f64; LANES]);

impl Lane {
    pub(crate) const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    pub(crate) fn splat(value: f64) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let mut out = self;
        out.0.iter_mut().for_each(|value| *value = f(*value));
        out
    }

    #[inline(always)]
    pub(crate) fn times(self, other: Self) -> Self {
        let mut out = self;
        out.0.iter_mut().zip(other.0).for_each(|(value, other)| *value *= other);
        out
    }

    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        let mut out = self;
        out.0.iter_mut().zip(other.0).for_each(|(value, other)| *value += other);
        out
    }
}
