//! What the values that a Parquet file stores stand for: numbers, decimals, dates and times are all stored as integers.

use std::fmt;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::data_type::ByteArray;
use parquet::schema::types::ColumnDescriptor;

use crate::time::Moment;

const NANOSECONDS_PER_DAY: i128 = 86_400_000_000_000;

/// What the integers of a column count.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// Themselves.
    Number,
    /// Themselves, in the signed type of the same width.
    Unsigned,
    /// Parts, of which so many make one.
    Decimal(f64),
    /// Parts of a second since midnight, so many each.
    TimeOfDay(f64),
    /// Days since the start of 1970.
    Days,
    /// Parts of a second since then, of so many nanoseconds.
    Timestamp { nanoseconds: i128, universal: bool },
}

impl Meaning {
    /// By the logical type of a column, or the older converted type where there is none.
    pub(super) fn of(column: &ColumnDescriptor) -> Self {
        let timestamp = |nanoseconds, universal| Self::Timestamp { nanoseconds, universal };
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Timestamp(stamp)), _) => {
                timestamp(nanoseconds_per(&stamp.unit), stamp.is_adjusted_to_u_t_c)
            }
            (Some(LogicalType::Time(time)), _) => Self::TimeOfDay(1e9 / nanoseconds_per(&time.unit) as f64),
            (_, ConvertedType::TIMESTAMP_MILLIS) => timestamp(1_000_000, false),
            (_, ConvertedType::TIMESTAMP_MICROS) => timestamp(1000, false),
            (_, ConvertedType::TIME_MILLIS) => Self::TimeOfDay(1e3),
            (_, ConvertedType::TIME_MICROS) => Self::TimeOfDay(1e6),
            (_, ConvertedType::DATE) => Self::Days,
            (_, ConvertedType::DECIMAL) => Self::Decimal(10_f64.powi(column.type_scale())),
            (_, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64) => {
                Self::Unsigned
            }
            _ => Self::Number,
        }
    }

    pub(super) fn is_timestamp(self) -> bool {
        matches!(self, Self::Timestamp { .. })
    }

    /// What it counts, in words, where that is no number but a moment.
    pub(super) fn clock(self) -> Option<&'static str> {
        match self {
            Self::Number | Self::Unsigned | Self::Decimal(_) => None,
            Self::TimeOfDay(_) => Some("times of day"),
            Self::Days => Some("dates"),
            Self::Timestamp { .. } => Some("timestamps"),
        }
    }

    fn value(self, stored: i64) -> Value<'static> {
        let moment = |nanoseconds: i128, universal| {
            Moment::from_nanoseconds(nanoseconds, universal).map_or(Value::NoDate(stored), Value::Moment)
        };
        match self {
            Self::Number | Self::Unsigned => Value::Number(stored as f64),
            Self::Decimal(parts) => Value::Number(stored as f64 / parts),
            Self::TimeOfDay(parts) => Value::Moment(Moment::TimeOfDay(stored as f64 / parts)),
            Self::Days => moment(i128::from(stored) * NANOSECONDS_PER_DAY, false),
            Self::Timestamp { nanoseconds, universal } => moment(i128::from(stored) * nanoseconds, universal),
        }
    }
}

fn nanoseconds_per(unit: &TimeUnit) -> i128 {
    match unit {
        TimeUnit::MILLIS => 1_000_000,
        TimeUnit::MICROS => 1000,
        TimeUnit::NANOS => 1,
    }
}

/// A value as it is meant.
pub(super) enum Value<'a> {
    Number(f64),
    /// A date, or a time of day.
    Moment(Moment),
    /// A date outside the calendar, as it is stored.
    NoDate(i64),
    Text(&'a [u8]),
    Null,
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Moment(moment) => write!(f, "{moment}"),
            Self::NoDate(stored) => write!(f, "{stored}"),
            Self::Text(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
            Self::Null => Ok(()),
        }
    }
}

/// The types that values are stored in.
pub(super) trait Stored {
    fn value(&self, meaning: Meaning) -> Value<'_>;
}

impl Stored for bool {
    fn value(&self, _: Meaning) -> Value<'_> {
        Value::Number(f64::from(u8::from(*self)))
    }
}

impl Stored for i32 {
    fn value(&self, meaning: Meaning) -> Value<'_> {
        match meaning {
            Meaning::Unsigned => Value::Number(f64::from(*self as u32)),
            _ => meaning.value(i64::from(*self)),
        }
    }
}

impl Stored for i64 {
    fn value(&self, meaning: Meaning) -> Value<'_> {
        match meaning {
            Meaning::Unsigned => Value::Number(*self as u64 as f64),
            _ => meaning.value(*self),
        }
    }
}

impl Stored for f32 {
    fn value(&self, _: Meaning) -> Value<'_> {
        Value::Number(f64::from(*self))
    }
}

impl Stored for f64 {
    fn value(&self, _: Meaning) -> Value<'_> {
        Value::Number(*self)
    }
}

impl Stored for ByteArray {
    fn value(&self, _: Meaning) -> Value<'_> {
        Value::Text(self.data())
    }
}
