//! Several networks, one prediction: aggregated mean and variance (docs/method.md, section 8).

use intervalid_data::{InitialState, Scaled, Window};
use intervalid_interval::Real;
use rand_chacha::ChaCha8Rng;

use super::dropout::Masks;
use super::likelihood::sigma;
use crate::config::Feedback;
use crate::network::{Architecture, Stepper};
use crate::simulate::free_run::free_run;

/// Networks of one shape, each with states of its own.
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

    /// Free run over a window, with their mean or each network's own outputs fed back. `rng` draws the dropout masks.
    pub(crate) fn simulate(
        &mut self,
        scaled: &Scaled<T>,
        window: Window,
        (initial, feedback): (InitialState, Feedback),
        rng: &mut ChaCha8Rng,
    ) -> Moments<T> {
        match feedback {
            Feedback::Mean => self.in_lockstep(scaled, window, initial, rng),
            Feedback::Own => self.one_by_one(scaled, window, initial, rng),
        }
    }

    /// Every network runs by itself; moments are those over all trajectories. The band ends where the first network diverges.
    fn one_by_one(
        &mut self,
        scaled: &Scaled<T>,
        window: Window,
        initial: InitialState,
        rng: &mut ChaCha8Rng,
    ) -> Moments<T> {
        let outputs = self.architecture.outputs;
        let values = (window.len - 1) * outputs;
        let mut regressor = vec![T::zero(); self.architecture.regressor_len()];
        let mut masks = self.dropout.map(Masks::<T>::new);
        let start = (self.architecture.lags, initial);
        let mut y = vec![T::zero(); values];
        let mut moments = vec![RunningMoments::default(); values];
        let mut diverged_at: Option<usize> = None;
        for stepper in &mut self.steppers {
            stepper.reset();
            let ended = free_run(scaled, window, start, &mut regressor, &mut y, |step, x, y| {
                if let Some(masks) = &mut masks {
                    stepper.set_masks(|| masks.draw(rng));
                }
                let readout = stepper.step(x);
                for output in 0..outputs {
                    let (mean, (sigma, _)) = (readout[output].as_f64(), sigma(readout[outputs + output].as_f64()));
                    moments[step * outputs + output].add(mean, sigma * sigma);
                    y[output] = readout[output];
                }
            });
            diverged_at = diverged_at.into_iter().chain(ended).min();
        }
        Moments {
            mean: moments.iter().map(|moments| T::of(moments.mean)).collect(),
            std: moments.iter().map(|moments| T::of(moments.variance().sqrt())).collect(),
            diverged_at,
        }
    }

    /// All networks take each step together and see their mean.
    fn in_lockstep(
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

/// [`total`] of pairs that come one after the other (Welford's way), so that not all trajectories are kept.
#[derive(Clone, Copy, Debug, Default)]
struct RunningMoments {
    n: f64,
    mean: f64,
    /// Σ (μ - μ̂)².
    squares: f64,
    /// Σ σ².
    variances: f64,
}

impl RunningMoments {
    fn add(&mut self, mean: f64, variance: f64) {
        self.n += 1.0;
        let before = mean - self.mean;
        self.mean += before / self.n;
        self.squares += before * (mean - self.mean);
        self.variances += variance;
    }

    fn variance(&self) -> f64 {
        (self.variances + self.squares) / self.n.max(1.0)
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
        // One after the other gives the same.
        let mut running = RunningMoments::default();
        pairs.iter().for_each(|[m, v]| running.add(*m, *v));
        assert!((running.mean - mean).abs() < 1e-14 && (running.variance() - variance).abs() < 1e-14);
    }
}
