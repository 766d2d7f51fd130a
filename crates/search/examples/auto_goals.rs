//! The figures of `docs/results/history.md`: `auto` on the four records of the paper, mean of seeds 1, 2 and 3.
//!
//! ```text
//! cargo run --release -p intervalid-search --example auto_goals -- DATA_DIR          test parts, the final table
//! cargo run --release -p intervalid-search --example auto_goals -- DATA_DIR inner    inside the training parts, for tuning
//! ```
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use intervalid_data::{Dataset, Part, ReadOptions, Segment, Split, known_dataset, load};
use intervalid_model::{Metrics, evaluate};
use intervalid_search::{SearchConfig, SearchOptions, search};

const RECORDS: [&str; 4] = ["hair-dryer", "robot-arm", "mr-damper", "heat-exchanger"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().ok_or("name the folder of the data sets")?;
    let is_inner = arguments.get(1).is_some_and(|mode| mode == "inner");
    let seeds: u64 = arguments.get(2).map_or(Ok(3), |seeds| seeds.parse())?;
    let only = arguments.get(3);
    for coverage in [0.9, 0.95] {
        println!(
            "\n| coverage {coverage} | 100·RMSE | PICP | PINAW | CWC | online PICP | online PINAW | online CWC | s | model |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|");
        for name in RECORDS {
            if only.is_some_and(|only| only != name) {
                continue;
            }
            let dataset = load(&[name], Some(Path::new(folder)), &ReadOptions::default())?;
            let known = known_dataset(name).ok_or("known")?;
            let mut split = Split::new(&dataset, known.split())?;
            if is_inner {
                split = inner(&split);
            }
            row(name, &dataset, &split, coverage, seeds)?;
        }
    }
    Ok(())
}

/// The last 30 % of the training and validation parts in the role of the test part.
fn inner(split: &Split) -> Split {
    let all = split.train.followed_by(&split.validation);
    let cut = |from: f64, to: f64| {
        let piece = |segment: &Segment| {
            let place = |share: f64| segment.start + (segment.len() as f64 * share).round() as usize;
            Segment {
                start: place(from),
                end: place(to),
                ..*segment
            }
        };
        Part::from_segments(all.segments().iter().map(piece).collect())
    };
    Split {
        train: cut(0.0, 0.56),
        validation: cut(0.56, 0.7),
        test: cut(0.7, 1.0),
    }
}

fn row(name: &str, dataset: &Dataset, split: &Split, coverage: f64, seeds: u64) -> Result<(), Box<dyn Error>> {
    let (mut offline, mut online) = (Vec::new(), Vec::new());
    let started = Instant::now();
    let mut models = Vec::new();
    for seed in 1..=seeds {
        let config = SearchConfig {
            coverage,
            seed,
            ..SearchConfig::default()
        };
        let options = SearchOptions {
            threads: 2,
            ..SearchOptions::default()
        };
        let fit = search(dataset, split, &config, &options)?;
        let bands = fit.model.simulate(dataset, &split.test)?;
        offline.push(evaluate(dataset, &bands, coverage)?.all);
        online.push(evaluate(dataset, &fit.model.online(dataset, &bands)?, coverage)?.all);
        let chosen = &fit.info.candidates[0];
        models.push(format!("{} {:?} lags {}", chosen.model, chosen.hidden, chosen.lags));
    }
    let mean = |all: &[Metrics], of: fn(&Metrics) -> Option<f64>| -> f64 {
        all.iter().map(|metrics| of(metrics).unwrap_or(f64::NAN)).sum::<f64>() / all.len() as f64
    };
    println!(
        "| {name} | {:.2} | {:.1} | {:.1} | {:.3} | {:.1} | {:.1} | {:.3} | {:.0} | {} |",
        100.0 * mean(&offline, |m| m.rmse),
        100.0 * mean(&offline, |m| m.picp),
        100.0 * mean(&offline, |m| m.pinaw),
        mean(&offline, |m| m.cwc),
        100.0 * mean(&online, |m| m.picp),
        100.0 * mean(&online, |m| m.pinaw),
        mean(&online, |m| m.cwc),
        started.elapsed().as_secs_f64() / seeds as f64,
        models.join("; ")
    );
    Ok(())
}
