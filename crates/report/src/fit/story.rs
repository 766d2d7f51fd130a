//! A fit in plain words.

use intervalid_data::InitialState;
use intervalid_model::{CoverageTarget, Evaluation, Method, Metrics, Model, ROLLING_WINDOW};
use serde::{Deserialize, Serialize};

use super::{FitReport, PartBands};
use crate::text::{
    CoverageVerdict, Judged, MeasuredCoverage, against, asked, count, independent_share, listed, percent, significant,
};

/// Differences below this share are none to a reader.
const ALIKE: f64 = 0.05;

/// The words of a page.
pub(super) struct Story {
    pub(super) model: String,
    pub(super) lead: Vec<String>,
    pub(super) cautions: Vec<String>,
    pub(super) facts: Vec<Fact>,
}

/// One number that matters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fact {
    label: String,
    value: String,
    note: String,
    tone: Tone,
}

/// How a number is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Tone {
    #[serde(rename = "")]
    Plain,
    Good,
    Bad,
}

/// Tells what was done and what came of it; the first evaluation judges.
pub(super) fn tell(report: &FitReport<'_>, judged: Option<&PartBands<'_>>) -> Story {
    let outcome = report.outcome;
    let model = &outcome.model;
    let baseline = outcome.baseline.as_ref().map(|baseline| &baseline.test);
    let target = model.interface().coverage_target(model.config().coverage);
    let independent = independent_share(model.interface());
    let mut lead = vec![what_was_done(report), how_it_starts(model.config().initial)];
    let mut cautions: Vec<String> = Vec::new();
    let mut facts = Vec::new();
    if !outcome.unfinished.is_empty() {
        let missing: Vec<String> = outcome.unfinished.iter().map(ToString::to_string).collect();
        let missing = listed(missing.iter().map(String::as_str));
        cautions.push(format!("Training was ended early: {missing}."));
    }
    if let Some(PartBands {
        name: part, evaluation, ..
    }) = judged
    {
        lead.push(result(part, evaluation, target, independent));
        lead.extend(baseline.and_then(|baseline| beside_linear(evaluation, baseline)));
        facts = numbers(report, evaluation, target, independent);
        cautions.extend(doubts(part, &against(target, evaluation), target, independent));
    }
    if judged.is_none_or(|part| part.name != "test") {
        cautions.push(
            "There is no test part, so nothing here was checked on samples that training had not seen.".to_owned(),
        );
    }
    Story {
        model: name(model),
        lead,
        cautions,
        facts,
    }
}

/// Such as `cascade INODE` or `ARX`.
fn name(model: &Model) -> String {
    let kind = model.kind();
    match kind.method() {
        Method::Interval => format!(
            "{} {}",
            model.config().interval.strategy.name(),
            kind.name().to_uppercase()
        ),
        Method::Linear => "ARX".to_owned(),
        _ => kind.name().to_owned(),
    }
}

/// `a cascade INODE with lags 2/1/2 and 44 parameters`, `the mean of 6 ARX models with lags 2/1/2 and 8 parameters each`.
#[must_use]
pub fn model_in_words(model: &Model) -> String {
    let (name, members, memory) = (name(model), model.members(), model.memory_in_words());
    if members > 1 {
        let parameters = count(model.parameters() / members, "parameter");
        return format!("the mean of {members} {name} models with {memory} and {parameters} each");
    }
    let vowel = name.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']);
    let article = if vowel { "an" } else { "a" };
    let parameters = count(model.parameters(), "parameter");
    format!("{article} {name} with {memory} and {parameters}")
}

fn what_was_done(report: &FitReport<'_>) -> String {
    let FitReport {
        dataset,
        split,
        outcome,
        ..
    } = report;
    let model = &outcome.model;
    let channels = |channels: &[intervalid_data::Channel]| listed(channels.iter().map(|channel| channel.name.as_str()));
    let every = dataset
        .sample_time()
        .map_or_else(String::new, |seconds| format!(", one every {seconds} s"));
    let from = match dataset.inputs() {
        [] => "its own past".to_owned(),
        inputs => channels(inputs),
    };
    if split.train.is_empty() {
        return format!(
            "This model, {}, simulates {} from {from}. It was fitted before; here it is judged on {} of {}{every}.",
            model_in_words(model),
            channels(dataset.outputs()),
            count(split.test.samples(), "sample"),
            dataset.name(),
        );
    }
    let validation = match split.validation.samples() {
        0 => String::new(),
        samples if outcome.learnt_from_validation() => {
            format!(", {samples} for validation, learnt from as well,")
        }
        samples => format!(", {samples} for validation"),
    };
    format!(
        "This model, {} (preset {}), simulates {} from {}. The record {} has {}{every}: {} for training{validation} \
         and {} for testing, in time order.",
        model_in_words(model),
        report.outcome.metrics.preset.name(),
        channels(dataset.outputs()),
        from,
        dataset.name(),
        count(dataset.samples(), "sample"),
        split.train.samples(),
        split.test.samples(),
    )
}

fn how_it_starts(initial: InitialState) -> String {
    let known = match initial {
        InitialState::ZeroPadded => "it starts from the first measured output of each part",
        InitialState::Measured => "it starts from the measured outputs just before each part",
        InitialState::Warmup(_) => "it follows the measured outputs during a warm-up, which is not scored",
        InitialState::History(steps) => {
            return format!(
                "It runs freely: its state comes from the {steps} measured samples before each part, and from then on nothing but the \
                 inputs drives it."
            );
        }
    };
    format!("It runs freely: {known} and from then on feeds back its own predictions.")
}

/// Where samples should lie.
fn inside(target: CoverageTarget, judged: &Judged<'_>) -> String {
    match (target.together, judged.output) {
        (true, _) => "inside the bands of all outputs".to_owned(),
        (false, Some(output)) => format!("inside the band of '{output}'"),
        (false, None) => "inside the band".to_owned(),
    }
}

fn result(part: &str, evaluation: &Evaluation, target: CoverageTarget, independent: Option<f64>) -> String {
    let judged = against(target, evaluation);
    let metrics = &judged.metrics;
    let Some(measured) = MeasuredCoverage::of(metrics, target.share, independent) else {
        return format!("On the {part} part the simulation diverged, so there are no metrics.");
    };
    // Errors of several outputs have no common unit.
    let error = match (evaluation.outputs.len(), metrics.rmse, metrics.fit_percent) {
        (1, Some(rmse), _) => format!("its error (RMSE) is {} and ", significant(rmse, 3)),
        (2.., _, Some(fit)) => format!("its mean fit is {fit:.1} % and "),
        _ => String::new(),
    };
    let uncertainty = measured
        .uncertainty
        .map_or_else(String::new, |uncertainty| format!(" ± {:.1}", 100.0 * uncertainty));
    let width = metrics.pinaw.map_or_else(String::new, |pinaw| {
        format!(" On average the band is {} of the output's range wide.", percent(pinaw))
    });
    let least = judged.output.map_or("", |_| ", the output with the fewest");
    format!(
        "On the {part} part {error}{}{uncertainty} of {} samples lie {}{least} ({}).{width}",
        measured.shown(),
        metrics.n,
        inside(target, &judged),
        measured.judgement(),
    )
}

fn beside_linear(evaluation: &Evaluation, baseline: &Evaluation) -> Option<String> {
    // Of several outputs the geometric mean of the ratios, which have no unit.
    let ratio = |measure: fn(&Metrics) -> Option<f64>| -> Option<f64> {
        let pairs = evaluation.outputs.iter().zip(&baseline.outputs);
        let logarithms: Option<Vec<f64>> = pairs
            .map(|((_, ours), (_, linear))| Some((measure(ours)? / measure(linear)?).ln()))
            .collect();
        let logarithms = logarithms?;
        Some((logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64).exp())
    };
    Some(format!(
        "Compared with a plain linear ARX on the same record, {} and {}{}.",
        verdict("the error", ratio(|metrics| metrics.rmse)?),
        verdict("the interval score", ratio(|metrics| metrics.interval_score)?),
        if evaluation.outputs.len() > 1 {
            ", averaged over the outputs"
        } else {
            ""
        },
    ))
}

/// A measure of which lower is better, as a ratio to that of the linear model, in words.
fn verdict(what: &str, ratio: f64) -> String {
    let change = format!("{:.0} %", 100.0 * (ratio - 1.0).abs());
    match ratio {
        ratio if ratio > 2.0 => format!("{what} is {ratio:.1} times as large (ARX is better)"),
        ratio if ratio > 1.0 + ALIKE => format!("{what} is {change} higher (ARX is better)"),
        ratio if ratio >= 1.0 - ALIKE => format!("{what} is about the same (ARX is as good)"),
        _ => format!("{what} is {change} lower"),
    }
}

fn numbers(
    report: &FitReport<'_>,
    evaluation: &Evaluation,
    target: CoverageTarget,
    independent: Option<f64>,
) -> Vec<Fact> {
    // Errors and scores of several outputs have no common unit.
    let shown = |evaluation: &Evaluation| match evaluation.outputs.len() {
        1 => evaluation.all,
        _ => Metrics {
            rmse: None,
            interval_score: None,
            ..evaluation.all
        },
    };
    let metrics = &shown(evaluation);
    let linear = report.outcome.baseline.as_ref().map(|baseline| shown(&baseline.test));
    let judged = against(target, evaluation);
    let measured = MeasuredCoverage::of(&judged.metrics, target.share, independent);
    let unit = match report.outcome.model.interface().outputs.as_slice() {
        [only] => only.unit.clone().map_or_else(String::new, |unit| format!(" {unit}")),
        _ => String::new(),
    };
    let beside = |value: Option<f64>, text: &dyn Fn(f64) -> String| {
        value.map_or_else(String::new, |value| format!("linear ARX: {}", text(value)))
    };
    let fact = |label: &str, value: Option<f64>, note: String, text: &dyn Fn(f64) -> String, tone: Tone| {
        value.map(|value| Fact {
            label: label.to_owned(),
            value: text(value),
            note,
            tone,
        })
    };
    let size = |value: f64| format!("{}{unit}", significant(value, 3));
    let fit = |value: f64| format!("{value:.1} %");
    let facts = [
        fact(
            &inside(target, &judged),
            measured.map(|measured| measured.share),
            measured.map_or_else(String::new, MeasuredCoverage::judgement),
            &|share| measured.map_or_else(|| percent(share), MeasuredCoverage::shown),
            measured.map_or(Tone::Plain, |measured| match measured.verdict() {
                CoverageVerdict::Reached => Tone::Good,
                CoverageVerdict::Consistent => Tone::Plain,
                CoverageVerdict::Missed => Tone::Bad,
            }),
        ),
        fact(
            "mean width",
            metrics.pinaw,
            "of the output's range".to_owned(),
            &percent,
            Tone::Plain,
        ),
        fact(
            "RMSE",
            metrics.rmse,
            beside(linear.and_then(|it| it.rmse), &size),
            &size,
            Tone::Plain,
        ),
        fact(
            "fit",
            metrics.fit_percent,
            beside(linear.and_then(|it| it.fit_percent), &fit),
            &fit,
            Tone::Plain,
        ),
        fact(
            "interval score",
            metrics.interval_score,
            beside(linear.and_then(|it| it.interval_score), &size),
            &size,
            Tone::Plain,
        ),
    ];
    facts.into_iter().flatten().collect()
}

fn doubts(part: &str, judged: &Judged<'_>, target: CoverageTarget, independent: Option<f64>) -> Vec<String> {
    let metrics = &judged.metrics;
    let mut doubts = Vec::new();
    if let Some(step) = metrics.diverged_at {
        doubts.push(format!(
            "The simulation of the {part} part diverged at step {}, so it has no metrics. Try a smaller learning rate, other lags, or \
             a linear model.",
            step + 1
        ));
    }
    let Some(measured) = MeasuredCoverage::of(metrics, target.share, independent) else {
        return doubts;
    };
    if measured.verdict() == CoverageVerdict::Missed {
        doubts.push(format!(
            "Only {} of the {part} samples are {}; the target is {}. Errors on this part are larger than those the band \
             was made from, so do not rely on it there.",
            measured.shown(),
            inside(target, judged),
            asked(target.share)
        ));
    }
    if metrics.pinaw.is_some_and(|width| width > 1.0) {
        doubts
            .push("On average the band is wider than the output's whole range, so it says nothing useful.".to_owned());
    }
    if let Some(worst) = metrics.worst_rolling_picp.filter(|worst| *worst < target.share - 0.2) {
        doubts.push(format!(
            "Misses cluster: in the worst {}-sample window only {} of the samples are inside.",
            ROLLING_WINDOW.min(metrics.n),
            percent(worst)
        ));
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::MetricRow;

    #[test]
    fn the_verdict_is_honest_in_every_case() {
        assert_eq!(verdict("it", 0.8), "it is 20 % lower");
        assert_eq!(verdict("it", 1.02), "it is about the same (ARX is as good)");
        assert_eq!(verdict("it", 1.2), "it is 20 % higher (ARX is better)");
        assert_eq!(verdict("it", 3.0), "it is 3.0 times as large (ARX is better)");
    }

    #[test]
    fn doubts_follow_the_numbers() {
        let one = |metrics| Judged { metrics, output: None };
        let metrics = |picp, worst| {
            one(Metrics {
                n: 200,
                picp: Some(picp),
                worst_rolling_picp: Some(worst),
                ..Metrics::default()
            })
        };
        let target = CoverageTarget::of_each(0.9);
        assert!(doubts("test", &metrics(0.93, 0.85), target, None).is_empty());
        assert_eq!(doubts("test", &metrics(0.8, 0.5), target, None).len(), 2);
        assert!(
            doubts("test", &metrics(0.88, 0.8), target, Some(0.5)).is_empty(),
            "by chance"
        );
        let away = one(Metrics {
            diverged_at: Some(4),
            ..Metrics::default()
        });
        let doubts = doubts("test", &away, target, None);
        assert!(doubts.len() == 1 && doubts[0].contains("at step 5"), "{doubts:?}");
    }

    #[test]
    fn a_target_of_all_outputs_together_is_judged_by_all_together() {
        let of = |picp| Metrics {
            n: 200,
            picp: Some(picp),
            ..Metrics::default()
        };
        let evaluation = Evaluation {
            outputs: vec![("level".to_owned(), of(0.93)), ("flow".to_owned(), of(0.95))],
            all: of(0.94),
            together: Some(0.86),
        };
        let target = |together| CoverageTarget { share: 0.9, together };
        let told = |together| result("test", &evaluation, target(together), None);
        assert_eq!(
            told(false),
            "On the test part 93.0 % of 200 samples lie inside the band of 'level', the output with the fewest (target 90 %, reached)."
        );
        assert_eq!(
            told(true),
            "On the test part 86.0 % of 200 samples lie inside the bands of all outputs (target 90 %, missed)."
        );
        let doubted = doubts("test", &against(target(true), &evaluation), target(true), None);
        assert!(
            doubted[0].starts_with("Only 86.0 % of the test samples are inside the bands of all outputs"),
            "{doubted:?}"
        );
        let rows = |together| MetricRow::all("test", &evaluation, target(together), None);
        let kept = |together| rows(together).iter().map(|row| row.kept).collect::<Vec<_>>();
        assert_eq!(kept(false), [Some(true); 3]);
        assert_eq!(
            kept(true),
            [None, None, Some(false)],
            "no output has a target of its own"
        );
        assert_eq!(rows(true)[2].together, Some(0.86));
    }

    #[test]
    fn a_target_of_each_output_is_judged_by_the_worst() {
        let of = |picp, worst| Metrics {
            n: 300,
            picp: Some(picp),
            worst_rolling_picp: Some(worst),
            ..Metrics::default()
        };
        // The mean is above the target, as is the mean of the worst windows above its limit.
        let evaluation = Evaluation {
            outputs: vec![("level".to_owned(), of(1.0, 0.98)), ("flow".to_owned(), of(0.82, 0.6))],
            all: of(0.91, 0.79),
            together: Some(0.82),
        };
        let target = CoverageTarget::of_each(0.9);
        assert_eq!(
            result("test", &evaluation, target, None),
            "On the test part 82.0 % of 300 samples lie inside the band of 'flow', the output with the fewest (target 90 %, missed)."
        );
        let doubted = doubts("test", &against(target, &evaluation), target, None);
        assert!(
            doubted.len() == 2
                && doubted[0].starts_with("Only 82.0 % of the test samples are inside the band of 'flow'")
                && doubted[1].contains("only 60.0 %"),
            "{doubted:?}"
        );
        let rows = MetricRow::all("test", &evaluation, target, None);
        let kept: Vec<_> = rows.iter().map(|row| row.kept).collect();
        assert_eq!(kept, [Some(true), Some(false), Some(false)]);
    }
}
