//! What the default search reaches on records without looking at their test parts.
//!
//! ```text
//! cargo run --release -p intervalid-search --example inner_cuts -- [--budget SECONDS] [--rounds N] [--from 0] [--share 0.6] [--cut 0.6] [--threads 2] [--seed 1] [--table N] [--journals DIR] FILES
//! ```
//!
//! The first `--share` of each record (its training and validation parts; with `--from` what lies between the two) is cut again: the search sees the first 60 % of it (`--cut`)
//! and is judged on the rest, by a free run; with `--cut 1` nothing is judged. Prints one row per record: root mean square errors in standard deviations of the
//! samples that were searched on, the share inside the bands, offline and online, of each output, the mean interval score of the offline one in the
//! same unit, the time, and the model; then the share inside the light band, its error against the full model's and its members, and the share inside the bands of predictions 1, 5, 20 and 100 samples ahead, the mean over outputs;
//! with `--table` the best candidates as well. What was searched is kept in the folder `--journals`, so that a changed end of the search is judged in seconds. The last lines have the bands of all outputs together.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use intervalid_data::{Dataset, Part, ReadOptions, Segment, Split, SplitFractions, read};
use intervalid_model::{Band, Control, Model, align};
use intervalid_search::{SearchConfig, SearchOptions, search};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse()?;
    println!(
        "| record | RMSE | of each output | held-out score | inside % | online % | interval score | candidates | s | model | light % | its RMSE / full | members | ahead % |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut all = Vec::new();
    for file in &arguments.files {
        let name = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".csv");
        let dataset = read(&[file], &ReadOptions::default())?;
        all.extend(row(name, &dataset, &inner(&dataset, &arguments)?, &arguments)?);
    }
    println!("{}", Bands(&all));
    Ok(())
}

struct Arguments {
    files: Vec<String>,
    budget: Option<Duration>,
    rounds: usize,
    from: f64,
    share: f64,
    cut: f64,
    threads: usize,
    seed: u64,
    table: usize,
    journals: Option<PathBuf>,
}

impl Arguments {
    fn parse() -> Result<Self, Box<dyn Error>> {
        let mut found = Self {
            files: Vec::new(),
            budget: None,
            rounds: SearchConfig::default().rounds,
            from: 0.0,
            share: 0.6,
            cut: 0.6,
            threads: 2,
            seed: 1,
            table: 0,
            journals: None,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--budget" => found.budget = Some(Duration::try_from_secs_f64(value()?.parse()?)?),
                "--rounds" => found.rounds = value()?.parse()?,
                "--from" => found.from = value()?.parse()?,
                "--share" => found.share = value()?.parse()?,
                "--cut" => found.cut = value()?.parse()?,
                "--threads" => found.threads = value()?.parse()?,
                "--seed" => found.seed = value()?.parse()?,
                "--table" => found.table = value()?.parse()?,
                "--journals" => found.journals = Some(value()?.into()),
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

/// Horizons of predictions ahead.
const AHEAD: [usize; 4] = [1, 5, 20, 100];

/// Shares of an output inside its bands.
struct Inside {
    offline: f64,
    online: f64,
    light: f64,
    /// Of the light model's error against the full one's.
    light_error: f64,
    /// At the horizons of [`AHEAD`].
    ahead: [f64; 4],
    /// The same with bands that the data of the fit sized.
    ahead_in_sample: [f64; 4],
}

/// How often bands held, in words.
struct Bands<'a>(&'a [Inside]);

impl std::fmt::Display for Bands<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.0.len().max(1) as f64;
        let share =
            |of: &dyn Fn(&Inside) -> bool| 100.0 * self.0.iter().filter(|inside| of(inside)).count() as f64 / count;
        let distance = |of: &dyn Fn(&Inside) -> f64| {
            100.0 * self.0.iter().map(|inside| (of(inside) - 0.9).abs()).sum::<f64>() / count
        };
        write!(
            f,
            "{} outputs at 90 %: offline {:.0} % of them have 85 % or more inside, {:.1} points from 90 on the average; online {:.0} % lie \
             within 3 points, {:.1} on the average",
            self.0.len(),
            share(&|inside| inside.offline >= 0.85),
            distance(&|inside| inside.offline),
            share(&|inside| (inside.online - 0.9).abs() <= 0.03),
            distance(&|inside| inside.online),
        )?;
        let mean = |of: &dyn Fn(&Inside) -> f64| self.0.iter().map(of).sum::<f64>() / count;
        write!(
            f,
            "\nlight: {:.0} % have 85 % or more inside, {:.1} points from 90, error {:.3} of the full model's",
            share(&|inside| inside.light >= 0.85),
            distance(&|inside| inside.light),
            mean(&|inside| inside.light_error.ln()).exp(),
        )?;
        for (place, horizon) in AHEAD.iter().enumerate() {
            write!(
                f,
                "\n{horizon} ahead: mean {:.1} % inside, {:.0} % of outputs have 85 % or more, {:.1} points from 90; sized by the data of the \
                 fit {:.1} %, {:.0} %, {:.1}",
                100.0 * mean(&|inside| inside.ahead[place]),
                share(&|inside| inside.ahead[place] >= 0.85),
                distance(&|inside| inside.ahead[place]),
                100.0 * mean(&|inside| inside.ahead_in_sample[place]),
                share(&|inside| inside.ahead_in_sample[place] >= 0.85),
                distance(&|inside| inside.ahead_in_sample[place]),
            )?;
        }
        Ok(())
    }
}

fn row(name: &str, dataset: &Dataset, split: &Split, arguments: &Arguments) -> Result<Vec<Inside>, Box<dyn Error>> {
    let config = SearchConfig {
        seed: arguments.seed,
        rounds: arguments.rounds,
        ..SearchConfig::default()
    };
    let started = Instant::now();
    let journal = arguments.journals.as_ref().map(|folder| {
        let cut = (arguments.from, arguments.share, arguments.cut);
        folder.join(format!("{name}-{}-{}-{}", cut.0, cut.1, cut.2))
    });
    let options = SearchOptions {
        threads: arguments.threads,
        control: Control {
            deadline: arguments.budget.and_then(|budget| started.checked_add(budget)),
            ..Control::default()
        },
        journal: journal.as_deref(),
    };
    let found = search(dataset, split, &config, &options)?;
    let seconds = started.elapsed().as_secs_f64();
    let bands = match split.test.is_empty() {
        true => Vec::new(),
        false => found.model.simulate(dataset, &split.test)?,
    };
    let online = found.model.online(dataset, &bands)?;
    let light_model = found.model.light()?;
    let of_test = |run: &dyn Fn() -> Result<Vec<Band>, intervalid_model::ModelError>| match split.test.is_empty() {
        true => Ok(Vec::new()),
        false => run(),
    };
    let light = of_test(&|| light_model.simulate(dataset, &split.test))?;
    let fitted = split.train_and_validation();
    let in_sample = found.model.clone().with_horizon_scales(None)?;
    let in_sample = in_sample.with_horizons(dataset, &fitted)?;
    let ahead = |model: &Model| -> Result<Vec<Vec<Band>>, Box<dyn Error>> {
        let at = |horizon: usize| Ok(of_test(&|| model.predict_ahead(dataset, &split.test, horizon))?);
        AHEAD.into_iter().map(at).collect()
    };
    let (ahead, ahead_in_sample) = (ahead(&found.model)?, ahead(&in_sample)?);
    let (mut squares, mut inside, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    for (output, scale) in found.model.interface().normaliser.outputs.iter().enumerate() {
        let (mut sum, mut count) = (0.0, 0_usize);
        for run in align(dataset, &bands, output)? {
            let errors = run.target.iter().zip(run.centre).map(|(y, p)| (y - p) / scale.std);
            sum += errors.map(|e| e * e).sum::<f64>();
            count += run.target.len();
        }
        squares.push(sum / count.max(1) as f64);
        let share = |bands: &[Band]| -> Result<f64, Box<dyn Error>> {
            let runs = align(dataset, bands, output)?;
            let hits = runs.iter().flat_map(|run| {
                let bounds = run.lower.iter().zip(run.upper);
                run.target
                    .iter()
                    .zip(bounds)
                    .filter(|(y, (lower, upper))| lower <= y && y <= upper)
            });
            Ok(hits.count() as f64 / count.max(1) as f64)
        };
        if count > 0 {
            let error = |bands: &[Band]| -> Result<f64, Box<dyn Error>> {
                let runs = align(dataset, bands, output)?;
                let errors = runs.iter().flat_map(|run| run.target.iter().zip(run.centre));
                Ok(errors.map(|(y, p)| (y - p).powi(2)).sum::<f64>().sqrt())
            };
            let shares = |of: &[Vec<Band>]| -> Result<[f64; 4], Box<dyn Error>> {
                let mut shares = [0.0; 4];
                for (to, bands) in shares.iter_mut().zip(of) {
                    *to = share(bands)?;
                }
                Ok(shares)
            };
            inside.push(Inside {
                offline: share(&bands)?,
                online: share(&online)?,
                light: share(&light)?,
                light_error: error(&light)? / error(&bands)?,
                ahead: shares(&ahead)?,
                ahead_in_sample: shares(&ahead_in_sample)?,
            });
            let misses = 2.0 / (1.0 - config.coverage);
            let mut score = 0.0;
            for run in align(dataset, &bands, output)? {
                for (y, (lower, upper)) in run.target.iter().zip(run.lower.iter().zip(run.upper)) {
                    score += upper - lower + misses * ((lower - y).max(0.0) + (y - upper).max(0.0));
                }
            }
            scores.push(format!("{:.4}", score / (scale.std * count as f64)));
        }
    }
    let rmse = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    let each: Vec<String> = squares.iter().map(|square| format!("{:.4}", square.sqrt())).collect();
    let shares = |of: &dyn Fn(&Inside) -> f64| {
        let shares: Vec<String> = inside
            .iter()
            .map(|inside| format!("{:.1}", 100.0 * of(inside)))
            .collect();
        shares.join(" ")
    };
    let chosen = &found.info.candidates[0];
    let mean_of =
        |place: usize| inside.iter().map(|inside| inside.ahead[place]).sum::<f64>() / inside.len().max(1) as f64;
    let mean_ahead: Vec<String> = (0..AHEAD.len())
        .map(|place| format!("{:.1}", 100.0 * mean_of(place)))
        .collect();
    let errors: Vec<String> = inside
        .iter()
        .map(|inside| format!("{:.3}", inside.light_error))
        .collect();
    println!(
        "| {name} | {rmse:.4} | {} | {:.4} | {} | {} | {} | {} | {seconds:.1} | {}, {} members, {} rounds, {} | {} | {} | {} of {} | {} |",
        each.join(" "),
        chosen.score.unwrap_or(f64::NAN),
        shares(&|inside| inside.offline),
        shares(&|inside| inside.online),
        scores.join(" "),
        found.info.candidates.len(),
        chosen.name,
        found.info.members,
        found.info.rounds,
        found.model.config().initial,
        shares(&|inside| inside.light),
        errors.join(" "),
        light_model.members(),
        found.model.members(),
        mean_ahead.join(" "),
    );
    if arguments.table > 0 {
        println!("  {}; work {:.2e}", found.info.why, found.info.work);
        for finding in &found.info.findings {
            println!("  {}: {}", finding.kind.name(), finding.text);
        }
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
    Ok(inside)
}
