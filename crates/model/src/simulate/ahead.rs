//! Predictions a few samples ahead, with measurements up to then.
//!
//! The prediction of sample k, K ahead, knows the measured outputs up to k-K. A network first follows all measurements, as in a
//! warm-up, so that its states are those of the last known sample; from there it runs freely for K steps. NARX models and ARX take
//! measured lags, recurrent ones carry their states, a state-space model corrects them by its observer.

use intervalid_data::{
    DIVERGED, Dataset, InitialState, Lags, Part, PastOutputs, Regressor, Scaled, Window, free_run_windows,
};
use intervalid_interval::Real;

use crate::band::horizon::{HORIZONS, HorizonScales};
use crate::band::metrics::align;
use crate::band::prediction::Band;
use crate::error::{ModelError, Result};
use crate::family::body::{Body, Fitted, Networks};
use crate::family::interval::IntervalNetwork;
use crate::model::Model;
use crate::network::Stepper;

/// From how many samples errors at each horizon are learnt: more tell little more and take time.
const MOST_ORIGINS: usize = 500;

/// Which predictions are wanted.
#[derive(Clone, Copy)]
struct Plan<'a> {
    /// Ascending.
    horizons: &'a [usize],
    /// Samples between origins.
    stride: usize,
}

/// Predictions of one window, normalised: `[horizon][step][output]`, not a number where there is none.
type Ahead = Vec<Vec<f64>>;

/// What moves from step to step.
trait Walker<T> {
    fn reset(&mut self);
    fn step(&mut self, regressor: &[T], y: &mut [T]);
    /// Keeps the state, and goes back to it.
    fn save(&mut self);
    fn restore(&mut self);
}

struct NetworkWalker<T> {
    stepper: Stepper<T>,
    saved: Vec<[Vec<T>; 2]>,
}

impl<T: Real> Walker<T> for NetworkWalker<T> {
    fn reset(&mut self) {
        self.stepper.reset();
    }

    fn step(&mut self, regressor: &[T], y: &mut [T]) {
        y.copy_from_slice(self.stepper.step(regressor));
    }

    fn save(&mut self) {
        for ([h, c], (from_h, from_c)) in self.saved.iter_mut().zip(self.stepper.states()) {
            h.copy_from_slice(from_h);
            c.copy_from_slice(from_c);
        }
    }

    fn restore(&mut self) {
        for ((to_h, to_c), [h, c]) in self.stepper.states_mut().zip(&self.saved) {
            to_h.copy_from_slice(h);
            to_c.copy_from_slice(c);
        }
    }
}

/// A model without states.
struct LinearWalker<'a>(&'a intervalid_data::ArxModel);

impl Walker<f64> for LinearWalker<'_> {
    fn reset(&mut self) {}

    fn step(&mut self, regressor: &[f64], y: &mut [f64]) {
        self.0.step(regressor, y);
    }

    fn save(&mut self) {}

    fn restore(&mut self) {}
}

/// All predictions of a plan over one window.
fn walk<T: Real>(
    walker: &mut impl Walker<T>,
    scaled: &Scaled<T>,
    window: Window,
    (lags, initial): (Lags, InitialState),
    plan: Plan<'_>,
) -> Ahead {
    let experiment = &scaled.experiments()[window.experiment];
    let outputs = experiment.outputs();
    let layout = Regressor::new(lags, experiment.inputs(), outputs);
    let steps = window.len - 1;
    let furthest = plan.horizons.last().copied().unwrap_or(1);
    let mut found = vec![vec![f64::NAN; steps * outputs]; plan.horizons.len()];
    let mut regressor = vec![T::zero(); layout.len()];
    let mut own = vec![T::zero(); furthest * outputs];
    let limit = T::of(DIVERGED);
    let oldest = initial.known_outputs(window.start, lags).start;
    walker.reset();
    for (origin, k) in window.predicted().enumerate() {
        let past = PastOutputs::new(oldest..k, k);
        // The first step from an origin is also the one that moves the origin on.
        // Further than the last horizon that ends within the window nothing is looked at, but from the start.
        let left = steps - origin;
        let wanted = match origin {
            0 => furthest.min(left),
            _ if origin.is_multiple_of(plan.stride) => {
                let within = plan.horizons.iter().rev().find(|horizon| **horizon <= left);
                within.copied().unwrap_or(1)
            }
            _ => 1,
        };
        for ahead in 0..wanted {
            let (before, now) = own.split_at_mut(ahead * outputs);
            let predicted = |step: usize, output: usize| before[step * outputs + output];
            layout.write_outputs(experiment, &past, k + ahead, predicted, &mut regressor);
            layout.write_inputs(experiment, k + ahead, &mut regressor);
            let y = &mut now[..outputs];
            walker.step(&regressor, y);
            if ahead == 0 {
                walker.save();
            }
            if y.iter().any(|y| y.is_nan() || y.abs() > limit) {
                break;
            }
            let at = (origin + ahead) * outputs;
            for (horizon, found) in plan.horizons.iter().zip(&mut found) {
                // So early in the run nobody knows more than its start.
                if *horizon == ahead + 1 || (origin == 0 && ahead < *horizon) {
                    for (to, y) in found[at..at + outputs].iter_mut().zip(&*y) {
                        *to = y.as_f64();
                    }
                }
            }
        }
        walker.restore();
    }
    found
}

impl<T: Real> Fitted<'_, IntervalNetwork<T>> {
    fn ahead(&self, dataset: &Dataset, windows: &[Window], plan: Plan<'_>) -> Result<Vec<Ahead>> {
        let scaled = self.interface.scale::<T>(dataset)?;
        let stepper = Stepper::new(&self.body.architecture, &self.body.theta);
        let saved = stepper.states().map(|(h, c)| [h.to_vec(), c.to_vec()]).collect();
        let mut walker = NetworkWalker { stepper, saved };
        let start = (self.config.lags, self.config.initial);
        Ok(windows
            .iter()
            .map(|&window| walk(&mut walker, &scaled, window, start, plan))
            .collect())
    }
}

/// The mean over members, of each number over those that are still in range.
fn mean(mut members: Vec<Vec<Ahead>>) -> Vec<Ahead> {
    let Some(mut sums) = members.pop() else {
        return Vec::new();
    };
    let cells = |runs: &Vec<Ahead>| runs.iter().flatten().flatten().copied().collect::<Vec<f64>>();
    let others: Vec<Vec<f64>> = members.iter().map(cells).collect();
    for (at, sum) in sums.iter_mut().flatten().flatten().enumerate() {
        let values = others.iter().map(|other| other[at]).chain([*sum]);
        let (total, count) = values
            .filter(|value| value.is_finite())
            .fold((0.0, 0_u32), |(total, count), value| (total + value, count + 1));
        *sum = match count {
            0 => f64::NAN,
            count => total / f64::from(count),
        };
    }
    sums
}

impl Model {
    fn ahead(&self, dataset: &Dataset, windows: &[Window], plan: Plan<'_>) -> Result<Vec<Ahead>> {
        fn members<T: Real>(
            fitted: Fitted<'_, Networks<T>>,
            members: &[IntervalNetwork<T>],
            (dataset, windows, plan): (&Dataset, &[Window], Plan<'_>),
        ) -> Result<Vec<Ahead>> {
            let runs = members
                .iter()
                .map(|member| fitted.with(member).ahead(dataset, windows, plan));
            Ok(mean(runs.collect::<Result<_>>()?))
        }
        let fitted = self.fitted();
        let work = (dataset, windows, plan);
        match self.body() {
            Body::F32(networks @ Networks::Interval(all)) => members(fitted.with(networks), all, work),
            Body::F64(networks @ Networks::Interval(all)) => members(fitted.with(networks), all, work),
            Body::Linear(linear) => {
                let scaled = self.interface().scale::<f64>(dataset)?;
                let start = (linear.lags(), self.config().initial);
                let run = |arx| {
                    let walk = |&window: &Window| walk(&mut LinearWalker(arx), &scaled, window, start, plan);
                    windows.iter().map(walk).collect()
                };
                Ok(mean(linear.members.iter().map(run).collect()))
            }
            Body::F32(Networks::Gaussian(_)) | Body::F64(Networks::Gaussian(_)) => {
                Err(ModelError::NotStepwise { model: self.kind() })
            }
        }
    }

    /// Predictions `horizon` samples ahead, each knowing the measured outputs up to then; the first ones of a part, and all within
    /// a warm-up, know what a free run's start knows. Samples and scoring are those of [`simulate`](Self::simulate).
    ///
    /// The band is that of the free run, scaled as [`HorizonScales`] says; a model that has none keeps its width.
    ///
    /// # Errors
    /// [`ModelError::NotStepwise`] for the Bayesian, dropout and deep-ensemble baselines; if `horizon` is 0, the data have other
    /// channels, the part is too short, or a sample is beyond [`SAMPLE_LIMIT`](crate::SAMPLE_LIMIT), all measured outputs included.
    pub fn predict_ahead(&self, dataset: &Dataset, part: &Part, horizon: usize) -> Result<Vec<Band>> {
        if horizon == 0 {
            return Err(ModelError::option("horizon", 0, "at least 1 sample ahead"));
        }
        let (recorded, level) = (dataset, self.level(dataset)?);
        let dataset = &*level;
        let (lags, initial) = (self.config().lags, self.config().initial);
        let windows = free_run_windows(dataset, part, lags, initial)?;
        self.interface().check_measured(dataset, &windows)?;
        let longest = windows.iter().map(|window| window.len - 1).max().unwrap_or(1);
        let horizons = [horizon.min(longest)];
        let plan = Plan {
            horizons: &horizons,
            stride: 1,
        };
        let runs = self.ahead(dataset, &windows, plan)?;
        let mut bands = self.simulate_unlimited(dataset, part)?;
        let outputs = self.interface().outputs.len();
        for ((band, run), window) in bands.iter_mut().zip(&runs).zip(&windows) {
            let history = initial.looks_back();
            let steps = window.len - 1 - history;
            let predicted = &run[0][history * outputs..];
            let end = (0..steps).find(|step| {
                !predicted[step * outputs..(step + 1) * outputs]
                    .iter()
                    .all(|y| y.is_finite())
            });
            for output in 0..outputs {
                let scale = self
                    .interface()
                    .horizons
                    .as_ref()
                    .map_or(1.0, |scales| scales.at(horizon, output));
                // Where the free run has ended, its last width is the best that is known.
                let sides: Vec<[f64; 2]> = (0..band.len())
                    .map(|step| {
                        let centre = band.centre[output][step];
                        [centre - band.lower[output][step], band.upper[output][step] - centre]
                    })
                    .collect();
                let Some(&last) = sides.last() else { continue };
                let to_physical = |step: usize| {
                    let value = predicted[step * outputs + output];
                    self.interface().normaliser.output_to_physical(output, value)
                };
                let sides = sides.into_iter().chain(std::iter::repeat(last));
                let rows: Vec<(f64, [f64; 2])> = (0..end.unwrap_or(steps)).map(to_physical).zip(sides).collect();
                band.centre[output] = rows.iter().map(|&(y, _)| y).collect();
                band.lower[output] = rows.iter().map(|&(y, [below, _])| y - scale * below).collect();
                band.upper[output] = rows.iter().map(|&(y, [_, above])| y + scale * above).collect();
            }
            band.diverged_at = match band.is_empty() {
                true => Some(0),
                false => end,
            };
        }
        Ok(self.limited(self.with_its_trend(recorded, bands)))
    }

    /// The same model knowing how its band shrinks a few samples after a measurement, from the data it was fitted to; without
    /// that knowledge where it cannot run step by step, or hardly any sample can be judged.
    ///
    /// # Errors
    /// If the data have other channels or the part is too short.
    pub fn with_horizons(mut self, dataset: &Dataset, part: &Part) -> Result<Self> {
        self.set_horizons(self.learn_horizons(dataset, part)?);
        Ok(self)
    }

    fn learn_horizons(&self, dataset: &Dataset, part: &Part) -> Result<Option<HorizonScales>> {
        /// Fewer errors say nothing about a quantile.
        const LEAST_ERRORS: usize = 30;
        let dataset = &*self.level(dataset)?;
        let (lags, initial) = (self.config().lags, self.config().initial);
        let windows = free_run_windows(dataset, part, lags, initial)?;
        let samples: usize = windows.iter().map(|window| window.len).sum();
        let plan = Plan {
            horizons: &HORIZONS,
            stride: samples.div_ceil(MOST_ORIGINS).max(1),
        };
        let runs = match self.ahead(dataset, &windows, plan) {
            Err(ModelError::NotStepwise { .. }) => return Ok(None),
            runs => runs?,
        };
        let bands = self.simulate_unlimited(dataset, part)?;
        let outputs = self.interface().outputs.len();
        let history = initial.looks_back();
        let mut scales = vec![Vec::new(); HORIZONS.len()];
        for output in 0..outputs {
            let floor = self.interface().least_half_width(output);
            let aligned = align(dataset, &bands, output)?;
            let mut free = Vec::new();
            let mut ahead = vec![Vec::new(); HORIZONS.len()];
            for ((band, run), aligned) in bands.iter().zip(&runs).zip(&aligned) {
                for (step, &target) in aligned.target.iter().enumerate() {
                    let step = step + band.warmup;
                    let centre = band.centre[output][step];
                    let ratio = |error: f64| {
                        let side = match error < 0.0 {
                            true => centre - band.lower[output][step],
                            false => band.upper[output][step] - centre,
                        };
                        error.abs() / side.max(floor)
                    };
                    free.push(ratio(target - centre));
                    for ((errors, predicted), horizon) in ahead.iter_mut().zip(run).zip(HORIZONS) {
                        let value = predicted[(step + history) * outputs + output];
                        // So early the prediction is from the start, which is not as far back.
                        let is_as_far = step + history + 1 >= horizon;
                        if value.is_finite() && is_as_far {
                            let y = self.interface().normaliser.output_to_physical(output, value);
                            errors.push(ratio(target - y));
                        }
                    }
                }
            }
            let coverage = self.config().coverage;
            let all = crate::band::calibration::quantile(free, coverage);
            if all <= 0.0 {
                return Ok(None);
            }
            for (scales, errors) in scales.iter_mut().zip(ahead) {
                if errors.len() >= LEAST_ERRORS {
                    scales.push(crate::band::calibration::quantile(errors, coverage) / all);
                }
            }
        }
        // Those about which every output has enough to say.
        let known = HORIZONS.into_iter().zip(scales);
        let (horizons, scales): (Vec<_>, Vec<_>) = known.filter(|(_, scales)| scales.len() == outputs).unzip();
        Ok((!horizons.is_empty()).then_some(HorizonScales { horizons, scales }))
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::recipes;

    /// A part as long as the horizon is a free run; one sample ahead, all measurements are known.
    #[test]
    fn the_longest_horizon_is_the_free_run_and_the_shortest_follows_measurements() {
        for recipe in recipes(0.05) {
            let model = recipe.model::<f64>().to_model();
            let (dataset, part) = recipe.dataset(60);
            let free = &model.simulate(&dataset, &part).expect("simulates")[0];
            let far = &model.predict_ahead(&dataset, &part, 1000).expect("predicts")[0];
            let one = &model.predict_ahead(&dataset, &part, 1).expect("predicts")[0];
            assert_eq!(
                (far.first, far.len(), far.warmup),
                (free.first, free.len(), free.warmup)
            );
            for output in 0..recipe.outputs {
                for step in 0..free.len() {
                    // In a warm-up the free run knows more than a far prediction.
                    if recipe.initial.unscored() == 0 {
                        assert!(
                            (far.centre[output][step] - free.centre[output][step]).abs() < 1e-12,
                            "{recipe:?}"
                        );
                    }
                    assert!(one.lower[output][step] <= one.centre[output][step]);
                }
            }
            assert_ne!(one.centre, free.centre, "{recipe:?}");
            assert!(model.predict_ahead(&dataset, &part, 0).is_err());
        }
    }

    /// What is predicted from the start is not as far ahead as a horizon that begins before it.
    #[test]
    fn horizons_that_the_record_is_too_short_for_are_not_learnt() {
        for recipe in recipes(0.05) {
            let (dataset, part) = recipe.dataset(60);
            let model = recipe
                .model::<f64>()
                .to_model()
                .with_horizons(&dataset, &part)
                .expect("learns");
            let known = model
                .interface()
                .horizons
                .as_ref()
                .map(|scales| scales.horizons.clone());
            let known = known.expect("the shorter ones are known");
            assert!(
                known.starts_with(&[1, 2, 5]) && known.iter().all(|&horizon| horizon < 50),
                "{known:?}"
            );
        }
    }

    /// By the definition: cut the record after the last known sample and simulate from there.
    #[test]
    fn a_prediction_is_a_free_run_from_its_last_measurement() {
        for recipe in recipes(0.05) {
            let model = recipe.model::<f64>().to_model();
            let (dataset, part) = recipe.dataset(60);
            let horizon = 4;
            let band = &model.predict_ahead(&dataset, &part, horizon).expect("predicts")[0];
            let mut simulator = crate::Simulator::new(&model).expect("steps");
            let needs = simulator.needs();
            let experiment = &dataset.experiments()[0];
            let row = |column: &dyn Fn(usize) -> f64, count: usize| (0..count).map(column).collect::<Vec<f64>>();
            let inputs = |k: usize| row(&|channel| experiment.input(channel)[k], recipe.inputs);
            let measured = |k: usize| row(&|channel| experiment.output(channel)[k], recipe.outputs);
            let first = needs.outputs;
            let history = crate::History {
                inputs: &(0..first).flat_map(inputs).collect::<Vec<_>>(),
                outputs: &(0..first).flat_map(measured).collect::<Vec<_>>(),
            };
            simulator.reset(history).expect("starts");
            for k in first..60 - horizon {
                // Measurements up to k-1 are known here.
                let mut branch = simulator.clone();
                let mut last = Vec::new();
                for ahead in 0..horizon {
                    last = branch.step(&inputs(k + ahead)).expect("steps").y.to_vec();
                }
                for (output, y) in last.iter().enumerate() {
                    let found = band.centre[output][k + horizon - 1 - band.first];
                    assert!((found - y).abs() < 1e-9, "{recipe:?}: {found} {y}");
                }
                simulator.step(&inputs(k)).expect("steps");
                simulator.correct(&measured(k)).expect("corrects");
            }
        }
    }
}
