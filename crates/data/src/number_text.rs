//! Numbers as text: what `{}` prints, several times as fast.

use std::fmt::Write as _;

/// Appends the shortest text that reads back as `value`, never with an exponent: the bytes of `{value}`.
///
/// A prediction of a million samples is millions of numbers, and the standard library's way took a third of the time from file to
/// file. `zmij` finds the same digits but for ties, which it rounds to even and the standard library up; it prints very large and very
/// small numbers with exponents. Both are left to the standard library.
///
/// ```
/// use intervalid_data::push_number;
///
/// let mut text = String::new();
/// push_number(&mut text, -2.5);
/// push_number(&mut text, 3.0);
/// assert_eq!(text, "-2.53");
/// ```
pub fn push_number(text: &mut String, value: f64) {
    let mut buffer = zmij::Buffer::new();
    let printed = buffer.format(value);
    if printed.contains('e') || is_tie(value, printed) {
        // A `String` takes all that is written to it.
        let _ = write!(text, "{value}");
    } else {
        text.push_str(printed.strip_suffix(".0").unwrap_or(printed));
    }
}

/// Whether the number lies exactly between two texts of this length: it has one more decimal, which is then a 5.
fn is_tie(value: f64, printed: &str) -> bool {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1075;
    // As many as the binary fraction has digits.
    let decimals = -exponent - (bits | 1 << 52).trailing_zeros() as i32;
    if decimals > 18 {
        return false;
    }
    let found = printed.find('.').map_or(0, |point| printed.len() - point - 1);
    decimals == found as i32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_display() {
        let mut numbers = vec![
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.1 + 0.2,
            1e15,
            1e16,
            1e17,
            123_456_789_012_345_680.0,
            1e-4,
            1e-5,
            1.25e-5,
            1e-6,
            5e-324,
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            9_007_199_254_740_993.0,
            2_f64.powi(-1074) * 3.0,
        ];
        let mut seed = 1_u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // All bit patterns, and numbers of the size that recordings have.
            numbers.push(f64::from_bits(seed));
            numbers.push((seed >> 20) as f64 / 1e9 - 8e3);
            numbers.push(f64::from((seed >> 33) as f32 * 1e-7));
        }
        let mut text = String::new();
        for number in numbers {
            text.clear();
            push_number(&mut text, number);
            assert_eq!(text, format!("{number}"), "{:#x}", number.to_bits());
        }
    }
}
