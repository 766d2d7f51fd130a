//! What is to be fitted, everything decided.

use anyhow::anyhow;
use intervalid_data::{Dataset, InitialState, Lags, Split, runs};
use intervalid_model::{AutoConfig, AutoInfo, FitConfig, Model};

use super::config::{ConfigFile, Preset, auto_toml, config_toml, resolve, resolve_auto, resolve_calibrate};
use crate::args::{DataArgs, FitArgs};
use crate::error::Failure;

/// Where lags come from.
const DATA_SHOW: &str = "`intervalid data show DATA` suggests lags; without --lags they are searched";

/// The least a model looks back.
const SHORTEST: Lags = Lags { nx: 0, nd: 0, ny: 1 };

/// One fit, or a search for one.
pub(super) enum Plan {
    /// One model with these settings.
    One {
        config: Box<FitConfig>,
        /// Whether its band is scaled on held-out blocks.
        calibrate: bool,
    },
    /// The best that a search finds.
    Search(AutoConfig),
}

impl Plan {
    pub(super) fn new(args: &FitArgs, file: &ConfigFile, dataset: &str) -> Result<Self, Failure> {
        match Preset::of(args, file)? {
            Preset::Paper if args.budget.is_some() => {
                let found = anyhow!("--budget is for --preset auto; one model is trained for as many epochs as asked");
                Err(Failure::input(found).with_hint("use --epochs N, or leave --budget out"))
            }
            Preset::Paper => Ok(Self::One {
                config: Box::new(resolve(args, file, dataset)?),
                calibrate: resolve_calibrate(args, file)?,
            }),
            Preset::Auto => Ok(Self::Search(resolve_auto(args, file)?)),
        }
    }

    pub(super) fn preset(&self) -> Preset {
        match self {
            Self::One { .. } => Preset::Paper,
            Self::Search(_) => Preset::Auto,
        }
    }

    /// Whether it leaves a checkpoint when it is interrupted.
    pub(super) fn has_checkpoint(&self) -> bool {
        matches!(self, Self::One { config, .. } if config.model.network().is_some())
    }

    /// As a configuration file.
    pub(super) fn toml(&self, data: &DataArgs) -> Result<String, Failure> {
        match self {
            Self::One { config, calibrate } => config_toml(config, *calibrate, data),
            Self::Search(config) => auto_toml(config, data),
        }
    }

    /// The plan that gives this result again: with the settings as resolved, and as many rounds as there was time for.
    pub(super) fn repeatable(&self, model: &Model, search: Option<&AutoInfo>) -> Self {
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

    /// Finds out before training what would fail after it: parts too short to be simulated, lags that see nothing.
    pub(super) fn check(&self, dataset: &Dataset, split: &Split) -> Result<(), Failure> {
        let (lags, initial, given): (Lags, InitialState, bool) = match self {
            Self::One { config, .. } => (config.lags, config.initial, !config.lag_search),
            Self::Search(config) => (config.lags.unwrap_or(SHORTEST), config.initial, config.lags.is_some()),
        };
        for part in [&split.test, &split.validation] {
            if !part.is_empty() {
                runs(dataset, part, lags, initial)?;
            }
        }
        let longest = split.train.segments().iter().map(|segment| segment.len()).max();
        let longest = longest.unwrap_or(0);
        // Lags that reach beyond all samples see nothing but padding.
        if given && lags.memory() >= longest {
            let found = anyhow!(
                "lags = {lags} reach {} samples back: expected less than {longest}, the longest stretch of the training part",
                lags.memory()
            );
            return Err(Failure::input(found).with_hint(DATA_SHOW));
        }
        Ok(())
    }
}
