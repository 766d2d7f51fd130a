//! Where a model is looked at: a point that the user names, or the steady state of given inputs.

use intervalid_data::{Channel, Scale};
use nalgebra::{DMatrix, DVector};
use serde::Serialize;

use crate::error::{AnalysisError, Result};
use crate::jet::Jet;
use crate::member_map::MemberStep;
use crate::step_map::StepMap;

/// Values further from the training mean, in standard deviations, are refused: nothing was learnt there.
const FURTHEST: f64 = 1e3;
/// Steps of the free run that leads near a steady state.
const SETTLING: usize = 2000;
const NEWTON_STEPS: usize = 60;
/// A state whose step moves it by less, normalised, is steady.
const STEADY: f64 = 1e-8;

/// Values by channel name, as a user gives them. Inputs that are not named stay at their training mean; without outputs the steady
/// state is looked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointRequest {
    /// Name and value.
    pub values: Vec<(String, f64)>,
}

/// A point, in physical units.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperatingPoint {
    /// One per input.
    pub inputs: Vec<f64>,
    /// One per output: what was given, or the steady state's.
    pub outputs: Vec<f64>,
    /// Whether a free run stays here.
    pub is_steady: bool,
    /// How far each output moves in the next sample.
    pub drift: Vec<f64>,
    /// Whether it lies outside the region of the training data, where the model knows it.
    pub is_extrapolated: Option<bool>,
    /// The states of all members, normalised.
    #[serde(skip)]
    pub(crate) own: Vec<DVector<f64>>,
    /// The inputs, normalised.
    #[serde(skip)]
    pub(crate) normalised_inputs: Vec<f64>,
}

impl OperatingPoint {
    /// The point of a request.
    ///
    /// # Errors
    /// If a channel is unknown or its value out of range, some outputs are given and others not, or no steady state was found.
    pub fn new(map: &StepMap, request: &PointRequest) -> Result<Self> {
        let (inputs, outputs) = (map.input_channels(), map.output_channels());
        let all: Vec<&Channel> = inputs.iter().chain(&outputs).collect();
        if let Some((name, _)) = request
            .values
            .iter()
            .find(|(name, _)| all.iter().all(|channel| channel.name != *name))
        {
            let names: Vec<&str> = all.iter().map(|channel| channel.name.as_str()).collect();
            return Err(AnalysisError::UnknownChannel {
                name: name.clone(),
                expected: names.join(", "),
            });
        }
        let given = |channel: &Channel, scale: Scale| {
            let found = request.values.iter().find(|(name, _)| *name == channel.name);
            found.map(|(_, value)| normalised(channel, scale, *value)).transpose()
        };
        let mut at = Vec::new();
        for (channel, scale) in inputs.iter().zip(map.input_scales()) {
            at.push(given(channel, scale)?.unwrap_or(0.0));
        }
        let mut held = Vec::new();
        for (channel, scale) in outputs.iter().zip(map.output_scales()) {
            held.push(given(channel, scale)?);
        }
        if held.iter().all(Option::is_none) {
            return Self::steady(map, &at);
        }
        let mut values = Vec::new();
        for (channel, value) in outputs.iter().zip(held) {
            let missing = || AnalysisError::PartOfOutputs {
                missing: channel.name.clone(),
            };
            values.push(value.ok_or_else(missing)?);
        }
        Self::held(map, &at, &DVector::from_vec(values))
    }

    /// The steady state of these normalised inputs that a free run from the training mean leads to, or the nearest to it.
    pub(crate) fn steady(map: &StepMap, inputs: &[f64]) -> Result<Self> {
        let own: Result<Vec<DVector<f64>>> = (0..map.members.len())
            .map(|member| {
                let step = |own: &DVector<f64>| map.derivatives(member, map.at_rest(inputs, own));
                let start = settle(map, inputs, member);
                find_rest(map, inputs, start, step)
            })
            .collect();
        Ok(Self::at(map, inputs, own?, None))
    }

    /// These inputs and outputs, with the hidden states that a model has after it has seen them for long.
    fn held(map: &StepMap, inputs: &[f64], outputs: &DVector<f64>) -> Result<Self> {
        let layout = &map.layout;
        let own: Result<Vec<DVector<f64>>> = (map.members.iter())
            .map(|member| {
                let mut start = DVector::zeros(layout.own);
                for entry in 0..layout.output_lags {
                    start[entry] = outputs[entry % layout.outputs];
                }
                let step = |own: &DVector<f64>| {
                    let z = Jet::variables(map.at_rest(inputs, own));
                    member.held_step(layout, &z, outputs)
                };
                find_rest(map, inputs, start, step)
            })
            .collect();
        Ok(Self::at(map, inputs, own?, Some(outputs)))
    }

    fn at(map: &StepMap, inputs: &[f64], own: Vec<DVector<f64>>, held: Option<&DVector<f64>>) -> Self {
        let mut mean: DVector<f64> = DVector::zeros(map.layout.outputs);
        let mut largest: f64 = 0.0;
        for (member, own) in own.iter().enumerate() {
            let z = map.at_rest(inputs, own);
            let step = map.members[member].step(&map.layout, &Jet::numbers(z));
            mean += &step.output.value / map.members.len() as f64;
            largest = largest.max((&step.next.value - own).amax());
        }
        let outputs = held.cloned().unwrap_or_else(|| mean.clone());
        let (input_scales, output_scales) = (map.input_scales(), map.output_scales());
        let drift = (&mean - &outputs)
            .iter()
            .zip(&output_scales)
            .map(|(drift, scale)| scale.width_to_physical(*drift))
            .collect();
        Self {
            inputs: inputs
                .iter()
                .zip(input_scales)
                .map(|(value, scale)| scale.to_physical(*value))
                .collect(),
            outputs: outputs
                .iter()
                .zip(&output_scales)
                .map(|(value, scale)| scale.to_physical(*value))
                .collect(),
            is_steady: largest < 1e3 * STEADY && (&mean - &outputs).amax() < 1e3 * STEADY,
            drift,
            is_extrapolated: (map.program().region.as_ref())
                .map(|region| !region.holds_rest(inputs, outputs.as_slice())),
            own,
            normalised_inputs: inputs.to_vec(),
        }
    }
}

fn normalised(channel: &Channel, scale: Scale, value: f64) -> Result<f64> {
    let at = scale.to_normalised(value);
    match at.is_finite() && at.abs() <= FURTHEST {
        true => Ok(at),
        false => Err(AnalysisError::Value {
            channel: channel.name.clone(),
            value,
            least: scale.to_physical(-FURTHEST),
            most: scale.to_physical(FURTHEST),
        }),
    }
}

/// Where a free run from the training mean leads, or the mean where that run leaves every sensible range.
fn settle(map: &StepMap, inputs: &[f64], member: usize) -> DVector<f64> {
    let start = DVector::zeros(map.layout.own);
    let mut own = start.clone();
    for _ in 0..SETTLING {
        let z = Jet::numbers(map.at_rest(inputs, &own));
        let next = map.members[member].step(&map.layout, &z).next.value;
        if !next.iter().all(|value| value.abs() < map.program().diverged) {
            return start;
        }
        let moved = (&next - &own).amax();
        own = next;
        if moved < STEADY {
            break;
        }
    }
    own
}

/// A state that its step leaves where it is: Newton's method with steps halved until they help.
fn find_rest(
    map: &StepMap,
    inputs: &[f64],
    start: DVector<f64>,
    step: impl Fn(&DVector<f64>) -> MemberStep,
) -> Result<DVector<f64>> {
    let (first, count) = (map.layout.shared(), map.layout.own);
    let mut own = start;
    let mut found = step(&own);
    let mut error = &found.next.value - &own;
    for _ in 0..NEWTON_STEPS {
        if error.amax() < f64::EPSILON * (1.0 + own.amax()) {
            break;
        }
        let jacobian: DMatrix<f64> = found.next.slope.columns(first, count) - DMatrix::identity(count, count);
        let Some(towards) = jacobian.lu().solve(&-&error) else {
            break;
        };
        let mut share = 1.0;
        let better = loop {
            let tried = &own + &towards * share;
            let at_tried = step(&tried);
            let left = &at_tried.next.value - &tried;
            if left.iter().all(|value| value.is_finite()) && left.norm() < error.norm() {
                break Some((tried, at_tried, left));
            }
            share /= 2.0;
            if share < 1e-6 {
                break None;
            }
        };
        let Some(better) = better else { break };
        (own, found, error) = better;
    }
    if error.amax() < STEADY * (1.0 + own.amax()) {
        return Ok(own);
    }
    Err(no_rest(map, inputs, &own, &found, &error))
}

fn no_rest(
    map: &StepMap,
    inputs: &[f64],
    own: &DVector<f64>,
    found: &MemberStep,
    error: &DVector<f64>,
) -> AnalysisError {
    let scales = map.output_scales();
    // Of networks the newest outputs are states; of state-space models the worst state stands for them.
    let drift = |output: usize| match map.layout.output_lags {
        0 => error.amax(),
        _ => (found.output.value[output] - own[output]).abs(),
    };
    let physical = |output: usize| scales[output].width_to_physical(drift(output));
    let worst = (0..scales.len())
        .max_by(|&a, &b| drift(a).total_cmp(&drift(b)))
        .unwrap_or(0);
    let named = map.input_channels();
    let words = named
        .iter()
        .zip(map.input_scales())
        .zip(inputs)
        .map(|((channel, scale), value)| format!("{} = {:.4}", channel.name, scale.to_physical(*value)));
    AnalysisError::NoSteadyState {
        inputs: words.collect::<Vec<_>>().join(", "),
        output: map.output_channels()[worst].name.clone(),
        drift: physical(worst),
    }
}
