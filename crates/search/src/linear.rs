//! Linear candidates: lags by held-out free runs of ARX models, then least squares or simulation error.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use intervalid_data::{
    ArxModel, DataError, LagCandidate, LagSearchConfig, Lags, Part, Segment, Split, compare_lags, free_run_windows,
};
use intervalid_model::DIVERGED;

use crate::budget::{Budget, WORK};
use crate::config::SearchConfig;
use crate::doubt::{Beliefs, disagreement};
use crate::error::{Result, SearchError};
use crate::folds::{Fold, Folds};
use crate::networks::{most_samples, step_work};
use crate::output_error::{DescentConfig, Narx, descend};
use crate::parallel::map_parallel;
use crate::score::{HeldOut, Score, score};

/// How a linear model is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinearFit {
    /// Least squares on one-step predictions.
    OneStep,
    /// Least squares on free runs over windows, started at the one-step fit.
    Simulation,
    /// Least squares on free runs over whole segments, started at the fit on windows: those hide slow modes, which then drift.
    WholeRuns,
}

/// A linear model and what it is worth.
#[derive(Clone, Debug)]
pub(crate) struct LinearCandidate {
    pub(crate) lags: Lags,
    pub(crate) fit: LinearFit,
    /// Where its fits start; none: at least squares.
    pub(crate) start: Option<Narx>,
    pub(crate) parameters: usize,
    /// A model of each division, and its errors on what it had not seen.
    pub(crate) models: Vec<Narx>,
    pub(crate) errors: HeldOut,
    pub(crate) score: Score,
    pub(crate) seconds: f64,
}

impl LinearCandidate {
    /// How its models are fitted.
    pub(crate) fn way(&self) -> Way<'_> {
        (self.lags, self.fit, self.start.as_ref())
    }
}

/// Windows of simulation-error fits: long against the memory of most systems, short enough that a bad start heals.
pub(crate) const WINDOW: usize = 250;
/// Steps of a simulation-error fit.
pub(crate) const ITERATIONS: usize = 25;
/// Regressors up to this length are searched; beyond, the largest lags are lowered.
const LONGEST_REGRESSOR: usize = 80;
/// Most work of fits to free runs, as a share of a search's; the best lags come first.
const SIMULATION_SHARE: f64 = 0.025;
/// Lags are compared on the beginning of longer records.
const LAG_SAMPLES: usize = 12_000;
/// A model with fewer parameters may be worse by this share.
const PARSIMONY: f64 = 0.02;

/// Fits linear models of good lags to one-step errors and scores them; the best of them first.
pub(crate) fn linear_candidates(
    folds: &Folds<'_>,
    config: &SearchConfig,
    budget: &Budget<'_>,
) -> Result<Vec<LinearCandidate>> {
    let lags = match config.lags {
        Some(lags) => vec![lags],
        None if folds.all.samples() > LAG_SAMPLES => good_lags(&folds.beginning(LAG_SAMPLES), config, budget)?,
        None => good_lags(folds, config, budget)?,
    };
    let fitted = map_parallel(&lags, budget.threads, |&lags| {
        let found = candidate(folds, config, (lags, LinearFit::OneStep, None), &|_| true);
        budget.did(0.0, "linear models");
        if let Ok(Some(found)) = &found {
            budget.judged(found.judged());
        }
        found
    });
    budget.check()?;
    let fitted = fitted.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(sorted(fitted.into_iter().flatten().collect()))
}

/// The same with models fitted to errors of free runs, as far as a share of a search's work allows; none if time runs out.
pub(crate) fn with_simulation_fits(
    folds: &Folds<'_>,
    config: &SearchConfig,
    one_step: &[LinearCandidate],
    budget: &Budget<'_>,
) -> Result<Option<Vec<LinearCandidate>>> {
    let mut work = 0.0;
    let affordable = one_step.iter().take_while(|candidate| {
        let fits = 2 * ITERATIONS * folds.folds.len();
        work += fits as f64 * step_work(folds, candidate.parameters);
        work <= SIMULATION_SHARE * WORK
    });
    let lags: Vec<Lags> = affordable.map(|candidate| candidate.lags).collect();
    let mut jobs = Vec::new();
    for fit in [LinearFit::WholeRuns, LinearFit::Simulation] {
        jobs.extend(lags.iter().map(|&lags| (lags, fit)));
    }
    let is_cut = AtomicBool::new(false);
    let goes_on = |work: f64| {
        let goes_on = budget.did(work, "linear models") && !budget.is_over();
        is_cut.fetch_or(!goes_on, Ordering::SeqCst);
        goes_on
    };
    let fitted = map_parallel(&jobs, budget.threads, |&(lags, fit)| {
        let started = Instant::now();
        let found = candidate(folds, config, (lags, fit, None), &goes_on);
        if let (Ok(Some(found)), false) = (&found, is_cut.load(Ordering::SeqCst)) {
            budget.judged(found.judged());
        }
        found.map(|found| (found, started.elapsed()))
    });
    budget.check()?;
    if is_cut.into_inner() {
        return Ok(None);
    }
    let mut all = one_step.to_vec();
    for found in fitted {
        let (found, time) = found?;
        if let Some(found) = &found {
            let fits = ITERATIONS * folds.folds.len();
            budget.took(fits as f64 * step_work(folds, found.parameters), time);
        }
        all.extend(found);
    }
    Ok(Some(sorted(all)))
}

/// The best first; of those nearly as good the one with the fewest parameters. Those that are not believed come last.
fn sorted(mut candidates: Vec<LinearCandidate>) -> Vec<LinearCandidate> {
    let beliefs = Beliefs::of(candidates.iter().map(|candidate| &candidate.score));
    let best = candidates
        .iter()
        .filter(|candidate| beliefs.hold(&candidate.score))
        .map(|candidate| candidate.score.total())
        .fold(f64::INFINITY, f64::min);
    // Stable: of equals the first, which has been fitted more simply.
    candidates.sort_by(|a, b| {
        let rank = |c: &LinearCandidate| c.score.total() > best * (1.0 + PARSIMONY);
        let size = |c: &LinearCandidate| if rank(c) { usize::MAX } else { c.parameters };
        let is_doubted = |c: &LinearCandidate| !beliefs.hold(&c.score);
        (is_doubted(a), rank(a), size(a))
            .cmp(&(is_doubted(b), rank(b), size(b)))
            .then(a.score.total().total_cmp(&b.score.total()))
    });
    candidates
}

/// A few lags that held-out free runs like: the best, the smallest nearly as good, and the best of small orders.
fn good_lags(folds: &Folds<'_>, config: &SearchConfig, budget: &Budget<'_>) -> Result<Vec<Lags>> {
    let search = limits(folds, config);
    let mut mean = mean_table(folds, &search, budget)?;
    for later in search.later(folds.dataset, &folds.all) {
        match mean_table(folds, &later, budget) {
            Ok(table) => mean.extend(table),
            // Of a record too short for late answers the others are kept.
            Err(SearchError::Data(DataError::TooShort { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    budget.did(0.0, "lags");
    let best = |most_ny: usize| -> Option<LagCandidate> {
        let small = mean.iter().filter(|candidate| candidate.lags.ny <= most_ny);
        small
            .min_by(|a, b| a.validation_rmse.total_cmp(&b.validation_rmse))
            .copied()
    };
    let mut found = Vec::new();
    for most_ny in [usize::MAX, 4, 2] {
        let Some(best) = best(most_ny) else { continue };
        let good_enough = mean.iter().filter(|candidate| {
            candidate.lags.ny <= most_ny && candidate.validation_rmse <= best.validation_rmse * (1.0 + PARSIMONY)
        });
        let smallest = good_enough
            .min_by(|a, b| (a.parameters.cmp(&b.parameters)).then(a.validation_rmse.total_cmp(&b.validation_rmse)));
        found.push(best.lags);
        found.extend(smallest.map(|candidate| candidate.lags));
    }
    let mut distinct = Vec::new();
    for lags in found {
        if !distinct.contains(&lags) {
            distinct.push(lags);
        }
    }
    Ok(distinct)
}

/// Lags with their mean errors over all blocks.
fn mean_table(folds: &Folds<'_>, search: &LagSearchConfig, budget: &Budget<'_>) -> Result<Vec<LagCandidate>> {
    let indices: Vec<usize> = (0..folds.folds.len()).collect();
    let tables = map_parallel(&indices, budget.threads, |&fold| {
        let split = Split {
            train: folds.folds[fold].rest.clone(),
            validation: folds.folds[fold].held_out.clone(),
            test: Part::default(),
        };
        // In the units of all blocks: a step or a pulse may be all that a channel does, and a division's rest be without it.
        compare_lags(folds.dataset, &folds.scaled, &split, search)
    });
    budget.check()?;
    let tables = tables.into_iter().collect::<Result<Vec<_>, DataError>>()?;
    // There is at least one fold.
    let mut mean: Vec<LagCandidate> = tables.first().cloned().unwrap_or_default();
    for (index, candidate) in mean.iter_mut().enumerate() {
        let squares: f64 = tables.iter().map(|table| table[index].validation_rmse.powi(2)).sum();
        candidate.validation_rmse = (squares / tables.len() as f64).sqrt();
    }
    Ok(mean)
}

/// As many lags as the shortest training set and patience allow.
fn limits(folds: &Folds<'_>, config: &SearchConfig) -> LagSearchConfig {
    let (inputs, outputs) = (folds.dataset.inputs().len(), folds.dataset.outputs().len());
    let mut search = LagSearchConfig {
        initial: config.initial(),
        ..LagSearchConfig::default()
    };
    let taps = |search: &LagSearchConfig| search.max_nx + search.max_nd + 1;
    let columns = |search: &LagSearchConfig| search.max_ny * outputs + taps(search) * inputs;
    while columns(&search) > LONGEST_REGRESSOR && search.max_ny + search.max_nx + search.max_nd > 1 {
        search.max_ny = (search.max_ny - 1).max(1);
        search.max_nx = search.max_nx.saturating_sub(1);
        search.max_nd = search.max_nd.saturating_sub(1);
    }
    // What experiments have before a model has seen its inputs teaches nothing.
    let known = |search: &LagSearchConfig| {
        let memory = search.max_ny.max(taps(search));
        let of = |segment: &Segment| segment.end.saturating_sub(segment.start.max(memory));
        let of_fold = |fold: &Fold| fold.rest.segments().iter().map(of).sum::<usize>();
        folds.folds.iter().map(of_fold).min().unwrap_or(0)
    };
    // Four samples for each coefficient at the least, or the search fits noise. A dead time costs none.
    let coefficients = |search: &LagSearchConfig| search.max_ny * outputs + (search.max_nx + 1) * inputs;
    while 4 * coefficients(&search) > known(&search) && search.max_ny + search.max_nx > 1 {
        search.max_ny = (search.max_ny - 1).max(1);
        search.max_nx = search.max_nx.saturating_sub(1);
    }
    // All are solved from one table, which needs more samples than it has columns.
    while 2 * columns(&search) > known(&search) && search.max_nd > 0 {
        search.max_nd -= 1;
    }
    // And every division has a run to judge: in pieces of ten samples, a memory of ten has none.
    let judges = |search: &LagSearchConfig| {
        let largest = Lags {
            nx: search.max_nx,
            nd: search.max_nd,
            ny: search.max_ny,
        };
        let has_run = |fold: &Fold| free_run_windows(folds.dataset, &fold.held_out, largest, search.initial).is_ok();
        folds.folds.iter().all(has_run)
    };
    while !judges(&search) && search.max_nd + search.max_nx + search.max_ny > 1 {
        match search.max_nd {
            0 => {
                search.max_ny = (search.max_ny - 1).max(1);
                search.max_nx = search.max_nx.saturating_sub(1);
            }
            _ => search.max_nd -= 1,
        }
    }
    search
}

/// Fits on each rest, simulates each held-out block; none if a fit is impossible or a run diverges, or if `goes_on(work)`, asked
/// before every step, says no.
fn candidate(
    folds: &Folds<'_>,
    config: &SearchConfig,
    way: Way<'_>,
    goes_on: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Option<LinearCandidate>> {
    let (lags, fit, start) = way;
    let started = Instant::now();
    let mut errors = HeldOut::new();
    let mut models = Vec::new();
    for fold in 0..folds.folds.len() {
        let model = fit_linear_while(folds, &folds.folds[fold].rest, config, way, goes_on)?;
        let Some(block) = held_out_errors(&model, folds, fold, config)? else {
            return Ok(None);
        };
        errors.push(block);
        models.push(model);
    }
    let elsewhere: Vec<Option<Vec<f64>>> = models
        .iter()
        .map(|model| model.whole_runs(&folds.backwards, config.initial()))
        .collect();
    Ok(Some(LinearCandidate {
        lags,
        fit,
        start: start.cloned(),
        parameters: models.first().map_or(0, |model| model.theta.len()),
        score: score(&errors, folds.blocks, config.coverage).doubted(disagreement(&elsewhere)),
        models,
        errors,
        seconds: started.elapsed().as_secs_f64(),
    }))
}

/// A linear model that was found before, fitted once more: to whole runs from where it is, or by least squares, which needs no start; the
/// better first.
pub(crate) fn again(
    folds: &Folds<'_>,
    config: &SearchConfig,
    start: &Narx,
    budget: &Budget<'_>,
) -> Result<Vec<LinearCandidate>> {
    let work = step_work(folds, start.theta.len());
    let goes_on = |_: f64| budget.did(work, "linear models");
    let mut found = Vec::new();
    for way in [
        (start.lags, LinearFit::WholeRuns, Some(start)),
        (start.lags, LinearFit::WholeRuns, None),
        (start.lags, LinearFit::OneStep, None),
    ] {
        found.extend(candidate(folds, config, way, &goes_on)?);
        budget.check()?;
    }
    Ok(sorted(found))
}

/// Lags, what errors are minimised, and from where.
pub(crate) type Way<'a> = (Lags, LinearFit, Option<&'a Narx>);

/// A linear model of a part.
pub(crate) fn fit_linear(folds: &Folds<'_>, part: &Part, config: &SearchConfig, way: Way<'_>) -> Result<Narx> {
    fit_linear_while(folds, part, config, way, &|_| true)
}

/// The same, its descents ended when `goes_on(work)` says no.
fn fit_linear_while(
    folds: &Folds<'_>,
    part: &Part,
    config: &SearchConfig,
    (lags, fit, start): Way<'_>,
    goes_on: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Narx> {
    let model = match start {
        Some(start) => start.clone(),
        None => {
            let arx = ArxModel::fit(&folds.scaled, part, lags, true)?;
            Narx::linear(&arx, folds.dataset.inputs().len())
        }
    };
    if fit == LinearFit::OneStep {
        return Ok(model);
    }
    let lengths: &[usize] = match fit {
        LinearFit::WholeRuns => &[WINDOW, usize::MAX / 2],
        _ => &[WINDOW],
    };
    let most = most_samples(model.theta.len());
    let settings = DescentConfig {
        iterations: ITERATIONS,
        ridge: 0.0,
        initial: config.initial(),
    };
    lengths.iter().try_fold(model, |model, &length| {
        let windows = folds.windows(part, (lags, config.initial()), length, most, 0);
        let work = step_work(folds, model.theta.len());
        let mut descent = descend(model.clone(), &folds.scaled, &windows, settings, |_| goes_on(work));
        let theta = descent.iterates.pop().unwrap_or_else(|| model.theta.clone());
        Ok(Narx { theta, ..model })
    })
}

/// Errors of the free run over a held-out block, `[output][sample]`; none if it diverges.
pub(crate) fn held_out_errors(
    model: &Narx,
    folds: &Folds<'_>,
    fold: usize,
    config: &SearchConfig,
) -> Result<Option<Vec<Vec<f64>>>> {
    let windows = folds.test_runs(fold, model.lags, config.initial())?;
    let mut errors = vec![Vec::new(); model.outputs];
    let mut tape = model.tape();
    for (window, first) in windows {
        let experiment = &folds.scaled.experiments()[window.experiment];
        let is_finite = model.run(experiment, window, config.initial(), &mut tape, |step, _, y| {
            if step >= config.initial().unscored() && window.start + 1 + step >= first {
                for (output, y) in y.iter().enumerate() {
                    errors[output].push(experiment.output(output)[window.start + 1 + step] - y);
                }
            }
        });
        if !is_finite {
            return Ok(None);
        }
    }
    Ok(Some(errors))
}

/// Mean squared error over a held-out block; beyond all reason if the run diverges.
pub(crate) fn held_out_mse(model: &Narx, folds: &Folds<'_>, fold: usize, config: &SearchConfig) -> Result<f64> {
    let errors = held_out_errors(model, folds, fold, config)?;
    Ok(mean_square(errors.as_deref()))
}

/// Mean square of errors `[output][sample]`; without any the run has diverged.
pub(crate) fn mean_square(errors: Option<&[Vec<f64>]>) -> f64 {
    errors.map_or(DIVERGED, |errors| {
        let count: usize = errors.iter().map(Vec::len).sum();
        errors.iter().flatten().map(|e| e * e).sum::<f64>() / count.max(1) as f64
    })
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Channel, Dataset, Experiment, LinearSystem, SplitFractions};

    use super::*;
    use crate::config::SearchOptions;

    /// The lags that a search of a record of so many samples starts from.
    fn lags_of(dead_time: usize, samples: usize) -> Vec<Lags> {
        let system = LinearSystem {
            dead_time,
            noise_std: 0.05,
            ..LinearSystem::default()
        };
        let dataset = system.generate(samples, 3).expect("generates").into_dataset();
        let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
        let folds = Folds::new(&dataset, &split).expect("cuts");
        let budget = Budget::new(&SearchOptions::default());
        good_lags(&folds, &SearchConfig::default(), &budget).expect("compares")
    }

    #[test]
    fn short_pieces_are_searched_with_short_memories() {
        let system = LinearSystem {
            noise_std: 0.05,
            ..LinearSystem::default()
        };
        let run = |k: usize, length: usize| {
            let record = system.generate(length, k as u64).expect("generates");
            let one = &record.dataset().experiments()[0];
            Experiment::new(
                format!("{k}"),
                vec![one.input(0).to_vec()],
                vec![one.output(0).to_vec()],
            )
        };
        let one_long = std::iter::once(run(0, 200)).chain((1..7).map(|k| run(k, 11)));
        let all_short = (0..40).map(|k| run(k, 25));
        let channels = |name| vec![Channel::new(name)];
        for runs in [one_long.collect(), all_short.collect()] {
            let dataset = Dataset::new("pieces", channels("u"), channels("y"), None, runs).expect("a record");
            let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
            let folds = Folds::new(&dataset, &split).expect("cuts");
            let config = SearchConfig::default();
            let search = limits(&folds, &config);
            assert!(search.max_ny.max(search.max_nd + search.max_nx) < 11, "{search:?}");
            let budget = Budget::new(&SearchOptions::default());
            assert!(!good_lags(&folds, &config, &budget).expect("compares").is_empty());
        }
    }

    #[test]
    fn short_records_keep_their_dead_times_and_late_answers_are_searched() {
        for (dead_time, samples) in [(3, 60), (3, 300), (30, 1500)] {
            let found = lags_of(dead_time, samples);
            let has_it = |lags: &Lags| (lags.nd..=lags.nd + lags.nx).contains(&dead_time);
            assert!(found.iter().any(has_it), "{dead_time} of {samples}: {found:?}");
        }
    }
}
