//! A plant that several tests share: x(k+1) = 0.8 x(k) + 0.6 tanh(1.5 u(k)), y = x.

use super::run::Run;

/// `len` noise-free samples from rest, with an input that saturates often.
pub(crate) fn saturating_plant(len: usize) -> Run {
    let input = |k: usize| 1.5 * (0.37 * (k * k % 97) as f64).sin() + (0.05 * k as f64).cos();
    let u: Vec<f64> = (0..len).map(input).collect();
    let mut x: f64 = 0.0;
    let y = u.iter().map(|u| {
        let y = x;
        x = 0.8 * x + 0.6 * (1.5 * u).tanh();
        y
    });
    let y = y.collect();
    Run::new(1, 1, u, y)
}
