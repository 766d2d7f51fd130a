//! Metrics as tables with a plain-language reading.

use std::path::Path;

use intervalid_model::{CWC_ETA, Evaluation, Metrics, ModelInterface};
use intervalid_report::folder::REPORT;
use intervalid_report::{asked_beside, independent_share, metric_texts, model_in_words, reading, together_reading};
use intervalid_search::SearchInfo;
use intervalid_workflow::{Extrapolation, FitMetrics, FitOutcome};

use crate::error::Failure;
use crate::format::{count, percent, significant, table};
use crate::output::Output;

/// What a fit gave, and where it is.
pub(crate) fn fit(outcome: &FitOutcome, out: &Path, output: &Output) -> Result<(), Failure> {
    let FitOutcome {
        metrics: result, model, ..
    } = outcome;
    output.story(format_args!(
        "{}: {}, {}",
        result.dataset,
        model_in_words(model),
        effort(result)
    ))?;
    if let Some(info) = &result.search {
        search(info, output)?;
    }
    let independent = independent_share(model.interface());
    // Figures of samples that were trained on must not pass for those of new ones.
    let validation = match outcome.learnt_from_validation() {
        true => "validation part (learnt from as well)",
        false => "validation part",
    };
    let parts = [
        ("test part", &result.test),
        ("test part, band following the measurements", &result.test_online),
        (validation, &result.validation),
    ];
    for (name, evaluation) in parts {
        match evaluation {
            Some(evaluation) => {
                output.story("")?;
                // Two tables without headings would be a riddle, with --quiet too.
                output.heading(format_args!("Free run over the {name}:"))?;
                metrics(evaluation, model.interface(), result.coverage, independent, output)?;
            }
            None if name.contains(',') => {}
            None => output.story(format_args!("\nThere is no {name}."))?,
        }
    }
    if parts.iter().any(|(_, evaluation)| evaluation.is_some()) {
        formulas(output)?;
    }
    let of_test = result.levels.iter();
    let of_test = of_test.filter_map(|level| Some((level.coverage, level.test.as_ref()?)));
    levels(of_test, output)?;
    if let Some(Extrapolation { share, width_ratio }) = result.extrapolation.filter(|found| found.share > 0.0) {
        let width = match width_ratio {
            Some(ratio) if (ratio - 1.0).abs() >= NOTICEABLE => format!("; the band is {ratio:.2} times as wide there"),
            Some(_) => "; the band is as wide there as elsewhere".to_owned(),
            None => String::new(),
        };
        let told = format!(
            "{} of the test samples lie outside the region of the training data{width}",
            percent(share)
        );
        match share > MUCH_EXTRAPOLATED {
            true => output.warning(told),
            false => output.story(format_args!("{told}."))?,
        }
    }
    output.story(format_args!(
        "\nWritten to {}: open {} in a browser",
        out.display(),
        out.join(REPORT).display()
    ))?;
    Ok(())
}

/// A share of extrapolated samples that is worth a warning.
pub(crate) const MUCH_EXTRAPOLATED: f64 = 0.2;

/// Widths that differ by less are called equal.
const NOTICEABLE: f64 = 0.01;

/// Bands of further coverages, a row per coverage and output; nothing where there are none.
pub(crate) fn levels<'a>(levels: impl Iterator<Item = (f64, &'a Evaluation)>, output: &Output) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> = levels
        .flat_map(|(coverage, evaluation)| {
            let row = move |(name, metrics): &(String, Metrics)| {
                let [_, _, picp, pinaw, _, score] =
                    metric_texts(metrics).map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
                vec![asked_beside(coverage), name.clone(), picp, pinaw, score]
            };
            evaluation.outputs.iter().map(row)
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    output.story("")?;
    output.heading("Bands of other coverages, around the same predictions:")?;
    let header = ["asked", "output", "PICP", "PINAW", "score"];
    Ok(output.result(table(&header, &[0, 2, 3, 4], rows))?)
}

/// What it took. A search has no epochs: the steps of its descent are those of one candidate of many.
pub(crate) fn effort(result: &FitMetrics) -> String {
    match result.search {
        Some(_) => format!("found in {:.1} s", result.train_seconds),
        None => format!("{} in {:.1} s", count(result.epochs_run, "epoch"), result.train_seconds),
    }
}

/// Candidates shown; all are in `candidates.csv`.
const SHOWN: usize = 8;

/// What a search looked at, tried and chose.
fn search(info: &SearchInfo, output: &Output) -> Result<(), Failure> {
    output.story("\nThe record:")?;
    for finding in &info.findings {
        output.story(format_args!("  {}: {}", finding.kind.name(), finding.text))?;
    }
    output.story("\nCandidates on held-out data, in standard deviations of the output; less score is better:")?;
    let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| significant(value, 3));
    let rows = info.candidates.iter().take(SHOWN).map(|candidate| {
        vec![
            format!("{}{}", if candidate.chosen { "> " } else { "  " }, candidate.name),
            cell(candidate.score),
            significant(candidate.rmse, 3),
            cell(candidate.width),
            candidate.coverage.map_or_else(|| "-".to_owned(), percent),
            format!("{:.1} s", candidate.seconds),
        ]
    });
    let header = ["candidate", "score", "RMSE", "width", "inside", "time"];
    output.story(table(&header, &[1, 2, 3, 4, 5], rows))?;
    output.story(format_args!("Why the first: {}.", info.why))?;
    let calibration = &info.calibration;
    output.story(calibration.in_words())?;
    if info.capped {
        output.story(format_args!(
            "The time given ran out after {} of the search's rounds.",
            info.rounds
        ))?;
    }
    if let Some(warning) = &info.warning {
        output.warning(warning);
    }
    for guarantee in &info.guarantees {
        output.story(format_args!("- {guarantee}"))?;
    }
    Ok(())
}

/// A row per output, and what the coverage means; `independent` is the share of samples that are worth an independent one.
pub(crate) fn metrics(
    evaluation: &Evaluation,
    interface: &ModelInterface,
    coverage: f64,
    independent: Option<f64>,
    output: &Output,
) -> Result<(), Failure> {
    let header = ["output", "RMSE", "fit", "PICP", "PINAW", "CWC", "score", "asked"];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (channel, (name, metrics)) in interface.outputs.iter().zip(&evaluation.outputs) {
        let unit = channel
            .unit
            .as_ref()
            .map_or_else(String::new, |unit| format!(" ({unit})"));
        rows.push(row(format!("{name}{unit}"), metrics, coverage));
    }
    if evaluation.outputs.len() > 1 {
        // Errors in different units have no mean.
        let mean = Metrics {
            rmse: None,
            interval_score: None,
            ..evaluation.all
        };
        rows.push(row("all (mean)".to_owned(), &mean, coverage));
    }
    output.result(table(&header, &[1, 2, 3, 4, 5, 6, 7], rows))?;
    for (name, metrics) in &evaluation.outputs {
        output.story(format_args!("{name}: {}", reading(metrics, coverage, independent)))?;
    }
    if let Some(together) = together_reading(evaluation, coverage, interface.is_together(), independent) {
        output.story(together)?;
    }
    Ok(())
}

/// What the columns of [`metrics`] are, once below all tables of a command.
pub(crate) fn formulas(output: &Output) -> Result<(), Failure> {
    Ok(output.story(format_args!(
        "CWC = PINAW·(1 + [PICP < asked]·e^(-{CWC_ETA}·(PICP - asked))) as shares, score = interval score; less is better."
    ))?)
}

fn row(name: String, metrics: &Metrics, coverage: f64) -> Vec<String> {
    let cells = metric_texts(metrics).map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
    [name]
        .into_iter()
        .chain(cells)
        .chain([asked_beside(coverage)])
        .collect()
}
