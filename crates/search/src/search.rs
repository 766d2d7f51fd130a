//! The order of events of a search.

use std::time::Instant;

use intervalid_data::{Dataset, Split};
use intervalid_model::{Calibration, Model, ModelKind};

use crate::budget::Budget;
use crate::config::{SearchConfig, SearchOptions};
use crate::error::{Result, SearchError};
use crate::findings::describe_record;
use crate::finish::{finish_linear, finish_networks};
use crate::folds::Folds;
use crate::info::{CandidateInfo, GUARANTEES, SearchEnd, SearchInfo, SearchOutcome};
use crate::linear::{LinearCandidate, LinearFit, linear_candidates};
use crate::networks::{NetworkCandidate, NetworkSearch, network_candidates};

/// A network has to beat the best linear model by this share of the score: it is harder to understand and to deploy.
const NETWORK_ADVANTAGE: f64 = 0.03;
/// Coverage of a block this far below the asked one makes the offline band doubtful.
const DOUBTFUL: f64 = 0.15;

/// Searches the best model of a record and calibrates its band, on the training and validation parts alone.
///
/// The result depends on data and configuration only, not on threads. Where a deadline passes, [`SearchInfo::capped`] says so, and
/// [`SearchInfo::rounds`] as [`SearchConfig::rounds`] repeats that result. Once linear models have been judged, a search that is
/// cancelled gives the best of them, with [`SearchEnd::Cancelled`].
///
/// # Errors
/// [`SearchError`] if an option is out of range, the record is too short for any model, no linear model is stable on it, or the
/// search is cancelled before any model has been judged.
pub fn search(
    dataset: &Dataset,
    split: &Split,
    config: &SearchConfig,
    options: &SearchOptions<'_>,
) -> Result<SearchOutcome> {
    let started = Instant::now();
    config.check()?;
    let findings = describe_record(dataset, split);
    let folds = Folds::new(dataset, split)?;
    let budget = Budget::new(options);
    let linear = linear_candidates(&folds, config, &budget)?;
    let best_linear = linear.first().ok_or(SearchError::NoStableLinearModel)?;
    let networks = match config.model {
        Some(ModelKind::Arx) => Ok(NetworkSearch::default()),
        _ => network_candidates(&folds, config, best_linear.lags, &budget),
    };
    budget.lift();
    let choice = match networks.and_then(|networks| choose(&folds, config, best_linear, networks, &budget)) {
        Err(SearchError::Cancelled) => Choice::cancelled(),
        choice => choice?,
    };
    let (model, calibration) = match choice.finished {
        Some(finished) => finished,
        None => finish_linear(&folds, config, best_linear)?,
    };
    let chosen = choice.networks.candidates.first().filter(|_| choice.network_wins);
    Ok(SearchOutcome {
        info: SearchInfo {
            findings,
            candidates: table(&linear, &choice.networks, choice.network_wins),
            why: choice.why,
            members: model.members(),
            warning: doubt(&calibration, config.coverage),
            calibration,
            guarantees: GUARANTEES.map(str::to_owned).to_vec(),
            rounds: choice.networks.rounds,
            capped: choice.end != SearchEnd::Finished,
            end: choice.end,
            work: budget.work(),
        },
        descent: chosen.map_or_else(Vec::new, |chosen| chosen.curve.clone()),
        steps: chosen.map_or(0, |chosen| chosen.steps),
        duration: started.elapsed(),
        model,
    })
}

/// What a search settles on.
struct Choice {
    networks: NetworkSearch,
    /// Whether the first of them is taken instead of the best linear model.
    network_wins: bool,
    /// That network as a calibrated model.
    finished: Option<(Model, Calibration)>,
    why: String,
    end: SearchEnd,
}

impl Choice {
    /// The best linear model, since nobody waits for more.
    fn cancelled() -> Self {
        Self {
            networks: NetworkSearch::default(),
            network_wins: false,
            finished: None,
            why: "the search was stopped before a network was ready: this is the best linear model so far".to_owned(),
            end: SearchEnd::Cancelled,
        }
    }
}

/// Judges the best network against the best linear model and finishes it where it wins.
fn choose(
    folds: &Folds<'_>,
    config: &SearchConfig,
    best_linear: &LinearCandidate,
    networks: NetworkSearch,
    budget: &Budget<'_>,
) -> Result<Choice> {
    let best = networks
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
    let finished = match best.filter(wins) {
        Some(network) => Some(finish_network(folds, config, network, budget)?),
        None => None,
    };
    Ok(Choice {
        network_wins: finished.is_some(),
        why: why(best_linear, best, finished.is_some(), config),
        finished,
        end: match networks.capped {
            true => SearchEnd::OutOfTime,
            false => SearchEnd::Finished,
        },
        networks,
    })
}

/// The network's members with margins as one calibrated model.
fn finish_network(
    folds: &Folds<'_>,
    config: &SearchConfig,
    network: &NetworkCandidate,
    budget: &Budget<'_>,
) -> Result<(Model, Calibration)> {
    let second = network.second_members(folds, config, budget)?;
    finish_networks(folds, config, network, second.as_deref(), budget)
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

fn why(linear: &LinearCandidate, network: Option<&NetworkCandidate>, wins: bool, config: &SearchConfig) -> String {
    let Some((network, score)) = network.and_then(|network| Some((network, network.score.as_ref()?))) else {
        return match config.model {
            Some(ModelKind::Arx) => "the best linear model on held-out blocks; no network was asked for".to_owned(),
            _ => "the best linear model: no network stayed finite on all held-out blocks".to_owned(),
        };
    };
    let share = 100.0 * (score.mean() / linear.score.mean() - 1.0);
    let compared = match share < 0.0 {
        true => format!("{:.0} % lower than", -share),
        false => format!("{share:.0} % higher than"),
    };
    let blocks = score.blocks_better(&linear.score);
    let all = score.blocks.len();
    match wins {
        true if config.model.is_some() => format!(
            "the best {} on held-out blocks, as asked; its interval score is {compared} the best linear model's",
            network.recipe.model
        ),
        true => format!(
            "on held-out blocks its interval score is {compared} the best linear model's, and lower on {blocks} of {all} blocks"
        ),
        false => format!(
            "no network is clearly better than this linear model: the best one's interval score is {compared} it on average and lower \
             on {blocks} of {all} blocks, where {:.0} %, more than the standard error between blocks, and most blocks were needed",
            100.0 * NETWORK_ADVANTAGE
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
