//! `intervalid demo`: the whole path on built-in data, told in plain words.

use std::path::Path;

use anyhow::anyhow;
use intervalid_data::{
    ArxModel, DataError, Dataset, DeadTimeConfig, InitialState, KnownDataset, LagSearchConfig, Lags, Normaliser, Part,
    Scaled, Split, estimate_dead_time, known_dataset, runs, suggest_lags,
};
use serde::Serialize;

use crate::error::Failure;
use crate::format::{count, percent, seconds, significant, table};
use crate::metrics::{Band, Metrics, evaluate};
use crate::output::Output;
use crate::request::DataRequest;
use crate::write::OutFile;

/// The data set the demo tells about.
const DATASET: &str = "hair-dryer";
/// Share of the samples that a band should hold.
const COVERAGE: f64 = 0.9;
/// How free runs start: the paper's protocol.
const INITIAL: InitialState = InitialState::ZeroPadded;

/// The data, ready for models.
struct Prepared {
    known: &'static KnownDataset,
    dataset: Dataset,
    split: Split,
    normaliser: Normaliser,
    scaled: Scaled<f64>,
}

/// One fitted model: a row of the table.
#[derive(Debug, Serialize)]
struct ModelRow {
    model: String,
    lags: Lags,
    parameters: usize,
    test: Metrics,
    #[serde(skip)]
    band: Band,
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    dataset: &'a str,
    coverage: f64,
    dead_time: Option<usize>,
    models: &'a [ModelRow],
    predictions: &'a Path,
}

/// Fits the hair dryer and writes `predictions.csv` into `out`.
pub(crate) fn run(out: &Path, output: &Output) -> Result<(), Failure> {
    // First, so that no work is lost on a folder that cannot be written.
    let file = OutFile::create(out, "predictions.csv")?;
    let prepared = prepare()?;
    let dead_time = dead_time(&prepared)?;
    tell_data(&prepared, dead_time, output)?;

    let lags = output.working("searching lags", || search_lags(&prepared))?;
    tell_models(&prepared, lags, output)?;
    let models = [
        arx_row("ARX, lags of the paper", &prepared, prepared.known.lags)?,
        arx_row("ARX, lags found", &prepared, lags)?,
    ];
    let [.., chosen] = &models;
    let path = file.finish(predictions_csv(&chosen.band).as_bytes())?;
    if output.is_json() {
        return output.json(&Report {
            dataset: prepared.known.name,
            coverage: COVERAGE,
            dead_time,
            models: &models,
            predictions: &path,
        });
    }
    tell_results(&models, chosen, &prepared, output)?;
    tell_next(&path, output)
}

fn prepare() -> Result<Prepared, Failure> {
    let known = known_dataset(DATASET).ok_or_else(|| Failure::run(anyhow!("no built-in data set {DATASET}")))?;
    let request = DataRequest::built_in(known);
    let dataset = request.load()?;
    let split = request.split(&dataset)?;
    let normaliser = Normaliser::fit(&dataset, &split.train)?;
    let scaled = normaliser.scale::<f64>(&dataset);
    Ok(Prepared {
        known,
        dataset,
        split,
        normaliser,
        scaled,
    })
}

fn dead_time(prepared: &Prepared) -> Result<Option<usize>, DataError> {
    let found = estimate_dead_time(&prepared.dataset, &prepared.split.train, &DeadTimeConfig::default())?;
    Ok(found.first().and_then(|pair| pair.delay))
}

fn search_lags(prepared: &Prepared) -> Result<Lags, DataError> {
    let config = LagSearchConfig {
        initial: INITIAL,
        ..LagSearchConfig::default()
    };
    Ok(suggest_lags(&prepared.dataset, &prepared.split, &config)?
        .suggested
        .lags)
}

/// ARX on the training part; the band is the free run ± a quantile of its errors on the validation part.
fn arx_row(name: &str, prepared: &Prepared, lags: Lags) -> Result<ModelRow, DataError> {
    let model = ArxModel::fit(&prepared.scaled, &prepared.split.train, lags, true)?;
    let free_run = |part: &Part| simulate(&model, prepared, part);
    let (measured, predicted) = free_run(&prepared.split.validation)?;
    let errors = measured.iter().zip(&predicted).map(|(m, y)| (m - y).abs()).collect();
    let half_width = quantile(errors, COVERAGE);
    let (measured, predicted) = free_run(&prepared.split.test)?;
    let band = Band {
        lower: predicted.iter().map(|y| y - half_width).collect(),
        upper: predicted.iter().map(|y| y + half_width).collect(),
        measured,
        predicted,
    };
    Ok(ModelRow {
        model: name.to_owned(),
        lags,
        parameters: model.coefficients.iter().map(|row| row.len() + 1).sum(),
        test: evaluate(&band),
        band,
    })
}

/// Measured and simulated first output over the scored samples of `part`, in physical units.
fn simulate(model: &ArxModel, prepared: &Prepared, part: &Part) -> Result<(Vec<f64>, Vec<f64>), DataError> {
    let (mut measured, mut predicted) = (Vec::new(), Vec::new());
    for window in runs(&prepared.dataset, part, model.lags, INITIAL)? {
        let scored = window.scored(INITIAL);
        let columns = model.simulate(&prepared.scaled.experiments()[window.experiment], window, INITIAL);
        let unscored = columns[0].len() - scored.len();
        let physical = |y: &f64| prepared.normaliser.output_to_physical(0, *y);
        predicted.extend(columns[0][unscored..].iter().map(physical));
        measured.extend_from_slice(&prepared.dataset.experiments()[window.experiment].output(0)[scored]);
    }
    Ok((measured, predicted))
}

/// The smallest value that at least the share `level` of n+1 exchangeable values does not exceed: the one of rank
/// ⌈level·(n+1)⌉, at most n.
fn quantile(mut values: Vec<f64>, level: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (level * (values.len() + 1) as f64).ceil() as usize;
    values[rank.clamp(1, values.len()) - 1]
}

/// k counts the samples of the test part from 1; the first is known, so predictions start at 2.
fn predictions_csv(band: &Band) -> String {
    let mut text = String::from("k,y,y_hat,y_lower,y_upper\n");
    for index in 0..band.measured.len() {
        let [y, y_hat, lower, upper] = [&band.measured, &band.predicted, &band.lower, &band.upper].map(|c| c[index]);
        text += &format!("{},{y},{y_hat},{lower},{upper}\n", index + 2);
    }
    text
}

fn tell_data(prepared: &Prepared, dead_time: Option<usize>, output: &Output) -> Result<(), Failure> {
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

fn tell_models(prepared: &Prepared, lags: Lags, output: &Output) -> Result<(), Failure> {
    output.story(format_args!(
        "\nThe models: linear (ARX), fitted on the training part. A search on the validation part suggests the lags\n  \
         NX,ND,NY = {lags}; the paper uses {}. The band is the simulation ± the {:.0} % quantile of its errors on the\n  \
         validation part.",
        prepared.known.lags,
        100.0 * COVERAGE,
    ))?;
    Ok(())
}

fn tell_results(models: &[ModelRow], chosen: &ModelRow, prepared: &Prepared, output: &Output) -> Result<(), Failure> {
    output.story("\nThe test: a free run over the test part. Only its first output is known to the model.\n")?;
    let unit = prepared
        .known
        .output
        .1
        .map_or_else(String::new, |unit| format!(" ({unit})"));
    let rmse = format!("RMSE{unit}");
    let header = ["model", "NX,ND,NY", &rmse, "fit", "PICP", "PINAW"];
    let rows = models.iter().map(|row| {
        vec![
            row.model.clone(),
            row.lags.to_string(),
            significant(row.test.rmse, 3),
            format!("{:.1} %", row.test.fit_percent),
            percent(row.test.picp),
            percent(row.test.pinaw),
        ]
    });
    output.result(table(&header, &[2, 3, 4, 5], rows))?;
    let Metrics { n, picp, .. } = chosen.test;
    let verdict = if picp < COVERAGE {
        "fewer than asked: the errors on the test part are larger than on the\nvalidation part, from which the band was made"
    } else {
        "as many as asked, on this record"
    };
    output.story(format_args!(
        "\n  fit    100 % is perfect, 0 % is no better than the mean of the test outputs\n  \
         PICP   share of the measured outputs inside the band\n  \
         PINAW  mean width of the band, as a share of the range of the outputs\n\n\
         {}: {} of {n} samples ({}) lie inside the band; asked: {:.0} %.\n\
         That is {verdict}.\n\
         A band is a claim learnt from data, not a guarantee.",
        chosen.model,
        (picp * n as f64).round(),
        percent(picp),
        100.0 * COVERAGE,
    ))?;
    Ok(())
}

fn tell_next(path: &Path, output: &Output) -> Result<(), Failure> {
    output.story(format_args!(
        "\nWritten: {} (last model of the table)\n\n\
         Next, with your own recording (a header row, then one sample per line):\n  \
         intervalid data show my.csv --input u --output y\n\
         Other data sets: intervalid data list",
        path.display()
    ))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "a quantile is one of the values")]
    fn quantile_is_the_ranked_value() {
        let values: Vec<f64> = (1..=99).rev().map(f64::from).collect();
        assert_eq!(quantile(values.clone(), 0.9), 90.0);
        assert_eq!(quantile(values, 1.0), 99.0);
        assert_eq!(quantile(vec![3.0], 0.9), 3.0);
    }
}
