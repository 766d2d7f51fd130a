//! From the chosen candidate to a calibrated model.

use intervalid_data::{Dataset, Normaliser, Part, Split};
use intervalid_model::{
    Band, BlockScores, Calibration, FitConfig, MarginActivation, Model, ModelError, ModelInterface, ModelKind,
    Schedule, align, calibrate, fit_margins, initial_margins, mean_band, quantile, spread_factor,
};

use crate::budget::Budget;
use crate::config::SearchConfig;
use crate::error::Result;
use crate::folds::Folds;
use crate::linear::{LinearCandidate, fit_linear};
use crate::networks::NetworkCandidate;
use crate::parallel::map_parallel;
use crate::score::shaped_score;

/// Refits the linear model on all blocks; its band comes from the blocks it had not seen in the folds.
pub(crate) fn finish_linear(
    folds: &Folds<'_>,
    config: &SearchConfig,
    chosen: &LinearCandidate,
) -> Result<(Model, Calibration)> {
    let narx = fit_linear(folds, &folds.all, config, chosen.lags, chosen.fit)?;
    let interface = ModelInterface::new(folds.dataset, Normaliser::fit(folds.dataset, &folds.all)?);
    let scale = |output: usize, error: f64| interface.normaliser.outputs[output].width_to_physical(error);
    let outputs = folds.dataset.outputs().len();
    let (mut half_width, mut blocks) = (Vec::new(), Vec::new());
    for output in 0..outputs {
        let errors = chosen.errors.iter().map(|block| &block[output]);
        let errors: Vec<Vec<f64>> = errors
            .map(|block| block.iter().map(|&error| scale(output, error)).collect())
            .collect();
        let half = quantile(
            errors.iter().flatten().map(|e: &f64| e.abs()).collect(),
            config.coverage,
        );
        let block = |error: Vec<f64>| BlockScores {
            below: vec![half; error.len()],
            above: vec![half; error.len()],
            error,
        };
        half_width.push(half);
        blocks.push(errors.into_iter().map(block).collect());
    }
    let floors: Vec<f64> = (0..outputs).map(|output| interface.least_half_width(output)).collect();
    let calibration = calibrate(&blocks, &floors, config.coverage);
    let settings = config.fit_config(ModelKind::Arx, chosen.lags, config.initial());
    let model = Model::from_arx(
        folds.dataset,
        interface.normaliser,
        narx.to_arx(),
        half_width,
        &settings,
    );
    let model = model.calibrated(Some(calibration.clone()))?;
    Ok((model.with_region(folds.dataset, &folds.all)?, calibration))
}

/// Margins around the networks of all folds, their mean as one model, and the scaling of its band.
pub(crate) fn finish_networks(
    folds: &Folds<'_>,
    config: &SearchConfig,
    chosen: &NetworkCandidate,
    seconds: Option<&[Vec<f64>]>,
    budget: &Budget<'_>,
) -> Result<(Model, Calibration)> {
    let first = (0..folds.folds.len()).filter_map(|fold| Some((fold, chosen.theta(fold)?.to_vec())));
    let mut thetas: Vec<(usize, Vec<f64>)> = first.collect();
    thetas.extend(seconds.into_iter().flatten().cloned().enumerate());
    let trained = map_parallel(&thetas, budget.threads, |(fold, theta)| {
        let member = margins(folds, config, chosen, *fold, theta);
        budget.did(0.0, "margins");
        member
    });
    budget.check()?;
    let members = trained.into_iter().collect::<Result<Vec<Model>>>()?;
    let blocks = held_out_bands(folds, &members, &thetas, spread_factor(config.coverage))?;
    // One configuration for all, the first one's: what the others were started from is in their parameters.
    let model = Model::ensemble(members)?;
    let interface = model.interface();
    let floors: Vec<f64> = blocks
        .iter()
        .enumerate()
        .map(|(output, blocks)| best_floor(blocks, interface.least_half_width(output), config.coverage))
        .collect();
    let calibration = calibrate(&blocks, &floors, config.coverage);
    let model = model.calibrated(Some(calibration.clone()))?;
    Ok((model.with_region(folds.dataset, &folds.all)?, calibration))
}

/// Windows whose margins are trained, in samples: more teach a few thousand margins nothing new.
const MARGIN_SAMPLES: usize = 20_000;
const MARGIN_EPOCHS: usize = 30;

/// Trains the margins of one network on all blocks; the one it had not seen chooses the epoch.
fn margins(
    folds: &Folds<'_>,
    config: &SearchConfig,
    chosen: &NetworkCandidate,
    fold: usize,
    theta: &[f64],
) -> Result<Model> {
    let recipe = &chosen.recipe;
    let longest = folds
        .all
        .segments()
        .iter()
        .map(|segment| segment.len())
        .max()
        .unwrap_or(2);
    let shortest = recipe.initial.unscored() + 2;
    let length = recipe.window.min(longest / 2).max(shortest);
    let step = (folds.all.samples() * length / MARGIN_SAMPLES).max(length / 8).max(1);
    let split = Split {
        train: folds.all.clone(),
        validation: folds.folds[fold].held_out.clone(),
        test: Part::default(),
    };
    let mut settings = recipe.fit_config(config, length, step).with(|config| {
        config.training.epochs = MARGIN_EPOCHS;
        config.training.schedule = Schedule::Cosine;
        config.interval.margin = MarginActivation::Abs;
    });
    // Width is nearly proportional to small margins: two looks at it find those of the errors' size.
    let mut ratio = 1e-3;
    for _ in 0..2 {
        set_margins(&mut settings, ratio);
        let model = initial_margins(folds.dataset, &split, &settings, theta)?;
        let (width, error) = width_and_error(&model, folds.dataset, &split)?;
        ratio = (ratio * 4.0 * error / width.max(f64::MIN_POSITIVE)).clamp(1e-9, 1.0);
    }
    set_margins(&mut settings, ratio);
    let start = initial_margins(folds.dataset, &split, &settings, theta)?;
    let above = start
        .network_parameters()
        .into_iter()
        .flat_map(|network| network.margin_upper);
    let mean = above.sum::<f64>() / theta.len().max(1) as f64;
    // Adam's steps are of the size of its rate, whatever the gradient: a share of the margins themselves.
    settings.interval.margin_rate = 0.05 * mean / settings.training.learning_rate;
    match fit_margins(folds.dataset, &split, &settings, theta) {
        Ok(model) => Ok(model),
        // Margins that will not train leave a sound band of the right size.
        Err(ModelError::Diverged { .. }) => Ok(start),
        Err(error) => Err(error.into()),
    }
}

fn set_margins(settings: &mut FitConfig, ratio: f64) {
    settings.interval.margin_hidden = ratio;
    settings.interval.margin_output = ratio;
    settings.interval.margin_floor = 0.1 * ratio;
}

/// Mean width and mean absolute error over the held-out block, in standard deviations, summed over outputs.
fn width_and_error(model: &Model, dataset: &Dataset, split: &Split) -> Result<(f64, f64)> {
    let bands = model.simulate(dataset, &split.validation)?;
    let (mut width, mut error) = (0.0, 0.0);
    for (output, scale) in model.interface().normaliser.outputs.iter().enumerate() {
        let runs = align(dataset, &bands, output)?;
        let samples: usize = runs.iter().map(|run| run.target.len()).sum();
        for run in &runs {
            let widths = run.upper.iter().zip(run.lower).map(|(u, l)| u - l);
            let errors = run.target.iter().zip(run.centre).map(|(t, c)| (t - c).abs());
            width += widths.sum::<f64>() / (scale.std * samples.max(1) as f64);
            error += errors.sum::<f64>() / (scale.std * samples.max(1) as f64);
        }
    }
    Ok((width, error))
}

/// Bands of held-out blocks, each the mean of the networks that had not seen it: `[output][block]`.
fn held_out_bands(
    folds: &Folds<'_>,
    members: &[Model],
    thetas: &[(usize, Vec<f64>)],
    factor: f64,
) -> Result<Vec<Vec<BlockScores>>> {
    let outputs = folds.dataset.outputs().len();
    let mut blocks = vec![Vec::new(); outputs];
    for fold in 0..folds.folds.len() {
        let approaches = folds.approaches(fold);
        let part = Part::from_segments(approaches.iter().map(|(run, _)| *run).collect());
        let blind = members.iter().zip(thetas).filter(|(_, (of, _))| *of == fold);
        let runs = blind
            .map(|(member, _)| member.simulate(folds.dataset, &part))
            .collect::<Result<Vec<Vec<Band>>, ModelError>>()?;
        let Some(first) = runs.first() else { continue };
        let bands: Vec<Band> = (0..first.len())
            .map(|index| mean_band(&runs.iter().map(|bands| &bands[index]).collect::<Vec<_>>(), factor))
            .collect();
        for (output, blocks) in blocks.iter_mut().enumerate() {
            blocks.push(folds.scores(fold, &bands, output)?);
        }
    }
    Ok(blocks)
}

/// How much of the margins' shape to believe: floors up to twice the median half-width are tried, the largest of which is
/// nearly a band of constant width.
fn best_floor(blocks: &[BlockScores], least: f64, coverage: f64) -> f64 {
    let halves = blocks.iter().flat_map(|block| block.below.iter().zip(&block.above));
    let median = quantile(halves.map(|(below, above)| 0.5 * (below + above)).collect(), 0.5);
    let floors = [2.0, 1.0, 0.5, 0.0].map(|share| (share * median).max(least));
    let score = |floor: f64| shaped_score(blocks, floor, coverage);
    // The first of equals is the plainest band.
    let best = floors.into_iter().min_by(|&a, &b| score(a).total_cmp(&score(b)));
    best.unwrap_or(least)
}
