//! A model fitted once more, from where it is.

use std::time::Instant;

use intervalid_data::{Dataset, Normaliser, Split};

use super::info::TrainInfo;
use super::problem::Problem;
use super::state::State;
use super::{Clock, FitOptions, advance};
use crate::config::{CheckedConfig, FitConfig};
use crate::control::Control;
use crate::error::{ModelError, Result};
use crate::family::body::{Body, Networks, OfPrecision};
use crate::family::interval::IntervalNetwork;
use crate::family::linear::fit_arx;
use crate::kind::Precision;
use crate::model::Model;

/// Steps of a network that is nearly right, as a share of those of its first training.
const GENTLE: f64 = 0.1;

/// The same kind of model with the same structure, fitted to another record: networks go on from their parameters in gentler steps, in the
/// units they have, and their margins are trained anew around them; a linear model is solved for again, and of several linear ones one is left.
/// The band is what training makes of it: calibration, region and horizons of the old model say nothing of the new one.
///
/// # Errors
/// [`ModelError::Option`] for the Bayesian, dropout and deep-ensemble baselines, otherwise those of [`Model::fit`].
pub fn refit(model: &Model, dataset: &Dataset, split: &Split, control: Control<'_>) -> Result<(Model, TrainInfo)> {
    model.interface().check_channels(dataset)?;
    let started = Instant::now();
    let config = FitConfig {
        lag_search: false,
        ..model.config().clone()
    };
    match model.body() {
        Body::Linear(_) => {
            let normaliser = Normaliser::fit(dataset, &split.train)?;
            let config = config.checked()?.with_precision(Precision::F64);
            let fitted = fit_arx(normaliser, dataset, split, &config)?;
            let info = TrainInfo {
                stages: Vec::new(),
                history: Vec::new(),
                duration: started.elapsed(),
            };
            Ok((fitted, info))
        }
        Body::F32(Networks::Interval(members)) => networks(members, model, dataset, split, &gentle(config)?, control),
        Body::F64(Networks::Interval(members)) => networks(members, model, dataset, split, &gentle(config)?, control),
        Body::F32(Networks::Gaussian(_)) | Body::F64(Networks::Gaussian(_)) => Err(ModelError::option(
            "model",
            model.kind(),
            "arx, inode, ilstm or iss: the other baselines are fitted anew",
        )),
    }
}

fn gentle(config: FitConfig) -> Result<CheckedConfig> {
    config.with(|config| config.training.learning_rate *= GENTLE).checked()
}

fn networks<T: OfPrecision>(
    members: &[IntervalNetwork<T>],
    model: &Model,
    dataset: &Dataset,
    split: &Split,
    config: &CheckedConfig,
    control: Control<'_>,
) -> Result<(Model, TrainInfo)> {
    let started = Instant::now();
    let mut fitted = Vec::with_capacity(members.len());
    let mut all = TrainInfo {
        stages: Vec::new(),
        history: Vec::new(),
        duration: started.elapsed(),
    };
    for member in members {
        let normaliser = model.interface().normaliser.clone();
        let problem = Problem::<T>::in_units(normaliser, dataset, split, config)?;
        let mut state = State::new(&problem)?;
        state.start_from(&problem, member.theta.clone());
        let mut options = FitOptions {
            control,
            ..FitOptions::default()
        };
        let mut clock = Clock::start(0);
        advance(&problem, &mut state, &mut options, &mut clock, usize::MAX)?;
        let info = state.info(started.elapsed());
        all.stages.extend(info.stages);
        all.history.extend(info.history);
        fitted.push(problem.into_model(dataset, state));
    }
    all.duration = started.elapsed();
    Ok((Model::ensemble(fitted)?, all))
}
