//! A model fitted once more, to old and new data, and judged on new data that it has not seen.

use std::time::Instant;

use intervalid_data::{DataError, Dataset, Experiment, Part, Segment, Split};
use intervalid_model::{Evaluation, Model, ModelError, TrainInfo, evaluate, refit};
use intervalid_search::{SearchOptions, renew};

use crate::error::Result;
use crate::train::{TrainOptions, Trained, Training};

/// A model fitted once more, beside the old one.
#[derive(Debug)]
pub struct Update {
    /// What was trained on, chosen on and judged on.
    pub split: Split,
    /// The old model.
    pub old: Trained,
    /// The new model.
    pub new: Trained,
    /// The old model on the judged part.
    pub old_test: Evaluation,
    /// The new model there.
    pub new_test: Evaluation,
    /// Mean over outputs of the new interval score over the old one; infinite where the new model diverges.
    pub score_ratio: f64,
}

impl Update {
    /// Whether the new model is no worse on new data that neither has seen.
    #[must_use]
    pub fn is_no_worse(&self) -> bool {
        self.score_ratio <= 1.0
    }
}

/// Shares of an old experiment that train, of a new one that train, and of a new one that train or choose.
const OLD_TRAIN: f64 = 0.9;
const NEW_TRAIN: f64 = 0.6;
const NEW_KNOWN: f64 = 0.7;

/// Parts of a record whose experiments from `new_from` on are new: of old experiments nine tenths train and the rest chooses, of new ones six
/// tenths train, one chooses and the last three judge.
#[must_use]
pub fn update_split(dataset: &Dataset, new_from: usize) -> Split {
    let [mut train, mut validation, mut test] = [const { Vec::new() }; 3];
    for (experiment, samples) in dataset.experiments().iter().enumerate() {
        let length = samples.len();
        let at = |share: f64| (share * length as f64).round() as usize;
        let segment = |start: usize, end: usize| Segment { experiment, start, end };
        let (trained, known) = match experiment < new_from {
            true => (at(OLD_TRAIN), length),
            false => (at(NEW_TRAIN), at(NEW_KNOWN)),
        };
        for (segments, start, end) in [
            (&mut train, 0, trained),
            (&mut validation, trained, known),
            (&mut test, known, length),
        ] {
            if end > start {
                segments.push(segment(start, end));
            }
        }
    }
    Split {
        train: Part::from_segments(train),
        validation: Part::from_segments(validation),
        test: Part::from_segments(test),
    }
}

/// Fits a model once more from where it is ([`renew`] or [`refit`]), to the parts of [`update_split`]; the band of the latter is scaled on the
/// validation part where that has samples enough. What the old band promised, of each output or of all together, the new one promises.
///
/// # Errors
/// Those of [`renew`] and [`refit`]; if a part is too short, or a new experiment is an old one; if a band for all outputs together
/// cannot be sized.
pub fn update(model: &Model, dataset: &Dataset, new_from: usize, options: TrainOptions<'_>) -> Result<Update> {
    let old = &dataset.experiments()[..new_from.min(dataset.experiments().len())];
    let split = update_split(dataset, new_from);
    refuse_known(dataset, &split.test, old)?;
    for part in [&split.train, &split.validation, &split.test] {
        model.interface().check_part(dataset, part)?;
    }
    let coverage = model.config().coverage;
    let target = model.interface().coverage_target(coverage);
    let judged = |model: &Model| -> Result<Evaluation> {
        let bands = model.simulate(dataset, &split.test)?;
        Ok(evaluate(dataset, &bands, coverage)?)
    };
    // Before the work: data that cannot be judged need no training.
    let old_test = judged(model)?;
    // The old trend stays: its line is not one of the new data.
    let trend = model.interface().trend.clone();
    let level = trend.as_ref().map(|trend| trend.remove(dataset));
    let level = level.as_ref().unwrap_or(dataset);
    let without = model.clone().with_trend(None)?;
    let (fitted, info, is_calibrated) = fitted_again(&without, level, &split, &options)?;
    let fitted = fitted
        .with_output_ranges(model.interface().output_ranges.clone())?
        .with_trend(trend)?;
    let fitted = match is_calibrated {
        true => fitted,
        false => match fitted.recalibrated_for(target, dataset, &split.validation, 1.0) {
            Ok(scaled) => scaled.model,
            // The band that training made; it holds each output alone, so it is none for all together.
            Err(ModelError::TooFewSamples { .. } | ModelError::RunDiverged { .. }) if !target.together => fitted,
            Err(error) => return Err(error.into()),
        },
    };
    let fitted = fitted
        .with_region(dataset, &split.train)?
        .with_horizons(dataset, &split.train.followed_by(&split.validation))?;
    let new_test = judged(&fitted)?;
    let ratios = old_test
        .outputs
        .iter()
        .zip(&new_test.outputs)
        .map(|((_, old), (_, new))| match (old.interval_score, new.interval_score) {
            (Some(old), Some(new)) if old > 0.0 => new / old,
            (None, Some(_)) => 0.0,
            (Some(_), Some(new)) if new <= 0.0 => 1.0,
            _ => f64::INFINITY,
        });
    let ratios: Vec<f64> = ratios.collect();
    Ok(Update {
        old: Trained::before(model.clone()),
        new: Trained {
            training: Training::One(info),
            ..Trained::before(fitted)
        },
        split,
        old_test,
        new_test,
        score_ratio: ratios.iter().sum::<f64>() / ratios.len().max(1) as f64,
    })
}

/// Refuses to judge by what is in old experiments, too. A new one that goes on where an old one ended is judged by its end, which is new.
fn refuse_known(dataset: &Dataset, judged: &Part, old: &[Experiment]) -> Result<()> {
    for segment in judged.segments() {
        let test = &dataset.experiments()[segment.experiment];
        let mut known = old.iter().filter(|training| training.len() > segment.start);
        if let Some(training) = known.find(|training| training.has_settled_samples_of(test, dataset.unsettled())) {
            return Err(DataError::TestIsLearnt {
                test: test.name().to_owned(),
                training: training.name().to_owned(),
            }
            .into());
        }
    }
    Ok(())
}

/// What a search fits, as a search does; anything else by training that goes on. And whether the band is calibrated already.
fn fitted_again(
    model: &Model,
    dataset: &Dataset,
    split: &Split,
    options: &TrainOptions<'_>,
) -> Result<(Model, TrainInfo, bool)> {
    let started = Instant::now();
    let search = SearchOptions {
        threads: options.threads,
        control: options.control,
        journal: None,
    };
    match renew(model, dataset, split, &search)? {
        Some(renewed) => {
            let info = TrainInfo {
                stages: Vec::new(),
                history: Vec::new(),
                duration: started.elapsed(),
            };
            Ok((renewed, info, true))
        }
        None => {
            let (fitted, info) = refit(model, dataset, split, options.control)?;
            Ok((fitted, info, false))
        }
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Channel, Lags};
    use intervalid_model::{CoverageTarget, FitConfig, FitOptions, ModelKind};

    use super::*;
    use crate::error::WorkflowError;

    /// A first-order plant with this gain, driven by steps.
    fn run(name: &str, samples: usize, gain: f64) -> Experiment {
        let u: Vec<f64> = (0..samples)
            .map(|k| f64::from(u8::from((k / 7 + k / 11) % 2 == 0)))
            .collect();
        let (mut level, mut state) = (0.0, 7_u32);
        let respond = |u: &f64| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let y = level + 0.05 * (f64::from(state >> 20) / 4096.0 - 0.5);
            level = 0.8 * level + 0.2 * gain * u;
            y
        };
        let y = u.iter().map(respond).collect();
        Experiment::new(name, vec![u], vec![y])
    }

    fn record(experiments: Vec<Experiment>) -> Dataset {
        let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
        Dataset::new("plant", inputs, outputs, None, experiments).expect("a record")
    }

    fn fitted(kind: ModelKind) -> Model {
        let data = record(vec![run("old", 300, 1.0)]);
        let split = Split::new(&data, intervalid_data::SplitFractions::default()).expect("parts");
        Model::fit(&data, &split, &config(kind), FitOptions::default())
            .expect("a fit")
            .0
    }

    fn config(kind: ModelKind) -> FitConfig {
        FitConfig::default().with(|config| {
            config.model = kind;
            config.lags = Lags { nx: 1, nd: 1, ny: 1 };
            config.network.hidden = vec![4];
            config.training.epochs = 60;
        })
    }

    #[test]
    fn a_plant_that_has_changed_is_followed_and_one_that_has_not_is_not_spoilt() {
        for kind in [ModelKind::Arx, ModelKind::Inode] {
            let model = fitted(kind);
            let changed = record(vec![run("old", 60, 1.0), run("new", 400, 1.5)]);
            let found = update(&model, &changed, 1, TrainOptions::default()).expect("an update");
            let errors = [&found.old_test, &found.new_test].map(|test| test.all.rmse.expect("stays finite"));
            assert!(errors[1] < 0.7 * errors[0], "{kind}: {errors:?}");
            // Too few samples scale the band of a network of 60 epochs: its predictions follow, its band need not.
            if kind == ModelKind::Arx {
                assert!(found.is_no_worse() && found.score_ratio < 0.9, "{}", found.score_ratio);
            }
            assert_eq!(found.new.model.kind(), kind);
            assert_eq!(found.new.model.architecture(), model.architecture());
            assert_eq!(found.new.model.config().lags, model.config().lags);
        }
    }

    #[test]
    fn a_band_for_all_outputs_stays_one() {
        let two = |experiment: Experiment| {
            let [u, y] = [experiment.input(0), experiment.output(0)].map(<[f64]>::to_vec);
            let slower = y.iter().scan(0.0, |level, y| {
                *level = 0.7 * *level + 0.3 * y;
                Some(*level)
            });
            Experiment::new(experiment.name(), vec![u], vec![y.clone(), slower.collect()])
        };
        let record = |experiments: Vec<Experiment>| {
            let channels = |names: &[&str]| names.iter().map(|name| Channel::new(*name)).collect();
            let experiments = experiments.into_iter().map(two).collect();
            Dataset::new("plant", channels(&["u"]), channels(&["y", "z"]), None, experiments).expect("a record")
        };
        let data = record(vec![run("old", 600, 1.0)]);
        let split = Split::new(&data, intervalid_data::SplitFractions::default()).expect("parts");
        let config = config(ModelKind::Arx);
        let (model, _) = Model::fit(&data, &split, &config, FitOptions::default()).expect("a fit");
        let together = CoverageTarget {
            share: 0.9,
            together: true,
        };
        let whole = Part::whole(&data);
        let model = model
            .recalibrated_for(together, &data, &whole, 1.0)
            .expect("a band")
            .model;
        assert!(model.interface().is_together());
        let longer = record(vec![run("old", 60, 1.0), run("new", 3000, 1.2)]);
        let found = update(&model, &longer, 1, TrainOptions::default()).expect("an update");
        assert!(found.new.model.interface().is_together());
        // A band of each output alone would pass for one of all.
        let shorter = record(vec![run("old", 60, 1.0), run("new", 400, 1.2)]);
        let error = update(&model, &shorter, 1, TrainOptions::default()).expect_err("too few samples");
        assert!(
            matches!(error, WorkflowError::Model(ModelError::TooFewSamples { .. })),
            "{error:?}"
        );
    }

    #[test]
    fn a_recording_that_went_on_is_judged_by_its_new_end_alone() {
        let model = fitted(ModelKind::Arx);
        let try_with = |old: usize, new: usize| {
            let data = record(vec![run("old", old, 1.0), run("new", new, 1.0)]);
            update(&model, &data, 1, TrainOptions::default())
        };
        assert!(try_with(200, 400).is_ok());
        for (old, new) in [(300, 300), (300, 400), (400, 300)] {
            let error = try_with(old, new).expect_err("its end was learnt from");
            assert!(
                matches!(&error, WorkflowError::Data(DataError::TestIsLearnt { test, .. }) if test == "new"),
                "{error:?}"
            );
        }
    }

    #[test]
    fn the_judged_part_is_the_end_of_new_data_alone() {
        let data = record(vec![run("old", 100, 1.0), run("new", 50, 1.0)]);
        let split = update_split(&data, 1);
        assert_eq!(
            (split.train.samples(), split.validation.samples(), split.test.samples()),
            (120, 15, 15)
        );
        assert!(
            split
                .test
                .segments()
                .iter()
                .all(|segment| segment.experiment == 1 && segment.start == 35)
        );
    }
}
