//! A state-space model one sample after another: the crisp step and its bounds (docs/method.md, section 3).

use intervalid_interval::Real;
use intervalid_interval::kernel::{CentredColumns, IntervalRows, matmul_add, padded, tanh};

use super::architecture::Architecture;
use super::layout::{MapLayout, Maps};
use super::parameters::IntervalParameters;
use super::state_space::{OBSERVER, OUTPUT_INNER, OUTPUT_LINEAR, OUTPUT_OUTER, STATE_INNER, STATE_LINEAR, STATE_OUTER};
use super::stepper::CellState;

fn maps_of(architecture: &Architecture) -> Maps {
    let maps = architecture.layout().maps;
    maps.unwrap_or_else(|| unreachable!("the layout of a state-space model has maps"))
}

/// Both maps and the observer in stepping form.
#[derive(Clone, Debug)]
pub(super) struct MapStepper<T> {
    inputs: usize,
    outputs: usize,
    state: Map<T>,
    output: Map<T>,
    observer: Vec<T>,
    innovation: Vec<T>,
    /// x(k-1) and ŷ(k-1), each in `h`.
    pub(super) cells: Vec<CellState<T>>,
}

/// A map with its weights transposed, `[in][out padded]`, and room for what a step computes.
#[derive(Clone, Debug)]
struct Map<T> {
    units: usize,
    inner: Vec<T>,
    inner_bias: Vec<T>,
    outer: Vec<T>,
    linear: Vec<T>,
    bias: Vec<T>,
    z: Vec<T>,
    unit_values: Vec<T>,
    out: Vec<T>,
}

/// `[rows, columns]` to `[columns][rows padded]`.
fn transposed<T: Real>(weight: &[T], rows: usize, columns: usize) -> Vec<T> {
    let width = padded(rows);
    let mut table = vec![T::zero(); columns * width];
    for (index, &value) in weight.iter().enumerate() {
        table[index % columns * width + index / columns] = value;
    }
    table
}

impl<T: Real> Map<T> {
    fn new(layout: &MapLayout, theta: &[T]) -> Self {
        let MapLayout { rows, width, units, .. } = *layout;
        let table = |range: &core::ops::Range<usize>, rows, columns| transposed(&theta[range.clone()], rows, columns);
        Self {
            units,
            inner: table(&layout.inner, units, width),
            inner_bias: table(&layout.inner_bias, units, 1),
            outer: table(&layout.outer, rows, units),
            linear: table(&layout.linear, rows, width),
            bias: table(&layout.bias, rows, 1),
            z: vec![T::zero(); width],
            unit_values: vec![T::zero(); padded(units)],
            out: vec![T::zero(); padded(rows)],
        }
    }

    fn set_z(&mut self, states: &[T], inputs: &[T]) {
        self.z[..states.len()].copy_from_slice(states);
        self.z[states.len()..].copy_from_slice(inputs);
    }

    /// L·z + b + W₂·tanh(W₁·z + b₁) into `out`.
    fn apply(&mut self) {
        self.out.copy_from_slice(&self.bias);
        let width = self.out.len();
        matmul_add(&self.z, &self.linear, &mut self.out, width);
        if self.units > 0 {
            self.unit_values.copy_from_slice(&self.inner_bias);
            let units = self.unit_values.len();
            matmul_add(&self.z, &self.inner, &mut self.unit_values, units);
            tanh(&mut self.unit_values);
            matmul_add(&self.unit_values[..self.units], &self.outer, &mut self.out, width);
        }
    }
}

impl<T: Real> MapStepper<T> {
    pub(super) fn new(architecture: &Architecture, theta: &[T]) -> Self {
        let maps = maps_of(architecture);
        let (states, outputs) = (architecture.states, architecture.outputs);
        Self {
            inputs: architecture.inputs,
            outputs,
            state: Map::new(&maps.state, theta),
            output: Map::new(&maps.output, theta),
            observer: transposed(&theta[maps.observer.clone()], states, outputs),
            innovation: vec![T::zero(); outputs],
            cells: vec![CellState::new(states), CellState::new(outputs)],
        }
    }

    /// The prediction for a regressor.
    pub(super) fn step(&mut self, regressor: &[T]) -> &[T] {
        let (measured, inputs) = regressor.split_at(self.outputs);
        let (now, past) = inputs.split_at(self.inputs);
        let [states, last] = self.cells.as_mut_slice() else {
            unreachable!("states and the last prediction")
        };
        for ((to, &measured), &predicted) in self.innovation.iter_mut().zip(measured).zip(&last.h) {
            *to = measured - predicted;
        }
        self.state.set_z(&states.h[..states.size], past);
        self.state.apply();
        let width = self.state.out.len();
        matmul_add(&self.innovation, &self.observer, &mut self.state.out, width);
        states.h.copy_from_slice(&self.state.out);
        self.output.set_z(&states.h[..states.size], now);
        self.output.apply();
        last.h.copy_from_slice(&self.output.out);
        &self.output.out[..self.outputs]
    }
}

/// Bounds around each crisp step.
#[derive(Clone, Debug)]
pub(super) struct MapIntervalStepper<T> {
    inputs: usize,
    outputs: usize,
    states: usize,
    state_inner: CentredColumns<T>,
    state_linear: CentredColumns<T>,
    observer: CentredColumns<T>,
    state_outer: IntervalRows<T>,
    output_inner: IntervalRows<T>,
    output_outer: IntervalRows<T>,
    output_linear: IntervalRows<T>,
    state_bias: Biases<T>,
    output_bias: Biases<T>,
    /// [x(k-1); u(k-1)] and the innovation.
    before: Vec<T>,
    innovation: Vec<T>,
    /// Lower and upper.
    state_units: [Vec<T>; 2],
    x: [Vec<T>; 2],
    z: [Vec<T>; 2],
    output_units: [Vec<T>; 2],
    y: [Vec<T>; 2],
}

/// Padded biases of a map, lower and upper.
#[derive(Clone, Debug)]
struct Biases<T> {
    inner: [Vec<T>; 2],
    outer: [Vec<T>; 2],
}

impl<T: Real> Biases<T> {
    fn new(layout: &MapLayout, parameters: &IntervalParameters<T>) -> Self {
        let sides = [&parameters.lower, &parameters.upper];
        Self {
            inner: sides.map(|side| transposed(&side[layout.inner_bias.clone()], layout.units, 1)),
            outer: sides.map(|side| transposed(&side[layout.bias.clone()], layout.rows, 1)),
        }
    }
}

impl<T: Real> MapIntervalStepper<T> {
    pub(super) fn new(architecture: &Architecture, parameters: &IntervalParameters<T>) -> Self {
        let Maps { state, output, .. } = maps_of(architecture);
        let columns = |index: usize| CentredColumns::new(&parameters.crisp[index], 1);
        let rows = |index: usize| IntervalRows::new(&parameters.interval[index], 1);
        let room = |len: usize| [vec![T::zero(); len], vec![T::zero(); len]];
        Self {
            inputs: architecture.inputs,
            outputs: architecture.outputs,
            states: architecture.states,
            state_inner: columns(STATE_INNER),
            state_linear: columns(STATE_LINEAR),
            observer: columns(OBSERVER),
            state_outer: rows(STATE_OUTER),
            output_inner: rows(OUTPUT_INNER),
            output_outer: rows(OUTPUT_OUTER),
            output_linear: rows(OUTPUT_LINEAR),
            state_bias: Biases::new(&state, parameters),
            output_bias: Biases::new(&output, parameters),
            before: vec![T::zero(); state.width],
            innovation: vec![T::zero(); output.rows],
            state_units: room(padded(state.units)),
            x: room(padded(state.rows)),
            z: room(output.width),
            output_units: room(padded(output.units)),
            y: room(padded(output.rows)),
        }
    }

    /// Bounds of the outputs for a regressor and the states of `stepper` before its step.
    pub(super) fn step(&mut self, regressor: &[T], stepper: &MapStepper<T>) -> (&[T], &[T]) {
        let (measured, inputs) = regressor.split_at(self.outputs);
        let (now, past) = inputs.split_at(self.inputs);
        let n = self.states;
        let [states, last] = stepper.cells.as_slice() else {
            unreachable!("states and the last prediction")
        };
        for ((to, &measured), &predicted) in self.innovation.iter_mut().zip(measured).zip(&last.h) {
            *to = measured - predicted;
        }
        self.before[..n].copy_from_slice(&states.h[..n]);
        self.before[n..].copy_from_slice(past);
        let [x_lower, x_upper] = &mut self.x;
        x_lower.copy_from_slice(&self.state_bias.outer[0]);
        x_upper.copy_from_slice(&self.state_bias.outer[1]);
        self.state_linear.forward_add(&self.before, x_lower, x_upper);
        self.observer.forward_add(&self.innovation, x_lower, x_upper);
        let [to_lower, to_upper] = &mut self.state_units;
        if !to_lower.is_empty() {
            to_lower.copy_from_slice(&self.state_bias.inner[0]);
            to_upper.copy_from_slice(&self.state_bias.inner[1]);
            self.state_inner.forward_add(&self.before, to_lower, to_upper);
            tanh(to_lower);
            tanh(to_upper);
            self.state_outer.forward_add(to_lower, to_upper, x_lower, x_upper);
        }
        for (z, x) in self.z.iter_mut().zip(&self.x) {
            z[..n].copy_from_slice(&x[..n]);
            z[n..].copy_from_slice(now);
        }
        let ([z_lower, z_upper], [lower, upper]) = (&self.z, &mut self.y);
        lower.copy_from_slice(&self.output_bias.outer[0]);
        upper.copy_from_slice(&self.output_bias.outer[1]);
        self.output_linear.forward_add(z_lower, z_upper, lower, upper);
        let [to_lower, to_upper] = &mut self.output_units;
        if !to_lower.is_empty() {
            to_lower.copy_from_slice(&self.output_bias.inner[0]);
            to_upper.copy_from_slice(&self.output_bias.inner[1]);
            self.output_inner.forward_add(z_lower, z_upper, to_lower, to_upper);
            tanh(to_lower);
            tanh(to_upper);
            self.output_outer.forward_add(to_lower, to_upper, lower, upper);
        }
        (&lower[..self.outputs], &upper[..self.outputs])
    }
}
