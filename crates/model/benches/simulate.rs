//! Free run with bands of a million samples, and how the cost of an epoch grows with the number of windows.
//!
//! `cargo bench -p intervalid-model --bench simulate`, one thread.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::time::Instant;

use intervalid_data::{Channel, Dataset, Experiment, Lags, Part, Segment, Split, SplitFractions, WindowConfig};
use intervalid_model::{FitConfig, FitOptions, IntervalModel, ModelKind, Strategy, fit};

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

fn trained(dataset: &Dataset, split: &Split, config: &FitConfig) -> (IntervalModel<f32>, f64) {
    match fit::<f32>(dataset, split, config, FitOptions::default()) {
        Ok((model, info)) => (model, info.duration.as_secs_f64()),
        Err(error) => panic!("{error}"),
    }
}

fn main() {
    println!("| free run with band, one million samples | best of 3, s | million steps per s |");
    println!("|---|---|---|");
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
        let config = FitConfig {
            model: network,
            hidden,
            lags,
            epochs: 1,
            strategy: Strategy::Joint,
            ..FitConfig::default()
        };
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
        println!("| {name} | {best:.2} | {:.2} |", 1.0 / best);
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
            let config = FitConfig {
                epochs,
                window,
                strategy: Strategy::Joint,
                ..FitConfig::default()
            };
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
