//! From the chosen candidate to a calibrated model.

use intervalid_data::{Dataset, Part, Split, WindowConfig};
use intervalid_model::{
    BlockScores, Calibration, FitConfig, MarginActivation, Model, ModelError, ModelInterface, ModelKind, Schedule,
    align, calibrate, fit_margins, horizon_scales, initial_margins, quantile,
};

use crate::ahead::held_out_ahead;
use crate::average::{Networks, Trained};
use crate::budget::Budget;
use crate::config::SearchConfig;
use crate::cross_calibration::without;
use crate::error::{Result, SearchError};
use crate::folds::Folds;
use crate::light::compared;
use crate::linear::{LinearCandidate, fit_linear, held_out_errors};
use crate::output_error::Narx;
use crate::parallel::map_parallel;
use crate::sizing::blocks_and_cuts;

/// Linear models of everything and without each block, averaged; the band comes from what models of divisions had not seen.
pub(crate) fn finish_linear(
    folds: &Folds<'_>,
    config: &SearchConfig,
    chosen: &LinearCandidate,
    budget: &Budget<'_>,
) -> Result<(Model, Calibration)> {
    let fitted = linear_members(folds, config, chosen, budget)?;
    let mut members = Vec::new();
    let interface = ModelInterface::new(folds.dataset, folds.normaliser.clone());
    let outputs = folds.dataset.outputs().len();
    let mut scores = vec![Vec::new(); outputs];
    let mut blind = Vec::new();
    for (fold, narx, joins) in fitted {
        let Some(fold) = fold else {
            members.push(narx.to_arx());
            continue;
        };
        let errors = match chosen.errors.get(fold) {
            Some(errors) => Some(errors.clone()),
            None => folds.or_nothing(fold, held_out_errors(&narx, folds, fold, config))?,
        };
        blind.push(errors.is_some().then(|| narx.to_arx()));
        if joins {
            members.push(narx.to_arx());
        }
        // A run that diverges says nothing of errors; such candidates are none, but a cut has less to be fitted to.
        let errors = errors.unwrap_or_else(|| vec![Vec::new(); outputs]);
        for (output, (scores, error)) in scores.iter_mut().zip(errors).enumerate() {
            let physical = |&error: &f64| interface.normaliser.outputs[output].width_to_physical(error);
            scores.push(BlockScores {
                error: error.iter().map(physical).collect(),
                ..BlockScores::default()
            });
        }
    }
    let mut half_width = Vec::new();
    for scores in &mut scores {
        let errors = scores.iter().take(folds.blocks.max(1)).flat_map(|block| &block.error);
        let half = quantile(errors.map(|error| error.abs()).collect(), config.coverage);
        for block in scores.iter_mut() {
            block.below = vec![half; block.error.len()];
            block.above = block.below.clone();
        }
        half_width.push(half);
    }
    let floors: Vec<f64> = (0..outputs).map(|output| interface.least_half_width(output)).collect();
    let (blocks, cuts) = blocks_and_cuts(folds, &scores);
    let calibration = calibrate((&blocks, &cuts), &floors, config.target(), members.len());
    let settings = config.fit_config(ModelKind::Arx, chosen.lags, config.initial());
    let several = members.len() > 1;
    let of = |members| {
        let normaliser = interface.normaliser.clone();
        Model::from_arx(folds.dataset, normaliser, members, half_width.clone(), &settings)
    };
    let blind: Vec<Option<Model>> = blind.into_iter().map(|arx| Some(of(vec![arx?]))).collect();
    let ahead = held_out_ahead(folds, &blind, budget.threads)?;
    let horizons = horizon_scales((&blocks, &cuts), &ahead, &floors, config.coverage);
    let mut model = of(members)
        .calibrated(Some(calibration.clone()))?
        .with_horizon_scales(horizons)?;
    if several {
        // The held-out errors are those of single models already: what sizes the band of the first alone.
        let light = calibrate((&blocks, &cuts), &floors, config.target(), 1);
        model = model.with_light(vec![0], light, folds.dataset, &compared(folds))?;
    }
    Ok((model.with_region(folds.dataset, &folds.all)?, calibration))
}

/// Models of a linear candidate: of everything first, then of every division, with whether they are part of the final model.
pub(crate) fn linear_members(
    folds: &Folds<'_>,
    config: &SearchConfig,
    chosen: &LinearCandidate,
    budget: &Budget<'_>,
) -> Result<Vec<(Option<usize>, Narx, bool)>> {
    let everything = fit_linear(folds, &folds.all, config, chosen.way())?;
    // The candidate was judged by models of the first divisions; the others size the band.
    let more: Vec<usize> = (chosen.models.len()..folds.folds.len()).collect();
    let of_more = map_parallel(&more, budget.threads, |&fold| {
        fit_linear(folds, &folds.folds[fold].rest, config, chosen.way())
    });
    let of_more = of_more.into_iter().collect::<Result<Vec<Narx>>>()?;
    let of_divisions = chosen.models.iter().cloned().chain(of_more).enumerate();
    let joins = |fold: usize| fold < folds.blocks && folds.has_seen_all_move(Some(fold));
    let of_divisions = of_divisions.map(|(fold, narx)| (Some(fold), narx, joins(fold)));
    Ok([(None, everything, true)].into_iter().chain(of_divisions).collect())
}

/// A network of the final model, or one that only calibrates it.
pub(crate) struct Member {
    /// The division it has not seen; none of everything.
    pub(crate) fold: Option<usize>,
    /// Which of the recipes that are averaged it is of.
    pub(crate) recipe: usize,
    pub(crate) theta: Vec<f64>,
    /// Whether it is part of the final model.
    pub(crate) joins: bool,
}

/// Networks of one recipe, before they have margins.
pub(crate) struct Plan {
    /// The architecture and how simulations start; windows come later.
    pub(crate) settings: FitConfig,
    /// Samples of a window of margin training.
    pub(crate) window: usize,
    pub(crate) members: Vec<Member>,
}

impl Plan {
    /// Trains margins around every network.
    pub(crate) fn train<'a>(
        &self,
        folds: &'a Folds<'a>,
        config: &SearchConfig,
        budget: &Budget<'_>,
    ) -> Result<Networks<'a>> {
        let trained = map_parallel(&self.members, budget.threads, |member| {
            let key = || {
                format!(
                    "{:?} {:?} {:?}",
                    member.fold,
                    member.theta,
                    (&self.settings, self.window)
                )
            };
            let mut failed = None;
            let model = budget.once("margins", key, || {
                let model = self.margins(folds, config, member);
                budget.did(0.0, "margins");
                model.map_err(|error| failed = Some(error)).ok()
            });
            match (model, failed) {
                (Some(model), _) => Ok(model),
                (None, Some(error)) => Err(error),
                (None, None) => Err(SearchError::Cancelled),
            }
        });
        budget.check()?;
        // Unless nobody has seen it: some model is better than none.
        let knows_all = |member: &Member| member.joins && folds.has_seen_all_move(member.fold);
        let somebody_does = self.members.iter().any(knows_all);
        let mut members = Vec::new();
        for (member, model) in self.members.iter().zip(trained) {
            members.push(Trained {
                fold: member.fold,
                recipe: member.recipe,
                joins: if somebody_does { knows_all(member) } else { member.joins },
                model: model?,
            });
        }
        Networks::new(folds, members, config, budget)
    }

    /// Multiplications that training margins takes, of one thread.
    pub(crate) fn work(folds: &Folds<'_>, parameters: usize, members: usize) -> f64 {
        let samples = MARGIN_SAMPLES.min(8 * folds.all.samples());
        (members * MARGIN_EPOCHS * samples * parameters) as f64 * MARGIN_WORK
    }
}

/// Windows whose margins are trained, in samples: more teach a few thousand margins nothing new.
const MARGIN_SAMPLES: usize = 20_000;
const MARGIN_EPOCHS: usize = 30;
/// Multiplications per sample and parameter of an epoch, in the units of a search's work.
const MARGIN_WORK: f64 = 60.0;

impl Plan {
    /// Trains the margins of one network on what it was fitted to; a block of that chooses the epoch, so that what calibrates a band
    /// has chosen nothing about it.
    fn margins(&self, folds: &Folds<'_>, config: &SearchConfig, member: &Member) -> Result<Model> {
        let theta = &member.theta;
        let choosing = folds.choosing(member.fold);
        let rest = member.fold.map_or(&folds.all, |fold| &folds.folds[fold].rest);
        let split = Split {
            train: without(rest, &choosing),
            validation: choosing,
            test: Part::default(),
        };
        let longest = split.train.segments().iter().map(|segment| segment.len()).max();
        let shortest = self.settings.initial.unscored() + 2;
        let length = self.window.min(longest.unwrap_or(2) / 2).max(shortest);
        let step = (split.train.samples() * length / MARGIN_SAMPLES).max(length / 8).max(1);
        let mut settings = self.settings.clone().with(|config| {
            config.training.window = WindowConfig { length, step };
            config.training.epochs = MARGIN_EPOCHS;
            config.training.schedule = Schedule::Cosine;
            config.interval.margin = MarginActivation::Abs;
        });
        settings.coverage = config.coverage;
        let units = || folds.normaliser.clone();
        // Width is nearly proportional to small margins: two looks at it find those of the errors' size.
        let mut ratio = 1e-3;
        for _ in 0..2 {
            set_margins(&mut settings, ratio);
            let model = initial_margins(units(), folds.dataset, &split, &settings, theta)?;
            let (width, error) = width_and_error(&model, folds.dataset, &split)?;
            ratio = (ratio * 4.0 * error / width.max(f64::MIN_POSITIVE)).clamp(1e-9, 1.0);
        }
        set_margins(&mut settings, ratio);
        let start = initial_margins(units(), folds.dataset, &split, &settings, theta)?;
        let above = start
            .network_parameters()
            .into_iter()
            .flat_map(|network| network.margin_upper);
        let mean = above.sum::<f64>() / theta.len().max(1) as f64;
        // Adam's steps are of the size of its rate, whatever the gradient: a share of the margins themselves.
        settings.interval.margin_rate = 0.05 * mean / settings.training.learning_rate;
        match fit_margins(units(), folds.dataset, &split, &settings, theta) {
            Ok(model) => Ok(model),
            // Margins that will not train leave a sound band of the right size.
            Err(ModelError::Diverged { .. }) => Ok(start),
            Err(error) => Err(error.into()),
        }
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
