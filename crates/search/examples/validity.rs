//! How often the bands of `auto` hold where the truth is known: many synthetic records of each kind of change.
//!
//! ```text
//! cargo run --release -p intervalid-search --example validity -- [--records 100] [--samples 1000] [--threads 2] [--model arx]
//! ```
//!
//! Every record is a noisy linear plant that stays as it is, or whose level wanders, gain falls or noise grows. The search sees the first
//! 70 % of it and is judged on the rest, asked for 90 %. A row has, over all records of a kind, the mean share inside with twice its
//! standard error, the share of records with 85 % or more inside, and the mean width against the narrowest constant band that would have
//! held 90 % around the same predictions; offline, then online from the 100th sample on, with the light band, and 1, 5, 20 and 100 samples ahead. Without `--model arx` the whole search runs, which
//! takes up to two minutes for each record.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use std::error::Error;

use intervalid_data::{Channel, Dataset, Experiment, LinearSystem, Split, SplitFractions};
use intervalid_model::{Band, ModelKind, align, quantile};
use intervalid_search::{SearchConfig, SearchOptions, search};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

const COVERAGE: f64 = 0.9;
const NOISE: f64 = 0.3;
/// Samples that the online band may take to find its width.
const SETTLING: usize = 100;

/// How a plant changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Stationary,
    WanderingLevel,
    FallingGain,
    GrowingNoise,
}

impl Kind {
    const ALL: [Self; 4] = [
        Self::Stationary,
        Self::WanderingLevel,
        Self::FallingGain,
        Self::GrowingNoise,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Stationary => "stationary",
            Self::WanderingLevel => "level wanders",
            Self::FallingGain => "gain falls by 30 %",
            Self::GrowingNoise => "noise doubles",
        }
    }

    /// A record; the same seed gives the same one.
    fn record(self, samples: usize, seed: u64) -> Result<Dataset, Box<dyn Error>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || rng.sample::<f64, _>(StandardNormal);
        let input: Vec<f64> = (0..samples).map(|_| normal()).collect();
        let response = LinearSystem::default().respond(&input);
        let mut level = 0.0;
        let output = response.iter().enumerate().map(|(k, y)| {
            let along = k as f64 / samples as f64;
            level += normal();
            let noise = NOISE * normal();
            match self {
                Self::Stationary => y + noise,
                // As far as the noise by the end of the record.
                Self::WanderingLevel => y + noise + 2.0 * NOISE * level / (samples as f64).sqrt(),
                Self::FallingGain => y * (1.0 - 0.3 * along) + noise,
                Self::GrowingNoise => y + noise * (1.0 + along),
            }
        });
        let experiment = Experiment::new("record", vec![input.clone()], vec![output.collect()]);
        let channels = (vec![Channel::new("u")], vec![Channel::new("y")]);
        Ok(Dataset::new(
            self.name(),
            channels.0,
            channels.1,
            None,
            vec![experiment],
        )?)
    }
}

/// What became of one record's bands.
struct Held {
    offline: f64,
    online: f64,
    /// Against the narrowest constant band.
    width: f64,
    light: f64,
    /// At the horizons of [`AHEAD`].
    ahead: [f64; 4],
}

/// Horizons of predictions ahead.
const AHEAD: [usize; 4] = [1, 5, 20, 100];

fn main() -> Result<(), Box<dyn Error>> {
    let (mut records, mut samples, mut threads, mut model) = (100_u64, 1000_usize, 2_usize, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--records" => records = value()?.parse()?,
            "--samples" => samples = value()?.parse()?,
            "--threads" => threads = value()?.parse()?,
            "--model" if value()? == "arx" => model = Some(ModelKind::Arx),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    println!(
        "| plant | inside, offline % | 85 % or more, of records | width against constant | inside, online % | light % | 1 ahead | 5 | 20 | 100 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for kind in Kind::ALL {
        let config = SearchConfig {
            coverage: COVERAGE,
            model,
            ..SearchConfig::default()
        };
        let held = (0..records)
            .map(|seed| judge(&kind.record(samples, seed)?, &config, threads))
            .collect::<Result<Vec<Held>, Box<dyn Error>>>()?;
        let of = |value: fn(&Held) -> f64| held.iter().map(value).collect::<Vec<f64>>();
        let (offline, online) = (of(|held| held.offline), of(|held| held.online));
        let kept = offline.iter().filter(|share| **share >= COVERAGE - 0.05).count();
        println!(
            "| {} | {} | {:.0} % | {:.2} | {} | {} | {} | {} | {} | {} |",
            kind.name(),
            with_error(&offline),
            100.0 * kept as f64 / records.max(1) as f64,
            mean(&of(|held| held.width)),
            with_error(&online),
            with_error(&of(|held| held.light)),
            with_error(&of(|held| held.ahead[0])),
            with_error(&of(|held| held.ahead[1])),
            with_error(&of(|held| held.ahead[2])),
            with_error(&of(|held| held.ahead[3])),
        );
    }
    Ok(())
}

fn judge(dataset: &Dataset, config: &SearchConfig, threads: usize) -> Result<Held, Box<dyn Error>> {
    let split = Split::new(dataset, SplitFractions::default())?;
    let options = SearchOptions {
        threads,
        ..SearchOptions::default()
    };
    let model = search(dataset, &split, config, &options)?.model;
    let bands = model.simulate(dataset, &split.test)?;
    let online = model.online(dataset, &bands)?;
    let inside = |bands: &[Band], first: usize| -> Result<f64, Box<dyn Error>> {
        let run = &align(dataset, bands, 0)?[0];
        let samples = run.target.len() - first;
        let hits =
            (first..run.target.len()).filter(|&k| run.lower[k] <= run.target[k] && run.target[k] <= run.upper[k]);
        Ok(hits.count() as f64 / samples as f64)
    };
    let run = &align(dataset, &bands, 0)?[0];
    let errors = run.target.iter().zip(run.centre).map(|(y, p)| (y - p).abs()).collect();
    let widths: Vec<f64> = run
        .upper
        .iter()
        .zip(run.lower)
        .map(|(upper, lower)| upper - lower)
        .collect();
    let mut ahead = [0.0; 4];
    for (share, horizon) in ahead.iter_mut().zip(AHEAD) {
        *share = inside(&model.predict_ahead(dataset, &split.test, horizon)?, 0)?;
    }
    Ok(Held {
        light: inside(&model.light()?.simulate(dataset, &split.test)?, 0)?,
        ahead,
        offline: inside(&bands, 0)?,
        online: inside(&online, SETTLING)?,
        width: mean(&widths) / (2.0 * quantile(errors, COVERAGE)),
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The mean of shares in percent, and twice its standard error.
fn with_error(shares: &[f64]) -> String {
    format!(
        "{:.1} ± {:.1}",
        100.0 * mean(shares),
        200.0 * intervalid_model::standard_error(shares)
    )
}
