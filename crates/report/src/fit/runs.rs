//! Measured outputs beside their simulation, part by part.

use intervalid_data::{Dataset, Moment};
use intervalid_model::{Band, align};
use serde::{Deserialize, Serialize};

use super::FitReport;
use crate::chart::{Axis, BandChart, Chart, InputChart};
use crate::column::Column;
use crate::error::Result;
use crate::text::{asked, count, labelled};

/// A record cut at thousands of gaps would be a page of thousands of charts.
const SHOWN: usize = 40;

/// One part of the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartView {
    pub(crate) name: String,
    /// What is known at its start, and what is left out.
    pub(crate) note: String,
    pub(crate) runs: Vec<RunView>,
}

/// One free run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunView {
    pub(crate) name: String,
    /// One per output.
    pub(crate) charts: Vec<Chart>,
    /// One per input; formats before 2 have none.
    #[serde(default)]
    pub(crate) inputs: Vec<Chart>,
}

pub(super) fn views(report: &FitReport<'_>) -> Result<Vec<PartView>> {
    let parts = report.parts();
    parts
        .iter()
        .map(|part| {
            let left_out = part.bands.len().saturating_sub(SHOWN);
            let mut note = format!(
                "{} in free run.",
                count(part.bands.iter().map(Band::len).sum(), "sample")
            );
            if left_out > 0 {
                note += &format!(" The first {SHOWN} runs are shown, {left_out} are not.");
            }
            let runs = part.bands.iter().take(SHOWN).enumerate().map(|(index, band)| {
                let charts = charts(report, part.bands, index, part.name)?;
                let experiment = &report.dataset.experiments()[band.experiment];
                let last = band.first + band.len();
                let name = format!("{}, samples {} to {last}", experiment.name(), band.first + 1);
                let inputs = inputs(report, band, &sync(part.name, index));
                Ok(RunView { name, charts, inputs })
            });
            Ok(PartView {
                name: part.name.to_owned(),
                note,
                runs: runs.collect::<Result<_>>()?,
            })
        })
        .collect()
}

/// Position of samples in an experiment: seconds where the sample time is known.
pub(crate) fn axis(dataset: &Dataset, experiment: usize, first: usize) -> Axis {
    let (label, start, step) = match dataset.sample_time() {
        Some(seconds) => match dataset.experiments()[experiment].time().map(|time| time.start) {
            Some(Moment::Seconds(start)) => ("time (s)".to_owned(), start, seconds),
            Some(date) => (format!("time (s) since {date}"), 0.0, seconds),
            None => ("time (s)".to_owned(), 0.0, seconds),
        },
        None => ("sample".to_owned(), 0.0, 1.0),
    };
    Axis {
        label,
        start: start + step * first as f64,
        step,
    }
}

/// Position of samples of several runs, one after the other: no date is true of all of them.
pub(crate) fn strung(dataset: &Dataset) -> Axis {
    let (label, step) = match dataset.sample_time() {
        Some(seconds) => ("time (s), runs one after the other", seconds),
        None => ("sample, runs one after the other", 1.0),
    };
    Axis {
        label: label.to_owned(),
        start: 0.0,
        step,
    }
}

fn charts(report: &FitReport<'_>, bands: &[Band], index: usize, part: &str) -> Result<Vec<Chart>> {
    let dataset = report.dataset;
    let band = &bands[index];
    let end = band.first + band.len();
    let experiment = &dataset.experiments()[band.experiment];
    let coverage = report.outcome.model.config().coverage;
    let mut charts = Vec::new();
    // The model knows the units even where the columns were named one by one.
    for (output, channel) in report.outcome.model.interface().outputs.iter().enumerate() {
        let run = align(dataset, &bands[index..=index], output)?[0];
        let unscored = band.len() - run.target.len();
        let inside = run.inside().enumerate();
        let outside = inside.filter(|(_, inside)| !inside).map(|(k, _)| k + unscored);
        charts.push(Chart::Band(BandChart {
            title: format!("{}, {part}", channel.name),
            x: axis(dataset, band.experiment, band.first),
            y_label: labelled(&channel.name, channel.unit.as_deref()),
            band_label: format!("{} interval", asked(coverage)),
            measured: Column::new(experiment.output(output)[band.first..end].iter().copied()),
            prediction: Column::new(band.centre[output].iter().copied()),
            lower: Column::new(band.lower[output].iter().copied()),
            upper: Column::new(band.upper[output].iter().copied()),
            online: online(report, index, output, part),
            extrapolated: match (&report.outcome.runs.extrapolated, part) {
                (Some(flags), "test") => flags.get(index).map_or_else(Vec::new, |flags| stretches(flags)),
                _ => Vec::new(),
            },
            outside: outside.collect(),
            sync: sync(part, index),
        }));
    }
    Ok(charts)
}

/// Names what is zoomed together.
fn sync(part: &str, index: usize) -> String {
    format!("{part}-{index}")
}

/// The inputs of one run.
fn inputs(report: &FitReport<'_>, band: &Band, sync: &str) -> Vec<Chart> {
    let samples = band.first..band.first + band.len();
    let experiment = &report.dataset.experiments()[band.experiment];
    let channels = report.outcome.model.interface().inputs.iter().enumerate();
    channels
        .map(|(index, channel)| {
            Chart::Input(InputChart {
                title: format!("{} (input)", channel.name),
                x: axis(report.dataset, band.experiment, band.first),
                y_label: labelled(&channel.name, channel.unit.as_deref()),
                values: Column::new(experiment.input(index)[samples.clone()].iter().copied()),
                sync: sync.to_owned(),
            })
        })
        .collect()
}

/// The test part's band that follows the measured outputs.
fn online(report: &FitReport<'_>, index: usize, output: usize, part: &str) -> Option<[Column; 2]> {
    let band = report.outcome.runs.online.get(index).filter(|_| part == "test")?;
    let column = |values: &[Vec<f64>]| Column::new(values[output].iter().copied());
    Some([column(&band.lower), column(&band.upper)])
}

/// First and last of neighbours that are set.
fn stretches(flags: &[bool]) -> Vec<[usize; 2]> {
    let mut found: Vec<[usize; 2]> = Vec::new();
    for (index, _) in flags.iter().enumerate().filter(|(_, is_set)| **is_set) {
        match found.last_mut() {
            Some(last) if last[1] + 1 == index => last[1] = index,
            _ => found.push([index, index]),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_stretch() {
        let flags = [true, true, false, true, false, false, true];
        assert_eq!(stretches(&flags), [[0, 1], [3, 3], [6, 6]]);
        assert!(stretches(&[]).is_empty());
    }
}
