//! What training promises, on the built-in records and small networks.

use std::ops::ControlFlow;

use intervalid_data::{Dataset, InitialState, Lags, Part, ReadOptions, Split, WindowConfig, known_dataset, load};
use intervalid_model::{
    Control, EpochRecord, FitConfig, FitOptions, MarginActivation, Model, ModelError, ModelKind, Precision, Progress,
    Role, Stage, StopReason, Strategy,
};

pub(crate) fn hair_dryer() -> (Dataset, Split) {
    let dataset = load(&["hair-dryer"], None, &ReadOptions::default()).unwrap();
    let split = Split::new(&dataset, known_dataset("hair-dryer").unwrap().split()).unwrap();
    (dataset, split)
}

pub(crate) fn small(network: ModelKind, strategy: Strategy) -> FitConfig {
    FitConfig::paper("hair-dryer", network, strategy).with(|config| {
        config.network.hidden = vec![6, 5];
        config.training.epochs = 4;
    })
}

#[test]
fn cascade_margins_leave_theta_untouched_bit_for_bit() {
    let (dataset, split) = hair_dryer();
    for network in [ModelKind::Inode, ModelKind::Ilstm] {
        let base = small(network, Strategy::Cascade);
        // Stage 2 differs in everything it has: loss, margins, their start. θ must not notice.
        let other = base.clone().with(|config| {
            config.coverage = 0.5;
            config.interval.margin = MarginActivation::Relu;
            config.interval.margin_output = 0.1;
        });
        let (first, _) = Model::fit(&dataset, &split, &base, FitOptions::default()).unwrap();
        let (second, _) = Model::fit(&dataset, &split, &other, FitOptions::default()).unwrap();
        let (first, second) = (&first.network_parameters()[0], &second.network_parameters()[0]);
        let bits = |theta: &[f64]| theta.iter().map(|t| t.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&first.theta), bits(&second.theta));
        assert_ne!(first.margin_lower, second.margin_lower);
    }
}

#[test]
fn training_lowers_both_losses() {
    let (dataset, split) = hair_dryer();
    for network in [ModelKind::Inode, ModelKind::Ilstm] {
        for strategy in [Strategy::Cascade, Strategy::Joint] {
            for margin in [MarginActivation::Abs, MarginActivation::Relu] {
                let config = small(network, strategy).with(|config| {
                    config.interval.margin = margin;
                    config.training.epochs = 12;
                });
                let (_, info) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
                for stage in &info.stages {
                    let losses: Vec<[Option<f64>; 2]> = info
                        .history
                        .iter()
                        .filter(|r| r.stage == stage.stage)
                        .map(|r| r.train)
                        .collect();
                    let (first, last) = (losses[0], losses[losses.len() - 1]);
                    let used: &[usize] = match stage.stage {
                        Stage::Crisp => &[0],
                        Stage::Margins => &[1],
                        Stage::Joint | Stage::Likelihood => &[0, 1],
                    };
                    for &loss in used {
                        assert!(
                            last[loss].unwrap() < first[loss].unwrap(),
                            "{network:?} {strategy:?} {margin:?} {:?}",
                            stage.stage
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn joint_scales_sum_to_one_in_every_epoch() {
    let (dataset, split) = hair_dryer();
    let config = small(ModelKind::Inode, Strategy::Joint);
    let (_, info) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
    assert_eq!(info.history.len(), 4);
    for record in &info.history {
        assert!((record.scales[0] + record.scales[1] - 1.0).abs() < 1e-12 && record.scales.iter().all(|&s| s > 0.0));
    }
    assert!((info.history[0].scales[0] - 0.5).abs() > 1e-6, "GradNorm moved");
}

#[test]
fn bands_contain_the_point_prediction_in_physical_units() {
    let (dataset, split) = hair_dryer();
    for network in [ModelKind::Inode, ModelKind::Ilstm] {
        let (model, _) = Model::fit(
            &dataset,
            &split,
            &small(network, Strategy::Cascade),
            FitOptions::default(),
        )
        .unwrap();
        for band in model.simulate(&dataset, &split.test).unwrap() {
            assert_eq!((band.len(), band.first), (499, 501));
            for k in 0..band.len() {
                assert!(band.lower[0][k] <= band.centre[0][k] && band.centre[0][k] <= band.upper[0][k]);
            }
        }
    }
}

#[test]
fn a_step_that_explodes_is_a_result_or_a_clear_error_never_a_silent_model() {
    let (dataset, split) = hair_dryer();
    let config = small(ModelKind::Inode, Strategy::Cascade).with(|config| config.training.learning_rate = 1e30);
    match Model::fit(&dataset, &split, &config, FitOptions::default()) {
        Ok((model, info)) => {
            assert!(model.network_parameters()[0].theta.iter().all(|t| t.is_finite()));
            assert!(
                info.stages
                    .iter()
                    .any(|stage| matches!(stage.stopped, StopReason::NonFinite { .. }))
            );
        }
        Err(error @ ModelError::Diverged { epoch, .. }) => {
            assert!(epoch >= 1);
            assert!(error.to_string().contains("try a smaller learning rate"), "{error}");
        }
        Err(other) => panic!("unexpected {other}"),
    }
}

#[test]
fn observers_see_every_epoch_and_can_stop() {
    let (dataset, split) = hair_dryer();
    let config = small(ModelKind::Inode, Strategy::Joint);
    let seen = std::sync::Mutex::new(Vec::new());
    let observer = |progress: &Progress| {
        let Progress::Epoch(progress) = progress else {
            panic!("training has epochs")
        };
        seen.lock().unwrap().push((
            progress.epochs_done,
            progress.epochs_total,
            progress.record.learning_rate,
        ));
        if progress.epochs_done == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = FitOptions {
        control: Control {
            observer: Some(&observer),
            ..Control::default()
        },
        checkpoint: None,
        ..FitOptions::default()
    };
    let (model, info) = Model::fit(&dataset, &split, &config, options).unwrap();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.iter().map(|s| (s.0, s.1)).collect::<Vec<_>>(), [(1, 4), (2, 4)]);
    assert_eq!(info.stages[0].stopped, StopReason::Interrupted { epoch: 2 });
    assert!(model.simulate(&dataset, &split.test).is_ok());
}

#[test]
fn patience_stops_a_stage_that_no_longer_improves() {
    let (dataset, split) = hair_dryer();
    let config = small(ModelKind::Inode, Strategy::Joint).with(|config| {
        config.training.patience = Some(1);
        config.training.epochs = 60;
        config.training.learning_rate = 0.05;
    });
    let (_, info) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
    let stage = info.stages[0];
    assert!(
        matches!(stage.stopped, StopReason::Patience { .. }),
        "{:?}",
        stage.stopped
    );
    assert_eq!(stage.epochs, stage.best_epoch + 1);
    // The loss rose long before, while margins were still on their way: epochs of the first half are not kept.
    let loss = |record: &EpochRecord| record.validation.into_iter().flatten().sum::<f64>();
    let rose = info.history.windows(2).position(|two| loss(&two[1]) > loss(&two[0]));
    assert!(rose.is_some_and(|at| at < 25), "{rose:?}");
    assert!(stage.best_epoch > 30, "{stage:?}");
}

#[test]
fn bad_options_and_short_records_are_refused_before_any_work() {
    let (dataset, split) = hair_dryer();
    let base = small(ModelKind::Inode, Strategy::Cascade);
    let message = |config: FitConfig| {
        Model::fit(&dataset, &split, &config, FitOptions::default())
            .unwrap_err()
            .to_string()
    };
    assert!(
        message(base.clone().with(|config| config.network.hidden = vec![4, 0]))
            .starts_with("hidden = [4, 0] is not allowed")
    );
    assert!(
        message(FitConfig {
            coverage: 95.0,
            ..base.clone()
        })
        .contains("did you mean 0.95?")
    );
    let long = base
        .clone()
        .with(|config| config.training.window = WindowConfig { length: 5000, step: 1 });
    let long = message(long);
    assert!(long.contains("5001"), "says how many samples a window needs: {long}");
    let warm = FitConfig {
        initial: InitialState::Warmup(90),
        ..base
    };
    assert!(!message(warm).is_empty());
}

/// The linear path starts at the least-squares fit: before any training it already simulates as ARX does.
#[test]
fn a_linear_path_starts_near_the_arx_fit() {
    let (dataset, split) = hair_dryer();
    let config = small(ModelKind::Inode, Strategy::Cascade).with(|config| {
        config.network.linear_path = true;
        config.initial = InitialState::Measured;
        config.lags = Lags { nx: 3, nd: 2, ny: 4 };
        config.precision = Precision::F64;
        config.training.epochs = 1;
        config.training.learning_rate = 1e-9;
    });
    let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
    let bands = model.simulate(&dataset, &split.test).unwrap();
    let evaluation = intervalid_model::evaluate(&dataset, &bands, 0.9).unwrap();
    let fit_percent = evaluation.all.fit_percent.unwrap();
    assert!(fit_percent > 80.0, "ARX reaches about 84 % here, found {fit_percent}");
}

#[test]
fn weight_decay_shrinks_weights_and_a_raised_coverage_widens_bands() {
    let (dataset, split) = hair_dryer();
    let base = small(ModelKind::Inode, Strategy::Cascade).with(|config| config.training.epochs = 20);
    let fitted = |config: &FitConfig| Model::fit(&dataset, &split, config, FitOptions::default()).unwrap().0;
    let norm = |model: &Model| model.network_parameters()[0].theta.iter().map(|w| w * w).sum::<f64>();
    let plain = fitted(&base);
    let decayed = fitted(&base.clone().with(|config| config.training.weight_decay = 5.0));
    assert!(
        norm(&decayed) < 0.9 * norm(&plain),
        "{} {}",
        norm(&decayed),
        norm(&plain)
    );

    let width = |model: &Model| -> f64 {
        let bands = model.simulate(&dataset, &split.validation).unwrap();
        bands[0].upper[0]
            .iter()
            .zip(&bands[0].lower[0])
            .map(|(u, l)| u - l)
            .sum()
    };
    let long = base.with(|config| {
        config.interval.margin_epochs = Some(150);
        config.interval.margin_rate = 3.0;
    });
    let wide = fitted(&long.clone().with(|config| config.interval.miss_factor = 0.2));
    let usual = fitted(&long.with(|config| config.interval.miss_factor = 6.0));
    assert_eq!(wide.network_parameters()[0].theta, usual.network_parameters()[0].theta);
    assert!(
        width(&wide) > 1.05 * width(&usual),
        "{} {}",
        width(&wide),
        width(&usual)
    );
    assert!((wide.config().trained_coverage() - 0.98).abs() < 1e-12);
}

#[test]
fn hidden_decay_leaves_the_read_out_alone() {
    let (dataset, split) = hair_dryer();
    let base = small(ModelKind::Ilstm, Strategy::Cascade).with(|config| {
        config.training.hidden_decay = 0.0;
        config.training.epochs = 20;
    });
    let norms = |config: &FitConfig| -> [f64; 2] {
        let (model, _) = Model::fit(&dataset, &split, config, FitOptions::default()).unwrap();
        let layout = model.architecture().unwrap().layout();
        let theta = &model.network_parameters()[0].theta;
        let mut norms = [0.0; 2];
        for block in layout.blocks().iter().filter(|block| block.role != Role::Bias) {
            norms[usize::from(layout.is_output(block))] +=
                theta[block.range.clone()].iter().map(|w| w * w).sum::<f64>();
        }
        norms
    };
    let [hidden, readout] = norms(&base);
    let decayed = norms(&base.clone().with(|config| config.training.hidden_decay = 5.0));
    assert!(decayed[0] < 0.8 * hidden, "{decayed:?} {hidden}");
    assert!(
        decayed[1] / readout > 2.0 * decayed[0] / hidden,
        "smaller cells want a larger read-out: {decayed:?} {readout}"
    );
}

#[test]
fn training_on_the_validation_part_sees_its_windows_and_no_later_sample() {
    let (dataset, split) = hair_dryer();
    let fitted = |split: &Split, asked: bool| {
        let config =
            small(ModelKind::Ilstm, Strategy::Cascade).with(|config| config.training.train_on_validation = asked);
        let (model, _) = Model::fit(&dataset, split, &config, FitOptions::default()).unwrap();
        model.network_parameters()[0].theta.clone()
    };
    assert_ne!(fitted(&split, true), fitted(&split, false));
    let without_test = Split {
        test: Part::default(),
        ..split.clone()
    };
    assert_eq!(fitted(&split, true), fitted(&without_test, true));
}
