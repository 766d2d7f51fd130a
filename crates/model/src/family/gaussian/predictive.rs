//! Several networks, one prediction: aggregated mean and variance, with the mean fed back (docs/method.md, section 8).

use intervalid_data::{InitialState, Scaled, Window};
use intervalid_interval::Real;
use rand_chacha::ChaCha8Rng;

use super::dropout::Masks;
use super::likelihood::sigma;
use crate::network::{Architecture, Stepper};
use crate::simulate::free_run::free_run;

/// Networks of one shape that simulate in lockstep, each with states of its own.
pub(crate) struct Predictive<T> {
    architecture: Architecture,
    steppers: Vec<Stepper<T>>,
    dropout: Option<f64>,
}

/// Mean and standard deviation of every prediction, normalised, `[step][output]`.
pub(crate) struct Moments<T> {
    pub(crate) mean: Vec<T>,
    pub(crate) std: Vec<T>,
    pub(crate) diverged_at: Option<usize>,
}

impl<T: Real> Predictive<T> {
    /// One network per parameter vector; `dropout` is the rate of its masks.
    pub(crate) fn new<'a>(
        architecture: &Architecture,
        parameters: impl IntoIterator<Item = &'a [T]>,
        dropout: Option<f64>,
    ) -> Self {
        Self {
            architecture: architecture.clone(),
            steppers: parameters
                .into_iter()
                .map(|theta| Stepper::new(architecture, theta))
                .collect(),
            dropout,
        }
    }

    /// Free run over a window. `rng` draws the dropout masks.
    pub(crate) fn simulate(
        &mut self,
        scaled: &Scaled<T>,
        window: Window,
        initial: InitialState,
        rng: &mut ChaCha8Rng,
    ) -> Moments<T> {
        let outputs = self.architecture.outputs;
        let zeros = vec![T::zero(); (window.len - 1) * outputs];
        let (mut mean, mut std) = (zeros.clone(), zeros);
        let mut regressor = vec![T::zero(); self.architecture.regressor_len()];
        let mut masks = self.dropout.map(Masks::<T>::new);
        let count = self.steppers.len();
        let mut readouts = vec![[0.0; 2]; outputs * count];
        self.steppers.iter_mut().for_each(Stepper::reset);
        let start = (self.architecture.lags, initial);
        let diverged_at = free_run(scaled, window, start, &mut regressor, &mut mean, |step, x, y| {
            for (index, stepper) in self.steppers.iter_mut().enumerate() {
                if let Some(masks) = &mut masks {
                    stepper.set_masks(|| masks.draw(rng));
                }
                let readout = stepper.step(x);
                for output in 0..outputs {
                    let (mean, (sigma, _)) = (readout[output].as_f64(), sigma(readout[outputs + output].as_f64()));
                    readouts[output * count + index] = [mean, sigma * sigma];
                }
            }
            for output in 0..outputs {
                let (mean, variance) = total(&readouts[output * count..(output + 1) * count]);
                y[output] = T::of(mean);
                std[step * outputs + output] = T::of(variance.sqrt());
            }
        });
        Moments { mean, std, diverged_at }
    }
}

/// Law of total variance over equally likely (mean, variance) pairs: mean of the variances plus variance of the means,
/// which is mean(σ² + μ²) - μ̂² without its cancellation.
fn total(pairs: &[[f64; 2]]) -> (f64, f64) {
    let n = pairs.len() as f64;
    let mean = pairs.iter().map(|[mean, _]| mean).sum::<f64>() / n;
    let variance = pairs.iter().map(|[m, v]| v + (m - mean).powi(2)).sum::<f64>() / n;
    (mean, variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variance_is_that_of_the_mixture() {
        let pairs = [[1.0, 0.25], [3.0, 0.5], [-2.0, 1.0]];
        let (mean, variance) = total(&pairs);
        assert!((mean - 2.0 / 3.0).abs() < 1e-15);
        // Moments of the mixture: mean(σ² + μ²) - μ̂².
        let second = pairs.iter().map(|[m, v]| v + m * m).sum::<f64>() / 3.0;
        assert!((variance - (second - mean * mean)).abs() < 1e-14);
        // One network: its own moments.
        assert_eq!(total(&[[1.5, 0.5]]), (1.5, 0.5));
    }
}
