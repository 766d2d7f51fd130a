//! `history.csv`: how training went.

use std::fmt::Write as _;

use intervalid_workflow::Training;

/// One row per epoch, stages one after the other. Losses are in normalised units; one that a stage does not use is an
/// empty cell, one of a diverged free run is `inf`.
#[must_use]
pub fn history_csv(training: &Training) -> String {
    let mut text = String::from(
        "stage,epoch,train_mse,train_rqrw,validation_mse,validation_rqrw,learning_rate,scale_mse,scale_rqrw\n",
    );
    let mut row = |stage: &str, epoch: usize, values: [Option<f64>; 7]| {
        let _ = write!(text, "{stage},{epoch}");
        for value in values {
            text += ",";
            if let Some(value) = value {
                let _ = write!(text, "{value}");
            }
        }
        text += "\n";
    };
    match training {
        Training::One(info) => {
            for record in &info.history {
                let ([train_mse, train_rqrw], [mse, rqrw]) = (record.train, record.validation);
                let [scale_mse, scale_rqrw] = record.scales.map(Some);
                let rate = Some(record.learning_rate);
                let values = [train_mse, train_rqrw, mse, rqrw, rate, scale_mse, scale_rqrw];
                row(record.stage.name(), record.epoch, values);
            }
        }
        // A step of the descent is a row; of the losses it has the one on held-out blocks.
        Training::Search(record) => {
            for (step, &mse) in record.descent.iter().enumerate().skip(1) {
                row("crisp", step, [None, None, Some(mse), None, None, None, None]);
            }
        }
    }
    text
}
