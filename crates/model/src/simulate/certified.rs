//! Certified prediction: the interval network in outward-rounded arithmetic ([`Enclosure`], docs/method.md, section 3).
//!
//! `Model::simulate` computes bounds in ordinary floating point, which is fast and may be off by rounding. Here the same
//! bounds are computed so that they contain the exact ones.

use intervalid_data::{Dataset, Part, Window};
use intervalid_interval::{Enclosure, EnclosureMatrix, IntervalError, Real};

use crate::error::{ModelError, Result};
use crate::family::body::Fitted;
use crate::family::interval::IntervalNetwork;
use crate::network::{Architecture, Layout, NetworkKind, Stepper};
use crate::simulate::certified_maps::CertifiedMaps;
use crate::simulate::free_run::FreeRun;

/// Certified bounds over consecutive samples of one experiment, in physical units.
///
/// **What is certified.** Take the regressor x(k) and the states before it (of an LSTM h(k-1) and c(k-1)) of the model's own free run, as the
/// numbers they are. Every network whose parameters lie in [θ - Δ_lo, θ + Δ_hi], evaluated from there in exact real
/// arithmetic with exact tanh and sigmoid and scaled with the stored mean and standard deviation, has its output at k
/// inside `bounds`. (The one assumption is that of [`Enclosure`]: `libm`'s elementary functions err by less than a unit
/// in the last place.)
///
/// **What is not.** That measurements lie inside (that is the model's claim, [`Band`](crate::Band), to be judged by
/// coverage); that a network from inside the margins which runs free on its *own* outputs stays inside
/// ([`RecursionMode::Full`](crate::RecursionMode::Full) is about that); that the free run itself is free of rounding.
#[derive(Clone, Debug, PartialEq)]
pub struct CertifiedBand {
    /// Index of the experiment.
    pub experiment: usize,
    /// Sample of the first prediction, from 0.
    pub first: usize,
    /// Unscored predictions at the start (warm-up).
    pub warmup: usize,
    /// Per output: the certified bounds. An end is infinite where double precision overflows.
    pub bounds: Vec<Vec<Enclosure>>,
    /// First step (from 0) at which the free run left every reasonable range; bounds end there.
    pub diverged_at: Option<usize>,
}

impl CertifiedBand {
    /// Predicted samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bounds.first().map_or(0, Vec::len)
    }

    /// Whether nothing was predicted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Real> Fitted<'_, IntervalNetwork<T>> {
    /// The bounds of a free run, certified.
    pub(crate) fn simulate_certified(&self, dataset: &Dataset, part: &Part) -> Result<Vec<CertifiedBand>> {
        let start = (self.body.architecture.lags, self.config.initial);
        let (scaled, windows) = self.interface.runs(dataset, part, start)?;
        let network = CertifiedNetwork::new(self.body).map_err(internal)?;
        let mut stepper = Stepper::new(&self.body.architecture, &self.body.theta);
        let mut bands = Vec::with_capacity(windows.len());
        for window in windows {
            let mut run = FreeRun::new(&self.body.architecture, window, self.config.initial);
            run.simulate(&mut stepper, &self.body.architecture, &scaled, self.config.initial);
            bands.push(self.certify(&network, &run, window).map_err(internal)?);
        }
        Ok(bands)
    }

    fn certify(
        &self,
        network: &CertifiedNetwork,
        run: &FreeRun<T>,
        window: Window,
    ) -> Result<CertifiedBand, IntervalError> {
        let outputs = self.body.architecture.outputs;
        let steps = run.diverged_at.unwrap_or(run.y.len() / outputs);
        let mut bounds = vec![Vec::with_capacity(steps); outputs];
        let mut frame = Frame::new(&self.body.architecture);
        let history = self.config.initial.looks_back();
        for step in history..steps {
            frame.take(run, step);
            let prediction = network.bounds(&frame)?;
            for ((bounds, bound), scale) in bounds
                .iter_mut()
                .zip(prediction)
                .zip(&self.interface.normaliser.outputs)
            {
                bounds.push(bound * scale.std + scale.mean);
            }
        }
        Ok(CertifiedBand {
            experiment: window.experiment,
            first: window.start + 1 + history,
            warmup: (run.warmup - history).min(steps),
            bounds,
            diverged_at: run.diverged_at.map(|step| step.saturating_sub(history)),
        })
    }
}

/// A model's numbers are finite and its shapes fit, so this does not happen; if it does, it is said.
fn internal(error: IntervalError) -> ModelError {
    ModelError::option("model", error, "finite parameters of matching shapes")
}

/// x(k), h(k-1) and c(k-1) of one step, as exact points.
struct Frame {
    x: Vec<Enclosure>,
    states: Vec<[Vec<Enclosure>; 2]>,
}

impl Frame {
    fn new(architecture: &Architecture) -> Self {
        let zeros = |len| vec![Enclosure::ZERO; len];
        let states = architecture.state_sizes().into_iter();
        Self {
            x: zeros(architecture.regressor_len()),
            states: states.map(|size| [zeros(size), zeros(size)]).collect(),
        }
    }

    fn take<T: Real>(&mut self, run: &FreeRun<T>, step: usize) {
        let width = run.frames.width;
        let (tile, lane) = (step / width, step % width);
        column(run.frames.x(tile), width, lane, &mut self.x);
        for ([h, c], kept) in self.states.iter_mut().zip(&run.frames.states) {
            column(kept.h(tile, width), width, lane, h);
            column(kept.c(tile, width), width, lane, c);
        }
    }
}

/// One sample of a tile. Nothing is known of a value beyond the model's precision.
fn column<T: Real>(tile: &[T], width: usize, lane: usize, to: &mut [Enclosure]) {
    for (to, row) in to.iter_mut().zip(tile.chunks_exact(width)) {
        *to = Enclosure::from_point(row[lane].as_f64()).unwrap_or(Enclosure::ENTIRE);
    }
}

/// θ̃ = [θ - Δ_lo, θ + Δ_hi], rounded outward.
enum CertifiedNetwork {
    Layers(CertifiedLayers),
    Maps(Box<CertifiedMaps>),
}

impl CertifiedNetwork {
    fn new<T: Real>(model: &IntervalNetwork<T>) -> Result<Self, IntervalError> {
        let values = |range: &core::ops::Range<usize>| -> Result<Vec<Enclosure>, IntervalError> {
            let parameter = |index: usize| {
                let (below, above) = (model.margin_lower[index], model.margin_upper[index]);
                Enclosure::from_margins(model.theta[index].as_f64(), below.as_f64(), above.as_f64())
            };
            range.clone().map(parameter).collect()
        };
        let layout = model.architecture.layout();
        Ok(match &layout.maps {
            Some(maps) => Self::Maps(Box::new(CertifiedMaps::new(maps, &model.architecture, values)?)),
            None => Self::Layers(CertifiedLayers::new(&layout, &model.architecture, values)?),
        })
    }

    /// Bounds of the outputs in normalised units.
    fn bounds(&self, frame: &Frame) -> Result<Vec<Enclosure>, IntervalError> {
        match self {
            Self::Layers(layers) => layers.bounds(frame),
            Self::Maps(maps) => maps.bounds(&frame.x, &frame.states[0][0], &frame.states[1][0]),
        }
    }
}

/// A network of layers or cells.
struct CertifiedLayers {
    layers: Vec<CertifiedLayer>,
    linear: Option<EnclosureMatrix>,
    residual: bool,
}

struct CertifiedLayer {
    weight: EnclosureMatrix,
    /// Only in cells.
    recurrent: Option<EnclosureMatrix>,
    bias: Vec<Enclosure>,
}

impl CertifiedLayers {
    fn new(
        layout: &Layout,
        architecture: &Architecture,
        values: impl Fn(&core::ops::Range<usize>) -> Result<Vec<Enclosure>, IntervalError>,
    ) -> Result<Self, IntervalError> {
        let mut layers = Vec::with_capacity(layout.layers.len());
        for layer in &layout.layers {
            let recurrent = match layer.recurrent.is_empty() {
                true => None,
                false => Some(EnclosureMatrix::new(
                    layer.out,
                    layer.out / 4,
                    values(&layer.recurrent)?,
                )?),
            };
            layers.push(CertifiedLayer {
                weight: EnclosureMatrix::new(layer.out, layer.inner, values(&layer.weight)?)?,
                recurrent,
                bias: values(&layer.bias)?,
            });
        }
        let (outputs, regressor) = (architecture.outputs, architecture.regressor_len());
        let linear = match architecture.linear_path {
            true => Some(EnclosureMatrix::new(outputs, regressor, values(&layout.linear)?)?),
            false => None,
        };
        Ok(Self {
            layers,
            residual: linear.is_none() && architecture.kind == NetworkKind::Node,
            linear,
        })
    }

    /// Bounds of the outputs in normalised units.
    fn bounds(&self, frame: &Frame) -> Result<Vec<Enclosure>, IntervalError> {
        let mut values = frame.x.clone();
        let last = self.layers.len().saturating_sub(1);
        for (index, layer) in self.layers.iter().enumerate() {
            values = layer.weight.affine(&values, &layer.bias)?;
            match (&layer.recurrent, frame.states.get(index)) {
                (Some(recurrent), Some([h, c])) => values = cell(&recurrent.affine(h, &values)?, c),
                _ if index < last => values.iter_mut().for_each(|value| *value = value.tanh()),
                _ => {}
            }
        }
        if let Some(linear) = &self.linear {
            values = linear.affine(&frame.x, &values)?;
        } else if self.residual {
            for (value, &before) in values.iter_mut().zip(&frame.x) {
                *value += before;
            }
        }
        Ok(values)
    }
}

/// h of one cell from its pre-activations [i, f, q, o] and c(k-1).
fn cell(gates: &[Enclosure], c_before: &[Enclosure]) -> Vec<Enclosure> {
    let size = c_before.len();
    let gate = |which: usize, index: usize| gates[which * size + index];
    let state = |index: usize| {
        let kept = gate(1, index).sigmoid() * c_before[index];
        let c = kept + gate(0, index).sigmoid() * gate(2, index).tanh();
        gate(3, index).sigmoid() * c.tanh()
    };
    (0..size).map(state).collect()
}

#[cfg(test)]
mod tests {
    use intervalid_data::free_run_windows;
    use rand::RngExt;

    use super::*;
    use crate::fixtures::{NaiveNetwork, TestModel, recipes};

    fn crisp_run<T: Real>(model: &TestModel<T>, dataset: &Dataset, part: &Part) -> FreeRun<T> {
        let scaled = model.interface.scale(dataset).expect("fits");
        let window =
            free_run_windows(dataset, part, model.architecture.lags, model.config.initial).expect("long enough")[0];
        let mut run = FreeRun::new(&model.architecture, window, model.config.initial);
        let mut stepper = Stepper::new(&model.architecture, &model.theta);
        run.simulate(&mut stepper, &model.architecture, &scaled, model.config.initial);
        run
    }

    /// Samples of a record that networks are drawn for.
    const SAMPLES: usize = 60;

    /// Draws for one sample of one recipe: two, or as many as make up what `INTERVALID_DRAWS` asks for, as `cargo xtask soak` does.
    fn draws(recipes: usize) -> usize {
        let wanted = std::env::var("INTERVALID_DRAWS").map(|text| text.parse::<usize>().expect("a number of draws"));
        wanted.map_or(2, |wanted| wanted.div_ceil(recipes * SAMPLES / 2))
    }

    #[test]
    fn sampled_networks_lie_inside_and_the_float_band_agrees() {
        let recipes = recipes(0.1);
        let (draws, mut drawn) = (draws(recipes.len()), 0_usize);
        for recipe in &recipes {
            let model = recipe.model::<f64>();
            let (dataset, part) = recipe.dataset(SAMPLES);
            let certified = &model.simulate_certified(&dataset, &part).expect("simulates")[0];
            let band = &model.simulate(&dataset, &part).expect("simulates")[0];
            assert_eq!(
                (certified.len(), certified.first, certified.warmup),
                (band.len(), band.first, band.warmup)
            );
            let run = crisp_run(&model, &dataset, &part);
            let mut frame = Frame::new(&model.architecture);
            let mut rng = recipe.rng();
            for step in 0..band.len() {
                for output in 0..recipe.outputs {
                    let bound = certified.bounds[output][step];
                    let (lower, upper) = (band.lower[output][step], band.upper[output][step]);
                    // Sums of at most 20 terms of magnitude about one, three layers deep.
                    let error = 200.0 * f64::EPSILON;
                    assert!((bound.inf() - lower).abs() <= error && (bound.sup() - upper).abs() <= error);
                    let ratio = bound.wid() / (upper - lower);
                    assert!((ratio - 1.0).abs() < 1e-10, "{recipe:?}: width ratio {ratio}");
                }
                frame.take(&run, step + recipe.initial.looks_back());
                let points = |values: &[Enclosure]| values.iter().map(|v| (v.inf(), v.inf())).collect::<Vec<_>>();
                for draw in 0..draws {
                    drawn += 1;
                    let network = NaiveNetwork::of(&model, |index| {
                        let share: f64 = rng.random_range(0.0..1.0);
                        // Every other network is a corner of the parameters' box.
                        let share = if draw % 2 == 1 { share.round() } else { share };
                        let below = model.theta[index] - model.margin_lower[index];
                        let value = below + share * (model.margin_lower[index] + model.margin_upper[index]);
                        (value, value)
                    });
                    let mut states: Vec<_> = frame.states.iter().map(|[h, c]| (points(h), points(c))).collect();
                    let sampled = network.step(&points(&frame.x), &mut states);
                    for (output, (value, _)) in sampled.into_iter().enumerate() {
                        let physical = model.interface.normaliser.output_to_physical(output, value);
                        let bound = certified.bounds[output][step];
                        // The sample's own rounding, and that of its parameters at the corners.
                        let slack = 50.0 * f64::EPSILON;
                        assert!(bound.inf() - slack <= physical && physical <= bound.sup() + slack);
                    }
                }
            }
        }
        if let Ok(wanted) = std::env::var("INTERVALID_DRAWS") {
            assert!(
                drawn >= wanted.parse().expect("a number of draws"),
                "only {drawn} draws"
            );
        }
    }

    #[test]
    fn single_precision_bands_agree_to_their_rounding() {
        for recipe in recipes(0.1) {
            let model = recipe.model::<f32>();
            let (dataset, part) = recipe.dataset(40);
            let certified = &model.simulate_certified(&dataset, &part).expect("simulates")[0];
            let band = &model.simulate(&dataset, &part).expect("simulates")[0];
            for output in 0..recipe.outputs {
                for (step, bound) in certified.bounds[output].iter().enumerate() {
                    // Activations err by 5e-7 and pass through at most two more layers.
                    let (lower, upper) = (band.lower[output][step], band.upper[output][step]);
                    assert!((bound.inf() - lower).abs() < 2e-5 && (bound.sup() - upper).abs() < 2e-5);
                }
            }
        }
    }

    #[test]
    fn zero_margins_certify_the_point_prediction_to_rounding() {
        for recipe in recipes(0.0) {
            let model = recipe.model::<f64>();
            let (dataset, part) = recipe.dataset(30);
            let certified = &model.simulate_certified(&dataset, &part).expect("simulates")[0];
            let band = &model.simulate(&dataset, &part).expect("simulates")[0];
            for output in 0..recipe.outputs {
                for (bound, &centre) in certified.bounds[output].iter().zip(&band.centre[output]) {
                    assert!(bound.wid() < 1e-12 && (bound.mid() - centre).abs() < 1e-12);
                }
            }
        }
    }
}
