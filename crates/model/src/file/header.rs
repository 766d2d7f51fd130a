//! The metadata of a model file.

use std::collections::HashSet;

use intervalid_data::{Channel, ClipSpikes, InitialState, Lags, Normaliser, Preparation, Scale, Trend};
use serde::{Deserialize, Serialize};

use crate::band::calibration::Calibration;
use crate::band::extrapolation::TrainingRegion;
use crate::band::horizon::HorizonScales;
use crate::band::light::LightBand;
use crate::band::limits::{OutputRange, check_ranges};
use crate::config::FitConfig;
use crate::interface::ModelInterface;
use crate::kind::{Method, ModelKind};
use crate::model::Model;
use crate::network::Architecture;

/// Grows with every change of the file's content that an older reader would get wrong, from the first release on.
const FORMAT: u64 = 1;

/// The metadata; its field names are public interface.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: u64,
    #[serde(default)]
    pub(super) version: String,
    pub(super) architecture: ModelKind,
    pub(super) lags: Lags,
    pub(super) hidden: Vec<usize>,
    #[serde(default)]
    pub(super) linear_path: bool,
    /// Of a state-space model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) states: Option<usize>,
    pub(super) initial_state: InitialState,
    pub(super) coverage: f64,
    pub(super) sample_time: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) experiment: Option<String>,
    pub(super) channels: Channels,
    pub(super) normaliser: Normaliser,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) half_width: Vec<f64>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(super) members: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) calibration: Option<Calibration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) region: Option<TrainingRegion>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) horizons: Option<HorizonScales>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) light: Option<LightBand>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) output_ranges: Vec<OutputRange>,
    #[serde(default, skip_serializing_if = "Preparation::is_none")]
    pub(super) preparation: Preparation,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trend: Option<Trend>,
    pub(super) config: FitConfig,
}

impl Header {
    pub(super) fn of(model: &Model) -> Self {
        let config = model.config();
        let ModelInterface {
            inputs,
            outputs,
            sample_time,
            experiment,
            normaliser,
            calibration,
            region,
            horizons,
            light,
            output_ranges,
            preparation,
            trend,
        } = model.interface().clone();
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            architecture: config.model,
            lags: config.lags,
            hidden: match config.model.network() {
                Some(_) => config.network.hidden.clone(),
                None => Vec::new(),
            },
            linear_path: config.network.linear_path,
            states: (config.model == ModelKind::Iss).then_some(config.network.states_or_default()),
            initial_state: config.initial,
            coverage: config.coverage,
            sample_time,
            experiment,
            channels: Channels { inputs, outputs },
            normaliser,
            half_width: model.body().half_width().to_vec(),
            members: model.members(),
            calibration,
            region,
            horizons,
            light,
            output_ranges,
            preparation,
            trend,
            config: config.clone(),
        }
    }

    pub(super) fn interface(&self) -> ModelInterface {
        ModelInterface {
            inputs: self.channels.inputs.clone(),
            outputs: self.channels.outputs.clone(),
            sample_time: self.sample_time,
            experiment: self.experiment.clone(),
            normaliser: self.normaliser.clone(),
            calibration: self.calibration.clone(),
            region: self.region.clone(),
            horizons: self.horizons.clone(),
            light: self.light.clone(),
            output_ranges: self.output_ranges.clone(),
            preparation: self.preparation.clone(),
            trend: self.trend.clone(),
        }
    }
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_one(members: &usize) -> bool {
    *members == 1
}

/// Only what decides whether the rest can be read.
#[derive(Deserialize)]
struct FormatProbe {
    format: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Channels {
    pub(super) inputs: Vec<Channel>,
    pub(super) outputs: Vec<Channel>,
}

/// The metadata of a file, checked.
pub(super) fn read_header(metadata: &str) -> Result<Header, String> {
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
    let is_network = header.architecture.network().is_some();
    let is_state_space = header.architecture == ModelKind::Iss;
    if is_network && !is_state_space && (header.hidden.is_empty() || header.hidden.contains(&0)) {
        return Err(format!(
            "hidden is {:?}, expected one or more positive widths",
            header.hidden
        ));
    }
    config.check().map_err(|error| format!("its config: {error}"))?;
    let agree = [
        ("architecture", header.architecture == config.model),
        ("lags", lags == config.lags),
        ("hidden", !is_network || header.hidden == config.network.hidden),
        (
            "states",
            header.states == is_state_space.then_some(config.network.states_or_default()),
        ),
        ("linear_path", header.linear_path == config.network.linear_path),
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
    if let Some(architecture) =
        Architecture::of(config, header.channels.inputs.len(), header.channels.outputs.len()).filter(|_| is_state_space)
    {
        architecture.check().map_err(|error| error.to_string())?;
    }
    let widths = if is_network { 0 } else { header.channels.outputs.len() };
    let sound = |width: &f64| width.is_finite() && *width >= 0.0;
    if header.half_width.len() != widths || !header.half_width.iter().all(sound) {
        let found = &header.half_width;
        return Err(format!(
            "half_width is {found:?}, expected {widths} number(s), none negative"
        ));
    }
    let may_have_members = matches!(header.architecture.method(), Method::Interval | Method::Linear);
    if header.members == 0 || (header.members > 1 && !may_have_members) {
        return Err(format!(
            "it has {} members, expected one or more interval networks or linear models",
            header.members
        ));
    }
    if let Some(calibration) = &header.calibration {
        calibration.check(header.channels.outputs.len())?;
    }
    if let Some(region) = &header.region {
        region.check(config.lags, header.channels.inputs.len(), header.channels.outputs.len())?;
    }
    if let Some(horizons) = &header.horizons {
        horizons.check(header.channels.outputs.len())?;
    }
    if let Some(light) = &header.light {
        light.check(header.members, header.channels.outputs.len())?;
    }
    check_widths(header)?;
    check_ranges(&header.output_ranges, header.channels.outputs.len())?;
    check_preparation(header)?;
    let mut seen = HashSet::new();
    let Channels { inputs, outputs } = &header.channels;
    match inputs.iter().chain(outputs).find(|channel| !seen.insert(&channel.name)) {
        Some(channel) => Err(format!("channel '{}' occurs twice", channel.name)),
        None => Ok(()),
    }
}

/// Means and standard deviations beyond this, and widths in standard deviations and factors beyond [`WIDEST`], multiply into bands without bounds: a file
/// was edited.
const LARGEST_UNIT: f64 = 1e200;
const WIDEST: f64 = 1e50;

/// What the widths of a band are made of.
fn check_widths(header: &Header) -> Result<(), String> {
    let calibrations = header
        .calibration
        .iter()
        .map(|calibration| ("calibration", calibration));
    let light = header.light.iter().map(|light| ("light band", &light.calibration));
    let mut widths: Vec<(&str, usize, f64)> = Vec::new();
    let mut factors: Vec<(&str, f64)> = Vec::new();
    for (name, calibration) in calibrations.chain(light) {
        let levels = calibration.levels.iter().map(|level| &level.outputs);
        for scalings in std::iter::once(&calibration.outputs).chain(levels) {
            for (output, scaling) in scalings.iter().enumerate() {
                widths.push((name, output, scaling.floor));
                factors
                    .extend([scaling.lower, scaling.upper, scaling.spread.unwrap_or(0.0)].map(|value| (name, value)));
            }
        }
    }
    let of_outputs = |name, values: &[f64]| -> Vec<(&str, usize, f64)> {
        values
            .iter()
            .enumerate()
            .map(|(output, value)| (name, output, *value))
            .collect()
    };
    widths.extend(of_outputs("half_width", &header.half_width));
    if let Some(light) = &header.light {
        widths.extend(of_outputs("light band", &light.difference));
    }
    let horizons = header
        .horizons
        .iter()
        .flat_map(|horizons| horizons.scales.iter().flatten());
    factors.extend(horizons.map(|value| ("horizons", *value)));
    let scales = &header.normaliser.outputs;
    let wide = widths
        .iter()
        .find(|(_, output, width)| *width > WIDEST * scales[*output].std);
    if let Some((name, output, width)) = wide {
        let channel = &header.channels.outputs[*output].name;
        return Err(format!(
            "its {name} is {width} wide for '{channel}', whose standard deviation is {}: that is no band",
            scales[*output].std
        ));
    }
    match factors.iter().find(|(_, factor)| *factor > WIDEST) {
        Some((name, factor)) => Err(format!(
            "its {name} has a factor of {factor}, expected at most {WIDEST:e}"
        )),
        None => Ok(()),
    }
}

fn check_preparation(header: &Header) -> Result<(), String> {
    let (inputs, outputs) = (header.channels.inputs.len(), header.channels.outputs.len());
    header
        .preparation
        .check()
        .map_err(|error| format!("its preparation: {error}"))?;
    match &header.preparation.clip_spikes {
        ClipSpikes::None => {}
        ClipSpikes::Channels(limits) if limits.len() == inputs + outputs => {}
        other => {
            return Err(format!(
                "its preparation clips '{other}', expected a limit or none for each of {} channels",
                inputs + outputs
            ));
        }
    }
    header
        .trend
        .as_ref()
        .map_or(Ok(()), |trend| trend.check(inputs, outputs))
}

fn check_channels(kind: &str, channels: &[Channel], scales: &[Scale]) -> Result<(), String> {
    if channels.len() != scales.len() {
        let (found, expected) = (scales.len(), channels.len());
        return Err(format!(
            "its normaliser has {found} {kind}(s), its channels are {expected}"
        ));
    }
    for (channel, scale) in channels.iter().zip(scales) {
        if !(scale.mean.abs() <= LARGEST_UNIT && scale.std <= LARGEST_UNIT && scale.std > 0.0) {
            let Scale { mean, std } = scale;
            return Err(format!(
                "the normaliser of {kind} '{}' has mean {mean} and std {std}, expected a number and a positive one, up to {LARGEST_UNIT:e}",
                channel.name
            ));
        }
    }
    Ok(())
}
