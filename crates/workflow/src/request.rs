//! What is to be fitted, everything decided.

use intervalid_data::{Dataset, InitialState, Lags, Split, free_run_windows};
use intervalid_model::{FitConfig, Model, ModelError, ModelKind, OutputRange};
use intervalid_search::{SearchConfig, SearchInfo};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::band::BandRequest;
use crate::error::Result;
use crate::settings::{SHORTEST, Settings};

/// How settings that nobody gave are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// By a search on held-out blocks.
    Auto,
    /// As the paper has them.
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
}

/// One fit, or a search for one.
///
/// ```
/// use intervalid_workflow::{FitRequest, Preset, Settings};
///
/// let request = FitRequest::new(&Settings::default(), "")?;
/// assert_eq!(request.preset(), Preset::Auto);
/// let settings = Settings { epochs: Some(20), ..Settings::default() };
/// assert_eq!(FitRequest::new(&settings, "hair-dryer")?.preset(), Preset::Paper);
/// # Ok::<(), intervalid_workflow::WorkflowError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum FitRequest {
    /// One model with these settings.
    One {
        /// The settings.
        config: Box<FitConfig>,
        /// Whether its band is scaled on held-out blocks ([`calibrate_on_blocks`](intervalid_search::calibrate_on_blocks)).
        calibrate: bool,
        /// What is asked of its bands besides.
        band: BandRequest,
    },
    /// The best that a search finds ([`search`](intervalid_search::search)), and what is asked of its bands.
    Search(SearchConfig, BandRequest),
}

impl FitRequest {
    /// What these settings ask for on a record of this name (empty where it has none): a search, unless a setting or the preset
    /// says how one network is trained.
    ///
    /// # Errors
    /// If a setting is out of range, or does not go with the preset that was asked for.
    pub fn new(settings: &Settings, dataset: &str) -> Result<Self> {
        let of_one =
            settings.of_one_network().is_some() || settings.model.is_some_and(|model| !SearchConfig::searches(model));
        let preset = settings.preset.unwrap_or(match of_one {
            true => Preset::Paper,
            false => Preset::Auto,
        });
        match preset {
            Preset::Auto => Self::search(settings),
            Preset::Paper => Self::one(settings, dataset),
        }
    }

    /// One model, whatever else the settings say.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn one(settings: &Settings, dataset: &str) -> Result<Self> {
        let config = settings.fit_config(dataset);
        config.check()?;
        let calibrate = settings.calibrate.unwrap_or(false);
        let band = BandRequest::new(settings, config.coverage);
        band.check_one(&config, calibrate)?;
        Ok(Self::One {
            config: Box::new(config),
            calibrate,
            band,
        })
    }

    /// A search.
    ///
    /// # Errors
    /// If a setting is out of range, or says how one network is trained.
    pub fn search(settings: &Settings) -> Result<Self> {
        let config = settings.search_config()?;
        config.check()?;
        let band = BandRequest::new(settings, config.coverage);
        band.check(config.coverage)?;
        Ok(Self::Search(config, band))
    }

    /// What is asked of the bands besides their coverage.
    #[must_use]
    pub fn band(&self) -> &BandRequest {
        match self {
            Self::One { band, .. } | Self::Search(_, band) => band,
        }
    }

    /// How settings that nobody gave are chosen.
    #[must_use]
    pub fn preset(&self) -> Preset {
        match self {
            Self::One { .. } => Preset::Paper,
            Self::Search(..) => Preset::Auto,
        }
    }

    /// Whether it leaves something to go on from when it is interrupted: a linear model is solved for at once.
    #[must_use]
    pub fn has_checkpoint(&self) -> bool {
        match self {
            Self::One { config, .. } => config.model.network().is_some(),
            Self::Search(..) => true,
        }
    }

    /// Its settings by name: the content of a configuration file that asks for the same again.
    ///
    /// # Errors
    /// If a number has no form as TOML.
    pub fn to_table(&self) -> Result<Table> {
        let (mut settings, lags) = match self {
            Self::One { config, .. } => (Table::try_from(config)?, Some(config.lags)),
            Self::Search(config, _) => (Table::try_from(config)?, config.lags),
        };
        if let Self::One { calibrate, band, .. } = self {
            settings.insert("calibrate".to_owned(), Value::from(*calibrate));
            if band.together {
                settings.insert("together".to_owned(), Value::from(true));
            }
        }
        let BandRequest {
            levels,
            output_range,
            detrend,
            ..
        } = self.band();
        if !detrend.is_empty() {
            settings.insert("detrend".to_owned(), Value::try_from(detrend)?);
        }
        if !output_range.0.is_empty() {
            let range = |(name, range): (&String, &OutputRange)| (name.clone(), Value::from(range.to_string()));
            let ranges: Table = output_range.0.iter().map(range).collect();
            settings.insert("output_range".to_owned(), Value::from(ranges));
        }
        if !levels.is_empty() {
            settings.insert("levels".to_owned(), Value::try_from(levels)?);
        }
        if let Some(lags) = lags {
            settings.insert("lags".to_owned(), Value::from(lags.to_string()));
        }
        Ok(settings)
    }

    /// The request that gives this result again: with the settings as resolved, and as many rounds as there was time for.
    #[must_use]
    pub(crate) fn repeatable(&self, model: &Model, search: Option<&SearchInfo>) -> Self {
        match (self, search) {
            (Self::Search(config, band), Some(info)) if info.capped => {
                let config = SearchConfig {
                    rounds: info.rounds,
                    ..config.clone()
                };
                Self::Search(config, band.clone())
            }
            (Self::Search(..), _) => self.clone(),
            (Self::One { calibrate, band, .. }, _) => Self::One {
                config: Box::new(model.config().clone()),
                calibrate: *calibrate,
                band: band.clone(),
            },
        }
    }

    /// The same request, of a search only among models of this kind.
    #[must_use]
    pub fn of_kind(&self, model: ModelKind) -> Self {
        match self {
            Self::Search(config, band) if SearchConfig::searches(model) => {
                let config = SearchConfig {
                    model: Some(model),
                    ..config.clone()
                };
                Self::Search(config, band.clone())
            }
            request => request.clone(),
        }
    }

    /// Finds out before training what would fail after it.
    ///
    /// # Errors
    /// If a part is too short to be simulated, given lags reach beyond all training samples, or those lie outside their output's
    /// physical limits.
    pub fn check(&self, dataset: &Dataset, split: &Split) -> Result<()> {
        self.band().output_ranges(dataset, split)?;
        self.band().trend(dataset, split)?;
        let (lags, initial, given): (Lags, InitialState, bool) = match self {
            Self::One { config, .. } => (config.lags, config.initial, !config.lag_search),
            Self::Search(config, _) => (config.lags.unwrap_or(SHORTEST), config.initial(), config.lags.is_some()),
        };
        let longest = split.train.segments().iter().map(|segment| segment.len()).max();
        let longest = longest.unwrap_or(0);
        if given && lags.memory() >= longest {
            return Err(ModelError::LagsTooLong { lags, longest }.into());
        }
        for part in [&split.test, &split.validation] {
            if !part.is_empty() {
                free_run_windows(dataset, part, lags, initial)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_again_is_among_models_of_the_kind_that_was_chosen() {
        let search = FitRequest::new(&Settings::default(), "").expect("resolves");
        let FitRequest::Search(config, _) = search.of_kind(ModelKind::Iss) else {
            panic!("still a search");
        };
        assert_eq!(config.model, Some(ModelKind::Iss));
        let one = FitRequest::one(&Settings::default(), "").expect("resolves");
        assert_eq!(one.of_kind(ModelKind::Iss), one);
    }
}
