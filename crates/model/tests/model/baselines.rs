//! The baselines as models: what defines them, on records whose truth is known.

use std::sync::atomic::{AtomicUsize, Ordering};

use intervalid_data::{Dataset, LinearSystem, ReadOptions, Split, SplitFractions, load};
use intervalid_model::{
    BlockScores, Control, CoverageTarget, Feedback, FitConfig, FitOptions, Method, Model, ModelError, ModelKind,
    NetworkKind, Precision, Progress, Strategy, calibrate, evaluate, fit_cascades,
};

use crate::training::small;

const BASELINES: [ModelKind; 7] = [
    ModelKind::Bnode,
    ModelKind::Blstm,
    ModelKind::DropoutNode,
    ModelKind::DropoutLstm,
    ModelKind::EnsembleNode,
    ModelKind::EnsembleLstm,
    ModelKind::Arx,
];

fn hair_dryer() -> (Dataset, Split) {
    let dataset = load(&["hair-dryer"], None, &ReadOptions::default()).unwrap();
    let split = Split::new(&dataset, SplitFractions::default()).unwrap();
    (dataset, split)
}

fn quick(model: ModelKind) -> FitConfig {
    small(model, Strategy::Cascade).with(|config| {
        config.training.epochs = 2;
        config.gaussian.members = 2;
        config.gaussian.samples = 5;
    })
}

#[test]
fn every_baseline_is_saved_loaded_and_simulated_to_the_bit() {
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    for kind in BASELINES {
        for precision in [Precision::F32, Precision::F64] {
            let config = FitConfig {
                precision,
                ..quick(kind)
            };
            let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
            assert_eq!(model.kind(), kind);
            model.save(&path).unwrap();
            let again = Model::load(&path).unwrap();
            assert_eq!(again, model, "{kind}");
            let bands = model.simulate(&dataset, &split.test).unwrap();
            assert_eq!(again.simulate(&dataset, &split.test).unwrap(), bands);
            for band in &bands {
                let inside =
                    |at: usize| band.lower[0][at] <= band.centre[0][at] && band.centre[0][at] <= band.upper[0][at];
                assert!((0..band.len()).all(inside), "{kind}");
            }
        }
    }
}

/// Only z_α depends on the coverage.
#[test]
fn another_coverage_is_another_width_around_the_same_simulation() {
    let (dataset, split) = hair_dryer();
    let (model, _) = Model::fit(&dataset, &split, &quick(ModelKind::EnsembleNode), FitOptions::default()).unwrap();
    let wider = model.at_coverage(0.95).unwrap();
    let bands = [&model, &wider].map(|model| model.simulate(&dataset, &split.test).unwrap());
    assert_eq!(bands[0][0].centre, bands[1][0].centre);
    let half = |which: usize, at: usize| bands[which][0].upper[0][at] - bands[which][0].centre[0][at];
    for at in 0..bands[0][0].len() {
        let ratio = half(1, at) / half(0, at);
        assert!((ratio - 1.959_964 / 1.644_854).abs() < 1e-3, "{ratio}");
    }
    assert!(model.at_coverage(95.0).is_err());
    let (arx, _) = Model::fit(&dataset, &split, &quick(ModelKind::Arx), FitOptions::default()).unwrap();
    assert!(arx.at_coverage(0.95).is_err());
}

/// Members that see their own outputs drift apart; where they see their mean, their spread cannot grow.
#[test]
fn members_that_feed_themselves_spread_more() {
    let (dataset, split) = hair_dryer();
    for kind in [ModelKind::EnsembleNode, ModelKind::Bnode, ModelKind::DropoutLstm] {
        let config = quick(kind).with(|config| config.gaussian.samples = 10);
        let width = |feedback: Feedback| {
            let config = config.clone().with(|config| config.gaussian.feedback = feedback);
            let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
            let bands = model.simulate(&dataset, &split.test).unwrap();
            assert_eq!(bands[0].diverged_at, None);
            let again = Model::from_bytes(model.to_bytes().unwrap()).unwrap();
            assert_eq!(
                again.simulate(&dataset, &split.test).unwrap(),
                bands,
                "a saved {kind} does the same"
            );
            let widths = bands[0].upper[0].iter().zip(&bands[0].lower[0]);
            widths.map(|(upper, lower)| upper - lower).sum::<f64>()
        };
        let [own, mean] = [Feedback::Own, Feedback::Mean].map(width);
        // Draws of an LSTM spread in their states, whatever outputs they see: there, which is wider depends on the training.
        match kind.network() {
            Some(NetworkKind::Node) => assert!(own > mean, "{kind}: {own} {mean}"),
            _ => assert!((own - mean).abs() > 1e-6 * mean, "{kind}: {own} {mean}"),
        }
    }
    // One network is its own mean.
    let single = quick(ModelKind::EnsembleNode).with(|config| config.gaussian.members = 1);
    let bands = [Feedback::Own, Feedback::Mean].map(|feedback| {
        let config = single.clone().with(|config| config.gaussian.feedback = feedback);
        let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
        model.simulate(&dataset, &split.test).unwrap()
    });
    assert_eq!(bands[0], bands[1]);
}

/// Scales are of the band that a calibration looked at, at every coverage.
#[test]
fn a_calibrated_baseline_has_the_stored_bands() {
    let (dataset, split) = hair_dryer();
    let config = FitConfig {
        coverage: 0.9,
        ..quick(ModelKind::EnsembleNode)
    };
    let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
    // Errors of which every quantile is as many standard deviations of a unit band: both scales grow alike.
    let errors: Vec<f64> = (0..4000).map(|k| 3.0 * (f64::from(k) - 2000.0) / 2000.0).collect();
    let block = BlockScores {
        below: vec![1.0; errors.len()],
        above: vec![1.0; errors.len()],
        error: errors,
    };
    let calibration = calibrate((&[vec![block; 5]], &[]), &[0.001], CoverageTarget::of_each(0.9), 1);
    let model = model.calibrated(Some(calibration)).unwrap();
    let narrow = model.at_coverage(0.45).unwrap();
    let bands = [&model, &narrow].map(|model| model.simulate(&dataset, &split.test).unwrap());
    for at in 0..bands[0][0].len() {
        let [wide, half] = [0, 1].map(|which| bands[which][0].upper[0][at] - bands[which][0].centre[0][at]);
        // Uniform errors: half the coverage takes half the width, but for what lies between two levels of the grid.
        assert!((half / wide - 0.5).abs() < 0.01, "{half} {wide}");
    }
    assert!(matches!(
        model.at_coverage(0.999),
        Err(ModelError::NoSuchLevel {
            reach: Some((0.1, 0.99)),
            ..
        })
    ));
    assert_eq!(Model::from_bytes(model.to_bytes().unwrap()).unwrap(), model);
}

/// y = stable linear system + white output noise of known size: σ must come out near it, and the band must cover.
#[test]
fn a_known_noise_level_is_recovered() {
    let system = LinearSystem {
        noise_std: 1.0,
        ..LinearSystem::default()
    };
    let record = system.generate(1600, 3).unwrap();
    let split = Split::new(record.dataset(), SplitFractions::new(0.5, 0.1, 0.4).unwrap()).unwrap();
    for kind in [
        ModelKind::EnsembleNode,
        ModelKind::DropoutNode,
        ModelKind::Bnode,
        ModelKind::Arx,
    ] {
        let config = FitConfig::default().with(|config| {
            config.model = kind;
            config.network.hidden = vec![16];
            config.gaussian.dropout = 0.02;
            config.gaussian.members = 2;
            config.gaussian.samples = 30;
            config.training.epochs = 120;
            config.gaussian.prior_std = 1.0;
            config.training.learning_rate = 1e-2;
            config.lag_search = kind == ModelKind::Arx;
        });
        let (model, _) = Model::fit(record.dataset(), &split, &config, FitOptions::default()).unwrap();
        let bands = model.simulate(record.dataset(), &split.test).unwrap();
        let band = &bands[0];
        let mean_width: f64 = band.upper[0]
            .iter()
            .zip(&band.lower[0])
            .map(|(u, l)| u - l)
            .sum::<f64>()
            / band.len() as f64;
        let sigma = mean_width / (2.0 * 1.644_854);
        let ratio = sigma / record.noise_std()[0];
        let picp = evaluate(record.dataset(), &bands, 0.9).unwrap().all.picp.unwrap();
        assert!((0.85..1.6).contains(&ratio), "{kind}: σ is {ratio} of the noise's");
        assert!((0.84..=0.99).contains(&picp), "{kind}: coverage {picp}");
    }
}

/// Draws differ, so dropout and Bayesian bands are wider than one network's; members of an ensemble have seeds of their
/// own; the same seed gives the same bits.
#[test]
fn randomness_is_seeded_and_members_differ() {
    let (dataset, split) = hair_dryer();
    let of_members = |members: usize| {
        let config = quick(ModelKind::EnsembleLstm).with(|config| config.gaussian.members = members);
        Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap()
    };
    let ((one, _), (two, info)) = (of_members(1), of_members(2));
    assert_eq!((info.stages.len(), info.epochs_run()), (2, 4));
    assert_eq!(two.parameters(), 2 * one.parameters());
    // Two equal members would simulate as one of them.
    let centre = |model: &Model| model.simulate(&dataset, &split.test).unwrap()[0].centre.clone();
    assert_ne!(centre(&one), centre(&two));
    for kind in BASELINES {
        let config = quick(kind);
        let run = |config: &FitConfig| Model::fit(&dataset, &split, config, FitOptions::default()).unwrap().0;
        let model = run(&config);
        assert_eq!(model, run(&config));
        if kind.method() != Method::Linear {
            let other = run(&FitConfig { seed: 2, ..config });
            assert_ne!(
                model.simulate(&dataset, &split.test).unwrap(),
                other.simulate(&dataset, &split.test).unwrap()
            );
        }
    }
}

#[test]
fn a_killed_baseline_resumes_to_the_same_bits() {
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    for kind in [ModelKind::EnsembleNode, ModelKind::Blstm, ModelKind::DropoutNode] {
        let config = quick(kind).with(|config| config.training.epochs = 3);
        let whole = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap().0;
        let path = folder.path().join(format!("{kind}.checkpoint"));
        // The checkpoint of every epoch, as a kill right after it would leave it.
        for stop_after in 1..4 {
            let _ = std::fs::remove_file(&path);
            let kept = folder.path().join("kept");
            let epochs = AtomicUsize::new(0);
            let observer = |_: &Progress| {
                if epochs.fetch_add(1, Ordering::SeqCst) + 1 == stop_after {
                    std::fs::copy(&path, &kept).unwrap();
                }
                std::ops::ControlFlow::Continue(())
            };
            let options = FitOptions {
                control: Control {
                    observer: Some(&observer),
                    ..Control::default()
                },
                checkpoint: Some(&path),
                ..FitOptions::default()
            };
            Model::fit(&dataset, &split, &config, options).unwrap();
            let options = FitOptions {
                checkpoint: Some(&kept),
                ..FitOptions::default()
            };
            let (resumed, _) = Model::fit(&dataset, &split, &config, options).unwrap();
            assert_eq!(resumed, whole, "{kind} after epoch {stop_after}");
        }
    }
}

#[test]
fn cascades_that_share_their_crisp_network_are_those_fitted_alone() {
    let (dataset, split) = hair_dryer();
    let base = small(ModelKind::Ilstm, Strategy::Cascade).with(|config| config.training.epochs = 2);
    let configs: Vec<FitConfig> = [0.9, 0.95]
        .into_iter()
        .flat_map(|coverage| {
            [
                intervalid_model::MarginActivation::Abs,
                intervalid_model::MarginActivation::Relu,
            ]
            .map(|margin| {
                base.clone().with(|config| {
                    config.coverage = coverage;
                    config.interval.margin = margin;
                })
            })
        })
        .collect();
    let together = fit_cascades(&dataset, &split, &configs, Control::default()).unwrap();
    for (config, (model, info)) in configs.iter().zip(&together) {
        let (alone, alone_info) = Model::fit(&dataset, &split, config, FitOptions::default()).unwrap();
        assert_eq!(*model, alone);
        assert_eq!(info.history, alone_info.history);
    }
    let other = FitConfig {
        seed: 2,
        ..base.clone()
    };
    let message = fit_cascades(&dataset, &split, &[base, other], Control::default())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("differ in their margins and coverage only"),
        "{message}"
    );
}
