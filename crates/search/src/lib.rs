//! The search behind `auto`: the best model that a search can find for a record, with a band whose coverage was checked.
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
//! | models with hidden states, not yet searched | [`state_space`] |
//!
//! Lags, networks and their number of steps are chosen on blocks that the judged model had not seen. The margins' epoch and floor
//! are chosen on the block that then calibrates them. The test part is never touched.
//!
//! ```
//! use intervalid_data::{ReadOptions, Split, SplitFractions, load};
//! use intervalid_search::{SearchConfig, SearchOptions, search};
//!
//! let dataset = load(&["hair-dryer"], None, &ReadOptions::default())?;
//! let split = Split::new(&dataset, SplitFractions::new(0.4, 0.1, 0.5)?)?;
//! let config = SearchConfig { rounds: 0, ..SearchConfig::default() };
//! let found = search(&dataset, &split, &config, &SearchOptions::default())?;
//! assert_eq!(found.info.candidates[0].parameters, found.model.parameters());
//! # Ok::<(), intervalid_search::SearchError>(())
//! ```

mod budget;
mod config;
mod cross_calibration;
mod error;
mod findings;
mod finish;
mod folds;
mod info;
mod linear;
mod networks;
mod output_error;
mod parallel;
mod recipe;
mod recurrent;
mod score;
mod search;
pub mod state_space;

pub use config::{SearchConfig, SearchOptions};
pub use cross_calibration::calibrate_on_blocks;
pub use error::{Result, SearchError};
pub use findings::{Finding, FindingKind, describe_record};
pub use info::{CandidateInfo, SearchEnd, SearchInfo, SearchOutcome};
pub use search::search;
