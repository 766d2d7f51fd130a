//! Properties of splits, scales and windows over random records.

use intervalid_data::{
    Channel, Dataset, Experiment, InitialState, Lags, Normaliser, Part, Split, SplitFractions, WindowConfig, Windows,
    free_run_windows,
};
use proptest::prelude::*;

fn dataset(lengths: &[usize]) -> Dataset {
    let column = |n: usize| (0..n).map(|k| (k as f64 * 0.7).sin()).collect::<Vec<_>>();
    let experiments = lengths
        .iter()
        .map(|&n| Experiment::new("e", vec![column(n)], vec![column(n)]))
        .collect();
    Dataset::new("d", vec![Channel::new("u")], vec![Channel::new("y")], None, experiments).expect("valid")
}

fn initial_states() -> impl Strategy<Value = InitialState> {
    prop_oneof![
        Just(InitialState::ZeroPadded),
        Just(InitialState::Measured),
        (0_usize..10).prop_map(InitialState::Warmup)
    ]
}

fn fractions() -> impl Strategy<Value = SplitFractions> {
    (1_u32..50, 1_u32..50, 1_u32..50).prop_map(|(a, b, c)| {
        let total = f64::from(a + b + c);
        SplitFractions {
            train: f64::from(a) / total,
            validation: f64::from(b) / total,
            test: f64::from(c) / total,
        }
    })
}

proptest! {
    #[test]
    fn splits_cover_each_experiment_once_and_in_order(
        lengths in prop::collection::vec(20_usize..300, 1..5),
        fractions in fractions(),
    ) {
        let dataset = dataset(&lengths);
        let Ok(split) = Split::new(&dataset, fractions) else { return Ok(()) };
        let joined = split.train.followed_by(&split.validation).followed_by(&split.test);
        prop_assert_eq!(joined, Part::whole(&dataset));
        for (index, &length) in lengths.iter().enumerate() {
            let train = split.train.segments().iter().find(|s| s.experiment == index).map_or(0, |s| s.len());
            prop_assert!((train as f64 - length as f64 * fractions.train).abs() <= 0.5 + 1e-9);
        }
    }

    #[test]
    fn windows_stay_inside_and_follow_the_formula(
        lengths in prop::collection::vec(20_usize..300, 1..5),
        fractions in fractions(),
        (nx, nd, ny) in (0_usize..6, 0_usize..6, 1_usize..6),
        initial in initial_states(),
        (length, step) in (2_usize..40, 1_usize..9),
    ) {
        let dataset = dataset(&lengths);
        let lags = Lags { nx, nd, ny };
        let Ok(split) = Split::new(&dataset, fractions) else { return Ok(()) };
        for part in [&split.train, &split.validation, &split.test] {
            let Ok(windows) = Windows::new(&dataset, part, lags, initial, WindowConfig { length, step }) else { continue };
            let all: Vec<_> = windows.iter().collect();
            prop_assert_eq!(all.len(), windows.len());
            let mut expected = Vec::new();
            for segment in part.segments() {
                let known = if initial == InitialState::Measured { ny.max(nd + nx) } else { 1 };
                let first = segment.start.max(known - 1);
                // k = 1, 1+n_step, … ≤ K-N, counted from `first`.
                let mut k = 1;
                while first + k + length <= segment.end {
                    expected.push((segment.experiment, first + k - 1));
                    k += step;
                }
            }
            prop_assert_eq!(all.iter().map(|w| (w.experiment, w.start)).collect::<Vec<_>>(), expected);
            for (index, window) in all.iter().enumerate() {
                prop_assert_eq!(windows.get(index), *window);
                let segment = part.segments().iter().find(|s| s.experiment == window.experiment).expect("segment");
                prop_assert!(window.start >= segment.start && window.start + window.len <= segment.end);
                prop_assert!(!window.scored(initial).is_empty());
                let known = initial.known_outputs(window.start, lags);
                let width = match initial {
                    InitialState::ZeroPadded => 1,
                    InitialState::Measured => ny,
                    InitialState::Warmup(steps) | InitialState::History(steps) => steps + 1,
                };
                prop_assert_eq!(known.len(), width);
            }
        }
    }

    #[test]
    fn runs_span_their_segments(
        lengths in prop::collection::vec(1_usize..60, 1..5),
        ny in 1_usize..6,
        initial in initial_states(),
    ) {
        let dataset = dataset(&lengths);
        let part = Part::whole(&dataset);
        let Ok(runs) = free_run_windows(&dataset, &part, Lags { nx: 0, nd: 0, ny }, initial) else { return Ok(()) };
        for run in runs {
            prop_assert_eq!(run.start + run.len, lengths[run.experiment]);
            prop_assert_eq!(run.start, if initial == InitialState::Measured { ny - 1 } else { 0 });
        }
    }

    #[test]
    fn normalising_and_back_is_the_identity(values in prop::collection::vec(-1e6_f64..1e6, 3..100)) {
        let experiment = Experiment::new("e", vec![], vec![values.clone()]);
        let dataset = Dataset::new("d", vec![], vec![Channel::new("y")], None, vec![experiment]).expect("valid");
        let Ok(normaliser) = Normaliser::fit(&dataset, &Part::whole(&dataset)) else { return Ok(()) };
        let scaled = normaliser.scale::<f64>(&dataset);
        let normalised = scaled.experiments()[0].output(0);
        let count = values.len() as f64;
        let mean = normalised.iter().sum::<f64>() / count;
        let variance = normalised.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let size = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        // Rounding of the data is amplified by how small the spread is against the values.
        let rounding = 1e-13 * count * (1.0 + size / normaliser.outputs[0].std);
        prop_assert!(mean.abs() < rounding && (variance - 1.0).abs() < 10.0 * rounding);
        for (value, z) in values.iter().zip(normalised) {
            prop_assert!((normaliser.output_to_physical(0, *z) - value).abs() <= 1e-14 * (size + value.abs()) * 4.0);
        }
    }
}

/// The forms that model files and configurations hold.
#[test]
fn serialised_forms() {
    let lags = Lags { nx: 2, nd: 0, ny: 3 };
    assert_eq!(
        serde_json::to_string(&lags).expect("serialises"),
        r#"{"nx":2,"nd":0,"ny":3}"#
    );
    assert_eq!(
        serde_json::to_string(&InitialState::Warmup(4)).expect("serialises"),
        r#""warmup:4""#
    );
    let normaliser = Normaliser::identity(1, 1);
    let text = serde_json::to_string(&normaliser).expect("serialises");
    assert_eq!(
        text,
        r#"{"inputs":[{"mean":0.0,"std":1.0}],"outputs":[{"mean":0.0,"std":1.0}]}"#
    );
    assert_eq!(serde_json::from_str::<Normaliser>(&text).expect("parses"), normaliser);
    let wrong = serde_json::from_str::<InitialState>(r#""cold""#)
        .expect_err("unknown")
        .to_string();
    assert!(
        wrong.starts_with("unknown initial state 'cold': expected zero, measured, warmup:N or history:N"),
        "{wrong}"
    );
}
