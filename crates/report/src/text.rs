//! Numbers and their meaning in words.

use intervalid_model::{Metrics, ROLLING_WINDOW};

/// `value` with `digits` significant digits, in scientific notation where it is very large or small.
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    // Rounding comes first: 9.996 to three digits is 10.0.
    let scientific = format!("{:.*e}", digits.saturating_sub(1), value);
    let exponent: i32 = scientific
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    if value != 0.0 && !(-4..7).contains(&exponent) {
        return scientific;
    }
    let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// A fraction as a percentage with one decimal.
#[must_use]
pub fn percent(fraction: f64) -> String {
    format!("{:.1} %", 100.0 * fraction)
}

/// A count with its noun: `1 sample`, `2 samples`.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// The share that was asked, without needless digits: `90 %`, `97.5 %`.
#[must_use]
pub fn asked(coverage: f64) -> String {
    let text = format!("{:.2}", 100.0 * coverage);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Coverage in words.
#[must_use]
pub fn reading(metrics: &Metrics, coverage: f64) -> String {
    let (Some(picp), n) = (metrics.picp, metrics.n) else {
        let step = metrics.diverged_at.unwrap_or(0) + 1;
        return format!("the simulation ran away at step {step}; it has no metrics.");
    };
    let worst = metrics.worst_rolling_picp.unwrap_or(picp);
    format!(
        "{} of {n} samples inside; asked {}: {}. Worst {} in a row: {}.",
        percent(picp),
        asked(coverage),
        if picp >= coverage { "kept" } else { "not kept" },
        ROLLING_WINDOW.min(n),
        percent(worst),
    )
}

/// A name with its unit.
pub(crate) fn labelled(name: &str, unit: Option<&str>) -> String {
    unit.map_or_else(|| name.to_owned(), |unit| format!("{name} ({unit})"))
}

/// Names as a list in a sentence: `a`, `a and b`, `a, b and c`.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [] => "none".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits() {
        let cases = [
            (0.0, "0.000"),
            (9.9996, "10.00"),
            (-123.456, "-123.5"),
            (123_456.0, "123456"),
            (0.001_234_56, "0.001235"),
            (1.5e-7, "1.500e-7"),
            (2.0e9, "2.000e9"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value, 4), text);
        }
    }

    #[test]
    fn lists_and_counts() {
        assert_eq!(listed(["a"]), "a");
        assert_eq!(listed(["a", "b", "c"]), "a, b and c");
        assert_eq!(
            (count(1, "epoch"), count(0, "epoch")),
            ("1 epoch".to_owned(), "0 epochs".to_owned())
        );
        assert_eq!((asked(0.9), asked(0.975)), ("90 %".to_owned(), "97.5 %".to_owned()));
    }

    #[test]
    fn coverage_in_words() {
        let metrics = |picp| Metrics {
            n: 499,
            picp: Some(picp),
            worst_rolling_picp: Some(0.71),
            ..Metrics::default()
        };
        assert_eq!(
            reading(&metrics(0.908), 0.9),
            "90.8 % of 499 samples inside; asked 90 %: kept. Worst 100 in a row: 71.0 %."
        );
        assert!(reading(&metrics(0.899), 0.9).contains("asked 90 %: not kept."));
    }

    #[test]
    fn a_diverged_simulation_is_told() {
        let metrics = Metrics {
            n: 7,
            diverged_at: Some(7),
            ..Metrics::default()
        };
        assert_eq!(
            reading(&metrics, 0.9),
            "the simulation ran away at step 8; it has no metrics."
        );
    }
}
