//! What is to be fitted, everything decided.

use intervalid_data::{Dataset, InitialState, Lags, Split, free_run_windows};
use toml::{Table, Value};

use crate::auto::{AutoConfig, AutoInfo};
use crate::config::FitConfig;
use crate::error::{ModelError, Result};
use crate::model::Model;

/// Where settings come from that nobody gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// A search.
    Auto,
    /// The paper's settings.
    Paper,
}

impl Preset {
    /// `auto` or `paper`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Paper => "paper",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Auto, Self::Paper]
            .into_iter()
            .find(|preset| preset.name() == name)
    }
}

/// The least a model looks back.
const SHORTEST: Lags = Lags { nx: 0, nd: 0, ny: 1 };

/// One fit, or a search for one.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// One model with these settings.
    One {
        /// The settings.
        config: Box<FitConfig>,
        /// Whether its band is scaled on held-out blocks ([`calibrate_on_blocks`](crate::calibrate_on_blocks)).
        calibrate: bool,
    },
    /// The best that a search finds ([`fit_auto`](crate::fit_auto)).
    Search(AutoConfig),
}

impl Plan {
    /// Where settings come from that nobody gave.
    #[must_use]
    pub fn preset(&self) -> Preset {
        match self {
            Self::One { .. } => Preset::Paper,
            Self::Search(_) => Preset::Auto,
        }
    }

    /// Whether it leaves a checkpoint when it is interrupted.
    #[must_use]
    pub fn has_checkpoint(&self) -> bool {
        matches!(self, Self::One { config, .. } if config.model.network().is_some())
    }

    /// Its settings by name, from which [`FitConfig::from_settings`] or [`AutoConfig::from_settings`] make the same again
    /// (without `calibrate`).
    #[must_use]
    pub fn settings(&self) -> Table {
        let (settings, lags) = match self {
            Self::One { config, .. } => (Table::try_from(config), Some(config.lags)),
            Self::Search(config) => (Table::try_from(config), config.lags),
        };
        let mut settings = settings.expect("a configuration is a table");
        if let Self::One { calibrate, .. } = self {
            settings.insert("calibrate".to_owned(), Value::from(*calibrate));
        }
        if let Some(lags) = lags {
            settings.insert("lags".to_owned(), Value::from(lags.to_string()));
        }
        settings
    }

    /// The plan that gives this result again: with the settings as resolved, and as many rounds as there was time for.
    #[must_use]
    pub fn repeatable(&self, model: &Model, search: Option<&AutoInfo>) -> Self {
        match (self, search) {
            (Self::Search(config), Some(info)) if info.capped => Self::Search(AutoConfig {
                rounds: info.rounds,
                ..config.clone()
            }),
            (Self::Search(config), _) => Self::Search(config.clone()),
            (Self::One { calibrate, .. }, _) => Self::One {
                config: Box::new(model.config().clone()),
                calibrate: *calibrate,
            },
        }
    }

    /// Finds out before training what would fail after it.
    ///
    /// # Errors
    /// If a part is too short to be simulated, or given lags reach beyond all training samples.
    pub fn check(&self, dataset: &Dataset, split: &Split) -> Result<()> {
        let (lags, initial, given): (Lags, InitialState, bool) = match self {
            Self::One { config, .. } => (config.lags, config.initial, !config.lag_search),
            Self::Search(config) => (config.lags.unwrap_or(SHORTEST), config.initial(), config.lags.is_some()),
        };
        for part in [&split.test, &split.validation] {
            if !part.is_empty() {
                free_run_windows(dataset, part, lags, initial)?;
            }
        }
        let longest = split.train.segments().iter().map(|segment| segment.len()).max();
        let longest = longest.unwrap_or(0);
        if given && lags.memory() >= longest {
            return Err(ModelError::LagsTooLong { lags, longest });
        }
        Ok(())
    }
}
