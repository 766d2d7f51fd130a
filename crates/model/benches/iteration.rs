//! One training iteration at the MR damper's shapes: mini-batch 64, N = 40, one output lag, three input taps.
//!
//! `cargo bench -p intervalid-model --bench iteration` prints a table, with `-- --json` one line per case in the format
//! of `bench/peers`; a case's name as argument runs that case alone. `cargo xtask bench-peers` runs it beside JAX and PyTorch.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use intervalid_data::Lags;
use intervalid_model::{IterationBench, NetworkKind};

const CASES: [(&str, NetworkKind, &[usize], bool); 4] = [
    ("joint-inode", NetworkKind::Node, &[40, 40], true),
    ("joint-ilstm", NetworkKind::Lstm, &[30, 10], true),
    ("crisp-node", NetworkKind::Node, &[40, 40], false),
    ("crisp-lstm", NetworkKind::Lstm, &[30, 10], false),
];

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    if !json {
        println!("| case | median ms | 10 % | 90 % | iterations |");
        println!("|---|---|---|---|---|");
    }
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    for (name, kind, hidden, joint) in CASES {
        if !wanted.is_empty() && !wanted.iter().any(|case| case == name) {
            continue;
        }
        let mut bench = IterationBench::new(kind, hidden, Lags { nx: 2, nd: 0, ny: 1 }, 64, 40);
        let mut times = Vec::new();
        let mut iterate = || {
            if joint {
                black_box(bench.joint());
            } else {
                black_box(bench.crisp());
            }
        };
        for _ in 0..20 {
            iterate();
        }
        let end = Instant::now() + Duration::from_millis(1500);
        while Instant::now() < end {
            let start = Instant::now();
            iterate();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        let (median, low, high, count) = (at(0.5), at(0.1), at(0.9), times.len());
        if json {
            println!(
                "{{\"peer\":\"intervalid\",\"case\":\"{name}\",\"median_ms\":{median:.5},\"p10\":{low:.5},\"p90\":{high:.5},\
                 \"iterations\":{count},\"compile_s\":0.0,\"threads\":1,\"versions\":{{\"intervalid\":\"{}\"}}}}",
                env!("CARGO_PKG_VERSION")
            );
        } else {
            println!("| {name} | {median:.3} | {low:.3} | {high:.3} | {count} |");
        }
    }
}
