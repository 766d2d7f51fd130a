use intervalid_data::free_run_windows;
use rand::RngExt;

use super::*;
use crate::band::calibration::{Calibration, Scaling};
use crate::family::body::OfPrecision;
use crate::fixtures::{Recipe, TestModel, recipes};
use crate::model::Model;

fn simulate<T: OfPrecision>(model: &TestModel<T>, recipe: &Recipe, samples: usize, mode: RecursionMode) -> Band {
    let (dataset, part) = recipe.dataset(samples);
    model.simulate_with(&dataset, &part, mode).expect("simulates").remove(0)
}

fn ends(band: &Band) -> impl Iterator<Item = (f64, f64)> {
    let lower = band.lower.iter().flatten();
    lower
        .zip(band.upper.iter().flatten())
        .map(|(&lower, &upper)| (lower, upper))
}

fn assert_near(a: &Band, b: &Band, tolerance: f64) {
    assert_eq!((a.len(), a.first, a.warmup), (b.len(), b.first, b.warmup));
    for (a, b) in ends(a).zip(ends(b)) {
        assert!(
            (a.0 - b.0).abs() <= tolerance && (a.1 - b.1).abs() <= tolerance,
            "{a:?} {b:?}"
        );
    }
}

#[test]
fn one_step_is_recentred_in_both_precisions() {
    for recipe in recipes(0.1) {
        let model = recipe.model::<f64>();
        let one = simulate(&model, &recipe, 100, RecursionMode::KStep(1));
        let recentred = simulate(&model, &recipe, 100, RecursionMode::Recentred);
        assert_near(&one, &recentred, 200.0 * f64::EPSILON);
        let model = recipe.model::<f32>();
        let one = simulate(&model, &recipe, 100, RecursionMode::KStep(1));
        let recentred = simulate(&model, &recipe, 100, RecursionMode::Recentred);
        assert_near(&one, &recentred, 200.0 * f64::from(f32::EPSILON));
    }
}

#[test]
fn calibration_applies_to_every_mode() {
    for recipe in recipes(0.01).into_iter().filter(|recipe| recipe.outputs == 1) {
        let model = recipe.model::<f64>();
        let (dataset, part) = recipe.dataset(60);
        let scaling = Scaling {
            lower: 2.0,
            upper: 3.0,
            floor: 0.1,
            spread: None,
            online_start: None,
        };
        let calibration = Calibration {
            outputs: vec![scaling],
            level: 0.9,
            blocks: 1,
            cuts: 0,
            samples: 60,
            effective_samples: 60.0,
            block_coverage: vec![0.9],
            cut_coverage: Vec::new(),
            expected: None,
            levels: Vec::new(),
            renewal: None,
            together: false,
        };
        let plain = model.to_model();
        let calibrated = plain.clone().calibrated(Some(calibration)).unwrap();
        let one = |model: &Model, mode| model.simulate_with(&dataset, &part, mode).unwrap().remove(0);
        let [recentred, k_step] =
            [RecursionMode::Recentred, RecursionMode::KStep(1)].map(|mode| one(&calibrated, mode));
        assert_near(&k_step, &recentred, 1e-9);
        assert_eq!(recentred, calibrated.simulate(&dataset, &part).unwrap().remove(0));
        let full = one(&calibrated, RecursionMode::Full);
        assert_ne!(
            full,
            one(&plain, RecursionMode::Full),
            "the full recursion is calibrated as well"
        );
    }
}

#[test]
fn a_horizon_as_long_as_the_record_is_full() {
    for recipe in recipes(0.003) {
        let model = recipe.model::<f64>();
        let full = simulate(&model, &recipe, 40, RecursionMode::Full);
        for steps in [39, 40, usize::MAX] {
            assert_eq!(simulate(&model, &recipe, 40, RecursionMode::KStep(steps)), full);
        }
    }
}

/// Each bound against a recursion by scalar loops, started for this one sample.
#[test]
fn horizons_match_their_definition() {
    for recipe in recipes(0.02) {
        let model = recipe.model::<f64>();
        let (dataset, part) = recipe.dataset(50);
        let horizon = 4;
        let band = simulate(&model, &recipe, 50, RecursionMode::KStep(horizon));
        assert_eq!(band.diverged_at, None);
        let scaled = model.interface.scale(&dataset).expect("fits");
        let (lags, initial) = (model.architecture.lags, model.config.initial);
        let window = free_run_windows(&dataset, &part, lags, initial).expect("long enough")[0];
        let mut run = FreeRun::new(&model.architecture, window, initial);
        let mut stepper = Stepper::new(&model.architecture, &model.theta);
        run.simulate(&mut stepper, &model.architecture, &scaled, initial);
        let network = crate::fixtures::NaiveNetwork::of(&model, |index| {
            let theta = model.theta[index];
            (theta - model.margin_lower[index], theta + model.margin_upper[index])
        });
        let known = initial.known_outputs(window.start, lags);
        let width = run.frames.width;
        let column = |tile: &[f64], lane: usize| -> Vec<(f64, f64)> {
            tile.chunks(width).map(|row| (row[lane], row[lane])).collect()
        };
        let history = initial.looks_back();
        for step in history..history + band.len() {
            let start = (step + 1).saturating_sub(horizon);
            let (tile, lane) = (start / width, start % width);
            let states = run.frames.states.iter();
            let mut states: Vec<_> = states
                .map(|kept| (column(kept.h(tile, width), lane), column(kept.c(tile, width), lane)))
                .collect();
            let mut outputs: Vec<Vec<(f64, f64)>> = Vec::new();
            for at in start..=step {
                let mut x = column(run.frames.x(at / width), at % width);
                for lag in 1..=lags.ny.min(at - start) {
                    if !known.contains(&(window.start + 1 + at - lag)) {
                        let fed_back = &outputs[at - start - lag];
                        x[(lag - 1) * recipe.outputs..lag * recipe.outputs].copy_from_slice(fed_back);
                    }
                }
                outputs.push(network.step(&x, &mut states));
            }
            for (output, &(lower, upper)) in outputs[step - start].iter().enumerate() {
                let scale = model.interface.normaliser.outputs[output];
                let (found, at) = (&band, step - history);
                assert!((found.lower[output][at] - scale.to_physical(lower)).abs() < 1e-12);
                assert!((found.upper[output][at] - scale.to_physical(upper)).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn longer_horizons_contain_shorter_ones() {
    for recipe in recipes(0.01) {
        let model = recipe.model::<f64>();
        let mut before = simulate(&model, &recipe, 60, RecursionMode::KStep(1));
        let mean = |band: &Band| ends(band).map(|(lower, upper)| upper - lower).sum::<f64>() / band.len() as f64;
        for steps in 2..8 {
            let band = simulate(&model, &recipe, 60, RecursionMode::KStep(steps));
            assert_eq!(band.diverged_at, None);
            for (inner, outer) in ends(&before).zip(ends(&band)) {
                // Rounding of a few steps.
                assert!(outer.0 <= inner.0 + 1e-13 && inner.1 <= outer.1 + 1e-13, "{recipe:?}");
            }
            assert!(mean(&band) > mean(&before), "{recipe:?}: {steps}");
            before = band;
        }
    }
}

#[test]
fn full_contains_free_runs_of_sampled_networks() {
    for recipe in recipes(0.01) {
        let model = recipe.model::<f64>();
        let full = simulate(&model, &recipe, 30, RecursionMode::Full);
        assert!(full.len() > 5);
        let mut rng = recipe.rng();
        for _ in 0..20 {
            let mut sampled = model.clone();
            for index in 0..model.theta.len() {
                let offset = rng.random_range(-1.0..1.0_f64);
                let margin = if offset < 0.0 {
                    &model.margin_lower
                } else {
                    &model.margin_upper
                };
                sampled.theta[index] += offset.signum() * offset.abs().sqrt() * margin[index];
            }
            let run = simulate(&sampled, &recipe, 30, RecursionMode::Recentred);
            for (output, centre) in run.centre.iter().enumerate() {
                for (step, &y) in centre[..full.len()].iter().enumerate() {
                    let slack = 1e-12;
                    assert!(full.lower[output][step] - slack <= y && y <= full.upper[output][step] + slack);
                }
            }
        }
    }
}

#[test]
fn divergence_is_reported_with_its_step() {
    // A linear path whose interval gain exceeds one, around a stable centre.
    let recipe = recipes(0.5).remove(3);
    let mut model = recipe.model::<f64>();
    let full = simulate(&model, &recipe, 2000, RecursionMode::Full);
    let step = full.diverged_at.expect("an interval gain above one diverges");
    assert_eq!(full.len(), step);
    assert!(step > 3 && ends(&full).all(|(lower, upper)| upper - lower <= DIVERGED));
    let recentred = simulate(&model, &recipe, 2000, RecursionMode::Recentred);
    assert_eq!(recentred.diverged_at, None);
    let longer = simulate(&model, &recipe, 2000, RecursionMode::KStep(step + 50));
    assert_eq!(longer.diverged_at, Some(step));
    assert_eq!(
        simulate(&model, &recipe, 2000, RecursionMode::KStep(3)).len(),
        recentred.len()
    );
    // A band that is wide at once ends at once.
    model.margin_upper.fill(1e6);
    let wide = simulate(&model, &recipe, 50, RecursionMode::KStep(2));
    assert_eq!((wide.diverged_at, wide.len()), (Some(0), 0));
}

#[test]
fn zero_margins_stay_at_the_point_prediction() {
    for recipe in recipes(0.0) {
        // Even rounding errors are fed back as widths, so the record is short.
        let full = simulate(&recipe.model::<f64>(), &recipe, 25, RecursionMode::Full);
        assert!(ends(&full).all(|(lower, upper)| (0.0..1e-6).contains(&(upper - lower))));
    }
}

#[test]
fn no_steps_are_refused() {
    let recipe = recipes(0.1).remove(0);
    let (dataset, part) = recipe.dataset(20);
    let refused = recipe
        .model::<f64>()
        .simulate_with(&dataset, &part, RecursionMode::KStep(0));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "k_step = 0 is not allowed: expected at least one step"
    );
}
