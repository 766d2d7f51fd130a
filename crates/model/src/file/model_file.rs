//! `model.safetensors`: a fitted model in one file that other programs can read too.
//!
//! Tensors are row-major in the model's precision. `<layer>` counts from 0, the last one is the read-out:
//!
//! | model | tensors |
//! |---|---|
//! | interval | `theta.<layer>.weight`, `.recurrent`, `.bias` (`theta.linear.weight` for a linear path), and the same under `margin_lower.` and `margin_upper.`, both ≥ 0 (Δ after σ_Δ, docs/method.md, section 5) |
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
//! | `linear_path` | whether ŷ = A·x + network |
//! | `initial_state` | `zero`, `measured` or `warmup:N` |
//! | `coverage` | α |
//! | `sample_time` | seconds or null |
//! | `experiment` | the column that told the experiments of its record apart; left out where none did |
//! | `channels` | `inputs` and `outputs`, each with `name` and `unit` |
//! | `normaliser` | `inputs` and `outputs`, each with `mean` and `std` |
//! | `half_width` | of ARX only: half the width of the band of each output, in its unit |
//! | `members` | of several interval networks or linear models only: how many |
//! | `calibration` | left out where there is none: per output `lower`, `upper`, `floor` and, of several members, `spread` (see `Scaling`), and where they come from; `levels` has the same for other coverages |
//! | `region` | left out where it is not known: the region of the training data (see `TrainingRegion`) |
//! | `horizons` | left out where they are not known: how the band shrinks a few samples after a measurement (see `HorizonScales`) |
//! | `light` | left out where there is none: places of the `members` of a light model, the `calibration` of their mean band and by how much ŷ changes (`difference`, see `LightBand`) |
//! | `output_ranges` | left out where there are none: per output `least` and `most`, what predictions and bands do not leave |
//! | `preparation` | left out where there is none: what is done to recordings first: `fill_gaps`, `clip_spikes`, `decimate` (see `Preparation`) |
//! | `trend` | left out where there is none: lines per channel that are taken out of data and put back into predictions (see `Trend`) |
//! | `config` | the resolved configuration of the fit |
//!
//! With docs/method.md, sections 2, 3 and 8 this is enough to rebuild the forward pass; a test below does so by naive loops.

use std::collections::HashSet;
use std::path::Path;

use intervalid_data::ArxModel;
use intervalid_interval::Real;
use safetensors::SafeTensors;

use super::header::{Header, read_header};
use super::tensors::{TensorReader, TensorWriter};
use crate::config::FitConfig;
use crate::error::{FileKind, ModelError, Result};
use crate::family::body::{Body, Networks, OfPrecision, ParameterSets};
use crate::family::gaussian::GaussianNetworks;
use crate::family::interval::IntervalNetwork;
use crate::family::linear::ArxWithBand;
use crate::interface::ModelInterface;
use crate::kind::{Method, Precision};
use crate::model::Model;
use crate::network::{Architecture, Block, LayerId, NetworkKind, Role};

const THETA: &str = "theta";
const MARGIN_LOWER: &str = "margin_lower";
const MARGIN_UPPER: &str = "margin_upper";
const SPREAD: &str = "spread";

/// Stands in messages for the path of a model that is no file.
pub(crate) const IN_MEMORY: &str = "(bytes in memory)";

/// Prefixes of the parameter vectors of a model.
fn set_names(config: &FitConfig, members: usize) -> Vec<String> {
    match config.model.method() {
        Method::Interval if members > 1 => (0..members)
            .flat_map(|member| [THETA, MARGIN_LOWER, MARGIN_UPPER].map(|set| format!("member.{member}.{set}")))
            .collect(),
        Method::Interval => [THETA, MARGIN_LOWER, MARGIN_UPPER].map(str::to_owned).to_vec(),
        Method::Bayesian => [THETA, SPREAD].map(str::to_owned).to_vec(),
        Method::Linear if members > 1 => (0..members).map(|member| format!("member.{member}.{THETA}")).collect(),
        Method::Dropout | Method::Linear => vec![THETA.to_owned()],
        Method::Ensemble => (0..config.gaussian.members)
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

/// A model in the file at `path`.
pub(crate) fn open(path: &Path) -> Result<Model> {
    let (reader, metadata) = TensorReader::open(path, FileKind::Model)?;
    read(&reader, &metadata)
}

/// A model in the bytes of a file.
pub(crate) fn from_bytes(bytes: Vec<u8>) -> Result<Model> {
    let (reader, metadata) = TensorReader::new(Path::new(IN_MEMORY), FileKind::Model, bytes)?;
    read(&reader, &metadata)
}

/// The content of a model's file; `path` is for messages.
pub(crate) fn to_bytes(model: &Model, path: &Path) -> Result<Vec<u8>> {
    match model.body().parameter_sets() {
        ParameterSets::F32(sets) => write_sets(model, &sets, path),
        ParameterSets::F64(sets) => write_sets(model, &sets, path),
    }
}

fn write_sets<T: Real>(model: &Model, sets: &[Vec<T>], path: &Path) -> Result<Vec<u8>> {
    let refused = |reason| ModelError::Format {
        what: FileKind::Model,
        path: path.to_owned(),
        reason,
    };
    let (config, interface) = (model.config(), model.interface());
    let blocks = blocks(config, interface);
    let names = set_names(config, model.members());
    check_values(&names, sets, &blocks).map_err(refused)?;
    let header = serde_json::to_string(&Header::of(model)).map_err(|error| refused(error.to_string()))?;
    let mut file = TensorWriter::default();
    for (prefix, values) in names.iter().zip(sets) {
        for block in &blocks {
            let name = format!("{prefix}.{}", block.name());
            file.push(name, block.shape(), &values[block.range.clone()]);
        }
    }
    file.bytes(&header).map_err(|source| ModelError::File {
        action: "write",
        path: path.to_owned(),
        source,
    })
}

fn read(reader: &TensorReader, metadata: &str) -> Result<Model> {
    let header = read_header(metadata).map_err(|reason| reader.damaged(reason))?;
    match (reader.precision()?, header.config.model.method()) {
        (Precision::F32, Method::Linear) => Err(reader.damaged("its tensors are f32, an ARX model's are f64")),
        (Precision::F32, _) => read_networks::<f32>(reader, header),
        (Precision::F64, Method::Linear) => read_arx(reader, header),
        (Precision::F64, _) => read_networks::<f64>(reader, header),
    }
}

/// All parameter vectors, in the order of [`set_names`], checked.
fn read_sets<T: Real>(reader: &TensorReader, header: &Header, interface: &ModelInterface) -> Result<Vec<Vec<T>>> {
    let config = &header.config;
    let tensors = reader.tensors()?;
    check_size::<T>(config, header.members, interface, &tensors).map_err(|reason| reader.damaged(reason))?;
    let blocks = blocks(config, interface);
    let names = set_names(config, header.members);
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
    Ok(sets)
}

fn read_networks<T: OfPrecision>(reader: &TensorReader, header: Header) -> Result<Model> {
    let interface = header.interface();
    let mut sets = read_sets::<T>(reader, &header, &interface)?;
    let config = header.config;
    let Some(architecture) = architecture(&config, &interface) else {
        return Err(reader.damaged("its metadata describe no network"));
    };
    let networks = match config.model.method() {
        Method::Interval => {
            let mut sets = sets.into_iter();
            let mut members = Vec::with_capacity(header.members);
            while let (Some(theta), Some(margin_lower), Some(margin_upper)) = (sets.next(), sets.next(), sets.next()) {
                members.push(IntervalNetwork {
                    architecture: architecture.clone(),
                    theta,
                    margin_lower,
                    margin_upper,
                });
            }
            Networks::Interval(members)
        }
        method => Networks::Gaussian(GaussianNetworks {
            architecture,
            spread: match method {
                Method::Bayesian => sets.pop().unwrap_or_default(),
                _ => Vec::new(),
            },
            members: sets,
        }),
    };
    Ok(Model::new(interface, config, T::body(networks)))
}

fn read_arx(reader: &TensorReader, header: Header) -> Result<Model> {
    let interface = header.interface();
    let columns = regressor_len(&header.config, &interface);
    let member = |mut theta: Vec<f64>| {
        let bias = theta.split_off(interface.outputs.len() * columns);
        ArxModel {
            lags: header.config.lags,
            coefficients: theta.chunks(columns).map(<[f64]>::to_vec).collect(),
            bias,
        }
    };
    let sets = read_sets::<f64>(reader, &header, &interface)?;
    let body = ArxWithBand {
        members: sets.into_iter().map(member).collect(),
        half_width: header.half_width,
    };
    Ok(Model::new(interface, header.config, Body::Linear(body)))
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
        Method::Dropout => 1,
        Method::Linear => members,
        Method::Ensemble => config.gaussian.members,
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
    if network == NetworkKind::StateSpace {
        return state_space_parameters(config, inputs, outputs);
    }
    let mut total = 0_usize;
    let mut inner = regressor;
    for &width in &config.network.hidden {
        let (out, columns) = match network {
            NetworkKind::Node | NetworkKind::StateSpace => (width, inner.checked_add(1)?),
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
    let linear = if config.network.linear_path { regressor } else { 0 };
    total.checked_add(outputs.checked_mul(linear)?)
}

fn state_space_parameters(config: &FitConfig, inputs: usize, outputs: usize) -> Option<usize> {
    let states = config.network.states_or_default();
    let width = states.checked_add(inputs)?;
    let map = |rows: usize, units: usize| {
        let inner = units.checked_mul(width.checked_add(1)?)?;
        let outer = rows.checked_mul(units.checked_add(width)?.checked_add(1)?)?;
        inner.checked_add(outer)
    };
    let units = |map: usize| config.network.hidden.get(map).copied().unwrap_or(0);
    let maps = map(states, units(0))?.checked_add(map(outputs, units(1))?)?;
    maps.checked_add(states.checked_mul(outputs)?)
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

/// Training stays within a few thousands, in normalised units. Beyond this a file was edited, and sums over a layer would soon
/// overflow into bands without bounds.
const LARGEST: f64 = 1e12;

/// Parameters within ±[`LARGEST`], margins and spreads from zero to there; NaN is neither.
fn check_values<T: Real>(names: &[String], sets: &[Vec<T>], blocks: &[Block]) -> Result<(), String> {
    let largest = T::of(LARGEST);
    for (name, values) in names.iter().zip(sets) {
        let is_width = matches!(name.rsplit('.').next(), Some(MARGIN_LOWER | MARGIN_UPPER | SPREAD));
        for block in blocks {
            for (position, index) in block.range.clone().enumerate() {
                let value = values[index];
                let (is_sound, expected) = match is_width {
                    true => ((T::zero()..=largest).contains(&value), "zero"),
                    false => (value.abs() <= largest, "-1e12"),
                };
                if !is_sound {
                    let at = format!("tensor `{name}.{}` at position {position}", block.name());
                    return Err(format!("{at} is {value}, expected a number from {expected} to 1e12"));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
