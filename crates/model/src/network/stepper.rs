//! One crisp sample after another: the free run of a whole record, without allocation per step.
//!
//! A single sample cannot fill the lanes of a tile, so here the channels do: weights are kept transposed and padded,
//! `[in][out padded]`, and a layer is one row times that matrix.

use intervalid_interval::Real;
use intervalid_interval::kernel::{matmul_add, padded, tanh};

use super::architecture::{Architecture, Base, NetworkKind};
use super::elementwise::{Cell, cell_forward, multiply};
use super::layout::{Layer, Layout};
use super::state_space_stepper::MapStepper;

/// Crisp network in stepping form.
#[derive(Clone, Debug)]
#[expect(private_interfaces, reason = "only this room looks inside")]
pub(crate) enum Stepper<T> {
    Layers(LayerStepper<T>),
    Maps(Box<MapStepper<T>>),
}

impl<T: Real> Stepper<T> {
    pub(crate) fn new(architecture: &Architecture, theta: &[T]) -> Self {
        match architecture.kind {
            NetworkKind::Node | NetworkKind::Lstm => Self::Layers(LayerStepper::new(architecture, theta)),
            NetworkKind::StateSpace => Self::Maps(Box::new(MapStepper::new(architecture, theta))),
        }
    }

    /// Sets the dropout masks of the next steps, one number per hidden channel from `draw`, layer by layer; state-space models
    /// have none.
    pub(crate) fn set_masks(&mut self, draw: impl FnMut() -> T) {
        if let Self::Layers(layers) = self {
            layers.set_masks(draw);
        }
    }

    fn cells(&self) -> &[CellState<T>] {
        match self {
            Self::Layers(layers) => &layers.cells,
            Self::Maps(maps) => &maps.cells,
        }
    }

    fn cells_mut(&mut self) -> &mut [CellState<T>] {
        match self {
            Self::Layers(layers) => &mut layers.cells,
            Self::Maps(maps) => &mut maps.cells,
        }
    }

    /// Zero states.
    pub(crate) fn reset(&mut self) {
        for cell in self.cells_mut() {
            cell.h.fill(T::zero());
            cell.c.fill(T::zero());
        }
    }

    /// h and c of each cell before the next step.
    pub(crate) fn states(&self) -> impl Iterator<Item = (&[T], &[T])> {
        self.cells()
            .iter()
            .map(|cell| (&cell.h[..cell.size], &cell.c[..cell.size]))
    }

    /// h and c of each cell, to be replaced.
    pub(crate) fn states_mut(&mut self) -> impl Iterator<Item = (&mut [T], &mut [T])> {
        self.cells_mut()
            .iter_mut()
            .map(|cell| (&mut cell.h[..cell.size], &mut cell.c[..cell.size]))
    }

    /// The read-out for a regressor: the predictions, and in a Gaussian head their s after them.
    pub(crate) fn step(&mut self, x: &[T]) -> &[T] {
        match self {
            Self::Layers(layers) => layers.step(x),
            Self::Maps(maps) => maps.step(x),
        }
    }
}

/// A network of layers or cells.
#[derive(Clone, Debug)]
pub(crate) struct LayerStepper<T> {
    architecture: Architecture,
    layers: Vec<Affine<T>>,
    cells: Vec<CellState<T>>,
    /// Transposed linear path; empty without one.
    linear: Vec<T>,
    output: Vec<T>,
    /// Dropout masks of the hidden layers, 0 or 1/keep rate, for the next step; no layers without dropout.
    masks: Vec<Vec<T>>,
}

/// A layer's weights in stepping form, and room for its output.
#[derive(Clone, Debug)]
struct Affine<T> {
    weight: Vec<T>,
    recurrent: Vec<T>,
    bias: Vec<T>,
    out: Vec<T>,
    /// Real (not padded) channels of the output, per gate.
    size: usize,
}

/// h and c of one cell, padded.
#[derive(Clone, Debug)]
pub(super) struct CellState<T> {
    pub(super) size: usize,
    pub(super) h: Vec<T>,
    c: Vec<T>,
    c_next: Vec<T>,
    tanh_c: Vec<T>,
    /// What dropout leaves of h for the next layer; unused without dropout.
    seen: Vec<T>,
}

impl<T: Real> LayerStepper<T> {
    fn new(architecture: &Architecture, theta: &[T]) -> Self {
        let layout = architecture.layout();
        let hidden = architecture.hidden.len();
        let gates = |index: usize| {
            if architecture.kind == NetworkKind::Lstm && index < hidden {
                4
            } else {
                1
            }
        };
        let layers = layout
            .layers
            .iter()
            .enumerate()
            .map(|(index, layer)| Affine::new(layer, theta, gates(index)))
            .collect();
        let cells = architecture.state_sizes().into_iter().map(CellState::new).collect();
        let linear = linear_transposed(architecture, &layout, theta);
        let output = vec![T::zero(); padded(architecture.readout_len())];
        Self {
            architecture: architecture.clone(),
            layers,
            cells,
            linear,
            output,
            masks: Vec::new(),
        }
    }

    fn set_masks(&mut self, mut draw: impl FnMut() -> T) {
        let hidden = &self.architecture.hidden;
        self.masks.resize(hidden.len(), Vec::new());
        for (mask, &size) in self.masks.iter_mut().zip(hidden) {
            mask.resize(size, T::zero());
            mask.iter_mut().for_each(|mask| *mask = draw());
        }
    }

    /// Size, h and c of each cell before the next step, h and c padded with zeros.
    pub(super) fn padded_states(&self) -> impl Iterator<Item = (usize, &[T], &[T])> {
        self.cells
            .iter()
            .map(|cell| (cell.size, cell.h.as_slice(), cell.c.as_slice()))
    }

    fn step(&mut self, x: &[T]) -> &[T] {
        let outputs = self.architecture.outputs;
        let hidden = self.layers.len() - 1;
        for index in 0..=hidden {
            let (before, rest) = self.layers.split_at_mut(index);
            let layer = &mut rest[0];
            let input = match (before.last(), self.cells.get(index.wrapping_sub(1))) {
                (None, _) => x,
                (Some(_), Some(below)) if self.masks.is_empty() => &below.h[..below.size],
                (Some(_), Some(below)) => &below.seen[..below.size],
                (Some(below), None) => &below.out[..below.size],
            };
            layer.out.copy_from_slice(&layer.bias);
            let width = layer.out.len();
            matmul_add(input, &layer.weight, &mut layer.out, width);
            match self.cells.get_mut(index) {
                Some(cell) => {
                    matmul_add(&cell.h[..cell.size], &layer.recurrent, &mut layer.out, width);
                    cell.advance(&mut layer.out);
                    if let Some(mask) = self.masks.get(index) {
                        cell.seen.copy_from_slice(&cell.h);
                        multiply(&mut cell.seen, mask);
                    }
                }
                None if index < hidden => {
                    tanh(&mut layer.out);
                    if let Some(mask) = self.masks.get(index) {
                        multiply(&mut layer.out, mask);
                    }
                }
                None => {}
            }
        }
        self.output.copy_from_slice(&self.layers[hidden].out);
        match self.architecture.base() {
            Base::Zero => {}
            Base::LastOutput => {
                for (y, &last) in self.output.iter_mut().zip(&x[..outputs]) {
                    *y += last;
                }
            }
            Base::Linear => {
                let width = self.output.len();
                matmul_add(x, &self.linear, &mut self.output, width);
            }
        }
        &self.output[..self.architecture.readout_len()]
    }
}

impl<T: Real> Affine<T> {
    /// Transposes a layer; the channels of each gate are padded on their own.
    fn new(layer: &Layer, theta: &[T], gates: usize) -> Self {
        let size = layer.out / gates;
        let width = padded(size);
        let place = |out: usize| out / size * width + out % size;
        let transposed = |weight: &[T], inner: usize| {
            let mut table = vec![T::zero(); inner * gates * width];
            for (index, &value) in weight.iter().enumerate() {
                let (out, input) = (index / inner, index % inner);
                table[input * gates * width + place(out)] = value;
            }
            table
        };
        let mut bias = vec![T::zero(); gates * width];
        for (out, &value) in theta[layer.bias.clone()].iter().enumerate() {
            bias[place(out)] = value;
        }
        let recurrent = &theta[layer.recurrent.clone()];
        Self {
            weight: transposed(&theta[layer.weight.clone()], layer.inner),
            recurrent: if recurrent.is_empty() {
                Vec::new()
            } else {
                transposed(recurrent, size)
            },
            out: vec![T::zero(); bias.len()],
            bias,
            size,
        }
    }
}

fn linear_transposed<T: Real>(architecture: &Architecture, layout: &Layout, theta: &[T]) -> Vec<T> {
    let (inner, width) = (architecture.regressor_len(), padded(architecture.readout_len()));
    let mut table = vec![T::zero(); if layout.linear.is_empty() { 0 } else { inner * width }];
    for (index, &value) in theta[layout.linear.clone()].iter().enumerate() {
        table[index % inner * width + index / inner] = value;
    }
    table
}

impl<T: Real> CellState<T> {
    pub(super) fn new(size: usize) -> Self {
        let zeros = vec![T::zero(); padded(size)];
        Self {
            size,
            h: zeros.clone(),
            c: zeros.clone(),
            c_next: zeros.clone(),
            tanh_c: zeros.clone(),
            seen: zeros,
        }
    }

    fn advance(&mut self, gates: &mut [T]) {
        let Self {
            h, c, c_next, tanh_c, ..
        } = self;
        cell_forward(Cell {
            gates,
            c_before: c,
            c: c_next,
            tanh_c,
            h,
        });
        core::mem::swap(c, c_next);
    }
}
