//! `history.csv`: how training went.

use std::fmt::Write as _;

use intervalid_model::TrainInfo;

/// One row per epoch, stages one after the other. Losses are in normalised units; one that a stage does not use is an
/// empty cell, one of a diverged free run is `inf`.
pub(crate) fn history_csv(info: &TrainInfo) -> String {
    let mut text = String::from(
        "stage,epoch,train_mse,train_rqrw,validation_mse,validation_rqrw,learning_rate,scale_mse,scale_rqrw\n",
    );
    for record in &info.history {
        let _ = write!(text, "{},{}", record.stage.name(), record.epoch);
        let ([train_mse, train_rqrw], [mse, rqrw]) = (record.train, record.validation);
        let [scale_mse, scale_rqrw] = record.scales;
        for value in [
            train_mse,
            train_rqrw,
            mse,
            rqrw,
            record.learning_rate,
            scale_mse,
            scale_rqrw,
        ] {
            if value.is_nan() {
                text += ",";
            } else {
                let _ = write!(text, ",{value}");
            }
        }
        text += "\n";
    }
    text
}
