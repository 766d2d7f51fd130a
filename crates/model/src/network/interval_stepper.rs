//! Bounds of one sample after another, the interval twin of [`Stepper`](super::Stepper), without allocation per step.

use intervalid_interval::Real;
use intervalid_interval::kernel::{CentredColumns, IntervalRows, padded, tanh};

use super::architecture::{Architecture, Base, NetworkKind};
use super::elementwise::{IntervalCell, interval_cell_forward};
use super::parameters::IntervalParameters;
use super::state_space_stepper::MapIntervalStepper;
use super::stepper::{LayerStepper, Stepper};

/// Interval network in stepping form: bounds around each crisp step.
#[derive(Clone, Debug)]
#[expect(private_interfaces, reason = "only this room looks inside")]
pub(crate) enum IntervalStepper<T> {
    Layers(LayerIntervalStepper<T>),
    Maps(Box<MapIntervalStepper<T>>),
}

impl<T: Real> IntervalStepper<T> {
    pub(crate) fn new(architecture: &Architecture, parameters: &IntervalParameters<T>) -> Self {
        match architecture.kind {
            NetworkKind::Node | NetworkKind::Lstm => Self::Layers(LayerIntervalStepper::new(architecture, parameters)),
            NetworkKind::StateSpace => Self::Maps(Box::new(MapIntervalStepper::new(architecture, parameters))),
        }
    }

    /// Bounds of the outputs for a regressor and the states of `stepper`, of the same architecture, before its step.
    pub(crate) fn step(&mut self, x: &[T], stepper: &Stepper<T>) -> (&[T], &[T]) {
        match (self, stepper) {
            (Self::Layers(bounds), Stepper::Layers(stepper)) => bounds.step(x, stepper),
            (Self::Maps(bounds), Stepper::Maps(stepper)) => bounds.step(x, stepper),
            _ => unreachable!("a network and its bounds have one architecture"),
        }
    }
}

/// A network of layers or cells.
#[derive(Clone, Debug)]
pub(crate) struct LayerIntervalStepper<T> {
    outputs: usize,
    base: Base,
    layers: Vec<BoundedLayer<T>>,
    linear: Option<CentredColumns<T>>,
}

/// A layer's weights and room for its bounds (lower, upper), padded.
#[derive(Clone, Debug)]
struct BoundedLayer<T> {
    weights: Weights<T>,
    /// Of LSTM cells.
    recurrent: Option<CentredColumns<T>>,
    bias: [Vec<T>; 2],
    /// Pre-activations, then activations; of a cell, its gates.
    out: [Vec<T>; 2],
    tanh_c: [Vec<T>; 2],
    h: [Vec<T>; 2],
}

#[derive(Clone, Debug)]
enum Weights<T> {
    /// Of the first layer, whose input is crisp.
    Crisp(CentredColumns<T>),
    Interval(IntervalRows<T>),
}

impl<T: Real> LayerIntervalStepper<T> {
    fn new(architecture: &Architecture, parameters: &IntervalParameters<T>) -> Self {
        let layout = architecture.layout();
        let hidden = architecture.hidden.len();
        let layer = |(index, layer): (usize, &super::layout::Layer)| {
            let is_cell = architecture.kind == NetworkKind::Lstm && index < hidden;
            let groups = if is_cell { 4 } else { 1 };
            let (size, width) = (layer.out / groups, padded(layer.out / groups));
            let bias = |values: &[T]| {
                let mut bias = vec![T::zero(); groups * width];
                for (out, &value) in values[layer.bias.clone()].iter().enumerate() {
                    bias[out / size * width + out % size] = value;
                }
                bias
            };
            let room = |len: usize| [vec![T::zero(); len], vec![T::zero(); len]];
            BoundedLayer {
                weights: match index {
                    0 => Weights::Crisp(CentredColumns::new(&parameters.crisp[0], groups)),
                    _ => Weights::Interval(IntervalRows::new(&parameters.interval[index - 1], groups)),
                },
                recurrent: is_cell.then(|| CentredColumns::new(&parameters.crisp[1 + index], groups)),
                bias: [bias(&parameters.lower), bias(&parameters.upper)],
                out: room(groups * width),
                tanh_c: room(if is_cell { width } else { 0 }),
                h: room(if is_cell { width } else { 0 }),
            }
        };
        Self {
            outputs: architecture.outputs,
            base: architecture.base(),
            layers: layout.layers.iter().enumerate().map(layer).collect(),
            linear: parameters.linear().map(|weights| CentredColumns::new(weights, 1)),
        }
    }

    fn step(&mut self, x: &[T], stepper: &LayerStepper<T>) -> (&[T], &[T]) {
        let hidden = self.layers.len() - 1;
        let mut states = stepper.padded_states();
        for index in 0..=hidden {
            let (before, rest) = self.layers.split_at_mut(index);
            let BoundedLayer {
                weights,
                recurrent,
                bias,
                out,
                tanh_c,
                h,
            } = &mut rest[0];
            let [lower, upper] = out;
            lower.copy_from_slice(&bias[0]);
            upper.copy_from_slice(&bias[1]);
            match (weights, before.last()) {
                (Weights::Interval(weights), Some(below)) => {
                    let [from_lower, from_upper] = if below.recurrent.is_some() {
                        &below.h
                    } else {
                        &below.out
                    };
                    weights.forward_add(from_lower, from_upper, lower, upper);
                }
                (Weights::Crisp(weights), _) => weights.forward_add(x, lower, upper),
                (Weights::Interval(_), None) => unreachable!("the first layer's input is crisp"),
            }
            if let (Some(recurrent), Some((size, h_before, c_before))) = (recurrent, states.next()) {
                recurrent.forward_add(&h_before[..size], lower, upper);
                let ([tanh_lower, tanh_upper], [h_lower, h_upper]) = (tanh_c, h);
                interval_cell_forward(IntervalCell {
                    gates: [lower, upper],
                    c_before,
                    tanh_c: [tanh_lower, tanh_upper],
                    h: [h_lower, h_upper],
                });
            } else if index < hidden {
                tanh(lower);
                tanh(upper);
            }
        }
        let [lower, upper] = &mut self.layers[hidden].out;
        match (self.base, &self.linear) {
            (Base::LastOutput, _) => {
                let bounds = lower.iter_mut().zip(upper.iter_mut());
                for ((lower, upper), &last) in bounds.zip(&x[..self.outputs]) {
                    *lower += last;
                    *upper += last;
                }
            }
            (Base::Linear, Some(weights)) => weights.forward_add(x, lower, upper),
            _ => {}
        }
        (&lower[..self.outputs], &upper[..self.outputs])
    }
}
