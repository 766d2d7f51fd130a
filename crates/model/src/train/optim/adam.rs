//! Adam (Kingma and Ba 2015, algorithm 1) with β₁ = 0.9, β₂ = 0.999, ε = 1e-8.

use intervalid_interval::{Real, simd_dispatch};

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Moments of one parameter vector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Adam<T> {
    pub(crate) first: Vec<T>,
    pub(crate) second: Vec<T>,
    pub(crate) steps: u64,
}

impl<T: Real> Adam<T> {
    pub(crate) fn new(len: usize) -> Self {
        Self {
            first: vec![T::zero(); len],
            second: vec![T::zero(); len],
            steps: 0,
        }
    }

    pub(crate) fn update(&mut self, parameters: &mut [T], gradient: &[T], learning_rate: f64) {
        self.steps += 1;
        // Both corrections of the moments' start at zero, drawn together into step size and ε.
        let steps = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let second = (1.0 - BETA_2.powi(steps)).sqrt();
        let rate = learning_rate * second / (1.0 - BETA_1.powi(steps));
        let constants = [T::of(rate), T::of(EPSILON * second)];
        let padded = parameters.len();
        assert_eq!(
            [gradient.len(), self.first.len(), self.second.len()],
            [padded; 3],
            "parameters of one network"
        );
        adam_step(parameters, gradient, &mut self.first, &mut self.second, constants);
    }
}

simd_dispatch! {
    fn adam_step<T>(parameters: &mut [T], gradient: &[T], first: &mut [T], second: &mut [T], constants: [T; 2]) = adam_body;
}

/// Plain loop: the compiler vectorises it for each instruction set.
#[inline(always)]
fn adam_body<T: Real>(
    parameters: &mut [T],
    gradient: &[T],
    first: &mut [T],
    second: &mut [T],
    [rate, epsilon]: [T; 2],
) {
    let (one, beta_1, beta_2) = (T::one(), T::of(BETA_1), T::of(BETA_2));
    let moments = first.iter_mut().zip(second);
    for ((parameter, &gradient), (first, second)) in parameters.iter_mut().zip(gradient).zip(moments) {
        *first = beta_1 * *first + (one - beta_1) * gradient;
        *second = beta_2 * *second + (one - beta_2) * gradient * gradient;
        *parameter -= rate * *first / (second.sqrt() + epsilon);
    }
}

/// Scales a gradient down to Euclidean norm `limit` if it is longer; returns the norm it had.
pub(crate) fn clip<T: Real>(gradient: &mut [T], limit: f64) -> f64 {
    let norm = gradient.iter().map(|g| g.as_f64() * g.as_f64()).sum::<f64>().sqrt();
    if norm > limit {
        let scale = T::of(limit / norm);
        for g in gradient {
            *g *= scale;
        }
    }
    norm
}

#[cfg(test)]
mod tests {
    use intervalid_testkit::{Tolerance, assert_all_close};

    use super::*;

    /// By hand from the algorithm's listing, two steps.
    #[test]
    fn adam_follows_its_definition() {
        let mut parameters = vec![1.0_f64, -2.0];
        let gradients = [[0.5, -1.0], [0.25, 3.0]];
        let mut adam = Adam::new(2);
        let (mut m, mut v) = ([0.0_f64; 2], [0.0_f64; 2]);
        let mut expected = [1.0_f64, -2.0];
        for (t, gradient) in gradients.iter().enumerate() {
            adam.update(&mut parameters, gradient, 0.1);
            let t = t as i32 + 1;
            for i in 0..2 {
                m[i] = 0.9 * m[i] + 0.1 * gradient[i];
                v[i] = 0.999 * v[i] + 0.001 * gradient[i] * gradient[i];
                let (m_hat, v_hat) = (m[i] / (1.0 - 0.9_f64.powi(t)), v[i] / (1.0 - 0.999_f64.powi(t)));
                expected[i] -= 0.1 * m_hat / (v_hat.sqrt() + 1e-8);
            }
            assert_all_close("parameters", &expected, &parameters, Tolerance::relative(1e-12));
        }
    }

    #[test]
    fn clipping_keeps_the_direction_and_reports_the_norm() {
        let mut gradient = [3.0_f32, 4.0];
        assert!((clip(&mut gradient, 1.0) - 5.0).abs() < 1e-12);
        assert!((gradient[0] - 0.6).abs() < 1e-6 && (gradient[1] - 0.8).abs() < 1e-6);
        assert!((clip(&mut gradient, 2.0) - 1.0).abs() < 1e-6);
    }
}
