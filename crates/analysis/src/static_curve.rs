//! Where the outputs come to rest for every value of an input.

use intervalid_data::Dataset;
use intervalid_model::Model;
use serde::Serialize;

use crate::error::{AnalysisError, Result};
use crate::linear_system::LinearSystem;
use crate::linearise::member_systems;
use crate::operating_point::OperatingPoint;
use crate::rest::at_rest;
use crate::step_map::StepMap;

const POINTS: usize = 41;
/// Without data an input is moved by so many standard deviations to either side of its training mean.
const REACH: f64 = 2.0;

/// The static characteristic of one input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StaticCurve {
    /// The input.
    pub input: String,
    /// What its range is: `data`, or `training mean ± 2 standard deviations`.
    pub range: &'static str,
    /// The other inputs and where they stay: their median in the data, or their training mean.
    pub others: Vec<HeldInput>,
    /// Values of the input.
    pub u: Vec<f64>,
    /// One per output.
    pub outputs: Vec<StaticOutput>,
}

/// An input that stays where it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldInput {
    /// Its name.
    pub input: String,
    /// Where it stays.
    pub value: f64,
}

/// One output; nothing where the model has no steady state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StaticOutput {
    /// Its name.
    pub output: String,
    /// ŷ at rest.
    pub y: Vec<Option<f64>>,
    /// Lower bounds there.
    pub lower: Vec<Option<f64>>,
    /// Upper bounds there.
    pub upper: Vec<Option<f64>>,
    /// Slope: change of ŷ at rest per unit of the input; 0 where ŷ stands at a physical limit.
    pub gain: Vec<Option<f64>>,
}

impl StaticCurve {
    /// The curve of an input.
    ///
    /// # Errors
    /// If the model cannot run step by step, or has no such input.
    pub fn new(model: &Model, input: usize, dataset: Option<&Dataset>) -> Result<Self> {
        let map = StepMap::new(model)?;
        let level = dataset.map(|dataset| model.level(dataset)).transpose()?;
        let channels = map.input_channels();
        let channel = channels.get(input).ok_or(AnalysisError::NoInputs)?;
        let (scales, output_scales) = (map.input_scales(), map.output_scales());
        let column = |index: usize| level.as_ref().map(|level| sorted(level, index));
        let middle = |index: usize| column(index).map_or(scales[index].mean, |values| values[values.len() / 2]);
        let mut at: Vec<f64> = (0..channels.len()).map(middle).collect();
        let (least, most) = match column(input) {
            Some(values) => (values[0], values[values.len() - 1]),
            None => (scales[input].to_physical(-REACH), scales[input].to_physical(REACH)),
        };
        let others = channels
            .iter()
            .zip(&at)
            .enumerate()
            .filter(|(index, _)| *index != input);
        let mut curve = Self {
            input: channel.name.clone(),
            range: if dataset.is_some() {
                "data"
            } else {
                "training mean ± 2 standard deviations"
            },
            others: others
                .map(|(_, (channel, value))| HeldInput {
                    input: channel.name.clone(),
                    value: *value,
                })
                .collect(),
            u: (0..POINTS)
                .map(|index| least + (most - least) * index as f64 / (POINTS - 1) as f64)
                .collect(),
            outputs: (map.output_channels().iter())
                .map(|output| StaticOutput {
                    output: output.name.clone(),
                    y: Vec::new(),
                    lower: Vec::new(),
                    upper: Vec::new(),
                    gain: Vec::new(),
                })
                .collect(),
        };
        let limits = &model.interface().output_ranges;
        let told = |output: usize, rest: f64| limits.get(output).map_or(rest, |range| range.clipped(rest));
        for &u in &curve.u {
            at[input] = u;
            let normalised: Vec<f64> = at
                .iter()
                .zip(&scales)
                .map(|(value, scale)| scale.to_normalised(*value))
                .collect();
            let point = OperatingPoint::steady(&map, &normalised).ok();
            // A rest that a free run leaves is none that a plant would be seen at.
            let band = point
                .as_ref()
                .and_then(|point| Some((point, at_rest(model, point, &output_scales).ok()?.1)));
            let band = band.filter(|(point, sample)| {
                let near = |(output, (sample, rest)): (usize, (&[f64; 3], &f64))| {
                    (sample[1] - told(output, *rest)).abs() < 1e-2 * output_scales[output].std
                };
                sample.iter().zip(&point.outputs).enumerate().all(near)
            });
            let gain = band
                .as_ref()
                .and_then(|(point, _)| LinearSystem::mean(&member_systems(&map, point)).gain());
            for (index, output) in curve.outputs.iter_mut().enumerate() {
                let sample = band.as_ref().map(|(_, sample)| sample[index]);
                let is_limited = band.as_ref().is_some_and(|(point, _)| {
                    let rest = point.outputs[index];
                    told(index, rest).to_bits() != rest.to_bits()
                });
                output.lower.push(sample.map(|sample| sample[0]));
                output.y.push(sample.map(|sample| sample[1]));
                output.upper.push(sample.map(|sample| sample[2]));
                let gain = gain.as_ref().map(|gain| gain[(index, input)]);
                output.gain.push(if is_limited { gain.map(|_| 0.0) } else { gain });
            }
        }
        Ok(curve)
    }
}

fn sorted(dataset: &Dataset, input: usize) -> Vec<f64> {
    let mut values: Vec<f64> = dataset
        .experiments()
        .iter()
        .flat_map(|experiment| experiment.input(input))
        .copied()
        .collect();
    values.sort_by(f64::total_cmp);
    values
}
