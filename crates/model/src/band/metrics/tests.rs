use intervalid_data::{Channel, Experiment};
use serde_json::json;

use super::json::MEASURES;
use super::*;

fn close(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() <= 8.0 * f64::EPSILON * expected.abs().max(1.0))
}

fn run<'a>(target: &'a [f64], lower: &'a [f64], centre: &'a [f64], upper: &'a [f64]) -> Aligned<'a> {
    Aligned {
        target,
        lower,
        centre,
        upper,
        diverged_at: None,
    }
}

fn dataset(names: &[&str], experiments: &[Vec<Vec<f64>>]) -> Dataset {
    let outputs = names.iter().map(|name| Channel::new(*name)).collect();
    let experiments = experiments
        .iter()
        .map(|columns| Experiment::new("e", vec![], columns.clone()))
        .collect();
    Dataset::new("d", vec![], outputs, None, experiments).expect("valid")
}

/// ± 0.5 around `centre`, from sample `first` on.
fn band(experiment: usize, first: usize, warmup: usize, centre: Vec<Vec<f64>>) -> Band {
    let shifted = |by: f64| centre.iter().map(|c| c.iter().map(|y| y + by).collect()).collect();
    Band {
        experiment,
        first,
        warmup,
        lower: shifted(-0.5),
        upper: shifted(0.5),
        centre,
        diverged_at: None,
    }
}

#[test]
fn by_hand() {
    let metrics = Metrics::of(
        &[run(
            &[0.0, 1.0, 2.0, 4.0],
            &[0.0, 0.5, 1.5, 1.5],
            &[0.0, 1.0, 2.0, 2.0],
            &[1.0, 1.5, 2.5, 2.5],
        )],
        0.9,
    );
    assert_eq!(metrics.n, 4);
    assert!(close(metrics.rmse, 1.0));
    assert!(close(metrics.fit_percent, 100.0 * (1.0 - (4.0_f64 / 8.75).sqrt())));
    // The first target lies on its lower end: inside.
    assert!(close(metrics.picp, 0.75));
    assert!(close(metrics.pinaw, 0.25));
    assert!(close(metrics.cwc, 0.25 * (1.0 + (25.0_f64 * 0.15).exp())));
    // Width 1, one miss of 1.5 among four: 1 + 2/0.1·1.5/4.
    assert!(close(metrics.interval_score, 8.5));
    assert!(close(metrics.worst_rolling_picp, 0.75));
}

#[test]
fn coverage_that_is_exactly_met_is_not_punished() {
    let targets: Vec<f64> = (0..10).map(f64::from).collect();
    let mut centre = targets.clone();
    centre[3] = 30.0;
    let [lower, upper] = [-1.0, 1.0].map(|by| centre.iter().map(|y| y + by).collect::<Vec<f64>>());
    let metrics = Metrics::of(&[run(&targets, &lower, &centre, &upper)], 0.9);
    assert_eq!((metrics.picp, metrics.cwc), (Some(0.9), metrics.pinaw));
    let asked_more = Metrics::of(&[run(&targets, &lower, &centre, &upper)], 0.95);
    assert!(asked_more.cwc > metrics.cwc);
}

#[test]
fn targets_without_a_range_and_single_samples_have_no_relative_measures() {
    for n in [1, 5] {
        let (target, lower, upper) = (vec![2.0; n], vec![1.5; n], vec![2.5; n]);
        let metrics = Metrics::of(&[run(&target, &lower, &target, &upper)], 0.9);
        let expected = json!({
            "n": n, "rmse": 0.0, "fit_percent": null, "picp": 1.0, "pinaw": null, "cwc": null,
            "interval_score": 1.0, "worst_rolling_picp": 1.0,
        });
        assert_eq!(serde_json::to_value(metrics).expect("json"), expected);
    }
    assert_eq!(Metrics::of(&[], 0.9), Metrics::default());
}

#[test]
fn all_outside() {
    let target = [0.0, 2.0];
    let metrics = Metrics::of(&[run(&target, &[5.0; 2], &[6.0; 2], &[7.0; 2])], 0.9);
    assert_eq!(
        (metrics.picp, metrics.worst_rolling_picp, metrics.pinaw),
        (Some(0.0), Some(0.0), Some(1.0))
    );
    assert!(close(metrics.cwc, 1.0 + 22.5_f64.exp()));
    assert!(close(metrics.interval_score, 2.0 + 20.0 * 4.0));
}

#[test]
fn what_is_not_finite_is_null() {
    let target = [0.0, 2.0];
    let unbounded = run(&target, &[f64::NEG_INFINITY, 0.0], &[0.0, 2.0], &[1.0, 3.0]);
    let metrics = Metrics::of(&[unbounded], 0.9);
    assert_eq!(
        (metrics.picp, metrics.pinaw, metrics.cwc, metrics.interval_score),
        (Some(1.0), None, None, None)
    );
    let broken = run(&target, &[f64::NAN; 2], &[f64::NAN; 2], &[f64::NAN; 2]);
    let metrics = Metrics::of(&[broken], 0.9);
    assert_eq!((metrics.rmse, metrics.picp), (None, Some(0.0)));
}

#[test]
fn experiments_are_pooled_and_warm_ups_skipped() {
    let first: Vec<f64> = (0..6).map(f64::from).collect();
    let second = vec![10.0, 10.0, 11.0];
    let data = dataset(&["y"], &[vec![first], vec![second]]);
    // Far off during the warm-up of two, then exact; the second experiment misses both of its samples.
    let bands = [
        band(0, 1, 2, vec![vec![90.0, 90.0, 3.0, 4.0, 5.0]]),
        band(1, 1, 0, vec![vec![11.0, 10.0]]),
    ];
    let evaluation = evaluate(&data, &bands, 0.5).expect("belongs");
    let metrics = evaluation.all;
    assert_eq!((metrics.n, metrics.picp), (5, Some(0.6)));
    assert!(close(metrics.rmse, (2.0_f64 / 5.0).sqrt()));
    assert!(close(metrics.pinaw, 1.0 / 8.0));
    // There are fewer samples than a window has.
    assert_eq!(metrics.worst_rolling_picp, Some(0.6));
    assert_eq!(evaluation.outputs, [("y".to_owned(), metrics)]);
    // An experiment that is all warm-up adds nothing.
    let bands = [bands[0].clone(), band(1, 1, 7, vec![vec![11.0, 10.0]])];
    assert_eq!(evaluate(&data, &bands, 0.5).expect("belongs").all.n, 3);
}

#[test]
fn a_diverged_simulation_has_no_metrics() {
    let data = dataset(&["y"], &[vec![vec![0.0, 1.0, 2.0, 3.0]]]);
    let mut diverged = band(0, 1, 0, vec![vec![1.0, 2.0]]);
    diverged.diverged_at = Some(2);
    let evaluation = evaluate(&data, &[band(0, 1, 0, vec![vec![1.0, 2.0, 3.0]]), diverged], 0.9).expect("belongs");
    let value = serde_json::to_value(&evaluation).expect("json");
    assert_eq!((&value["n"], &value["diverged_at"]), (&json!(5), &json!(2)));
    for (name, measure) in MEASURES {
        assert_eq!((&value[name], measure(&evaluation.all)), (&json!(null), None), "{name}");
    }
}

#[test]
fn several_outputs_are_keyed_by_name() {
    let data = dataset(&["a", "all"], &[vec![vec![0.0, 1.0, 2.0], vec![0.0, 1.0, 3.0]]]);
    let bands = [band(0, 1, 0, vec![vec![1.0, 2.0], vec![3.0, 3.0]])];
    let evaluation = evaluate(&data, &bands, 0.9).expect("belongs");
    let value = serde_json::to_value(&evaluation).expect("json");
    assert_eq!(value["n"], 2);
    assert_eq!(value["picp"], json!({"a": 1.0, "output all": 0.5, "all": 0.75}));
    assert_eq!(value["pinaw"], json!({"a": 1.0, "output all": 0.5, "all": 0.75}));
    let keys: Vec<&str> = MEASURES.iter().map(|(name, _)| *name).collect();
    assert!(keys.iter().all(|key| value[key].is_object()));
}

#[test]
fn a_measure_that_one_output_lacks_has_no_mean() {
    let data = dataset(&["a", "b"], &[vec![vec![0.0, 1.0, 2.0], vec![5.0; 3]]]);
    let bands = [band(0, 1, 0, vec![vec![1.0, 2.0], vec![5.0, 5.0]])];
    let evaluation = evaluate(&data, &bands, 0.9).expect("belongs");
    assert_eq!((evaluation.all.pinaw, evaluation.all.picp), (None, Some(1.0)));
}

#[test]
fn rolling_windows_find_the_bad_stretch() {
    // 300 samples, 40 misses in a row: the worst 100 hold them all.
    let target: Vec<f64> = (0..300)
        .map(|k| if (120..160).contains(&k) { 9.0 } else { 0.0 })
        .collect();
    let (lower, centre, upper) = (vec![-1.0; 300], vec![0.0; 300], vec![1.0; 300]);
    let runs = [run(&target, &lower, &centre, &upper)];
    let rolling = rolling_coverage(&runs, ROLLING_WINDOW).expect("samples");
    assert_eq!((rolling.window, rolling.worst), (100, 0.6));
    assert!(rolling.mean > 0.6 && rolling.mean < 1.0);
    assert_eq!(Metrics::of(&runs, 0.9).worst_rolling_picp, Some(0.6));
    // As short as a single sample, the window sees a miss and nothing else.
    assert_eq!(rolling_coverage(&runs, 1).map(|rolling| rolling.worst), Some(0.0));
    assert_eq!(rolling_coverage(&[], 5), None);
}

#[test]
fn short_runs_count_in_windows_too() {
    let (lower, centre, upper) = ([-1.0; 8], [0.0; 8], [1.0; 8]);
    let worst = |lengths: &[usize], missed: usize| {
        let target = |index: usize| [if index == missed { 9.0 } else { 0.0 }; 8];
        let targets: Vec<[f64; 8]> = (0..lengths.len()).map(target).collect();
        let runs: Vec<_> = (lengths.iter().zip(&targets))
            .map(|(&n, target)| run(&target[..n], &lower[..n], &centre[..n], &upper[..n]))
            .collect();
        rolling_coverage(&runs, 4).map(|rolling| (rolling.window, rolling.worst))
    };
    // A run of a window and more stays by itself.
    assert_eq!(worst(&[8, 4], 1), Some((4, 0.0)));
    // Shorter ones stand in windows with what follows, or at the end with what goes before.
    assert_eq!(worst(&[8, 2, 8], 1), Some((4, 0.5)));
    assert_eq!(worst(&[8, 3], 1), Some((4, 0.25)));
    assert_eq!(worst(&[2, 1], 1), Some((3, 2.0 / 3.0)));
}

#[test]
fn coverage_by_steps_since_the_start() {
    let (lower, centre, upper) = ([-1.0; 3], [0.0; 3], [1.0; 3]);
    let runs = [
        run(&[0.0, 0.0, 5.0], &lower, &centre, &upper),
        run(&[0.0, 5.0], &lower[..2], &centre[..2], &upper[..2]),
    ];
    let found: Vec<_> = coverage_by_horizon(&runs, 1)
        .iter()
        .map(|bin| (bin.n, bin.picp))
        .collect();
    assert_eq!(found, [(2, 1.0), (2, 0.5), (1, 0.0)]);
    let bins = coverage_by_horizon(&runs, 2);
    assert_eq!((bins[0].first, bins[0].last, bins[0].picp), (1, 2, 0.75));
    assert_eq!((bins[1].first, bins[1].last, bins[1].n), (3, 3, 1));
}

#[test]
fn bands_of_other_data_are_refused() {
    let data = dataset(&["y"], &[vec![vec![0.0, 1.0]]]);
    let message = |band: Band, coverage| evaluate(&data, &[band], coverage).unwrap_err().to_string();
    assert_eq!(
        message(band(0, 1, 0, vec![vec![0.0; 2]]), 0.9),
        "samples 1..3 of experiment 0 do not exist: it has 2 samples; split the same data set"
    );
    assert!(message(band(3, 0, 0, vec![vec![0.0; 2]]), 0.9).contains("experiment 3"));
    assert_eq!(
        message(band(0, 0, 0, vec![vec![0.0], vec![0.0]]), 0.9),
        "the model has 2 outputs, the data have 1"
    );
    assert!(message(band(0, 0, 0, vec![vec![0.0]]), 90.0).starts_with("coverage = 90"));
}
