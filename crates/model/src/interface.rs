//! What every fitted model knows of the record it was fitted on.

use intervalid_data::{Channel, Dataset, InitialState, Lags, Normaliser, Preparation, Scaled, Trend, Window};
use intervalid_interval::Real;

use crate::band::calibration::{Calibration, CoverageTarget, OnlineBand};
use crate::band::extrapolation::TrainingRegion;
use crate::band::horizon::HorizonScales;
use crate::band::light::LightBand;
use crate::band::limits::OutputRange;
use crate::band::prediction::Band;
use crate::error::{ModelError, Result};
use crate::family::ensemble::Spread;

/// Channels of a model and their scaling.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInterface {
    /// Input channels.
    pub inputs: Vec<Channel>,
    /// Output channels.
    pub outputs: Vec<Channel>,
    /// Seconds between samples, if known.
    pub sample_time: Option<f64>,
    /// The column that told the experiments of its record apart, if one did.
    pub experiment: Option<String>,
    /// Mean and standard deviation of each channel in the training part.
    pub normaliser: Normaliser,
    /// Scaling of the band found on held-out blocks, if it was calibrated.
    pub calibration: Option<Calibration>,
    /// Where it was fitted, if that is known.
    pub region: Option<TrainingRegion>,
    /// How the band shrinks a few samples after a measurement, if that is known.
    pub horizons: Option<HorizonScales>,
    /// Which members make a light model and how its band is scaled, of several members for which that is known.
    pub light: Option<LightBand>,
    /// What each output cannot leave; empty where no limits are known.
    pub output_ranges: Vec<OutputRange>,
    /// What was done to the record it was fitted to, and is wanted of others.
    pub preparation: Preparation,
    /// What is taken out of data before it runs, and put back into what it predicts.
    pub trend: Option<Trend>,
}

/// Half-widths below this share of an output's standard deviation count as none.
const LEAST_HALF_WIDTH: f64 = 1e-3;

/// Sample times that differ by less than this share are the same.
const SAME_STEP: f64 = 0.01;

impl ModelInterface {
    /// That of a model fitted on this record in units of `normaliser`, not calibrated yet.
    #[must_use]
    pub fn new(dataset: &Dataset, normaliser: Normaliser) -> Self {
        Self {
            inputs: dataset.inputs().to_vec(),
            outputs: dataset.outputs().to_vec(),
            sample_time: dataset.sample_time(),
            experiment: dataset.experiment_column().map(str::to_owned),
            normaliser,
            calibration: None,
            region: None,
            horizons: None,
            light: None,
            output_ranges: Vec::new(),
            preparation: dataset.preparation().clone(),
            trend: None,
        }
    }

    /// The physical limits of an output.
    pub(crate) fn output_range(&self, output: usize) -> OutputRange {
        self.output_ranges.get(output).copied().unwrap_or_default()
    }

    /// The adaptive band of an output before its first sample.
    ///
    /// # Panics
    /// If there is no such output.
    #[must_use]
    pub fn online_band(&self, output: usize, coverage: f64) -> OnlineBand {
        let scaling = self.calibration.as_ref().and_then(|found| found.outputs.get(output));
        let start = scaling.and_then(|scaling| scaling.online_start).unwrap_or(1.0);
        let of_one = self.coverage_target(coverage).of_one(self.outputs.len());
        OnlineBand::new(of_one, self.least_half_width(output)).starting_at(start)
    }

    /// Whether the band is for all outputs together.
    #[must_use]
    pub fn is_together(&self) -> bool {
        self.calibration
            .as_ref()
            .is_some_and(|calibration| calibration.together)
    }

    /// This coverage of each output, or of all together as the band is.
    #[must_use]
    pub fn coverage_target(&self, share: f64) -> CoverageTarget {
        CoverageTarget {
            share,
            together: self.is_together(),
        }
    }

    /// The least half-width of an output that an adaptive band starts from, in its unit.
    ///
    /// # Panics
    /// If there is no such output.
    #[must_use]
    pub fn least_half_width(&self, output: usize) -> f64 {
        self.normaliser.output_width_to_physical(output, LEAST_HALF_WIDTH)
    }

    /// How the mean band of several members is widened before it is scaled, output by output.
    #[must_use]
    pub fn spreads(&self, coverage: f64) -> Vec<Spread> {
        let of = |output: usize| {
            let scaling = self.calibration.as_ref().map(|found| found.outputs[output]);
            match scaling.and_then(|scaling| Some((scaling.spread?, scaling.floor))) {
                Some((factor, floor)) => Spread { factor, floor },
                None => Spread::of_coverage(coverage),
            }
        };
        (0..self.outputs.len()).map(of).collect()
    }

    /// Bands as the calibration scales them.
    pub(crate) fn calibrate(&self, mut bands: Vec<Band>) -> Vec<Band> {
        if let Some(calibration) = &self.calibration {
            bands.iter_mut().for_each(|band| calibration.apply(band));
        }
        bands
    }

    /// For every band, which of its samples lie outside the region of the training data; none where that is not known.
    pub(crate) fn extrapolated(&self, dataset: &Dataset, bands: &[Band]) -> Result<Option<Vec<Vec<bool>>>> {
        let Some(region) = &self.region else {
            return Ok(None);
        };
        let scaled = self.scale::<f64>(dataset)?;
        let to_normalised = |output, value| self.normaliser.output_to_normalised(output, value);
        Ok(Some(
            bands
                .iter()
                .map(|band| region.outside(&scaled, band, &to_normalised))
                .collect(),
        ))
    }

    /// The region of these free runs over the training data.
    pub(crate) fn region_of(&self, dataset: &Dataset, bands: &[Band], lags: Lags) -> Result<Option<TrainingRegion>> {
        let scaled = self.scale::<f64>(dataset)?;
        let to_normalised = |output, value| self.normaliser.output_to_normalised(output, value);
        Ok(TrainingRegion::fit(&scaled, bands, &to_normalised, lags))
    }

    /// New data in the model's units.
    ///
    /// # Errors
    /// [`ModelError::Channels`] if the data have other numbers of channels, [`ModelError::Unit`] if they say that they are in other units, [`ModelError::SampleTime`] if their times say that they
    /// were sampled at another rate, [`ModelError::Preparation`] if they were not prepared as the model's own.
    pub fn scale<T: Real>(&self, dataset: &Dataset) -> Result<Scaled<T>> {
        self.check_channels(dataset)?;
        Ok(self.normaliser.scale(dataset))
    }

    pub(crate) fn check_channels(&self, dataset: &Dataset) -> Result<()> {
        for (what, expected, found) in [
            ("inputs", self.inputs.len(), dataset.inputs().len()),
            ("outputs", self.outputs.len(), dataset.outputs().len()),
        ] {
            if expected != found {
                return Err(ModelError::Channels { what, expected, found });
            }
        }
        self.check_units(dataset)?;
        self.check_preparation(dataset)?;
        self.check_sample_time(dataset)
    }

    /// Refuses data that say they are in other units: a factor of a thousand may leave everything else looking right.
    fn check_units(&self, dataset: &Dataset) -> Result<()> {
        let own = self.inputs.iter().chain(&self.outputs);
        for (channel, other) in own.zip(dataset.inputs().iter().chain(dataset.outputs())) {
            if let (Some(expected), Some(found)) = (&channel.unit, &other.unit)
                && expected != found
            {
                return Err(ModelError::Unit {
                    channel: other.name.clone(),
                    expected: expected.clone(),
                    found: found.clone(),
                });
            }
        }
        Ok(())
    }

    /// Refuses data whose time column says that they were sampled at another rate. A sample time that somebody merely gave is a
    /// label.
    fn check_sample_time(&self, dataset: &Dataset) -> Result<()> {
        let is_measured = dataset
            .experiments()
            .iter()
            .any(|experiment| experiment.time().is_some());
        match (self.sample_time, dataset.sample_time()) {
            (Some(expected), Some(found)) if is_measured && (found - expected).abs() > SAME_STEP * expected => {
                Err(ModelError::SampleTime { expected, found })
            }
            _ => Ok(()),
        }
    }

    /// Simulated values, normalised and `[step][output]`, as a band in physical units. The history that a run started from is
    /// not part of it.
    pub(crate) fn band<T: Real>(&self, window: Window, initial: InitialState, run: &Simulated<'_, T>) -> Band {
        let outputs = self.outputs.len();
        let diverged_at = run.ends_at(outputs);
        let steps = diverged_at.unwrap_or(run.centre.len() / outputs);
        let history = initial.looks_back();
        let physical = |values: &[T]| -> Vec<Vec<f64>> {
            let column = |output| {
                let values = values.iter().skip(output).step_by(outputs).take(steps).skip(history);
                values
                    .map(|&value| self.normaliser.output_to_physical(output, value))
                    .collect()
            };
            (0..outputs).map(column).collect()
        };
        Band {
            experiment: window.experiment,
            first: window.start + 1 + history,
            warmup: (initial.unscored() - history).min(steps),
            lower: physical(run.lower),
            centre: physical(run.centre),
            upper: physical(run.upper),
            diverged_at: diverged_at.map(|step| step.saturating_sub(history)),
        }
    }
}

/// One simulation, normalised, `[step][output]`.
pub(crate) struct Simulated<'a, T> {
    pub(crate) lower: &'a [T],
    pub(crate) centre: &'a [T],
    pub(crate) upper: &'a [T],
    pub(crate) diverged_at: Option<usize>,
}

impl<T: Real> Simulated<'_, T> {
    /// The step at which the run has diverged, or has no finite bounds.
    fn ends_at(&self, outputs: usize) -> Option<usize> {
        let lost = |bounds: &[T]| bounds.iter().position(|bound| !bound.is_finite());
        let unbounded = [self.lower, self.upper].into_iter().filter_map(lost).min();
        let unbounded = unbounded.map(|position| position / outputs);
        [self.diverged_at, unbounded].into_iter().flatten().min()
    }
}
