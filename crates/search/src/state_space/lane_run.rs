//! Free runs of eight models side by side, and the gradients of their errors.
//!
//! With a(k) the derivative of Σ w(k) (ŷ(k) - y(k))² by x(k): a(k) = (∂f/∂x)ᵀ a(k+1) + 2 w (∂g/∂x)ᵀ (ŷ - y). The derivatives by
//! θ are sums of (∂f/∂θ)ᵀ a(k+1) and 2 w (∂g/∂θ)ᵀ (ŷ - y).

use intervalid_interval::SimdLevel;

use super::lanes::{LANES, Lane};
use super::map::Map;
use super::model::Shape;
use super::run::Run;

/// What eight models run on: each lane has samples and weights of its own, all of one length.
#[derive(Clone, Debug)]
pub(crate) struct LaneData {
    pub(crate) len: usize,
    /// `[sample][input]`
    u: Vec<Lane>,
    /// `[sample][output]`
    y: Vec<Lane>,
    /// Weight of a sample's squared error.
    weight: Vec<Lane>,
}

impl LaneData {
    /// `len` samples of a run from a start on in every lane, weighted by `weights[lane]`.
    ///
    /// # Panics
    /// If a lane has fewer than `len` samples or weights.
    pub(crate) fn new(stretches: &[(&Run, usize); LANES], weights: &[Vec<f64>; LANES], len: usize) -> Self {
        let (nu, ny) = (stretches[0].0.inputs(), stretches[0].0.outputs());
        let samples = 0..len;
        let rows = |channels: usize, value: &dyn Fn(&Run, usize, usize) -> f64| -> Vec<Lane> {
            let places = samples
                .clone()
                .flat_map(|k| (0..channels).map(move |channel| (k, channel)));
            places
                .map(|(k, channel)| Lane(stretches.map(|(run, start)| value(run, start + k, channel))))
                .collect()
        };
        let weight = |k: usize| Lane(std::array::from_fn(|lane| weights[lane][k]));
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
    z: Vec<Lane>,
    state_units: Vec<Lane>,
    output_units: Vec<Lane>,
    /// Weighted errors ŷ - y.
    errors: Vec<Lane>,
    next: Vec<Lane>,
    adjoint: Vec<Lane>,
    /// Σ weight · e²
    pub(crate) squares: Lane,
    /// Derivatives of `squares` by θ, added up.
    pub(crate) gradient: Vec<Lane>,
    /// Derivatives of `squares` by the first state.
    pub(crate) x0_gradient: Vec<Lane>,
}

impl LaneTape {
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            z: Vec::new(),
            state_units: Vec::new(),
            output_units: Vec::new(),
            errors: Vec::new(),
            next: vec![Lane::ZERO; shape.states],
            adjoint: vec![Lane::ZERO; shape.states.max(shape.outputs)],
            squares: Lane::ZERO,
            gradient: vec![Lane::ZERO; shape.parameters()],
            x0_gradient: vec![Lane::ZERO; shape.states],
        }
    }
}

/// States are held within this range, so that one diverging lane stays a number.
const RANGE: f64 = 1e3;

/// Runs all lanes over `data` from `x0`, adds to `tape.squares` and `tape.gradient`, and sets `tape.x0_gradient`: reverse mode
/// through the whole run, compiled for the instructions of every [`SimdLevel`].
pub(crate) fn run_and_differentiate(shape: Shape, theta: &[Lane], x0: &[Lane], data: &LaneData, tape: &mut LaneTape) {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn avx2(shape: Shape, theta: &[Lane], x0: &[Lane], data: &LaneData, tape: &mut LaneTape) {
        body::<true>(shape, theta, x0, data, tape);
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
    fn avx512(shape: Shape, theta: &[Lane], x0: &[Lane], data: &LaneData, tape: &mut LaneTape) {
        body::<true>(shape, theta, x0, data, tape);
    }
    match SimdLevel::current() {
        // SAFETY: `SimdLevel::current` only returns levels that this processor offers.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { avx2(shape, theta, x0, data, tape) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { avx512(shape, theta, x0, data, tape) },
        _ => body::<false>(shape, theta, x0, data, tape),
    }
}

/// `FUSED`: whether a + b c is one instruction; without it `mul_add` would be a call.
#[inline(always)]
fn body<const FUSED: bool>(shape: Shape, theta: &[Lane], x0: &[Lane], data: &LaneData, tape: &mut LaneTape) {
    let (nx, nu, ny) = (shape.states, shape.inputs, shape.outputs);
    let nz = nx + nu;
    let (state_map, output_map) = (shape.state_map(), shape.output_map());
    let (state, output) = theta.split_at(state_map.parameters());
    tape.z.resize(data.len * nz, Lane::ZERO);
    tape.state_units.resize(data.len * shape.state_hidden, Lane::ZERO);
    tape.output_units.resize(data.len * shape.output_hidden, Lane::ZERO);
    tape.errors.resize(data.len * ny, Lane::ZERO);
    tape.next.copy_from_slice(x0);
    for k in 0..data.len {
        let z = &mut tape.z[k * nz..(k + 1) * nz];
        z[..nx].copy_from_slice(&tape.next);
        z[nx..].copy_from_slice(&data.u[k * nu..(k + 1) * nu]);
        let errors = &mut tape.errors[k * ny..(k + 1) * ny];
        let units = &mut tape.output_units[k * shape.output_hidden..(k + 1) * shape.output_hidden];
        forward::<FUSED>(output_map, output, z, units, errors);
        for (error, y) in errors.iter_mut().zip(&data.y[k * ny..]) {
            let difference = error.minus(*y);
            let weighted = difference.times(data.weight[k]);
            tape.squares = tape.squares.add_product::<FUSED>(weighted, difference);
            *error = weighted;
        }
        let units = &mut tape.state_units[k * shape.state_hidden..(k + 1) * shape.state_hidden];
        forward::<FUSED>(state_map, state, z, units, &mut tape.next);
        for x in &mut tape.next {
            *x = x.map(|x| x.clamp(-RANGE, RANGE));
        }
    }
    let (state_gradient, output_gradient) = tape.gradient.split_at_mut(state_map.parameters());
    // a(k+1) lies in `next`, which the run no longer needs.
    tape.next.fill(Lane::ZERO);
    for k in (0..data.len).rev() {
        let z = &tape.z[k * nz..(k + 1) * nz];
        let to = &mut tape.x0_gradient;
        to.fill(Lane::ZERO);
        if k + 1 < data.len {
            let units = &tape.state_units[k * shape.state_hidden..(k + 1) * shape.state_hidden];
            backward::<FUSED>(state_map, state, z, units, &tape.next, state_gradient, to);
        }
        let adjoint = &mut tape.adjoint[..ny];
        for (adjoint, error) in adjoint.iter_mut().zip(&tape.errors[k * ny..]) {
            *adjoint = error.plus(*error);
        }
        let units = &tape.output_units[k * shape.output_hidden..(k + 1) * shape.output_hidden];
        backward::<FUSED>(output_map, output, z, units, adjoint, output_gradient, to);
        tape.next.copy_from_slice(to);
    }
}

/// g(z) into `out`, the units' values into `units`.
#[inline(always)]
fn forward<const FUSED: bool>(map: Map, theta: &[Lane], z: &[Lane], units: &mut [Lane], out: &mut [Lane]) {
    let bias = &theta[map.inner_bias()];
    for (hidden, unit) in units.iter_mut().enumerate() {
        let row = &theta[hidden * map.width..(hidden + 1) * map.width];
        *unit = row
            .iter()
            .zip(z)
            .fold(bias[hidden], |sum, (w, z)| sum.add_product::<FUSED>(*w, *z))
            .tanh::<FUSED>();
    }
    let (outer, linear, bias) = (&theta[map.outer()], &theta[map.linear()], &theta[map.bias()]);
    for (row, out) in out.iter_mut().enumerate() {
        let weights = &linear[row * map.width..(row + 1) * map.width];
        let sum = weights
            .iter()
            .zip(z)
            .fold(bias[row], |sum, (w, z)| sum.add_product::<FUSED>(*w, *z));
        let weights = &outer[row * map.hidden..(row + 1) * map.hidden];
        *out = weights
            .iter()
            .zip(units.iter())
            .fold(sum, |sum, (w, unit)| sum.add_product::<FUSED>(*w, *unit));
    }
}

/// Adds the derivatives of adjointᵀ g(z): by θ to `gradient`, by the first entries of z to `to`.
#[inline(always)]
fn backward<const FUSED: bool>(
    map: Map,
    theta: &[Lane],
    z: &[Lane],
    units: &[Lane],
    adjoint: &[Lane],
    gradient: &mut [Lane],
    to: &mut [Lane],
) {
    let (outer_start, linear_start, bias_start) = (map.outer().start, map.linear().start, map.bias().start);
    for (hidden, unit) in units.iter().enumerate() {
        let mut sum = Lane::ZERO;
        for (row, adjoint) in adjoint.iter().enumerate() {
            let at = outer_start + row * map.hidden + hidden;
            sum = sum.add_product::<FUSED>(theta[at], *adjoint);
            gradient[at] = gradient[at].add_product::<FUSED>(*adjoint, *unit);
        }
        let sum = sum.times(unit.times(*unit).map(|square| 1.0 - square));
        let row = hidden * map.width..(hidden + 1) * map.width;
        for (gradient, z) in gradient[row.clone()].iter_mut().zip(z) {
            *gradient = gradient.add_product::<FUSED>(sum, *z);
        }
        for (to, weight) in to.iter_mut().zip(&theta[row]) {
            *to = to.add_product::<FUSED>(sum, *weight);
        }
        let bias = &mut gradient[map.hidden * map.width + hidden];
        *bias = bias.plus(sum);
    }
    for (row, adjoint) in adjoint.iter().enumerate() {
        let range = linear_start + row * map.width..linear_start + (row + 1) * map.width;
        for (gradient, z) in gradient[range.clone()].iter_mut().zip(z) {
            *gradient = gradient.add_product::<FUSED>(*adjoint, *z);
        }
        for (to, weight) in to.iter_mut().zip(&theta[range]) {
            *to = to.add_product::<FUSED>(*adjoint, *weight);
        }
        let bias = &mut gradient[bias_start + row];
        *bias = bias.plus(*adjoint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every lane has a model, a stretch and weights of its own.
    #[test]
    fn gradients_are_central_differences() {
        let shape = Shape {
            states: 2,
            inputs: 1,
            outputs: 2,
            state_hidden: 3,
            output_hidden: 2,
        };
        let wave = |len: usize, rate: f64| (0..len).map(|k| (rate * k as f64).sin()).collect::<Vec<_>>();
        let run = Run::new(1, 2, wave(60, 0.7), wave(120, 0.3));
        let stretches = std::array::from_fn(|lane| (&run, lane));
        let weights = std::array::from_fn(|lane| (0..40).map(|k| f64::from(u8::from(k % (lane + 2) > 0))).collect());
        let data = LaneData::new(&stretches, &weights, 40);
        let wave = |i: usize, lane: usize| 0.4 * (1.0 + 1.3 * i as f64 + 0.1 * lane as f64).sin();
        let theta: Vec<Lane> = (0..shape.parameters())
            .map(|i| Lane(std::array::from_fn(|lane| wave(i, lane))))
            .collect();
        let x0 = [Lane::splat(0.3), Lane::splat(-0.2)];
        let run = |theta: &[Lane], x0: &[Lane]| {
            let mut tape = LaneTape::new(shape);
            run_and_differentiate(shape, theta, x0, &data, &mut tape);
            tape
        };
        let found = run(&theta, &x0);
        let step = 1e-5;
        let check = |found: Lane, up: Lane, down: Lane| {
            for lane in 0..LANES {
                let expected = (up.0[lane] - down.0[lane]) / (2.0 * step);
                // The approximated tanh has a derivative that is off by its ripple.
                let found = found.0[lane];
                assert!(
                    (found - expected).abs() < 1e-4 * (1.0 + expected.abs()),
                    "{lane}: {found} {expected}"
                );
            }
        };
        for index in 0..theta.len() {
            let (mut up, mut down) = (theta.clone(), theta.clone());
            up[index] = up[index].map(|t| t + step);
            down[index] = down[index].map(|t| t - step);
            check(found.gradient[index], run(&up, &x0).squares, run(&down, &x0).squares);
        }
        for index in 0..2 {
            let (mut up, mut down) = (x0, x0);
            up[index] = up[index].map(|t| t + step);
            down[index] = down[index].map(|t| t - step);
            check(
                found.x0_gradient[index],
                run(&theta, &up).squares,
                run(&theta, &down).squares,
            );
        }
    }
}
