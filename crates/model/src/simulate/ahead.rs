//! Predictions a few samples ahead, with measurements up to then.
//!
//! The prediction of sample k, K ahead, knows the measured outputs up to k-K. A network first follows all measurements, as in a
//! warm-up, so that its states are those of the last known sample; from there it runs freely for K steps. NARX models and ARX take
//! measured lags, recurrent ones carry their states, a state-space model corrects them by its observer.

use intervalid_data::{Dataset, Part, Window, free_run_windows};
use intervalid_interval::Real;

use crate::band::calibration::{AheadScores, BlockScores, horizon_scales};
use crate::band::horizon::{HORIZONS, HorizonScales};
use crate::band::metrics::align;
use crate::band::prediction::Band;
use crate::error::{ModelError, Result};
use crate::family::body::{Body, Fitted, Networks};
use crate::family::interval::IntervalNetwork;
use crate::model::Model;
use crate::network::Stepper;
use crate::simulate::walk::{Ahead, LinearWalker, NetworkWalker, Plan, walk};

/// From how many samples errors at each horizon are learnt: more tell little more and take time.
const MOST_ORIGINS: usize = 500;
/// The same of one held-out stretch of many.
const MOST_ORIGINS_OF_A_STRETCH: usize = 200;

impl<T: Real> Fitted<'_, IntervalNetwork<T>> {
    fn ahead(&self, dataset: &Dataset, windows: &[Window], plan: Plan<'_>) -> Result<Vec<Ahead>> {
        let scaled = self.interface.scale::<T>(dataset)?;
        let stepper = Stepper::new(&self.body.architecture, &self.body.theta);
        let mut walker = NetworkWalker::new(stepper);
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

    /// Predictions of a plan, each with the sides of the free run's band at its sample: `[horizon][run]`, not a number where there is none. Where
    /// the free run has ended, its last width is the best that is known.
    fn bands_ahead(&self, dataset: &Dataset, part: &Part, plan: Plan<'_>) -> Result<Vec<Vec<Band>>> {
        let (lags, initial) = (self.config().lags, self.config().initial);
        let windows = free_run_windows(dataset, part, lags, initial)?;
        let runs = self.ahead(dataset, &windows, plan)?;
        let free = self.simulate_unlimited(dataset, part)?;
        let interface = self.interface();
        let outputs = interface.outputs.len();
        let history = initial.looks_back();
        let mut found = vec![free; plan.horizons.len()];
        for (place, bands) in found.iter_mut().enumerate() {
            for ((band, run), window) in bands.iter_mut().zip(&runs).zip(&windows) {
                let steps = window.len - 1 - history;
                let predicted = &run[place][history * outputs..];
                for output in 0..outputs {
                    let sides = |step: usize| {
                        let centre = band.centre[output][step];
                        [centre - band.lower[output][step], band.upper[output][step] - centre]
                    };
                    let sides: Vec<[f64; 2]> = (0..band.centre[output].len()).map(sides).collect();
                    let Some(&last) = sides.last() else { continue };
                    let value = |step: usize| {
                        let value = predicted[step * outputs + output];
                        interface.normaliser.output_to_physical(output, value)
                    };
                    let rows: Vec<(f64, [f64; 2])> = (0..steps)
                        .map(value)
                        .zip(sides.into_iter().chain(std::iter::repeat(last)))
                        .collect();
                    band.centre[output] = rows.iter().map(|&(y, _)| y).collect();
                    band.lower[output] = rows.iter().map(|&(y, [below, _])| y - below).collect();
                    band.upper[output] = rows.iter().map(|&(y, [_, above])| y + above).collect();
                }
            }
        }
        Ok(found)
    }

    /// Predictions `horizon` samples ahead, each knowing the measured outputs up to then; the first ones of a part, and all within
    /// a warm-up, are those of the free run. Samples and scoring are those of [`simulate`](Self::simulate).
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
        let plan = Plan {
            horizons: &[horizon.min(longest)],
            stride: 1,
            from_the_start: true,
        };
        let mut bands = self.bands_ahead(dataset, part, plan)?.swap_remove(0);
        for band in &mut bands {
            let end = (0..band.len()).find(|&step| !band.centre.iter().all(|output| output[step].is_finite()));
            let Band {
                lower, centre, upper, ..
            } = band;
            for (output, ((lower, centre), upper)) in lower.iter_mut().zip(&mut *centre).zip(upper).enumerate() {
                let horizons = self.interface().horizons.as_ref();
                let scale = horizons.map_or(1.0, |scales| scales.at(horizon, output));
                if let Some(end) = end {
                    [&mut *lower, &mut *centre, &mut *upper]
                        .into_iter()
                        .for_each(|values| values.truncate(end));
                }
                for ((lower, &mut y), upper) in lower.iter_mut().zip(centre).zip(upper) {
                    (*lower, *upper) = (y - scale * (y - *lower), y + scale * (*upper - y));
                }
            }
            band.diverged_at = match band.is_empty() {
                true => Some(0),
                false => end,
            };
        }
        Ok(self.limited(self.with_its_trend(recorded, bands)))
    }

    /// Predictions at all horizons whose bands are sized ([`horizon_scales`]), from some of the samples of `part`, with the sides of the free run's
    /// band; not a number at samples without one. The first samples of a run, which are not as far from the end of its warm-up, have none.
    ///
    /// # Errors
    /// [`ModelError::NotStepwise`] for the Bayesian, dropout and deep-ensemble baselines; if the data have other channels or the part is too
    /// short.
    pub fn sample_ahead(&self, dataset: &Dataset, part: &Part) -> Result<Vec<(usize, Vec<Band>)>> {
        self.sampled(&*self.level(dataset)?, part, MOST_ORIGINS_OF_A_STRETCH)
    }

    fn sampled(&self, level: &Dataset, part: &Part, origins: usize) -> Result<Vec<(usize, Vec<Band>)>> {
        let plan = Plan {
            horizons: &HORIZONS,
            stride: part.samples().div_ceil(origins).max(1),
            from_the_start: false,
        };
        let bands = self.bands_ahead(level, part, plan)?;
        Ok(HORIZONS.into_iter().zip(bands).collect())
    }

    /// The same model with bands some samples ahead as held-out stretches sized them; none leaves the free run's width.
    ///
    /// # Errors
    /// If they are of another number of outputs or have values out of range.
    pub fn with_horizon_scales(mut self, horizons: Option<HorizonScales>) -> Result<Self> {
        if let Some(horizons) = &horizons {
            horizons
                .check(self.interface().outputs.len())
                .map_err(|reason| ModelError::option("horizons", reason, "sound factors per output"))?;
        }
        self.set_horizons(horizons);
        Ok(self)
    }

    /// The same model knowing how its band shrinks a few samples after a measurement: what held-out stretches said, where it knows that already, else from
    /// the data it was fitted to; without that knowledge where it cannot run step by step, or hardly any sample can be judged.
    ///
    /// # Errors
    /// If the data have other channels or the part is too short.
    pub fn with_horizons(mut self, dataset: &Dataset, part: &Part) -> Result<Self> {
        if self.interface().horizons.is_none() {
            self.set_horizons(self.learn_horizons(dataset, part)?);
        }
        Ok(self)
    }

    fn learn_horizons(&self, dataset: &Dataset, part: &Part) -> Result<Option<HorizonScales>> {
        let dataset = &*self.level(dataset)?;
        let sampled = match self.sampled(dataset, part, MOST_ORIGINS) {
            Err(ModelError::NotStepwise { .. }) => return Ok(None),
            sampled => sampled?,
        };
        let outputs = self.interface().outputs.len();
        // All of it as one stretch.
        let stretch = |bands: &[Band]| -> Result<Vec<Vec<BlockScores>>> {
            let of = |output: usize| Ok(vec![BlockScores::of(&align(dataset, bands, output)?)]);
            (0..outputs).map(of).collect()
        };
        let free = stretch(&self.simulate_unlimited(dataset, part)?)?;
        let ahead = sampled.into_iter().map(|(horizon, bands)| {
            Ok(AheadScores {
                horizon,
                blocks: stretch(&bands)?,
                cuts: Vec::new(),
            })
        });
        let ahead = ahead.collect::<Result<Vec<AheadScores>>>()?;
        let floors: Vec<f64> = (0..outputs)
            .map(|output| self.interface().least_half_width(output))
            .collect();
        Ok(horizon_scales((&free, &[]), &ahead, &floors, self.config().coverage))
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
                    assert!(
                        (far.centre[output][step] - free.centre[output][step]).abs() < 1e-12,
                        "{recipe:?}"
                    );
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
            // The last is where a prediction is taken for a free run.
            let looked_at = &known[..known.len() - 1];
            assert!(
                looked_at.starts_with(&[1, 2, 5]) && looked_at.iter().all(|&horizon| horizon < 50),
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
            let first = model
                .config()
                .initial
                .first_start(model.config().lags)
                .max(needs.outputs - 1)
                + 1;
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
