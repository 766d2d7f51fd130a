//! Blockwise calibration of a model whose settings were given, not searched.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use intervalid_data::{Dataset, Part, Segment, Split};

use super::folds::Folds;
use crate::band::calibration::{BlockScores, calibrate};
use crate::config::FitConfig;
use crate::error::{ModelError, Result};
use crate::model::Model;
use crate::parallel::map_parallel;
use crate::train::{FitOptions, Progress};

/// The same model with its band scaled on blocks of training and validation data: models of the same settings are fitted
/// without each block, five of them, and simulate it (see [`calibrate`]). The point prediction is not changed.
///
/// The epochs of each are chosen on the block after the one it will be judged on, so that what judges has chosen nothing.
/// Works for every kind of model; the result does not depend on `threads`. Set from elsewhere (Ctrl-C), `stop` ends it.
///
/// # Errors
/// If the record is too short to fit without a block, such a fit fails, or it was stopped.
pub fn calibrate_on_blocks(
    dataset: &Dataset,
    split: &Split,
    model: Model,
    threads: usize,
    stop: &AtomicBool,
) -> Result<Model> {
    let folds = Folds::new(dataset, split)?;
    let config = FitConfig {
        lag_search: false,
        ..model.config().clone()
    };
    let numbers: Vec<usize> = (0..folds.folds.len()).collect();
    let outputs = dataset.outputs().len();
    let fitted = map_parallel(&numbers, threads, |&fold| -> Result<Vec<BlockScores>> {
        let choosing = &folds.folds[(fold + 1) % folds.folds.len()].held_out;
        let blind = Split {
            train: without(&folds.folds[fold].rest, choosing),
            validation: choosing.clone(),
            test: Part::from_segments(Vec::new()),
        };
        let is_stopped = || stop.load(Ordering::Relaxed);
        let mut observer = |_: &Progress| match is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = FitOptions {
            observer: Some(&mut observer),
            ..FitOptions::default()
        };
        let (blind, _) = Model::fit(dataset, &blind, &config, options)?;
        if is_stopped() {
            return Err(ModelError::Interrupted { epoch: 0 });
        }
        let runs = folds.approaches(fold).into_iter().map(|(run, _)| run).collect();
        let bands = blind.simulate(dataset, &Part::from_segments(runs))?;
        (0..outputs).map(|output| folds.scores(fold, &bands, output)).collect()
    });
    let mut blocks = vec![Vec::new(); outputs];
    for fold in fitted {
        for (blocks, scores) in blocks.iter_mut().zip(fold?) {
            blocks.push(scores);
        }
    }
    let interface = model.interface();
    let floors: Vec<f64> = (0..outputs).map(|output| interface.least_half_width(output)).collect();
    let calibration = calibrate(&blocks, &floors, config.coverage);
    model.calibrated(Some(calibration))?.with_region(dataset, &split.train)
}

/// What is left of `part` when the samples of `block` are taken out.
pub(super) fn without(part: &Part, block: &Part) -> Part {
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
