//! The public type.

use super::engine::Engine;
use super::history::{History, HistoryNeeds, finite, in_range};
use super::state::{OnlineState, SimulatorState};
use super::watched::Watched;
use crate::band::calibration::OnlineBand;
use crate::band::monitor::{Monitor, MonitorConfig, MonitorSample};
use crate::error::{ModelError, Result};
use crate::interface::ModelInterface;
use crate::model::Model;

/// A fitted model running step by step beside its plant: the same numbers as [`Model::simulate`], sample by sample.
///
/// [`reset`](Self::reset) gives it the samples before the first step, [`step`](Self::step) the inputs of each sample.
/// A step allocates nothing and its time does not depend on how long the run has been.
///
/// Interval networks, ensembles of them and ARX run this way. In an ensemble, a member that leaves every sensible range
/// is left out from there on, while [`Model::simulate`], which knows the whole run, leaves it out of all of it.
///
/// ```
/// use intervalid_data::{ReadOptions, Split, SplitFractions, load};
/// use intervalid_model::{FitConfig, FitOptions, History, Model, Simulator};
///
/// let dataset = load(&["hair-dryer"], None, &ReadOptions::default())?;
/// let split = Split::new(&dataset, SplitFractions::new(0.4, 0.1, 0.5)?)?;
/// let config = FitConfig::default().with(|config| config.training.epochs = 2);
/// let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default())?;
///
/// let mut simulator = Simulator::new(&model)?;
/// let record = &dataset.experiments()[0];
/// let (u, y) = (record.input(0), record.output(0));
/// simulator.reset(History { inputs: &u[..10], outputs: &y[..10] })?;
/// for k in 10..20 {
///     let band = simulator.step(&[u[k]])?;
///     assert!(band.lower[0] <= band.y[0] && band.y[0] <= band.upper[0]);
///     // Optional: the measurement moves the online band of the samples to come.
///     simulator.observe(&[y[k]])?;
/// }
/// # Ok::<(), intervalid_model::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Simulator {
    fingerprint: String,
    interface: ModelInterface,
    coverage: f64,
    needs: HistoryNeeds,
    warmup: usize,
    /// Whether the warm-up is history, which is no part of the run.
    is_history: bool,
    engine: Engine,
    online: Vec<OnlineBand>,
    /// Steps since the start; none before it.
    steps: Option<u64>,
    awaits_measurement: bool,
    /// Whether `y` and its bounds are those of the last step: a state of an earlier version did not hold them.
    knows_prediction: bool,
    /// Steps since the outputs were last corrected; none in a free run.
    since_correction: Option<u64>,
    /// Whether the outputs of the last step may still be corrected.
    awaits_correction: bool,
    diverged: bool,
    /// Watches over the model, if asked to.
    monitor: Option<Monitor>,
    /// Tells the monitor which samples lie outside the region of the training data, where the model knows it.
    watched: Option<Watched>,
    /// `[lower, y, upper]` of every output.
    bounds: Vec<[f64; 3]>,
    y: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    online_lower: Vec<f64>,
    online_upper: Vec<f64>,
}

/// One sample of a simulation, per output in its unit: `lower ≤ y ≤ upper`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction<'a> {
    /// Point predictions.
    pub y: &'a [f64],
    /// Lower bounds, as [`Model::simulate`] gives them.
    pub lower: &'a [f64],
    /// Upper bounds.
    pub upper: &'a [f64],
    /// Lower bounds of the band that follows the measurements given to [`Simulator::observe`], as [`Model::online`]
    /// gives them.
    pub online_lower: &'a [f64],
    /// Upper bounds of that band.
    pub online_upper: &'a [f64],
}

impl Simulator {
    /// A simulator of the model, to be started with [`reset`](Self::reset).
    ///
    /// # Errors
    /// [`ModelError::NotStepwise`] for the Bayesian, dropout and deep-ensemble baselines, [`ModelError::PreparedStep`] where steps would take
    /// samples that nobody has prepared; [`Model::bare`] is for those that somebody has.
    pub fn new(model: &Model) -> Result<Self> {
        model.check_stepwise_preparation()?;
        let config = model.config();
        let interface = model.interface().clone();
        let outputs = interface.outputs.len();
        let zeros = vec![0.0; outputs];
        Ok(Self {
            engine: Engine::new(model)?,
            fingerprint: model.fingerprint()?,
            coverage: config.coverage,
            needs: HistoryNeeds::new(config.lags, config.initial),
            warmup: config.initial.unscored(),
            is_history: config.initial.looks_back() > 0,
            online: (0..outputs)
                .map(|output| interface.online_band(output, config.coverage))
                .collect(),
            interface,
            steps: None,
            awaits_measurement: false,
            knows_prediction: false,
            since_correction: None,
            awaits_correction: false,
            diverged: false,
            monitor: None,
            watched: None,
            bounds: vec![[0.0; 3]; outputs],
            y: zeros.clone(),
            lower: zeros.clone(),
            upper: zeros.clone(),
            online_lower: zeros.clone(),
            online_upper: zeros,
        })
    }

    /// A simulator that also watches over the model: every measurement given to [`observe`](Self::observe) is a sample of its
    /// [`monitor`](Self::monitor), which goes on through [`reset`](Self::reset) and is part of the [`state`](Self::state). Closing a block of
    /// samples allocates, which no other step does.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), and if a setting is out of range.
    pub fn monitored(model: &Model, config: MonitorConfig) -> Result<Self> {
        Ok(Self {
            monitor: Some(Monitor::new(model, config)?),
            watched: Watched::new(model.interface()),
            ..Self::new(model)?
        })
    }

    /// The watch over the model; none unless it was made by [`monitored`](Self::monitored).
    #[must_use]
    pub fn monitor(&self) -> Option<&Monitor> {
        self.monitor.as_ref()
    }

    /// How many samples before the first step the model uses.
    #[must_use]
    pub fn needs(&self) -> HistoryNeeds {
        self.needs
    }

    /// Channels and their scaling.
    #[must_use]
    pub fn interface(&self) -> &ModelInterface {
        &self.interface
    }

    /// [`Model::fingerprint`] of the model.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Steps since the start; none before it.
    #[must_use]
    pub fn steps(&self) -> Option<u64> {
        self.steps
    }

    /// Starts (again) from what is known of the past; a model with warm-up goes through it here. The online band starts
    /// again too.
    ///
    /// # Errors
    /// If there are too few samples, or a value is not finite or beyond [`SAMPLE_LIMIT`](crate::SAMPLE_LIMIT); the simulation then
    /// stays as it was. If the warm-up leaves every sensible range.
    pub fn reset(&mut self, history: History<'_>) -> Result<()> {
        let ModelInterface { inputs, outputs, .. } = &self.interface;
        let (nu, ny) = (inputs.len(), outputs.len());
        let given = history;
        let history = history.checked(self.needs, &self.interface)?;
        self.engine.clear();
        for (output, online) in self.online.iter_mut().enumerate() {
            *online = self.interface.online_band(output, self.coverage);
        }
        self.awaits_measurement = false;
        self.since_correction = None;
        self.awaits_correction = false;
        self.diverged = false;
        self.steps = Some(0);
        // The outputs at the end of the history are those of the warm-up.
        let (known, forced) = history.outputs.split_at(history.outputs.len() - self.warmup * ny);
        let (before, during) = history.inputs.split_at(history.inputs.len() - self.warmup * nu);
        self.start_watching(before, &given.outputs[..given.outputs.len() - self.warmup * ny]);
        before
            .chunks_exact(nu.max(1))
            .for_each(|sample| self.engine.push_inputs(&self.interface, sample));
        known
            .chunks_exact(ny)
            .for_each(|sample| self.engine.push_measured(&self.interface, sample, false));
        for (step, measured) in forced.chunks_exact(ny).enumerate() {
            self.engine
                .push_inputs(&self.interface, &during[step * nu..(step + 1) * nu]);
            if !self.engine.step(&self.interface, &mut self.bounds) {
                self.diverged = true;
                return Err(ModelError::RunDiverged { step: 0 });
            }
            self.engine.push_measured(&self.interface, measured, true);
            self.watch_warmup(&during[step * nu..(step + 1) * nu], measured);
        }
        Ok(())
    }

    /// What the region of the training data looks back to at the first step: it may be more than the model needs.
    fn start_watching(&mut self, inputs: &[f64], outputs: &[f64]) {
        let (nu, ny) = (self.interface.inputs.len(), self.interface.outputs.len());
        // A state of an earlier version may have taken it away.
        self.watched = self.monitor.as_ref().and_then(|_| Watched::new(&self.interface));
        let Some(watched) = &mut self.watched else { return };
        for sample in inputs.chunks_exact(nu.max(1)) {
            watched.push_inputs(&self.interface, sample);
        }
        // Those that the model does not need have not been checked.
        let known = outputs.rchunks_exact(ny).take(watched.lags());
        let known = known.take_while(|sample| sample.iter().all(|y| y.is_finite())).count();
        for sample in outputs[outputs.len() - known * ny..].chunks_exact(ny) {
            watched.push_outputs(&self.interface, sample, false);
        }
    }

    /// A sample of the warm-up: history is what was measured, other warm-ups are part of the run.
    fn watch_warmup(&mut self, inputs: &[f64], measured: &[f64]) {
        let is_history = self.is_history;
        let Some(watched) = &mut self.watched else { return };
        watched.push_inputs(&self.interface, inputs);
        for (output, &[_, y, _]) in self.bounds.iter().enumerate() {
            self.y[output] = self.interface.output_range(output).clipped(y);
        }
        watched.push_outputs(&self.interface, if is_history { measured } else { &self.y }, false);
    }

    /// Predicts the next sample from its inputs, one number per channel in its unit.
    ///
    /// # Errors
    /// If there is another number of inputs, one is not finite or beyond [`SAMPLE_LIMIT`](crate::SAMPLE_LIMIT), or before the first
    /// [`reset`](Self::reset): the simulation stays as it was. [`ModelError::RunDiverged`] once predictions have left every sensible range.
    pub fn step(&mut self, inputs: &[f64]) -> Result<Prediction<'_>> {
        let Some(steps) = self.steps else {
            return Err(ModelError::NotNow(
                "the simulation has not started: give it the past with reset first",
            ));
        };
        check_sample("inputs of a step", "input", inputs, &self.interface.inputs)?;
        let scales = &self.interface.normaliser.inputs;
        in_range("input", inputs, &self.interface.inputs, scales)?;
        if self.diverged {
            return Err(ModelError::RunDiverged { step: steps });
        }
        self.steps = Some(steps.saturating_add(1));
        self.engine.push_inputs(&self.interface, inputs);
        if !self.engine.step(&self.interface, &mut self.bounds) {
            self.diverged = true;
            self.awaits_measurement = false;
            self.awaits_correction = false;
            return Err(ModelError::RunDiverged {
                step: steps.saturating_add(1),
            });
        }
        self.since_correction = self.since_correction.map(|steps| steps.saturating_add(1));
        let horizons = self.interface.horizons.as_ref();
        let horizon = self
            .since_correction
            .map(|steps| usize::try_from(steps).unwrap_or(usize::MAX));
        let ahead = horizons.zip(horizon);
        for (output, &[lower, y, upper]) in self.bounds.iter().enumerate() {
            let (lower, upper) = match &self.interface.calibration {
                Some(calibration) => calibration.outputs[output].bounds(lower, y, upper),
                None => (lower, upper),
            };
            let (lower, upper) = match ahead {
                Some((scales, horizon)) => {
                    let scale = scales.at(horizon, output);
                    (y - scale * (y - lower), y + scale * (upper - y))
                }
                None => (lower, upper),
            };
            let range = self.interface.output_range(output);
            let [lower, y, upper] = [lower, y, upper].map(|value| range.clipped(value));
            let (online_lower, online_upper) = self.online[output].bounds(lower, y, upper);
            let [online_lower, online_upper] = [online_lower, online_upper].map(|bound| range.clipped(bound));
            self.y[output] = y;
            self.lower[output] = lower;
            self.upper[output] = upper;
            self.online_lower[output] = online_lower;
            self.online_upper[output] = online_upper;
        }
        if let Some(watched) = &mut self.watched {
            watched.push_inputs(&self.interface, inputs);
            watched.look();
            watched.push_outputs(&self.interface, &self.y, false);
        }
        self.awaits_measurement = true;
        self.knows_prediction = true;
        self.awaits_correction = true;
        Ok(self.prediction())
    }

    fn prediction(&self) -> Prediction<'_> {
        Prediction {
            y: &self.y,
            lower: &self.lower,
            upper: &self.upper,
            online_lower: &self.online_lower,
            online_upper: &self.online_upper,
        }
    }

    /// What was then measured: the online band of the next samples follows it, the simulation does not. Samples without a
    /// measurement may be left out.
    ///
    /// # Errors
    /// If there is another number of outputs or one is not finite, and if no step came since the start or the last
    /// measurement. The simulation stays as it was.
    pub fn observe(&mut self, measured: &[f64]) -> Result<()> {
        check_sample("measured outputs", "measured output", measured, &self.interface.outputs)?;
        if !self.awaits_measurement {
            return Err(ModelError::NotNow(
                "a measurement belongs to the step before it: call step first, then observe once",
            ));
        }
        if let Some(monitor) = &mut self.monitor {
            if !self.knows_prediction {
                return Err(ModelError::NotNow(
                    "the state is of a version that did not store what was predicted last: call step first, then observe once",
                ));
            }
            monitor.observe(MonitorSample {
                predicted: &self.y,
                lower: &self.lower,
                upper: &self.upper,
                measured,
                extrapolated: self.watched.as_ref().map(Watched::is_outside),
            })?;
        }
        self.awaits_measurement = false;
        for (online, &measured) in self.online.iter_mut().zip(measured) {
            online.observe(measured);
        }
        Ok(())
    }

    /// What was then measured, for predictions from it: the next steps start from these outputs instead of the predicted ones, and a
    /// state-space model's observer corrects its states. Their band is that of predictions one sample ahead, two, and so on
    /// ([`HorizonScales`](crate::HorizonScales)), as [`Model::predict_ahead`] gives it; where the model does not know that, it is the
    /// free run's. [`observe`](Self::observe) may be called as well.
    ///
    /// # Errors
    /// If there is another number of outputs, one is not finite or beyond [`SAMPLE_LIMIT`](crate::SAMPLE_LIMIT), and if no step came
    /// since the start or the last correction. The simulation stays as it was.
    pub fn correct(&mut self, measured: &[f64]) -> Result<()> {
        check_sample("measured outputs", "measured output", measured, &self.interface.outputs)?;
        let scales = &self.interface.normaliser.outputs;
        in_range("measured output", measured, &self.interface.outputs, scales)?;
        if !self.awaits_correction {
            return Err(ModelError::NotNow(
                "a correction belongs to the step before it: call step first, then correct once",
            ));
        }
        self.awaits_correction = false;
        self.since_correction = Some(0);
        self.engine.push_measured(&self.interface, measured, true);
        if let Some(watched) = &mut self.watched {
            watched.push_outputs(&self.interface, measured, true);
        }
        Ok(())
    }

    /// All that the simulation remembers, to go on later.
    #[must_use]
    pub fn state(&self) -> SimulatorState {
        let (inputs, members) = self.engine.save();
        let is_compared = self.monitor.is_some() && self.awaits_measurement && self.knows_prediction;
        let bounds = self.lower.iter().zip(&self.y).zip(&self.upper);
        SimulatorState {
            predicted: is_compared.then(|| bounds.map(|((&lower, &y), &upper)| [lower, y, upper]).collect()),
            model: self.fingerprint.clone(),
            steps: self.steps,
            awaits_measurement: self.awaits_measurement,
            since_correction: self.since_correction,
            awaits_correction: self.awaits_correction,
            diverged: self.diverged,
            inputs,
            members,
            monitor: self.monitor.as_ref().map(|monitor| monitor.state().clone()),
            watched: self.watched.as_ref().map(Watched::save),
            online: self
                .online
                .iter()
                .map(|online| {
                    let (scales, last) = online.memory();
                    OnlineState { scales, last }
                })
                .collect(),
        }
    }

    /// Goes on from a saved state.
    ///
    /// # Errors
    /// [`ModelError::State`] if it is of another model or damaged; the simulation stays as it was.
    pub fn restore(&mut self, state: &SimulatorState) -> Result<()> {
        if state.model != self.fingerprint {
            return Err(ModelError::State(format!(
                "it belongs to model {}, this is model {}",
                state.model, self.fingerprint
            )));
        }
        // Before its numbers, which are others with a monitor.
        let monitors = match (&self.monitor, &state.monitor) {
            (None, Some(_)) => Some("it has a monitor, this simulation has none"),
            (Some(_), None) => Some("it has no monitor, this simulation has one"),
            _ => None,
        };
        if let Some(differ) = monitors {
            return Err(ModelError::State(differ.to_owned()));
        }
        let damaged = || ModelError::State("its numbers are not those of this model's state".to_owned());
        let outputs = self.online.len();
        let in_order = |predicted: &Vec<[f64; 3]>| {
            predicted.len() == outputs && predicted.iter().all(|[lower, y, upper]| lower <= y && y <= upper)
        };
        let fits = self.engine.fits(&state.inputs, &state.members)
            && state.online.len() == outputs
            && state.predicted.as_ref().is_none_or(in_order);
        // Without what it remembers, it is not known where the next samples lie.
        let mut watched = None;
        if let Some(state) = &state.watched {
            let start = self.monitor.as_ref().and_then(|_| Watched::new(&self.interface));
            let mut start = start.filter(|start| start.fits(state)).ok_or_else(damaged)?;
            start.restore(state);
            watched = Some(start);
        }
        if !(fits && state.is_finite()) {
            return Err(damaged());
        }
        let mut online = self.online.clone();
        for (online, saved) in online.iter_mut().zip(&state.online) {
            if !online.recall(saved.scales, saved.last) {
                return Err(damaged());
            }
        }
        if let (Some(monitor), Some(state)) = (&mut self.monitor, &state.monitor) {
            monitor.restore(state.clone())?;
        }
        self.online = online;
        self.watched = watched;
        self.engine.restore(&state.inputs, &state.members);
        self.steps = state.steps;
        self.awaits_measurement = state.awaits_measurement;
        self.knows_prediction = state.predicted.is_some();
        for (output, &[lower, y, upper]) in state.predicted.iter().flatten().enumerate() {
            (self.lower[output], self.y[output], self.upper[output]) = (lower, y, upper);
        }
        self.since_correction = state.since_correction;
        self.awaits_correction = state.awaits_correction;
        self.diverged = state.diverged;
        Ok(())
    }
}

fn check_sample(
    what: &'static str,
    value: &'static str,
    sample: &[f64],
    channels: &[intervalid_data::Channel],
) -> Result<()> {
    if sample.len() != channels.len() {
        return Err(ModelError::Length {
            what,
            found: sample.len().to_string(),
            expected: format!("{}, one per channel", channels.len()),
        });
    }
    finite(value, sample, channels)
}
