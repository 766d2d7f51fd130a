//! Blockwise calibration of a model whose settings were given, not searched.

use intervalid_data::{DataError, Dataset, Lags, Part, Segment, Split, Windows, free_run_windows};
use intervalid_model::{
    BlockScores, Control, CoverageTarget, FitConfig, FitOptions, Model, ModelError, ModelKind, calibrate,
    horizon_scales,
};

use crate::ahead::held_out_ahead;
use crate::error::{Result, SearchError};
use crate::folds::Folds;
use crate::parallel::map_parallel;

/// The same model with its band scaled on training and validation data: models of the same settings are fitted without each of five
/// blocks, before a cut and after one (of several experiments: without the last), and simulate what they have not seen (see [`calibrate`]). The point prediction is not changed.
///
/// `target` is what the band should hold; its share is the one that the model was trained for, or the scale would have to make up for it.
/// The epochs of each are chosen on samples that it will not be judged on.
/// Works for every kind of model; the result does not depend on `threads`. `control` can end it.
///
/// # Errors
/// If the record is too short to fit without a block, such a fit fails, or it was stopped.
pub fn calibrate_on_blocks(
    dataset: &Dataset,
    split: &Split,
    model: Model,
    target: CoverageTarget,
    threads: usize,
    control: Control<'_>,
) -> Result<Model> {
    let folds = calibrating_folds(dataset, split)?;
    let config = FitConfig {
        lag_search: false,
        ..model.config().clone()
    };
    let numbers: Vec<usize> = (0..folds.folds.len()).collect();
    let outputs = dataset.outputs().len();
    let fitted = map_parallel(&numbers, threads, |&fold| -> Result<(Vec<BlockScores>, Model)> {
        // Epochs of five fits side by side mean nothing to who follows the fit itself.
        let quiet = Control {
            observer: None,
            ..control
        };
        let options = FitOptions {
            control: quiet,
            // Those of the model: a step or a pulse may be all that a channel does, and these samples be without it.
            units: Some(&model.interface().normaliser),
            ..FitOptions::default()
        };
        let fitted = Model::fit(dataset, &blind_split(&folds, fold), &config, options);
        if control.is_cancelled() || matches!(fitted, Err(ModelError::Interrupted { .. })) {
            return Err(SearchError::Cancelled);
        }
        let (blind, _) = fitted?;
        let runs = folds.approaches(fold).into_iter().map(|(run, _)| run).collect();
        let runs = Part::from_segments(runs);
        let bands = folds.or_nothing(fold, blind.simulate(dataset, &runs).map_err(SearchError::from))?;
        let scores = (0..outputs).map(|output| folds.scores(fold, &bands, Some(&runs), output));
        Ok((scores.collect::<Result<_>>()?, blind))
    });
    let (mut blocks, mut cuts) = (vec![Vec::new(); outputs], vec![Vec::new(); outputs]);
    let mut blind = Vec::new();
    for (fold, found) in fitted.into_iter().enumerate() {
        let of_kind = if fold < folds.blocks { &mut blocks } else { &mut cuts };
        let (scores, model) = found?;
        for (stretches, scores) in of_kind.iter_mut().zip(scores) {
            stretches.push(scores);
        }
        blind.push(Some(model));
    }
    let ahead = held_out_ahead(&folds, &blind, threads)?;
    let interface = model.interface();
    let floors: Vec<f64> = (0..outputs).map(|output| interface.least_half_width(output)).collect();
    let calibration = calibrate((&blocks, &cuts), &floors, target, model.members());
    let horizons = horizon_scales((&blocks, &cuts), &ahead, &floors, target.share);
    Ok(model
        .calibrated(Some(calibration))?
        .with_horizon_scales(horizons)?
        .with_region(dataset, &split.train)?)
}

/// The least that a search of lags can choose.
const LEAST_LAGS: Lags = Lags { nx: 0, nd: 0, ny: 1 };

/// Refuses a record that is too short for the fits of [`calibrate_on_blocks`]: so that nobody waits for a training whose band cannot be
/// calibrated. Where lags are searched, the least are assumed.
///
/// # Errors
/// [`DataError::TooShort`], and what [`Windows::new`] refuses.
pub fn check_blocks(dataset: &Dataset, split: &Split, config: &FitConfig) -> Result<()> {
    let folds = calibrating_folds(dataset, split)?;
    if config.model == ModelKind::Arx {
        return Ok(());
    }
    let lags = if config.lag_search { LEAST_LAGS } else { config.lags };
    for fold in 0..folds.folds.len() {
        let blind = blind_split(&folds, fold);
        let trained = match config.training.train_on_validation {
            true => &blind.train_and_validation(),
            false => &blind.train,
        };
        Windows::new(dataset, trained, lags, config.initial, config.training.window).map_err(of_calibration)?;
        free_run_windows(dataset, &blind.validation, lags, config.initial).map_err(of_calibration)?;
    }
    Ok(())
}

/// Says which fit has too few samples: the one that was asked for may have enough.
fn of_calibration(error: DataError) -> DataError {
    match error {
        DataError::TooShort { needed, found, .. } => DataError::TooShort {
            what: "the fits that calibrate the band, each without a part of the record",
            needed,
            found,
        },
        other => other,
    }
}

fn calibrating_folds<'a>(dataset: &'a Dataset, split: &Split) -> Result<Folds<'a>> {
    Ok(Folds::blocks(dataset, split)?.with_two_cuts())
}

/// What the fit without a fold learns from, and chooses its epochs on.
fn blind_split(folds: &Folds<'_>, fold: usize) -> Split {
    let choosing = folds.choosing(Some(fold));
    Split {
        train: without(&folds.folds[fold].rest, &choosing),
        validation: choosing,
        test: Part::from_segments(Vec::new()),
    }
}

/// What is left of `part` when the samples of `block` are taken out.
pub(crate) fn without(part: &Part, block: &Part) -> Part {
    let mut left: Vec<Segment> = part.segments().to_vec();
    for cut in block.segments() {
        left = left
            .into_iter()
            .flat_map(|segment| {
                if segment.experiment != cut.experiment || cut.end <= segment.start || segment.end <= cut.start {
                    return vec![segment];
                }
                let before = Segment {
                    end: cut.start.max(segment.start),
                    ..segment
                };
                let after = Segment {
                    start: cut.end.min(segment.end),
                    ..segment
                };
                vec![before, after]
            })
            .collect();
    }
    Part::from_segments(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_taken_out_of_its_experiment_only() {
        let segment = |experiment, start, end| Segment { experiment, start, end };
        let part = Part::from_segments(vec![segment(0, 0, 100), segment(1, 0, 50)]);
        let block = Part::from_segments(vec![segment(0, 40, 60)]);
        assert_eq!(
            without(&part, &block).segments(),
            [segment(0, 0, 40), segment(0, 60, 100), segment(1, 0, 50)]
        );
        let beyond = Part::from_segments(vec![segment(1, 30, 80)]);
        assert_eq!(
            without(&part, &beyond).segments(),
            [segment(0, 0, 100), segment(1, 0, 30)]
        );
    }
}
