//! The public type.

use intervalid_data::Dataset;

use super::evidence::Evidence;
use super::health::{
    Causes, DriftKind, Health, MonitorReport, OutputHealth, TestHealth, Tests, WATCH_EXTRAPOLATED, reasons,
};
use super::moments::{FURTHEST, Moments, Sample, correlation_time};
use super::output::OutputMonitor;
use super::state::{MonitorConfig, MonitorState};
use crate::band::prediction::Band;
use crate::error::{ModelError, Result};
use crate::family::ensemble::spread_factor;
use crate::interface::ModelInterface;
use crate::model::Model;

/// A watch over a model in use: does its band still hold what it promised, and if not, what has changed?
///
/// **Method.** Samples are taken in blocks of several correlation times of the residual, so that blocks are nearly independent where
/// samples are not. Four e-processes per output step once per block (docs/method.md, section 12): one bets that more samples are
/// outside than the promise tolerates; three bet that the level of the residual, its slope over the prediction (gain) and its variance
/// (noise) rank too high or too low among those of earlier blocks. Where the band is for all outputs together, a sample counts as outside
/// for each of them if any is.
///
/// **What it promises.** If blocks are exchangeable and no more samples are outside than is tolerated, [`Health::Refit`] is ever reached with
/// probability at most [`MonitorConfig::false_alarm`], however long it watches. **What it does not.** A drift that was complete before the first sample
/// has no earlier blocks to differ from: the coverage alone tells it.
///
/// ```
/// use intervalid_data::{Part, ReadOptions, Split, SplitFractions, load};
/// use intervalid_model::{FitConfig, FitOptions, Model, ModelKind, Monitor, MonitorConfig};
///
/// let dataset = load(&["hair-dryer"], None, &ReadOptions::default())?;
/// let split = Split::new(&dataset, SplitFractions::new(0.4, 0.1, 0.5)?)?;
/// let config = FitConfig::default().with(|config| config.model = ModelKind::Arx);
/// let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default())?;
///
/// let mut monitor = Monitor::new(&model, MonitorConfig::default())?;
/// for band in model.simulate(&dataset, &split.test)? {
///     monitor.observe_band(&dataset, &band, None, 0)?;
/// }
/// assert_eq!(monitor.report().samples, 499);
/// # Ok::<(), intervalid_model::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Monitor {
    interface: ModelInterface,
    coverage: f64,
    state: MonitorState,
}

/// What was predicted of one sample and what was measured, one number per output.
#[derive(Clone, Copy, Debug)]
pub struct MonitorSample<'a> {
    /// Point predictions ŷ.
    pub predicted: &'a [f64],
    /// Lower bounds.
    pub lower: &'a [f64],
    /// Upper bounds.
    pub upper: &'a [f64],
    /// Measured outputs y.
    pub measured: &'a [f64],
    /// Whether the sample lies outside the region of the training data, where that is known.
    pub extrapolated: Option<bool>,
}

/// Samples from which the length of blocks is chosen.
pub(super) const BURN_IN: usize = 200;
/// Least and greatest length of a block that is chosen, and the greatest that so few residuals can ask for.
pub(super) const BLOCKS: (f64, f64) = (10.0, 500.0);
pub(super) const BY_RESIDUALS: f64 = 100.0;
/// Correlation times of the first residuals, and of the misses on held-out data, in a block.
pub(super) const CORRELATION_TIMES: (f64, f64) = (4.0, 2.0);
/// Misses that are tolerated: half as many again as promised, at most this many more.
const TOLERANCE: f64 = 0.05;
/// Evidence that calls for a look, as a share of that which calls for a refit.
pub(super) const WATCH: f64 = 0.1;
/// Weight of the newest sample in what was extrapolated recently.
pub(super) const NEWEST: f64 = 0.01;

impl Monitor {
    /// A monitor of the model that has seen nothing.
    ///
    /// # Errors
    /// [`ModelError::Option`] if a setting is out of range.
    pub fn new(model: &Model, config: MonitorConfig) -> Result<Self> {
        config.check()?;
        let interface = model.interface().clone();
        Ok(Self {
            state: MonitorState::new(model.fingerprint()?, config, interface.outputs.len()),
            coverage: model.config().coverage,
            interface,
        })
    }

    /// All that it remembers.
    #[must_use]
    pub fn state(&self) -> &MonitorState {
        &self.state
    }

    /// Goes on from a saved state.
    ///
    /// # Errors
    /// [`ModelError::State`] if it is of another model, of other settings, or damaged; the monitor stays as it was.
    pub fn restore(&mut self, state: MonitorState) -> Result<()> {
        let (model, config, outputs) = (&self.state.model, &self.state.config, self.interface.outputs.len());
        state.check(model, config, outputs, BURN_IN)?;
        self.state = state;
        Ok(())
    }

    /// Takes one sample, and says how the model is.
    ///
    /// # Errors
    /// If a number is missing or not finite; the monitor stays as it was.
    pub fn observe(&mut self, sample: MonitorSample<'_>) -> Result<Health> {
        let samples = self.samples(&sample)?;
        self.state.samples += 1;
        if let Some(extrapolated) = sample.extrapolated {
            let flag = f64::from(u8::from(extrapolated));
            self.state.flagged += 1;
            self.state.extrapolated += u64::from(extrapolated);
            self.state.recently_extrapolated += NEWEST * (flag - self.state.recently_extrapolated);
        }
        match self.state.block {
            Some(block) => self.take(&samples, block),
            None => {
                for (waiting, sample) in self.state.waiting.iter_mut().zip(samples) {
                    waiting.push(sample);
                }
                if self.state.waiting.first().map_or(0, Vec::len) == BURN_IN {
                    self.start();
                }
            }
        }
        Ok(self.health())
    }

    /// Takes the samples of a band that are scored, from sample `from` of its experiment on.
    ///
    /// # Errors
    /// If the band does not belong to the data.
    ///
    /// # Panics
    /// If there are fewer flags than samples of the band.
    pub fn observe_band(
        &mut self,
        dataset: &Dataset,
        band: &Band,
        extrapolated: Option<&[bool]>,
        from: usize,
    ) -> Result<Health> {
        self.interface.check_channels(dataset)?;
        let Some(experiment) = dataset.experiments().get(band.experiment) else {
            return Err(ModelError::Length {
                what: "experiments",
                found: dataset.experiments().len().to_string(),
                expected: format!("more than {}", band.experiment),
            });
        };
        if band.first + band.len() > experiment.len() {
            return Err(ModelError::Length {
                what: "measured samples",
                found: experiment.len().to_string(),
                expected: format!("at least {}, which the band reaches to", band.first + band.len()),
            });
        }
        let outputs = 0..self.interface.outputs.len();
        let at =
            |columns: &[Vec<f64>], step: usize| -> Vec<f64> { columns.iter().map(|column| column[step]).collect() };
        for step in band.warmup.max(from.saturating_sub(band.first))..band.len() {
            let measured: Vec<f64> = outputs
                .clone()
                .map(|output| experiment.output(output)[band.first + step])
                .collect();
            self.observe(MonitorSample {
                predicted: &at(&band.centre, step),
                lower: &at(&band.lower, step),
                upper: &at(&band.upper, step),
                measured: &measured,
                extrapolated: extrapolated.map(|flags| flags[step]),
            })?;
        }
        Ok(self.health())
    }

    /// One sample per output, in standard deviations.
    fn samples(&self, sample: &MonitorSample<'_>) -> Result<Vec<Sample>> {
        let outputs = &self.interface.outputs;
        for (what, values) in [
            ("predictions", sample.predicted),
            ("lower bounds", sample.lower),
            ("upper bounds", sample.upper),
            ("measured outputs", sample.measured),
        ] {
            if values.len() != outputs.len() {
                return Err(ModelError::Length {
                    what,
                    found: values.len().to_string(),
                    expected: format!("{}, one per output", outputs.len()),
                });
            }
            if let Some((channel, &value)) = outputs.iter().zip(values).find(|(_, value)| !value.is_finite()) {
                return Err(ModelError::NotFinite {
                    what,
                    channel: channel.name.clone(),
                    value,
                });
            }
        }
        let is_outside = |output: usize| {
            let y = sample.measured[output];
            y < sample.lower[output] || y > sample.upper[output]
        };
        let any_is_outside = (0..outputs.len()).any(is_outside);
        let one = |output: usize| {
            let (y, centre) = (sample.measured[output], sample.predicted[output]);
            let (lower, upper) = (sample.lower[output], sample.upper[output]);
            let scale = &self.interface.normaliser.outputs[output];
            let floor = self.interface.least_half_width(output);
            let near = |value: f64| (value / scale.std).clamp(-FURTHEST, FURTHEST);
            Sample {
                residual: near(y - centre),
                place: near(centre - scale.mean),
                half_width: near((0.5 * (upper - lower)).max(floor)),
                missed: match self.interface.is_together() {
                    true => any_is_outside,
                    false => is_outside(output),
                },
            }
        };
        Ok((0..outputs.len()).map(one).collect())
    }

    /// Chooses the length of blocks and takes the samples that waited for it.
    fn start(&mut self) {
        let waiting = std::mem::replace(&mut self.state.waiting, vec![Vec::new(); self.interface.outputs.len()]);
        let times = waiting.iter().map(|samples| {
            let scores: Vec<f64> = samples.iter().map(Sample::score).collect();
            correlation_time(&scores)
        });
        let first = (CORRELATION_TIMES.0 * times.fold(1.0, f64::max)).min(BY_RESIDUALS);
        let block = first.max(self.block_by_held_out());
        let block = block.clamp(BLOCKS.0, BLOCKS.1).ceil() as u64;
        self.state.block = Some(block);
        for step in 0..BURN_IN {
            let samples: Vec<Sample> = waiting.iter().map(|samples| samples[step]).collect();
            self.take(&samples, block);
        }
    }

    /// Length of a block that held-out data ask for.
    pub(super) fn block_by_held_out(&self) -> f64 {
        let time = self.interface.calibration.as_ref().map_or(1.0, |found| {
            found.samples as f64 / found.outputs.len().max(1) as f64 / found.effective_samples.max(1.0)
        });
        CORRELATION_TIMES.1 * time
    }

    pub(super) fn interface(&self) -> &ModelInterface {
        &self.interface
    }

    fn take(&mut self, samples: &[Sample], block: u64) {
        let most_misses = self.most_misses();
        let mut ended = false;
        for (output, sample) in self.state.outputs.iter_mut().zip(samples) {
            ended |= output.add(sample, block, most_misses);
        }
        if ended && self.state.refit_at.is_none() && self.needs_refit() {
            let seen = self.state.outputs.first().map_or(0, |output| output.all.samples);
            self.state.refit_at = Some(seen);
        }
    }

    /// Greatest share of misses that is no reason to worry.
    pub(super) fn most_misses(&self) -> f64 {
        let promised = 1.0 - self.coverage;
        promised + (0.5 * promised).min(TOLERANCE)
    }

    /// Evidence that calls for a refit: one of all tests reaches it with the probability asked for, at the most.
    pub(super) fn refit_at_evidence(&self) -> f64 {
        let tests = DriftKind::ALL.len() * self.interface.outputs.len();
        tests as f64 / self.state.config.false_alarm
    }

    /// Too few samples inside; or a drift, and fewer inside than promised of late.
    fn needs_refit(&self) -> bool {
        let limit = self.refit_at_evidence();
        self.state.outputs.iter().any(|output| {
            let drifted = [&output.level, &output.gain, &output.noise];
            let drifted = drifted.into_iter().any(|evidence| evidence.greatest() >= limit);
            output.coverage.greatest() >= limit || (drifted && output.recent().miss_share() > 1.0 - self.coverage)
        })
    }

    /// How the model is.
    #[must_use]
    pub fn health(&self) -> Health {
        if self.state.refit_at.is_some() {
            return Health::Refit;
        }
        let watched = self.state.outputs.iter().any(|output| {
            let tests = [&output.coverage, &output.level, &output.gain, &output.noise];
            tests.into_iter().any(|evidence| self.judged(evidence) != Health::Ok)
        });
        match watched || self.state.recently_extrapolated > WATCH_EXTRAPOLATED {
            true => Health::Watch,
            false => Health::Ok,
        }
    }

    /// What one test says by itself.
    fn judged(&self, evidence: &Evidence) -> Health {
        let limit = self.refit_at_evidence();
        match (evidence.greatest() >= limit, evidence.now() >= WATCH * limit) {
            (true, _) => Health::Refit,
            (false, true) => Health::Watch,
            (false, false) => Health::Ok,
        }
    }

    /// Everything it can say.
    #[must_use]
    pub fn report(&self) -> MonitorReport {
        let state = &self.state;
        let outputs: Vec<OutputHealth> = (0..self.interface.outputs.len())
            .map(|index| self.output_health(index, &state.outputs[index]))
            .collect();
        let waiting = state.waiting.first().map_or(0, Vec::len);
        let mut report = MonitorReport {
            state: self.health(),
            samples: state.samples,
            blocks: state.outputs.first().map_or(0, |output| output.blocks),
            block_length: state.block,
            samples_to_start: state.block.is_none().then(|| (BURN_IN - waiting) as u64),
            false_alarm: state.config.false_alarm,
            horizon: state.config.horizon,
            promised_coverage: self.coverage,
            together: self.interface.is_together(),
            least_coverage: 1.0 - self.most_misses(),
            watch_at: WATCH * self.refit_at_evidence(),
            refit_at: self.refit_at_evidence(),
            extrapolated: (state.flagged > 0).then(|| state.extrapolated as f64 / state.flagged as f64),
            recently_extrapolated: (state.flagged > 0).then_some(state.recently_extrapolated),
            refit_since: state.refit_at,
            outputs,
            reasons: Vec::new(),
        };
        report.reasons = reasons(&report);
        report
    }

    fn output_health(&self, index: usize, output: &OutputMonitor) -> OutputHealth {
        let channel = &self.interface.outputs[index];
        let unit = self.interface.normaliser.outputs[index].std;
        // Before the first block everything waits.
        let mut all = output.all;
        self.state.waiting[index].iter().for_each(|sample| all.add(sample));
        let (recent, reference) = match output.blocks {
            0 => (all, Moments::default()),
            _ => (output.recent(), output.reference),
        };
        let test = |evidence: &Evidence, now: f64, before: f64| TestHealth {
            state: self.judged(evidence),
            evidence: evidence.now(),
            greatest_evidence: evidence.greatest(),
            now,
            at_first: before,
        };
        let tests = Tests {
            coverage: test(
                &output.coverage,
                1.0 - recent.miss_share(),
                1.0 - reference.miss_share(),
            ),
            level: test(&output.level, recent.level() * unit, reference.level() * unit),
            gain: test(&output.gain, recent.gain(), reference.gain()),
            noise: test(
                &output.noise,
                recent.noise().sqrt() * unit,
                reference.noise().sqrt() * unit,
            ),
        };
        // A band for all outputs together is wider than each of them would need.
        let target = self.interface.coverage_target(self.coverage);
        let of_one = target.of_one(self.interface.outputs.len());
        let cause = Causes {
            recent,
            reference,
            promised_deviation: recent.half_width() / spread_factor(of_one),
        }
        .main(&tests);
        OutputHealth {
            name: channel.name.clone(),
            unit: channel.unit.clone(),
            coverage: (all.samples > 0).then(|| 1.0 - all.miss_share()),
            recent_coverage: (recent.samples > 0).then(|| 1.0 - recent.miss_share()),
            cause,
            tests,
            trend: output.trend(unit),
        }
    }
}
