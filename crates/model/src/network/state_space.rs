//! State-space model: two maps, each a linear path with a small network beside it, and an observer (docs/method.md, section 3).
//!
//! x(k) = [A B]·z + W₂·tanh(W₁·z + b₁) + b_x + K·e, z = [x(k-1); u(k-1)], e = y(k-1) - ŷ(k-1)
//!
//! ŷ(k) = [C D]·z + V₂·tanh(V₁·z + c₁) + b_y, z = [x(k); u(k)]
//!
//! The regressor is y(k-1), u(k), u(k-1), the inputs later by the dead time. Where y(k-1) is the model's own prediction, e is zero
//! and nothing but the inputs drives the states; where it is measured, K draws them towards the measurements. So a warm-up is the
//! observer, and a free run needs no other step. Before the first step states and prediction are zero.

use intervalid_interval::Real;
use intervalid_interval::kernel::{
    affine, fill_channels, matmul_add, matmul_transposed, matmul_transposed_add, outer_add, sum_channels_add, tanh,
};

use super::architecture::Architecture;
use super::core::{Core, Place, TrajectoryAdjoint};
use super::elementwise::{add, tanh_backward};
use super::layout::{Layout, MapLayout, Maps};
use super::parameters::{IntervalAdjoint, IntervalParameters};
use super::tiles::Frames;

/// Matrices of [`Layout::crisp_input`].
pub(super) const STATE_INNER: usize = 0;
pub(super) const STATE_LINEAR: usize = 1;
pub(super) const OBSERVER: usize = 2;
/// Matrices of [`Layout::interval_input`].
pub(super) const STATE_OUTER: usize = 0;
pub(super) const OUTPUT_INNER: usize = 1;
pub(super) const OUTPUT_OUTER: usize = 2;
pub(super) const OUTPUT_LINEAR: usize = 3;

pub(crate) struct StateSpace<T> {
    maps: Maps,
    /// Rows of a regressor: outputs, and inputs of one tap.
    outputs: usize,
    inputs: usize,
    width: usize,
    state: Trace<T>,
    output: Trace<T>,
    /// e of every tile.
    innovation: Vec<T>,
    /// Adjoints of x(k-1) and ŷ(k-1) that the step at hand hands down.
    x_before: Vec<T>,
    y_before: Vec<T>,
    interval: Interval<T>,
}

/// What the passes through a map leave behind, tile by tile.
struct Trace<T> {
    map: MapLayout,
    /// z and the units' values.
    z: Vec<T>,
    units: Vec<T>,
    /// Adjoints of the result and of the units' pre-activations.
    delta: Vec<T>,
    unit_delta: Vec<T>,
    /// Adjoint of z, of the tile at hand.
    z_adjoint: Vec<T>,
}

/// Values of the interval branch on the tile at hand (lower, upper), and adjoints.
struct Interval<T> {
    /// [x(k-1); u(k-1)] and e, which are crisp.
    crisp: [Vec<T>; 2],
    crisp_adjoint: [Vec<T>; 2],
    /// Units of the state map, [x(k); u(k)], units of the output map.
    state_units: [Vec<T>; 2],
    z: [Vec<T>; 2],
    output_units: [Vec<T>; 2],
    state_unit_adjoint: [Vec<T>; 2],
    z_adjoint: [Vec<T>; 2],
    output_unit_adjoint: [Vec<T>; 2],
}

impl<T: Real> StateSpace<T> {
    pub(crate) fn new(architecture: &Architecture, layout: &Layout) -> Self {
        let maps = layout
            .maps
            .clone()
            .unwrap_or_else(|| unreachable!("the layout of a state-space model has maps"));
        let pair = || [Vec::new(), Vec::new()];
        Self {
            state: Trace::new(&maps.state),
            output: Trace::new(&maps.output),
            maps,
            outputs: architecture.outputs,
            inputs: architecture.inputs,
            width: 0,
            innovation: Vec::new(),
            x_before: Vec::new(),
            y_before: Vec::new(),
            interval: Interval {
                crisp: pair(),
                crisp_adjoint: pair(),
                state_units: pair(),
                z: pair(),
                output_units: pair(),
                state_unit_adjoint: pair(),
                z_adjoint: pair(),
                output_unit_adjoint: pair(),
            },
        }
    }

    /// The inputs of a regressor: u(k) and u(k-1).
    fn inputs<'a>(&self, x: &'a [T]) -> (&'a [T], &'a [T]) {
        x[self.outputs * self.width..].split_at(self.inputs * self.width)
    }
}

impl<T: Real> Trace<T> {
    fn new(map: &MapLayout) -> Self {
        Self {
            map: map.clone(),
            z: Vec::new(),
            units: Vec::new(),
            delta: Vec::new(),
            unit_delta: Vec::new(),
            z_adjoint: Vec::new(),
        }
    }

    fn reserve(&mut self, tiles: usize, width: usize) {
        let MapLayout {
            rows,
            width: inner,
            units,
            ..
        } = self.map;
        self.z.resize(tiles * inner * width, T::zero());
        self.z_adjoint.resize(inner * width, T::zero());
        self.delta.resize(tiles * rows * width, T::zero());
        for buffer in [&mut self.units, &mut self.unit_delta] {
            buffer.resize(tiles * units * width, T::zero());
        }
    }

    /// Puts z = [states; inputs] of a tile in place.
    fn set_z(&mut self, tile: usize, states: &[T], inputs: &[T]) {
        let len = states.len() + inputs.len();
        let z = &mut self.z[tile * len..(tile + 1) * len];
        z[..states.len()].copy_from_slice(states);
        z[states.len()..].copy_from_slice(inputs);
    }

    /// L·z + b + W₂·tanh(W₁·z + b₁) into `out`.
    fn forward(&mut self, theta: &[T], tile: usize, out: &mut [T], width: usize) {
        let map = &self.map;
        let z = &self.z[tile * map.width * width..(tile + 1) * map.width * width];
        affine(&theta[map.linear.clone()], &theta[map.bias.clone()], z, out, width);
        if map.units > 0 {
            let units = &mut self.units[tile * map.units * width..(tile + 1) * map.units * width];
            affine(
                &theta[map.inner.clone()],
                &theta[map.inner_bias.clone()],
                z,
                units,
                width,
            );
            tanh(units);
            matmul_add(&theta[map.outer.clone()], units, out, width);
        }
    }

    /// From the adjoint of the result, which stands in `delta`, to that of z.
    fn backward(&mut self, theta: &[T], tile: usize, width: usize) {
        let map = &self.map;
        let delta = &self.delta[tile * map.rows * width..(tile + 1) * map.rows * width];
        matmul_transposed(&theta[map.linear.clone()], delta, &mut self.z_adjoint, width);
        if map.units > 0 {
            let range = tile * map.units * width..(tile + 1) * map.units * width;
            let unit_delta = &mut self.unit_delta[range.clone()];
            matmul_transposed(&theta[map.outer.clone()], delta, unit_delta, width);
            tanh_backward(&self.units[range], unit_delta);
            matmul_transposed_add(&theta[map.inner.clone()], unit_delta, &mut self.z_adjoint, width);
        }
    }

    fn delta_mut(&mut self, tile: usize, width: usize) -> &mut [T] {
        let len = self.map.rows * width;
        &mut self.delta[tile * len..(tile + 1) * len]
    }

    fn gradient_add(&self, tiles: usize, gradient: &mut [T], width: usize) {
        let MapLayout {
            rows,
            width: inner,
            units,
            ..
        } = self.map;
        let (z, delta) = (&self.z[..tiles * inner * width], &self.delta[..tiles * rows * width]);
        outer_add(delta, z, &mut gradient[self.map.linear.clone()], rows, inner, width);
        sum_channels_add(delta, &mut gradient[self.map.bias.clone()], width);
        if units > 0 {
            let used = tiles * units * width;
            let (values, unit_delta) = (&self.units[..used], &self.unit_delta[..used]);
            outer_add(delta, values, &mut gradient[self.map.outer.clone()], rows, units, width);
            outer_add(
                unit_delta,
                z,
                &mut gradient[self.map.inner.clone()],
                units,
                inner,
                width,
            );
            sum_channels_add(unit_delta, &mut gradient[self.map.inner_bias.clone()], width);
        }
    }
}

/// Puts the states before a step to zero.
fn clear_states<T: Real>(frames: &mut Frames<T>, tile: usize) {
    let width = frames.width;
    for cell in &mut frames.states {
        let len = cell.size * width;
        cell.h[tile * len..(tile + 1) * len].fill(T::zero());
    }
}

/// e = y(k-1) - ŷ(k-1)
fn write_innovation<T: Real>(measured: &[T], predicted: &[T], to: &mut [T]) {
    for ((to, &measured), &predicted) in to.iter_mut().zip(measured).zip(predicted) {
        *to = measured - predicted;
    }
}

impl<T: Real> Core<T> for StateSpace<T> {
    fn reserve(&mut self, tiles: usize, width: usize) {
        self.width = width;
        self.state.reserve(tiles, width);
        self.output.reserve(tiles, width);
        self.innovation.resize(tiles * self.outputs * width, T::zero());
        self.x_before.resize(self.maps.state.rows * width, T::zero());
        self.y_before.resize(self.outputs * width, T::zero());
        let Maps { state, output, .. } = &self.maps;
        let sizes = [state.width, self.outputs];
        let crisp = self.interval.crisp.iter_mut().chain(&mut self.interval.crisp_adjoint);
        for (buffer, size) in crisp.zip(sizes.into_iter().cycle()) {
            buffer.resize(size * width, T::zero());
        }
        for (pair, size) in [
            (&mut self.interval.state_units, state.units),
            (&mut self.interval.state_unit_adjoint, state.units),
            (&mut self.interval.z, output.width),
            (&mut self.interval.z_adjoint, output.width),
            (&mut self.interval.output_units, output.units),
            (&mut self.interval.output_unit_adjoint, output.units),
        ] {
            pair.iter_mut()
                .for_each(|buffer| buffer.resize(size * width, T::zero()));
        }
    }

    fn step(&mut self, theta: &[T], frames: &mut Frames<T>, place: Place, y: &mut [T]) {
        let (width, tile) = (self.width, place.tile);
        if place.first {
            clear_states(frames, tile);
        }
        let (n, m) = (self.maps.state.rows * width, self.outputs * width);
        let x = frames.x(tile);
        let (now, past) = self.inputs(x);
        self.state.set_z(tile, frames.states[0].h(tile, width), past);
        let innovation = &mut self.innovation[tile * m..(tile + 1) * m];
        write_innovation(&x[..m], frames.states[1].h(tile, width), innovation);
        // x(k) goes straight to where the output map reads it.
        let len = n + now.len();
        let z = &mut self.output.z[tile * len..(tile + 1) * len];
        z[n..].copy_from_slice(now);
        self.state.forward(theta, tile, &mut z[..n], width);
        matmul_add(&theta[self.maps.observer.clone()], innovation, &mut z[..n], width);
        if !place.last {
            frames.states[0].h[(tile + 1) * n..(tile + 2) * n].copy_from_slice(&z[..n]);
        }
        self.output.forward(theta, tile, y, width);
        if !place.last {
            frames.states[1].h[(tile + 1) * m..(tile + 2) * m].copy_from_slice(y);
        }
    }

    fn step_back(
        &mut self,
        theta: &[T],
        _frames: &Frames<T>,
        place: Place,
        y_adjoint: &[T],
        extra: Option<&TrajectoryAdjoint<T>>,
        x_adjoint: &mut [T],
    ) {
        let (width, tile) = (self.width, place.tile);
        if place.last {
            self.x_before.fill(T::zero());
            self.y_before.fill(T::zero());
        }
        let delta = self.output.delta_mut(tile, width);
        delta.copy_from_slice(y_adjoint);
        add(delta, &self.y_before);
        self.output.backward(theta, tile, width);
        let n = self.x_before.len();
        let delta = self.state.delta_mut(tile, width);
        delta.copy_from_slice(&self.output.z_adjoint[..n]);
        add(delta, &self.x_before);
        // The innovation is y(k-1) - ŷ(k-1).
        let delta = &self.state.delta[tile * n..(tile + 1) * n];
        let observer = &theta[self.maps.observer.clone()];
        matmul_transposed(observer, delta, &mut self.y_before, width);
        add(x_adjoint, &self.y_before);
        self.y_before.iter_mut().for_each(|value| *value = -*value);
        self.state.backward(theta, tile, width);
        self.x_before.copy_from_slice(&self.state.z_adjoint[..n]);
        if place.first {
            return;
        }
        if let Some(extra) = extra {
            let m = self.y_before.len();
            add(&mut self.x_before, &extra.h[0][tile * n..(tile + 1) * n]);
            add(&mut self.y_before, &extra.h[1][tile * m..(tile + 1) * m]);
        }
    }

    fn gradient_add(&self, frames: &Frames<T>, gradient: &mut [T]) {
        let (tiles, width) = (frames.tiles, self.width);
        self.state.gradient_add(tiles, gradient, width);
        self.output.gradient_add(tiles, gradient, width);
        let (rows, columns) = (self.maps.state.rows, self.outputs);
        let delta = &self.state.delta[..tiles * rows * width];
        let innovation = &self.innovation[..tiles * columns * width];
        let observer = &mut gradient[self.maps.observer.clone()];
        outer_add(delta, innovation, observer, rows, columns, width);
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
        let x = frames.x(tile);
        let (now, past) = self.inputs(x);
        let Maps { state, output, .. } = &self.maps;
        let n = state.rows * width;
        let Interval {
            crisp: [before, innovation],
            state_units,
            z: [z_lower, z_upper],
            output_units,
            ..
        } = &mut self.interval;
        before[..n].copy_from_slice(frames.states[0].h(tile, width));
        before[n..].copy_from_slice(past);
        write_innovation(&x[..innovation.len()], frames.states[1].h(tile, width), innovation);
        z_lower[n..].copy_from_slice(now);
        z_upper[n..].copy_from_slice(now);
        let (x_lower, x_upper) = (&mut z_lower[..n], &mut z_upper[..n]);
        fill_channels(&parameters.lower[state.bias.clone()], x_lower, width);
        fill_channels(&parameters.upper[state.bias.clone()], x_upper, width);
        parameters.crisp[STATE_LINEAR].forward_add(before, x_lower, x_upper, width);
        parameters.crisp[OBSERVER].forward_add(innovation, x_lower, x_upper, width);
        if state.units > 0 {
            let [to_lower, to_upper] = state_units;
            fill_channels(&parameters.lower[state.inner_bias.clone()], to_lower, width);
            fill_channels(&parameters.upper[state.inner_bias.clone()], to_upper, width);
            parameters.crisp[STATE_INNER].forward_add(before, to_lower, to_upper, width);
            tanh(to_lower);
            tanh(to_upper);
            parameters.interval[STATE_OUTER].forward_add(to_lower, to_upper, x_lower, x_upper, width);
        }
        fill_channels(&parameters.lower[output.bias.clone()], lower, width);
        fill_channels(&parameters.upper[output.bias.clone()], upper, width);
        parameters.interval[OUTPUT_LINEAR].forward_add(z_lower, z_upper, lower, upper, width);
        if output.units > 0 {
            let [to_lower, to_upper] = output_units;
            fill_channels(&parameters.lower[output.inner_bias.clone()], to_lower, width);
            fill_channels(&parameters.upper[output.inner_bias.clone()], to_upper, width);
            parameters.interval[OUTPUT_INNER].forward_add(z_lower, z_upper, to_lower, to_upper, width);
            tanh(to_lower);
            tanh(to_upper);
            parameters.interval[OUTPUT_OUTER].forward_add(to_lower, to_upper, lower, upper, width);
        }
    }

    fn interval_backward(
        &mut self,
        parameters: &IntervalParameters<T>,
        _frames: &Frames<T>,
        tile: usize,
        lower_adjoint: &[T],
        upper_adjoint: &[T],
        adjoint: &mut IntervalAdjoint<T>,
        trajectory: &mut TrajectoryAdjoint<T>,
    ) {
        let width = self.width;
        let Maps { state, output, .. } = &self.maps;
        let n = state.rows * width;
        let values = &mut self.interval;
        let buffers = values.z_adjoint.iter_mut().chain(&mut values.crisp_adjoint);
        let units = values.state_unit_adjoint.iter_mut();
        for buffer in buffers.chain(units).chain(&mut values.output_unit_adjoint) {
            buffer.fill(T::zero());
        }
        let ([z_lower, z_upper], [to_lower, to_upper]) = (&values.z, &mut values.z_adjoint);
        sum_channels_add(lower_adjoint, &mut adjoint.lower[output.bias.clone()], width);
        sum_channels_add(upper_adjoint, &mut adjoint.upper[output.bias.clone()], width);
        if output.units > 0 {
            let [units_lower, units_upper] = &values.output_units;
            let [g_lower, g_upper] = &mut values.output_unit_adjoint;
            parameters.interval[OUTPUT_OUTER].backward_add(
                units_lower,
                units_upper,
                lower_adjoint,
                upper_adjoint,
                g_lower,
                g_upper,
                &mut adjoint.interval[OUTPUT_OUTER],
                width,
            );
            tanh_backward(units_lower, g_lower);
            tanh_backward(units_upper, g_upper);
            sum_channels_add(g_lower, &mut adjoint.lower[output.inner_bias.clone()], width);
            sum_channels_add(g_upper, &mut adjoint.upper[output.inner_bias.clone()], width);
            parameters.interval[OUTPUT_INNER].backward_add(
                z_lower,
                z_upper,
                g_lower,
                g_upper,
                to_lower,
                to_upper,
                &mut adjoint.interval[OUTPUT_INNER],
                width,
            );
        }
        parameters.interval[OUTPUT_LINEAR].backward_add(
            z_lower,
            z_upper,
            lower_adjoint,
            upper_adjoint,
            to_lower,
            to_upper,
            &mut adjoint.interval[OUTPUT_LINEAR],
            width,
        );
        let (x_lower, x_upper) = (&to_lower[..n], &to_upper[..n]);
        sum_channels_add(x_lower, &mut adjoint.lower[state.bias.clone()], width);
        sum_channels_add(x_upper, &mut adjoint.upper[state.bias.clone()], width);
        let ([before, innovation], [to_before, to_innovation]) = (&values.crisp, &mut values.crisp_adjoint);
        if state.units > 0 {
            let [units_lower, units_upper] = &values.state_units;
            let [g_lower, g_upper] = &mut values.state_unit_adjoint;
            parameters.interval[STATE_OUTER].backward_add(
                units_lower,
                units_upper,
                x_lower,
                x_upper,
                g_lower,
                g_upper,
                &mut adjoint.interval[STATE_OUTER],
                width,
            );
            tanh_backward(units_lower, g_lower);
            tanh_backward(units_upper, g_upper);
            sum_channels_add(g_lower, &mut adjoint.lower[state.inner_bias.clone()], width);
            sum_channels_add(g_upper, &mut adjoint.upper[state.inner_bias.clone()], width);
            let to = &mut adjoint.crisp[STATE_INNER];
            parameters.crisp[STATE_INNER].backward_add(before, g_lower, g_upper, to_before, to, width);
        }
        let to = &mut adjoint.crisp[STATE_LINEAR];
        parameters.crisp[STATE_LINEAR].backward_add(before, x_lower, x_upper, to_before, to, width);
        let to = &mut adjoint.crisp[OBSERVER];
        parameters.crisp[OBSERVER].backward_add(innovation, x_lower, x_upper, to_innovation, to, width);
        add(TrajectoryAdjoint::tile(&mut trajectory.h[0], tile, n), &to_before[..n]);
        let m = to_innovation.len();
        let regressor = (self.outputs + 2 * self.inputs) * width;
        add(
            TrajectoryAdjoint::tile(&mut trajectory.x, tile, regressor),
            to_innovation,
        );
        to_innovation.iter_mut().for_each(|value| *value = -*value);
        add(TrajectoryAdjoint::tile(&mut trajectory.h[1], tile, m), to_innovation);
    }
}
