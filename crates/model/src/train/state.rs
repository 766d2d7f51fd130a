//! Everything that training changes, and nothing else: what a checkpoint holds.

use std::time::Duration;

use intervalid_interval::Real;

use super::info::{EpochRecord, Stage, StageInfo, StopReason, TrainInfo};
use super::problem::Problem;
use crate::config::MarginActivation;
use crate::error::{ModelError, Result};
use crate::train::margin::RawMargins;
use crate::train::optim::{Adam, GradNorm};

/// Parameters of the best epoch of a stage.
#[derive(Clone, Debug)]
pub(super) struct Best<T> {
    pub(super) epoch: usize,
    pub(super) loss: f64,
    pub(super) theta: Vec<T>,
    pub(super) raw: RawMargins<T>,
}

/// Running means of the parameters.
#[derive(Clone, Debug)]
pub(super) struct Mean<T> {
    pub(super) theta: Vec<T>,
    pub(super) raw: RawMargins<T>,
    pub(super) iterations: u64,
}

impl<T: Real> Mean<T> {
    fn starting_at(theta: &[T], raw: &RawMargins<T>, margin: MarginActivation) -> Self {
        let side = |raw: &[T]| raw.iter().map(|&raw| averaged(raw, margin)).collect();
        Self {
            theta: theta.to_vec(),
            raw: RawMargins {
                lower: side(&raw.lower),
                upper: side(&raw.upper),
            },
            iterations: 0,
        }
    }

    /// Moves the means towards an iterate. The decay grows from 1/11 to its value, so that the start of a stage is soon forgotten.
    fn take(&mut self, theta: &[T], raw: &RawMargins<T>, margin: MarginActivation, decay: f64) {
        self.iterations += 1;
        let age = self.iterations as f64;
        let share = T::of(1.0 - decay.min(age / (age + 10.0)));
        let move_to = |means: &mut [T], now: &[T], value: &dyn Fn(T) -> T| {
            for (mean, &now) in means.iter_mut().zip(now) {
                *mean += share * (value(now) - *mean);
            }
        };
        move_to(&mut self.theta, theta, &|theta| theta);
        let side = |raw: T| averaged(raw, margin);
        move_to(&mut self.raw.lower, &raw.lower, &side);
        move_to(&mut self.raw.upper, &raw.upper, &side);
    }
}

/// What of a raw margin is averaged: under `abs` its size, since one that changes its sign would average to nothing.
fn averaged<T: Real>(raw: T, margin: MarginActivation) -> T {
    match margin {
        MarginActivation::Abs => raw.abs(),
        MarginActivation::Relu => raw,
    }
}

#[derive(Clone, Debug)]
pub(super) struct State<T> {
    /// Index into the strategy's stages.
    pub(super) stage: usize,
    /// Epochs done in it.
    pub(super) epoch: usize,
    pub(super) theta: Vec<T>,
    pub(super) raw: RawMargins<T>,
    /// Of θ, of Δ'_lo and of Δ'_hi.
    pub(super) adam: [Adam<T>; 3],
    pub(super) gradnorm: GradNorm,
    /// Where the configuration asks for averaging.
    pub(super) mean: Option<Mean<T>>,
    pub(super) best: Option<Best<T>>,
    pub(super) history: Vec<EpochRecord>,
    pub(super) finished: Vec<StageInfo>,
    /// Results of finished likelihood stages.
    pub(super) members: Vec<Vec<T>>,
}

impl<T: Real> State<T> {
    pub(super) fn new(problem: &Problem<T>) -> Result<Self> {
        let theta = problem.initial_theta(0);
        Ok(Self {
            stage: 0,
            epoch: 0,
            adam: fresh_adam(problem),
            raw: initial_margins(problem, &theta),
            theta,
            gradnorm: GradNorm::new(
                problem.config.interval.gradnorm_beta,
                problem.config.interval.gradnorm_rate,
                problem.config.interval.gradnorm_optimiser,
            ),
            mean: None,
            best: None,
            history: Vec::new(),
            finished: Vec::new(),
            members: Vec::new(),
        })
    }

    /// Takes the present iterate into the means; a `decay` of zero keeps none.
    pub(super) fn average(&mut self, decay: f64, margin: MarginActivation) {
        if decay > 0.0 {
            let mean = self
                .mean
                .get_or_insert_with(|| Mean::starting_at(&self.theta, &self.raw, margin));
            mean.take(&self.theta, &self.raw, margin, decay);
        }
    }

    /// What is validated and kept: the means where there are any, else the iterate.
    pub(super) fn kept(&self) -> (&[T], &RawMargins<T>) {
        match &self.mean {
            Some(mean) => (&mean.theta, &mean.raw),
            None => (&self.theta, &self.raw),
        }
    }

    /// Files an epoch of a stage of so many; returns whether it is the best one so far.
    pub(super) fn record(&mut self, record: EpochRecord, stage: Stage, epochs: usize) -> bool {
        // A missing loss is never the best.
        let [mse, second] = record.validation.map(|loss| loss.unwrap_or(f64::INFINITY));
        // docs/method.md, section 6: a stage is judged by its own loss, the joint one by the mean of both.
        let loss = match stage {
            Stage::Crisp => mse,
            Stage::Margins | Stage::Likelihood => second,
            Stage::Joint => 0.5 * mse + 0.5 * second,
        };
        self.history.push(record);
        let is_better = |best: &Best<T>| is_better((best.epoch, best.loss), (self.epoch, loss), stage, epochs);
        let improved = loss.is_finite() && self.best.as_ref().is_none_or(is_better);
        if improved {
            let (theta, raw) = self.kept();
            let (theta, raw) = (theta.to_vec(), raw.clone());
            self.best = Some(Best {
                epoch: self.epoch,
                loss,
                theta,
                raw,
            });
        }
        improved
    }

    /// Epochs since the best one of a stage of so many, which patience counts; those whose best is replaced by any later one do not count.
    pub(super) fn epochs_since_best(&self, stage: Stage, epochs: usize) -> usize {
        let since = |best: &Best<T>| self.epoch.saturating_sub(best.epoch.max(early_epochs(stage, epochs)));
        self.best.as_ref().map_or(0, since)
    }

    /// Takes the best epoch's parameters and gets ready for the next stage.
    pub(super) fn finish_stage(&mut self, problem: &Problem<T>, stage: Stage, stopped: StopReason) -> Result<()> {
        let Some(best) = self.best.take() else {
            if let StopReason::Interrupted { epoch } = stopped {
                return Err(ModelError::Interrupted { epoch });
            }
            return Err(ModelError::Diverged {
                epoch: self.epoch,
                stage: stage.name(),
                learning_rate: problem.config.training.learning_rate,
            });
        };
        self.theta = best.theta;
        self.raw = match stage {
            Stage::Crisp => initial_margins(problem, &self.theta),
            Stage::Margins | Stage::Joint | Stage::Likelihood => best.raw,
        };
        if stage == Stage::Likelihood {
            let next = problem.initial_theta(self.stage + 1);
            self.members.push(core::mem::replace(&mut self.theta, next));
        }
        self.finished.push(StageInfo {
            stage,
            epochs: self.epoch,
            best_epoch: best.epoch,
            best_loss: best.loss,
            stopped,
        });
        self.adam = fresh_adam(problem);
        self.mean = None;
        self.stage += 1;
        self.epoch = 0;
        Ok(())
    }

    /// Starts the first stage from this θ in place of a random one.
    pub(super) fn start_from(&mut self, problem: &Problem<T>, theta: Vec<T>) {
        self.raw = initial_margins(problem, &theta);
        self.theta = theta;
    }

    /// Skips the crisp stage, whose result is this θ.
    pub(super) fn start_margins(&mut self, problem: &Problem<T>, theta: Vec<T>) {
        self.raw = initial_margins(problem, &theta);
        self.theta = theta;
        self.stage = 1;
    }

    /// The crisp stage's result, with the margins that another problem starts from.
    pub(super) fn clone_for(&self, problem: &Problem<T>) -> Self {
        Self {
            raw: initial_margins(problem, &self.theta),
            ..self.clone()
        }
    }

    pub(super) fn info(&self, duration: Duration) -> TrainInfo {
        TrainInfo {
            stages: self.finished.clone(),
            history: self.history.clone(),
            duration,
        }
    }
}

/// The first epochs of a stage of so many, which are kept only if nothing else is there.
///
/// In the first half of a joint stage margins are still on their way from where they start. A short validation part can like such a band
/// best, though it is many times too wide: any later epoch replaces those.
fn early_epochs(stage: Stage, epochs: usize) -> usize {
    match stage {
        Stage::Joint => epochs / 2,
        Stage::Crisp | Stage::Margins | Stage::Likelihood => 0,
    }
}

/// Whether an epoch (its number and loss) replaces the best so far of a stage of so many epochs.
fn is_better(best: (usize, f64), now: (usize, f64), stage: Stage, epochs: usize) -> bool {
    let is_early = |epoch: usize| epoch <= early_epochs(stage, epochs);
    match (is_early(best.0), is_early(now.0)) {
        (true, false) => true,
        _ => now.1 < best.1,
    }
}

fn fresh_adam<T: Real>(problem: &Problem<T>) -> [Adam<T>; 3] {
    [problem.theta_len(), problem.margins_len(), problem.margins_len()].map(Adam::new)
}

fn initial_margins<T: Real>(problem: &Problem<T>, theta: &[T]) -> RawMargins<T> {
    if problem.margins_len() == 0 {
        return RawMargins {
            lower: Vec::new(),
            upper: Vec::new(),
        };
    }
    RawMargins::initial(&problem.config.interval, &problem.layout, theta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_half_of_a_joint_stage_is_kept_only_until_the_second_begins() {
        let joint = |best, now| is_better(best, now, Stage::Joint, 10);
        assert!(joint((2, 1.0), (5, 0.9)) && !joint((2, 1.0), (5, 1.1)));
        assert!(joint((5, 1.0), (6, 3.0)));
        assert!(joint((6, 3.0), (7, 2.9)) && !joint((6, 3.0), (7, 3.1)));
        for stage in [Stage::Crisp, Stage::Margins, Stage::Likelihood] {
            assert!(!is_better((5, 1.0), (6, 3.0), stage, 10));
        }
    }

    #[test]
    fn a_margin_that_changes_its_sign_keeps_its_size_under_abs() {
        let raw = |value: f64| RawMargins {
            lower: vec![value],
            upper: vec![-value],
        };
        let mean_after = |margin: MarginActivation| {
            let mut mean = Mean::starting_at(&[1.0], &raw(0.5), margin);
            for step in 0..400 {
                let sign = if step % 2 == 0 { -1.0 } else { 1.0 };
                mean.take(&[2.0], &raw(0.5 * sign), margin, 0.9);
            }
            mean
        };
        let abs = mean_after(MarginActivation::Abs);
        assert!((abs.raw.lower[0] - 0.5).abs() < 1e-12 && (abs.raw.upper[0] - 0.5).abs() < 1e-12);
        assert!((abs.theta[0] - 2.0).abs() < 1e-6, "parameters are averaged as they are");
        // Under relu a negative value means no margin, so that its mean may be small.
        let relu = mean_after(MarginActivation::Relu);
        assert!(relu.raw.lower[0].abs() < 0.05, "{}", relu.raw.lower[0]);
    }
}
