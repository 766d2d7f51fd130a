//! Searches a neural state-space model of a record within a time budget, on its training and validation parts alone.
//!
//! ```text
//! cargo run --release -p intervalid-search --example state_space -- DATA.csv [--budget SECONDS] [--share SHARE]
//!     [--threads N] [--seed N] [--network STATES,UNITS,UNITS,PENALTY]
//! ```
//!
//! The first `--share` of the record (0.6) is its training and validation parts; what comes after is not used. Models are fitted and
//! chosen on the first 60 % of that, and the other 40 % judges them once: RMSE of a free run in standard deviations, from
//! the state that the last 100 samples before imply. With `--network` nothing is searched: one network with these units in the
//! state and output map is fitted beside a linear model, which is what a record of 10⁵ samples has time for.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

mod one_network;
mod report;
mod search;

use std::error::Error;
use std::time::{Duration, Instant};

use intervalid_data::{Dataset, Normaliser, Part, ReadOptions, Scale, Segment, Split, SplitFractions, read};
use intervalid_search::state_space::{Divisions, Effort, Run, runs_of};

use one_network::OneNetwork;
use report::Judge;
use search::Search;

/// Share of the training and validation parts that models are fitted on.
const BEFORE_CUT: f64 = 0.6;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse()?;
    let dataset = read(&[&arguments.file], &ReadOptions::default())?;
    let record = Record::new(&dataset, arguments.share)?;
    let divisions = Divisions::new(&record.before)?;
    let judge = Judge::new(&record, &divisions);
    if let Some(network) = arguments.network {
        return Ok(network.fit_and_print(&record.before, &judge, arguments.budget)?);
    }
    let search = Search {
        divisions: &divisions,
        effort: Effort::for_runs(&record.before),
        runs: &record.before,
        started: Instant::now(),
        budget: arguments.budget,
        threads: arguments.threads,
    };
    let mut candidates = search.run(arguments.seed);
    candidates.sort_by(|a, b| a.score.total_cmp(&b.score));
    let samples = |runs: &[Run]| runs.iter().map(Run::len).sum::<usize>();
    println!(
        "{}: {} candidates in {:.0} s from {} samples, judged on the {} after them",
        arguments.file,
        candidates.len(),
        search.started.elapsed().as_secs_f64(),
        samples(&record.before),
        samples(&record.whole) - samples(&record.before),
    );
    judge.print(&candidates);
    Ok(())
}

struct Arguments {
    file: String,
    budget: Duration,
    share: f64,
    threads: usize,
    seed: u64,
    network: Option<OneNetwork>,
}

impl Arguments {
    fn parse() -> Result<Self, Box<dyn Error>> {
        let mut found = Self {
            file: String::new(),
            budget: Duration::from_secs(60),
            share: 0.6,
            threads: 2,
            seed: 1,
            network: None,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--budget" => found.budget = Duration::try_from_secs_f64(value()?.parse()?)?,
                "--share" => found.share = value()?.parse()?,
                "--threads" => found.threads = value()?.parse()?,
                "--seed" => found.seed = value()?.parse()?,
                "--network" => found.network = Some(value()?.parse()?),
                option if option.starts_with("--") => return Err(format!("unknown option {option}").into()),
                file => found.file = file.to_owned(),
            }
        }
        if found.file.is_empty() {
            return Err("name a file of data".into());
        }
        Ok(found)
    }
}

/// Training and validation parts, normalised by what lies before the cut.
struct Record {
    /// What models are fitted and chosen on, one run per experiment.
    before: Vec<Run>,
    /// The same runs and what comes after the cut.
    whole: Vec<Run>,
    /// Scales of the outputs.
    outputs: Vec<Scale>,
}

impl Record {
    fn new(dataset: &Dataset, share: f64) -> Result<Self, Box<dyn Error>> {
        let split = Split::new(dataset, SplitFractions::from_training_share(share)?)?;
        let whole = split.train_and_validation();
        let shorten = |segment: &Segment| Segment {
            end: segment.start + (segment.len() as f64 * BEFORE_CUT).round() as usize,
            ..*segment
        };
        let before = Part::from_segments(whole.segments().iter().map(shorten).collect());
        let normaliser = Normaliser::fit(dataset, &before)?;
        let scaled = normaliser.scale::<f64>(dataset);
        Ok(Self {
            before: runs_of(&scaled, &before, 0),
            whole: runs_of(&scaled, &whole, 0),
            outputs: normaliser.outputs,
        })
    }
}
