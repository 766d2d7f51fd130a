//! The order of events of a search.

use std::time::Instant;

use intervalid_data::{Dataset, Split};

use super::budget::Budget;
use super::config::{AutoConfig, AutoOptions};
use super::findings::describe_record;
use super::finish::{finish_linear, finish_networks};
use super::folds::Folds;
use super::info::{AutoFit, AutoInfo, CandidateInfo, GUARANTEES};
use super::linear::{LinearCandidate, LinearFit, linear_candidates};
use super::networks::{NetworkCandidate, NetworkSearch, network_candidates};
use crate::band::calibration::Calibration;
use crate::error::{ModelError, Result};
use crate::kind::{ModelKind, Precision};
use crate::model::Model;
use crate::train::{EpochRecord, Stage, StageInfo, StopReason, TrainInfo};

/// A network has to beat the best linear model by this share of the score: it is harder to understand and to deploy.
const NETWORK_ADVANTAGE: f64 = 0.03;
/// Coverage of a block this far below the asked one makes the offline band doubtful.
const DOUBTFUL: f64 = 0.15;

/// Searches the best model of a record and calibrates its band, on the training and validation parts alone.
///
/// The result depends on data and configuration only, not on threads; a budget in time that runs out is in
/// [`AutoInfo::capped`], and [`AutoInfo::rounds`] as [`AutoConfig::rounds`] repeats that result.
///
/// # Errors
/// [`ModelError`] if an option is out of range, the record is too short for any model, or the observer breaks off
/// (see [`AutoOptions::keep_best`]).
pub fn fit_auto(dataset: &Dataset, split: &Split, config: &AutoConfig, options: &AutoOptions<'_>) -> Result<AutoFit> {
    let started = Instant::now();
    config.check()?;
    let findings = describe_record(dataset, split);
    let folds = Folds::new(dataset, split)?;
    let budget = Budget::new(options);
    let linear = linear_candidates(&folds, config, &budget)?;
    let Some(best_linear) = linear.first() else {
        return Err(ModelError::option(
            "model",
            "arx",
            "a record on which some linear model is stable",
        ));
    };
    let is_stopped = |error: &ModelError| options.keep_best && matches!(error, ModelError::Interrupted { .. });
    let networks = match config.model {
        Some(ModelKind::Arx) => NetworkSearch::default(),
        _ => match network_candidates(&folds, config, best_linear.lags, &budget) {
            Err(error) if is_stopped(&error) => NetworkSearch::cut(),
            found => found?,
        },
    };
    budget.lift();
    let best_network = networks
        .candidates
        .first()
        .filter(|candidate| candidate.score.is_some());
    let wins = |candidate: &&NetworkCandidate| {
        let clearly = candidate
            .score
            .as_ref()
            .is_some_and(|score| score.clearly_beats(&best_linear.score, NETWORK_ADVANTAGE));
        clearly || config.model.is_some()
    };
    let chosen = best_network.filter(wins);
    let finished = match chosen.map(|network| finish_network(&folds, config, network, &budget)) {
        Some(Err(error)) if is_stopped(&error) => None,
        finished => finished.transpose()?,
    };
    let is_cut = chosen.is_some() && finished.is_none();
    let chosen = chosen.filter(|_| !is_cut);
    let (model, calibration, members) = match finished {
        Some(finished) => finished,
        None => {
            let (model, calibration) = finish_linear(&folds, config, best_linear)?;
            (model, calibration, 1)
        }
    };
    let info = AutoInfo {
        findings,
        candidates: table(&linear, &networks, chosen.is_some()),
        why: match is_cut || networks.is_cut {
            true => "it was stopped before a network was ready; the best linear model so far".to_owned(),
            false => why(best_linear, best_network, chosen.is_some(), config),
        },
        members,
        warning: doubt(&calibration, config.coverage),
        calibration,
        guarantees: GUARANTEES,
        rounds: if is_cut { 0 } else { networks.rounds },
        capped: networks.capped || is_cut,
        work: budget.work(),
    };
    let training = training(chosen, started);
    Ok(AutoFit { model, info, training })
}

/// The network's members with margins as one calibrated model, and how many they are.
fn finish_network(
    folds: &Folds<'_>,
    config: &AutoConfig,
    network: &NetworkCandidate,
    budget: &Budget<'_>,
) -> Result<(Model, Calibration, usize)> {
    let second = network.second_members(folds, config, budget)?;
    let members = folds.folds.len() * if second.is_some() { 2 } else { 1 };
    let second = second.as_deref();
    let (model, calibration) = match config.precision {
        Precision::F32 => finish_networks::<f32>(folds, config, network, second, budget)?,
        Precision::F64 => finish_networks::<f64>(folds, config, network, second, budget)?,
    };
    Ok((model, calibration, members))
}

fn table(linear: &[LinearCandidate], networks: &NetworkSearch, network_wins: bool) -> Vec<CandidateInfo> {
    let linear = linear.iter().enumerate().map(|(index, candidate)| CandidateInfo {
        name: match candidate.fit {
            LinearFit::OneStep => format!("ARX {}", candidate.lags),
            LinearFit::Simulation => format!("ARX {}, simulation error", candidate.lags),
        },
        model: ModelKind::Arx,
        lags: candidate.lags,
        hidden: Vec::new(),
        parameters: candidate.parameters,
        rounds: 0,
        score: Some(candidate.score.mean()),
        rmse: candidate.score.rmse,
        coverage: Some(candidate.score.coverage),
        width: Some(candidate.score.width),
        seconds: candidate.seconds,
        chosen: index == 0 && !network_wins,
    });
    let networks = networks.candidates.iter().enumerate().map(|(index, candidate)| {
        let score = candidate.score.as_ref();
        CandidateInfo {
            name: candidate.recipe.name(),
            model: candidate.recipe.model,
            lags: candidate.recipe.lags,
            hidden: candidate.recipe.hidden.clone(),
            parameters: candidate.parameters,
            rounds: candidate.rounds,
            score: score.map(|score| score.mean()),
            rmse: match score {
                Some(score) => score.rmse,
                None => candidate.curve.iter().copied().fold(f64::INFINITY, f64::min).sqrt(),
            },
            coverage: score.map(|score| score.coverage),
            width: score.map(|score| score.width),
            seconds: candidate.seconds,
            chosen: index == 0 && network_wins,
        }
    });
    let mut all: Vec<CandidateInfo> = linear.chain(networks).collect();
    all.sort_by(|a, b| {
        let score = |c: &CandidateInfo| (c.score.is_none(), c.score.unwrap_or(c.rmse));
        let ((a_late, a_score), (b_late, b_score)) = (score(a), score(b));
        (!a.chosen, a_late)
            .cmp(&(!b.chosen, b_late))
            .then(a_score.total_cmp(&b_score))
    });
    all
}

fn why(linear: &LinearCandidate, network: Option<&NetworkCandidate>, wins: bool, config: &AutoConfig) -> String {
    let share = |network: &NetworkCandidate| {
        let score = network.score.as_ref().map_or(f64::INFINITY, |score| score.mean());
        100.0 * (score / linear.score.mean() - 1.0)
    };
    match (network, wins) {
        (_, false) if config.model == Some(ModelKind::Arx) => {
            "the best linear model on held-out blocks; no network was asked for".to_owned()
        }
        (None, _) => "no network was tried or stayed finite on all held-out blocks; the best linear model".to_owned(),
        (Some(network), true) if config.model.is_some() => format!(
            "the best network on held-out blocks, as asked; its interval score is {:+.0} % of the best linear model's",
            share(network)
        ),
        (Some(network), true) => format!(
            "on held-out blocks its interval score is {:+.0} % against the best linear model's, and better on most blocks",
            share(network)
        ),
        (Some(network), false) => format!(
            "no network beats this linear model by {:.0} % and on most held-out blocks (the best is {:+.0} %)",
            100.0 * NETWORK_ADVANTAGE,
            share(network)
        ),
    }
}

fn doubt(calibration: &Calibration, coverage: f64) -> Option<String> {
    let worst = calibration.block_coverage.iter().copied().fold(f64::INFINITY, f64::min);
    (worst < coverage - DOUBTFUL).then(|| {
        format!(
            "coverage differs between held-out blocks (worst {:.0} %, asked {:.0} %): the record drifts or changes, so the \
             offline band is doubtful on new data; the online band follows such changes",
            100.0 * worst,
            100.0 * coverage
        )
    })
}

/// The chosen network's descent as epochs; none for a linear model.
fn training(chosen: Option<&NetworkCandidate>, started: Instant) -> TrainInfo {
    let record = |(index, &loss): (usize, &f64)| EpochRecord {
        stage: Stage::Crisp,
        epoch: index,
        train: [f64::NAN, f64::NAN],
        validation: [loss, f64::NAN],
        learning_rate: f64::NAN,
        scales: [f64::NAN, f64::NAN],
    };
    let curve = chosen.map_or([].as_slice(), |chosen| chosen.curve.as_slice());
    let stage = chosen.map(|chosen| StageInfo {
        stage: Stage::Crisp,
        epochs: curve.len().saturating_sub(1),
        best_epoch: chosen.steps,
        best_loss: curve.get(chosen.steps).copied().unwrap_or(f64::NAN),
        stopped: StopReason::Epochs,
    });
    TrainInfo {
        stages: stage.into_iter().collect(),
        history: curve.iter().enumerate().skip(1).map(record).collect(),
        duration: started.elapsed(),
    }
}
