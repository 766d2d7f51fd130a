//! What the default search reaches on records without looking at their test parts.
//!
//! ```text
//! cargo run --release -p intervalid-search --example inner_cuts -- [--budget SECONDS] [--from 0] [--share 0.6] [--cut 0.6] [--threads 2] [--seed 1] [--table N] FILES
//! ```
//!
//! The first `--share` of each record (its training and validation parts; with `--from` what lies between the two) is cut again: the search sees the first 60 % of it (`--cut`)
//! and is judged on the rest, by a free run; with `--cut 1` nothing is judged. Prints one row per record: root mean square errors in standard deviations of the
//! samples that were searched on, the coverage of the band, the time, and the model; with `--table` the best candidates as well.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use std::error::Error;
use std::time::{Duration, Instant};

use intervalid_data::{Dataset, Part, ReadOptions, Segment, Split, SplitFractions, read};
use intervalid_model::{Control, align, evaluate};
use intervalid_search::{SearchConfig, SearchOptions, search};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse()?;
    println!("| record | RMSE | of each output | held-out score | inside % | candidates | s | model |");
    println!("|---|---|---|---|---|---|---|---|");
    for file in &arguments.files {
        let name = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".csv");
        let dataset = read(&[file], &ReadOptions::default())?;
        row(name, &dataset, &inner(&dataset, &arguments)?, &arguments)?;
    }
    Ok(())
}

struct Arguments {
    files: Vec<String>,
    budget: Option<Duration>,
    from: f64,
    share: f64,
    cut: f64,
    threads: usize,
    seed: u64,
    table: usize,
}

impl Arguments {
    fn parse() -> Result<Self, Box<dyn Error>> {
        let mut found = Self {
            files: Vec::new(),
            budget: None,
            from: 0.0,
            share: 0.6,
            cut: 0.6,
            threads: 2,
            seed: 1,
            table: 0,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--budget" => found.budget = Some(Duration::try_from_secs_f64(value()?.parse()?)?),
                "--from" => found.from = value()?.parse()?,
                "--share" => found.share = value()?.parse()?,
                "--cut" => found.cut = value()?.parse()?,
                "--threads" => found.threads = value()?.parse()?,
                "--seed" => found.seed = value()?.parse()?,
                "--table" => found.table = value()?.parse()?,
                option if option.starts_with("--") => return Err(format!("unknown option {option}").into()),
                file => found.files.push(file.to_owned()),
            }
        }
        if found.files.is_empty() {
            return Err("name files of data".into());
        }
        Ok(found)
    }
}

/// The last of the training and validation parts in the role of the test part.
fn inner(dataset: &Dataset, arguments: &Arguments) -> Result<Split, Box<dyn Error>> {
    let (first, seen) = (arguments.from / arguments.share, arguments.cut);
    let all = Split::new(dataset, SplitFractions::from_training_share(arguments.share)?)?.train_and_validation();
    let cut = |from: f64, to: f64| {
        let piece = |segment: &Segment| {
            let place = |share: f64| {
                let share = first + (1.0 - first) * share;
                segment.start + (segment.len() as f64 * share).round() as usize
            };
            Segment {
                start: place(from),
                end: place(to),
                ..*segment
            }
        };
        Part::from_segments(all.segments().iter().map(piece).collect())
    };
    Ok(Split {
        train: cut(0.0, 5.0 / 6.0 * seen),
        validation: cut(5.0 / 6.0 * seen, seen),
        test: cut(seen, 1.0),
    })
}

fn row(name: &str, dataset: &Dataset, split: &Split, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let config = SearchConfig {
        seed: arguments.seed,
        ..SearchConfig::default()
    };
    let started = Instant::now();
    let options = SearchOptions {
        threads: arguments.threads,
        control: Control {
            deadline: arguments.budget.and_then(|budget| started.checked_add(budget)),
            ..Control::default()
        },
    };
    let found = search(dataset, split, &config, &options)?;
    let seconds = started.elapsed().as_secs_f64();
    let bands = match split.test.is_empty() {
        true => Vec::new(),
        false => found.model.simulate(dataset, &split.test)?,
    };
    let mut squares = Vec::new();
    for (output, scale) in found.model.interface().normaliser.outputs.iter().enumerate() {
        let (mut sum, mut count) = (0.0, 0_usize);
        for run in align(dataset, &bands, output)? {
            let errors = run.target.iter().zip(run.centre).map(|(y, p)| (y - p) / scale.std);
            sum += errors.map(|e| e * e).sum::<f64>();
            count += run.target.len();
        }
        squares.push(sum / count.max(1) as f64);
    }
    let rmse = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    let each: Vec<String> = squares.iter().map(|square| format!("{:.4}", square.sqrt())).collect();
    let inside = match split.test.is_empty() {
        true => None,
        false => evaluate(dataset, &bands, config.coverage)?.all.picp,
    };
    let chosen = &found.info.candidates[0];
    println!(
        "| {name} | {rmse:.4} | {} | {:.4} | {:.1} | {} | {seconds:.1} | {}, {} members, {} rounds, {} |",
        each.join(" "),
        chosen.score.unwrap_or(f64::NAN),
        100.0 * inside.unwrap_or(f64::NAN),
        found.info.candidates.len(),
        chosen.name,
        found.info.members,
        found.info.rounds,
        found.model.config().initial,
    );
    if arguments.table > 0 {
        println!("  {}; work {:.2e}", found.info.why, found.info.work);
        if let Some(warning) = &found.info.warning {
            println!("  warning: {warning}");
        }
        for candidate in found.info.candidates.iter().take(arguments.table) {
            println!(
                "  {:.4} {:.4} {:.4} {:6.1} s {}",
                candidate.score.unwrap_or(f64::NAN),
                candidate.rmse,
                candidate.forward.unwrap_or(f64::NAN),
                candidate.seconds,
                candidate.name
            );
        }
    }
    Ok(())
}
