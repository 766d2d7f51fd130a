//! When samples were taken: a start and a step, from the time column of a file.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{DateTime, Time};
use serde::{Deserialize, Serialize};

/// Seconds of a time as people write it, `0.5`, `500ms`, `30s`, `5min`, `1h30m` or `PT5M`, if it is positive.
#[must_use]
pub fn parse_seconds(text: &str) -> Option<f64> {
    let seconds = text.trim().parse::<f64>().ok().or_else(|| {
        let time = text.trim().parse::<SignedDuration>().ok()?;
        Some(time.as_secs_f64())
    });
    seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0)
}

/// A moment as a file states it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    /// Seconds on the record's own clock.
    Seconds(f64),
    /// Seconds since the midnight before a record began: a time of day does not say of which day.
    TimeOfDay(f64),
    /// A date.
    Date {
        /// Nanoseconds since the start of 1970: of universal time, or on the wall clock of wherever the file was written.
        nanoseconds: i64,
        /// Whether the file says how its clock stands to universal time.
        universal: bool,
    },
}

const NANOSECONDS: f64 = 1e9;
pub(crate) const SECONDS_OF_A_DAY: f64 = 86_400.0;

impl Moment {
    /// A date from nanoseconds since the start of 1970; none outside the years 1678 to 2262.
    #[must_use]
    pub fn from_nanoseconds(nanoseconds: i128, universal: bool) -> Option<Self> {
        Some(Self::Date {
            nanoseconds: i64::try_from(nanoseconds).ok()?,
            universal,
        })
    }

    /// Seconds from `earlier` to this moment; none between clocks of different kinds.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> Option<f64> {
        match (self, earlier) {
            (Self::Seconds(now), Self::Seconds(then)) | (Self::TimeOfDay(now), Self::TimeOfDay(then)) => {
                Some(now - then)
            }
            (
                Self::Date {
                    nanoseconds: now,
                    universal: a,
                },
                Self::Date {
                    nanoseconds: then,
                    universal: b,
                },
            ) if a == b => Some((i128::from(now) - i128::from(then)) as f64 / NANOSECONDS),
            _ => None,
        }
    }

    /// The moment `seconds` later, dates to the microsecond: a step that was measured has no more digits. Dates end with
    /// the years that nanoseconds can count, 1678 and 2262.
    #[must_use]
    pub fn after(self, seconds: f64) -> Self {
        match self {
            Self::Seconds(start) => Self::Seconds(start + seconds),
            Self::TimeOfDay(start) => Self::TimeOfDay(start + seconds),
            Self::Date { nanoseconds, universal } => {
                let later = ((seconds * 1e6).round() as i128).saturating_mul(1000);
                let later = later.saturating_add(i128::from(nanoseconds));
                Self::Date {
                    nanoseconds: later.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
                    universal,
                }
            }
        }
    }

    /// Whether it is a number.
    pub(crate) fn is_finite(self) -> bool {
        match self {
            Self::Seconds(seconds) | Self::TimeOfDay(seconds) => seconds.is_finite(),
            Self::Date { .. } => true,
        }
    }

    /// Whether it is a date.
    #[must_use]
    pub fn is_date(self) -> bool {
        matches!(self, Self::Date { .. })
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            // Sums of steps end in digits that nobody measured.
            Self::Seconds(seconds) => write!(f, "{}", (seconds * NANOSECONDS).round() / NANOSECONDS),
            Self::TimeOfDay(seconds) => {
                let nanoseconds = (seconds.rem_euclid(SECONDS_OF_A_DAY) * NANOSECONDS).round() as i64;
                // Wraps where rounding has reached the next midnight.
                let time = Time::midnight().wrapping_add(SignedDuration::from_nanos(nanoseconds));
                write!(f, "{time}")
            }
            Self::Date { nanoseconds, universal } => {
                let start = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
                let date = start.saturating_add(SignedDuration::from_nanos(nanoseconds));
                write!(f, "{date}{}", if universal { "Z" } else { "" })
            }
        }
    }
}

/// Evenly spaced times of the samples of an experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeAxis {
    /// When the first sample was taken.
    pub start: Moment,
    /// Seconds between samples.
    pub step: f64,
}

impl TimeAxis {
    /// When sample `sample`, counted from 0, was taken.
    #[must_use]
    pub fn at(&self, sample: usize) -> Moment {
        self.start.after(self.step * sample as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(seconds_since_1970: i128) -> Moment {
        Moment::from_nanoseconds(seconds_since_1970 * 1_000_000_000, false).expect("a date")
    }

    #[test]
    fn steps_add_up_without_drifting_digits() {
        let axis = TimeAxis {
            start: Moment::Seconds(0.0),
            step: 0.1,
        };
        assert_eq!(axis.at(3).to_string(), "0.3");
        let axis = TimeAxis {
            start: date(1_709_251_199),
            step: 0.5,
        };
        assert_eq!(axis.at(2).to_string(), "2024-03-01T00:00:00");
        assert_eq!(axis.at(2).seconds_since(axis.start), Some(1.0));
        assert_eq!(axis.at(2).seconds_since(Moment::Seconds(0.0)), None);
    }

    #[test]
    fn moments_beyond_the_calendar_stay_at_its_end() {
        let start = date(1_709_251_200);
        for seconds in [1e10, 1e13, f64::INFINITY] {
            assert_eq!(
                start.after(seconds),
                Moment::from_nanoseconds(i64::MAX.into(), false).expect("a date")
            );
        }
        assert_eq!(
            start.after(-1e13),
            Moment::from_nanoseconds(i64::MIN.into(), false).expect("a date")
        );
    }
}
