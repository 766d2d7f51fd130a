//! LSTM candidates: networks with states of their own, trained by gradient steps on windows.
//!
//! Their Jacobians are too large for the Gauss–Newton steps of the small networks, so they are trained as in any other fit:
//! the cascade's first stage, its epoch chosen on the block after the one that judges it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use intervalid_data::{InitialState, Lags, Part, Split, Windows, free_run_windows};
use intervalid_model::{Control, FitConfig, ModelError, ModelKind, Progress, Schedule, fit_crisp, simulate_crisp};

use crate::budget::Budget;
use crate::config::SearchConfig;
use crate::cross_calibration::without;
use crate::doubt::whole_windows;
use crate::error::Result;
use crate::folds::Folds;
use crate::recipe::Recipe;

const EPOCHS: usize = 150;
/// Samples of an epoch, over all windows: more teach so small a network nothing new.
const MOST_SAMPLES: usize = 20_000;
/// Samples of a training window.
const WINDOW: usize = 60;
/// States start at zero, so that the first predictions of a run say more about that than about the network.
const WARMUP: usize = 20;

/// One cell; where nothing else is wanted the paper's two as well, which take four times as long.
pub(crate) fn recipes(folds: &Folds<'_>, config: &SearchConfig, lags: Lags) -> Vec<Recipe> {
    let mut shapes = vec![vec![16]];
    if config.model.is_some() {
        shapes.push(vec![30, 10]);
    }
    let recipe = |hidden| Recipe {
        model: ModelKind::Ilstm,
        lags,
        hidden,
        ridge: 0.0,
        window: WINDOW,
        initial: config.initial.unwrap_or(InitialState::Warmup(WARMUP)),
    };
    let is_possible = |recipe: &Recipe| {
        let settings = settings(folds, config, recipe);
        (0..folds.folds.len()).all(|fold| {
            let split = split(folds, Some(fold));
            let windows = Windows::new(
                folds.dataset,
                &split.train,
                lags,
                recipe.initial,
                settings.training.window,
            );
            windows.is_ok() && free_run_windows(folds.dataset, &split.validation, lags, recipe.initial).is_ok()
        })
    };
    shapes.into_iter().map(recipe).filter(is_possible).collect()
}

/// Multiplications of training one fold.
pub(crate) fn work(folds: &Folds<'_>, recipe: &Recipe) -> f64 {
    (EPOCHS * epoch_samples(folds, recipe)) as f64 * 3.0 * recipe.parameters(folds) as f64
}

/// θ of a fold, or of everything, in units of all blocks together; none if the time is up or the user wants to stop. A network that will not
/// train predicts the mean.
pub(crate) fn train(
    folds: &Folds<'_>,
    config: &SearchConfig,
    recipe: &Recipe,
    fold: Option<usize>,
    seed: u64,
    budget: &Budget<'_>,
) -> Result<Option<Vec<f64>>> {
    let settings = FitConfig {
        seed,
        ..settings(folds, config, recipe)
    };
    let share = work(folds, recipe) / EPOCHS as f64;
    let is_cut = AtomicBool::new(false);
    let observer = |_: &Progress| match budget.did(share, "networks") && !budget.is_over() {
        true => ControlFlow::Continue(()),
        false => {
            is_cut.store(true, Ordering::SeqCst);
            ControlFlow::Break(())
        }
    };
    let found = fit_crisp(
        folds.dataset,
        &split(folds, fold),
        folds.normaliser.clone(),
        &settings,
        Control {
            observer: Some(&observer),
            ..Control::default()
        },
    );
    match found {
        _ if is_cut.load(Ordering::SeqCst) => Ok(None),
        Ok(theta) => Ok(Some(theta)),
        Err(ModelError::Diverged { .. }) => Ok(Some(vec![0.0; recipe.parameters(folds)])),
        Err(error) => Err(error.into()),
    }
}

/// Errors of the free run over a held-out block, `[output][sample]`; none if it diverges.
pub(crate) fn held_out_errors(
    folds: &Folds<'_>,
    recipe: &Recipe,
    theta: &[f64],
    fold: usize,
) -> Result<Option<Vec<Vec<f64>>>> {
    let Some(architecture) = recipe.architecture(folds) else {
        return Ok(None);
    };
    let outputs = architecture.outputs;
    let mut errors = vec![Vec::new(); outputs];
    for (window, first) in folds.test_runs(fold, recipe.lags, recipe.initial)? {
        let Some(y) = simulate_crisp(&architecture, theta, &folds.scaled, window, recipe.initial) else {
            return Ok(None);
        };
        let experiment = &folds.scaled.experiments()[window.experiment];
        for (step, y) in y.chunks_exact(outputs).enumerate().skip(recipe.initial.unscored()) {
            let k = window.start + 1 + step;
            if k >= first {
                let measured = (0..outputs).map(|output| experiment.output(output)[k]);
                errors
                    .iter_mut()
                    .zip(measured.zip(y))
                    .for_each(|(errors, (measured, y))| errors.push(measured - y));
            }
        }
    }
    Ok(Some(errors))
}

/// Free runs over the record's stretches backwards, one after the other; none where one diverges.
pub(crate) fn whole_runs(folds: &Folds<'_>, recipe: &Recipe, theta: &[f64]) -> Option<Vec<f64>> {
    let architecture = recipe.architecture(folds)?;
    let run = |window| simulate_crisp(&architecture, theta, &folds.backwards, window, recipe.initial);
    let runs: Option<Vec<Vec<f64>>> = whole_windows(&folds.backwards, recipe.initial)
        .into_iter()
        .map(run)
        .collect();
    Some(runs?.concat())
}

/// Everything but the held-out block, if there is one, and of that a block to choose the epoch on.
fn split(folds: &Folds<'_>, fold: Option<usize>) -> Split {
    let choosing = folds.choosing(fold);
    let rest = fold.map_or(&folds.all, |fold| &folds.folds[fold].rest);
    Split {
        train: without(rest, &choosing),
        validation: choosing,
        test: Part::default(),
    }
}

fn settings(folds: &Folds<'_>, config: &SearchConfig, recipe: &Recipe) -> FitConfig {
    let step = (folds.all.samples() * recipe.window / epoch_samples(folds, recipe).max(1)).max(1);
    recipe.fit_config(config, recipe.window, step).with(|config| {
        config.training.epochs = EPOCHS;
        config.training.batch = 32;
        config.training.learning_rate = 0.01;
        config.training.schedule = Schedule::Cosine;
    })
}

/// Samples of all windows of an epoch: each sample in six windows, up to the most.
fn epoch_samples(folds: &Folds<'_>, recipe: &Recipe) -> usize {
    let each = recipe.window / 10;
    (folds.all.samples() * each).min(MOST_SAMPLES)
}
