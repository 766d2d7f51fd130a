//! How training went.

use intervalid_model::{EpochRecord, Stage};
use intervalid_workflow::{SearchRecord, Training};

use crate::chart::{Chart, LinesChart, Series, SeriesStyle};
use crate::column::rounded;
use crate::text::{count, significant};

/// How the losses went.
pub(super) fn charts(training: &Training) -> Vec<Chart> {
    match training {
        Training::One(info) => epochs(&info.history),
        Training::Search(record) => descent(record),
    }
}

/// The error on held-out blocks after every Gauss–Newton step of the chosen network.
fn descent(record: &SearchRecord) -> Vec<Chart> {
    if record.descent.len() < 2 {
        return Vec::new();
    }
    vec![Chart::Lines(LinesChart {
        title: "Squared error on held-out blocks".to_owned(),
        x_label: "step".to_owned(),
        y_label: "MSE, normalised".to_owned(),
        x: (0..record.descent.len()).map(|step| step as f64).collect(),
        series: vec![Series {
            name: "mean over held-out blocks".to_owned(),
            values: rounded(record.descent.iter().copied()),
            style: SeriesStyle::Line,
        }],
        log: true,
        ..LinesChart::default()
    })]
}

/// Losses, weights of the losses where they moved, and the learning rate.
fn epochs(history: &[EpochRecord]) -> Vec<Chart> {
    if history.is_empty() {
        return Vec::new();
    }
    let second = match history[0].stage {
        Stage::Likelihood => "likelihood",
        _ => "RQR-W",
    };
    let series = |name: &str, value: fn(&EpochRecord) -> Option<f64>| Series {
        name: name.to_owned(),
        values: rounded(history.iter().map(|epoch| value(epoch).unwrap_or(f64::NAN))),
        style: SeriesStyle::Line,
    };
    let chart = |title: &str, y_label: &str, log: bool, series: Vec<Series>| {
        // A loss that no stage uses is no line.
        let series: Vec<Series> = series
            .into_iter()
            .filter(|series| series.values.iter().any(Option::is_some))
            .collect();
        Chart::Lines(LinesChart {
            title: title.to_owned(),
            x_label: "epoch".to_owned(),
            y_label: y_label.to_owned(),
            x: (1..=history.len()).map(|epoch| epoch as f64).collect(),
            series,
            log,
            ..LinesChart::default()
        })
    };
    let mut charts = vec![chart(
        "Squared error",
        "MSE, normalised",
        true,
        vec![
            series("training", |epoch| epoch.train[0]),
            series("validation, free run", |epoch| epoch.validation[0]),
        ],
    )];
    if history.iter().any(|epoch| epoch.train[1].is_some()) {
        // A likelihood may be negative.
        let log = history[0].stage != Stage::Likelihood;
        charts.push(chart(
            "Loss of the band",
            second,
            log,
            vec![
                series("training", |epoch| epoch.train[1]),
                series("validation, free run", |epoch| epoch.validation[1]),
            ],
        ));
    }
    if history.iter().any(|epoch| epoch.stage == Stage::Joint) {
        charts.push(chart(
            "Weights of the two losses (GradNorm)",
            "weight",
            false,
            vec![
                series("s₁, squared error", |epoch| Some(epoch.scales[0])),
                series("s₂, band", |epoch| Some(epoch.scales[1])),
            ],
        ));
    }
    let rate = Series {
        style: SeriesStyle::Step,
        ..series("learning rate", |epoch| Some(epoch.learning_rate))
    };
    charts.push(chart("Learning rate", "step size", true, vec![rate]));
    charts
}

/// What a stage trains.
fn purpose(stage: Stage) -> &'static str {
    match stage {
        Stage::Crisp => "Training the weights",
        Stage::Margins => "Training the margins of the weights",
        Stage::Joint => "Training weights and margins together",
        Stage::Likelihood => "Training mean and spread by likelihood",
    }
}

/// One sentence per stage.
pub(super) fn stages(training: &Training) -> Vec<String> {
    let info = match training {
        Training::One(info) => info,
        Training::Search(record) if record.descent.len() < 2 => return Vec::new(),
        Training::Search(record) => {
            return vec![format!(
                "The chosen network took {} Gauss–Newton steps; the error on held-out blocks was least after {}.",
                record.descent.len() - 1,
                record.steps
            )];
        }
    };
    let stages = info.stages.iter();
    stages
        .map(|stage| {
            format!(
                "{} took {} and kept epoch {}, the best on the validation part (loss {}): {}.",
                purpose(stage.stage),
                count(stage.epochs, "epoch"),
                stage.best_epoch,
                significant(stage.best_loss, 3),
                stage.stopped
            )
        })
        .collect()
}
