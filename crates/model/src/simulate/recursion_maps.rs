//! The maps of a state-space model on intervals: states fed back as bounds (docs/method.md, section 3).

use intervalid_interval::Real;
use intervalid_interval::kernel::{IntervalWeights, fill_channels, tanh};

use super::recursion::Bounds;
use crate::network::{Frames, IntervalParameters, MapLayout, Maps};

/// Both maps and the observer, with the values of the tile at hand.
pub(super) struct MapsRecursion<T> {
    state: MapRecursion<T>,
    output: MapRecursion<T>,
    observer: IntervalWeights<T>,
    /// x(k-1), ŷ(k-1).
    states: Bounds<T>,
    predicted: Bounds<T>,
    innovation: Bounds<T>,
    /// Lanes whose y(k-1) is the model's own prediction: whatever that is, there is nothing to correct.
    is_own: Vec<bool>,
    width: usize,
}

struct MapRecursion<T> {
    rows: usize,
    inner: IntervalWeights<T>,
    inner_bias: Bounds<T>,
    outer: IntervalWeights<T>,
    linear: IntervalWeights<T>,
    bias: Bounds<T>,
    z: Bounds<T>,
    units: Bounds<T>,
}

fn pair<T>() -> Bounds<T> {
    [Vec::new(), Vec::new()]
}

fn resize<T: Real>(bounds: &mut Bounds<T>, len: usize) {
    for side in bounds {
        side.resize(len, T::zero());
    }
}

impl<T: Real> MapRecursion<T> {
    fn new(map: &MapLayout, parameters: &IntervalParameters<T>) -> Self {
        let (lower, upper) = (&parameters.lower, &parameters.upper);
        let of = |range: &core::ops::Range<usize>| [lower[range.clone()].to_vec(), upper[range.clone()].to_vec()];
        let weights = |range: &core::ops::Range<usize>, rows, columns| {
            IntervalWeights::new(&lower[range.clone()], &upper[range.clone()], rows, columns)
        };
        Self {
            rows: map.rows,
            inner: weights(&map.inner, map.units, map.width),
            inner_bias: of(&map.inner_bias),
            outer: weights(&map.outer, map.rows, map.units),
            linear: weights(&map.linear, map.rows, map.width),
            bias: of(&map.bias),
            z: pair(),
            units: pair(),
        }
    }

    fn reserve(&mut self, inputs: usize, width: usize) {
        resize(&mut self.z, inputs * width);
        resize(&mut self.units, self.inner_bias[0].len() * width);
    }

    /// z = [states; inputs]
    fn set_z(&mut self, states: &Bounds<T>, inputs: [&[T]; 2]) {
        for ((z, states), inputs) in self.z.iter_mut().zip(states).zip(inputs) {
            z[..states.len()].copy_from_slice(states);
            z[states.len()..].copy_from_slice(inputs);
        }
    }

    fn apply(&mut self, [lower, upper]: &mut Bounds<T>, width: usize) {
        fill_channels(&self.bias[0], lower, width);
        fill_channels(&self.bias[1], upper, width);
        self.linear.forward_add(&self.z[0], &self.z[1], lower, upper, width);
        let [units_lower, units_upper] = &mut self.units;
        if !units_lower.is_empty() {
            fill_channels(&self.inner_bias[0], units_lower, width);
            fill_channels(&self.inner_bias[1], units_upper, width);
            self.inner
                .forward_add(&self.z[0], &self.z[1], units_lower, units_upper, width);
            tanh(units_lower);
            tanh(units_upper);
            self.outer.forward_add(units_lower, units_upper, lower, upper, width);
        }
    }
}

impl<T: Real> MapsRecursion<T> {
    pub(super) fn new(maps: &Maps, parameters: &IntervalParameters<T>) -> Self {
        let (lower, upper) = (&parameters.lower, &parameters.upper);
        let observer = maps.observer.clone();
        let (states, outputs) = (maps.state.rows, maps.output.rows);
        Self {
            state: MapRecursion::new(&maps.state, parameters),
            output: MapRecursion::new(&maps.output, parameters),
            observer: IntervalWeights::new(&lower[observer.clone()], &upper[observer], states, outputs),
            states: pair(),
            predicted: pair(),
            innovation: pair(),
            is_own: Vec::new(),
            width: 0,
        }
    }

    pub(super) fn reserve(&mut self, inputs: usize, width: usize) {
        self.width = width;
        let (states, outputs) = (self.state.rows, self.output.rows);
        self.state.reserve(states + inputs, width);
        self.output.reserve(states + inputs, width);
        resize(&mut self.states, states * width);
        resize(&mut self.predicted, outputs * width);
        resize(&mut self.innovation, outputs * width);
        self.is_own.clear();
        self.is_own.resize(width, false);
    }

    /// Crisp states before each start.
    pub(super) fn start(&mut self, frames: &Frames<T>, first: usize, lanes: usize) {
        for (bounds, kept) in [&mut self.states, &mut self.predicted].into_iter().zip(&frames.states) {
            for lane in 0..lanes {
                let (tile, column) = ((first + lane) / frames.width, (first + lane) % frames.width);
                for row in 0..kept.size {
                    let value = kept.h[(tile * kept.size + row) * frames.width + column];
                    bounds[0][row * self.width + lane] = value;
                    bounds[1][row * self.width + lane] = value;
                }
            }
        }
    }

    /// Whether y(k-1) of a lane is the model's own.
    pub(super) fn set_own(&mut self, lane: usize, is_own: bool) {
        self.is_own[lane] = is_own;
    }

    /// One step of all lanes: regressor and states to y and the next states.
    pub(super) fn step(&mut self, x: &Bounds<T>, y: &mut Bounds<T>) {
        let width = self.width;
        let outputs = self.output.rows * width;
        // The difference of two intervals takes the other's far end.
        for (side, other) in [(0, 1), (1, 0)] {
            let measured = x[side][..outputs].iter().zip(&self.predicted[other]);
            for (at, (to, (&y, &predicted))) in self.innovation[side].iter_mut().zip(measured).enumerate() {
                *to = match self.is_own[at % width] {
                    true => T::zero(),
                    false => y - predicted,
                };
            }
        }
        let inputs = (x[0].len() - outputs) / 2;
        let tap = |side: usize, tap: usize| &x[side][outputs + tap * inputs..outputs + (tap + 1) * inputs];
        self.state.set_z(&self.states, [tap(0, 1), tap(1, 1)]);
        self.state.apply(&mut self.states, width);
        let [lower, upper] = &mut self.states;
        let [e_lower, e_upper] = &self.innovation;
        self.observer.forward_add(e_lower, e_upper, lower, upper, width);
        self.output.set_z(&self.states, [tap(0, 0), tap(1, 0)]);
        self.output.apply(y, width);
        for (to, from) in self.predicted.iter_mut().zip(y.iter()) {
            to.copy_from_slice(from);
        }
    }
}
