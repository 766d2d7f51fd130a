//! True interval recursion for analysis: outputs and states fed back as intervals (docs/method.md, section 3).

use intervalid_data::{DIVERGED, Dataset, Part, PastOutput, PastOutputs, Window};
use intervalid_interval::Real;
use intervalid_interval::kernel::{IntervalWeights, fill_channels, padded, product, sigmoid, tanh};

use crate::band::prediction::Band;
use crate::error::{ModelError, Result};
use crate::family::body::Fitted;
use crate::family::interval::IntervalNetwork;
use crate::network::{NetworkKind, Stepper, TILE};
use crate::simulate::free_run::FreeRun;
use crate::simulate::recursion_maps::MapsRecursion;

/// What the interval branch feeds back to itself (docs/method.md, section 3).
///
/// Bounds of a network that feeds intervals back contain all free runs of the networks inside the margins, each on its
/// *own* outputs and states (in exact arithmetic; here up to rounding). They widen with every step and may diverge, so
/// they are for analysis. A model's calibration applies to all modes alike; it was found for `Recentred`, the band of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecursionMode {
    /// Nothing: each step starts from the crisp regressor and the crisp states, as in training. The band of
    /// [`Model::simulate`](crate::Model::simulate).
    #[default]
    Recentred,
    /// The bounds at sample k are those of an interval recursion of n ≥ 1 steps that starts from the crisp regressor and
    /// states n-1 steps earlier (or at the start of the record, if that is later). So `KStep(1)` is `Recentred`,
    /// `KStep(n)` for n at least the length of the record is `Full`, and the bounds widen with n.
    KStep(usize),
    /// Everything: one interval recursion from the start of the record. Measured outputs that the initial state knows
    /// (docs/method.md, section 2) stay crisp.
    Full,
}

impl<T: Real> Fitted<'_, IntervalNetwork<T>> {
    /// Free runs whose bounds come from an interval recursion.
    pub(crate) fn simulate_with(&self, dataset: &Dataset, part: &Part, mode: RecursionMode) -> Result<Vec<Band>> {
        let start = (self.body.architecture.lags, self.config.initial);
        let (scaled, windows) = self.interface.runs(dataset, part, start)?;
        let horizon = match mode {
            RecursionMode::Recentred => return Ok(self.simulate(&scaled, &windows)),
            RecursionMode::KStep(0) => return Err(ModelError::option("k_step", 0, "at least one step")),
            RecursionMode::KStep(steps) => steps,
            RecursionMode::Full => usize::MAX,
        };
        let mut stepper = Stepper::new(&self.body.architecture, &self.body.theta);
        let mut recursion = Recursion::new(self.body);
        let mut bands = Vec::with_capacity(windows.len());
        for window in windows {
            let mut run = FreeRun::new(&self.body.architecture, window, self.config.initial);
            run.simulate(&mut stepper, &self.body.architecture, &scaled, self.config.initial);
            recursion.bound(*self, &mut run, window, horizon);
            bands.push(self.band(&run, window));
        }
        Ok(bands)
    }
}

/// Bounds `[channel][width]`, lower and upper.
pub(super) type Bounds<T> = [Vec<T>; 2];

/// The interval network on interval inputs, with the values of the tile at hand.
struct Recursion<T> {
    /// Layers or cells; none in a state-space model.
    layers: Vec<RecursionLayer<T>>,
    maps: Option<MapsRecursion<T>>,
    linear: Option<IntervalWeights<T>>,
    residual: bool,
    x: Bounds<T>,
    y: Bounds<T>,
    /// The last n_y outputs; step r is at r mod n_y.
    past: Vec<Bounds<T>>,
    width: usize,
}

/// One layer or cell.
struct RecursionLayer<T> {
    weight: IntervalWeights<T>,
    /// Only in cells.
    recurrent: Option<IntervalWeights<T>>,
    bias: Bounds<T>,
    /// Output of the affine map; activated in place.
    values: Bounds<T>,
    /// States of a cell, before the step and after; `h` is what the next layer reads.
    h: Bounds<T>,
    c: Bounds<T>,
    scratch: Bounds<T>,
}

impl<T: Real> Recursion<T> {
    fn new(model: &IntervalNetwork<T>) -> Self {
        let layout = model.architecture.layout();
        let parameters = model.interval_parameters();
        let (lower, upper) = (&parameters.lower, &parameters.upper);
        let weights = |range: &core::ops::Range<usize>, out: usize| {
            let inner = range.len() / out;
            IntervalWeights::new(&lower[range.clone()], &upper[range.clone()], out, inner)
        };
        let pair = || [Vec::new(), Vec::new()];
        let layers = layout.layers.iter().map(|layer| RecursionLayer {
            weight: weights(&layer.weight, layer.out),
            recurrent: (!layer.recurrent.is_empty()).then(|| weights(&layer.recurrent, layer.out)),
            bias: [lower[layer.bias.clone()].to_vec(), upper[layer.bias.clone()].to_vec()],
            values: pair(),
            h: pair(),
            c: pair(),
            scratch: pair(),
        });
        let linear = (!layout.linear.is_empty()).then(|| weights(&layout.linear, model.architecture.outputs));
        Self {
            layers: layers.collect(),
            maps: layout.maps.as_ref().map(|maps| MapsRecursion::new(maps, &parameters)),
            residual: linear.is_none() && model.architecture.kind == NetworkKind::Node,
            linear,
            x: pair(),
            y: pair(),
            past: (0..model.architecture.lags.ny).map(|_| pair()).collect(),
            width: 0,
        }
    }

    fn reserve(&mut self, model: &IntervalNetwork<T>, width: usize) {
        let resize = |bounds: &mut Bounds<T>, channels: usize| {
            for side in bounds {
                side.resize(channels * width, T::zero());
            }
        };
        self.width = width;
        resize(&mut self.x, model.architecture.regressor_len());
        for outputs in self.past.iter_mut().chain([&mut self.y]) {
            resize(outputs, model.architecture.outputs);
        }
        if let Some(maps) = &mut self.maps {
            maps.reserve(model.architecture.inputs, width);
        }
        for layer in &mut self.layers {
            let out = layer.bias[0].len();
            resize(&mut layer.values, out);
            if layer.recurrent.is_some() {
                for bounds in [&mut layer.h, &mut layer.c, &mut layer.scratch] {
                    resize(bounds, out / 4);
                }
            }
        }
    }

    /// Fills the bounds of a run, and ends it where a width passes the limit.
    ///
    /// Starts 0, 1, … K-n run n steps each, many at once as samples of a tile: the first one gives the bounds of its n
    /// samples, every other one that of its last.
    fn bound(&mut self, model: Fitted<'_, IntervalNetwork<T>>, run: &mut FreeRun<T>, window: Window, horizon: usize) {
        let outputs = model.body.architecture.outputs;
        let steps = run.diverged_at.unwrap_or(run.y.len() / outputs);
        let horizon = horizon.min(steps);
        let starts = steps + 1 - horizon.max(1);
        let mut end = steps;
        let mut first = 0;
        while first < starts.min(end) {
            let lanes = (starts - first).min(TILE);
            self.reserve(model.body, padded(lanes));
            self.start(run, first, lanes);
            let mut alive = vec![true; lanes];
            for since in 0..horizon {
                self.write_regressors(model, run, window, first, lanes, since);
                self.step();
                for (lane, alive) in alive.iter_mut().enumerate() {
                    let step = first + lane + since;
                    *alive &= self.take(run, step, lane);
                    let wanted = since + 1 == horizon || first + lane == 0;
                    if !*alive {
                        // This start's own sample is lost, and with the first start all that follow.
                        end = end.min(if first + lane == 0 {
                            step
                        } else {
                            first + lane + horizon - 1
                        });
                    } else if wanted {
                        for output in 0..outputs {
                            let (at, from) = (step * outputs + output, output * self.width + lane);
                            run.lower[at] = self.y[0][from];
                            run.upper[at] = self.y[1][from];
                        }
                    }
                }
                if !alive.contains(&true) {
                    break;
                }
                let slot = since % self.past.len();
                core::mem::swap(&mut self.past[slot], &mut self.y);
            }
            first += lanes;
        }
        if end < steps {
            run.diverged_at = Some(end);
        }
    }

    /// Crisp states before each start.
    fn start(&mut self, run: &FreeRun<T>, first: usize, lanes: usize) {
        if let Some(maps) = &mut self.maps {
            maps.start(&run.frames, first, lanes);
        }
        let (width, from) = (self.width, run.frames.width);
        for (layer, kept) in self.layers.iter_mut().zip(&run.frames.states) {
            for (bounds, tiles) in [(&mut layer.h, &kept.h), (&mut layer.c, &kept.c)] {
                for lane in 0..lanes {
                    let (tile, column) = ((first + lane) / from, (first + lane) % from);
                    for row in 0..kept.size {
                        let value = tiles[(tile * kept.size + row) * from + column];
                        bounds[0][row * width + lane] = value;
                        bounds[1][row * width + lane] = value;
                    }
                }
            }
        }
    }

    /// x(k) of each lane, `since` steps after its start: the crisp regressor, but for outputs predicted since.
    fn write_regressors(
        &mut self,
        model: Fitted<'_, IntervalNetwork<T>>,
        run: &FreeRun<T>,
        window: Window,
        first: usize,
        lanes: usize,
        since: usize,
    ) {
        let (width, from) = (self.width, run.frames.width);
        let lags = model.body.architecture.lags;
        let regressor = model.body.architecture.regressor();
        let sources = PastOutputs::of_run(window, lags, model.config.initial);
        for lane in 0..lanes {
            let step = first + lane + since;
            let frame = run.frames.x(step / from);
            for (row, values) in frame.chunks_exact(from).enumerate() {
                for side in &mut self.x {
                    side[row * width + lane] = values[step % from];
                }
            }
            for lag in 1..=lags.ny.min(since) {
                // Measured outputs of a warm-up stay what they are.
                let is_own = matches!(sources.source(window.start + 1 + step, lag), PastOutput::Predicted(_));
                if let Some(maps) = &mut self.maps {
                    maps.set_own(lane, is_own);
                }
                if !is_own {
                    continue;
                }
                let past = &self.past[(since - lag) % lags.ny];
                for (output, row) in regressor.output_rows(lag).enumerate() {
                    for (to, from) in self.x.iter_mut().zip(past) {
                        to[row * width + lane] = from[output * width + lane];
                    }
                }
            }
        }
    }

    /// One step of all lanes: x and the states to y and the next states.
    fn step(&mut self) {
        let width = self.width;
        if let Some(maps) = &mut self.maps {
            maps.step(&self.x, &mut self.y);
            return;
        }
        let last = self.layers.len() - 1;
        for index in 0..=last {
            let (before, rest) = self.layers.split_at_mut(index);
            let layer = &mut rest[0];
            let input = match before.last() {
                None => &self.x,
                Some(below) if below.recurrent.is_some() => &below.h,
                Some(below) => &below.values,
            };
            let [lower, upper] = &mut layer.values;
            fill_channels(&layer.bias[0], lower, width);
            fill_channels(&layer.bias[1], upper, width);
            layer.weight.forward_add(&input[0], &input[1], lower, upper, width);
            if let Some(recurrent) = &layer.recurrent {
                recurrent.forward_add(&layer.h[0], &layer.h[1], lower, upper, width);
                layer.advance();
            } else if index < last {
                tanh(lower);
                tanh(upper);
            }
        }
        for (to, from) in self.y.iter_mut().zip(&self.layers[last].values) {
            to.copy_from_slice(from);
        }
        if let Some(linear) = &self.linear {
            let [lower, upper] = &mut self.y;
            linear.forward_add(&self.x[0], &self.x[1], lower, upper, width);
        } else if self.residual {
            for (to, from) in self.y.iter_mut().zip(&self.x) {
                to.iter_mut().zip(from).for_each(|(to, &from)| *to += from);
            }
        }
    }

    /// Makes the bounds of a lane contain the point prediction to the last bit; whether their widths are reasonable.
    fn take(&mut self, run: &FreeRun<T>, step: usize, lane: usize) -> bool {
        let [lower, upper] = &mut self.y;
        let outputs = lower.len() / self.width;
        let limit = T::of(DIVERGED);
        let centre = &run.y[step * outputs..(step + 1) * outputs];
        let mut reasonable = true;
        for (output, &centre) in centre.iter().enumerate() {
            let at = output * self.width + lane;
            let width = upper[at] - lower[at];
            reasonable &= width <= limit;
            lower[at] = lower[at].min(centre);
            upper[at] = upper[at].max(centre);
        }
        reasonable
    }
}

impl<T: Real> RecursionLayer<T> {
    /// c ← f·c + i·q, h ← o·tanh c from the pre-activations [i, f, q, o] in `values`.
    fn advance(&mut self) {
        let n = self.h[0].len();
        for side in &mut self.values {
            let (gates, rest) = side.split_at_mut(2 * n);
            let (candidate, output) = rest.split_at_mut(n);
            sigmoid(gates);
            tanh(candidate);
            sigmoid(output);
        }
        let [values_lower, values_upper] = &self.values;
        let gate = |index: usize| {
            let range = index * n..(index + 1) * n;
            (&values_lower[range.clone()], &values_upper[range])
        };
        let [scratch_lower, scratch_upper] = &mut self.scratch;
        let [h_lower, h_upper] = &mut self.h;
        let [c_lower, c_upper] = &mut self.c;
        let (i, f, q, o) = (gate(0), gate(1), gate(2), gate(3));
        product(f.0, f.1, c_lower, c_upper, scratch_lower, scratch_upper);
        product(i.0, i.1, q.0, q.1, c_lower, c_upper);
        for (sum, kept) in [(&mut *c_lower, &*scratch_lower), (&mut *c_upper, &*scratch_upper)] {
            sum.iter_mut().zip(kept).for_each(|(sum, &kept)| *sum += kept);
        }
        scratch_lower.copy_from_slice(c_lower);
        scratch_upper.copy_from_slice(c_upper);
        tanh(scratch_lower);
        tanh(scratch_upper);
        product(o.0, o.1, scratch_lower, scratch_upper, h_lower, h_upper);
    }
}

#[cfg(test)]
mod tests;
