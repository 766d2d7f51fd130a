//! Answers to steps and pulses of several sizes, with the model's band.

use intervalid_model::Model;
use serde::Serialize;

use crate::error::{AnalysisError, Result};
use crate::linearise::Linearisation;
use crate::rest::{at_rest, step};
use crate::step_map::StepMap;

/// Sizes of steps in standard deviations of the input.
const AMPLITUDES: [f64; 4] = [-1.0, 0.5, 1.0, 2.0];
/// The answer is shown for so many of the slowest time constants, and for twice as many where that is too short for it to come to rest:
/// several poles in one place take longer than one.
const TIME_CONSTANTS: f64 = 6.0;
const SHORTEST: usize = 30;
/// No step is run for longer, so that large models answer in seconds.
pub(crate) const LONGEST: usize = 20_000;
/// Of a longer run so many samples are kept: the first half of them one by one, where what is fast happens, then at equal distances.
const KEPT: usize = 2000;
/// Where no pole decays.
const WITHOUT_POLES: usize = 200;
/// Part of the change within which an answer has settled, and come to rest.
const SETTLED: f64 = 0.02;

/// What the outputs do after a change of one input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Responses {
    /// The input that changes.
    pub input: String,
    /// `s` or `samples`.
    pub time_unit: &'static str,
    /// From the change on; of an answer that takes longer than 2000 samples the later ones are thinned out.
    pub time: Vec<f64>,
    /// Steps: the input stays changed.
    pub steps: Vec<Response>,
    /// Pulses: the input is changed for one sample.
    pub pulses: Vec<Response>,
}

/// One size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Response {
    /// Change of the input, in its unit.
    pub amplitude: f64,
    /// One per output.
    pub outputs: Vec<OutputResponse>,
}

/// One output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputResponse {
    /// Its name.
    pub output: String,
    /// Where it stood before.
    pub rest: f64,
    /// ŷ.
    pub y: Vec<f64>,
    /// Lower bounds, those of a simulation.
    pub lower: Vec<f64>,
    /// Upper bounds.
    pub upper: Vec<f64>,
    /// Least and greatest of the members; none of a single one.
    pub members: Option<[Vec<f64>; 2]>,
    /// What a step does to it; none where it does nothing, or where it does not come to rest within the run.
    pub figures: Option<StepFigures>,
    /// A step after which it does not come to rest within the run.
    #[serde(skip)]
    pub(crate) still_moves: bool,
}

/// A step's answer in numbers. Times are those of [`Responses`]; none where the answer does not get that far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepFigures {
    /// Change at the end per unit of the input.
    pub gain: f64,
    /// From 10 to 90 % of the change.
    pub rise_time: Option<f64>,
    /// Until it stays within 2 % of the change.
    pub settling_time: Option<f64>,
    /// Beyond the end, in percent of the change.
    pub overshoot: f64,
}

impl Responses {
    /// Steps and pulses of an input at the point of a linearisation. Without `amplitudes`, -1, ½, 1 and 2 standard deviations.
    ///
    /// # Errors
    /// If the point is not steady, the model has no such input, an amplitude is zero or no number, or a run diverges.
    pub fn new(model: &Model, linear: &Linearisation, input: usize, amplitudes: &[f64]) -> Result<Self> {
        let map = StepMap::new(model)?;
        let channel = linear.inputs.get(input).ok_or(AnalysisError::NoInputs)?;
        let point = &linear.operating_point;
        if !point.is_steady {
            return Err(AnalysisError::Option {
                option: "operating point",
                found: "one that moves by itself".to_owned(),
                expected: "a steady state: name inputs alone".to_owned(),
            });
        }
        let scale = map.input_scales()[input];
        let amplitudes = match amplitudes {
            [] => AMPLITUDES.map(|share| rounded(share * scale.std)).to_vec(),
            given => given.to_vec(),
        };
        if let Some(bad) = amplitudes.iter().find(|value| !value.is_finite() || **value == 0.0) {
            return Err(AnalysisError::Option {
                option: "amplitude",
                found: bad.to_string(),
                expected: "a number other than 0".to_owned(),
            });
        }
        let length = length(linear);
        let comes_to_rest = linear.comes_to_rest(length, SETTLED);
        let kept = kept(length);
        let scales = map.output_scales();
        let (start, before) = at_rest(model, point, &scales)?;
        let answer = |amplitude: f64, lasts: usize| -> Result<Response> {
            let mut simulator = start.clone();
            let mut outputs: Vec<OutputResponse> = linear
                .outputs
                .iter()
                .zip(&before)
                .map(|(channel, sample)| OutputResponse {
                    output: channel.name.clone(),
                    rest: sample[1],
                    y: Vec::with_capacity(length),
                    lower: Vec::with_capacity(length),
                    upper: Vec::with_capacity(length),
                    members: None,
                    figures: None,
                    still_moves: false,
                })
                .collect();
            let mut normalised = Vec::new();
            for k in 0..length {
                let mut inputs = point.inputs.clone();
                inputs[input] += if k < lasts { amplitude } else { 0.0 };
                for (output, [lower, y, upper]) in outputs.iter_mut().zip(step(&mut simulator, &inputs)?) {
                    output.lower.push(lower);
                    output.y.push(y);
                    output.upper.push(upper);
                }
                let now = inputs
                    .iter()
                    .zip(map.input_scales())
                    .map(|(value, scale)| scale.to_normalised(*value));
                normalised.push(now.collect::<Vec<f64>>());
            }
            if map.members.len() > 1 {
                let runs = map.run((&point.normalised_inputs, &point.own), &normalised);
                for (index, output) in outputs.iter_mut().enumerate() {
                    output.members = Some(spread(&runs, index, |value| scales[index].to_physical(value)));
                }
            }
            for (index, output) in outputs.iter_mut().enumerate() {
                if lasts >= length && is_moved(output) {
                    let found = figures(output, amplitude, linear.step());
                    output.figures = found.filter(|_| comes_to_rest[(index, input)]);
                    output.still_moves = output.figures.is_none();
                }
                output.keep(&kept);
            }
            Ok(Response { amplitude, outputs })
        };
        Ok(Self {
            input: channel.name.clone(),
            time_unit: linear.time_unit,
            time: kept.iter().map(|k| *k as f64 * linear.step()).collect(),
            steps: amplitudes
                .iter()
                .map(|amplitude| answer(*amplitude, length))
                .collect::<Result<_>>()?,
            pulses: amplitudes
                .iter()
                .map(|amplitude| answer(*amplitude, 1))
                .collect::<Result<_>>()?,
        })
    }
}

impl OutputResponse {
    /// Only these samples.
    fn keep(&mut self, kept: &[usize]) {
        let members = self.members.iter_mut().flatten();
        for values in [&mut self.y, &mut self.lower, &mut self.upper]
            .into_iter()
            .chain(members)
        {
            *values = kept.iter().map(|k| values[*k]).collect();
        }
    }
}

fn length(linear: &Linearisation) -> usize {
    let poles = linear.poles.iter().filter_map(|pole| pole.time_constant);
    let slowest = poles.fold(0.0, f64::max) / linear.step();
    let delay = linear.channels.iter().map(|channel| channel.delay).max().unwrap_or(0);
    // Inputs that are remembered go on answering without any pole.
    let remembered = delay.max(linear.remembered());
    if !linear.is_stable || slowest <= 0.0 {
        return WITHOUT_POLES.max(2 * remembered).min(LONGEST);
    }
    let lasting = |constants: f64| ((constants * slowest) as usize + 2 * remembered).clamp(SHORTEST, LONGEST);
    let usual = lasting(TIME_CONSTANTS);
    match linear.comes_to_rest(usual, SETTLED).iter().all(|rests| *rests) {
        true => usual,
        false => lasting(2.0 * TIME_CONSTANTS),
    }
}

/// Which samples of a run are kept, the last among them.
fn kept(length: usize) -> Vec<usize> {
    if length <= KEPT {
        return (0..length).collect();
    }
    let (whole, rest) = (KEPT / 2, KEPT - KEPT / 2);
    let later = (1..=rest).map(|index| whole - 1 + index * (length - whole) / rest);
    (0..whole).chain(later).collect()
}

/// Least and greatest of the members' runs.
fn spread(runs: &[Vec<Vec<f64>>], output: usize, physical: impl Fn(f64) -> f64) -> [Vec<f64>; 2] {
    let steps = runs.first().map_or(0, Vec::len);
    let of = |pick: fn(f64, f64) -> f64, start: f64| {
        (0..steps)
            .map(|k| runs.iter().map(|run| physical(run[k][output])).fold(start, pick))
            .collect()
    };
    [of(f64::min, f64::INFINITY), of(f64::max, f64::NEG_INFINITY)]
}

/// Two significant digits: steps are named in legends.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let unit = 10.0_f64.powf(value.abs().log10().floor() - 1.0);
    (value / unit).round() * unit
}

/// How far an output gets from where it stood.
fn largest(response: &OutputResponse) -> f64 {
    let moves = response.y.iter().map(|y| (y - response.rest).abs());
    moves.fold(0.0, f64::max)
}

/// An input that does not reach an output leaves rounding errors, and one that is only differentiated leaves no change.
fn is_moved(response: &OutputResponse) -> bool {
    let largest = largest(response);
    let change = response.y.last().map_or(0.0, |end| end - response.rest);
    largest > 1e-9 * (1.0 + response.rest.abs()) && change.abs() >= 1e-3 * largest
}

/// None of an answer that still moves.
fn figures(response: &OutputResponse, amplitude: f64, step: f64) -> Option<StepFigures> {
    let change = response.y.last()? - response.rest;
    let share = |y: &f64| (y - response.rest) / change;
    let first = |level: f64| response.y.iter().position(|y| share(y) >= level);
    let last_outside = response.y.iter().rposition(|y| (share(y) - 1.0).abs() > SETTLED);
    // At the very end an answer that still moves looks settled.
    let settled = last_outside.map_or(0, |index| index + 1);
    if settled + response.y.len() / 10 >= response.y.len() {
        return None;
    }
    let most = response.y.iter().map(share).fold(1.0, f64::max);
    Some(StepFigures {
        gain: change / amplitude,
        rise_time: first(0.9)
            .zip(first(0.1))
            .map(|(end, start)| (end - start) as f64 * step),
        settling_time: Some(settled as f64 * step),
        overshoot: 100.0 * (most - 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_long_run_ends_with_it() {
        assert_eq!(kept(KEPT), (0..KEPT).collect::<Vec<_>>());
        for length in [KEPT + 1, 6000, LONGEST] {
            let found = kept(length);
            assert_eq!((found.len(), found[0], found[KEPT - 1]), (KEPT, 0, length - 1));
            assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!(found[KEPT / 2 - 1], KEPT / 2 - 1, "the first samples are all there");
        }
    }
}
