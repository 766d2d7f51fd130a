//! One training iteration at the MR damper's shapes: mini-batch 64, N = 40, one output lag, three input taps.
//!
//! `cargo bench -p intervalid-model --bench iteration` prints a table, with `-- --json` one line per case in the format
//! of `bench/peers`; a case's name as argument runs that case alone, `--seconds S` says how long each runs and `--threads N` on how
//! many threads. `--problems DIR` writes the arrays and settings of all cases instead. `cargo xtask bench-peers` runs it beside JAX and PyTorch on these.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use intervalid_model::{IterationBench, ModelKind};

const CASES: [(&str, ModelKind, bool); 4] = [
    ("joint-inode", ModelKind::Inode, true),
    ("joint-ilstm", ModelKind::Ilstm, true),
    ("crisp-node", ModelKind::Inode, false),
    ("crisp-lstm", ModelKind::Ilstm, false),
];

struct Options {
    json: bool,
    seconds: f64,
    threads: usize,
    problems: Option<PathBuf>,
    cases: Vec<String>,
}

impl Options {
    fn of_arguments() -> Self {
        let mut options = Self {
            json: false,
            seconds: 1.5,
            threads: 1,
            problems: None,
            cases: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_else(|| panic!("{argument} needs a value"));
            match argument.as_str() {
                "--json" => options.json = true,
                // What cargo adds.
                "--bench" => {}
                "--seconds" => options.seconds = number("--seconds", &value()),
                "--threads" => options.threads = number("--threads", &value()),
                "--problems" => options.problems = Some(value().into()),
                name if CASES.iter().any(|case| case.0 == name) => options.cases.push(argument),
                other => panic!("`{other}` is no option and no case of this benchmark"),
            }
        }
        options
    }
}

fn number<T: FromStr>(option: &str, text: &str) -> T {
    text.parse()
        .unwrap_or_else(|_| panic!("{option} cannot be `{text}`: expected a number"))
}

/// What a case gave: milliseconds of all iterations, sorted, and how training went from the start to the end of a pass.
struct Timing {
    milliseconds: Vec<f64>,
    losses: [Vec<f64>; 2],
    straddling: Option<[f64; 2]>,
}

fn main() {
    let options = Options::of_arguments();
    if !options.json && options.problems.is_none() {
        println!("| case | median ms | 10 % | 90 % | iterations | straddling | losses |");
        println!("|---|---|---|---|---|---|---|");
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.unwrap_or_else(|error| panic!("{error}"));
    for (name, model, is_joint) in CASES {
        if !options.cases.is_empty() && !options.cases.iter().any(|case| case == name) {
            continue;
        }
        let mut bench = IterationBench::new(model).unwrap_or_else(|error| panic!("{error}"));
        match &options.problems {
            Some(folder) => write(folder, name, &bench),
            None => {
                let timing = pool.install(|| time(&mut bench, is_joint, options.seconds));
                print(name, &bench.problem().checksum(), &timing, &options);
            }
        }
    }
}

/// Passes from the start for about this long.
fn time(bench: &mut IterationBench, is_joint: bool, seconds: f64) -> Timing {
    let iterations = bench.problem().iterations;
    let begin = Instant::now();
    let mut timing = Timing {
        milliseconds: Vec::new(),
        losses: [Vec::new(), Vec::new()],
        straddling: None,
    };
    while timing.milliseconds.is_empty() || begin.elapsed() < Duration::from_secs_f64(seconds) {
        bench.restart();
        let before = bench.straddling();
        for iteration in 0..iterations {
            let start = Instant::now();
            let losses = if is_joint {
                black_box(bench.joint()).to_vec()
            } else {
                vec![black_box(bench.crisp())]
            };
            timing.milliseconds.push(start.elapsed().as_secs_f64() * 1e3);
            if iteration == 0 {
                timing.losses[0] = losses;
            } else if iteration + 1 == iterations {
                timing.losses[1] = losses;
            }
        }
        timing.straddling = is_joint.then(|| [before, bench.straddling()]);
    }
    timing.milliseconds.sort_by(f64::total_cmp);
    timing
}

fn print(name: &str, checksum: &str, timing: &Timing, options: &Options) {
    let times = &timing.milliseconds;
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let (median, low, high, count) = (at(0.5), at(0.1), at(0.9), times.len());
    if options.json {
        let line = serde_json::json!({
            "peer": "intervalid", "case": name, "median_ms": median, "p10": low, "p90": high, "iterations": count,
            "compile_s": 0.0, "threads": options.threads, "checksum": checksum, "losses": timing.losses, "straddling": timing.straddling,
            "versions": {"intervalid": env!("CARGO_PKG_VERSION")},
        });
        println!("{line}");
    } else {
        let shares = timing
            .straddling
            .map(|shares| shares.map(|share| format!("{:.0} %", 100.0 * share)).join(" → "));
        let losses = timing
            .losses
            .iter()
            .map(|losses| {
                losses
                    .iter()
                    .map(|loss| format!("{loss:.4}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            })
            .collect::<Vec<_>>();
        println!(
            "| {name} | {median:.3} | {low:.3} | {high:.3} | {count} | {} | {} |",
            shares.unwrap_or_else(|| "–".to_owned()),
            losses.join(" → ")
        );
    }
}

fn write(folder: &Path, name: &str, bench: &IterationBench) {
    let text = serde_json::to_string(&bench.problem()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let path = folder.join(format!("{name}.json"));
    if let Err(error) = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text)) {
        panic!("could not write {}: {error}", path.display());
    }
}
