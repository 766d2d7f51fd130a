//! Inputs for the next recording, which go where data are missing.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::error::{AnalysisError, Result};
use crate::frequency::{ChannelResponse, FrequencyResponse};
use crate::linearise::Linearisation;
use crate::next_recording::{BINS, InputPart, NextRecording, SMALL_GAIN, shown};

/// Part of the excitation that are steps; the rest are sines.
const STEPS: f64 = 0.4;
/// Part of the range that sines use.
const USED: f64 = 0.9;
/// Steps are held for so many of the slowest time constants.
const HELD: f64 = 3.0;
const LEAST_SAMPLES: usize = 100;
const MOST_SAMPLES: usize = 200_000;
/// Strides through the parts of the range without a common divisor with their number, which jump up and down.
const STRIDES: [usize; 3] = [3, 7, 9];
/// More sines than these tell little more, and each gets less of the power.
const MOST_LINES: usize = 300;

/// A proposal for the inputs of the next recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Excitation {
    /// `[input][sample]`, within the limits.
    pub columns: Vec<Vec<f64>>,
    /// How many samples at the start are steps.
    pub steps: usize,
    /// In sentences.
    pub words: Vec<String>,
}

/// Steps over all parts of the range, the hardly seen first, then sines on all frequencies that matter, each input on lines of its own.
///
/// **Formula.** Σ_n cos(2π·h_n·k/N + φ_n), φ_n = -π·n·(n-1)/M over M lines, which keeps the peaks low.
///
/// **Reference.** M. R. Schroeder, "Synthesis of low-peak-factor signals and binary sequences with low autocorrelation", IEEE Trans. Inf.
/// Theory 16 (1970), doi:10.1109/TIT.1970.1054411.
///
/// # Errors
/// If the model has no inputs, or the number of samples is out of range.
pub fn excitation(
    linear: &Linearisation,
    response: &FrequencyResponse,
    next: Option<&NextRecording>,
    limits: &[[f64; 2]],
    samples: Option<usize>,
) -> Result<Excitation> {
    let inputs = linear.inputs.len();
    if inputs == 0 {
        return Err(AnalysisError::NoInputs);
    }
    let slowest = linear
        .poles
        .iter()
        .filter_map(|pole| pole.time_constant)
        .fold(linear.step(), f64::max)
        / linear.step();
    let held = ((HELD * slowest) as usize).clamp(2, 2000);
    let samples = samples.unwrap_or_else(|| (held * BINS * 4).clamp(1000, 20_000));
    if !(LEAST_SAMPLES..=MOST_SAMPLES).contains(&samples) {
        return Err(AnalysisError::Option {
            option: "samples",
            found: samples.to_string(),
            expected: format!("{LEAST_SAMPLES} to {MOST_SAMPLES}"),
        });
    }
    let steps = (samples as f64 * STEPS) as usize;
    let sines = samples - steps;
    let bandwidth = bandwidth(response) * linear.step();
    let highest = ((bandwidth * sines as f64) as usize).min(sines / 2 - 1).max(1);
    let lines: Vec<usize> = (1..=highest).step_by(highest.div_ceil(MOST_LINES)).collect();
    let column = |input: usize| {
        let [low, high] = limits[input];
        let levels = levels(input, next.map(|next| &next.inputs[input].parts[..]), limits[input]);
        // Inputs change at different times, so that their effects can be told apart.
        let shift = input * held / inputs;
        let stepped = (0..steps).map(|k| levels[(k + shift) / held % levels.len()]);
        let own: Vec<usize> = lines.iter().copied().skip(input).step_by(inputs).collect();
        let count = own.len().max(1) as f64;
        let sum = |k: usize| -> f64 {
            let wave = |(n, line): (usize, &usize)| {
                let phase = -std::f64::consts::PI * (n * (n + 1)) as f64 / count;
                // The product is reduced first: its size would cost digits.
                (std::f64::consts::TAU * (line * k % sines) as f64 / sines as f64 + phase).cos()
            };
            own.iter().enumerate().map(wave).sum()
        };
        let waves: Vec<f64> = (0..sines).map(sum).collect();
        let peak = waves
            .iter()
            .fold(f64::MIN_POSITIVE, |most: f64, value| most.max(value.abs()));
        let (middle, half) = (f64::midpoint(low, high), (high - low) / 2.0);
        stepped
            .chain(waves.iter().map(|wave| middle + USED * half * wave / peak))
            .collect::<Vec<f64>>()
    };
    let unit = response.frequency_unit;
    Ok(Excitation {
        columns: (0..inputs).map(column).collect(),
        steps,
        words: vec![
            format!(
                "{steps} samples of steps, each level held for {held} samples, the parts of the range that were hardly seen first."
            ),
            format!(
                "{sines} samples of {} sines up to {} {unit}, where the gain falls below {:.0} % of its largest.",
                lines.len(),
                shown(highest as f64 / sines as f64 / linear.step()),
                100.0 * SMALL_GAIN
            ),
        ],
    })
}

/// Above this frequency all gains are small.
fn bandwidth(response: &FrequencyResponse) -> f64 {
    let of_channel = |channel: &ChannelResponse| {
        let largest = channel.magnitude.iter().copied().fold(0.0, f64::max);
        let last = channel.magnitude.iter().rposition(|gain| *gain > SMALL_GAIN * largest);
        last.map_or(0.0, |index| response.frequency[index])
    };
    response
        .channels
        .iter()
        .map(of_channel)
        .fold(response.frequency[0], f64::max)
}

/// The middle of every part: the hardly seen ones first and once more, all in an order that jumps up and down.
fn levels(input: usize, parts: Option<&[InputPart]>, [low, high]: [f64; 2]) -> Vec<f64> {
    let middle = |bin: usize| low + (high - low) * (bin as f64 + 0.5) / BINS as f64;
    let order = order(input);
    let needed = |bin: &usize| parts.is_some_and(|parts| parts[*bin].is_rare || parts[*bin].is_wide);
    let first = order.iter().copied().filter(needed);
    first.chain(order.iter().copied()).map(middle).collect()
}

/// All parts in an order of its own for each input: of two inputs with the same one, one would be the other a little later, and their effects
/// could hardly be told apart.
fn order(input: usize) -> Vec<usize> {
    let mut parts: Vec<usize> = (0..BINS).collect();
    match STRIDES.get(input) {
        Some(stride) => (parts.iter_mut()).for_each(|part| *part = (*part * stride + input) % BINS),
        // There are no more strides than these.
        None => parts.shuffle(&mut ChaCha8Rng::seed_from_u64(input as u64)),
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_input_is_another_one_a_little_later() {
        let all: Vec<Vec<usize>> = (0..8).map(order).collect();
        for (input, own) in all.iter().enumerate() {
            let mut sorted = own.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..BINS).collect::<Vec<_>>(), "input {input} visits every part");
            for (other, theirs) in all.iter().enumerate().skip(input + 1) {
                let is_shifted = |by: usize| (0..BINS).all(|k| own[k] == theirs[(k + by) % BINS]);
                assert!(
                    !(0..BINS).any(is_shifted),
                    "inputs {input} and {other}: {own:?} {theirs:?}"
                );
            }
        }
    }
}
