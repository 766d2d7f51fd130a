//! LSTM: stacked cells with an affine read-out (docs/method.md, section 3).
//!
//! z = W·input + U·h₋₁ + b, gates i, f, o = σ(z), q = tanh(z), c = f·c₋₁ + i·q, h = o·tanh c; the next cell's input is h.

use intervalid_interval::Real;
use intervalid_interval::kernel::{
    affine, fill_channels, matmul_add, matmul_transposed, matmul_transposed_add, outer_add, sum_channels_add,
};

use super::core::{Core, Place, TrajectoryAdjoint};
use super::elementwise::{
    Cell, IntervalCell, IntervalCellValues, add, cell_backward, cell_forward, interval_cell_backward,
    interval_cell_forward, multiply,
};
use super::layout::{Layer, Layout};
use super::parameters::{IntervalAdjoint, IntervalParameters};
use super::tiles::Frames;

pub(crate) struct Lstm<T> {
    cells: Vec<CellBuffers<T>>,
    readout: Layer,
    /// Adjoint of the read-out, `[tile][output][width]`.
    readout_delta: Vec<T>,
    /// Adjoint of a cell's masked h, where there is dropout.
    passed: Vec<T>,
    width: usize,
}

/// One cell and what its passes leave behind.
struct CellBuffers<T> {
    layer: Layer,
    size: usize,
    /// Of every tile: activated gates, tanh c, h, and the adjoint of the pre-activations.
    gates: Vec<T>,
    tanh_c: Vec<T>,
    h: Vec<T>,
    deltas: Vec<T>,
    /// Of the tile at hand: c, and the adjoints of h and c that flow back.
    c: Vec<T>,
    h_adjoint: Vec<T>,
    c_adjoint: Vec<T>,
    /// Bounds on the tile at hand (lower, upper), and their adjoints.
    interval_gates: [Vec<T>; 2],
    interval_tanh: [Vec<T>; 2],
    interval_h: [Vec<T>; 2],
    interval_h_adjoint: [Vec<T>; 2],
    interval_deltas: [Vec<T>; 2],
}

impl<T: Real> Lstm<T> {
    pub(crate) fn new(layout: &Layout) -> Self {
        let (readout, cells) = layout
            .layers
            .split_last()
            .unwrap_or_else(|| unreachable!("a network has a read-out"));
        let pair = || [Vec::new(), Vec::new()];
        let cell = |layer: &Layer| CellBuffers {
            layer: layer.clone(),
            size: layer.out / 4,
            gates: Vec::new(),
            tanh_c: Vec::new(),
            h: Vec::new(),
            deltas: Vec::new(),
            c: Vec::new(),
            h_adjoint: Vec::new(),
            c_adjoint: Vec::new(),
            interval_gates: pair(),
            interval_tanh: pair(),
            interval_h: pair(),
            interval_h_adjoint: pair(),
            interval_deltas: pair(),
        };
        Self {
            cells: cells.iter().map(cell).collect(),
            readout: readout.clone(),
            readout_delta: Vec::new(),
            passed: Vec::new(),
            width: 0,
        }
    }
}

/// Adds Wᵀ·δ, behind the mask if there is one, to the adjoint of the h below.
fn pass_down<T: Real>(
    weight: &[T],
    delta: &[T],
    mask: Option<&[T]>,
    passed: &mut Vec<T>,
    h_adjoint: &mut [T],
    width: usize,
) {
    let Some(mask) = mask else {
        matmul_transposed_add(weight, delta, h_adjoint, width);
        return;
    };
    passed.clear();
    passed.resize(h_adjoint.len(), T::zero());
    matmul_transposed_add(weight, delta, passed, width);
    for ((to, &passed), &mask) in h_adjoint.iter_mut().zip(passed.iter()).zip(mask) {
        *to += passed * mask;
    }
}

impl<T: Real> CellBuffers<T> {
    fn reserve(&mut self, tiles: usize, width: usize) {
        let n = self.size * width;
        for buffer in [&mut self.gates, &mut self.deltas] {
            buffer.resize(tiles * 4 * n, T::zero());
        }
        for buffer in [&mut self.tanh_c, &mut self.h] {
            buffer.resize(tiles * n, T::zero());
        }
        for buffer in [&mut self.c, &mut self.h_adjoint, &mut self.c_adjoint] {
            buffer.resize(n, T::zero());
        }
        for buffer in self.interval_gates.iter_mut().chain(&mut self.interval_deltas) {
            buffer.resize(4 * n, T::zero());
        }
        let pairs = [
            &mut self.interval_tanh,
            &mut self.interval_h,
            &mut self.interval_h_adjoint,
        ];
        for buffer in pairs.into_iter().flatten() {
            buffer.resize(n, T::zero());
        }
    }

    fn h(&self, tile: usize, width: usize) -> &[T] {
        &self.h[tile * self.size * width..(tile + 1) * self.size * width]
    }
}

impl<T: Real> Core<T> for Lstm<T> {
    fn reserve(&mut self, tiles: usize, width: usize) {
        self.width = width;
        self.readout_delta.resize(tiles * self.readout.out * width, T::zero());
        for cell in &mut self.cells {
            cell.reserve(tiles, width);
        }
    }

    fn step(&mut self, theta: &[T], frames: &mut Frames<T>, place: Place, y: &mut [T]) {
        let (width, tile) = (self.width, place.tile);
        for index in 0..self.cells.len() {
            let (before, rest) = self.cells.split_at_mut(index);
            let cell = &mut rest[0];
            let n = cell.size * width;
            let input = match before.last() {
                None => frames.x(tile),
                Some(below) => below.h(tile, width),
            };
            let gates = &mut cell.gates[tile * 4 * n..(tile + 1) * 4 * n];
            let (weight, bias) = (&theta[cell.layer.weight.clone()], &theta[cell.layer.bias.clone()]);
            affine(weight, bias, input, gates, width);
            let states = &mut frames.states[index];
            if place.first {
                states.h[tile * n..(tile + 1) * n].fill(T::zero());
                states.c[tile * n..(tile + 1) * n].fill(T::zero());
            } else {
                matmul_add(
                    &theta[cell.layer.recurrent.clone()],
                    states.h(tile, width),
                    gates,
                    width,
                );
            }
            cell_forward(Cell {
                gates,
                c_before: states.c(tile, width),
                c: &mut cell.c,
                tanh_c: &mut cell.tanh_c[tile * n..(tile + 1) * n],
                h: &mut cell.h[tile * n..(tile + 1) * n],
            });
            if !place.last {
                states.h[(tile + 1) * n..(tile + 2) * n].copy_from_slice(&cell.h[tile * n..(tile + 1) * n]);
                states.c[(tile + 1) * n..(tile + 2) * n].copy_from_slice(&cell.c);
            }
            // Dropout is on what the next layer sees, not on the cell's memory.
            if let Some(mask) = frames.mask(index, tile) {
                multiply(&mut cell.h[tile * n..(tile + 1) * n], mask);
            }
        }
        if let Some(top) = self.cells.last() {
            let (weight, bias) = (&theta[self.readout.weight.clone()], &theta[self.readout.bias.clone()]);
            affine(weight, bias, top.h(tile, width), y, width);
        }
    }

    fn step_back(
        &mut self,
        theta: &[T],
        frames: &Frames<T>,
        place: Place,
        y_adjoint: &[T],
        extra: Option<&TrajectoryAdjoint<T>>,
        x_adjoint: &mut [T],
    ) {
        let (width, tile) = (self.width, place.tile);
        let len = y_adjoint.len();
        self.readout_delta[tile * len..(tile + 1) * len].copy_from_slice(y_adjoint);
        if place.last {
            for cell in &mut self.cells {
                cell.h_adjoint.fill(T::zero());
                cell.c_adjoint.fill(T::zero());
            }
        }
        if let Some(top) = self.cells.len().checked_sub(1) {
            let cell = &mut self.cells[top];
            let weight = &theta[self.readout.weight.clone()];
            let mask = frames.mask(top, tile);
            pass_down(weight, y_adjoint, mask, &mut self.passed, &mut cell.h_adjoint, width);
        }
        for index in (0..self.cells.len()).rev() {
            let (before, rest) = self.cells.split_at_mut(index);
            let cell = &mut rest[0];
            let n = cell.size * width;
            let deltas = &mut cell.deltas[tile * 4 * n..(tile + 1) * 4 * n];
            cell_backward(
                &cell.gates[tile * 4 * n..(tile + 1) * 4 * n],
                frames.states[index].c(tile, width),
                &cell.tanh_c[tile * n..(tile + 1) * n],
                &cell.h_adjoint,
                &mut cell.c_adjoint,
                deltas,
            );
            let weight = &theta[cell.layer.weight.clone()];
            match before.last_mut() {
                None => matmul_transposed_add(weight, deltas, x_adjoint, width),
                Some(below) => {
                    let mask = frames.mask(index - 1, tile);
                    pass_down(weight, deltas, mask, &mut self.passed, &mut below.h_adjoint, width);
                }
            }
            // From here on h_adjoint is that of h₋₁.
            if place.first {
                cell.h_adjoint.fill(T::zero());
            } else {
                matmul_transposed(&theta[cell.layer.recurrent.clone()], deltas, &mut cell.h_adjoint, width);
                if let Some(extra) = extra {
                    add(&mut cell.h_adjoint, &extra.h[index][tile * n..(tile + 1) * n]);
                    add(&mut cell.c_adjoint, &extra.c[index][tile * n..(tile + 1) * n]);
                }
            }
        }
    }

    fn gradient_add(&self, frames: &Frames<T>, gradient: &mut [T]) {
        let width = self.width;
        for (index, cell) in self.cells.iter().enumerate() {
            let Layer {
                out,
                inner,
                ref weight,
                ref recurrent,
                ref bias,
            } = cell.layer;
            let deltas = &cell.deltas[..frames.tiles * out * width];
            let input = if index == 0 {
                &frames.x
            } else {
                &self.cells[index - 1].h
            };
            outer_add(
                deltas,
                &input[..frames.tiles * inner * width],
                &mut gradient[weight.clone()],
                out,
                inner,
                width,
            );
            sum_channels_add(deltas, &mut gradient[bias.clone()], width);
            // The first step has no state before it.
            let (deltas, states) = (&deltas[out * width..], &frames.states[index].h[cell.size * width..]);
            outer_add(deltas, states, &mut gradient[recurrent.clone()], out, cell.size, width);
        }
        let Layer {
            out,
            inner,
            ref weight,
            ref bias,
            ..
        } = self.readout;
        let deltas = &self.readout_delta[..frames.tiles * out * width];
        if let Some(top) = self.cells.last() {
            let input = &top.h[..frames.tiles * inner * width];
            outer_add(deltas, input, &mut gradient[weight.clone()], out, inner, width);
        }
        sum_channels_add(deltas, &mut gradient[bias.clone()], width);
    }

    fn interval_forward(
        &mut self,
        parameters: &IntervalParameters<T>,
        frames: &Frames<T>,
        tile: usize,
        lower: &mut [T],
        upper: &mut [T],
    ) {
        let width = self.width;
        for index in 0..self.cells.len() {
            let (before, rest) = self.cells.split_at_mut(index);
            let cell = &mut rest[0];
            let layer = &cell.layer;
            let [to_lower, to_upper] = &mut cell.interval_gates;
            fill_channels(&parameters.lower[layer.bias.clone()], to_lower, width);
            fill_channels(&parameters.upper[layer.bias.clone()], to_upper, width);
            match before.last() {
                None => parameters.crisp[0].forward_add(frames.x(tile), to_lower, to_upper, width),
                Some(below) => {
                    let [from_lower, from_upper] = &below.interval_h;
                    parameters.interval[index - 1].forward_add(from_lower, from_upper, to_lower, to_upper, width);
                }
            }
            let states = &frames.states[index];
            parameters.crisp[1 + index].forward_add(states.h(tile, width), to_lower, to_upper, width);
            let [tanh_lower, tanh_upper] = &mut cell.interval_tanh;
            let [h_lower, h_upper] = &mut cell.interval_h;
            interval_cell_forward(IntervalCell {
                gates: [to_lower, to_upper],
                c_before: states.c(tile, width),
                tanh_c: [tanh_lower, tanh_upper],
                h: [h_lower, h_upper],
            });
        }
        fill_channels(&parameters.lower[self.readout.bias.clone()], lower, width);
        fill_channels(&parameters.upper[self.readout.bias.clone()], upper, width);
        if let (Some(top), Some(weights)) = (self.cells.last(), parameters.interval.last()) {
            weights.forward_add(&top.interval_h[0], &top.interval_h[1], lower, upper, width);
        }
    }

    fn interval_backward(
        &mut self,
        parameters: &IntervalParameters<T>,
        frames: &Frames<T>,
        tile: usize,
        lower_adjoint: &[T],
        upper_adjoint: &[T],
        adjoint: &mut IntervalAdjoint<T>,
        trajectory: &mut TrajectoryAdjoint<T>,
    ) {
        let width = self.width;
        sum_channels_add(lower_adjoint, &mut adjoint.lower[self.readout.bias.clone()], width);
        sum_channels_add(upper_adjoint, &mut adjoint.upper[self.readout.bias.clone()], width);
        let cells = self.cells.len();
        if let (Some(top), Some(weights)) = (self.cells.last_mut(), parameters.interval.last()) {
            let [to_lower, to_upper] = &mut top.interval_h_adjoint;
            to_lower.fill(T::zero());
            to_upper.fill(T::zero());
            let [h_lower, h_upper] = &top.interval_h;
            let readout = &mut adjoint.interval[cells - 1];
            weights.backward_add(
                h_lower,
                h_upper,
                lower_adjoint,
                upper_adjoint,
                to_lower,
                to_upper,
                readout,
                width,
            );
        }
        for index in (0..cells).rev() {
            let (before, rest) = self.cells.split_at_mut(index);
            let cell = &mut rest[0];
            let n = cell.size * width;
            let states = &frames.states[index];
            let values = IntervalCellValues {
                gates: [&cell.interval_gates[0], &cell.interval_gates[1]],
                c_before: states.c(tile, width),
                tanh_c: [&cell.interval_tanh[0], &cell.interval_tanh[1]],
            };
            let [delta_lower, delta_upper] = &mut cell.interval_deltas;
            interval_cell_backward(
                &values,
                [&cell.interval_h_adjoint[0], &cell.interval_h_adjoint[1]],
                TrajectoryAdjoint::tile(&mut trajectory.c[index], tile, n),
                [delta_lower, delta_upper],
            );
            let layer = &cell.layer;
            sum_channels_add(delta_lower, &mut adjoint.lower[layer.bias.clone()], width);
            sum_channels_add(delta_upper, &mut adjoint.upper[layer.bias.clone()], width);
            let h_adjoint = TrajectoryAdjoint::tile(&mut trajectory.h[index], tile, n);
            let h = states.h(tile, width);
            let to = &mut adjoint.crisp[1 + index];
            parameters.crisp[1 + index].backward_add(h, delta_lower, delta_upper, h_adjoint, to, width);
            match before.last_mut() {
                None => {
                    let x = frames.x(tile);
                    let x_adjoint = TrajectoryAdjoint::tile(&mut trajectory.x, tile, x.len());
                    parameters.crisp[0].backward_add(
                        x,
                        delta_lower,
                        delta_upper,
                        x_adjoint,
                        &mut adjoint.crisp[0],
                        width,
                    );
                }
                Some(below) => {
                    let [to_lower, to_upper] = &mut below.interval_h_adjoint;
                    to_lower.fill(T::zero());
                    to_upper.fill(T::zero());
                    let [h_lower, h_upper] = &below.interval_h;
                    parameters.interval[index - 1].backward_add(
                        h_lower,
                        h_upper,
                        delta_lower,
                        delta_upper,
                        to_lower,
                        to_upper,
                        &mut adjoint.interval[index - 1],
                        width,
                    );
                }
            }
        }
    }
}
