//! Free runs of sixteen models side by side, in single precision, and the gradients of their errors.
//!
//! With a(k) the derivative of Σ w(k) (ŷ(k) - y(k))² by x(k): a(k) = (∂f/∂x)ᵀ a(k+1) + 2 w (∂g/∂x)ᵀ (ŷ - y). The derivatives by
//! θ are sums of (∂f/∂θ)ᵀ a(k+1) and 2 w (∂g/∂θ)ᵀ (ŷ - y).

use std::ops::Range;

use intervalid_interval::kernel::Vector;

use super::lane_products::{add_outer_products, add_product, add_sums, add_transposed_product};
use super::lanes::{Lane, MODELS, Models};
use super::levels::{Simd, per_level};
use super::map::Map;
use super::model::Shape;
use super::run::Run;

/// What the models run on: each lane has samples and weights of its own, all of one length.
#[derive(Clone, Debug)]
pub(crate) struct LaneData {
    pub(crate) len: usize,
    /// `[sample][input]`
    u: Vec<Models>,
    /// `[sample][output]`
    y: Vec<Models>,
    /// Weight of a sample's squared error.
    weight: Vec<Models>,
}

impl LaneData {
    /// `len` samples of a run from a start on in every lane, weighted by `weights[lane]`.
    ///
    /// # Panics
    /// If a lane has fewer than `len` samples or weights.
    pub(crate) fn new(stretches: &[(&Run, usize); MODELS], weights: &[Vec<f64>; MODELS], len: usize) -> Self {
        let (nu, ny) = (stretches[0].0.inputs(), stretches[0].0.outputs());
        let samples = 0..len;
        let rows = |channels: usize, value: &dyn Fn(&Run, usize, usize) -> f64| -> Vec<Models> {
            let places = samples
                .clone()
                .flat_map(|k| (0..channels).map(move |channel| (k, channel)));
            places
                .map(|(k, channel)| Lane(stretches.map(|(run, start)| value(run, start + k, channel) as f32)))
                .collect()
        };
        let weight = |k: usize| Lane(std::array::from_fn(|lane| weights[lane][k] as f32));
        Self {
            len,
            u: rows(nu, &|run, k, channel| run.u(k)[channel]),
            y: rows(ny, &|run, k, channel| run.y(k)[channel]),
            weight: samples.clone().map(weight).collect(),
        }
    }
}

/// Buffers of runs and their gradients.
#[derive(Clone, Debug)]
pub(crate) struct LaneTape {
    /// `[sample][x; u]`
    z: Vec<Models>,
    state_units: Vec<Models>,
    output_units: Vec<Models>,
    /// Weighted errors ŷ - y.
    errors: Vec<Models>,
    next: Vec<Models>,
    state_adjoint: Adjoint,
    output_adjoint: Adjoint,
    /// Σ weight · e²
    pub(crate) squares: Models,
    /// Derivatives of `squares` by θ, added up.
    pub(crate) gradient: Vec<Models>,
    /// Derivatives of `squares` by the first state; on the way back, by that of the step.
    pub(crate) x0_gradient: Vec<Models>,
}

impl LaneTape {
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            z: Vec::new(),
            state_units: Vec::new(),
            output_units: Vec::new(),
            errors: Vec::new(),
            next: vec![Models::ZERO; shape.states],
            state_adjoint: Adjoint::new(shape.state_map()),
            output_adjoint: Adjoint::new(shape.output_map()),
            squares: Models::ZERO,
            gradient: vec![Models::ZERO; shape.parameters()],
            x0_gradient: vec![Models::ZERO; shape.states],
        }
    }
}

/// States are held within this range, so that one diverging lane stays a number.
const RANGE: f32 = 1e3;

/// Steps whose gradients are added up together: sums then stay in registers instead of going through memory at every step.
const BLOCK: usize = 8;

per_level! {
    /// Runs all lanes over `data` from `x0`, adds to `tape.squares` and `tape.gradient`, and sets `tape.x0_gradient`: reverse mode
    /// through the whole run.
    pub(crate) fn run_and_differentiate(shape: Shape, theta: &[Models], x0: &[Models], data: &LaneData, tape: &mut LaneTape) = body in f32;
}

#[inline(always)]
fn body<V: Vector<f32>>(
    simd: Simd<V>,
    shape: Shape,
    theta: &[Models],
    x0: &[Models],
    data: &LaneData,
    tape: &mut LaneTape,
) {
    let (nx, nu, ny) = (shape.states, shape.inputs, shape.outputs);
    let nz = nx + nu;
    let (state_map, output_map) = (shape.state_map(), shape.output_map());
    let (state, output) = theta.split_at(state_map.parameters());
    tape.z.resize(data.len * nz, Models::ZERO);
    tape.state_units.resize(data.len * shape.state_hidden, Models::ZERO);
    tape.output_units.resize(data.len * shape.output_hidden, Models::ZERO);
    tape.errors.resize(data.len * ny, Models::ZERO);
    tape.next.copy_from_slice(x0);
    for k in 0..data.len {
        let z = &mut tape.z[k * nz..(k + 1) * nz];
        z[..nx].copy_from_slice(&tape.next);
        z[nx..].copy_from_slice(&data.u[k * nu..(k + 1) * nu]);
        let errors = &mut tape.errors[k * ny..(k + 1) * ny];
        let units = &mut tape.output_units[k * shape.output_hidden..(k + 1) * shape.output_hidden];
        forward(simd, output_map, output, z, units, errors);
        for (error, y) in errors.iter_mut().zip(&data.y[k * ny..]) {
            let difference = simd.difference(*error, *y);
            let weighted = simd.product(difference, data.weight[k]);
            tape.squares = simd.add_product(tape.squares, weighted, difference);
            *error = weighted;
        }
        let units = &mut tape.state_units[k * shape.state_hidden..(k + 1) * shape.state_hidden];
        forward(simd, state_map, state, z, units, &mut tape.next);
        for x in &mut tape.next {
            *x = simd.within(*x, RANGE);
        }
    }
    let (state_gradient, output_gradient) = tape.gradient.split_at_mut(state_map.parameters());
    tape.x0_gradient.fill(Models::ZERO);
    let mut end = data.len;
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        for k in (start..end).rev() {
            let at = k - start;
            // a(k+1), found at the step before, acts through the state map; nothing comes after the last sample.
            let adjoint = &mut tape.state_adjoint.rows[at * nx..(at + 1) * nx];
            adjoint.copy_from_slice(&tape.x0_gradient);
            let to = &mut tape.x0_gradient;
            to.fill(Models::ZERO);
            if k + 1 < data.len {
                let units = &tape.state_units[k * shape.state_hidden..(k + 1) * shape.state_hidden];
                tape.state_adjoint.step_back(simd, state_map, state, units, at, to);
            }
            let adjoint = &mut tape.output_adjoint.rows[at * ny..(at + 1) * ny];
            for (adjoint, error) in adjoint.iter_mut().zip(&tape.errors[k * ny..]) {
                *adjoint = simd.sum(*error, *error);
            }
            let units = &tape.output_units[k * shape.output_hidden..(k + 1) * shape.output_hidden];
            tape.output_adjoint.step_back(simd, output_map, output, units, at, to);
        }
        let samples = |end: usize| (start..end, 0..end - start);
        let z = |range: Range<usize>| &tape.z[range.start * nz..range.end * nz];
        let hidden = shape.state_hidden;
        let (range, kept) = samples(end.min(data.len - 1));
        let units = &tape.state_units[range.start * hidden..range.end * hidden];
        tape.state_adjoint
            .gather(simd, state_map, kept, z(range), units, state_gradient);
        let hidden = shape.output_hidden;
        let (range, kept) = samples(end);
        let units = &tape.output_units[range.start * hidden..range.end * hidden];
        tape.output_adjoint
            .gather(simd, output_map, kept, z(range), units, output_gradient);
        end = start;
    }
}

/// g(z) into `out`, the units' values into `units`.
#[inline(always)]
fn forward<V: Vector<f32>>(
    simd: Simd<V>,
    map: Map,
    theta: &[Models],
    z: &[Models],
    units: &mut [Models],
    out: &mut [Models],
) {
    units.copy_from_slice(&theta[map.inner_bias()]);
    add_product(simd, &theta[map.inner()], z, units);
    for unit in units.iter_mut() {
        *unit = simd.tanh(*unit);
    }
    out.copy_from_slice(&theta[map.bias()]);
    add_product(simd, &theta[map.linear()], z, out);
    add_product(simd, &theta[map.outer()], units, out);
}

/// What reaches the entries and units of a map from the error, for a block of steps, `[step][entry]`.
#[derive(Clone, Debug)]
struct Adjoint {
    rows: Vec<Models>,
    units: Vec<Models>,
}

impl Adjoint {
    fn new(map: Map) -> Self {
        Self {
            rows: vec![Models::ZERO; BLOCK * map.rows],
            units: vec![Models::ZERO; BLOCK * map.hidden],
        }
    }

    /// From the entries of step `at` of the block to its units, and on to the first entries of z, added to `to`.
    #[inline(always)]
    fn step_back<V: Vector<f32>>(
        &mut self,
        simd: Simd<V>,
        map: Map,
        theta: &[Models],
        units: &[Models],
        at: usize,
        to: &mut [Models],
    ) {
        let rows = &self.rows[at * map.rows..(at + 1) * map.rows];
        let deltas = &mut self.units[at * map.hidden..(at + 1) * map.hidden];
        deltas.fill(Models::ZERO);
        add_transposed_product(simd, (&theta[map.outer()], map.hidden), rows, deltas);
        let one = Models::splat(1.0);
        for (delta, unit) in deltas.iter_mut().zip(units) {
            *delta = simd.product(*delta, simd.difference(one, simd.product(*unit, *unit)));
        }
        add_transposed_product(simd, (&theta[map.inner()], map.width), deltas, to);
        add_transposed_product(simd, (&theta[map.linear()], map.width), rows, to);
    }

    /// Adds the derivatives by θ over the steps `kept` of the block, whose z and units these are.
    #[inline(always)]
    fn gather<V: Vector<f32>>(
        &self,
        simd: Simd<V>,
        map: Map,
        kept: Range<usize>,
        z: &[Models],
        units: &[Models],
        gradient: &mut [Models],
    ) {
        let rows = (&self.rows[..kept.end * map.rows], map.rows);
        let deltas = (&self.units[..kept.end * map.hidden], map.hidden);
        add_outer_products(simd, deltas, (z, map.width), &mut gradient[map.inner()]);
        add_sums(simd, deltas, &mut gradient[map.inner_bias()]);
        add_outer_products(simd, rows, (units, map.hidden), &mut gradient[map.outer()]);
        add_outer_products(simd, rows, (z, map.width), &mut gradient[map.linear()]);
        add_sums(simd, rows, &mut gradient[map.bias()]);
    }
}

#[cfg(test)]
mod tests {
    use intervalid_interval::kernel::{SimdLevel, with_level};

    use super::*;
    use crate::state_space::model::StateSpace;

    /// Every lane has a model, a stretch and weights of its own. Differences are those of the model in double precision.
    #[test]
    fn gradients_are_central_differences() {
        const LEN: usize = 40;
        let shape = Shape {
            states: 2,
            inputs: 1,
            outputs: 2,
            state_hidden: 3,
            output_hidden: 2,
        };
        let wave = |len: usize, rate: f64| (0..len).map(|k| (rate * k as f64).sin()).collect::<Vec<_>>();
        let record = Run::new(1, 2, wave(60, 0.7), wave(120, 0.3));
        let weight = |lane: usize, k: usize| f64::from(u8::from(!k.is_multiple_of(lane + 2)));
        let weights = std::array::from_fn(|lane| (0..LEN).map(|k| weight(lane, k)).collect());
        let data = LaneData::new(&std::array::from_fn(|lane| (&record, lane)), &weights, LEN);
        let parameter = |i: usize, lane: usize| 0.4 * (1.0 + 1.3 * i as f32 + 0.1 * lane as f32).sin();
        let theta: Vec<Models> = (0..shape.parameters())
            .map(|i| Lane(std::array::from_fn(|lane| parameter(i, lane))))
            .collect();
        let x0 = [0.3_f32, -0.2];
        for &level in SimdLevel::available() {
            let mut tape = LaneTape::new(shape);
            with_level(level, || {
                run_and_differentiate(shape, &theta, &x0.map(Lane::splat), &data, &mut tape);
            });
            for lane in 0..MODELS {
                let stretch = record.slice(lane..lane + LEN);
                let start: Vec<f64> = theta
                    .iter()
                    .map(|t| f64::from(t.0[lane]))
                    .chain(x0.map(f64::from))
                    .collect();
                let squares = |at: &[f64]| {
                    let (theta, x0) = at.split_at(shape.parameters());
                    let model = StateSpace {
                        shape,
                        theta: theta.to_vec(),
                    };
                    let predicted = model.simulate(&stretch, x0).expect("stays finite");
                    let error = |k: usize, output: usize| predicted[2 * k + output] - stretch.y(k)[output];
                    let of_sample = |k: usize| weight(lane, k) * (error(k, 0).powi(2) + error(k, 1).powi(2));
                    (0..LEN).map(of_sample).sum::<f64>()
                };
                let expected = squares(&start);
                assert!((f64::from(tape.squares.0[lane]) - expected).abs() < 1e-5 * expected);
                let found = tape.gradient.iter().chain(&tape.x0_gradient);
                for (index, found) in found.enumerate() {
                    let at = |by: f64| {
                        let mut moved = start.clone();
                        moved[index] += by;
                        squares(&moved)
                    };
                    let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
                    let found = f64::from(found.0[lane]);
                    assert!(
                        (found - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                        "{level:?}, {lane}, {index}: {found} {expected}"
                    );
                }
            }
        }
    }
}
