//! Checkpoints: the whole [`State`] after an epoch, to the bit.

use std::path::Path;

use intervalid_interval::Real;
use serde::{Deserialize, Serialize};

use super::info::{EpochRecord, Stage, StageInfo, StopReason};
use super::problem::Problem;
use super::state::{Best, Mean, State};
use crate::error::{FileKind, ModelError, Result};
use crate::file::tensors::{TensorReader, TensorWriter};
use crate::train::margin::RawMargins;
use crate::train::optim::{Adam, GradNorm, GradNormOptimiser};

/// Grows with every change of the file's content.
const FORMAT: u32 = 2;

/// What is not a tensor. Numbers that must survive to the bit are stored as tensors of bit patterns' values instead.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    fingerprint: String,
    stage: usize,
    epoch: usize,
    adam_steps: [u64; 3],
    mean_iterations: Option<u64>,
    best_epoch: Option<usize>,
    history: Vec<(Stage, usize)>,
    finished: Vec<(Stage, usize, usize, StopReason)>,
    has_initial_losses: bool,
    members: usize,
}

/// Scalars per epoch in the tensor `history`.
const HISTORY_COLUMNS: usize = 7;

pub(super) fn write<T: Real>(path: &Path, problem: &Problem<T>, state: &State<T>) -> Result<()> {
    let header = Header {
        format: FORMAT,
        fingerprint: problem.fingerprint()?,
        stage: state.stage,
        epoch: state.epoch,
        adam_steps: [0, 1, 2].map(|i| state.adam[i].steps),
        mean_iterations: state.mean.as_ref().map(|mean| mean.iterations),
        best_epoch: state.best.as_ref().map(|best| best.epoch),
        history: state
            .history
            .iter()
            .map(|record| (record.stage, record.epoch))
            .collect(),
        finished: state
            .finished
            .iter()
            .map(|s| (s.stage, s.epochs, s.best_epoch, s.stopped))
            .collect(),
        has_initial_losses: state.gradnorm.initial_losses.is_some(),
        members: state.members.len(),
    };
    let mut file = TensorWriter::default();
    let mut push = |name: &str, values: &[T]| file.push(name, vec![values.len()], values);
    push("theta", &state.theta);
    push("raw_lower", &state.raw.lower);
    push("raw_upper", &state.raw.upper);
    for (index, adam) in state.adam.iter().enumerate() {
        push(&format!("adam_{index}_first"), &adam.first);
        push(&format!("adam_{index}_second"), &adam.second);
    }
    if let Some(mean) = &state.mean {
        push("mean_theta", &mean.theta);
        push("mean_raw_lower", &mean.raw.lower);
        push("mean_raw_upper", &mean.raw.upper);
    }
    if let Some(best) = &state.best {
        push("best_theta", &best.theta);
        push("best_raw_lower", &best.raw.lower);
        push("best_raw_upper", &best.raw.upper);
    }
    for (index, member) in state.members.iter().enumerate() {
        push(&format!("member_{index}"), member);
    }
    let mut scalars = |name: &str, values: &[f64]| {
        // The reader refuses what is not finite, and NaN and infinity do occur here: store bits in halves.
        let halves: Vec<f64> = values
            .iter()
            .flat_map(|value| [(value.to_bits() >> 32) as u32, value.to_bits() as u32])
            .map(f64::from)
            .collect();
        file.push(name, vec![halves.len()], &halves);
    };
    let losses = state.gradnorm.initial_losses.unwrap_or_default();
    let [s_mse, s_rqr] = state.gradnorm.scales;
    let moments = state.gradnorm.adam.as_ref().map_or([0.0; 5], |adam| {
        let steps = adam.steps as f64;
        [steps, adam.first[0], adam.first[1], adam.second[0], adam.second[1]]
    });
    scalars(
        "gradnorm",
        &[&[s_mse, s_rqr, losses[0], losses[1]], &moments[..]].concat(),
    );
    scalars("best_loss", &[state.best.as_ref().map_or(f64::NAN, |best| best.loss)]);
    scalars(
        "finished_losses",
        &state.finished.iter().map(|stage| stage.best_loss).collect::<Vec<_>>(),
    );
    let history = state.history.iter().flat_map(|r| {
        [
            r.train[0].unwrap_or(f64::NAN),
            r.train[1].unwrap_or(f64::NAN),
            r.validation[0].unwrap_or(f64::NAN),
            r.validation[1].unwrap_or(f64::NAN),
            r.learning_rate,
            r.scales[0],
            r.scales[1],
        ]
    });
    scalars("history", &history.collect::<Vec<_>>());
    let header = serde_json::to_string(&header).map_err(|source| ModelError::Serialise {
        what: "the state of training",
        source,
    })?;
    file.write(path, &header)
}

pub(super) fn read<T: Real>(path: &Path, problem: &Problem<T>) -> Result<State<T>> {
    let (reader, text) = TensorReader::open(path, FileKind::Checkpoint)?;
    let header: Header = serde_json::from_str(&text).map_err(|error| reader.damaged(error.to_string()))?;
    if header.format != FORMAT {
        let reason = format!("it has format {}, this version reads {FORMAT}", header.format);
        return Err(reader.damaged(reason));
    }
    if header.fingerprint != problem.fingerprint()? {
        let reason = "it belongs to another configuration or other data, or to another version of the program or SIMD level: choose another \
                      folder or delete it";
        return Err(reader.damaged(reason));
    }
    let tensors = reader.tensors()?;
    let theta = |name: &str| reader.get::<T>(&tensors, name, &[problem.theta_len()]);
    let margins = |name: &str| reader.get::<T>(&tensors, name, &[problem.margins_len()]);
    let scalars = |name: &str, count: usize| -> Result<Vec<f64>> {
        let halves = reader.get::<f64>(&tensors, name, &[2 * count])?;
        Ok(halves
            .chunks_exact(2)
            .map(|half| f64::from_bits(((half[0] as u64) << 32) | half[1] as u64))
            .collect())
    };
    let adam = |index: usize| -> Result<Adam<T>> {
        let get = |name: &str| if index == 0 { theta(name) } else { margins(name) };
        Ok(Adam {
            first: get(&format!("adam_{index}_first"))?,
            second: get(&format!("adam_{index}_second"))?,
            steps: header.adam_steps[index],
        })
    };
    let mean = match header.mean_iterations {
        None => None,
        Some(iterations) => Some(Mean {
            theta: theta("mean_theta")?,
            raw: RawMargins {
                lower: margins("mean_raw_lower")?,
                upper: margins("mean_raw_upper")?,
            },
            iterations,
        }),
    };
    let best = match header.best_epoch {
        None => None,
        Some(epoch) => Some(Best {
            epoch,
            loss: scalars("best_loss", 1)?[0],
            theta: theta("best_theta")?,
            raw: RawMargins {
                lower: margins("best_raw_lower")?,
                upper: margins("best_raw_upper")?,
            },
        }),
    };
    let gradnorm = scalars("gradnorm", 9)?;
    let with_adam = problem.config.interval.gradnorm_optimiser == GradNormOptimiser::Adam;
    let rows = scalars("history", header.history.len() * HISTORY_COLUMNS)?;
    let history = header
        .history
        .iter()
        .zip(rows.chunks_exact(HISTORY_COLUMNS))
        .map(|(&(stage, epoch), row)| {
            // A loss that a stage does not use is stored as NaN.
            let used = |loss: f64| Some(loss).filter(|loss| !loss.is_nan());
            let (train, validation) = ([used(row[0]), used(row[1])], [used(row[2]), used(row[3])]);
            EpochRecord {
                stage,
                epoch,
                train,
                validation,
                learning_rate: row[4],
                scales: [row[5], row[6]],
            }
        });
    let losses = scalars("finished_losses", header.finished.len())?;
    let finished = header
        .finished
        .iter()
        .zip(losses)
        .map(|(&(stage, epochs, best_epoch, stopped), best_loss)| StageInfo {
            stage,
            epochs,
            best_epoch,
            best_loss,
            stopped,
        });
    Ok(State {
        stage: header.stage,
        epoch: header.epoch,
        theta: theta("theta")?,
        raw: RawMargins {
            lower: margins("raw_lower")?,
            upper: margins("raw_upper")?,
        },
        members: (0..header.members)
            .map(|index| theta(&format!("member_{index}")))
            .collect::<Result<_>>()?,
        adam: [adam(0)?, adam(1)?, adam(2)?],
        gradnorm: GradNorm {
            scales: [gradnorm[0], gradnorm[1]],
            initial_losses: header.has_initial_losses.then(|| [gradnorm[2], gradnorm[3]]),
            beta: problem.config.interval.gradnorm_beta,
            rate: problem.config.interval.gradnorm_rate,
            adam: with_adam.then(|| Adam {
                steps: gradnorm[4] as u64,
                first: gradnorm[5..7].to_vec(),
                second: gradnorm[7..9].to_vec(),
            }),
        },
        mean,
        best,
        history: history.collect(),
        finished: finished.collect(),
    })
}
