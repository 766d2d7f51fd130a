//! Dead time from the cross-correlation of a prewhitened input with the output.

use crate::dataset::Dataset;
use crate::error::DataError;
use crate::experiment::Experiment;
use crate::levinson::{levinson_durbin, semipartial};
use crate::normal;
use crate::split::Part;

/// Settings of [`estimate_dead_time`].
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `max_delay` | 20 | ≥ 0 | largest delay looked at, in samples |
/// | `whitening_order` | 10 | ≥ 0 | order of the AR filter that whitens the input |
/// | `false_alarm` | 0.01 | (0, 1) | chance that unrelated channels look related at some delay |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeadTimeConfig {
    /// Largest delay looked at, in samples.
    pub max_delay: usize,
    /// Order of the whitening filter.
    pub whitening_order: usize,
    /// Chance of a false finding over all delays of one pair.
    pub false_alarm: f64,
}

impl Default for DeadTimeConfig {
    fn default() -> Self {
        Self {
            max_delay: 20,
            whitening_order: 10,
            false_alarm: 0.01,
        }
    }
}

/// The estimate for one pair of channels.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadTime {
    /// Input channel index.
    pub input: usize,
    /// Output channel index.
    pub output: usize,
    /// The first significant delay in samples: the n_d for which u(k-n_d) is the newest input that acts on y(k).
    /// `None` where no delay is significant.
    pub delay: Option<usize>,
    /// Correlation at delays 0, 1, …, `max_delay`: of what no other of these delays explains where that is significant at some delay, or else as it is.
    pub correlation: Vec<f64>,
    /// Correlations beyond ±`bound` are significant.
    pub bound: f64,
}

/// Estimates the dead time of every input-output pair on `part`.
///
/// **Method.** Both signals, less their means per segment, pass the AR filter that whitens the input; this leaves the
/// relation between them as it is, but keeps an autocorrelated input from smearing one delay over its neighbours. An input that holds each level for
/// a while cannot be whitened so: it is like itself a level later, and an answer would be seen a level too early. Each delay therefore counts
/// with what the other delays do not explain (a semipartial correlation), which for a white input is the correlation itself. The estimate is the first
/// delay τ ≥ 0 at which this r(τ) of α(k-τ) and β(k) is significant; where there is none, as in much noise, the first one at which the correlation itself
/// is. For unrelated signals r(τ) ~ N(0, 1/n), so the bound is z/√n, with z from `false_alarm` shared by all delays.
///
/// **Assumptions.** No feedback from output to input; a response whose first samples are weaker than the noise is seen
/// late; an answer later than `max_delay` may be seen early if the input holds its levels.
///
/// **Reference.** G. E. P. Box, G. M. Jenkins, *Time Series Analysis*, 4th ed., Wiley 2008, section 12.1
/// (doi:10.1002/9781118619193).
///
/// # Errors
/// If a setting is out of range or no segment is longer than the largest delay plus the filter order.
pub fn estimate_dead_time(dataset: &Dataset, part: &Part, config: &DeadTimeConfig) -> Result<Vec<DeadTime>, DataError> {
    let found = estimates(dataset, part, config)?;
    Ok(found.into_iter().map(|(pair, _)| pair).collect())
}

/// The same with the correlations as they are, each with what others explain too.
fn estimates(dataset: &Dataset, part: &Part, config: &DeadTimeConfig) -> Result<Vec<(DeadTime, Vec<f64>)>, DataError> {
    part.check(dataset)?;
    if !(config.false_alarm > 0.0 && config.false_alarm < 1.0) {
        return Err(DataError::FalseAlarm {
            found: config.false_alarm,
        });
    }
    let found = longest(part);
    // Twice the lags, so that every delay is an average over at least as many samples as there are delays.
    let needed = config
        .max_delay
        .saturating_add(config.whitening_order)
        .saturating_add(1)
        .saturating_mul(2);
    if found < needed {
        return Err(DataError::TooShort {
            what: "a dead-time estimate",
            needed,
            found,
        });
    }
    let mut estimates = Vec::new();
    for input in 0..dataset.inputs().len() {
        let signals = centred(dataset, part, |experiment| experiment.input(input));
        let filter = whitening_filter(&signals, config.whitening_order);
        let whitened: Vec<Vec<f64>> = signals.iter().map(|signal| apply(&filter, signal)).collect();
        let own = cross_correlation(&whitened, &whitened, config.max_delay);
        for output in 0..dataset.outputs().len() {
            let responses: Vec<Vec<f64>> = centred(dataset, part, |experiment| experiment.output(output))
                .iter()
                .map(|signal| apply(&filter, signal))
                .collect();
            let samples: usize = responses.iter().map(Vec::len).sum();
            let plain = cross_correlation(&whitened, &responses, config.max_delay);
            let alone = semipartial(&own, &plain);
            // Two sides, `max_delay + 1` delays (Bonferroni).
            let tail = config.false_alarm / (2.0 * (config.max_delay + 1) as f64);
            let bound = normal::quantile(1.0 - tail) / (samples as f64).sqrt();
            let first = |correlation: &[f64]| correlation.iter().position(|r| r.abs() > bound);
            let (delay, correlation) = match first(&alone) {
                Some(delay) => (Some(delay), alone),
                None => (first(&plain), plain.clone()),
            };
            let pair = DeadTime {
                input,
                output,
                delay,
                correlation,
                bound,
            };
            estimates.push((pair, plain));
        }
    }
    Ok(estimates)
}

/// Delays that are looked at in records that are long enough.
const FURTHER: usize = 100;

/// The dead times of a record: up to 100 samples, as far as its longest stretch is long enough.
///
/// # Errors
/// As [`estimate_dead_time`] with its default settings.
pub fn find_dead_times(dataset: &Dataset, part: &Part) -> Result<Vec<DeadTime>, DataError> {
    let found = all_answers(dataset, part)?;
    Ok(found.into_iter().map(|(pair, _)| pair).collect())
}

/// Where no answer is found among many delays, the first ones are looked at by themselves: fewer of them need less of an answer.
fn all_answers(dataset: &Dataset, part: &Part) -> Result<Vec<(DeadTime, Vec<f64>)>, DataError> {
    let (near, far) = (DeadTimeConfig::default(), furthest(part));
    let mut found = estimates(dataset, part, &far)?;
    if far != near && found.iter().any(|(pair, _)| pair.delay.is_none()) {
        for (pair, near) in found.iter_mut().zip(estimates(dataset, part, &near)?) {
            if pair.0.delay.is_none() && near.0.delay.is_some() {
                *pair = near;
            }
        }
    }
    Ok(found)
}

/// The default settings with as many delays as a record has room for, [`FURTHER`] at most: of fewer, those of later answers are seen early where an
/// input holds its levels.
fn furthest(part: &Part) -> DeadTimeConfig {
    let usual = DeadTimeConfig::default();
    let room = (longest(part) / 2).saturating_sub(usual.whitening_order + 1);
    DeadTimeConfig {
        max_delay: room.clamp(usual.max_delay, FURTHER),
        ..usual
    }
}

fn longest(part: &Part) -> usize {
    part.segments().iter().map(|segment| segment.len()).max().unwrap_or(0)
}

/// Delays at which an input may begin to act: the least dead time of all pairs that have one, and the delay of the strongest correlation, which shows
/// in noise that hides what it alone explains. An input that nothing answers, such as one that hardly moves, says nothing of the others.
pub(crate) fn answers(dataset: &Dataset, part: &Part) -> Vec<usize> {
    let found = all_answers(dataset, part).unwrap_or_default();
    let least = found.iter().filter_map(|(pair, _)| pair.delay).min();
    let strengths = found
        .iter()
        .flat_map(|(pair, plain)| plain.iter().map(|r| r.abs() / pair.bound).enumerate());
    let strongest = strengths
        .filter(|(_, strength)| *strength > 1.0)
        .max_by(|a, b| a.1.total_cmp(&b.1));
    least.into_iter().chain(strongest.map(|(delay, _)| delay)).collect()
}

fn centred<'a>(dataset: &'a Dataset, part: &Part, column: impl Fn(&'a Experiment) -> &'a [f64]) -> Vec<Vec<f64>> {
    let signals = part.segments().iter().map(|segment| {
        let values = &column(&dataset.experiments()[segment.experiment])[segment.start..segment.end];
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| value - mean).collect()
    });
    signals.collect()
}

/// The prediction error filter 1, a_1, …, a_order of the signals.
fn whitening_filter(signals: &[Vec<f64>], order: usize) -> Vec<f64> {
    let mut covariance: Vec<f64> = (0..=order)
        .map(|lag| {
            signals
                .iter()
                .map(|s| {
                    s.iter()
                        .skip(lag)
                        .zip(s)
                        .map(|(later, earlier)| later * earlier)
                        .sum::<f64>()
                })
                .sum()
        })
        .collect();
    // The floor keeps a perfectly predictable input from dividing by nothing.
    let floor = covariance[0] * 1e-9;
    covariance[0] += floor;
    levinson_durbin(&covariance, floor)
}

/// The filtered signal, without the samples for which the filter has no full history.
fn apply(filter: &[f64], signal: &[f64]) -> Vec<f64> {
    signal
        .windows(filter.len())
        .map(|window| window.iter().rev().zip(filter).map(|(x, a)| x * a).sum())
        .collect()
}

fn cross_correlation(inputs: &[Vec<f64>], outputs: &[Vec<f64>], max_delay: usize) -> Vec<f64> {
    let energy = |signals: &[Vec<f64>]| signals.iter().flatten().map(|x| x * x).sum::<f64>();
    let norm = (energy(inputs) * energy(outputs)).sqrt();
    let at = |delay: usize| {
        let pairs = inputs.iter().zip(outputs);
        let sum: f64 = pairs
            .map(|(u, y)| u.iter().zip(y.iter().skip(delay)).map(|(u, y)| u * y).sum::<f64>())
            .sum();
        // A constant channel correlates with nothing.
        if norm > 0.0 { sum / norm } else { 0.0 }
    };
    (0..=max_delay).map(at).collect()
}
