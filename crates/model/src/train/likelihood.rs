//! One mini-batch and one validation of a network with Gaussian likelihood (docs/method.md, section 8).

use intervalid_data::Window;
use intervalid_interval::Real;
use rand_chacha::ChaCha8Rng;

use super::iteration::Crisp;
use super::part::Team;
use super::problem::Problem;
use crate::family::gaussian::{Posterior, Predictive, draw_masks, gaussian_nll, negative_log_likelihood};
use crate::kind::Method;
use crate::network::initialise::{Purpose, generator};

/// Draws per validation: fewer than a prediction takes, and the same ones in every epoch.
const VALIDATION_SAMPLES: usize = 10;

/// Gradient of the loss with respect to what training moves.
pub(super) struct Likelihood<T> {
    passes: Crisp<T>,
    /// Of a Bayesian network: the parameters drawn for the batch, and their ε.
    drawn: Vec<T>,
    noise: Vec<T>,
    pub(super) gradient: Vec<T>,
}

impl<T: Real> Likelihood<T> {
    pub(super) fn new(problem: &Problem<T>, team: Team) -> Self {
        let zeros = vec![T::zero(); problem.layout.len()];
        Self {
            passes: Crisp::new(&problem.architecture, problem.batch_shape(), gaussian_nll, team),
            drawn: zeros.clone(),
            noise: zeros,
            gradient: vec![T::zero(); problem.theta_len()],
        }
    }

    /// Simulates the windows and fills `gradient`; returns the loss.
    pub(super) fn gradient(
        &mut self,
        problem: &Problem<T>,
        theta: &[T],
        windows: &[Window],
        rng: &mut ChaCha8Rng,
    ) -> f64 {
        let (config, passes) = (&problem.config, &mut self.passes);
        passes.fill(&problem.scaled, config.lags, config.initial, windows);
        match config.model.method() {
            Method::Bayesian => {
                let posterior = Posterior::new(theta);
                posterior.draw(rng, &mut self.drawn, &mut self.noise);
                let nll = passes.gradient(&self.drawn);
                let targets = (problem.windows.len() * passes.scored() / windows.len()) as f64;
                let prior = config.gaussian.prior_std;
                posterior.gradient(&passes.gradient, &self.noise, prior, targets, &mut self.gradient);
                return nll + posterior.kl(prior) / targets;
            }
            Method::Dropout => {
                let frames = passes.batches_mut().map(|batch| &mut batch.frames);
                draw_masks(frames, &problem.architecture, config.gaussian.dropout, rng);
            }
            Method::Ensemble | Method::Interval | Method::Linear => {}
        }
        let loss = passes.gradient(theta);
        self.gradient.copy_from_slice(&passes.gradient);
        loss
    }
}

/// L_MSE and negative log-likelihood of free runs over the validation part; infinite if one diverges.
pub(super) fn validate_likelihood<T: Real>(problem: &Problem<T>, theta: &[T]) -> [f64; 2] {
    let config = &problem.config;
    let mut draws = generator(config.seed, Purpose::ValidationDraws, 0);
    let architecture = &problem.architecture;
    let mut predictive = match config.model.method() {
        Method::Bayesian => {
            let posterior = Posterior::new(theta);
            let zeros = vec![T::zero(); problem.layout.len()];
            let (mut noise, mut samples) = (zeros.clone(), vec![zeros; VALIDATION_SAMPLES]);
            for drawn in &mut samples {
                posterior.draw(&mut draws, drawn, &mut noise);
            }
            Predictive::new(architecture, samples.iter().map(Vec::as_slice), None)
        }
        Method::Dropout => {
            let same = std::iter::repeat_n(theta, VALIDATION_SAMPLES);
            Predictive::new(architecture, same, Some(config.gaussian.dropout))
        }
        Method::Ensemble | Method::Interval | Method::Linear => Predictive::new(architecture, [theta], None),
    };
    let start = (config.initial, config.gaussian.feedback);
    let (mut squares, mut nll, mut count) = (0.0, 0.0, 0.0);
    for &window in &problem.validation {
        let moments = predictive.simulate(&problem.scaled, window, start, &mut draws);
        if moments.diverged_at.is_some() {
            return [f64::INFINITY; 2];
        }
        let experiment = &problem.scaled.experiments()[window.experiment];
        for (step, k) in window.predicted().enumerate().skip(config.initial.unscored()) {
            for output in 0..architecture.outputs {
                let at = step * architecture.outputs + output;
                let target = experiment.output(output)[k].as_f64();
                let (mean, std) = (moments.mean[at].as_f64(), moments.std[at].as_f64());
                squares += (target - mean).powi(2);
                nll += negative_log_likelihood(target, mean, std);
                count += 1.0;
            }
        }
    }
    [squares / count, nll / count]
}
