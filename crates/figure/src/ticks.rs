//! Tick marks at round numbers, and how numbers are written next to them.
//!
//! A linear tick is an integer times 1, 2 or 5 times a power of ten, so its label has exactly the digits of the step.

use crate::scale::{Scale, Spacing};

/// Decimal exponents of the largest value between which labels are written out in full.
const PLAIN: std::ops::RangeInclusive<i32> = -3..=5;

/// A mark on an axis; minor marks have no label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// Ticks for a scale, about `count` of them with labels: up to 1.6 times as many.
pub(crate) fn ticks(scale: &Scale, count: usize) -> Vec<Tick> {
    let count = count.max(2);
    match scale.spacing {
        Spacing::Linear => linear(scale.low, scale.high, count),
        Spacing::Log => logarithmic(scale.low, scale.high, count),
    }
}

fn linear(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let rough = (high - low) / count as f64;
    let mut exponent = rough.log10().floor() as i32;
    // The nearest of 1, 2, 5 and 10 by ratio: thresholds are the geometric means of neighbours.
    let factor = match rough / power_of_ten(exponent) {
        mantissa if mantissa < 1.414 => 1.0,
        mantissa if mantissa < 3.162 => 2.0,
        mantissa if mantissa < 7.071 => 5.0,
        _ => {
            exponent += 1;
            1.0
        }
    };
    let step = factor * power_of_ten(exponent);
    // Tolerances keep a tick that rounding put just outside the axis.
    let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
    let multiples = (0..=(last - first).max(0.0) as usize).map(|index| (first + index as f64) * factor);
    let values: Vec<f64> = multiples.map(|multiple| scaled(multiple, exponent)).collect();
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let labels = values.iter().map(|&value| label(value, largest, exponent));
    values
        .iter()
        .zip(labels)
        .map(|(&value, label)| Tick { value, label })
        .collect()
}

/// Ten to the exponent, correctly rounded; `powi` may differ in the last digit between machines.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().expect("a power of ten is a number")
}

fn scaled(multiple: f64, exponent: i32) -> f64 {
    // Dividing by an exact power rounds once; multiplying by an inexact one would round twice.
    if (-22..0).contains(&exponent) {
        multiple / power_of_ten(-exponent)
    } else {
        multiple * power_of_ten(exponent)
    }
}

/// The value with the digits down to ten to `last_digit`; powers of ten when the axis holds very large or small values.
fn label(value: f64, largest: f64, last_digit: i32) -> String {
    // Rounding of log10 could miss an exact power of ten by one.
    let leading = (largest.log10() + 1e-9).floor() as i32;
    if largest <= 0.0 || PLAIN.contains(&leading) {
        let decimals = usize::try_from(-last_digit).unwrap_or(0);
        return typographic(&format!("{value:.decimals$}"));
    }
    if value.abs() < power_of_ten(last_digit) / 2.0 {
        return "0".to_owned();
    }
    let decimals = usize::try_from(leading - last_digit).unwrap_or(0);
    let mantissa = format!("{:.decimals$}", value / power_of_ten(leading));
    format!("{}×10{}", typographic(&mantissa), superscript(leading))
}

fn logarithmic(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let (first, last) = ((low.log10() - 1e-9).ceil() as i32, (high.log10() + 1e-9).floor() as i32);
    let decades = usize::try_from(last - first + 1).unwrap_or(0);
    // Within one decade round numbers read better than powers.
    if decades < 2 {
        let mut marks = linear(low, high, count);
        marks.retain(|tick| tick.value > 0.0);
        return marks;
    }
    let stride = decades.div_ceil(count) as i32;
    let plain = PLAIN.contains(&first) && PLAIN.contains(&last);
    let write = |factor: u8, exponent: i32| match (plain, factor) {
        (true, _) => label(f64::from(factor) * power_of_ten(exponent), 1.0, exponent.min(0)),
        (false, 1) => format!("10{}", superscript(exponent)),
        (false, _) => format!("{factor}×10{}", superscript(exponent)),
    };
    // Few decades leave room for labels at 2 and 5.
    let between = decades * 3 <= count;
    let mut marks = Vec::new();
    for exponent in first - 1..=last {
        for factor in 1..10u8 {
            let value = f64::from(factor) * power_of_ten(exponent);
            let on_stride = (exponent - first) % stride == 0;
            let inside = value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9);
            if !inside || (factor > 1 && stride > 1) {
                continue;
            }
            let labelled = on_stride && (factor == 1 || (between && (factor == 2 || factor == 5)));
            let label = if labelled {
                write(factor, exponent)
            } else {
                String::new()
            };
            marks.push(Tick { value, label });
        }
    }
    marks
}

/// With a minus sign as wide as a plus, and no negative zero.
fn typographic(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| byte == b'0' || byte == b'.') => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text.to_owned(),
    }
}

fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |byte: u8| {
        if byte == b'-' {
            '⁻'
        } else {
            DIGITS[usize::from(byte - b'0')]
        }
    };
    exponent.to_string().bytes().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(spacing: Spacing, low: f64, high: f64, count: usize) -> Vec<String> {
        let marks = ticks(&Scale { spacing, low, high }, count);
        marks
            .into_iter()
            .map(|tick| tick.label)
            .filter(|label| !label.is_empty())
            .collect()
    }

    #[test]
    fn labels_are_round() {
        assert_eq!(
            labels(Spacing::Linear, 0.0, 1.0, 5),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(Spacing::Linear, 0.0, 0.3, 3), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(Spacing::Linear, -10.0, 10.0, 4), ["−10", "−5", "0", "5", "10"]);
        assert_eq!(
            labels(Spacing::Linear, 0.0, 100_000.0, 5),
            ["0", "20000", "40000", "60000", "80000", "100000"]
        );
    }

    #[test]
    fn extremes_are_scientific() {
        assert_eq!(
            labels(Spacing::Linear, 0.0, 2e7, 4),
            ["0", "0.5×10⁷", "1.0×10⁷", "1.5×10⁷", "2.0×10⁷"]
        );
        assert_eq!(labels(Spacing::Linear, -1e-6, 1e-6, 2), ["−1×10⁻⁶", "0", "1×10⁻⁶"]);
    }

    #[test]
    fn log_labels() {
        assert_eq!(labels(Spacing::Log, 0.01, 100.0, 6), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(
            labels(Spacing::Log, 1e-8, 1e-4, 6),
            ["10⁻⁸", "10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴"]
        );
        assert_eq!(labels(Spacing::Log, 1.0, 10.0, 6), ["1", "2", "5", "10"]);
        assert_eq!(labels(Spacing::Log, 2.0, 4.0, 4), ["2.0", "2.5", "3.0", "3.5", "4.0"]);
        assert!(labels(Spacing::Log, 1e-300, 1e300, 6).len() <= 7);
    }

    #[test]
    fn any_range_has_ticks_inside() {
        let mut low: f64 = -1e300;
        while low < 1e300 {
            for span in [1e-9, 0.37, 12.0, 1e4] {
                let high = low + span * if low.abs() < 1e-200 { 1.0 } else { low.abs() };
                for count in [2, 3, 5, 8, 12] {
                    let marks = ticks(
                        &Scale {
                            spacing: Spacing::Linear,
                            low,
                            high,
                        },
                        count,
                    );
                    assert!(
                        !marks.is_empty() && marks.len() as f64 <= 1.6 * count as f64 + 1.0,
                        "{low} {high} {count}: {}",
                        marks.len()
                    );
                    let slack = (high - low) * 1e-3;
                    assert!(
                        marks
                            .iter()
                            .all(|tick| tick.value >= low - slack && tick.value <= high + slack)
                    );
                    assert!(
                        marks.windows(2).all(|pair| pair[0].label != pair[1].label),
                        "{low} {high}: {marks:?}"
                    );
                }
            }
            low = if low < -1e-290 {
                low / 1.7e3
            } else if low <= 0.0 {
                1e-290
            } else {
                low * 1.9e3
            };
        }
    }
}
