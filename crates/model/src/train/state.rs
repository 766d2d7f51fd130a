//! Everything that training changes, and nothing else: what a checkpoint holds.

use std::time::Duration;

use intervalid_interval::Real;

use super::info::{EpochRecord, Stage, StageInfo, StopReason, TrainInfo};
use super::problem::Problem;
use crate::error::{ModelError, Result};
use crate::margin::RawMargins;
use crate::optim::{Adam, GradNorm};

/// Parameters of the best epoch of a stage.
#[derive(Clone, Debug)]
pub(super) struct Best<T> {
    pub(super) epoch: usize,
    pub(super) loss: f64,
    pub(super) theta: Vec<T>,
    pub(super) raw: RawMargins<T>,
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
    pub(super) best: Option<Best<T>>,
    pub(super) history: Vec<EpochRecord>,
    pub(super) finished: Vec<StageInfo>,
}

impl<T: Real> State<T> {
    pub(super) fn new(problem: &Problem<T>) -> Result<Self> {
        let theta = problem.initial_theta();
        let raw = RawMargins::initial(&problem.config, &problem.layout, &theta);
        Ok(Self {
            stage: 0,
            epoch: 0,
            adam: core::array::from_fn(|_| Adam::new(theta.len())),
            theta,
            raw,
            gradnorm: GradNorm::new(problem.config.gradnorm_beta, problem.config.gradnorm_rate),
            best: None,
            history: Vec::new(),
            finished: Vec::new(),
        })
    }

    /// Files an epoch; returns whether it is the best one of its stage.
    pub(super) fn record(&mut self, record: EpochRecord, stage: Stage) -> bool {
        let [mse, rqr_w] = record.validation;
        // Spec section 6: a stage is judged by its own loss, the joint one by the mean of both.
        let loss = match stage {
            Stage::Crisp => mse,
            Stage::Margins => rqr_w,
            Stage::Joint => 0.5 * mse + 0.5 * rqr_w,
        };
        self.history.push(record);
        let improved = loss.is_finite() && self.best.as_ref().is_none_or(|best| loss < best.loss);
        if improved {
            let (theta, raw) = (self.theta.clone(), self.raw.clone());
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
            return Err(ModelError::Diverged {
                epoch: self.epoch,
                stage: stage.name(),
                learning_rate: problem.config.learning_rate,
            });
        };
        self.theta = best.theta;
        self.raw = match stage {
            Stage::Crisp => RawMargins::initial(&problem.config, &problem.layout, &self.theta),
            Stage::Margins | Stage::Joint => best.raw,
        };
        self.finished.push(StageInfo {
            stage,
            epochs: self.epoch,
            best_epoch: best.epoch,
            best_loss: best.loss,
            stopped,
        });
        self.adam = core::array::from_fn(|_| Adam::new(self.theta.len()));
        self.stage += 1;
        self.epoch = 0;
        Ok(())
    }

    pub(super) fn info(&self, duration: Duration) -> TrainInfo {
        TrainInfo {
            stages: self.finished.clone(),
            history: self.history.clone(),
            duration,
        }
    }
}
