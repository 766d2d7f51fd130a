//! What the errors of a simulation look like, and where the band holds.

use intervalid_data::{Dataset, Part, Segment};
use intervalid_model::{Aligned, Band, Model, align, evaluate};
use serde::Serialize;

use crate::correlation::{NORMAL_95, bartlett, centred, correlation};
use crate::error::Result;
use crate::spectrum::Spectra;

/// Lags that are shown, fewer in short records.
const LAGS: usize = 40;
const BARS: usize = 31;
/// The histogram reaches so many standard deviations to either side.
const REACH: f64 = 4.0;
/// Stretches of time and groups of amplitude in which coverage is counted.
const STRETCHES: usize = 10;
const GROUPS: usize = 5;
/// Samples ahead of the curve of fits.
const HORIZONS: [usize; 7] = [1, 2, 3, 5, 10, 20, 50];
/// Predictions ahead start from at most so many samples: more tell little more and take long.
const MOST_ORIGINS: usize = 3000;

/// Errors of one output, measured less simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Residuals {
    /// The output.
    pub output: String,
    /// Samples.
    pub n: usize,
    /// Mean error: what a model with the right level does not have.
    pub mean: f64,
    /// Standard deviation of the error.
    pub std: f64,
    /// Errors in the order of time, runs one after the other.
    pub errors: Vec<f64>,
    /// Measured outputs, in step with `errors`.
    pub measured: Vec<f64>,
    /// Simulated outputs, in step with `errors`.
    pub simulated: Vec<f64>,
    /// How often errors of each size occur.
    pub histogram: Histogram,
    /// Power of the error by frequency; none of short records.
    pub spectrum: Option<ErrorSpectrum>,
    /// With itself, from lag 0.
    pub autocorrelation: Correlation,
    /// With each input, without the model's trend; lags from negative, where the input comes after the error.
    pub cross: Vec<CrossCorrelation>,
    /// Share inside the band along the record.
    pub by_time: Vec<CoverageGroup>,
    /// Share inside by the simulated output without the model's trend, from its smallest to its largest values.
    pub by_amplitude: Vec<CoverageGroup>,
    /// Share inside the region of the training data and outside it; none where the model does not know it.
    pub by_region: Option<[CoverageGroup; 2]>,
}

/// Densities of equally wide bars, beside the normal curve of the same mean and deviation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// Middle of each bar.
    pub middle: Vec<f64>,
    /// Share per unit.
    pub density: Vec<f64>,
    /// That of the normal curve.
    pub normal: Vec<f64>,
    /// Errors beyond the outermost bars.
    pub beyond: usize,
}

/// Power of an error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorSpectrum {
    /// In cycles per sample.
    pub frequency: Vec<f64>,
    /// Squared units per cycle and sample; of white noise a level line at its variance.
    pub power: Vec<f64>,
}

/// Correlations and how large they are by chance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Correlation {
    /// The first lag.
    pub first: i64,
    /// One per lag.
    pub values: Vec<f64>,
    /// 95 % of those of independent signals are nearer to zero.
    pub bound: f64,
}

/// Correlations with an input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossCorrelation {
    /// Its name.
    pub input: String,
    /// The correlations.
    #[serde(flatten)]
    pub correlation: Correlation,
}

impl Correlation {
    /// How many lags of those that count are beyond the bound: after lag 0 of an error with itself, from lag 0 with an input.
    #[must_use]
    pub fn beyond(&self) -> (usize, usize) {
        let counted = if self.first == 0 {
            &self.values[1..]
        } else {
            &self.values[self.values.len() / 2..]
        };
        (
            counted.iter().filter(|value| value.abs() > self.bound).count(),
            counted.len(),
        )
    }

    /// Whether no more lags are beyond the bound than twice those that chance leaves there.
    #[must_use]
    pub fn is_white(&self) -> bool {
        let (beyond, total) = self.beyond();
        beyond * 10 <= total
    }
}

/// Samples of a group and the share inside the band.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoverageGroup {
    /// Where it begins: sample, counted from 1, or value.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Samples.
    pub n: usize,
    /// Share inside the band; none of an empty group.
    pub inside: Option<f64>,
    /// Mean width of the band; none of an empty group.
    pub width: Option<f64>,
}

/// How well predictions so many samples ahead fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AheadFit {
    /// Samples ahead; none is the free run.
    pub horizon: Option<usize>,
    /// Fit of each output in percent: 100 is perfect, 0 no better than the mean.
    pub fit_percent: Vec<Option<f64>>,
}

/// One sample.
#[derive(Clone, Copy, Debug)]
struct Row {
    measured: f64,
    simulated: f64,
    lower: f64,
    upper: f64,
    /// What the model's trend adds to all of these.
    trend: f64,
    is_extrapolated: Option<bool>,
}

impl Row {
    /// ŷ without the trend, which would sort samples by time.
    fn level(&self) -> f64 {
        self.simulated - self.trend
    }
}

/// Errors of every output of a simulation; outputs without a scored sample are left out.
///
/// # Errors
/// If the bands do not belong to the data.
pub fn residuals(model: &Model, dataset: &Dataset, bands: &[Band]) -> Result<Vec<Residuals>> {
    let outside = model.extrapolated(dataset, bands)?;
    // Errors are compared with what the model saw: a drift would hide all else that an input does.
    let level = model.level(dataset)?;
    let mut found = Vec::new();
    for (index, channel) in dataset.outputs().iter().enumerate() {
        let (runs, levelled) = (align(dataset, bands, index)?, align(&level, bands, index)?);
        let mut samples: Vec<Row> = Vec::new();
        for (run, (aligned, without)) in runs.iter().zip(&levelled).enumerate() {
            samples.extend(rows(aligned, without, outside.as_ref().map(|all| &all[run])));
        }
        if samples.is_empty() {
            continue;
        }
        found.push(of_output(&level, bands, (&channel.name, &runs), &samples)?);
    }
    Ok(found)
}

fn rows(run: &Aligned<'_>, level: &Aligned<'_>, outside: Option<&Vec<bool>>) -> Vec<Row> {
    let unscored = outside.map_or(0, |flags| flags.len() - run.target.len());
    let row = |k: usize| Row {
        measured: run.target[k],
        simulated: run.centre[k],
        lower: run.lower[k],
        upper: run.upper[k],
        trend: run.target[k] - level.target[k],
        is_extrapolated: outside.map(|flags| flags[unscored + k]),
    };
    (0..run.target.len()).map(row).collect()
}

/// Of one output; `level` has the inputs as the model saw them.
fn of_output(level: &Dataset, bands: &[Band], (name, runs): (&str, &[Aligned<'_>]), rows: &[Row]) -> Result<Residuals> {
    let errors: Vec<f64> = rows.iter().map(|row| row.measured - row.simulated).collect();
    let n = errors.len();
    let mean = errors.iter().sum::<f64>() / n as f64;
    let std = (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
    let by_run: Vec<Vec<f64>> = runs
        .iter()
        .map(|run| {
            run.target
                .iter()
                .zip(run.centre)
                .map(|(y, centre)| y - centre)
                .collect()
        })
        .collect();
    let longest = by_run.iter().map(Vec::len).max().unwrap_or(0);
    let spectrum = Spectra::new(
        &by_run.iter().map(|run| vec![run.clone()]).collect::<Vec<_>>(),
        0,
        "a spectrum",
    )
    .ok();
    let residuals = centred(by_run);
    let lags = LAGS.min(longest / 4);
    let own = correlation(&residuals, &residuals, lags);
    let mut cross = Vec::new();
    for (input, channel) in level.inputs().iter().enumerate() {
        let signals = bands.iter().map(|band| {
            let values = level.experiments()[band.experiment].input(input);
            values[band.first + band.warmup.min(band.len())..band.first + band.len()].to_vec()
        });
        let signals = centred(signals.collect());
        let bound = bartlett(&own, &correlation(&signals, &signals, lags), n);
        let found = Correlation {
            first: -(lags as i64),
            values: correlation(&residuals, &signals, lags),
            bound,
        };
        cross.push(CrossCorrelation {
            input: channel.name.clone(),
            correlation: found,
        });
    }
    let in_time = (0..STRETCHES).map(|stretch| {
        let (from, to) = (stretch * n / STRETCHES, (stretch + 1) * n / STRETCHES);
        group((from + 1) as f64, to as f64, rows[from..to].iter())
    });
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by(|a, b| a.level().total_cmp(&b.level()));
    let in_size = (0..GROUPS).filter_map(|part| {
        let rows = &sorted[part * n / GROUPS..(part + 1) * n / GROUPS];
        let (first, last) = (rows.first()?, rows.last()?);
        Some(group(first.level(), last.level(), rows.iter().copied()))
    });
    let of_region = |outside: bool| {
        let own = rows.iter().filter(|row| row.is_extrapolated == Some(outside));
        group(0.0, 0.0, own)
    };
    let by_region = rows[0].is_extrapolated.map(|_| [false, true].map(of_region));
    Ok(Residuals {
        output: name.to_owned(),
        n,
        mean,
        std,
        histogram: histogram(&errors, mean, std),
        spectrum: spectrum.map(|spectra| ErrorSpectrum {
            power: spectra.cross.iter().map(|cross| cross[(0, 0)].re).collect(),
            frequency: spectra.frequency,
        }),
        autocorrelation: Correlation {
            first: 0,
            values: own[lags..].to_vec(),
            bound: NORMAL_95 / (n as f64).sqrt(),
        },
        cross,
        by_time: in_time.collect(),
        by_amplitude: in_size.collect(),
        by_region,
        measured: rows.iter().map(|row| row.measured).collect(),
        simulated: rows.iter().map(|row| row.simulated).collect(),
        errors,
    })
}

fn group<'a>(from: f64, to: f64, rows: impl Iterator<Item = &'a Row>) -> CoverageGroup {
    let (mut n, mut inside, mut width) = (0_usize, 0_usize, 0.0);
    for row in rows {
        n += 1;
        inside += usize::from(row.lower <= row.measured && row.measured <= row.upper);
        width += row.upper - row.lower;
    }
    let mean = |sum: f64| (n > 0).then(|| sum / n as f64);
    CoverageGroup {
        from,
        to,
        n,
        inside: mean(inside as f64),
        width: mean(width),
    }
}

fn histogram(errors: &[f64], mean: f64, std: f64) -> Histogram {
    // Errors that are all the same have one bar of some width.
    let reach = if std > 0.0 { REACH * std } else { 1.0 };
    let width = 2.0 * reach / BARS as f64;
    let mut counts = vec![0_usize; BARS];
    let mut beyond = 0;
    for error in errors {
        let at = (error - mean + reach) / width;
        match at >= 0.0 && at < BARS as f64 {
            true => counts[at as usize] += 1,
            false => beyond += 1,
        }
    }
    let middle: Vec<f64> = (0..BARS).map(|bar| mean - reach + width * (bar as f64 + 0.5)).collect();
    let normal = |x: &f64| (-0.5 * ((x - mean) / std).powi(2)).exp() / (std * std::f64::consts::TAU.sqrt());
    Histogram {
        density: counts
            .iter()
            .map(|count| *count as f64 / (errors.len() as f64 * width))
            .collect(),
        normal: middle.iter().map(|x| if std > 0.0 { normal(x) } else { 0.0 }).collect(),
        middle,
        beyond,
    }
}

/// Fits of predictions ahead, from one sample to the free run, over at most 3000 samples of the part.
///
/// # Errors
/// If the model cannot run step by step, or the part is too short.
pub fn fits_ahead(model: &Model, dataset: &Dataset, part: &Part) -> Result<Vec<AheadFit>> {
    let mut left = MOST_ORIGINS;
    let mut segments = Vec::new();
    for &segment in part.segments() {
        let taken = segment.len().min(left);
        left -= taken;
        // A piece that is too short to start in would be refused.
        if taken == segment.len() || taken > MOST_ORIGINS / 2 {
            segments.push(Segment {
                end: segment.start + taken,
                ..segment
            });
        }
    }
    let part = Part::from_segments(segments);
    let longest = part.segments().iter().map(|segment| segment.len()).max().unwrap_or(0);
    let coverage = model.config().coverage;
    let fit = |bands: &[Band], horizon: Option<usize>| -> Result<AheadFit> {
        let evaluation = evaluate(dataset, bands, coverage)?;
        Ok(AheadFit {
            horizon,
            fit_percent: evaluation
                .outputs
                .iter()
                .map(|(_, metrics)| metrics.fit_percent)
                .collect(),
        })
    };
    let mut fits = Vec::new();
    for horizon in HORIZONS.into_iter().filter(|horizon| horizon * 2 < longest) {
        fits.push(fit(&model.predict_ahead(dataset, &part, horizon)?, Some(horizon))?);
    }
    fits.push(fit(&model.simulate(dataset, &part)?, None)?);
    Ok(fits)
}
