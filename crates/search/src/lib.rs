//! The search behind `auto`: the best model that a search can find for a record, with a band whose coverage was checked.
//!
//! | step | file |
//! |---|---|
//! | look at the record | `findings` |
//! | divide the training and validation parts: blocks and a forward cut | `folds` |
//! | linear models: lags, least squares or simulation error | `linear` |
//! | networks on lagged outputs, in rounds that halve their number | `recipe`, `recurrent`, `networks` |
//! | models with hidden states, linear ones and networks | `hidden_states`, over the engine [`state_space`] |
//! | the order of all this, and what it may cost | `rounds`, `budget` |
//! | what errors on held-out data are worth | `score` |
//! | choose, refit, train margins, calibrate | `choice`, `finish` |
//! | compare the final model with what its candidate promised | `promise` |
//! | fit a model that was found once more, to later data | `renew` |
//! | calibrate a model that was not searched | `cross_calibration` |
//!
//! All families are judged by free runs over the same samples, which no parameter of the judged models was fitted to. Some choices are
//! made on them, so that the scores are optimistic: which candidate wins, the lags of linear models, how long models with hidden states
//! descend, how their state is found at the start, and how much of the margins' shape to believe. `docs/method.md`, section 11, has the
//! whole list. The test part is never touched.
//!
//! ```
//! use intervalid_data::{ReadOptions, Split, SplitFractions, load};
//! use intervalid_search::{SearchConfig, SearchOptions, search};
//!
//! let dataset = load(&["hair-dryer"], None, &ReadOptions::default())?;
//! let split = Split::new(&dataset, SplitFractions::new(0.4, 0.1, 0.5)?)?;
//! let config = SearchConfig { rounds: 0, ..SearchConfig::default() };
//! let found = search(&dataset, &split, &config, &SearchOptions::default())?;
//! assert_eq!(found.info.members * found.info.candidates[0].parameters, found.model.parameters());
//! # Ok::<(), intervalid_search::SearchError>(())
//! ```

mod ahead;
mod average;
mod budget;
mod choice;
mod config;
mod cross_calibration;
mod cut;
mod doubt;
mod error;
mod findings;
mod finish;
mod folds;
mod hidden_states;
mod info;
mod journal;
mod laps;
mod light;
mod linear;
mod networks;
mod output_error;
mod parallel;
mod promise;
mod recipe;
mod recurrent;
mod renew;
mod rounds;
mod score;
mod search;
mod sizing;
pub mod state_space;
mod table;

pub use config::{SearchConfig, SearchOptions};
pub use cross_calibration::{calibrate_on_blocks, check_blocks};
pub use error::{Result, SearchError};
pub use findings::{Finding, FindingKind, describe_record};
pub use info::{CandidateInfo, SearchEnd, SearchInfo, SearchOutcome};
pub use promise::Promise;
pub use renew::renew;
pub use search::search;
