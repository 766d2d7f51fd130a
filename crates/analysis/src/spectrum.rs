//! Averaged spectra of records (Welch), and the frequency response that they show.

use nalgebra::{Complex, DMatrix, DVector};
use rustfft::FftPlanner;
use serde::Serialize;

use crate::error::{AnalysisError, Result};

/// Fewer samples in a piece tell too few frequencies.
const SHORTEST: usize = 32;
const LONGEST: usize = 1024;
/// Pieces are this many times shorter than the longest run, so that several are averaged.
const AVERAGED: usize = 5;
/// A share of the largest input power that is added to every one, so that inputs that move together can be told apart or are shown
/// as not known.
const RIDGE: f64 = 1e-12;

type C = Complex<f64>;

/// Cross spectra of signals: `[frequency]` matrices over signals, of pieces under a Hann window that overlap by half, each without
/// its mean.
///
/// **Reference.** P. D. Welch, "The use of fast Fourier transform for the estimation of power spectra", IEEE Trans. Audio
/// Electroacoust. 15 (1967), doi:10.1109/TAU.1967.1161901.
pub(crate) struct Spectra {
    /// In cycles per sample.
    pub(crate) frequency: Vec<f64>,
    pub(crate) cross: Vec<DMatrix<C>>,
    pub(crate) pieces: usize,
}

impl Spectra {
    /// Of runs of several signals, `[run][signal][sample]`.
    pub(crate) fn new(runs: &[Vec<Vec<f64>>], what: &'static str) -> Result<Self> {
        let longest = runs
            .iter()
            .filter_map(|run| run.first())
            .map(Vec::len)
            .max()
            .unwrap_or(0);
        if longest < SHORTEST * AVERAGED / 2 {
            return Err(AnalysisError::TooShort {
                what,
                expected: SHORTEST * AVERAGED / 2,
                found: longest,
            });
        }
        let length = (longest / AVERAGED).next_power_of_two().clamp(SHORTEST, LONGEST);
        let length = if length > longest { length / 2 } else { length };
        let window: Vec<f64> = (0..length)
            .map(|k| 0.5 - 0.5 * (std::f64::consts::TAU * k as f64 / length as f64).cos())
            .collect();
        let energy: f64 = window.iter().map(|value| value * value).sum();
        let transform = FftPlanner::new().plan_fft_forward(length);
        let signals = runs.first().map_or(0, Vec::len);
        let bins = length / 2;
        let mut cross = vec![DMatrix::<C>::zeros(signals, signals); bins];
        let mut pieces = 0;
        for run in runs {
            let samples = run.first().map_or(0, Vec::len);
            let mut start = 0;
            while start + length <= samples {
                let spectra: Vec<Vec<C>> = run
                    .iter()
                    .map(|signal| {
                        let piece = &signal[start..start + length];
                        let mean = piece.iter().sum::<f64>() / length as f64;
                        let weighted = piece
                            .iter()
                            .zip(&window)
                            .map(|(value, weight)| C::new((value - mean) * weight, 0.0));
                        let mut buffer: Vec<C> = weighted.collect();
                        transform.process(&mut buffer);
                        buffer
                    })
                    .collect();
                // The mean was taken off: frequency zero says nothing.
                for (bin, sum) in cross.iter_mut().enumerate() {
                    let values = DVector::from_iterator(signals, spectra.iter().map(|values| values[bin + 1]));
                    *sum += &values * values.adjoint() / C::new(energy, 0.0);
                }
                pieces += 1;
                start += length / 2;
            }
        }
        for sum in &mut cross {
            *sum /= C::new(f64::from(u32::try_from(pieces).unwrap_or(u32::MAX)), 0.0);
        }
        Ok(Self {
            frequency: (1..=bins).map(|bin| bin as f64 / length as f64).collect(),
            cross,
            pieces,
        })
    }
}

/// What a record shows of one channel, without a model.
///
/// **Formula.** H1 = S_yu·S_uu⁻¹, all inputs at once; coherence S_yu·S_uu⁻¹·S_uy / S_yy, of all inputs together. The relative standard
/// deviation of |H| is √((1 - γ²)/(2γ²·n)), n the averaged pieces.
///
/// **Assumptions.** Open loop: inputs that follow the outputs bias it.
///
/// **Reference.** J. S. Bendat, A. G. Piersol, *Random Data*, 4th ed., Wiley 2010, sections 7.4 and 9.2, doi:10.1002/9781118032428.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredResponse {
    /// In the unit of the model's response.
    pub frequency: Vec<f64>,
    /// Real and imaginary part.
    #[serde(skip)]
    pub(crate) value: Vec<C>,
    /// |H|, output units per input unit.
    pub magnitude: Vec<f64>,
    /// Degrees, unwrapped.
    pub phase: Vec<f64>,
    /// Share of the output that is linear in all inputs, 0 to 1.
    pub coherence: Vec<f64>,
    /// Standard deviation of the magnitude as a share of it.
    pub deviation: Vec<f64>,
    /// Averaged pieces.
    pub pieces: usize,
}

/// The responses `[output][input]` that records of inputs and outputs show, `[run][signal][sample]` with the inputs first.
pub(crate) fn measured_responses(
    runs: &[Vec<Vec<f64>>],
    inputs: usize,
    step: f64,
) -> Result<Vec<Vec<MeasuredResponse>>> {
    let spectra = Spectra::new(runs, "a frequency response from data")?;
    let outputs = runs.first().map_or(0, Vec::len) - inputs;
    let frequency: Vec<f64> = spectra.frequency.iter().map(|value| value / step).collect();
    let empty = MeasuredResponse {
        frequency,
        value: Vec::new(),
        magnitude: Vec::new(),
        phase: Vec::new(),
        coherence: Vec::new(),
        deviation: Vec::new(),
        pieces: spectra.pieces,
    };
    let mut found = vec![vec![empty; inputs]; outputs];
    for cross in &spectra.cross {
        let mut own = cross.view((0, 0), (inputs, inputs)).into_owned();
        let largest = (0..inputs).map(|input| own[(input, input)].re).fold(0.0, f64::max);
        (0..inputs).for_each(|input| own[(input, input)] += C::new(RIDGE * largest, 0.0));
        let both = cross.view((inputs, 0), (outputs, inputs)).into_owned();
        let response = own.try_inverse().map(|inverse| &both * inverse);
        for output in 0..outputs {
            let power = cross[(inputs + output, inputs + output)].re;
            let explained = response.as_ref().map_or(f64::NAN, |response| {
                (0..inputs)
                    .map(|input| (response[(output, input)] * both[(output, input)].conj()).re)
                    .sum()
            });
            let coherence = (explained / power).clamp(0.0, 1.0);
            for input in 0..inputs {
                let value = response
                    .as_ref()
                    .map_or(C::new(f64::NAN, f64::NAN), |response| response[(output, input)]);
                let channel = &mut found[output][input];
                channel.value.push(value);
                channel.coherence.push(coherence);
                let pieces = spectra.pieces.max(1) as f64;
                channel
                    .deviation
                    .push(((1.0 - coherence) / (2.0 * coherence.max(1e-9) * pieces)).sqrt());
            }
        }
    }
    for channel in found.iter_mut().flatten() {
        channel.magnitude = channel.value.iter().map(|value| value.norm()).collect();
        channel.phase = unwrapped(channel.value.iter().copied());
    }
    Ok(found)
}

/// Degrees without jumps of a whole turn.
pub(crate) fn unwrapped(values: impl Iterator<Item = C>) -> Vec<f64> {
    let mut last: Option<f64> = None;
    values
        .map(|value| {
            let angle = value.arg().to_degrees();
            let whole = last
                .filter(|last| last.is_finite())
                .map_or(0.0, |last| ((last - angle) / 360.0).round() * 360.0);
            last = Some(angle + whole);
            angle + whole
        })
        .collect()
}
