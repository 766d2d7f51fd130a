//! Numbers and their meaning in words.

use intervalid_analysis::NORMAL_95;
pub use intervalid_data::count;
use intervalid_model::{CoverageTarget, Evaluation, Metrics, ModelInterface, ROLLING_WINDOW};

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

/// The share that was asked, without needless digits: `90 %`, `97.5 %`.
#[must_use]
pub fn asked(coverage: f64) -> String {
    let text = format!("{:.2}", 100.0 * coverage);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The share that was asked beside shares that were measured: with their one decimal, or two where it has them.
#[must_use]
pub fn asked_beside(coverage: f64) -> String {
    beside(coverage, coverage)
}

/// A share with the decimals that tell it from this target, one or two.
fn beside(target: f64, share: f64) -> String {
    match format!("{:.2}", 100.0 * target).ends_with('0') {
        true => percent(share),
        false => format!("{:.2} %", 100.0 * share),
    }
}

/// How the share of samples inside a band stands to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverageVerdict {
    /// At least the target, to the digits that are printed.
    Reached,
    /// Below the target by no more than chance explains in so few independent samples.
    Consistent,
    /// Below the target.
    Missed,
}

/// The coverage that was measured, beside its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredCoverage {
    /// Share of the samples inside the band.
    pub share: f64,
    /// The target.
    pub target: f64,
    /// Half-width of the 95 % interval of the share if the target holds, where the number of independent samples is known.
    pub uncertainty: Option<f64>,
}

impl MeasuredCoverage {
    /// `independent` is the share of the samples that are worth an independent one, where it is known: errors of a simulation
    /// follow one another. `None` of a simulation that diverged.
    #[must_use]
    pub fn of(metrics: &Metrics, target: f64, independent: Option<f64>) -> Option<Self> {
        let effective = independent.map(|share| (share * metrics.n as f64).max(1.0));
        Some(Self {
            share: metrics.picp?,
            target,
            uncertainty: effective.map(|samples| NORMAL_95 * (target * (1.0 - target) / samples).sqrt()),
        })
    }

    /// Whether the target was reached.
    #[must_use]
    pub fn verdict(self) -> CoverageVerdict {
        let missing = self.target - self.share;
        if missing <= 0.0 || self.shown() == asked_beside(self.target) {
            return CoverageVerdict::Reached;
        }
        match self.uncertainty {
            Some(uncertainty) if missing <= uncertainty => CoverageVerdict::Consistent,
            _ => CoverageVerdict::Missed,
        }
    }

    /// The share, with one decimal, or two where the target has two.
    #[must_use]
    pub fn shown(self) -> String {
        beside(self.target, self.share)
    }

    /// Such as `target 90 %, reached`.
    #[must_use]
    pub fn judgement(self) -> String {
        let target = asked(self.target);
        match self.verdict() {
            CoverageVerdict::Reached => format!("target {target}, reached"),
            CoverageVerdict::Consistent => format!("consistent with the target of {target}"),
            CoverageVerdict::Missed => format!("target {target}, missed"),
        }
    }
}

/// The share of samples that are worth an independent one, as the model's calibration found it on held-out blocks: the same for whoever judges
/// a free run of it.
#[must_use]
pub fn independent_share(interface: &ModelInterface) -> Option<f64> {
    let calibration = interface.calibration.as_ref()?;
    // Its samples are those of all outputs, its effective number is of the output that has the least.
    let samples = calibration.samples as f64 / calibration.outputs.len().max(1) as f64;
    Some((calibration.effective_samples / samples).min(1.0)).filter(|share| *share > 0.0)
}

/// Coverage in words; `independent` as in [`MeasuredCoverage::of`].
#[must_use]
pub fn reading(metrics: &Metrics, target: f64, independent: Option<f64>) -> String {
    let Some(coverage) = MeasuredCoverage::of(metrics, target, independent) else {
        return match metrics.diverged_at {
            Some(step) => format!("the simulation diverged at step {}, so there are no metrics.", step + 1),
            None => "there are no samples to score.".to_owned(),
        };
    };
    let n = metrics.n;
    let uncertainty = coverage
        .uncertainty
        .map_or_else(String::new, |uncertainty| format!(" ± {:.1}", 100.0 * uncertainty));
    let worst = metrics.worst_rolling_picp.map_or_else(String::new, |worst| {
        format!("; worst {}-sample window {}", ROLLING_WINDOW.min(n), percent(worst))
    });
    // A band as wide as the data holds them, and is worth nothing.
    let useless = match metrics.fit_percent {
        Some(fit) if fit <= 0.0 => "; ŷ is no better than the mean of y",
        Some(fit) if fit <= HARDLY => "; ŷ is hardly better than the mean of y",
        _ => "",
    };
    format!(
        "{}{uncertainty} of {n} samples inside the band ({}){worst}{useless}.",
        coverage.shown(),
        coverage.judgement(),
    )
}

/// A fit in percent that is hardly one.
const HARDLY: f64 = 5.0;

/// What stands against the target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judged<'a> {
    /// Means over the outputs, but for the share of samples inside, which is the one that is judged, and the worst window, which is the worst of any
    /// output.
    pub(crate) metrics: Metrics,
    /// The output that the share is of, where each of several has a target of its own: the one that is inside least often.
    pub(crate) output: Option<&'a str>,
}

/// What stands against the target: all outputs together where the band was sized for that, else the output that is inside least often, since the target
/// is each one's own and a mean hides that one misses it.
pub(crate) fn against(target: CoverageTarget, evaluation: &Evaluation) -> Judged<'_> {
    let windows = evaluation.outputs.iter().map(|(_, metrics)| metrics.worst_rolling_picp);
    let worst_window = windows.flatten().min_by(f64::total_cmp);
    let metrics = Metrics {
        worst_rolling_picp: worst_window.or(evaluation.all.worst_rolling_picp),
        ..evaluation.all
    };
    let shares = evaluation
        .outputs
        .iter()
        .map(|(name, metrics)| Some((name, metrics.picp?)));
    // One that has no share leaves the worst open.
    let shares: Option<Vec<_>> = shares.collect();
    let worst = shares.filter(|shares| shares.len() > 1);
    let worst = worst.and_then(|shares| shares.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)));
    let (output, picp) = match (target.together, worst) {
        (true, _) => (None, evaluation.together.or(metrics.picp)),
        (false, Some((name, share))) => (Some(name.as_str()), Some(share)),
        (false, None) => (None, metrics.picp),
    };
    Judged {
        metrics: Metrics { picp, ..metrics },
        output,
    }
}

/// How often all outputs are inside together, in words; `is_target` where the band was sized for that. None of one output.
#[must_use]
pub fn together_reading(
    evaluation: &Evaluation,
    target: f64,
    is_target: bool,
    independent: Option<f64>,
) -> Option<String> {
    let share = evaluation.together?;
    let together = Metrics {
        picp: Some(share),
        worst_rolling_picp: None,
        ..evaluation.all
    };
    let words = match is_target {
        true => reading(&together, target, independent),
        false => format!(
            "{} of {} samples inside their bands; the target is each output's own.",
            percent(share),
            together.n
        ),
    };
    Some(format!("all outputs together: {words}"))
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
    fn outputs_are_judged_together_where_their_bands_were_sized_so() {
        let metrics = Metrics {
            n: 200,
            picp: Some(0.95),
            ..Metrics::default()
        };
        let several = Evaluation {
            outputs: vec![("a".to_owned(), metrics), ("b".to_owned(), metrics)],
            all: metrics,
            together: Some(0.91),
        };
        let found = |is_target| together_reading(&several, 0.9, is_target, None).expect("two outputs");
        assert_eq!(
            found(true),
            "all outputs together: 91.0 % of 200 samples inside the band (target 90 %, reached)."
        );
        assert_eq!(
            found(false),
            "all outputs together: 91.0 % of 200 samples inside their bands; the target is each output's own."
        );
        let one = Evaluation {
            together: None,
            ..several
        };
        assert_eq!(together_reading(&one, 0.9, true, None), None);
    }

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
        assert_eq!((asked(0.9), asked(0.975)), ("90 %".to_owned(), "97.5 %".to_owned()));
    }

    #[test]
    fn a_model_that_explains_nothing_is_called_so() {
        let of = |fit| {
            let metrics = Metrics {
                n: 500,
                picp: Some(0.92),
                fit_percent: Some(fit),
                ..Metrics::default()
            };
            reading(&metrics, 0.9, None)
        };
        assert!(
            of(-0.1).ends_with("(target 90 %, reached); ŷ is no better than the mean of y."),
            "{}",
            of(-0.1)
        );
        assert!(of(3.0).ends_with("hardly better than the mean of y."));
        assert!(of(20.0).ends_with("reached)."));
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
            reading(&metrics(0.908), 0.9, None),
            "90.8 % of 499 samples inside the band (target 90 %, reached); worst 100-sample window 71.0 %."
        );
        assert!(reading(&metrics(0.898), 0.9, None).contains("(target 90 %, missed)"));
        assert_eq!(
            reading(&metrics(0.87), 0.9, Some(0.4)),
            "87.0 % ± 4.2 of 499 samples inside the band (consistent with the target of 90 %); worst 100-sample window 71.0 %."
        );
        assert!(reading(&metrics(0.85), 0.9, Some(0.4)).contains("(target 90 %, missed)"));
    }

    #[test]
    fn what_is_printed_as_the_target_is_not_missed() {
        let metrics = Metrics {
            n: 4000,
            picp: Some(0.899_75),
            ..Metrics::default()
        };
        assert_eq!(
            reading(&metrics, 0.9, None),
            "90.0 % of 4000 samples inside the band (target 90 %, reached)."
        );
        assert!(reading(&metrics, 0.95, None).contains("missed"));
        // 99.95 % is not what was asked, though both are 100.0 % with one decimal.
        let metrics = Metrics {
            n: 4000,
            picp: Some(0.9995),
            ..Metrics::default()
        };
        assert_eq!(
            reading(&metrics, 0.9996, None),
            "99.95 % of 4000 samples inside the band (target 99.96 %, missed)."
        );
        let asked: [String; 3] = [0.9, 0.975, 0.9996].map(asked_beside);
        assert_eq!(asked, ["90.0 %", "97.5 %", "99.96 %"]);
    }

    #[test]
    fn a_diverged_simulation_is_told() {
        let metrics = Metrics {
            n: 7,
            diverged_at: Some(7),
            ..Metrics::default()
        };
        assert_eq!(
            reading(&metrics, 0.9, None),
            "the simulation diverged at step 8, so there are no metrics."
        );
    }
}
