//! A model's identity: what its step computes, in one hash.

use std::fmt::Write as _;

use intervalid_interval::Real;
use sha2::{Digest as _, Sha256};

use crate::family::gaussian::GaussianModel;
use crate::family::interval::IntervalModel;
use crate::interface::ModelInterface;
use crate::model::Model;

impl Model {
    /// SHA-256, in hexadecimal, of all that decides this model's numbers: kind, precision, lags, start, coverage,
    /// channels, scaling, calibration and parameters. How it was trained does not enter.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let config = self.config();
        let ModelInterface {
            inputs,
            outputs,
            sample_time,
            normaliser,
            calibration,
            region: _,
        } = self.interface();
        // Debug prints every number so that it reads back to the bit.
        let scaling = calibration.as_ref().map(|calibration| &calibration.outputs);
        hash.update(format!(
            "intervalid 1 {} {} {} {:?} {} {} {:?} {inputs:?} {outputs:?} {sample_time:?} {normaliser:?} {scaling:?}",
            config.model,
            config.precision.name(),
            config.lags,
            config.hidden,
            config.linear_path,
            config.initial,
            config.coverage,
        ));
        match self {
            Self::IntervalF32(model) => add_interval(&mut hash, model),
            Self::IntervalF64(model) => add_interval(&mut hash, model),
            Self::IntervalEnsembleF32(model) => model.members().iter().for_each(|m| add_interval(&mut hash, m)),
            Self::IntervalEnsembleF64(model) => model.members().iter().for_each(|m| add_interval(&mut hash, m)),
            Self::GaussianF32(model) => add_gaussian(&mut hash, model),
            Self::GaussianF64(model) => add_gaussian(&mut hash, model),
            Self::Linear(model) => {
                add(&mut hash, model.half_width());
                model
                    .arx()
                    .coefficients
                    .iter()
                    .chain([&model.arx().bias])
                    .for_each(|row| add(&mut hash, row));
            }
        }
        let mut text = String::new();
        for byte in hash.finalize() {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

fn add<T: Real>(hash: &mut Sha256, values: &[T]) {
    hash.update(values.len().to_le_bytes());
    for value in values {
        hash.update(value.as_f64().to_le_bytes());
    }
}

fn add_interval<T: Real>(hash: &mut Sha256, model: &IntervalModel<T>) {
    let (lower, upper) = model.margins();
    [model.theta(), lower, upper]
        .into_iter()
        .for_each(|values| add(hash, values));
}

fn add_gaussian<T: Real>(hash: &mut Sha256, model: &GaussianModel<T>) {
    model
        .members()
        .iter()
        .chain([&model.spread])
        .for_each(|values| add(hash, values));
}
