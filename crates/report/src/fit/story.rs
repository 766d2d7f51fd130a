//! A fit in plain words.

use intervalid_data::InitialState;
use intervalid_model::{Evaluation, Method, Metrics, Model};
use serde::{Deserialize, Serialize};

use super::FitReport;
use crate::text::{asked, count, listed, percent, significant};

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
pub(super) fn tell(report: &FitReport<'_>, evaluations: &[(&str, Evaluation)]) -> Story {
    let judged = evaluations.first();
    let baseline = report.baseline.map(|baseline| &baseline.test.all);
    let coverage = report.model.config().coverage;
    let mut lead = vec![what_was_done(report), how_it_starts(report.model.config().initial)];
    let mut cautions = Vec::new();
    let mut facts = Vec::new();
    if let Some((part, evaluation)) = judged {
        let metrics = &evaluation.all;
        lead.push(result(part, metrics, coverage));
        lead.extend(baseline.and_then(|baseline| beside_linear(metrics, baseline)));
        facts = numbers(report, metrics, coverage);
        cautions = doubts(part, metrics, coverage);
    }
    if judged.is_none_or(|(part, _)| *part != "test") {
        cautions
            .push("There is no test part: nothing here was judged on samples that training had not seen.".to_owned());
    }
    Story {
        model: name(report.model),
        lead,
        cautions,
        facts,
    }
}

/// Such as `cascade INODE` or `ARX`.
fn name(model: &Model) -> String {
    let kind = model.kind();
    match kind.method() {
        Method::Interval => format!("{} {}", model.config().strategy.name(), kind.name().to_uppercase()),
        Method::Linear => "ARX".to_owned(),
        _ => kind.name().to_owned(),
    }
}

fn what_was_done(report: &FitReport<'_>) -> String {
    let FitReport {
        dataset, split, model, ..
    } = report;
    let channels = |channels: &[intervalid_data::Channel]| listed(channels.iter().map(|channel| channel.name.as_str()));
    let every = dataset
        .sample_time()
        .map_or_else(String::new, |seconds| format!(", one every {seconds} s"));
    let validation = match split.validation.samples() {
        0 => String::new(),
        samples => format!(", {} to choose by", count(samples, "sample")),
    };
    format!(
        "A model ({}) was fitted that simulates {} from {}: lags {}, {}, preset {}. The record {} has {}{every}: {} to train{validation}, \
         {} to test, in this order of time.",
        name(model),
        channels(dataset.outputs()),
        match dataset.inputs() {
            [] => "its own past".to_owned(),
            inputs => channels(inputs),
        },
        model.config().lags,
        count(model.parameters(), "parameter"),
        report.preset,
        dataset.name(),
        count(dataset.samples(), "sample"),
        count(split.train.samples(), "sample"),
        count(split.test.samples(), "sample"),
    )
}

fn how_it_starts(initial: InitialState) -> String {
    let known = match initial {
        InitialState::ZeroPadded => "only the first measured output of a part is known to it",
        InitialState::Measured => "the measured outputs before the start are known to it",
        InitialState::Warmup(_) => "it is led by measured outputs for a warm-up that is not scored",
    };
    format!("It runs free: {known}, the rest it feeds back itself.")
}

fn result(part: &str, metrics: &Metrics, coverage: f64) -> String {
    let (Some(picp), Some(rmse)) = (metrics.picp, metrics.rmse) else {
        return format!("On the {part} part the simulation ran away and has no metrics.");
    };
    let width = metrics.pinaw.map_or_else(String::new, |pinaw| {
        format!(", which is {} of the range of the output wide", percent(pinaw))
    });
    format!(
        "On the {part} part its error (RMSE) is {}, and {} of {} samples lie inside the band{width}; {} were asked.",
        significant(rmse, 3),
        percent(picp),
        metrics.n,
        asked(coverage),
    )
}

fn beside_linear(metrics: &Metrics, baseline: &Metrics) -> Option<String> {
    let (rmse, linear) = (metrics.rmse?, baseline.rmse?);
    let (score, linear_score) = (metrics.interval_score?, baseline.interval_score?);
    Some(format!(
        "Beside a plain linear ARX on the same record, {} and {}.",
        verdict("the error", rmse, linear),
        verdict("the interval score", score, linear_score),
    ))
}

/// A measure of which less is better, in words.
fn verdict(what: &str, ours: f64, linear: f64) -> String {
    let ratio = ours / linear;
    let change = format!("{:.0} %", 100.0 * (ratio - 1.0).abs());
    match ratio {
        ratio if ratio > 2.0 => format!("{what} is {ratio:.1} times as large, so ARX is better there"),
        ratio if ratio > 1.0 + ALIKE => format!("{what} is {change} higher, so ARX is better there"),
        ratio if ratio >= 1.0 - ALIKE => format!("{what} is about the same, so ARX is as good"),
        _ => format!("{what} is {change} lower"),
    }
}

fn numbers(report: &FitReport<'_>, metrics: &Metrics, coverage: f64) -> Vec<Fact> {
    let linear = report.baseline.map(|baseline| baseline.test.all);
    let unit = match report.model.interface().outputs.as_slice() {
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
    let tone = |good: bool| if good { Tone::Good } else { Tone::Bad };
    let size = |value: f64| format!("{}{unit}", significant(value, 3));
    let fit = |value: f64| format!("{value:.1} %");
    let facts = [
        fact(
            "inside the band",
            metrics.picp,
            format!("asked: {}", asked(coverage)),
            &percent,
            metrics.picp.map_or(Tone::Plain, |picp| tone(picp >= coverage)),
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

fn doubts(part: &str, metrics: &Metrics, coverage: f64) -> Vec<String> {
    let mut doubts = Vec::new();
    if let Some(step) = metrics.diverged_at {
        doubts.push(format!(
            "The simulation of the {part} part left every reasonable range at step {} and has no metrics. Try a smaller learning rate, \
             other lags, or --model arx.",
            step + 1
        ));
    }
    let Some(picp) = metrics.picp else {
        return doubts;
    };
    if picp < coverage {
        doubts.push(format!(
            "The band holds {} where {} were asked. Errors of the {part} part are larger than those it was made from; do not rely on it \
             there.",
            percent(picp),
            asked(coverage)
        ));
    }
    if let Some(worst) = metrics.worst_rolling_picp.filter(|worst| *worst < coverage - 0.2) {
        doubts.push(format!(
            "Misses come in groups: in the worst stretch only {} of the samples are inside.",
            percent(worst)
        ));
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_is_honest_in_every_case() {
        assert_eq!(verdict("it", 0.8, 1.0), "it is 20 % lower");
        assert_eq!(verdict("it", 1.02, 1.0), "it is about the same, so ARX is as good");
        assert_eq!(verdict("it", 1.2, 1.0), "it is 20 % higher, so ARX is better there");
        assert_eq!(
            verdict("it", 3.0, 1.0),
            "it is 3.0 times as large, so ARX is better there"
        );
    }

    #[test]
    fn doubts_follow_the_numbers() {
        let metrics = |picp, worst| Metrics {
            n: 200,
            picp: Some(picp),
            worst_rolling_picp: Some(worst),
            ..Metrics::default()
        };
        assert!(doubts("test", &metrics(0.93, 0.85), 0.9).is_empty());
        assert_eq!(doubts("test", &metrics(0.8, 0.5), 0.9).len(), 2);
        let away = Metrics {
            diverged_at: Some(4),
            ..Metrics::default()
        };
        let doubts = doubts("test", &away, 0.9);
        assert!(doubts.len() == 1 && doubts[0].contains("at step 5"), "{doubts:?}");
    }
}
