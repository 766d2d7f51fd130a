//! Small models of every family that runs step by step, fitted or read once.

use std::path::Path;
use std::sync::OnceLock;

use anyhow::Context as _;
use intervalid_data::{InitialState, Lags};
use intervalid_model::{FitOptions, Model, ModelKind, Simulator};

use crate::uses::checkpoint_problem;

/// Folders of version 0.1 whose models run step by step.
const STEPWISE: [&str; 6] = [
    "arx",
    "auto-arx",
    "auto",
    "calibrated",
    "ilstm-joint",
    "inode-joint-f64",
];

/// One model of each family, in an order that does not change.
///
/// # Errors
/// If the repository's files cannot be read.
pub(crate) fn stepwise() -> anyhow::Result<&'static [Model]> {
    static MODELS: OnceLock<Vec<Model>> = OnceLock::new();
    if let Some(models) = MODELS.get() {
        return Ok(models);
    }
    let fits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/fixtures/v0.1");
    let mut models = vec![state_space()?];
    for name in STEPWISE {
        models.push(Model::load(fits.join(name).join("model.safetensors"))?);
    }
    for model in &models {
        Simulator::new(model).context("a model of the seeds")?;
    }
    Ok(MODELS.get_or_init(|| models))
}

/// A model with hidden states, which version 0.1 had not.
pub(crate) fn state_space() -> anyhow::Result<Model> {
    let (dataset, split, config) = checkpoint_problem()?;
    let lags = Lags::new(1, 0, 1)?;
    let config = config.with(|config| {
        config.model = ModelKind::Iss;
        config.lags = lags;
        config.initial = InitialState::History(5);
        config.network.hidden = vec![2, 0];
        config.network.states = Some(2);
    });
    Ok(Model::fit(&dataset, &split, &config, FitOptions::default())?.0)
}
