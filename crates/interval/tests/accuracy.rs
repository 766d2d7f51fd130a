//! The one assumption behind rigorous activations: `exp`, `expm1` and `log1p` of `libm` are off by less than one unit
//! in the last place. Checked on fixed seeds over the arguments `Enclosure` uses, crowded where the algorithms
//! change branch.

use intervalid_interval::Enclosure;
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use crate::reference::{self, Big, error_in_ulps};

const DRAWS: usize = 20_000;

fn worst_error(
    seed: u64,
    function: fn(f64) -> f64,
    exact_function: fn(f64) -> Big,
    argument: impl Fn(&mut ChaCha8Rng) -> f64,
) -> (f64, f64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..DRAWS)
        .map(|_| {
            let x = argument(&mut random);
            (error_in_ulps(function(x), &exact_function(x)), x)
        })
        .fold(
            (0.0, 0.0),
            |worst, candidate| if candidate.0 > worst.0 { candidate } else { worst },
        )
}

/// Uniform, log-uniform down to subnormals, and close to the multiples of ln(2)/2 where the argument reduction
/// switches; all within `[-limit, limit]`.
fn argument(random: &mut ChaCha8Rng, limit: f64) -> f64 {
    let sign = if random.random_bool(0.5) { 1.0 } else { -1.0 };
    match random.random_range(0..4) {
        0 => sign * random.random_range(0.0..limit),
        1 => sign * random.random_range(0.0..limit.min(2.0)),
        2 => sign * random.random_range(-744.0..limit.ln()).exp(),
        _ => {
            let border = random.random_range(0.0..(limit / std::f64::consts::LN_2 * 2.0)).floor();
            let nearby = 1.0 + random.random_range(-64.0..64.0) * f64::EPSILON;
            sign * (border * std::f64::consts::LN_2 / 2.0 * nearby).min(limit)
        }
    }
}

#[test]
fn exp_is_within_one_unit() {
    // -745.2: the whole subnormal range of results is included.
    let (error, x) = worst_error(1, libm::exp, reference::exp, |random| {
        argument(random, 745.2).min(709.78)
    });
    assert!(error < 1.0, "exp({x:?}) is off by {error} units");
}

#[test]
fn expm1_is_within_one_unit() {
    // tanh asks for expm1(2x) with 2^-26 < x < 20.
    let (error, x) = worst_error(2, libm::expm1, reference::exp_m1, |random| {
        argument(random, 40.0).abs().max(1e-8)
    });
    assert!(error < 1.0, "expm1({x:?}) is off by {error} units");
}

#[test]
fn log1p_is_within_one_unit() {
    // softplus asks for log1p(e) with 0 < e <= 1.
    let (error, x) = worst_error(3, libm::log1p, reference::ln_1p, |random| {
        match random.random_range(0..3) {
            0 => random.random_range(0.0..1.0),
            1 => random.random_range(0.4..0.43), // sqrt(2) - 1: the reduction switches
            _ => random.random_range(-744.0_f64..0.0).exp(),
        }
    });
    assert!(error < 1.0, "log1p({x:?}) is off by {error} units");
}

/// How far the ends for a point lie beyond the exact value: the excess stated in the documentation.
#[test]
fn activations_exceed_the_exact_value_by_the_stated_units_only() {
    type Case = (&'static str, fn(Enclosure) -> Enclosure, fn(f64) -> Big, f64);
    let cases: [Case; 4] = [
        ("exp", Enclosure::exp, reference::exp, 4.0),
        ("tanh", Enclosure::tanh, reference::tanh, 9.0),
        ("sigmoid", Enclosure::sigmoid, reference::sigmoid, 9.0),
        ("softplus", Enclosure::softplus, reference::softplus, 11.0),
    ];
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for _ in 0..DRAWS / 4 {
        let x = argument(&mut random, 745.0).min(709.0);
        for (name, function, exact_function, limit) in cases {
            let set = function(Enclosure::from_point(x).unwrap());
            let value = exact_function(x);
            let excess = error_in_ulps(set.inf(), &value).max(error_in_ulps(set.sup(), &value));
            assert!(
                excess <= limit,
                "{name}({x:?}): {set} exceeds the exact value by {excess} units"
            );
        }
    }
}
