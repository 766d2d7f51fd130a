//! A model's identity: what its step computes, in one hash.

use std::fmt::Write as _;

use intervalid_data::{Channel, InitialState, Lags, Normaliser, Preparation, Trend};
use intervalid_interval::Real;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::band::calibration::Scaling;
use crate::band::horizon::HorizonScales;
use crate::band::limits::OutputRange;
use crate::config::Feedback;
use crate::error::{ModelError, Result};
use crate::family::body::ParameterSets;
use crate::kind::{Method, ModelKind, Precision};
use crate::model::Model;

/// What decides a model's numbers besides its parameters; numbers in JSON read back to the bit.
#[derive(Serialize)]
struct Identity<'a> {
    fingerprint: u32,
    model: ModelKind,
    precision: Precision,
    lags: Lags,
    hidden: &'a [usize],
    linear_path: bool,
    /// Of state-space models alone, so that the others keep their identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<usize>,
    initial: InitialState,
    coverage: f64,
    inputs: &'a [Channel],
    outputs: &'a [Channel],
    sample_time: Option<f64>,
    normaliser: &'a Normaliser,
    calibration: Option<&'a [Scaling]>,
    half_width: &'a [f64],
    /// Of baselines whose networks feed themselves, so that the others keep their identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<Feedback>,
    #[serde(skip_serializing_if = "Option::is_none")]
    horizons: Option<&'a HorizonScales>,
    /// Of models with limits alone, so that the others keep their identity.
    #[serde(skip_serializing_if = "<[OutputRange]>::is_empty")]
    output_ranges: &'a [OutputRange],
    /// Of models with some alone, for the same reason.
    #[serde(skip_serializing_if = "Preparation::is_none")]
    preparation: &'a Preparation,
    #[serde(skip_serializing_if = "Option::is_none")]
    trend: Option<&'a Trend>,
}

impl Model {
    /// SHA-256, in hexadecimal, of all that decides this model's numbers: kind, precision, lags, start, coverage,
    /// channels, scaling, calibration and parameters. How it was trained does not enter.
    ///
    /// # Errors
    /// If a number of the model has no JSON form, which no model of ours has.
    pub fn fingerprint(&self) -> Result<String> {
        let (config, interface) = (self.config(), self.interface());
        let is_baseline = !matches!(config.model.method(), Method::Interval | Method::Linear);
        let identity = Identity {
            fingerprint: 2,
            model: config.model,
            precision: config.precision,
            lags: config.lags,
            hidden: &config.network.hidden,
            linear_path: config.network.linear_path,
            states: (config.model == ModelKind::Iss).then_some(config.network.states_or_default()),
            initial: config.initial,
            feedback: Some(config.gaussian.feedback).filter(|feedback| is_baseline && *feedback == Feedback::Own),
            coverage: config.coverage,
            inputs: &interface.inputs,
            outputs: &interface.outputs,
            sample_time: interface.sample_time,
            normaliser: &interface.normaliser,
            calibration: interface.calibration.as_ref().map(|found| found.outputs.as_slice()),
            half_width: self.body().half_width(),
            horizons: interface.horizons.as_ref(),
            output_ranges: &interface.output_ranges,
            preparation: &interface.preparation,
            trend: interface.trend.as_ref(),
        };
        let mut hash = Sha256::new();
        hash.update(serde_json::to_vec(&identity).map_err(|source| ModelError::Serialise {
            what: "the identity of a model",
            source,
        })?);
        match self.body().parameter_sets() {
            ParameterSets::F32(sets) => sets.iter().for_each(|values| add(&mut hash, values)),
            ParameterSets::F64(sets) => sets.iter().for_each(|values| add(&mut hash, values)),
        }
        Ok(hash.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }))
    }
}

fn add<T: Real>(hash: &mut Sha256, values: &[T]) {
    hash.update((values.len() as u64).to_le_bytes());
    for value in values {
        hash.update(value.as_f64().to_le_bytes());
    }
}
