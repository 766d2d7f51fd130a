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
/// Fewer pieces than so many per signal that is averaged beside another tell little: n pieces of pure noise let q inputs explain q/n of it.
const PIECES: usize = 4;
/// What two pieces under a Hann window have in common where they overlap by half: the square of their correlation, which is 1/6.
const SHARED: f64 = 1.0 / 36.0;
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
    /// How many pieces without overlap would tell as much: the variance of a mean of n pieces of which p pairs overlap is
    /// 1/n · (1 + 2p/n · 1/36) of that of one (Welch), so that it is about 0.95 n.
    pub(crate) independent: f64,
}

impl Spectra {
    /// Of runs of several signals, `[run][signal][sample]`, of which `inputs` are to explain the others.
    pub(crate) fn new(runs: &[Vec<Vec<f64>>], inputs: usize, what: &'static str) -> Result<Self> {
        let length = piece_length(runs, inputs, what)?;
        let window: Vec<f64> = (0..length)
            .map(|k| 0.5 - 0.5 * (std::f64::consts::TAU * k as f64 / length as f64).cos())
            .collect();
        let energy: f64 = window.iter().map(|value| value * value).sum();
        let transform = FftPlanner::new().plan_fft_forward(length);
        let signals = runs.first().map_or(0, Vec::len);
        let bins = length / 2;
        let mut cross = vec![DMatrix::<C>::zeros(signals, signals); bins];
        let (mut pieces, mut overlaps) = (0_usize, 0_usize);
        for run in runs {
            let samples = run.first().map_or(0, Vec::len);
            overlaps += pieces_of(samples, length).saturating_sub(1);
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
        let count = pieces as f64;
        for sum in &mut cross {
            *sum /= C::new(count, 0.0);
        }
        Ok(Self {
            frequency: (1..=bins).map(|bin| bin as f64 / length as f64).collect(),
            cross,
            pieces,
            independent: count / (1.0 + 2.0 * overlaps as f64 / count * SHARED),
        })
    }
}

/// The longest piece, a power of two, of which there are enough: with more inputs there must be more.
fn piece_length(runs: &[Vec<Vec<f64>>], inputs: usize, what: &'static str) -> Result<usize> {
    let lengths = || runs.iter().filter_map(|run| run.first()).map(Vec::len);
    let longest = lengths().max().unwrap_or(0);
    let least = PIECES * (inputs + 1);
    let too_short = AnalysisError::TooShort {
        what,
        // So many pieces of one run that overlap by half.
        expected: (least + 1) * SHORTEST / 2,
        found: longest,
    };
    let mut length = (longest / AVERAGED).next_power_of_two().clamp(SHORTEST, LONGEST);
    while length > longest || lengths().map(|samples| pieces_of(samples, length)).sum::<usize>() < least {
        length /= 2;
        if length < SHORTEST {
            return Err(too_short);
        }
    }
    Ok(length)
}

/// Pieces of a run that overlap by half.
fn pieces_of(samples: usize, length: usize) -> usize {
    samples.checked_sub(length).map_or(0, |rest| rest / (length / 2) + 1)
}

/// What a record shows of one channel, without a model.
///
/// **Formula.** H1 = S_yu·S_uu⁻¹, all inputs at once; γ² = S_yu·S_uu⁻¹·S_uy / S_yy, of all inputs together. Of pure noise γ² is q/n on the
/// average, with q inputs and n independent pieces, so that the coherence is told as max(0, 1 - (1 - γ²)·n/(n - q)). The relative standard
/// deviation of |H_i| is √(S_yy·(1 - γ²)·[S_uu⁻¹]_ii / (2·(n - q))) / |H_i|: an input that does little is known less well than one that does
/// much. With one input it is √((1 - γ²)/(2γ²·(n - 1))).
///
/// **Assumptions.** Open loop: inputs that follow the outputs bias it. Responses last less long than a piece.
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
    /// Share of the output that is linear in all inputs, 0 to 1; that of noise, which pieces alone explain, is taken out.
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
    let spectra = Spectra::new(runs, inputs, "a frequency response from data")?;
    let left = spectra.independent - inputs as f64;
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
        let inverse = own.try_inverse();
        let response = inverse.as_ref().map(|inverse| &both * inverse);
        for output in 0..outputs {
            let power = cross[(inputs + output, inputs + output)].re;
            let explained: f64 = response.as_ref().map_or(f64::NAN, |response| {
                (0..inputs)
                    .map(|input| (response[(output, input)] * both[(output, input)].conj()).re)
                    .sum()
            });
            let unexplained = 1.0 - (explained / power).clamp(0.0, 1.0);
            // Not `max`, which would make a number of what is none.
            let coherence = (1.0 - unexplained * spectra.independent / left).clamp(0.0, 1.0);
            for input in 0..inputs {
                let (value, spread) = match (&response, &inverse) {
                    (Some(response), Some(inverse)) => (response[(output, input)], inverse[(input, input)].re),
                    _ => (C::new(f64::NAN, f64::NAN), f64::NAN),
                };
                let channel = &mut found[output][input];
                channel.value.push(value);
                channel.coherence.push(coherence);
                let variance = power * unexplained * spread / (2.0 * left);
                channel.deviation.push(variance.sqrt() / value.norm());
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

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Independent signals of variance one.
    fn noise(signals: usize, samples: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut signal = || {
            (0..samples)
                .map(|_| rng.random_range(-1.0..1.0) * 3.0_f64.sqrt())
                .collect()
        };
        (0..signals).map(|_| signal()).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn noise_has_no_coherence_with_any_number_of_inputs() {
        for inputs in 1..=4 {
            let found = measured_responses(&[noise(inputs + 1, 1300, 7)], inputs, 1.0).unwrap();
            let channel = &found[0][0];
            assert!(channel.pieces >= PIECES * (inputs + 1), "{inputs}: {}", channel.pieces);
            assert!(mean(&channel.coherence) < 0.3, "{inputs}: {:?}", channel.coherence);
        }
        // Two runs of half the length are cut into the same pieces.
        let halves = [noise(3, 650, 8), noise(3, 650, 9)];
        let found = measured_responses(&halves, 2, 1.0).unwrap();
        assert!(mean(&found[0][1].coherence) < 0.3, "{:?}", found[0][1].coherence);
    }

    #[test]
    fn a_linear_plant_keeps_its_coherence() {
        for inputs in 1..=4 {
            let mut run = noise(inputs, 1300, 11);
            let answer = |k: usize| {
                let before = |(index, input): (usize, &Vec<f64>)| (index + 1) as f64 * input[k.saturating_sub(1)];
                run.iter().enumerate().map(before).sum::<f64>()
            };
            let y = (0..1300).map(answer).collect();
            run.push(y);
            let found = measured_responses(&[run], inputs, 1.0).unwrap();
            assert!(
                mean(&found[0][0].coherence) > 0.95,
                "{inputs}: {:?}",
                found[0][0].coherence
            );
        }
    }

    #[test]
    fn a_record_with_fewer_pieces_than_inputs_need_is_too_short() {
        let refused =
            |inputs: usize, samples: usize| match measured_responses(&[noise(inputs + 1, samples, 3)], inputs, 1.0) {
                Err(AnalysisError::TooShort { expected, found, .. }) => Some((expected, found)),
                _ => None,
            };
        for (inputs, least) in [(1, 144), (2, 208), (4, 336)] {
            assert_eq!(refused(inputs, least - 1), Some((least, least - 1)));
            assert_eq!(refused(inputs, least), None);
        }
        // A spectrum by itself explains nothing.
        assert!(Spectra::new(&[noise(1, 80, 3)], 0, "a spectrum").is_ok());
    }

    #[test]
    fn the_deviation_of_a_weak_input_is_its_own() {
        let samples = 20_000;
        let mut run = noise(3, samples, 5);
        let before = |signal: &[f64], k: usize| if k > 0 { signal[k - 1] } else { 0.0 };
        let answer = |k: usize| before(&run[0], k) + 0.01 * before(&run[1], k) + 0.1 * run[2][k];
        run[2] = (0..samples).map(answer).collect();
        let found = measured_responses(&[run], 2, 1.0).unwrap();
        for (input, gain) in [(0, 1.0), (1, 0.01)] {
            let channel = &found[0][input];
            let truth = |hertz: &f64| C::from_polar(gain, -std::f64::consts::TAU * hertz);
            // Half of the squared error lies along the response: that is the one of its magnitude.
            let squares: Vec<f64> = (channel.value.iter().zip(&channel.frequency))
                .map(|(value, hertz)| (value - truth(hertz)).norm_sqr() / 2.0)
                .collect();
            let claims: Vec<f64> = (channel.deviation.iter().zip(&channel.magnitude))
                .map(|(deviation, magnitude)| (deviation * magnitude).powi(2))
                .collect();
            let ratio = (mean(&squares) / mean(&claims)).sqrt();
            assert!((0.67..1.5).contains(&ratio), "input {input}: {ratio}");
        }
    }
}
