//! Records that are at rest but for a step or a pulse: models without that part have never seen a channel move.

use intervalid_data::{Channel, Dataset, Experiment, Split, SplitFractions};
use intervalid_model::{Control, CoverageTarget, FitConfig, FitOptions, Model, ModelKind, Strategy, evaluate};
use intervalid_search::{SearchConfig, SearchOptions, calibrate_on_blocks, search};

/// A first-order plant of gain 2 whose input is one in `active` and zero elsewhere; its measurements have a little noise, or none.
fn moved(samples: usize, active: std::ops::Range<usize>, noise: f64) -> Dataset {
    let u: Vec<f64> = (0..samples).map(|k| f64::from(u8::from(active.contains(&k)))).collect();
    let (mut level, mut state) = (0.0, 7_u32);
    let respond = |u: &f64| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let y = level + noise * (f64::from(state >> 20) / 4096.0 - 0.5);
        level = 0.8 * level + 0.4 * u;
        y
    };
    let y = u.iter().map(respond).collect();
    let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
    Dataset::new(
        "plant",
        inputs,
        outputs,
        None,
        vec![Experiment::new("e", vec![u], vec![y])],
    )
    .expect("a record")
}

fn parts(dataset: &Dataset, train: f64, validation: f64) -> Split {
    let fractions = SplitFractions::new(train, validation, 1.0 - train - validation).expect("shares");
    Split::new(dataset, fractions).expect("splits")
}

#[test]
fn steps_and_pulses_are_searched() {
    let pulse = moved(400, 170..200, 0.02);
    let step = moved(200, 130..200, 0.02);
    // Without noise the output is at rest too.
    let exact = moved(400, 170..200, 0.0);
    let late = moved(13_000, 5000..13_000, 0.02);
    let config = SearchConfig {
        rounds: 0,
        ..SearchConfig::default()
    };
    for (dataset, split) in [
        (&pulse, parts(&pulse, 0.6, 0.2)),
        (&step, parts(&step, 0.8, 0.1)),
        (&exact, parts(&exact, 0.6, 0.2)),
        (&late, parts(&late, 0.9, 0.05)),
    ] {
        let found = search(dataset, &split, &config, &SearchOptions::default()).expect("a model");
        let bands = found.model.simulate(dataset, &split.train).expect("runs");
        let rmse = evaluate(dataset, &bands, config.coverage).expect("belongs").all.rmse;
        assert!(
            rmse.is_some_and(|rmse| rmse < 0.03),
            "{} samples: {rmse:?}",
            dataset.samples()
        );
    }
}

#[test]
fn bands_are_calibrated_where_a_block_holds_the_only_pulse() {
    let dataset = moved(400, 170..200, 0.02);
    let split = parts(&dataset, 0.6, 0.2);
    for kind in [ModelKind::Arx, ModelKind::Inode] {
        let config = FitConfig::paper("", kind, Strategy::Cascade).with(|config| {
            config.training.epochs = 2;
            config.interval.margin_epochs = None;
            config.network.hidden = vec![4];
        });
        let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).expect("fits");
        let target = CoverageTarget::of_each(config.coverage);
        let calibrated =
            calibrate_on_blocks(&dataset, &split, model, target, 1, Control::default()).expect("calibrates");
        let bands = calibrated.simulate(&dataset, &split.test).expect("runs");
        assert!(bands[0].upper[0].iter().all(|bound| bound.is_finite()), "{kind}");
    }
}
