//! What the watch over a model promises, on residuals whose truth is known.

use intervalid_data::{ArxModel, Channel, Dataset, Experiment, Lags, Normaliser, Part};
use intervalid_model::{
    BlockScores, CoverageTarget, DriftKind, FitConfig, Health, History, Model, ModelError, Monitor, MonitorConfig,
    MonitorReport, MonitorSample, MonitorState, Simulator, calibrate,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// A model with one output, whose predictions the tests make themselves: mean 0, standard deviation 1 in training.
fn model(weight: f64) -> Model {
    let u: Vec<f64> = (0..40).map(|k| f64::from(k % 2)).collect();
    let y: Vec<f64> = (0..40).map(|k| if k % 2 == 0 { -1.0 } else { 1.0 }).collect();
    let channels = |name: &str| vec![Channel::new(name)];
    let experiment = Experiment::new("e", vec![u], vec![y]);
    let dataset = Dataset::new("d", channels("u"), channels("y"), None, vec![experiment]).expect("a record");
    let normaliser = Normaliser::fit(&dataset, &Part::whole(&dataset)).expect("channels that move");
    let arx = ArxModel {
        lags: Lags { nx: 0, nd: 0, ny: 1 },
        coefficients: vec![vec![0.5, weight]],
        bias: vec![0.0],
    };
    Model::from_arx(&dataset, normaliser, vec![arx], vec![1.0], &FitConfig::default())
}

/// How residuals come about.
#[derive(Clone, Copy)]
struct Plant {
    /// Correlation of neighbours.
    rho: f64,
    deviation: f64,
    level: f64,
    gain: f64,
}

const HEALTHY: Plant = Plant {
    rho: 0.0,
    deviation: 1.0,
    level: 0.0,
    gain: 0.0,
};

/// A run: a random telegraph as the prediction, residuals of standard deviation 1 inside a band of ±1.645.
struct Run {
    monitor: Monitor,
    rng: ChaCha8Rng,
    residual: f64,
    predicted: f64,
}

impl Run {
    fn new(config: MonitorConfig, seed: u64) -> Self {
        Self {
            monitor: Monitor::new(&model(1.0), config).expect("sound settings"),
            rng: ChaCha8Rng::seed_from_u64(seed),
            residual: 0.0,
            predicted: 1.0,
        }
    }

    fn go(&mut self, samples: usize, plant: Plant) -> Health {
        let mut health = self.monitor.health();
        for _ in 0..samples {
            let draw: f64 = self.rng.sample(StandardNormal);
            self.residual = plant.rho * self.residual + (1.0 - plant.rho * plant.rho).sqrt() * draw;
            if self.rng.random::<f64>() < 0.2 {
                self.predicted = -self.predicted;
            }
            let y = self.predicted * (1.0 + plant.gain) + plant.level + plant.deviation * self.residual;
            health = self
                .monitor
                .observe(MonitorSample {
                    predicted: &[self.predicted],
                    lower: &[self.predicted - 1.645],
                    upper: &[self.predicted + 1.645],
                    measured: &[y],
                    extrapolated: None,
                })
                .expect("finite numbers");
        }
        health
    }

    /// Samples until a refit is called for.
    fn until_refit(&mut self, most: usize, plant: Plant) -> Option<usize> {
        (1..=most).find(|_| self.go(1, plant) == Health::Refit)
    }
}

fn rate(runs: u64, config: MonitorConfig, samples: usize, plant: Plant) -> f64 {
    let alarms = (0..runs).filter(|&seed| Run::new(config, 1000 + seed).go(samples, plant) == Health::Refit);
    alarms.count() as f64 / runs as f64
}

/// δ and three binomial standard deviations.
fn allowed(delta: f64, runs: u64) -> f64 {
    delta + 3.0 * (delta * (1.0 - delta) / runs as f64).sqrt()
}

#[test]
fn false_alarms_are_as_rare_as_stated() {
    let runs = 400;
    for delta in [0.2, 0.05] {
        let config = MonitorConfig {
            false_alarm: delta,
            ..MonitorConfig::default()
        };
        for rho in [0.0, 0.9, 0.97] {
            let found = rate(runs, config, 3000, Plant { rho, ..HEALTHY });
            assert!(found <= allowed(delta, runs), "{found} for {delta}, correlation {rho}");
        }
    }
}

#[test]
fn a_band_at_the_very_edge_of_what_is_tolerated_is_no_alarm_either() {
    // 15 % outside where 10 % are promised: |z| beyond 1.645/1.1427.
    let plant = Plant {
        deviation: 1.142_7,
        ..HEALTHY
    };
    let config = MonitorConfig {
        false_alarm: 0.2,
        block: Some(10),
        ..MonitorConfig::default()
    };
    let found = rate(400, config, 3000, plant);
    assert!(found <= allowed(0.2, 400), "{found}");
}

#[test]
fn without_blocks_correlated_misses_would_be_false_alarms() {
    // What the length of blocks is for: steps of five samples, of residuals that remember twenty.
    let config = MonitorConfig {
        false_alarm: 0.2,
        block: Some(5),
        ..MonitorConfig::default()
    };
    let found = rate(100, config, 3000, Plant { rho: 0.95, ..HEALTHY });
    assert!(found > allowed(0.2, 100), "{found}");
}

/// Runs that see `before` healthy samples and then this plant: delays, sorted, and the causes named then.
fn delays(before: usize, plant: Plant) -> (Vec<usize>, Vec<Option<DriftKind>>) {
    let mut found: Vec<(usize, Option<DriftKind>)> = (0..40)
        .map(|seed| {
            let mut run = Run::new(MonitorConfig::default(), 500 + seed);
            assert_ne!(run.go(before, HEALTHY), Health::Refit);
            let delay = run.until_refit(4000, plant).unwrap_or(usize::MAX);
            (delay, run.monitor.report().outputs[0].cause)
        })
        .collect();
    found.sort_by_key(|(delay, _)| *delay);
    found.into_iter().unzip()
}

#[test]
fn a_level_step_of_one_deviation_is_found_within_two_hundred_samples() {
    let (delays, causes) = delays(1000, Plant { level: 1.0, ..HEALTHY });
    let (median, worst) = (delays[20], delays[39]);
    // Measured: 130 and 190, of which 10 and more are the block that must end.
    assert!(median <= 160 && worst <= 250, "{median} {worst}");
    let named = causes.iter().filter(|cause| **cause == Some(DriftKind::Level)).count();
    assert!(named >= 36, "{named} of 40");
}

#[test]
fn level_gain_and_noise_are_told_apart() {
    for (plant, kind) in [
        (Plant { level: -1.0, ..HEALTHY }, DriftKind::Level),
        (Plant { gain: 1.5, ..HEALTHY }, DriftKind::Gain),
        (
            Plant {
                deviation: 2.0,
                ..HEALTHY
            },
            DriftKind::Noise,
        ),
    ] {
        let (delays, _) = delays(1000, plant);
        assert!(delays[20] <= 300, "{kind:?} {delays:?}");
        // A while later, when the last blocks are all of the new plant.
        let named = (0..20).filter(|seed| {
            let mut run = Run::new(MonitorConfig::default(), 900 + seed);
            run.go(1000, HEALTHY);
            run.go(400, plant);
            run.monitor.report().outputs[0].cause == Some(kind)
        });
        let named = named.count();
        assert!(named >= 18, "{kind:?} {named} of 20");
    }
}

#[test]
fn a_model_that_was_wrong_from_the_start_is_found_by_its_coverage() {
    let plant = Plant {
        deviation: 2.0,
        ..HEALTHY
    };
    let mut run = Run::new(MonitorConfig::default(), 3);
    assert!(run.until_refit(1000, plant).is_some_and(|samples| samples < 600));
    let report = run.monitor.report();
    let output = &report.outputs[0];
    assert_eq!(output.tests.coverage.state, Health::Refit);
    assert_eq!(output.cause, Some(DriftKind::Noise));
    assert!(report.refit_since.is_some_and(|at| at <= report.samples));
    assert!(report.reasons.len() >= 2, "{:?}", report.reasons);
}

#[test]
fn estimates_are_those_of_the_plant() {
    let plant = Plant {
        level: 2.0,
        gain: 0.25,
        deviation: 0.5,
        ..HEALTHY
    };
    let config = MonitorConfig {
        block: Some(200),
        ..MonitorConfig::default()
    };
    let mut run = Run::new(config, 4);
    run.go(4000, plant);
    let tests = run.monitor.report().outputs[0].tests;
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.06, "{found} {expected}");
    near(tests.level.now, 2.0);
    near(tests.gain.now, 0.25);
    near(tests.noise.now, 0.5);
}

fn text(report: &MonitorReport) -> String {
    serde_json::to_string(report).expect("plain numbers")
}

#[test]
fn a_monitor_that_was_saved_goes_on_as_if_nothing_had_been() {
    let plant = Plant { rho: 0.5, ..HEALTHY };
    let mut whole = Run::new(MonitorConfig::default(), 8);
    whole.go(2500, plant);
    for cut in [1, 150, 199, 200, 203, 1777] {
        let mut pieces = Run::new(MonitorConfig::default(), 8);
        pieces.go(cut, plant);
        let saved = serde_json::to_string(pieces.monitor.state()).expect("plain numbers");
        let state: MonitorState = serde_json::from_str(&saved).expect("its own state");
        pieces.monitor = Monitor::new(&model(1.0), MonitorConfig::default()).expect("sound settings");
        pieces.monitor.restore(state).expect("its own state");
        pieces.go(2500 - cut, plant);
        assert_eq!(text(&pieces.monitor.report()), text(&whole.monitor.report()), "{cut}");
        assert_eq!(pieces.monitor.state(), whole.monitor.state());
    }
}

#[test]
fn states_of_others_and_damaged_ones_are_refused() {
    let mut run = Run::new(MonitorConfig::default(), 8);
    run.go(700, HEALTHY);
    let good = serde_json::to_value(run.monitor.state()).expect("plain numbers");
    let refused = |monitor: &mut Monitor, state: &serde_json::Value| {
        let state: Result<MonitorState, _> = serde_json::from_value(state.clone());
        let Ok(state) = state else {
            return "not a state".to_owned();
        };
        let before = monitor.state().clone();
        let error = monitor.restore(state).expect_err("refused");
        assert!(matches!(error, ModelError::State(_)));
        assert_eq!(*monitor.state(), before, "it stays as it was");
        error.to_string()
    };
    let mut other = Monitor::new(&model(2.0), MonitorConfig::default()).expect("sound settings");
    assert!(refused(&mut other, &good).contains("it belongs to model"));
    let config = MonitorConfig {
        horizon: Some(1),
        ..MonitorConfig::default()
    };
    let mut ahead = Monitor::new(&model(1.0), config).expect("sound settings");
    let message = refused(&mut ahead, &good);
    assert!(
        message.contains("other settings: free runs") && message.contains("expected predictions 1 sample ahead"),
        "{message}"
    );
    for (pointer, value) in [
        ("/samples", serde_json::json!(3)),
        ("/block", serde_json::json!(0)),
        ("/outputs", serde_json::json!([])),
        ("/outputs/0/coverage/sums", serde_json::json!([1.0])),
        ("/outputs/0/coverage/now", serde_json::json!(-1.0)),
        ("/outputs/0/level_ranks/seen", serde_json::json!([2.0, 1.0])),
        ("/outputs/0/level_ranks/salt", serde_json::json!(0)),
        ("/outputs/0/all/misses", serde_json::json!(9_999_999)),
        ("/outputs/0/all/xx", serde_json::json!(-5.0)),
        ("/outputs/0/stride", serde_json::json!(0)),
        ("/waiting", serde_json::json!([[], []])),
        ("/flagged", serde_json::json!(701)),
        ("/recently_extrapolated", serde_json::json!(2.0)),
        ("/refit_at", serde_json::json!(100_000)),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).expect(pointer) = value;
        let mut monitor = Monitor::new(&model(1.0), MonitorConfig::default()).expect("sound settings");
        assert!(refused(&mut monitor, &bad).contains("not"), "{pointer}");
    }
}

/// Every number of a state in turn at the end of its type: refused, or gone on from without counting beyond it.
#[test]
fn no_number_of_a_state_can_overflow_a_monitor() {
    fn pointers(value: &serde_json::Value, at: &str, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Number(_) => found.push(at.to_owned()),
            serde_json::Value::Array(list) => {
                for (index, value) in list.iter().enumerate().take(2) {
                    pointers(value, &format!("{at}/{index}"), found);
                }
            }
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    pointers(value, &format!("{at}/{name}"), found);
                }
            }
            _ => {}
        }
    }
    let mut run = Run::new(MonitorConfig::default(), 8);
    run.go(700, HEALTHY);
    let good = serde_json::to_value(run.monitor.state()).expect("plain numbers");
    let mut places = Vec::new();
    pointers(&good, "", &mut places);
    assert!(places.len() > 60, "{places:?}");
    // The sum over all samples and their count are compared with one another: both at the end.
    let together = ["/samples", "/outputs/0/all/samples"];
    let sets = places
        .iter()
        .map(|place| vec![place.as_str()])
        .chain([together.to_vec()]);
    let mut refused = 0;
    for set in sets {
        for extreme in [serde_json::json!(u64::MAX), serde_json::json!(f64::MAX)] {
            let mut bad = good.clone();
            for place in &set {
                *bad.pointer_mut(place).expect("a number") = extreme.clone();
            }
            let Ok(state) = serde_json::from_value::<MonitorState>(bad) else {
                continue;
            };
            let mut run = Run::new(MonitorConfig::default(), 9);
            match run.monitor.restore(state) {
                Ok(()) => {
                    run.go(100, HEALTHY);
                    let _ = run.monitor.report();
                }
                Err(error) => {
                    refused += 1;
                    assert!(matches!(error, ModelError::State(_)), "{set:?}: {error}");
                }
            }
        }
    }
    assert!(refused > 40, "{refused}");
}

#[test]
fn settings_and_samples_out_of_range_are_named() {
    let refused = |config| Monitor::new(&model(1.0), config).expect_err("out of range").to_string();
    let config = MonitorConfig::default();
    assert!(
        refused(MonitorConfig {
            false_alarm: 0.0,
            ..config
        })
        .contains("false_alarm = 0")
    );
    assert!(
        refused(MonitorConfig {
            false_alarm: f64::NAN,
            ..config
        })
        .contains("false_alarm")
    );
    assert!(
        refused(MonitorConfig {
            block: Some(1),
            ..config
        })
        .contains("block = 1")
    );
    assert!(
        refused(MonitorConfig {
            horizon: Some(0),
            ..config
        })
        .contains("horizon = 0")
    );
    let mut monitor = Monitor::new(&model(1.0), config).expect("sound settings");
    let sample = |predicted: &'static [f64], measured: &'static [f64]| MonitorSample {
        predicted,
        lower: &[-1.0],
        upper: &[1.0],
        measured,
        extrapolated: Some(true),
    };
    assert!(monitor.observe(sample(&[], &[0.0])).is_err());
    let error = monitor.observe(sample(&[0.0], &[f64::NAN])).expect_err("no number");
    assert!(error.to_string().contains("'y' is NaN"), "{error}");
    assert_eq!(monitor.report().samples, 0);
    // However far away, a measurement is a number.
    for _ in 0..1000 {
        monitor.observe(sample(&[0.0], &[1e300])).expect("finite");
    }
    let report = monitor.report();
    assert_eq!(report.state, Health::Refit);
    assert_eq!(report.extrapolated, Some(1.0));
    assert!(text(&report).len() > 100 && !text(&report).contains("null,null"));
}

#[test]
fn a_long_trend_is_joined_and_keeps_its_ends() {
    let config = MonitorConfig {
        block: Some(5),
        ..MonitorConfig::default()
    };
    let mut run = Run::new(config, 4);
    run.go(5 * 3000, HEALTHY);
    let trend = &run.monitor.report().outputs[0].trend;
    assert!(trend.len() <= 400 && trend.len() >= 200, "{}", trend.len());
    assert_eq!(trend.last().map(|point| point.end), Some(15_000));
    assert!(trend.is_sorted_by_key(|point| point.end));
}

/// A record of 600 samples whose output does not follow its input.
fn noise() -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let u: Vec<f64> = (0..600).map(|_| f64::from(rng.random::<bool>())).collect();
    let y: Vec<f64> = (0..600).map(|_| rng.sample(StandardNormal)).collect();
    let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
    Dataset::new("d", inputs, outputs, None, vec![Experiment::new("e", vec![u], vec![y])]).expect("a record")
}

#[test]
fn a_simulator_watches_as_a_monitor_of_whole_records_does() {
    let model = model(0.3);
    let record = noise();
    let config = MonitorConfig::default();
    let mut whole = Monitor::new(&model, config).expect("sound settings");
    let bands = model.simulate(&record, &Part::whole(&record)).expect("free runs");
    whole.observe_band(&record, &bands[0], None, 0).expect("its record");

    let (u, y) = (record.experiments()[0].input(0), record.experiments()[0].output(0));
    let mut simulator = Simulator::monitored(&model, config).expect("an ARX model steps");
    simulator
        .reset(History {
            inputs: &u[..bands[0].first],
            outputs: &y[..bands[0].first],
        })
        .expect("enough samples");
    for k in bands[0].first..600 {
        if k == 300 {
            let saved = serde_json::to_string(&simulator.state()).expect("plain numbers");
            simulator = Simulator::monitored(&model, config).expect("an ARX model steps");
            simulator
                .restore(&serde_json::from_str(&saved).expect("its own state"))
                .expect("its own state");
            let mut without = Simulator::new(&model).expect("an ARX model steps");
            let error = without.restore(&simulator.state()).expect_err("refused");
            assert!(error.to_string().contains("it has a monitor"), "{error}");
        }
        simulator.step(&[u[k]]).expect("in range");
        simulator.observe(&[y[k]]).expect("in range");
    }
    let stepped = simulator.monitor().expect("watched").report();
    assert_eq!(stepped.samples, whole.report().samples);
    assert_eq!(stepped.state, whole.report().state);
    let [a, b] = [&stepped, &whole.report()].map(|report| report.outputs[0].tests.level.now);
    assert!((a - b).abs() < 1e-9, "{a} {b}");
}

#[test]
fn a_state_between_a_step_and_its_measurement_holds_what_was_predicted() {
    let (model, record, config) = (model(0.3), noise(), MonitorConfig::default());
    let (u, y) = (record.experiments()[0].input(0), record.experiments()[0].output(0));
    let fresh = || Simulator::monitored(&model, config).expect("an ARX model steps");
    let mut started = fresh();
    let history = History {
        inputs: &u[..1],
        outputs: &y[..1],
    };
    started.reset(history).expect("enough samples");
    let mut one = started.clone();
    let mut saved = serde_json::to_string(&started.state()).expect("plain numbers");
    for k in 1..600 {
        one.step(&[u[k]]).expect("in range");
        one.observe(&[y[k]]).expect("after a step");
        // Elsewhere every sample is a program of its own: what was measured, the next step, and the state again.
        let mut next = fresh();
        next.restore(&serde_json::from_str(&saved).expect("a state"))
            .expect("its own state");
        if k > 1 {
            next.observe(&[y[k - 1]]).expect("after a step");
        }
        next.step(&[u[k]]).expect("in range");
        saved = serde_json::to_string(&next.state()).expect("plain numbers");
    }
    let mut last = fresh();
    last.restore(&serde_json::from_str(&saved).expect("a state"))
        .expect("its own state");
    last.observe(&[y[599]]).expect("after a step");
    let report = |simulator: &Simulator| simulator.monitor().expect("watched").report();
    assert_eq!(report(&last), report(&one));

    // Earlier versions did not store it: a measurement cannot be judged before the next step.
    let mut earlier: serde_json::Value = serde_json::from_str(&saved).expect("JSON");
    let predicted = earlier.as_object_mut().and_then(|state| state.remove("predicted"));
    assert!(predicted.is_some(), "{saved}");
    let mut old = fresh();
    old.restore(&serde_json::from_value(earlier.clone()).expect("a state of an earlier version"))
        .expect("still read");
    let error = old.observe(&[y[599]]).expect_err("nothing to compare with");
    assert!(
        error.to_string().contains("did not store what was predicted"),
        "{error}"
    );
    old.step(&[0.0]).expect("in range");
    old.observe(&[0.0]).expect("after a step");

    // Bounds out of order, and those of another number of outputs, come from no step.
    for damaged in [serde_json::json!([[1.0, 0.0, 2.0]]), serde_json::json!([])] {
        earlier["predicted"] = damaged;
        let state = serde_json::from_value(earlier.clone()).expect("a state");
        assert!(matches!(fresh().restore(&state), Err(ModelError::State(_))));
    }
}

/// The same model with a band of the size it has, calibrated for all outputs together or for each.
pub(crate) fn calibrated(model: &Model, together: bool) -> Model {
    let block = BlockScores {
        error: (0..50).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 }).collect(),
        below: vec![1.0; 50],
        above: vec![1.0; 50],
    };
    let outputs = model.interface().outputs.len();
    let target = CoverageTarget { share: 0.9, together };
    let found = calibrate((&vec![vec![block; 5]; outputs], &[]), &vec![0.0; outputs], target, 1);
    assert_eq!((found.together, found.outputs[0].upper), (together, 1.0));
    model.clone().calibrated(Some(found)).expect("sound")
}

#[test]
fn a_promise_of_all_outputs_together_is_tested_of_all_together() {
    let record = {
        let columns: Vec<Vec<f64>> = (0..2)
            .map(|shift| (0..40).map(|k| f64::from((k + shift) % 4 - 1)).collect())
            .collect();
        let channels = |names: [&str; 2]| names.map(Channel::new).to_vec();
        let experiment = Experiment::new("e", columns.clone(), columns);
        Dataset::new("d", channels(["u", "v"]), channels(["y", "z"]), None, vec![experiment]).expect("a record")
    };
    let normaliser = Normaliser::fit(&record, &Part::whole(&record)).expect("channels that move");
    let arx = ArxModel {
        lags: Lags { nx: 0, nd: 0, ny: 1 },
        coefficients: vec![vec![0.5, 0.0, 0.1, 0.0], vec![0.0, 0.5, 0.0, 0.1]],
        bias: vec![0.0; 2],
    };
    let model = Model::from_arx(&record, normaliser, vec![arx], vec![1.0; 2], &FitConfig::default());
    let watched = |together: bool| {
        let mut monitor = Monitor::new(&calibrated(&model, together), MonitorConfig::default()).expect("settings");
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..3000 {
            // 87 % of each output are inside, 76 % of both.
            let measured = [rng.sample(StandardNormal), rng.sample(StandardNormal)];
            let sample = MonitorSample {
                predicted: &[0.0; 2],
                lower: &[-1.514; 2],
                upper: &[1.514; 2],
                measured: &measured,
                extrapolated: None,
            };
            monitor.observe(sample).expect("finite numbers");
        }
        monitor.report()
    };
    let each = watched(false);
    assert_eq!(each.state, Health::Ok, "{:?}", each.reasons);
    let all = watched(true);
    assert_eq!(all.state, Health::Refit);
    for (of_each, of_all) in each.outputs.iter().zip(&all.outputs) {
        let [of_each, of_all] = [of_each, of_all].map(|output| output.coverage.expect("samples"));
        assert!((of_each - 0.87).abs() < 0.02, "{of_each}");
        assert!((of_all - 0.757).abs() < 0.025, "{of_all}");
    }
    let told = all
        .reasons
        .iter()
        .filter(|reason| reason.contains("all outputs together"));
    assert_eq!(told.count(), 1, "{:?}", all.reasons);
}
