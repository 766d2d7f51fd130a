//! How training went.

use intervalid_model::{EpochRecord, Stage, TrainInfo};

use crate::chart::{Chart, LinesChart, Series, SeriesStyle};
use crate::column::rounded;
use crate::text::{count, significant};

/// Losses, weights of the losses where they moved, and the learning rate.
pub(super) fn charts(info: &TrainInfo) -> Vec<Chart> {
    let history = &info.history;
    if history.is_empty() {
        return Vec::new();
    }
    let second = match history[0].stage {
        Stage::Likelihood => "likelihood",
        _ => "RQR-W",
    };
    let series = |name: &str, value: fn(&EpochRecord) -> f64| Series {
        name: name.to_owned(),
        values: rounded(history.iter().map(value)),
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
    let has = |value: fn(&EpochRecord) -> f64| history.iter().any(|epoch| !value(epoch).is_nan());
    if has(|epoch| epoch.train[1]) {
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
                series("s₁, squared error", |epoch| epoch.scales[0]),
                series("s₂, band", |epoch| epoch.scales[1]),
            ],
        ));
    }
    // Gauss–Newton steps have none.
    if has(|epoch| epoch.learning_rate) {
        let rate = Series {
            style: SeriesStyle::Step,
            ..series("learning rate", |epoch| epoch.learning_rate)
        };
        charts.push(chart("Learning rate", "step size", true, vec![rate]));
    }
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
pub(super) fn stages(info: &TrainInfo) -> Vec<String> {
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
