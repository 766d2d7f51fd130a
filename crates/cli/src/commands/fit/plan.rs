//! What is to be fitted, from the command line.

use anyhow::anyhow;
use intervalid_data::{Dataset, Split};
use intervalid_model::{ModelError, Plan, Preset};

use super::config::{ConfigFile, preset_of, resolve, resolve_auto, resolve_calibrate};
use crate::args::FitArgs;
use crate::error::Failure;

/// Where lags come from.
const DATA_SHOW: &str = "`intervalid data show DATA` suggests lags; without --lags they are searched";

/// Everything decided.
pub(super) fn plan(args: &FitArgs, file: &ConfigFile, dataset: &str) -> Result<Plan, Failure> {
    match preset_of(args, file)? {
        Preset::Paper if args.budget.is_some() => {
            let found = anyhow!("--budget is for --preset auto; one model is trained for as many epochs as asked");
            Err(Failure::input(found).with_hint("use --epochs N, or leave --budget out"))
        }
        Preset::Paper => Ok(Plan::One {
            config: Box::new(resolve(args, file, dataset)?),
            calibrate: resolve_calibrate(args, file)?,
        }),
        Preset::Auto => Ok(Plan::Search(resolve_auto(args, file)?)),
    }
}

/// Finds out before training what would fail after it.
pub(super) fn check(plan: &Plan, dataset: &Dataset, split: &Split) -> Result<(), Failure> {
    plan.check(dataset, split).map_err(|error| match error {
        ModelError::LagsTooLong { .. } => Failure::from(error).with_hint(DATA_SHOW),
        error => error.into(),
    })
}
