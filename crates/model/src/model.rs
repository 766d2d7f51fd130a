//! Any fitted model, for callers that take what a user asked for or a file holds.

use std::path::Path;

use intervalid_data::{Dataset, Part, Split};
use intervalid_interval::Real;

use crate::band::calibration::{Calibration, online_bands};
use crate::band::prediction::Band;
use crate::config::FitConfig;
use crate::error::{ModelError, Result};
use crate::family::ensemble::IntervalEnsemble;
use crate::family::gaussian::GaussianModel;
use crate::family::interval::IntervalModel;
use crate::family::linear::{LinearModel, search_lags};
use crate::file::model_file::{IN_MEMORY, ModelFile};
use crate::file::tensors::TensorReader;
use crate::interface::ModelInterface;
use crate::kind::{Method, ModelKind, Precision};
use crate::simulate::certified::CertifiedBand;
use crate::simulate::recursion::RecursionMode;
use crate::train::{FitOptions, TrainInfo, fit, fit_gaussian};

/// A fitted model in the precision it was fitted in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// Interval network, single precision.
    IntervalF32(IntervalModel<f32>),
    /// Interval network, double precision.
    IntervalF64(IntervalModel<f64>),
    /// Several interval networks averaged, single precision.
    IntervalEnsembleF32(IntervalEnsemble<f32>),
    /// Several interval networks averaged, double precision.
    IntervalEnsembleF64(IntervalEnsemble<f64>),
    /// Network with Gaussian likelihood, single precision.
    GaussianF32(GaussianModel<f32>),
    /// Network with Gaussian likelihood, double precision.
    GaussianF64(GaussianModel<f64>),
    /// ARX.
    Linear(LinearModel),
}

/// The same expression for every kind of model.
macro_rules! any {
    ($self:ident, $model:ident => $value:expr) => {
        match $self {
            Self::IntervalF32($model) => $value,
            Self::IntervalF64($model) => $value,
            Self::IntervalEnsembleF32($model) => $value,
            Self::IntervalEnsembleF64($model) => $value,
            Self::GaussianF32($model) => $value,
            Self::GaussianF64($model) => $value,
            Self::Linear($model) => $value,
        }
    };
}

/// The same expression for interval networks of either precision, an error for all others.
macro_rules! interval {
    ($self:ident, $model:ident => $value:expr) => {
        match $self {
            Self::IntervalF32($model) => $value,
            Self::IntervalF64($model) => $value,
            _ => Err(ModelError::option("model", $self.kind(), "a single interval network")),
        }
    };
}

impl Model {
    /// Fits the configured model to the training part of a record; lags are searched first where the configuration says
    /// so. The test part is not looked at.
    ///
    /// # Errors
    /// [`ModelError`] if an option is out of range, the record is too short for what was asked, a checkpoint is damaged
    /// or of another fit, or no epoch gave a finite result.
    pub fn fit(
        dataset: &Dataset,
        split: &Split,
        config: &FitConfig,
        options: FitOptions<'_>,
    ) -> Result<(Self, TrainInfo)> {
        config.check()?;
        let mut config = config.clone();
        if config.lag_search {
            config.lags = search_lags(dataset, split, &config)?;
        }
        let config = &config;
        match (config.model.method(), config.precision) {
            (Method::Linear, _) => {
                let started = std::time::Instant::now();
                let model = LinearModel::fit(dataset, split, config)?;
                let info = TrainInfo {
                    stages: Vec::new(),
                    history: Vec::new(),
                    duration: started.elapsed(),
                };
                Ok((Self::Linear(model), info))
            }
            (Method::Interval, Precision::F32) => fitted(fit::<f32>(dataset, split, config, options)),
            (Method::Interval, Precision::F64) => fitted(fit::<f64>(dataset, split, config, options)),
            (_, Precision::F32) => fitted(fit_gaussian::<f32>(dataset, split, config, options)),
            (_, Precision::F64) => fitted(fit_gaussian::<f64>(dataset, split, config, options)),
        }
    }

    /// Reads a model file.
    ///
    /// The model is the saved one to the bit. Sizes in the file are compared with its length before anything of that size
    /// is built.
    ///
    /// # Errors
    /// [`ModelError::File`] if the file cannot be read, [`ModelError::Format`] with what was found and what was expected
    /// if it is anything but an undamaged model of a known format.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let (reader, metadata) = TensorReader::open(path.as_ref(), "model")?;
        Self::read(&reader, &metadata)
    }

    /// The model in the bytes of a model file.
    ///
    /// # Errors
    /// Those of [`Model::load`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let (reader, metadata) = TensorReader::new(Path::new(IN_MEMORY), "model", bytes)?;
        Self::read(&reader, &metadata)
    }

    fn read(reader: &TensorReader, metadata: &str) -> Result<Self> {
        let model = if reader.precision()? == f32::NAME {
            let stored = ModelFile::<f32>::read(reader, metadata)?;
            match stored.method() {
                Method::Interval if stored.members() > 1 => stored.into_ensemble().map(Self::IntervalEnsembleF32),
                Method::Interval => stored.into_interval().map(Self::IntervalF32),
                _ => stored.into_gaussian().map(Self::GaussianF32),
            }
        } else {
            let stored = ModelFile::<f64>::read(reader, metadata)?;
            match stored.method() {
                Method::Interval if stored.members() > 1 => stored.into_ensemble().map(Self::IntervalEnsembleF64),
                Method::Interval => stored.into_interval().map(Self::IntervalF64),
                Method::Linear => stored.into_linear().map(Self::Linear),
                _ => stored.into_gaussian().map(Self::GaussianF64),
            }
        };
        model.ok_or_else(|| reader.damaged("its tensors are f32, an ARX model's are f64"))
    }

    /// Writes the model to a file, `model.safetensors` by convention, replacing it in one step.
    ///
    /// # Errors
    /// Those of [`IntervalModel::save`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        any!(self, model => model.save(path))
    }

    /// The bytes that [`save`](Self::save) writes, for [`from_bytes`](Self::from_bytes).
    ///
    /// # Errors
    /// Those of [`IntervalModel::save`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        any!(self, model => model.stored().bytes())
    }

    /// Which model it is.
    #[must_use]
    pub fn kind(&self) -> ModelKind {
        self.config().model
    }

    /// Numbers that were fitted, without margins and spreads: coefficients, or weights of all members.
    #[must_use]
    pub fn parameters(&self) -> usize {
        match self {
            Self::IntervalF32(model) => model.theta().len(),
            Self::IntervalF64(model) => model.theta().len(),
            Self::IntervalEnsembleF32(model) => model.members().iter().map(|member| member.theta().len()).sum(),
            Self::IntervalEnsembleF64(model) => model.members().iter().map(|member| member.theta().len()).sum(),
            Self::GaussianF32(model) => model.members().iter().map(Vec::len).sum(),
            Self::GaussianF64(model) => model.members().iter().map(Vec::len).sum(),
            Self::Linear(model) => model.arx().coefficients.iter().map(|row| row.len() + 1).sum(),
        }
    }

    /// Interval networks whose mean it is; 1 for every other model.
    #[must_use]
    pub fn members(&self) -> usize {
        match self {
            Self::IntervalEnsembleF32(model) => model.members().len(),
            Self::IntervalEnsembleF64(model) => model.members().len(),
            _ => 1,
        }
    }

    /// Channels it was fitted on, and their scaling.
    #[must_use]
    pub fn interface(&self) -> &ModelInterface {
        any!(self, model => model.interface())
    }

    /// The resolved configuration of the fit.
    #[must_use]
    pub fn config(&self) -> &FitConfig {
        any!(self, model => model.config())
    }

    /// Free-run simulation with prediction intervals over every segment of a part, started as the model was trained.
    ///
    /// # Errors
    /// If the data have other channels or the part is too short.
    pub fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        any!(self, model => model.simulate(dataset, part))
    }

    /// The bands of [`simulate`](Self::simulate) as they would have been had their scale followed the measured outputs of
    /// `dataset`, each sample's band knowing the samples before it only ([`OnlineBand`](crate::OnlineBand)).
    ///
    /// # Errors
    /// If the bands do not belong to the data.
    pub fn online(&self, dataset: &Dataset, bands: &[Band]) -> Result<Vec<Band>> {
        online_bands(self.interface(), self.config().coverage, dataset, bands)
    }

    /// For every band, which of its samples lie outside the region of the training data; none where the model does not
    /// know that region.
    ///
    /// # Errors
    /// If the data have other channels.
    pub fn extrapolated(&self, dataset: &Dataset, bands: &[Band]) -> Result<Option<Vec<Vec<bool>>>> {
        self.interface().extrapolated(dataset, bands)
    }

    /// The same model with its band scaled; `None` gives back the band it was trained with.
    ///
    /// # Errors
    /// If the calibration is of another number of outputs or has values out of range.
    pub fn calibrated(mut self, calibration: Option<Calibration>) -> Result<Self> {
        if let Some(calibration) = &calibration {
            let outputs = self.interface().outputs.len();
            calibration
                .check(outputs)
                .map_err(|reason| ModelError::option("calibration", reason, "one sound scaling per output"))?;
        }
        self.each_signature(|interface| interface.calibration.clone_from(&calibration));
        Ok(self)
    }

    /// The same model knowing the region of `part`, which it was fitted on: samples outside can be told.
    ///
    /// # Errors
    /// If the data have other channels or the part is too short.
    pub fn with_region(mut self, dataset: &Dataset, part: &Part) -> Result<Self> {
        let bands = self.simulate(dataset, part)?;
        let region = self.interface().region_of(dataset, &bands, self.config().lags)?;
        self.each_signature(|interface| interface.region.clone_from(&region));
        Ok(self)
    }

    fn each_signature(&mut self, mut change: impl FnMut(&mut ModelInterface)) {
        match self {
            Self::IntervalF32(model) => change(&mut model.interface),
            Self::IntervalF64(model) => change(&mut model.interface),
            Self::IntervalEnsembleF32(model) => model.members_mut().iter_mut().for_each(|m| change(&mut m.interface)),
            Self::IntervalEnsembleF64(model) => model.members_mut().iter_mut().for_each(|m| change(&mut m.interface)),
            Self::GaussianF32(model) => change(&mut model.interface),
            Self::GaussianF64(model) => change(&mut model.interface),
            Self::Linear(model) => change(&mut model.interface),
        }
    }

    /// The same model with a band for another coverage, where that needs no training: the Gaussian baselines.
    ///
    /// # Errors
    /// If `coverage` is not between 0 and 1, or the model's band was fitted for its own coverage.
    pub fn at_coverage(&self, coverage: f64) -> Result<Self> {
        match self {
            Self::GaussianF32(model) => model.at_coverage(coverage).map(Self::GaussianF32),
            Self::GaussianF64(model) => model.at_coverage(coverage).map(Self::GaussianF64),
            _ => Err(ModelError::option(
                "coverage",
                coverage,
                format!("{}, which this band was fitted for", self.config().coverage),
            )),
        }
    }

    /// Simulation with another feedback of intervals, as [`IntervalModel::simulate_with`].
    ///
    /// # Errors
    /// Those of [`IntervalModel::simulate_with`], and if the model is no interval network.
    pub fn simulate_with(&self, dataset: &Dataset, part: &Part, mode: RecursionMode) -> Result<Vec<Band>> {
        interval!(self, model => model.simulate_with(dataset, part, mode))
    }

    /// Certified bounds, as [`IntervalModel::simulate_certified`].
    ///
    /// # Errors
    /// Those of [`IntervalModel::simulate_certified`], and if the model is no interval network.
    pub fn simulate_certified(&self, dataset: &Dataset, part: &Part) -> Result<Vec<CertifiedBand>> {
        interval!(self, model => model.simulate_certified(dataset, part))
    }
}

fn fitted<M: Into<Model>>(result: Result<(M, TrainInfo)>) -> Result<(Model, TrainInfo)> {
    result.map(|(model, info)| (model.into(), info))
}

/// A model of one kind is a model.
macro_rules! from {
    ($($model:ty => $variant:ident),+) => {
        $(impl From<$model> for Model {
            fn from(model: $model) -> Self {
                Self::$variant(model)
            }
        })+
    };
}

from! {
    IntervalModel<f32> => IntervalF32,
    IntervalModel<f64> => IntervalF64,
    IntervalEnsemble<f32> => IntervalEnsembleF32,
    IntervalEnsemble<f64> => IntervalEnsembleF64,
    GaussianModel<f32> => GaussianF32,
    GaussianModel<f64> => GaussianF64,
    LinearModel => Linear
}
