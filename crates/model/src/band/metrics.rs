//! How good a band is: pure functions of bands and measured outputs (docs/method.md, section 9).

use intervalid_data::{DataError, Dataset, Segment};
use serde::{Deserialize, Serialize};

use crate::band::prediction::Band;
use crate::error::{ModelError, Result};

/// η of CWC: how hard missing coverage is punished. One per cent too little costs e^0.25, ten cost e^2.5.
pub const CWC_ETA: f64 = 25.0;

/// Samples of a window of rolling coverage: enough that one sample is one per cent. Where no record is that long, the
/// window is the longest record.
pub const ROLLING_WINDOW: usize = 100;

/// Error, coverage and width of one output, or their means over all outputs.
///
/// With y the measured output, ŷ the point prediction, [ŷ_lo, ŷ_hi] the band, α the coverage asked, over n samples:
///
/// | name | formula | better |
/// |---|---|---|
/// | RMSE | √(mean (y-ŷ)²), in the output's unit | lower |
/// | fit % | 100·(1 - ‖y-ŷ‖/‖y-mean y‖) | higher |
/// | PICP | share of samples with ŷ_lo ≤ y ≤ ŷ_hi, ends included | at least α |
/// | PINAW | mean (ŷ_hi-ŷ_lo) / (max y - min y) | lower |
/// | CWC | PINAW·(1 + \[PICP < α\]·e^(-η(PICP-α))), η = 25 | lower |
/// | interval score | mean (ŷ_hi-ŷ_lo) + 2/(1-α)·mean (distance of y from the band), in the output's unit | lower |
/// | worst rolling PICP | least PICP of [`ROLLING_WINDOW`] consecutive samples | at least α |
///
/// A measure that does not exist is `None` (`null` in JSON), never NaN: there are no samples, the targets have no range
/// (fit, PINAW, CWC), the value is not finite, or a simulation diverged (all of them).
///
/// **References.** CWC: A. Khosravi, S. Nahavandi, D. Creighton, A. F. Atiya, IEEE Trans. Neural Networks 22(3), 2011,
/// doi:10.1109/TNN.2010.2096824; other programs use the name for measures of which more is better. Interval score:
/// T. Gneiting, A. E. Raftery, J. Amer. Statist. Assoc. 102(477), 2007, eq. (43), doi:10.1198/016214506000001437.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Aligned samples of all experiments. Of a diverged simulation: those before it diverged.
    pub n: usize,
    /// Root mean square error, in the output's unit.
    pub rmse: Option<f64>,
    /// 100·(1 - ‖y-ŷ‖/‖y-mean y‖): 100 is perfect, 0 is no better than the mean.
    pub fit_percent: Option<f64>,
    /// Share of the samples inside the band, ends included.
    pub picp: Option<f64>,
    /// Mean width of the band over the range of the targets.
    pub pinaw: Option<f64>,
    /// PINAW, made worse where PICP is below the coverage that was asked. Lower is better.
    pub cwc: Option<f64>,
    /// Winkler's score, in the output's unit. Lower is better.
    pub interval_score: Option<f64>,
    /// Least PICP of [`ROLLING_WINDOW`] consecutive samples ([`rolling_coverage`]).
    pub worst_rolling_picp: Option<f64>,
    /// First step (from 0) at which a simulation diverged; left out where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverged_at: Option<usize>,
}

/// Metrics of every output and their means.
///
/// Serialised as the contract of `fit --json` says: with one output a flat object; with several, every measure is an
/// object keyed by the names of the outputs, and `all` is the mean. (An output that is itself named `all` appears as
/// `output all`.)
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Name and metrics of each output.
    pub outputs: Vec<(String, Metrics)>,
    /// Means over the outputs; with one output, its metrics.
    pub all: Metrics,
    /// Share of the samples where every output is inside its band; none of one output, of a diverged simulation, or without samples.
    pub together: Option<f64>,
}

/// Aligned samples of one output in one run, side by side: the measured outputs and what was claimed about them.
///
/// The slices have the same length.
#[derive(Clone, Copy, Debug)]
pub struct Aligned<'a> {
    /// Measured outputs y.
    pub target: &'a [f64],
    /// Lower bounds.
    pub lower: &'a [f64],
    /// Point predictions.
    pub centre: &'a [f64],
    /// Upper bounds.
    pub upper: &'a [f64],
    /// First step at which the simulation diverged, as in [`Band`].
    pub diverged_at: Option<usize>,
}

/// Coverage of windows of consecutive samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RollingCoverage {
    /// Samples per window.
    pub window: usize,
    /// Mean over all windows.
    pub mean: f64,
    /// The window with the least coverage.
    pub worst: f64,
}

/// Coverage of the samples that are `first` to `last` steps after the last known output.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HorizonCoverage {
    /// First horizon, from 1.
    pub first: usize,
    /// Last horizon, included.
    pub last: usize,
    /// Samples of all runs at these horizons.
    pub n: usize,
    /// Share of them inside the band.
    pub picp: f64,
}

/// Compares bands with the measured outputs of the data they were made for. Experiments are pooled, warm-ups are not
/// scored.
///
/// `coverage` is α, the share of samples that was asked to be inside.
///
/// # Errors
/// If `coverage` is not between 0 and 1, or a band does not belong to the data.
pub fn evaluate(dataset: &Dataset, bands: &[Band], coverage: f64) -> Result<Evaluation> {
    if !(coverage > 0.0 && coverage < 1.0) {
        return Err(ModelError::option("coverage", coverage, "a share between 0 and 1"));
    }
    let outputs = dataset.outputs().iter().enumerate();
    let outputs = outputs.map(|(index, channel)| -> Result<(String, Metrics)> {
        let runs = align(dataset, bands, index)?;
        Ok((channel.name.clone(), Metrics::of(&runs, coverage)))
    });
    let outputs: Vec<(String, Metrics)> = outputs.collect::<Result<_>>()?;
    Ok(Evaluation {
        all: mean_metrics(&outputs),
        together: match outputs.len() {
            1 => None,
            _ => inside_together(dataset, bands)?,
        },
        outputs,
    })
}

/// Share of the scored samples where every output is inside its band; none of a diverged simulation, or without samples.
pub(crate) fn inside_together(dataset: &Dataset, bands: &[Band]) -> Result<Option<f64>> {
    let outputs = 0..dataset.outputs().len();
    let runs = outputs
        .map(|output| align(dataset, bands, output))
        .collect::<Result<Vec<_>>>()?;
    let (mut inside, mut count) = (0_usize, 0_usize);
    for (place, band) in bands.iter().enumerate() {
        if band.diverged_at.is_some() {
            return Ok(None);
        }
        let mut all: Vec<bool> = Vec::new();
        for run in runs.iter().map(|runs| &runs[place]) {
            match all.is_empty() {
                true => all = run.inside().collect(),
                false => all.iter_mut().zip(run.inside()).for_each(|(all, one)| *all &= one),
            }
        }
        inside += all.iter().filter(|is_inside| **is_inside).count();
        count += all.len();
    }
    Ok((count > 0).then(|| inside as f64 / count as f64))
}

/// The scored samples of one output, one entry per band.
///
/// # Errors
/// If a band does not belong to the data.
pub fn align<'a>(dataset: &'a Dataset, bands: &'a [Band], output: usize) -> Result<Vec<Aligned<'a>>> {
    let one = |band: &'a Band| {
        if band.centre.len() != dataset.outputs().len() {
            return Err(ModelError::Channels {
                what: "outputs",
                expected: band.centre.len(),
                found: dataset.outputs().len(),
            });
        }
        let end = band.first + band.len();
        let experiment = dataset.experiments().get(band.experiment);
        let samples = experiment.map_or(0, |experiment| experiment.len());
        let Some(experiment) = experiment.filter(|_| end <= samples) else {
            let segment = Segment {
                experiment: band.experiment,
                start: band.first,
                end,
            };
            return Err(DataError::ForeignPart { segment, samples }.into());
        };
        let unscored = band.warmup.min(band.len());
        Ok(Aligned {
            target: &experiment.output(output)[band.first + unscored..end],
            lower: &band.lower[output][unscored..],
            centre: &band.centre[output][unscored..],
            upper: &band.upper[output][unscored..],
            diverged_at: band.diverged_at,
        })
    };
    bands.iter().map(one).collect()
}

/// Rolling coverage with windows of `window` samples, or of all samples where there are fewer. Windows reach from one run into
/// the next only where one of them is shorter than a window: every sample counts. `None` without samples.
#[must_use]
pub fn rolling_coverage(runs: &[Aligned<'_>], window: usize) -> Option<RollingCoverage> {
    let samples: usize = runs.iter().map(|run| run.target.len()).sum();
    let window = window.clamp(1, samples.max(1));
    let (mut windows, mut total, mut worst) = (0_usize, 0_usize, usize::MAX);
    for count in stretches(runs, window)
        .iter()
        .flat_map(|inside| rolling_counts(inside, window))
    {
        windows += 1;
        total += count;
        worst = worst.min(count);
    }
    (windows > 0).then(|| RollingCoverage {
        window,
        mean: total as f64 / (windows * window) as f64,
        worst: worst as f64 / window as f64,
    })
}

/// Whether the samples of the runs are inside, in stretches of a window at least: runs that are shorter are joined to their neighbours.
fn stretches(runs: &[Aligned<'_>], window: usize) -> Vec<Vec<bool>> {
    let mut stretches: Vec<Vec<bool>> = Vec::new();
    for run in runs {
        match stretches.last_mut() {
            Some(last) if last.len() < window => last.extend(run.inside()),
            _ => stretches.push(run.inside().collect()),
        }
    }
    if let Some(rest) = stretches.pop_if(|last| last.len() < window) {
        match stretches.last_mut() {
            Some(last) => last.extend(rest),
            None => stretches.push(rest),
        }
    }
    stretches
}

/// How many of each `window` consecutive samples are inside: the first entry is of the first `window` samples.
fn rolling_counts(inside: &[bool], window: usize) -> Vec<usize> {
    let mut count = 0;
    let mut counts = Vec::new();
    for (index, &now) in inside.iter().enumerate() {
        count += usize::from(now);
        if let Some(oldest) = (index + 1).checked_sub(window) {
            counts.push(count);
            count -= usize::from(inside[oldest]);
        }
    }
    counts
}

/// Coverage by the number of steps since the last known output, in bins of `bin` steps. Steps after a
/// divergence have no band and are not counted.
#[must_use]
pub fn coverage_by_horizon(runs: &[Aligned<'_>], bin: usize) -> Vec<HorizonCoverage> {
    let bin = bin.max(1);
    let longest = runs.iter().map(|run| run.target.len()).max().unwrap_or(0);
    let mut counts = vec![(0_usize, 0_usize); longest.div_ceil(bin)];
    for run in runs {
        for (step, inside) in run.inside().enumerate() {
            let (n, covered) = &mut counts[step / bin];
            *n += 1;
            *covered += usize::from(inside);
        }
    }
    let bins = counts.into_iter().enumerate();
    bins.map(|(index, (n, covered))| HorizonCoverage {
        first: index * bin + 1,
        last: ((index + 1) * bin).min(longest),
        n,
        picp: covered as f64 / n as f64,
    })
    .collect()
}

impl Aligned<'_> {
    /// Whether each sample lies in its interval, ends included.
    pub fn inside(&self) -> impl Iterator<Item = bool> {
        let ends = self.lower.iter().zip(self.upper);
        self.target
            .iter()
            .zip(ends)
            .map(|(target, (lower, upper))| lower <= target && target <= upper)
    }

    /// How many of each `window` consecutive samples are inside: the first entry is of the first `window` samples.
    #[must_use]
    pub fn rolling_counts(&self, window: usize) -> Vec<usize> {
        rolling_counts(&self.inside().collect::<Vec<_>>(), window)
    }

    /// Σ (ŷ_hi-ŷ_lo), and Σ of the distances of y from the band.
    fn widths_and_misses(&self) -> (f64, f64) {
        let ends = self.lower.iter().zip(self.upper);
        self.target
            .iter()
            .zip(ends)
            .fold((0.0, 0.0), |(width, miss), (target, (lower, upper))| {
                let outside = (lower - target).max(target - upper).max(0.0);
                (width + (upper - lower), miss + outside)
            })
    }
}

impl Metrics {
    /// Metrics of one output, pooled over its runs.
    ///
    /// # Panics
    /// If the slices of a run differ in length.
    #[must_use]
    pub fn of(runs: &[Aligned<'_>], coverage: f64) -> Self {
        for run in runs {
            let n = run.target.len();
            assert!(
                [run.lower.len(), run.centre.len(), run.upper.len()] == [n; 3],
                "targets and band of the same length"
            );
        }
        let n: usize = runs.iter().map(|run| run.target.len()).sum();
        let diverged_at = runs.iter().filter_map(|run| run.diverged_at).min();
        if n == 0 || diverged_at.is_some() {
            return Self {
                n,
                diverged_at,
                ..Self::default()
            };
        }
        let targets = || runs.iter().flat_map(|run| run.target.iter().copied());
        let mean = |sum: f64| sum / n as f64;
        let centre = mean(targets().sum());
        let spread: f64 = targets().map(|target| (target - centre).powi(2)).sum();
        let pairs = runs.iter().flat_map(|run| run.target.iter().zip(run.centre));
        let error: f64 = pairs.map(|(target, y)| (target - y).powi(2)).sum();
        let inside = runs.iter().flat_map(Aligned::inside).filter(|inside| *inside).count();
        let (width, miss) = runs
            .iter()
            .map(Aligned::widths_and_misses)
            .fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
        let lowest = targets().fold(f64::INFINITY, f64::min);
        let range = targets().fold(f64::NEG_INFINITY, f64::max) - lowest;
        let moves = range > 0.0;
        let picp = inside as f64 / n as f64;
        let pinaw = mean(width) / range;
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        Self {
            n,
            rmse: finite(mean(error).sqrt()),
            fit_percent: finite(100.0 * (1.0 - (error / spread).sqrt())).filter(|_| moves),
            picp: Some(picp),
            pinaw: finite(pinaw).filter(|_| moves),
            cwc: finite(cwc(picp, pinaw, coverage)).filter(|_| moves),
            interval_score: finite(mean(width) + 2.0 / (1.0 - coverage) * mean(miss)),
            worst_rolling_picp: rolling_coverage(runs, ROLLING_WINDOW).map(|rolling| rolling.worst),
            diverged_at: None,
        }
    }
}

/// PINAW·(1 + \[PICP < α\]·e^(-η(PICP-α))) with η = [`CWC_ETA`]; shares, not per cent. Lower is better.
#[must_use]
pub fn cwc(picp: f64, pinaw: f64, coverage: f64) -> f64 {
    let penalty = if picp < coverage {
        (-CWC_ETA * (picp - coverage)).exp()
    } else {
        0.0
    };
    pinaw * (1.0 + penalty)
}

/// Means over outputs; a measure that one output does not have, their mean does not have either.
fn mean_metrics(outputs: &[(String, Metrics)]) -> Metrics {
    let mean = |measure: fn(&Metrics) -> Option<f64>| {
        let values: Option<Vec<f64>> = outputs.iter().map(|(_, metrics)| measure(metrics)).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    };
    Metrics {
        n: outputs.first().map_or(0, |(_, metrics)| metrics.n),
        rmse: mean(|m| m.rmse),
        fit_percent: mean(|m| m.fit_percent),
        picp: mean(|m| m.picp),
        pinaw: mean(|m| m.pinaw),
        cwc: mean(|m| m.cwc),
        interval_score: mean(|m| m.interval_score),
        worst_rolling_picp: mean(|m| m.worst_rolling_picp),
        diverged_at: outputs.iter().filter_map(|(_, metrics)| metrics.diverged_at).min(),
    }
}

mod json;
#[cfg(test)]
mod tests;
