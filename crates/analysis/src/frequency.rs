//! Bode and Nyquist of a linearisation, beside what a record shows.

use intervalid_data::Dataset;
use nalgebra::DMatrix;
use serde::Serialize;

use crate::certified::{Disc, ResponseBound, bound};
use crate::error::{AnalysisError, Result};
use crate::linear_system::{MemberSystem, Z};
use crate::linearise::{Linearisation, is_stable};
use crate::spectrum::{MeasuredResponse, measured_responses, unwrapped};

const POINTS: usize = 120;
/// The lowest frequency is this many times below the corner of the slowest pole.
const BELOW_CORNER: f64 = 20.0;

/// How a model answers sines around a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrequencyResponse {
    /// `Hz`, or `cycles/sample` where the sample time is not known.
    pub frequency_unit: &'static str,
    /// From slow to the Nyquist frequency.
    pub frequency: Vec<f64>,
    /// One per output and input.
    pub channels: Vec<ChannelResponse>,
}

/// One input to one output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelResponse {
    /// Name of the input.
    pub input: String,
    /// Name of the output.
    pub output: String,
    /// |G|, output units per input unit.
    pub magnitude: Vec<f64>,
    /// Degrees, unwrapped.
    pub phase: Vec<f64>,
    /// Of Nyquist's curve.
    pub real: Vec<f64>,
    /// Of Nyquist's curve.
    pub imaginary: Vec<f64>,
    /// Least and greatest of members and draws inside the margins; none where the model has neither.
    pub band: Option<ResponseBand>,
    /// What is proven of all of them; none where the model has neither.
    pub certified: Option<ResponseBound>,
    /// What a record shows.
    pub measured: Option<MeasuredResponse>,
}

/// Bounds at every frequency.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResponseBand {
    /// Of the magnitude.
    pub magnitude: [Vec<f64>; 2],
    /// Of the phase.
    pub phase: [Vec<f64>; 2],
}

impl FrequencyResponse {
    /// That of a linearisation; with a record, what the record shows beside it.
    ///
    /// # Errors
    /// If the model has no inputs, the point is a pole at every frequency, or the record is too short.
    pub fn new(linear: &Linearisation, dataset: Option<&Dataset>) -> Result<Self> {
        if linear.inputs.is_empty() {
            return Err(AnalysisError::NoInputs);
        }
        let step = linear.step();
        let frequency = grid(linear);
        let places: Vec<Z> = frequency
            .iter()
            .map(|hertz| Z::from_polar(1.0, std::f64::consts::TAU * hertz * step))
            .collect();
        let nominal = answers(&linear.systems, &places);
        let mut variants = Vec::new();
        if linear.members > 1 {
            for system in &linear.systems {
                let alone = std::slice::from_ref(system);
                if is_stable(alone)? {
                    variants.push(answers(alone, &places));
                }
            }
        }
        for draw in &linear.draws {
            if is_stable(draw)? {
                variants.push(answers(draw, &places));
            }
        }
        let enclosed = enclosed(linear, &places);
        let mut alone = Vec::new();
        for (member, system) in linear.systems.iter().enumerate() {
            if is_stable(std::slice::from_ref(system))? {
                alone.push(member);
            }
        }
        let measured = dataset.map(|dataset| measured(linear, dataset)).transpose()?;
        let mut channels = Vec::new();
        for (output, output_channel) in linear.outputs.iter().enumerate() {
            for (input, input_channel) in linear.inputs.iter().enumerate() {
                let index = output + input * linear.outputs.len();
                let values: Vec<Z> = nominal.iter().map(|answer| answer[index]).collect();
                let phase = unwrapped(values.iter().copied());
                channels.push(ChannelResponse {
                    input: input_channel.name.clone(),
                    output: output_channel.name.clone(),
                    magnitude: values.iter().map(|value| value.norm()).collect(),
                    real: values.iter().map(|value| value.re).collect(),
                    imaginary: values.iter().map(|value| value.im).collect(),
                    certified: enclosed.as_ref().map(|found| {
                        let discs: Vec<Option<Vec<Disc>>> = found
                            .iter()
                            .map(|members| Some(members.as_ref()?.iter().map(|member| member[index]).collect()))
                            .collect();
                        bound(&discs, &alone, (&values, &phase), linear.units[index])
                    }),
                    band: (!variants.is_empty()).then(|| band(&values, &phase, &variants, index)),
                    measured: measured.as_ref().map(|found| found[output][input].clone()),
                    phase,
                });
            }
        }
        Ok(Self {
            frequency_unit: if linear.sample_time.is_some() {
                "Hz"
            } else {
                "cycles/sample"
            },
            frequency,
            channels,
        })
    }
}

impl FrequencyResponse {
    /// As [`new`](Self::new), for a reader who wants what can be had: none of a model without inputs, and without what a record shows
    /// where that is too short. What was left out is said in words.
    ///
    /// # Errors
    /// If the point is a pole at every frequency.
    pub fn beside(linear: &Linearisation, dataset: Option<&Dataset>) -> Result<(Option<Self>, Option<String>)> {
        match Self::new(linear, dataset) {
            Ok(found) => Ok((Some(found), None)),
            Err(AnalysisError::NoInputs) => {
                let words = "The model has no inputs: there is no response to show.";
                Ok((None, Some(words.to_owned())))
            }
            Err(error @ AnalysisError::TooShort { .. }) => {
                let words = format!("What the data show without a model is left out: {error}.");
                Ok((Some(Self::new(linear, None)?), Some(words)))
            }
            Err(error) => Err(error),
        }
    }
}

fn grid(linear: &Linearisation) -> Vec<f64> {
    let highest = 0.5 / linear.step();
    let slowest = linear
        .poles
        .iter()
        .filter_map(|pole| pole.time_constant)
        .fold(0.0, f64::max);
    let corner = if slowest > 0.0 {
        1.0 / (std::f64::consts::TAU * slowest)
    } else {
        highest
    };
    let lowest = (corner / BELOW_CORNER).clamp(highest * 1e-5, highest * 1e-2);
    let ratio = (highest / lowest).ln() / (POINTS - 1) as f64;
    (0..POINTS).map(|index| lowest * (ratio * index as f64).exp()).collect()
}

/// Column-major over outputs and inputs, the mean of the members; not a number at a pole.
fn answers(members: &[MemberSystem], places: &[Z]) -> Vec<Vec<Z>> {
    let at = |&z: &Z| {
        let count = members[0].c.nrows() * members[0].b[0].ncols();
        let mut sum = vec![Z::new(0.0, 0.0); count];
        for member in members {
            match member.at(z) {
                Some(found) => sum
                    .iter_mut()
                    .zip(found.iter())
                    .for_each(|(sum, value)| *sum += value / members.len() as f64),
                None => sum.fill(Z::new(f64::NAN, f64::NAN)),
            }
        }
        sum
    };
    places.iter().map(at).collect()
}

/// `[place][member]`, column-major over outputs and inputs; none at a place where nothing is proven, and none at all of a model without margins.
fn enclosed(linear: &Linearisation, places: &[Z]) -> Option<Vec<Option<Vec<DMatrix<Disc>>>>> {
    let at = |&z: &Z| linear.enclosed.iter().map(|member| member.at(z)).collect();
    (!linear.enclosed.is_empty()).then(|| places.iter().map(at).collect())
}

fn band(nominal: &[Z], phase: &[f64], variants: &[Vec<Vec<Z>>], index: usize) -> ResponseBand {
    let mut band = ResponseBand {
        magnitude: [Vec::new(), Vec::new()],
        phase: [Vec::new(), Vec::new()],
    };
    for (place, (own, phase)) in nominal.iter().zip(phase).enumerate() {
        let (mut magnitudes, mut turns) = ([own.norm(); 2], [0.0_f64; 2]);
        for variant in variants {
            let value = variant[place][index];
            if !value.re.is_finite() || !value.im.is_finite() {
                continue;
            }
            magnitudes = [magnitudes[0].min(value.norm()), magnitudes[1].max(value.norm())];
            // The angle between the two, which has no jumps.
            let turn = (value * own.conj()).arg().to_degrees();
            turns = [turns[0].min(turn), turns[1].max(turn)];
        }
        for side in 0..2 {
            band.magnitude[side].push(magnitudes[side]);
            band.phase[side].push(phase + turns[side]);
        }
    }
    band
}

fn measured(linear: &Linearisation, dataset: &Dataset) -> Result<Vec<Vec<MeasuredResponse>>> {
    let level = linear.level(dataset);
    let runs: Vec<Vec<Vec<f64>>> = level
        .experiments()
        .iter()
        .map(|experiment| {
            let inputs = (0..linear.inputs.len()).map(|input| experiment.input(input).to_vec());
            inputs
                .chain((0..linear.outputs.len()).map(|output| experiment.output(output).to_vec()))
                .collect()
        })
        .collect();
    measured_responses(&runs, linear.inputs.len(), linear.step())
}
