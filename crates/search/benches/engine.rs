//! What the search does all day: first-order steps of sixteen models side by side, damped Gauss–Newton steps, free runs.
//!
//! `cargo bench -p intervalid-search --bench engine`, one thread. Each time is that of the fastest of many short rounds.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::time::Instant;

use intervalid_search::state_space::{
    DescentConfig, ExploreConfig, Fitted, LinearConfig, Run, Scored, Walker, beside_linear, descend, explore,
    fit_linear, mean_squared_error,
};

/// A damped oscillator with a saturating input and a stiffening spring.
fn record(samples: usize) -> Run {
    let u: Vec<f64> = (0..samples)
        .map(|k| (0.37 * (k * k % 97) as f64).sin() + 0.5 * (0.05 * k as f64).cos())
        .collect();
    let (mut x, mut v) = (0.0_f64, 0.0_f64);
    let y = u.iter().map(|u| {
        let now = x;
        v += 0.2 * ((1.5 * u).tanh() - 0.4 * v - x - 0.3 * x.powi(3));
        x += 0.2 * v;
        now
    });
    let y = y.collect();
    Run::new(1, 1, u, y)
}

/// Microseconds of the fastest of `rounds` rounds.
fn fastest(rounds: usize, mut work: impl FnMut()) -> f64 {
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e6
    });
    times.fold(f64::INFINITY, f64::min)
}

fn main() {
    let runs = [record(600)];
    let scored = Scored::all(&runs);
    println!(
        "| states, units of state and output map | parameters | step of 16 models, µs | Gauss–Newton step, µs | free run, µs |"
    );
    println!("|---|---|---|---|---|");
    for (states, state_hidden, output_hidden) in [(2, 6, 0), (3, 10, 4), (4, 16, 8), (6, 24, 0)] {
        let config = LinearConfig {
            states,
            ..LinearConfig::default()
        };
        let linear = match fit_linear(&runs, &scored, config) {
            Ok(linear) => linear,
            Err(error) => panic!("{error}"),
        };
        let start = |seed: u64| Fitted {
            model: beside_linear(&linear.model, state_hidden, output_hidden, seed),
            x0: linear.x0.clone(),
        };
        let walkers: Vec<Walker> = (0..16).map(|seed| Walker::new(start(seed), 0, 1e-4)).collect();
        let steps = 10;
        let config = ExploreConfig {
            rounds: vec![(steps, 1.0)],
            ..ExploreConfig::default()
        };
        let first_order = fastest(30, || {
            explore(walkers.clone(), &runs, std::slice::from_ref(&scored), &config, || true);
        });
        let start = start(1);
        let config = DescentConfig {
            iterations: 1,
            ..DescentConfig::default()
        };
        let gauss_newton = fastest(60, || {
            descend(start.clone(), &runs, &scored, config, |_, _| true);
        });
        let free_run = fastest(200, || {
            mean_squared_error(&start, &runs, &scored);
        });
        println!(
            "| {states}, {state_hidden} + {output_hidden} | {} | {:.0} | {gauss_newton:.0} | {free_run:.0} |",
            start.model.theta().len(),
            first_order / steps as f64,
        );
    }
}
