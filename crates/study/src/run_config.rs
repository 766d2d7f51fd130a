//! What a run is to do: train one model, or search.

use std::time::Duration;

use intervalid_model::{FitConfig, LEVEL_REACH, ModelError};
use intervalid_search::SearchConfig;
use serde::{Deserialize, Serialize};

/// What a run is to do, everything decided. As JSON, a configuration of one model stands as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RunConfig {
    /// A search.
    Search(SearchRun),
    /// One model with these settings.
    One(Box<FitConfig>),
}

/// A search, and the band that is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchRun {
    /// What is searched. Its coverage is the study's main one, so that all coverages are bands of one model.
    pub search: SearchConfig,
    /// The coverage of this run.
    pub coverage: f64,
    /// Most seconds of the search, on one core.
    pub budget_seconds: Option<f64>,
}

impl RunConfig {
    /// Checks every range that does not depend on the data.
    ///
    /// # Errors
    /// [`ModelError::Option`] naming the first setting outside its range.
    pub fn check(&self) -> Result<(), ModelError> {
        match self {
            Self::One(config) => config.check(),
            Self::Search(run) => {
                run.search.check()?;
                // Its coverage goes through the same check.
                let judged = SearchConfig {
                    coverage: run.coverage,
                    ..run.search.clone()
                };
                judged.check()?;
                run.check_reach()
            }
        }
    }

    /// The settings, where one model is trained.
    #[must_use]
    pub fn one(&self) -> Option<&FitConfig> {
        match self {
            Self::One(config) => Some(config),
            Self::Search(_) => None,
        }
    }

    /// The coverage of this run.
    #[must_use]
    pub fn coverage(&self) -> f64 {
        match self {
            Self::One(config) => config.coverage,
            Self::Search(run) => run.coverage,
        }
    }
}

impl SearchRun {
    /// Refuses a coverage that the model of the search will not have: better before the search than after it.
    fn check_reach(&self) -> Result<(), ModelError> {
        let main = self.search.coverage;
        let (least, most) = (LEVEL_REACH.0.min(main), LEVEL_REACH.1.max(main));
        if (least..=most).contains(&self.coverage) {
            return Ok(());
        }
        let expected = format!("a share from {least} to {most} beside the coverage {main} of its search");
        Err(ModelError::option("coverage", self.coverage, expected))
    }

    /// Most time of the search.
    #[must_use]
    pub fn budget(&self) -> Option<Duration> {
        self.budget_seconds
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }
}
