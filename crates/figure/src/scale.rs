//! From values to positions along an axis.

/// Values beyond this are drawn at this: differences of larger numbers overflow.
const LARGEST: f64 = 1e300;

/// Values nearer to zero than this count as zero, or positive ones as this on a log axis.
const SMALLEST: f64 = 1e-300;

/// Spans smaller than this share of the values have no useful tick marks left in double precision.
const SMALLEST_SPAN: f64 = 1e-12;

/// How values are spaced along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    Linear,
    Log,
}

impl Spacing {
    pub(crate) fn log_if(log: bool) -> Self {
        if log { Self::Log } else { Self::Linear }
    }
}

/// The range of values along an axis, `low < high`, both finite, both positive on a log axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) spacing: Spacing,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Scale {
    /// A range given by the caller; `None` when it is none.
    pub(crate) fn fixed(spacing: Spacing, low: f64, high: f64) -> Option<Self> {
        let wide_enough = high - low > SMALLEST_SPAN * low.abs().max(high.abs()).max(SMALLEST);
        let usable = low.abs() <= LARGEST && high.abs() <= LARGEST && wide_enough;
        (usable && (spacing == Spacing::Linear || low >= SMALLEST)).then_some(Self { spacing, low, high })
    }

    /// The range that covers all values that can be drawn, with a share `pad` of it added at both ends. A single value
    /// gets room around it. `None` without any value.
    pub(crate) fn covering(spacing: Spacing, values: impl IntoIterator<Item = f64>, pad: f64) -> Option<Self> {
        let mut range: Option<(f64, f64)> = None;
        for value in values {
            if value.is_finite() && (spacing == Spacing::Linear || value > 0.0) {
                range = Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
            }
        }
        let (low, high) = range?;
        Some(match spacing {
            Spacing::Linear => Self::linear_around(low.clamp(-LARGEST, LARGEST), high.clamp(-LARGEST, LARGEST), pad),
            Spacing::Log => Self::log_around(low.clamp(SMALLEST, LARGEST), high.clamp(SMALLEST, LARGEST), pad),
        })
    }

    fn linear_around(low: f64, high: f64, pad: f64) -> Self {
        let largest = low.abs().max(high.abs());
        let span = high - low;
        let margin = if largest < SMALLEST {
            1.0
        } else if span <= SMALLEST_SPAN * largest {
            0.1 * largest
        } else {
            pad * span
        };
        Self {
            spacing: Spacing::Linear,
            low: low - margin,
            high: high + margin,
        }
    }

    fn log_around(low: f64, high: f64, pad: f64) -> Self {
        let decades = high.log10() - low.log10();
        let factor = if decades < 1e-6 { 2.0 } else { 10f64.powf(pad * decades) };
        Self {
            spacing: Spacing::Log,
            low: (low / factor).max(SMALLEST),
            high: (high * factor).min(LARGEST),
        }
    }

    /// Share of the way from `low` to `high`. Values far outside stay within ten lengths of the axis, so that
    /// infinities and zeros on a log axis are drawn as lines that leave the panel.
    pub(crate) fn fraction(&self, value: f64) -> f64 {
        let share = match self.spacing {
            Spacing::Linear => {
                let value = value.clamp(-LARGEST, LARGEST);
                (value - self.low) / (self.high - self.low)
            }
            Spacing::Log => {
                let value = value.clamp(SMALLEST, LARGEST);
                (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
            }
        };
        share.clamp(-10.0, 11.0)
    }

    /// Whether a value lies on the axis.
    pub(crate) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_finite_values() {
        let scale = Scale::covering(Spacing::Linear, [f64::NAN, 1.0, f64::INFINITY, 3.0], 0.0).unwrap();
        assert_eq!((scale.low, scale.high), (1.0, 3.0));
        assert!((scale.fraction(2.0) - 0.5).abs() < 1e-12);
        assert!(Scale::covering(Spacing::Linear, [f64::NAN], 0.0).is_none());
        assert!(Scale::covering(Spacing::Log, [0.0, -1.0], 0.0).is_none());
    }

    #[test]
    fn constants_get_room() {
        for value in [0.0, 5.0, -3e7, 1e-310, f64::MAX, f64::MIN_POSITIVE] {
            for spacing in [Spacing::Linear, Spacing::Log] {
                let Some(scale) = Scale::covering(spacing, [value, value], 0.05) else {
                    assert!(spacing == Spacing::Log && value <= 0.0);
                    continue;
                };
                assert!(
                    scale.low < scale.high && scale.low.is_finite() && scale.high.is_finite(),
                    "{value}"
                );
                assert!(scale.fraction(value).is_finite());
            }
        }
    }

    #[test]
    fn extremes_stay_finite() {
        let scale = Scale::covering(Spacing::Linear, [-f64::MAX, f64::MAX], 0.05).unwrap();
        for value in [f64::NEG_INFINITY, f64::INFINITY, 0.0, f64::MAX] {
            assert!(scale.fraction(value).is_finite());
        }
        let scale = Scale::covering(Spacing::Log, [1e-3, 1e3], 0.0).unwrap();
        assert!(scale.fraction(0.0) < 0.0 && scale.fraction(f64::INFINITY) > 1.0);
        assert!((scale.fraction(1.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn fixed_ranges_are_checked() {
        assert!(Scale::fixed(Spacing::Linear, 0.0, 1.0).is_some());
        for (low, high) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(Scale::fixed(Spacing::Linear, low, high).is_none(), "{low} {high}");
        }
        assert!(Scale::fixed(Spacing::Log, 0.0, 1.0).is_none());
    }
}
