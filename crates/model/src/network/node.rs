//! NODE: hidden layers with tanh, an affine last layer (docs/method.md, section 3).
//!
//! aₗ = tanh(Wₗ·aₗ₋₁ + bₗ) with a₀ = x(k), output W·a + b. The residual y(k-1) is added outside.

use intervalid_interval::Real;
use intervalid_interval::kernel::{
    affine, fill_channels, matmul_transposed, matmul_transposed_add, outer_add, sum_channels_add, tanh,
};

use super::core::{Core, Place, TrajectoryAdjoint};
use super::elementwise::{masked_tanh_backward, multiply, tanh_backward};
use super::layout::{Layer, Layout};
use super::parameters::{IntervalAdjoint, IntervalParameters};
use super::tiles::Frames;

pub(crate) struct Node<T> {
    layers: Vec<Layer>,
    width: usize,
    /// Outputs of each hidden layer, `[tile][channel][width]`.
    activations: Vec<Vec<T>>,
    /// Adjoints of each layer's pre-activations, as `activations` (the last layer's included).
    deltas: Vec<Vec<T>>,
    /// Bounds of each hidden layer's outputs on the tile at hand, and their adjoints.
    bounds: Vec<[Vec<T>; 2]>,
    bound_adjoints: Vec<[Vec<T>; 2]>,
}

impl<T: Real> Node<T> {
    pub(crate) fn new(layout: &Layout) -> Self {
        let layers = layout.layers.clone();
        let hidden = layers.len() - 1;
        Self {
            width: 0,
            activations: vec![Vec::new(); hidden],
            deltas: vec![Vec::new(); hidden + 1],
            bounds: vec![[Vec::new(), Vec::new()]; hidden],
            bound_adjoints: vec![[Vec::new(), Vec::new()]; hidden],
            layers,
        }
    }
}

fn tile_of<T>(buffer: &[T], tile: usize, len: usize) -> &[T] {
    &buffer[tile * len..(tile + 1) * len]
}

fn tile_of_mut<T>(buffer: &mut [T], tile: usize, len: usize) -> &mut [T] {
    &mut buffer[tile * len..(tile + 1) * len]
}

impl<T: Real> Core<T> for Node<T> {
    fn reserve(&mut self, tiles: usize, width: usize) {
        self.width = width;
        for (layer, buffer) in self.layers.iter().zip(&mut self.activations) {
            buffer.resize(tiles * layer.out * width, T::zero());
        }
        for (layer, buffer) in self.layers.iter().zip(&mut self.deltas) {
            buffer.resize(tiles * layer.out * width, T::zero());
        }
        for (layer, pair) in self
            .layers
            .iter()
            .zip(self.bounds.iter_mut().zip(&mut self.bound_adjoints))
        {
            for buffer in pair.0.iter_mut().chain(pair.1) {
                buffer.resize(layer.out * width, T::zero());
            }
        }
    }

    fn step(&mut self, theta: &[T], frames: &mut Frames<T>, place: Place, y: &mut [T]) {
        let width = self.width;
        for (index, layer) in self.layers.iter().enumerate() {
            let (before, rest) = self.activations.split_at_mut(index);
            let is_hidden = !rest.is_empty();
            let input = match before.last() {
                None => frames.x(place.tile),
                Some(buffer) => tile_of(buffer, place.tile, layer.inner * width),
            };
            let output = match rest.first_mut() {
                Some(buffer) => tile_of_mut(buffer, place.tile, layer.out * width),
                None => &mut *y,
            };
            let (weight, bias) = (&theta[layer.weight.clone()], &theta[layer.bias.clone()]);
            affine(weight, bias, input, output, width);
            if is_hidden {
                tanh(output);
                if let Some(mask) = frames.mask(index, place.tile) {
                    multiply(output, mask);
                }
            }
        }
    }

    fn step_back(
        &mut self,
        theta: &[T],
        frames: &Frames<T>,
        place: Place,
        y_adjoint: &[T],
        _extra: Option<&TrajectoryAdjoint<T>>,
        x_adjoint: &mut [T],
    ) {
        let width = self.width;
        let last = self.layers.len() - 1;
        tile_of_mut(&mut self.deltas[last], place.tile, y_adjoint.len()).copy_from_slice(y_adjoint);
        for index in (1..=last).rev() {
            let layer = &self.layers[index];
            let (before, rest) = self.deltas.split_at_mut(index);
            let delta = tile_of(&rest[0], place.tile, layer.out * width);
            let below = tile_of_mut(&mut before[index - 1], place.tile, layer.inner * width);
            matmul_transposed(&theta[layer.weight.clone()], delta, below, width);
            let activations = tile_of(&self.activations[index - 1], place.tile, layer.inner * width);
            match frames.mask(index - 1, place.tile) {
                None => tanh_backward(activations, below),
                Some(mask) => masked_tanh_backward(activations, mask, below),
            }
        }
        let first = &self.layers[0];
        let delta = tile_of(&self.deltas[0], place.tile, first.out * width);
        matmul_transposed_add(&theta[first.weight.clone()], delta, x_adjoint, width);
    }

    fn gradient_add(&self, frames: &Frames<T>, gradient: &mut [T]) {
        for (index, layer) in self.layers.iter().enumerate() {
            let used = frames.tiles * self.width;
            let input = if index == 0 {
                &frames.x
            } else {
                &self.activations[index - 1]
            };
            let (input, delta) = (&input[..used * layer.inner], &self.deltas[index][..used * layer.out]);
            outer_add(
                delta,
                input,
                &mut gradient[layer.weight.clone()],
                layer.out,
                layer.inner,
                self.width,
            );
            sum_channels_add(delta, &mut gradient[layer.bias.clone()], self.width);
        }
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
        for (index, layer) in self.layers.iter().enumerate() {
            let (before, rest) = self.bounds.split_at_mut(index);
            let is_hidden = !rest.is_empty();
            let (to_lower, to_upper) = match rest.first_mut() {
                Some([lower, upper]) => (lower.as_mut_slice(), upper.as_mut_slice()),
                None => (&mut *lower, &mut *upper),
            };
            fill_channels(&parameters.lower[layer.bias.clone()], to_lower, width);
            fill_channels(&parameters.upper[layer.bias.clone()], to_upper, width);
            match before.last() {
                None => parameters.crisp[0].forward_add(frames.x(tile), to_lower, to_upper, width),
                Some([from_lower, from_upper]) => {
                    parameters.interval[index - 1].forward_add(from_lower, from_upper, to_lower, to_upper, width);
                }
            }
            if is_hidden {
                tanh(to_lower);
                tanh(to_upper);
            }
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
        for index in (0..self.layers.len()).rev() {
            let layer = &self.layers[index];
            let (before, rest) = self.bound_adjoints.split_at_mut(index);
            let (g_lower, g_upper) = match rest.first() {
                Some([lower, upper]) => (lower.as_slice(), upper.as_slice()),
                None => (lower_adjoint, upper_adjoint),
            };
            sum_channels_add(g_lower, &mut adjoint.lower[layer.bias.clone()], width);
            sum_channels_add(g_upper, &mut adjoint.upper[layer.bias.clone()], width);
            let Some([to_lower, to_upper]) = before.last_mut() else {
                let x = frames.x(tile);
                let x_adjoint = TrajectoryAdjoint::tile(&mut trajectory.x, tile, x.len());
                parameters.crisp[0].backward_add(x, g_lower, g_upper, x_adjoint, &mut adjoint.crisp[0], width);
                return;
            };
            let [from_lower, from_upper] = &self.bounds[index - 1];
            to_lower.fill(T::zero());
            to_upper.fill(T::zero());
            parameters.interval[index - 1].backward_add(
                from_lower,
                from_upper,
                g_lower,
                g_upper,
                to_lower,
                to_upper,
                &mut adjoint.interval[index - 1],
                width,
            );
            tanh_backward(from_lower, to_lower);
            tanh_backward(from_upper, to_upper);
        }
    }
}
