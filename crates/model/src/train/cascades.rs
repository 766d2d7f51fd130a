//! Several cascades around one crisp network.

use std::time::Instant;

use intervalid_data::{Dataset, Split};

use super::info::TrainInfo;
use super::problem::Problem;
use super::state::State;
use super::{Clock, FitOptions, advance, check_interval};
use crate::config::{CheckedConfig, FitConfig, Strategy};
use crate::control::Control;
use crate::error::{ModelError, Result};
use crate::family::body::OfPrecision;
use crate::kind::Precision;
use crate::model::Model;

/// Cascades that differ in their second stage only: the first is trained once.
///
/// The models are those of [`Model::fit`] with each configuration, to the bit. Each [`TrainInfo`] has the epochs of
/// both stages; the time of the first stage is in the first one.
///
/// # Errors
/// Those of [`Model::fit`], and [`ModelError::Option`] if the configurations do not share their first stage.
pub fn fit_cascades(
    dataset: &Dataset,
    split: &Split,
    configs: &[FitConfig],
    control: Control<'_>,
) -> Result<Vec<(Model, TrainInfo)>> {
    check_shared(configs)?;
    let configs = configs.iter().map(FitConfig::checked).collect::<Result<Vec<_>>>()?;
    match configs.first().map(|config| config.precision) {
        Some(Precision::F64) => fit_all::<f64>(dataset, split, &configs, control),
        _ => fit_all::<f32>(dataset, split, &configs, control),
    }
}

fn fit_all<T: OfPrecision>(
    dataset: &Dataset,
    split: &Split,
    configs: &[CheckedConfig],
    control: Control<'_>,
) -> Result<Vec<(Model, TrainInfo)>> {
    let mut crisp: Option<State<T>> = None;
    let mut results = Vec::with_capacity(configs.len());
    for config in configs {
        let started = Instant::now();
        let problem = Problem::<T>::new(dataset, split, config)?;
        let mut options = FitOptions {
            control,
            ..FitOptions::default()
        };
        let mut state = match &crisp {
            Some(state) => state.clone_for(&problem),
            None => {
                let mut state = State::new(&problem)?;
                let mut clock = Clock::start(0);
                advance(&problem, &mut state, &mut options, &mut clock, 1)?;
                crisp.insert(state).clone()
            }
        };
        let mut clock = Clock::start(state.history.len());
        advance(&problem, &mut state, &mut options, &mut clock, usize::MAX)?;
        let info = state.info(started.elapsed());
        results.push((problem.into_model(dataset, state), info));
    }
    Ok(results)
}

/// Refuses configurations whose crisp networks would differ.
fn check_shared(configs: &[FitConfig]) -> Result<()> {
    let first = configs.first().map(FitConfig::first_stage);
    for config in configs {
        check_interval(config)?;
        if config.interval.strategy != Strategy::Cascade || first != Some(config.first_stage()) {
            let expected = "cascades that differ in their margins and coverage only";
            return Err(ModelError::option("strategy", "several first stages", expected));
        }
    }
    Ok(())
}
