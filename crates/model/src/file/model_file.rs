//! `model.safetensors`: a fitted model in one file that other programs can read too.
//!
//! Tensors are row-major in the model's precision. `<layer>` counts from 0, the last one is the read-out:
//!
//! | model | tensors |
//! |---|---|
//! | interval | `theta.<layer>.weight`, `.recurrent`, `.bias` (`theta.linear.weight` for a linear path), and the same under `margin_lower.` and `margin_upper.`, both ≥ 0 (Δ after σ_Δ, spec section 5) |
//! | several interval networks | the same under `member.0.`, `member.1.` … |
//! | dropout | as `theta.` above; the read-out's rows are the means of all outputs, then s of all outputs |
//! | Bayesian | the same, `theta.` are the means and `spread.` ≥ 0 the standard deviations |
//! | ensemble | the same under `member.0.theta.`, `member.1.theta.` … |
//! | ARX | `theta.linear.weight`, `theta.linear.bias`, always f64 |
//!
//! The metadata key `intervalid` is a JSON string:
//!
//! | field | content |
//! |---|---|
//! | `format` | 1 |
//! | `version` | of the program that wrote it, for information |
//! | `architecture` | name of the model: `inode`, `ilstm`, `bnode` … `arx` |
//! | `lags` | `nx`, `nd`, `ny` |
//! | `hidden` | widths, first to last; none in ARX |
//! | `linear_path` | whether y = A·x + network |
//! | `initial_state` | `zero`, `measured` or `warmup:N` |
//! | `coverage` | α |
//! | `sample_time` | seconds or null |
//! | `channels` | `inputs` and `outputs`, each with `name` and `unit` |
//! | `normaliser` | `inputs` and `outputs`, each with `mean` and `std` |
//! | `half_width` | of ARX only: half the width of the band of each output, in its unit |
//! | `members` | of several interval networks only: how many |
//! | `calibration` | left out where there is none: per output `lower`, `upper` and `floor` (see `Scaling`), and where they come from |
//! | `region` | left out where it is not known: the region of the training data (see `TrainingRegion`) |
//! | `config` | the resolved configuration of the fit |
//!
//! With spec sections 2, 3 and 8 this is enough to rebuild the forward pass; a test below does so by naive loops.

use std::collections::HashSet;
use std::path::Path;

use intervalid_data::ArxModel;
use intervalid_interval::Real;
use safetensors::SafeTensors;

use super::header::{Channels, FORMAT, Header, read_header};
use crate::config::FitConfig;
use crate::error::{ModelError, Result};
use crate::family::ensemble::IntervalEnsemble;
use crate::family::gaussian::GaussianModel;
use crate::family::interval::IntervalModel;
use crate::family::linear::LinearModel;
use crate::file::tensors::{TensorReader, TensorWriter};
use crate::interface::ModelInterface;
use crate::kind::Method;
use crate::network::{Architecture, Block, LayerId, NetworkKind, Role};

const THETA: &str = "theta";
const MARGIN_LOWER: &str = "margin_lower";
const MARGIN_UPPER: &str = "margin_upper";
const SPREAD: &str = "spread";

/// Stands in messages for the path of a model that is no file.
pub(crate) const IN_MEMORY: &str = "(bytes in memory)";

/// A file's content: parameter vectors of one layout, in the order of [`set_names`].
pub(crate) struct ModelFile<T> {
    config: FitConfig,
    interface: ModelInterface,
    half_width: Vec<f64>,
    /// Interval networks in it; 1 for all other models.
    members: usize,
    sets: Vec<Vec<T>>,
}

/// Prefixes of the parameter vectors of a model.
fn set_names(config: &FitConfig, members: usize) -> Vec<String> {
    match config.model.method() {
        Method::Interval if members > 1 => (0..members)
            .flat_map(|member| [THETA, MARGIN_LOWER, MARGIN_UPPER].map(|set| format!("member.{member}.{set}")))
            .collect(),
        Method::Interval => [THETA, MARGIN_LOWER, MARGIN_UPPER].map(str::to_owned).to_vec(),
        Method::Bayesian => [THETA, SPREAD].map(str::to_owned).to_vec(),
        Method::Dropout | Method::Linear => vec![THETA.to_owned()],
        Method::Ensemble => (0..config.members)
            .map(|member| format!("member.{member}.{THETA}"))
            .collect(),
    }
}

/// The network of a stored model; none for ARX.
fn architecture(config: &FitConfig, interface: &ModelInterface) -> Option<Architecture> {
    Architecture::of(config, interface.inputs.len(), interface.outputs.len())
}

/// Matrices and biases of one parameter vector.
fn blocks(config: &FitConfig, interface: &ModelInterface) -> Vec<Block> {
    if let Some(architecture) = architecture(config, interface) {
        return architecture.layout().blocks().to_vec();
    }
    let (rows, columns) = (interface.outputs.len(), regressor_len(config, interface));
    let block = |role, columns, start: usize| Block {
        layer: LayerId::Linear,
        role,
        rows,
        columns,
        range: start..start + rows * columns,
    };
    vec![block(Role::Weight, columns, 0), block(Role::Bias, 1, rows * columns)]
}

fn regressor_len(config: &FitConfig, interface: &ModelInterface) -> usize {
    let (inputs, outputs) = (interface.inputs.len(), interface.outputs.len());
    config.lags.regressor_len(inputs, outputs)
}

impl<T: Real> ModelFile<T> {
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let (tensors, metadata) = self.tensors(path)?;
        tensors.write(path, &metadata)
    }

    /// The content of the file.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        let path = Path::new(IN_MEMORY);
        let (tensors, metadata) = self.tensors(path)?;
        tensors.bytes(&metadata).map_err(|source| ModelError::File {
            action: "write",
            path: path.to_owned(),
            source,
        })
    }

    /// Tensors and metadata; `path` is for messages.
    fn tensors(&self, path: &Path) -> Result<(TensorWriter, String)> {
        let refused = |reason| ModelError::Format {
            what: "model",
            path: path.to_owned(),
            reason,
        };
        let blocks = blocks(&self.config, &self.interface);
        let names = set_names(&self.config, self.members);
        check_values(&names, &self.sets, &blocks).map_err(refused)?;
        let ModelInterface {
            inputs,
            outputs,
            sample_time,
            normaliser,
            calibration,
            region,
        } = self.interface.clone();
        let header = Header {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            architecture: self.config.model,
            lags: self.config.lags,
            hidden: match self.config.model.network() {
                Some(_) => self.config.hidden.clone(),
                None => Vec::new(),
            },
            linear_path: self.config.linear_path,
            initial_state: self.config.initial,
            coverage: self.config.coverage,
            sample_time,
            channels: Channels { inputs, outputs },
            normaliser,
            half_width: self.half_width.clone(),
            members: self.members,
            calibration,
            region,
            config: self.config.clone(),
        };
        let metadata = serde_json::to_string(&header).map_err(|error| refused(error.to_string()))?;
        let mut file = TensorWriter::default();
        for (prefix, values) in names.iter().zip(&self.sets) {
            for block in &blocks {
                let name = format!("{prefix}.{}", block.name());
                file.push(name, block.shape(), &values[block.range.clone()]);
            }
        }
        Ok((file, metadata))
    }

    /// The content of an opened file.
    pub(crate) fn read(reader: &TensorReader, metadata: &str) -> Result<Self> {
        let header = read_header(metadata).map_err(|reason| reader.damaged(reason))?;
        let tensors = reader.tensors()?;
        let Channels { inputs, outputs } = header.channels;
        let interface = ModelInterface {
            inputs,
            outputs,
            sample_time: header.sample_time,
            normaliser: header.normaliser,
            calibration: header.calibration,
            region: header.region,
        };
        let config = header.config;
        check_size::<T>(&config, header.members, &interface, &tensors).map_err(|reason| reader.damaged(reason))?;
        let blocks = blocks(&config, &interface);
        let names = set_names(&config, header.members);
        check_names(&names, &blocks, &tensors).map_err(|reason| reader.damaged(reason))?;
        let set = |prefix: &String| -> Result<Vec<T>> {
            let mut values = Vec::new();
            for block in &blocks {
                let name = format!("{prefix}.{}", block.name());
                values.extend(reader.get::<T>(&tensors, &name, &block.shape())?);
            }
            Ok(values)
        };
        let sets = names.iter().map(set).collect::<Result<Vec<_>>>()?;
        check_values(&names, &sets, &blocks).map_err(|reason| reader.damaged(reason))?;
        Ok(Self {
            config,
            interface,
            half_width: header.half_width,
            members: header.members,
            sets,
        })
    }

    /// Where its intervals come from.
    pub(crate) fn method(&self) -> Method {
        self.config.model.method()
    }

    /// How many interval networks are in it.
    pub(crate) fn members(&self) -> usize {
        self.members
    }

    /// The interval networks in it, if it is several.
    pub(crate) fn into_ensemble(self) -> Option<IntervalEnsemble<T>> {
        let architecture = architecture(&self.config, &self.interface)?;
        let mut sets = self.sets.into_iter();
        let mut members = Vec::with_capacity(self.members);
        while let (Some(theta), Some(margin_lower), Some(margin_upper)) = (sets.next(), sets.next(), sets.next()) {
            members.push(IntervalModel {
                architecture: architecture.clone(),
                theta,
                margin_lower,
                margin_upper,
                interface: self.interface.clone(),
                config: self.config.clone(),
            });
        }
        IntervalEnsemble::new(members)
    }

    /// The interval network in it, if it is one.
    pub(crate) fn into_interval(self) -> Option<IntervalModel<T>> {
        let architecture = architecture(&self.config, &self.interface)?;
        match <[Vec<T>; 3]>::try_from(self.sets) {
            Ok([theta, margin_lower, margin_upper]) if self.config.model.method() == Method::Interval => {
                Some(IntervalModel {
                    architecture,
                    theta,
                    margin_lower,
                    margin_upper,
                    interface: self.interface,
                    config: self.config,
                })
            }
            _ => None,
        }
    }

    /// The network with Gaussian likelihood in it, if it is one.
    pub(crate) fn into_gaussian(self) -> Option<GaussianModel<T>> {
        let architecture = architecture(&self.config, &self.interface)?;
        let mut members = self.sets;
        let spread = match self.config.model.method() {
            Method::Bayesian => members.pop()?,
            Method::Dropout | Method::Ensemble => Vec::new(),
            Method::Interval | Method::Linear => return None,
        };
        Some(GaussianModel {
            architecture,
            members,
            spread,
            interface: self.interface,
            config: self.config,
        })
    }
}

impl ModelFile<f64> {
    /// The ARX model in it, if it is one.
    pub(crate) fn into_linear(mut self) -> Option<LinearModel> {
        if self.config.model.method() != Method::Linear {
            return None;
        }
        let columns = regressor_len(&self.config, &self.interface);
        let mut theta = self.sets.pop()?;
        let bias = theta.split_off(self.interface.outputs.len() * columns);
        Some(LinearModel {
            arx: ArxModel {
                lags: self.config.lags,
                coefficients: theta.chunks(columns).map(<[f64]>::to_vec).collect(),
                bias,
            },
            half_width: self.half_width,
            interface: self.interface,
            config: self.config,
        })
    }
}

impl<T: Real> IntervalModel<T> {
    /// Writes the model to a file, `model.safetensors` by convention.
    ///
    /// The file is replaced in one step: a reader sees the old one or the new one, whatever happens meanwhile.
    ///
    /// # Errors
    /// [`ModelError::File`] if it cannot be written; [`ModelError::Format`] if a parameter is not finite or a margin
    /// negative, since no reader would take it.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.stored().write(path.as_ref())
    }

    pub(crate) fn stored(&self) -> ModelFile<T> {
        let sets = vec![self.theta.clone(), self.margin_lower.clone(), self.margin_upper.clone()];
        stored(&self.config, &self.interface, sets)
    }

    /// Reads an interval model of this precision; [`Model::load`](crate::Model::load) reads any.
    ///
    /// The model is the saved one to the bit. Sizes in the file are compared with its length before anything of that size
    /// is built.
    ///
    /// # Errors
    /// [`ModelError::File`] if the file cannot be read, [`ModelError::Format`] with what was found and what was expected
    /// if it is anything but an undamaged interval model of a known format.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let (reader, metadata) = TensorReader::open(path.as_ref(), "model")?;
        let stored = ModelFile::read(&reader, &metadata)?;
        let found = stored.config.model;
        stored
            .into_interval()
            .ok_or_else(|| reader.damaged(format!("it is a model {found}, expected a single interval network")))
    }
}

impl<T: Real> IntervalEnsemble<T> {
    /// Writes the model to a file, as [`IntervalModel::save`].
    ///
    /// # Errors
    /// Those of [`IntervalModel::save`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.stored().write(path.as_ref())
    }

    pub(crate) fn stored(&self) -> ModelFile<T> {
        let sets = self.members().iter().flat_map(|member| {
            [
                member.theta.clone(),
                member.margin_lower.clone(),
                member.margin_upper.clone(),
            ]
        });
        let mut stored = stored(self.config(), self.interface(), sets.collect());
        stored.members = self.members().len();
        stored
    }
}

impl<T: Real> GaussianModel<T> {
    /// Writes the model to a file, as [`IntervalModel::save`].
    ///
    /// # Errors
    /// Those of [`IntervalModel::save`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.stored().write(path.as_ref())
    }

    pub(crate) fn stored(&self) -> ModelFile<T> {
        let mut sets = self.members.clone();
        if self.config.model.method() == Method::Bayesian {
            sets.push(self.spread.clone());
        }
        stored(&self.config, &self.interface, sets)
    }
}

impl LinearModel {
    /// Writes the model to a file, as [`IntervalModel::save`].
    ///
    /// # Errors
    /// Those of [`IntervalModel::save`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.stored().write(path.as_ref())
    }

    pub(crate) fn stored(&self) -> ModelFile<f64> {
        let mut theta = self.arx.coefficients.concat();
        theta.extend(&self.arx.bias);
        let mut stored = stored(&self.config, &self.interface, vec![theta]);
        stored.half_width.clone_from(&self.half_width);
        stored
    }
}

fn stored<T: Real>(config: &FitConfig, interface: &ModelInterface, sets: Vec<Vec<T>>) -> ModelFile<T> {
    ModelFile {
        config: config.clone(),
        interface: interface.clone(),
        half_width: Vec::new(),
        members: 1,
        sets,
    }
}

/// Compares the number of parameters with the bytes that are there, before anything of that size is built.
fn check_size<T: Real>(
    config: &FitConfig,
    members: usize,
    interface: &ModelInterface,
    tensors: &SafeTensors<'_>,
) -> Result<(), String> {
    let found: usize = tensors.iter().map(|(_, view)| view.data().len()).sum();
    // Not by `set_names`, which would build as many names as the file claims members.
    let sets = match config.model.method() {
        Method::Interval => members.saturating_mul(3),
        Method::Bayesian => 2,
        Method::Dropout | Method::Linear => 1,
        Method::Ensemble => config.members,
    };
    let expected = parameters(config, interface)
        .and_then(|count| count.checked_mul(sets))
        .and_then(|count| count.checked_mul(size_of::<T>()));
    if expected == Some(found) {
        return Ok(());
    }
    let expected = expected.map_or_else(|| "far more".to_owned(), |bytes| bytes.to_string());
    Err(format!(
        "it holds {found} bytes of tensors, its metadata call for {expected} ({sets} times each parameter, as {})",
        T::NAME
    ))
}

/// Number of parameters, or `None` where it overflows.
fn parameters(config: &FitConfig, interface: &ModelInterface) -> Option<usize> {
    let (lags, inputs, outputs) = (config.lags, interface.inputs.len(), interface.outputs.len());
    let regressor = lags
        .ny
        .checked_mul(outputs)?
        .checked_add(lags.nx.checked_add(1)?.checked_mul(inputs)?)?;
    let Some(network) = config.model.network() else {
        return outputs.checked_mul(regressor.checked_add(1)?);
    };
    let mut total = 0_usize;
    let mut inner = regressor;
    for &width in &config.hidden {
        let (out, columns) = match network {
            NetworkKind::Node => (width, inner.checked_add(1)?),
            NetworkKind::Lstm => (width.checked_mul(4)?, inner.checked_add(width)?.checked_add(1)?),
        };
        total = total.checked_add(out.checked_mul(columns)?)?;
        inner = width;
    }
    let readout = match config.model.method() {
        Method::Interval | Method::Linear => outputs,
        Method::Bayesian | Method::Dropout | Method::Ensemble => outputs.checked_mul(2)?,
    };
    total = total.checked_add(readout.checked_mul(inner.checked_add(1)?)?)?;
    let linear = if config.linear_path { regressor } else { 0 };
    total.checked_add(outputs.checked_mul(linear)?)
}

fn check_names(sets: &[String], blocks: &[Block], tensors: &SafeTensors<'_>) -> Result<(), String> {
    let expected: HashSet<String> = sets
        .iter()
        .flat_map(|prefix| blocks.iter().map(move |block| format!("{prefix}.{}", block.name())))
        .collect();
    let mut found = tensors.names();
    found.sort_unstable();
    match found.into_iter().find(|name| !expected.contains(*name)) {
        Some(name) => Err(format!("it has a tensor `{name}` that this model does not have")),
        None => Ok(()),
    }
}

/// Finite parameters, margins and spreads ≥ 0, and finite bounds θ - Δ_lo and θ + Δ_hi.
fn check_values<T: Real>(names: &[String], sets: &[Vec<T>], blocks: &[Block]) -> Result<(), String> {
    // Margins and spreads belong to the θ before them.
    let mut centre = 0;
    for (position, (name, values)) in names.iter().zip(sets).enumerate() {
        let sign = match name.rsplit('.').next() {
            Some(MARGIN_LOWER) => Some(-T::one()),
            Some(MARGIN_UPPER | SPREAD) => Some(T::one()),
            _ => {
                centre = position;
                None
            }
        };
        for block in blocks {
            for (position, index) in block.range.clone().enumerate() {
                let at = || format!("tensor `{name}.{}` at position {position}", block.name());
                let value = values[index];
                let Some(sign) = sign else {
                    if !value.is_finite() {
                        return Err(format!("{} is {value}, expected a number", at()));
                    }
                    continue;
                };
                if !(value >= T::zero() && value.is_finite()) {
                    return Err(format!("{} is {value}, expected zero or more", at()));
                }
                let theta = sets[centre][index];
                if !(theta + sign * value).is_finite() {
                    return Err(format!("{} is {value}, which overflows around θ = {theta}", at()));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
