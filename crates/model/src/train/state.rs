//! Everything that training changes, and nothing else: what a checkpoint holds.

use std::time::Duration;

use intervalid_interval::Real;

use super::info::{EpochRecord, Stage, StageInfo, StopReason, TrainInfo};
use super::problem::Problem;
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
            ),
            mean: None,
            best: None,
            history: Vec::new(),
            finished: Vec::new(),
            members: Vec::new(),
        })
    }

    /// Takes the present iterate into the means; a `decay` of zero keeps none.
    ///
    /// The decay grows from 1/11 to its value, so that the start of a stage is soon forgotten.
    pub(super) fn average(&mut self, decay: f64) {
        if decay <= 0.0 {
            return;
        }
        let (theta, raw) = (&self.theta, &self.raw);
        let mean = self.mean.get_or_insert_with(|| Mean {
            theta: theta.clone(),
            raw: raw.clone(),
            iterations: 0,
        });
        mean.iterations += 1;
        let age = mean.iterations as f64;
        let share = T::of(1.0 - decay.min(age / (age + 10.0)));
        let sides = [
            (&mut mean.theta, theta),
            (&mut mean.raw.lower, &raw.lower),
            (&mut mean.raw.upper, &raw.upper),
        ];
        for (mean, now) in sides {
            for (mean, &now) in mean.iter_mut().zip(now) {
                *mean += share * (now - *mean);
            }
        }
    }

    /// What is validated and kept: the means where there are any, else the iterate.
    pub(super) fn kept(&self) -> (&[T], &RawMargins<T>) {
        match &self.mean {
            Some(mean) => (&mean.theta, &mean.raw),
            None => (&self.theta, &self.raw),
        }
    }

    /// Files an epoch; returns whether it is the best one of its stage.
    pub(super) fn record(&mut self, record: EpochRecord, stage: Stage) -> bool {
        // A missing loss is never the best.
        let [mse, second] = record.validation.map(|loss| loss.unwrap_or(f64::INFINITY));
        // docs/method.md, section 6: a stage is judged by its own loss, the joint one by the mean of both.
        let loss = match stage {
            Stage::Crisp => mse,
            Stage::Margins | Stage::Likelihood => second,
            Stage::Joint => 0.5 * mse + 0.5 * second,
        };
        self.history.push(record);
        let improved = loss.is_finite() && self.best.as_ref().is_none_or(|best| loss < best.loss);
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
