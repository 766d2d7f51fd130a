//! Free run with bands of a million samples, as a whole and step by step, and how the cost of an epoch grows with the number
//! of windows.
//!
//! `cargo bench -p intervalid-model --bench simulate`, one thread.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::time::Instant;

use intervalid_data::{Channel, Dataset, Experiment, Lags, Part, Segment, Split, SplitFractions, WindowConfig};
use intervalid_model::{FitConfig, FitOptions, History, Model, ModelKind, Simulator, Strategy};

fn record(samples: usize) -> Dataset {
    let u: Vec<f64> = (0..samples)
        .map(|k| (0.07 * k as f64).sin() + (0.031 * k as f64).cos())
        .collect();
    let y: Vec<f64> = (0..samples).map(|k| (0.07 * k as f64 - 0.5).sin()).collect();
    let experiment = Experiment::new("wave", vec![u], vec![y]);
    Dataset::new(
        "wave",
        vec![Channel::new("u")],
        vec![Channel::new("y")],
        None,
        vec![experiment],
    )
    .unwrap_or_else(|error| panic!("made-up record: {error}"))
}

fn trained(dataset: &Dataset, split: &Split, config: &FitConfig) -> (Model, f64) {
    match Model::fit(dataset, split, config, FitOptions::default()) {
        Ok((model, info)) => (model, info.duration.as_secs_f64()),
        Err(error) => panic!("{error}"),
    }
}

/// A million steps of a simulator: seconds in all, and the median and 99.9 % quantile of one step in µs, clock included.
fn step_by_step(model: &Model, inputs: &[f64]) -> [f64; 3] {
    let mut simulator = Simulator::new(model).unwrap_or_else(|error| panic!("{error}"));
    let past = History {
        inputs: &inputs[..1],
        outputs: &[0.0],
    };
    let mut best = f64::INFINITY;
    let mut single = vec![0_u64; inputs.len()];
    for is_timed_singly in [false, false, true] {
        simulator.reset(past).unwrap_or_else(|error| panic!("{error}"));
        let start = Instant::now();
        for (u, nanoseconds) in inputs.iter().zip(&mut single) {
            let step = is_timed_singly.then(Instant::now);
            if let Err(error) = simulator.step(std::slice::from_ref(u)) {
                panic!("{error}");
            }
            if let Some(step) = step {
                *nanoseconds = step.elapsed().as_nanos() as u64;
            }
        }
        if !is_timed_singly {
            best = best.min(start.elapsed().as_secs_f64());
        }
    }
    single.sort_unstable();
    let quantile = |share: f64| single[(share * (single.len() - 1) as f64) as usize] as f64 * 1e-3;
    [best, quantile(0.5), quantile(0.999)]
}

fn main() {
    println!("| with band, one million samples | whole run, s | step by step, s | one step: median, µs | 99.9 %, µs |");
    println!("|---|---|---|---|---|");
    let dataset = record(1_000_001);
    let first = |end| {
        Part::from_segments(vec![Segment {
            experiment: 0,
            start: 0,
            end,
        }])
    };
    let next = Part::from_segments(vec![Segment {
        experiment: 0,
        start: 400,
        end: 500,
    }]);
    let split = Split {
        train: first(400),
        validation: next.clone(),
        test: next,
    };
    for (name, network, hidden) in [
        ("INODE 40-40", ModelKind::Inode, vec![40, 40]),
        ("ILSTM 30-10", ModelKind::Ilstm, vec![30, 10]),
    ] {
        let lags = Lags { nx: 2, nd: 0, ny: 1 };
        let config = FitConfig::default().with(|config| {
            config.model = network;
            config.network.hidden = hidden;
            config.lags = lags;
            config.training.epochs = 1;
            config.interval.strategy = Strategy::Joint;
        });
        let (model, _) = trained(&dataset, &split, &config);
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let start = Instant::now();
            let bands = model.simulate(&dataset, &Part::whole(&dataset)).unwrap_or_default();
            assert_eq!(
                bands.iter().map(|band| band.len()).sum::<usize>(),
                1_000_000,
                "the run reached the end"
            );
            best = best.min(start.elapsed().as_secs_f64());
        }
        let [steps, median, tail] = step_by_step(&model, &dataset.experiments()[0].input(0)[1..]);
        println!("| {name} | {best:.2} | {steps:.2} | {median:.2} | {tail:.2} |");
    }

    println!("\n| windows | joint INODE 40-40, ms per epoch | µs per window |");
    println!("|---|---|---|");
    for samples in [1_000, 2_000, 4_000, 8_000, 16_000] {
        let dataset = record(samples + 100);
        let share = samples as f64 / (samples + 100) as f64;
        let fractions = SplitFractions {
            train: share,
            validation: 1.0 - share,
            test: 0.0,
        };
        let split = Split::new(&dataset, fractions).unwrap_or_else(|error| panic!("{error}"));
        let window = WindowConfig { length: 40, step: 5 };
        let time = |epochs| {
            let config = FitConfig::default().with(|config| {
                config.training.epochs = epochs;
                config.training.window = window;
                config.interval.strategy = Strategy::Joint;
            });
            trained(&dataset, &split, &config).1
        };
        // The difference of two lengths leaves out what is done once.
        let per_epoch = (0..3).map(|_| (time(7) - time(2)) / 5.0).fold(f64::INFINITY, f64::min);
        let windows = (samples - 40) / 5;
        println!(
            "| {windows} | {:.1} | {:.1} |",
            per_epoch * 1e3,
            per_epoch * 1e6 / windows as f64
        );
    }
}
