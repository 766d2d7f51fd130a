//! `model.safetensors`: a fitted model in one file that other programs can read too.
//!
//! Tensors are row-major in the model's precision: `theta.<layer>.weight`, `.recurrent`, `.bias` (and
//! `theta.linear.weight` for a linear path), with `margin_lower.…` and `margin_upper.…` of the same suffixes, both ≥ 0
//! (Δ after σ_Δ, spec section 5). The metadata key `intervalid` is a JSON string:
//!
//! | field | content |
//! |---|---|
//! | `format` | 1 |
//! | `version` | of the program that wrote it, for information |
//! | `architecture` | `inode` or `ilstm` |
//! | `lags` | `nx`, `nd`, `ny` |
//! | `hidden` | widths, first to last |
//! | `linear_path` | whether y = A·x + network |
//! | `initial_state` | `zero`, `measured` or `warmup:N` |
//! | `coverage` | α |
//! | `sample_time` | seconds or null |
//! | `channels` | `inputs` and `outputs`, each with `name` and `unit` |
//! | `normaliser` | `inputs` and `outputs`, each with `mean` and `std` |
//! | `config` | the resolved configuration of the fit |
//!
//! With spec sections 2 and 3 this is enough to rebuild the forward pass; a test below does so by naive loops.

use std::collections::HashSet;
use std::path::Path;

use intervalid_data::{Channel, InitialState, Lags, Normaliser, Scale};
use intervalid_interval::Real;
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};

use crate::config::FitConfig;
use crate::error::{ModelError, Result};
use crate::model::Model;
use crate::network::{Architecture, Block, NetworkKind};
use crate::tensors::{TensorReader, TensorWriter};

/// Grows with every change of the file's content that an older reader would get wrong.
const FORMAT: u64 = 1;

const THETA: &str = "theta";
const MARGIN_LOWER: &str = "margin_lower";
const MARGIN_UPPER: &str = "margin_upper";

/// The metadata; its field names are public interface.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u64,
    #[serde(default)]
    version: String,
    architecture: ArchitectureName,
    lags: Lags,
    hidden: Vec<usize>,
    #[serde(default)]
    linear_path: bool,
    initial_state: InitialState,
    coverage: f64,
    sample_time: Option<f64>,
    channels: Channels,
    normaliser: Normaliser,
    config: FitConfig,
}

/// Only what decides whether the rest can be read.
#[derive(Deserialize)]
struct FormatProbe {
    format: u64,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ArchitectureName {
    Inode,
    Ilstm,
}

impl From<NetworkKind> for ArchitectureName {
    fn from(kind: NetworkKind) -> Self {
        match kind {
            NetworkKind::Node => Self::Inode,
            NetworkKind::Lstm => Self::Ilstm,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Channels {
    inputs: Vec<Channel>,
    outputs: Vec<Channel>,
}

impl<T: Real> Model<T> {
    /// Writes the model to a file, `model.safetensors` by convention.
    ///
    /// The file is replaced in one step: a reader sees the old one or the new one, whatever happens meanwhile.
    ///
    /// # Errors
    /// [`ModelError::File`] if it cannot be written; [`ModelError::Format`] if a parameter is not finite or a margin
    /// negative, since no reader would take it.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let refused = |reason| ModelError::Format {
            what: "model",
            path: path.to_owned(),
            reason,
        };
        let layout = self.architecture.layout();
        check_values(self, layout.blocks()).map_err(refused)?;
        let header = Header {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            architecture: self.architecture.kind.into(),
            lags: self.architecture.lags,
            hidden: self.architecture.hidden.clone(),
            linear_path: self.architecture.linear_path,
            initial_state: self.config.initial,
            coverage: self.config.coverage,
            sample_time: self.sample_time,
            channels: Channels {
                inputs: self.inputs.clone(),
                outputs: self.outputs.clone(),
            },
            normaliser: self.normaliser.clone(),
            config: self.config.clone(),
        };
        let metadata = serde_json::to_string(&header).map_err(|error| refused(error.to_string()))?;
        let mut file = TensorWriter::default();
        for (prefix, values) in self.named_values() {
            for block in layout.blocks() {
                let name = format!("{prefix}.{}", block.name());
                file.push(name, block.shape(), &values[block.range.clone()]);
            }
        }
        file.write(path, metadata)
    }

    /// Reads a model of this precision; [`AnyModel::load`](crate::AnyModel::load) reads either.
    ///
    /// The model is the saved one to the bit. Sizes in the file are compared with its length before anything of that size
    /// is built.
    ///
    /// # Errors
    /// [`ModelError::File`] if the file cannot be read, [`ModelError::Format`] with what was found and what was expected
    /// if it is anything but an undamaged model of a known format.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let (reader, metadata) = TensorReader::open(path.as_ref(), "model")?;
        read(&reader, &metadata)
    }

    fn named_values(&self) -> [(&'static str, &[T]); 3] {
        [
            (THETA, &self.theta),
            (MARGIN_LOWER, &self.margin_lower),
            (MARGIN_UPPER, &self.margin_upper),
        ]
    }
}

/// The model in an opened file.
pub(crate) fn read<T: Real>(reader: &TensorReader, metadata: &str) -> Result<Model<T>> {
    let header = read_header(metadata).map_err(|reason| reader.damaged(reason))?;
    let tensors = reader.tensors()?;
    let architecture = Architecture {
        kind: header.config.network,
        inputs: header.channels.inputs.len(),
        outputs: header.channels.outputs.len(),
        lags: header.lags,
        hidden: header.hidden,
        linear_path: header.linear_path,
    };
    check_size::<T>(&architecture, &tensors).map_err(|reason| reader.damaged(reason))?;
    let layout = architecture.layout();
    check_names(layout.blocks(), &tensors).map_err(|reason| reader.damaged(reason))?;
    let values = |prefix: &str| -> Result<Vec<T>> {
        let mut values = Vec::with_capacity(layout.len());
        for block in layout.blocks() {
            let name = format!("{prefix}.{}", block.name());
            values.extend(reader.get::<T>(&tensors, &name, &block.shape())?);
        }
        Ok(values)
    };
    let model = Model {
        theta: values(THETA)?,
        margin_lower: values(MARGIN_LOWER)?,
        margin_upper: values(MARGIN_UPPER)?,
        normaliser: header.normaliser,
        inputs: header.channels.inputs,
        outputs: header.channels.outputs,
        sample_time: header.sample_time,
        config: header.config,
        architecture,
    };
    check_values(&model, layout.blocks()).map_err(|reason| reader.damaged(reason))?;
    Ok(model)
}

fn read_header(metadata: &str) -> Result<Header, String> {
    let problem = |error: serde_json::Error| format!("its metadata do not describe a model: {error}");
    let FormatProbe { format } = serde_json::from_str(metadata).map_err(problem)?;
    if format > FORMAT {
        return Err(format!(
            "it has format {format}, this version reads format {FORMAT}: use a newer version of intervalid"
        ));
    }
    if format == 0 {
        return Err(format!("it has format 0, expected {FORMAT}"));
    }
    let header: Header = serde_json::from_str(metadata).map_err(problem)?;
    check_header(&header)?;
    Ok(header)
}

/// Checks each field on its own, and against the configuration that repeats it.
fn check_header(header: &Header) -> Result<(), String> {
    let config = &header.config;
    let lags = header.lags;
    Lags::new(lags.nx, lags.nd, lags.ny).map_err(|error| error.to_string())?;
    if header.hidden.is_empty() || header.hidden.contains(&0) {
        return Err(format!(
            "hidden is {:?}, expected one or more positive widths",
            header.hidden
        ));
    }
    config.check().map_err(|error| format!("its config: {error}"))?;
    let agree = [
        ("architecture", header.architecture == config.network.into()),
        ("lags", lags == config.lags),
        ("hidden", header.hidden == config.hidden),
        ("linear_path", header.linear_path == config.linear_path),
        ("initial_state", header.initial_state == config.initial),
        ("coverage", header.coverage.to_bits() == config.coverage.to_bits()),
    ];
    if let Some((field, _)) = agree.iter().find(|(_, agree)| !agree) {
        return Err(format!("{field} is not the one in its config"));
    }
    if let Some(seconds) = header.sample_time
        && !(seconds > 0.0 && seconds.is_finite())
    {
        return Err(format!("sample_time is {seconds}, expected a positive number or null"));
    }
    check_channels("input", &header.channels.inputs, &header.normaliser.inputs)?;
    check_channels("output", &header.channels.outputs, &header.normaliser.outputs)?;
    if header.channels.outputs.is_empty() {
        return Err("it has no output channel, expected at least one".to_owned());
    }
    let mut seen = HashSet::new();
    let Channels { inputs, outputs } = &header.channels;
    match inputs.iter().chain(outputs).find(|channel| !seen.insert(&channel.name)) {
        Some(channel) => Err(format!("channel '{}' occurs twice", channel.name)),
        None => Ok(()),
    }
}

fn check_channels(kind: &str, channels: &[Channel], scales: &[Scale]) -> Result<(), String> {
    if channels.len() != scales.len() {
        let (found, expected) = (scales.len(), channels.len());
        return Err(format!(
            "its normaliser has {found} {kind}(s), its channels are {expected}"
        ));
    }
    for (channel, scale) in channels.iter().zip(scales) {
        if !(scale.mean.is_finite() && scale.std.is_finite() && scale.std > 0.0) {
            let Scale { mean, std } = scale;
            return Err(format!(
                "the normaliser of {kind} '{}' has mean {mean} and std {std}, expected a number and a positive one",
                channel.name
            ));
        }
    }
    Ok(())
}

/// Compares the number of parameters with the bytes that are there, before anything of that size is built.
fn check_size<T: Real>(architecture: &Architecture, tensors: &SafeTensors<'_>) -> Result<(), String> {
    let found: usize = tensors.iter().map(|(_, view)| view.data().len()).sum();
    let expected = parameters(architecture).and_then(|count| count.checked_mul(3 * size_of::<T>()));
    if expected == Some(found) {
        return Ok(());
    }
    let expected = expected.map_or_else(|| "far more".to_owned(), |bytes| bytes.to_string());
    Err(format!(
        "it holds {found} bytes of tensors, its metadata call for {expected} (three times each parameter, as {})",
        T::NAME
    ))
}

/// Number of parameters, or `None` where it overflows.
fn parameters(architecture: &Architecture) -> Option<usize> {
    let lags = architecture.lags;
    let regressor = lags
        .ny
        .checked_mul(architecture.outputs)?
        .checked_add(lags.nx.checked_add(1)?.checked_mul(architecture.inputs)?)?;
    let mut total = 0_usize;
    let mut inner = regressor;
    for &width in &architecture.hidden {
        let (out, columns) = match architecture.kind {
            NetworkKind::Node => (width, inner.checked_add(1)?),
            NetworkKind::Lstm => (width.checked_mul(4)?, inner.checked_add(width)?.checked_add(1)?),
        };
        total = total.checked_add(out.checked_mul(columns)?)?;
        inner = width;
    }
    let linear = if architecture.linear_path { regressor } else { 0 };
    let columns = inner.checked_add(1)?.checked_add(linear)?;
    total.checked_add(architecture.outputs.checked_mul(columns)?)
}

fn check_names(blocks: &[Block], tensors: &SafeTensors<'_>) -> Result<(), String> {
    let expected: HashSet<String> = [THETA, MARGIN_LOWER, MARGIN_UPPER]
        .iter()
        .flat_map(|prefix| blocks.iter().map(move |block| format!("{prefix}.{}", block.name())))
        .collect();
    let mut found = tensors.names();
    found.sort_unstable();
    match found.into_iter().find(|name| !expected.contains(*name)) {
        Some(name) => Err(format!("it has a tensor `{name}` that this network does not have")),
        None => Ok(()),
    }
}

/// Finite parameters, margins ≥ 0, and finite bounds θ - Δ_lo and θ + Δ_hi.
fn check_values<T: Real>(model: &Model<T>, blocks: &[Block]) -> Result<(), String> {
    for block in blocks {
        for (position, index) in block.range.clone().enumerate() {
            let at = |prefix: &str| format!("tensor `{prefix}.{}` at position {position}", block.name());
            let theta = model.theta[index];
            if !theta.is_finite() {
                return Err(format!("{} is {theta}, expected a number", at(THETA)));
            }
            let margins = [
                (MARGIN_LOWER, model.margin_lower[index], -T::one()),
                (MARGIN_UPPER, model.margin_upper[index], T::one()),
            ];
            for (prefix, margin, sign) in margins {
                if !(margin >= T::zero() && margin.is_finite()) {
                    return Err(format!("{} is {margin}, expected zero or more", at(prefix)));
                }
                if !(theta + sign * margin).is_finite() {
                    return Err(format!(
                        "{} is {margin}, which overflows around θ = {theta}",
                        at(prefix)
                    ));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
