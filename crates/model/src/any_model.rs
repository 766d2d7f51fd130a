//! A model of either precision, for callers that take what a file holds.

use std::path::Path;

use intervalid_data::{Channel, Dataset, Normaliser, Part};
use intervalid_interval::Real;

use crate::certify::CertifiedBand;
use crate::config::FitConfig;
use crate::error::Result;
use crate::model::Model;
use crate::network::Architecture;
use crate::persist;
use crate::prediction::Band;
use crate::recursion::RecursionMode;
use crate::tensors::TensorReader;

/// A fitted model in the precision it was saved in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyModel {
    /// Single precision.
    F32(Model<f32>),
    /// Double precision.
    F64(Model<f64>),
}

/// The same expression for either precision.
macro_rules! either {
    ($self:ident, $model:ident => $value:expr) => {
        match $self {
            Self::F32($model) => $value,
            Self::F64($model) => $value,
        }
    };
}

impl AnyModel {
    /// Reads a model file.
    ///
    /// # Errors
    /// Those of [`Model::load`], but for the precision, which is the file's.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let (reader, metadata) = TensorReader::open(path.as_ref(), "model")?;
        if reader.precision()? == f32::NAME {
            persist::read(&reader, &metadata).map(Self::F32)
        } else {
            persist::read(&reader, &metadata).map(Self::F64)
        }
    }

    /// Writes the model to a file, as [`Model::save`].
    ///
    /// # Errors
    /// Those of [`Model::save`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        either!(self, model => model.save(path))
    }

    /// `"f32"` or `"f64"`.
    #[must_use]
    pub fn precision(&self) -> &'static str {
        match self {
            Self::F32(_) => f32::NAME,
            Self::F64(_) => f64::NAME,
        }
    }

    /// Shape of the network.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        either!(self, model => model.architecture())
    }

    /// θ, flat, each value exactly; [`Architecture::layout`] says what is where.
    #[must_use]
    pub fn theta(&self) -> Vec<f64> {
        either!(self, model => widened(model.theta()))
    }

    /// Δ_lo and Δ_hi, flat, each value exactly.
    #[must_use]
    pub fn margins(&self) -> (Vec<f64>, Vec<f64>) {
        either!(self, model => {
            let (lower, upper) = model.margins();
            (widened(lower), widened(upper))
        })
    }

    /// Scaling of the channels.
    #[must_use]
    pub fn normaliser(&self) -> &Normaliser {
        either!(self, model => model.normaliser())
    }

    /// Input channels it was fitted on.
    #[must_use]
    pub fn inputs(&self) -> &[Channel] {
        either!(self, model => model.inputs())
    }

    /// Output channels it was fitted on.
    #[must_use]
    pub fn outputs(&self) -> &[Channel] {
        either!(self, model => model.outputs())
    }

    /// Sample time of the record it was fitted on.
    #[must_use]
    pub fn sample_time(&self) -> Option<f64> {
        either!(self, model => model.sample_time())
    }

    /// The resolved configuration of the fit.
    #[must_use]
    pub fn config(&self) -> &FitConfig {
        either!(self, model => model.config())
    }

    /// Free-run simulation with prediction intervals, as [`Model::simulate`].
    ///
    /// # Errors
    /// Those of [`Model::simulate`].
    pub fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        either!(self, model => model.simulate(dataset, part))
    }

    /// Simulation with another feedback of intervals, as [`Model::simulate_with`].
    ///
    /// # Errors
    /// Those of [`Model::simulate_with`].
    pub fn simulate_with(&self, dataset: &Dataset, part: &Part, mode: RecursionMode) -> Result<Vec<Band>> {
        either!(self, model => model.simulate_with(dataset, part, mode))
    }

    /// Certified bounds, as [`Model::simulate_certified`].
    ///
    /// # Errors
    /// Those of [`Model::simulate_certified`].
    pub fn simulate_certified(&self, dataset: &Dataset, part: &Part) -> Result<Vec<CertifiedBand>> {
        either!(self, model => model.simulate_certified(dataset, part))
    }
}

impl From<Model<f32>> for AnyModel {
    fn from(model: Model<f32>) -> Self {
        Self::F32(model)
    }
}

impl From<Model<f64>> for AnyModel {
    fn from(model: Model<f64>) -> Self {
        Self::F64(model)
    }
}

fn widened<T: Real>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.as_f64()).collect()
}
