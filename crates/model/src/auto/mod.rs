//! `auto`: the best model that a search can find for a record, with a band whose coverage was checked.
//!
//! | step | file |
//! |---|---|
//! | look at the record | `findings` |
//! | cut the training and validation parts into blocks | `folds` |
//! | linear models: lags, least squares or simulation error | `linear` |
//! | networks worth a try: small ones beside a linear path, LSTMs | `recipe`, `recurrent` |
//! | networks in rounds that halve their number | `networks` |
//! | what held-out errors are worth as a band | `score` |
//! | choose, refit, train margins, calibrate | `finish` |
//! | calibrate a model that was not searched | `cross_calibration` |
//!
//! Every choice is made on blocks that the model judged there had not seen. The test part is never touched.

mod budget;
mod config;
mod cross_calibration;
mod findings;
mod finish;
mod folds;
mod info;
mod linear;
mod networks;
mod recipe;
mod recurrent;
mod score;
mod search;

pub use config::{AutoConfig, AutoObserver, AutoOptions, AutoProgress};
pub use cross_calibration::calibrate_on_blocks;
pub use findings::{Finding, describe_record};
pub use info::{AutoFit, AutoInfo, CandidateInfo};
pub use search::fit_auto;
