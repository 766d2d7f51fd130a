//! Descents of networks on lagged outputs: one recipe, without one division or with all data.

use intervalid_data::{InitialState, Window};
use intervalid_model::ModelKind;

use crate::budget::Budget;
use crate::config::SearchConfig;
use crate::error::Result;
use crate::folds::Folds;
use crate::journal::Stored;
use crate::linear::{LinearFit, fit_linear, held_out_mse, mean_square};
use crate::output_error::{DescentConfig, Narx, descend, free_run_error};
use crate::recipe::Recipe;
use crate::recurrent;

/// One descent: θ after every step, and the error on the held-out block there.
#[derive(Clone, Debug)]
pub(super) struct DescentHistory {
    pub(super) iterates: Vec<Vec<f64>>,
    pub(super) errors: Vec<f64>,
}

/// Samples whose normal equations are affordable with so many parameters.
pub(crate) fn most_samples(parameters: usize) -> usize {
    (4e8 / (parameters * parameters) as f64).clamp(600.0, 20_000.0) as usize
}

/// Multiplications in the normal equations of one step.
pub(crate) fn step_work(folds: &Folds<'_>, parameters: usize) -> f64 {
    let outputs = folds.dataset.outputs().len();
    let samples = folds.all.samples().min(most_samples(parameters)) * outputs;
    (samples * parameters * parameters) as f64
}

/// Goes on with a descent without a fold, or without none of them, or starts one at the linear fit; none if time runs out.
pub(super) fn extend(
    (folds, fold): (&Folds<'_>, Option<usize>),
    config: &SearchConfig,
    recipe: &Recipe,
    seed: u64,
    before: Option<&DescentHistory>,
    steps: usize,
    budget: &Budget<'_>,
) -> Result<Option<DescentHistory>> {
    // Where it goes on from is decided by the recipe, the fold and the steps done.
    let key = || {
        let done = before.map(|before| (before.iterates.len(), before.iterates.last()));
        format!("{recipe:?} without {fold:?}, seed {seed}, {steps} steps after {done:?}")
    };
    let mut failed = None;
    let trail = budget.once("networks", key, || {
        let trail = budget.timed(|| descent((folds, fold), config, recipe, seed, before, steps, budget));
        trail.unwrap_or_else(|error| {
            failed = Some(error);
            None
        })
    });
    failed.map_or(Ok(trail), Err)
}

impl Stored for DescentHistory {
    fn put(&self, to: &mut Vec<u8>) {
        self.iterates.put(to);
        self.errors.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let (iterates, errors): (Vec<Vec<f64>>, Vec<f64>) = Stored::get(from)?;
        let size = iterates.first()?.len();
        let is_whole = iterates.iter().all(|theta| theta.len() == size) && errors.len() == iterates.len();
        is_whole.then_some(Self { iterates, errors })
    }
}

/// The same, carried out.
fn descent(
    (folds, fold): (&Folds<'_>, Option<usize>),
    config: &SearchConfig,
    recipe: &Recipe,
    seed: u64,
    before: Option<&DescentHistory>,
    steps: usize,
    budget: &Budget<'_>,
) -> Result<Option<DescentHistory>> {
    if recipe.model == ModelKind::Ilstm {
        return match before {
            Some(trail) => Ok(Some(trail.clone())),
            None => recurrent_trail((folds, fold), config, recipe, seed, budget),
        };
    }
    let rest = fold.map_or(&folds.all, |fold| &folds.folds[fold].rest);
    let linear = fit_linear(folds, rest, config, (recipe.lags, LinearFit::OneStep, None))?;
    // Each fold starts elsewhere, so that their mean is one over starts as well.
    let mut model = linear.with_network(&recipe.hidden, seed);
    let judge = |model: &Narx| match fold {
        Some(fold) => held_out_mse(model, folds, fold, config),
        None => Ok(0.0),
    };
    let mut trail = match before {
        Some(trail) => trail.clone(),
        None => DescentHistory {
            errors: vec![judge(&model)?],
            iterates: vec![model.theta.clone()],
        },
    };
    if let Some(last) = trail.iterates.last() {
        model.theta.clone_from(last);
    }
    let parameters = model.theta.len();
    let start = (recipe.lags, recipe.initial);
    let windows = folds.windows(rest, start, recipe.window, most_samples(parameters), fold.unwrap_or(0));
    let settings = DescentConfig {
        iterations: steps.saturating_sub(trail.iterates.len() - 1),
        ridge: recipe.ridge * linear_error(&linear, folds, &windows, recipe.initial),
        initial: recipe.initial,
    };
    let work = step_work(folds, parameters);
    let mut is_cut = false;
    let descent = descend(model.clone(), &folds.scaled, &windows, settings, |_| {
        is_cut = !budget.did(work, "networks") || budget.is_over();
        !is_cut
    });
    if is_cut {
        return Ok(None);
    }
    for theta in descent.iterates.into_iter().skip(1) {
        let now = Narx { theta, ..model.clone() };
        // A long record's last step is the one that counts, and its runs are dear.
        if !folds.is_long() {
            trail.errors.push(judge(&now)?);
        }
        trail.iterates.push(now.theta);
    }
    if folds.is_long() {
        if let Some(theta) = trail.iterates.last() {
            model.theta.clone_from(theta);
        }
        trail.errors = vec![judge(&model)?; trail.iterates.len()];
    }
    Ok(Some(trail))
}

/// What penalties are measured by: the mean squared error of a linear model's free runs, at most the outputs' variance. It depends
/// on the data alone, so that a descent that goes on has the penalty it had before.
fn linear_error(linear: &Narx, folds: &Folds<'_>, windows: &[Window], initial: InitialState) -> f64 {
    let error = free_run_error(linear, &folds.scaled, windows, initial);
    error.map_or(1.0, |error| error.min(1.0))
}

/// Trains an LSTM.
fn recurrent_trail(
    (folds, fold): (&Folds<'_>, Option<usize>),
    config: &SearchConfig,
    recipe: &Recipe,
    seed: u64,
    budget: &Budget<'_>,
) -> Result<Option<DescentHistory>> {
    let Some(theta) = recurrent::train(folds, config, recipe, fold, seed, budget)? else {
        return Ok(None);
    };
    let errors = match fold {
        Some(fold) => recurrent::held_out_errors(folds, recipe, &theta, fold)?,
        None => Some(Vec::new()),
    };
    Ok(Some(DescentHistory {
        errors: vec![mean_square(errors.as_deref())],
        iterates: vec![theta],
    }))
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Dataset, Lags, Split, SplitFractions, WienerSystem};

    use super::*;
    use crate::config::SearchOptions;
    use crate::journal::Journal;

    fn record() -> (Dataset, Split) {
        let record = WienerSystem::default().generate(300, 1).expect("generates");
        let dataset = record.into_dataset();
        let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
        (dataset, split)
    }

    fn recipe() -> Recipe {
        Recipe {
            model: ModelKind::Inode,
            lags: Lags { nx: 1, nd: 0, ny: 1 },
            hidden: vec![3],
            ridge: 1.0,
            window: 60,
            initial: InitialState::Measured,
        }
    }

    #[test]
    fn a_descent_from_the_journal_says_nothing_of_how_fast_the_machine_is() {
        let (dataset, split) = record();
        let folds = Folds::new(&dataset, &split).expect("cuts");
        let folder = tempfile::tempdir().expect("a folder");
        let timed_and_done = || {
            let journal = Journal::open(&folder.path().join("journal"), [0; 32]).expect("opens");
            let budget = Budget::new(&SearchOptions::default()).with_journal(Some(journal));
            let trail = extend(
                (&folds, Some(0)),
                &SearchConfig::default(),
                &recipe(),
                7,
                None,
                5,
                &budget,
            );
            trail.expect("fits").expect("nobody stops it");
            (budget.timed_work(), budget.work())
        };
        let (timed, done) = timed_and_done();
        assert!(timed > 0.0 && timed.to_bits() == done.to_bits(), "{timed} {done}");
        assert_eq!(timed_and_done(), (0.0, done));
    }

    /// With a penalty that followed the error, a descent in two parts would end at larger weights than one in one go.
    #[test]
    fn a_descent_that_goes_on_keeps_its_penalty() {
        let (dataset, split) = record();
        let folds = Folds::new(&dataset, &split).expect("cuts");
        let config = SearchConfig::default();
        let budget = Budget::new(&SearchOptions::default());
        let recipe = recipe();
        let descend = |steps, before: Option<&DescentHistory>| {
            let trail = extend((&folds, Some(0)), &config, &recipe, 7, before, steps, &budget);
            trail.expect("fits").expect("nobody stops it")
        };
        let in_one_go = descend(150, None);
        let first = descend(15, None);
        assert_eq!(first.iterates[..10], in_one_go.iterates[..10]);
        let in_two = descend(150, Some(&first));
        let size = |trail: &DescentHistory| {
            trail
                .iterates
                .last()
                .map(|theta| theta.iter().map(|t| t * t).sum::<f64>())
        };
        let (one, two) = (size(&in_one_go).expect("steps"), size(&in_two).expect("steps"));
        assert!((one / two - 1.0).abs() < 0.02, "{one} {two}");
    }
}
