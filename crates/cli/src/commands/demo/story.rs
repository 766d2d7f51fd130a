//! The words around the numbers.

use std::path::Path;

use intervalid_data::{Lags, Split};
use intervalid_model::{CWC_ETA, Metrics};
use intervalid_report::reading;

use super::rows::{COVERAGE, Fitted, Prepared};
use super::run::FILES;
use crate::error::Failure;
use crate::format::{count, percent, seconds, significant, table};
use crate::output::Output;

/// Differences below this share are none to a reader.
const ALIKE: f64 = 0.05;

/// What was recorded and how it is used.
pub(super) fn data(prepared: &Prepared, dead_time: Option<usize>, output: &Output) -> Result<(), Failure> {
    let known = prepared.known;
    let unit = |unit: Option<&str>| unit.map_or_else(String::new, |unit| format!(" in {unit}"));
    output.story(format_args!(
        "The data: {}, {} ({}, one every {}).\n  From the {}{} we want to simulate the {}{}.",
        known.name,
        known.description,
        count(prepared.dataset.samples(), "sample"),
        seconds(prepared.dataset.sample_time()),
        known.input.0,
        unit(known.input.1),
        known.output.0,
        unit(known.output.1),
    ))?;
    match dead_time {
        Some(delay) => output.story(format_args!(
            "  Dead time: the output answers {} after the input moves.",
            count(delay, "sample")
        ))?,
        None => output.story("  Dead time: the output shows no significant answer to the input.")?,
    }
    let Split {
        train,
        validation,
        test,
    } = &prepared.split;
    output.story(format_args!(
        "  Split as in the paper: {} samples to train, {} to validate, {} to test, in this order of time.",
        train.samples(),
        validation.samples(),
        test.samples(),
    ))?;
    Ok(())
}

/// What is fitted.
pub(super) fn models(prepared: &Prepared, lags: Lags, epochs: Option<usize>, output: &Output) -> Result<(), Failure> {
    output.story(format_args!(
        "\nThe models, all of which should hold {asked:.0} % of the measured outputs in their band:\n  \
         ARX            linear, by least squares. A search on the validation part suggests the lags\n                 \
         NX,ND,NY = {lags}; the paper uses {paper}. The band is the simulation ± the {asked:.0} % quantile\n                 \
         of its errors on the validation part.\n  \
         cascade INODE  a neural ODE with interval weights: first the weights, then their margins\n  \
         joint ILSTM    an LSTM with interval weights: weights and margins at once\n\
         Training both networks with the preset `paper`{} ...",
        epochs.map_or_else(String::new, |epochs| format!(", {} per stage", count(epochs, "epoch"))),
        asked = 100.0 * COVERAGE,
        paper = prepared.known.lags,
    ))?;
    Ok(())
}

/// The table, and what it says.
pub(super) fn results(rows: &[&Fitted], prepared: &Prepared, output: &Output) -> Result<(), Failure> {
    output.story("\nThe test: a free run over the test part. Only its first output is known to a model.\n")?;
    let unit = prepared
        .known
        .output
        .1
        .map_or_else(String::new, |unit| format!(" ({unit})"));
    let rmse = format!("RMSE{unit}");
    let header = ["model", &rmse, "fit", "PICP", "PINAW", "CWC", "asked"];
    let cells = rows.iter().map(|row| {
        let Metrics {
            rmse,
            fit_percent,
            picp,
            pinaw,
            cwc,
            ..
        } = row.metrics();
        vec![
            row.name.to_owned(),
            cell(rmse, |rmse| significant(rmse, 3)),
            cell(fit_percent, |fit| format!("{fit:.1} %")),
            cell(picp, percent),
            cell(pinaw, percent),
            cell(cwc, |cwc| significant(cwc, 3)),
            format!("{:.0} %", 100.0 * COVERAGE),
        ]
    });
    output.result(table(&header, &[1, 2, 3, 4, 5, 6], cells))?;
    output.story(format_args!(
        "\n  fit    100 % is perfect, 0 % is no better than the mean of the test outputs\n  \
         PICP   share of the measured outputs inside the band; should reach what was asked\n  \
         PINAW  mean width of the band, as a share of the range of the outputs; narrower is better\n  \
         CWC    PINAW·(1 + [PICP < asked]·e^(-{CWC_ETA}·(PICP - asked))), as shares; lower is better\n",
    ))?;
    for row in rows {
        output.story(format_args!(
            "{}: {}",
            row.name,
            reading(&row.metrics(), COVERAGE, None)
        ))?;
    }
    if rows
        .iter()
        .any(|row| row.metrics().picp.is_some_and(|picp| picp < COVERAGE))
    {
        output.story(
            "Where coverage falls short, errors on the test part are larger than those the band was made from.",
        )?;
    }
    for line in comparison(rows) {
        output.story(line)?;
    }
    output.story("A band is a claim learnt from data, not a guarantee.")?;
    Ok(())
}

fn cell(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}

/// Whether the networks were worth it, on the numbers of the test part.
fn comparison(rows: &[&Fitted]) -> Vec<String> {
    let (networks, linear): (Vec<&Fitted>, Vec<&Fitted>) = rows.iter().partition(|row| row.is_network());
    let least = |measure: fn(&Metrics) -> Option<f64>| {
        let values = linear.iter().filter_map(|row| measure(&row.metrics()));
        values.min_by(f64::total_cmp)
    };
    let (Some(rmse), Some(score)) = (least(|m| m.rmse), least(|m| m.interval_score)) else {
        return Vec::new();
    };
    let mut lines = vec![format!(
        "\nAgainst the best ARX (RMSE {}, interval score {}: width plus the price of misses, less is better):",
        significant(rmse, 3),
        significant(score, 3),
    )];
    for row in networks {
        let metrics = row.metrics();
        if let (Some(network_rmse), Some(network_score)) = (metrics.rmse, metrics.interval_score) {
            let (points, bands) = (verdict(rmse, network_rmse), verdict(score, network_score));
            lines.push(format!("  {:13}  RMSE {points}; interval score {bands}.", row.name));
        }
    }
    lines
}

/// A measure of which less is better, in words.
fn verdict(arx: f64, network: f64) -> String {
    let ratio = network / arx;
    let change = format!("{:.0} %", 100.0 * (ratio - 1.0).abs());
    match ratio {
        ratio if ratio > 1.0 + ALIKE => format!("{change} higher: plain ARX is better"),
        ratio if ratio >= 1.0 - ALIKE => "about the same: plain ARX is as good".to_owned(),
        _ => format!("{change} lower"),
    }
}

/// Where things are, and what to do now.
pub(super) fn next(folder: &Path, chosen: &Fitted, output: &Output) -> Result<(), Failure> {
    let [predictions, history, model, _, report, metrics] = FILES;
    output.story(format_args!(
        "\nWritten to {} for the {}, the better network on the validation part:\n  \
         {report:19}all of this to look at: open it in a browser\n  \
         {predictions:19}measured output, simulation and band over the test part\n  \
         {history:19}losses of every epoch\n  \
         {model:19}the fitted model\n  \
         {metrics:19}all numbers of this page\n\n\
         Next, with your own recording (a header row, then one sample per line):\n  \
         intervalid data show my.csv --input u --output y\n  \
         intervalid fit my.csv --input u --output y --out my-fit\n  \
         intervalid predict my-fit my.csv --input u --output y --plot band.svg\n\
         The fit's page is my-fit/report.html. \
         Other data sets: intervalid data list",
        folder.display(),
        chosen.name,
    ))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_is_honest_in_every_case() {
        assert_eq!(verdict(1.0, 0.8), "20 % lower");
        for alike in [0.96, 1.0, 1.04] {
            assert_eq!(verdict(1.0, alike), "about the same: plain ARX is as good");
        }
        assert_eq!(verdict(1.0, 1.2), "20 % higher: plain ARX is better");
    }
}
