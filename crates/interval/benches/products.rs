//! Interval products against the best crisp product of the same shape, interleaved in one run on one thread.
//!
//! `cargo bench -p intervalid-interval --bench products` prints the table of `docs/performance.md`.
//! Times are the fastest of many rounds: what the machine can do, not what its neighbours left over.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;
use std::time::Instant;

use intervalid_interval::kernel::{
    CentredAdjoint, CentredWeights, IntervalWeights, LANES, SimdLevel, Vector, WeightAdjoint, matmul_add,
};
use intervalid_interval::{Real, simd_dispatch};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ROWS: usize = 2496;
const WIDTH: usize = 32;
const TILES: usize = ROWS / WIDTH;
const SIZES: [usize; 4] = [10, 40, 120, 256];

/// How wide the weights' margins are, as a multiple of the weights: decides how many straddle zero.
const MARGINS: [(&str, f32); 3] = [("narrow", 0.05), ("mixed", 2.0), ("wide", 20.0)];

fn main() {
    let peak = peak_gflops();
    println!(
        "level {:?}, one thread, measured peak {peak:.0} GFLOP/s (f32, fused multiply-add)\n",
        SimdLevel::current()
    );
    println!("rows {ROWS}; ratios to the faster of the two crisp products; % of peak counts 2 flop per crisp product,");
    println!("8 per interval product forward and 24 with its reverse\n");
    println!(
        "| in = out | margins | straddling | crisp gemm µs | crisp tile µs | % of peak | interval forward | % of peak | \
         forward + reverse | % of peak | crisp input forward | forward + reverse |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for size in SIZES {
        for (name, margin) in MARGINS {
            row(size, name, margin, peak);
        }
    }
}

fn row(size: usize, name: &str, margin: f32, peak: f64) {
    let mut bench = Bench::new(size, margin);
    let mut best = [f64::INFINITY; 6];
    for _ in 0..if size > 200 { 15 } else { 60 } {
        for (case, best) in best.iter_mut().enumerate() {
            let start = Instant::now();
            match case {
                0 => bench.gemm(),
                1 => bench.tile(),
                2 => bench.interval_forward(),
                3 => bench.interval_both(),
                4 => bench.mixed_forward(),
                _ => bench.mixed_both(),
            }
            *best = best.min(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    let crisp = best[0].min(best[1]);
    let flops = 2.0 * (ROWS * size * size) as f64;
    let of_peak = |micros: f64, factor: f64| 100.0 * factor * flops / (micros * 1e3 * peak);
    println!(
        "| {size} | {name} | {:.0} % | {:.0} | {:.0} | {:.0} | {:.1}× | {:.0} | {:.1}× | {:.0} | {:.1}× | {:.1}× |",
        100.0 * bench.straddling(),
        best[0],
        best[1],
        of_peak(crisp, 1.0),
        best[2] / crisp,
        of_peak(best[2], 4.0),
        best[3] / crisp,
        of_peak(best[3], 12.0),
        best[4] / crisp,
        best[5] / crisp,
    );
}

struct Bench {
    size: usize,
    w: [Vec<f32>; 2],
    x: [Vec<f32>; 2],
    y: [Vec<f32>; 2],
    adjoint: [Vec<f32>; 2],
    x_adjoint: [Vec<f32>; 2],
    weights: IntervalWeights<f32>,
    weight_adjoint: WeightAdjoint<f32>,
    centred: CentredWeights<f32>,
    centred_adjoint: CentredAdjoint<f32>,
    w_adjoint: [Vec<f32>; 2],
}

impl Bench {
    fn new(size: usize, margin: f32) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut draw = |n: usize| -> Vec<f32> { (0..n).map(|_| rng.random_range(-1.0..1.0)).collect() };
        let theta = draw(size * size);
        let around = |sign: f32, share: Vec<f32>| -> Vec<f32> {
            theta
                .iter()
                .zip(share)
                .map(|(t, share)| t + sign * margin * share.abs() * t.abs())
                .collect()
        };
        let w = [around(-1.0, draw(size * size)), around(1.0, draw(size * size))];
        let centre = draw(ROWS * size);
        let x = [
            centre.iter().map(|x| x - 0.1).collect(),
            centre.iter().map(|x| x + 0.1).collect(),
        ];
        let tile = || vec![0.0; ROWS * size];
        Self {
            size,
            weights: IntervalWeights::new(&w[0], &w[1], size, size),
            w,
            x,
            y: [tile(), tile()],
            adjoint: [draw(ROWS * size), draw(ROWS * size)],
            x_adjoint: [tile(), tile()],
            weight_adjoint: WeightAdjoint::new(size, size),
            centred: CentredWeights::new(size, size),
            centred_adjoint: CentredAdjoint::new(size, size),
            w_adjoint: [vec![0.0; size * size], vec![0.0; size * size]],
        }
    }

    fn straddling(&self) -> f64 {
        let count = self.w[0]
            .iter()
            .zip(&self.w[1])
            .filter(|(l, u)| **l < 0.0 && **u > 0.0)
            .count();
        count as f64 / (self.size * self.size) as f64
    }

    fn gemm(&mut self) {
        let n = self.size;
        // SAFETY: the three matrices are row-major with ROWS×n, n×n and ROWS×n elements.
        unsafe {
            gemm::gemm(
                ROWS,
                n,
                n,
                self.y[0].as_mut_ptr(),
                1,
                n as isize,
                false,
                self.x[0].as_ptr(),
                1,
                n as isize,
                self.w[0].as_ptr(),
                n as isize,
                1,
                0.0,
                1.0,
                false,
                false,
                false,
                gemm::Parallelism::None,
            );
        }
        black_box(&mut self.y);
    }

    fn tile(&mut self) {
        let tile = self.size * WIDTH;
        for t in 0..TILES {
            let place = t * tile..(t + 1) * tile;
            self.y[0][place.clone()].fill(0.0);
            matmul_add(&self.w[0], &self.x[0][place.clone()], &mut self.y[0][place], WIDTH);
        }
        black_box(&mut self.y);
    }

    fn interval_forward(&mut self) {
        self.weights.update(&self.w[0], &self.w[1]);
        for t in 0..TILES {
            self.forward_tile(t);
        }
        black_box(&mut self.y);
    }

    fn forward_tile(&mut self, t: usize) {
        let tile = self.size * WIDTH;
        let place = t * tile..(t + 1) * tile;
        let [lower, upper] = &mut self.y;
        lower[place.clone()].fill(0.0);
        upper[place.clone()].fill(0.0);
        let [x_lower, x_upper] = &self.x;
        let (x_lower, x_upper) = (&x_lower[place.clone()], &x_upper[place.clone()]);
        self.weights
            .forward_add(x_lower, x_upper, &mut lower[place.clone()], &mut upper[place], WIDTH);
    }

    fn interval_both(&mut self) {
        self.weights.update(&self.w[0], &self.w[1]);
        let tile = self.size * WIDTH;
        for t in 0..TILES {
            self.forward_tile(t);
            let place = t * tile..(t + 1) * tile;
            let [lower, upper] = &mut self.x_adjoint;
            lower[place.clone()].fill(0.0);
            upper[place.clone()].fill(0.0);
            self.weights.backward_add(
                &self.x[0][place.clone()],
                &self.x[1][place.clone()],
                &self.adjoint[0][place.clone()],
                &self.adjoint[1][place.clone()],
                &mut lower[place.clone()],
                &mut upper[place],
                &mut self.weight_adjoint,
                WIDTH,
            );
        }
        let [lower, upper] = &mut self.w_adjoint;
        self.weight_adjoint.drain_into(lower, upper);
        black_box((&mut self.y, &mut self.x_adjoint, &mut self.w_adjoint));
    }

    fn mixed_forward(&mut self) {
        self.centred.update(&self.w[0], &self.w[1]);
        let tile = self.size * WIDTH;
        for t in 0..TILES {
            let place = t * tile..(t + 1) * tile;
            let [lower, upper] = &mut self.y;
            lower[place.clone()].fill(0.0);
            upper[place.clone()].fill(0.0);
            let (lower, upper) = (&mut lower[place.clone()], &mut upper[place.clone()]);
            self.centred.forward_add(&self.x[0][place], lower, upper, WIDTH);
        }
        black_box(&mut self.y);
    }

    fn mixed_both(&mut self) {
        self.mixed_forward();
        let tile = self.size * WIDTH;
        for t in 0..TILES {
            let place = t * tile..(t + 1) * tile;
            let x_adjoint = &mut self.x_adjoint[0][place.clone()];
            x_adjoint.fill(0.0);
            self.centred.backward_add(
                &self.x[0][place.clone()],
                &self.adjoint[0][place.clone()],
                &self.adjoint[1][place],
                x_adjoint,
                &mut self.centred_adjoint,
                WIDTH,
            );
        }
        let [lower, upper] = &mut self.w_adjoint;
        self.centred_adjoint.drain_into(lower, upper);
        black_box((&mut self.x_adjoint, &mut self.w_adjoint));
    }
}

const CHAINS: usize = 12;
const STEPS: usize = 100_000;

simd_dispatch! {
    /// Twelve independent chains of fused products of one register each: as many as the registers hold.
    unsafe fn fused_chains<T>(x: &[T], sums: &mut [T]) = fused_chains_body;
}

/// # Safety
/// Call it through `simd_dispatch!`; `sums` holds `CHAINS` registers.
#[inline(always)]
unsafe fn fused_chains_body<T: Real, V: Vector<T>>(x: &[T], sums: &mut [T]) {
    // SAFETY: passed on to the caller.
    unsafe {
        let (a, b) = (V::splat(x[0]), V::splat(x[1]));
        let mut chains = [b; CHAINS];
        for _ in 0..STEPS {
            for chain in &mut chains {
                *chain = chain.mul_add(a, b);
            }
        }
        for (n, chain) in chains.iter().enumerate() {
            chain.store(sums[n * V::LANES..].as_mut_ptr());
        }
    }
}

fn peak_gflops() -> f64 {
    let lanes = match SimdLevel::current() {
        SimdLevel::Baseline => 4,
        SimdLevel::Avx2 => 8,
        SimdLevel::Avx512 => 16,
    };
    let x = black_box([0.999_f32, 0.001]);
    let mut sums = [0.0_f32; LANES * CHAINS];
    let best = (0..20)
        .map(|_| {
            let start = Instant::now();
            // SAFETY: `sums` holds `CHAINS` registers of the widest kind.
            unsafe { fused_chains(&x, &mut sums) };
            black_box(&mut sums);
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    (2 * lanes * CHAINS * STEPS) as f64 / best / 1e9
}
