//! Derivatives of states and outputs by first state and parameters along a free run.
//!
//! All derivatives of a map by its parameters have one form: ∂g_r/∂θ_c = E_rc q_c, with E from the parameters alone and q from z and
//! the units. A column of W₁ has E = W₂ and q = (1 - tanh²) z, one of W₂ has E = 1 in its own row and q = tanh, and so on. So
//! S(k+1) = ∂f/∂x S(k) + E ∘ q is one dense loop over columns, eight of them in a [`Lane`].

use intervalid_interval::kernel::Vector;

use super::lanes::{LANES, Lane};
use super::levels::{Simd, per_level};
use super::map::Map;
use super::squares::Squares;

/// ∂g/∂θ of a map, with columns in front on which it does not depend.
pub(crate) struct ByTheta {
    map: Map,
    in_front: usize,
    /// E, `[lane of columns][row]`.
    fixed: Vec<Lane>,
    /// q, one number per column.
    moving: Vec<f64>,
}

impl ByTheta {
    pub(crate) fn new(map: Map, theta: &[f64], in_front: usize) -> Self {
        let chunks = (in_front + map.parameters()).div_ceil(LANES);
        let mut found = Self {
            map,
            in_front,
            fixed: vec![Lane::ZERO; chunks * map.rows],
            moving: vec![0.0; chunks * LANES],
        };
        let outer = &theta[map.outer()];
        for row in 0..map.rows {
            let mut put = |column: usize, value: f64| {
                let column = in_front + column;
                found.fixed[column / LANES * map.rows + row].0[column % LANES] = value;
            };
            for hidden in 0..map.hidden {
                let weight = outer[row * map.hidden + hidden];
                (0..map.width).for_each(|column| put(hidden * map.width + column, weight));
                put(map.inner_bias().start + hidden, weight);
                put(map.outer().start + row * map.hidden + hidden, 1.0);
            }
            (0..map.width).for_each(|column| put(map.linear().start + row * map.width + column, 1.0));
            put(map.bias().start + row, 1.0);
        }
        // The biases' columns do not move.
        let bias = map.bias();
        found.moving[in_front + bias.start..in_front + bias.end].fill(1.0);
        found
    }

    /// Lanes of columns.
    pub(crate) fn chunks(&self) -> usize {
        self.moving.len() / LANES
    }

    /// Takes z and the units' values of a step.
    fn update(&mut self, z: &[f64], units: &[f64]) {
        let map = self.map;
        let moving = &mut self.moving[self.in_front..];
        let (inner, rest) = moving.split_at_mut(map.inner_bias().start);
        for ((row, bias), unit) in inner.chunks_exact_mut(map.width.max(1)).zip(&mut *rest).zip(units) {
            let slope = 1.0 - unit * unit;
            row.iter_mut().zip(z).for_each(|(to, z)| *to = slope * z);
            *bias = slope;
        }
        let (outer, linear) = rest[map.hidden..].split_at_mut(map.rows * map.hidden);
        if map.hidden > 0 {
            outer
                .chunks_exact_mut(map.hidden)
                .for_each(|row| row.copy_from_slice(units));
        }
        linear[..map.rows * map.width]
            .chunks_exact_mut(map.width.max(1))
            .for_each(|row| row.copy_from_slice(z));
    }
}

/// S(k), `[lane of columns][state]`.
pub(crate) struct Sensitivities {
    now: Vec<Lane>,
    next: Vec<Lane>,
    by_theta: ByTheta,
}

impl Sensitivities {
    /// Columns are the first state, then the parameters of the state map.
    pub(crate) fn new(map: Map, theta: &[f64]) -> Self {
        let by_theta = ByTheta::new(map, theta, map.rows);
        Self {
            now: vec![Lane::ZERO; by_theta.fixed.len()],
            next: vec![Lane::ZERO; by_theta.fixed.len()],
            by_theta,
        }
    }

    /// Lanes of columns.
    pub(crate) fn chunks(&self) -> usize {
        self.by_theta.chunks()
    }

    /// S(0): the first state is itself.
    pub(crate) fn reset(&mut self) {
        let nx = self.by_theta.map.rows;
        self.now.fill(Lane::ZERO);
        for state in 0..nx {
            self.now[state / LANES * nx + state].0[state % LANES] = 1.0;
        }
    }

    /// S(k) to S(k+1), with ∂f/∂x row by row.
    pub(crate) fn advance(&mut self, by_state: &[f64], z: &[f64], units: &[f64]) {
        self.by_theta.update(z, units);
        let ByTheta { fixed, moving, .. } = &self.by_theta;
        advance(by_state, &self.now, (fixed, moving), &mut self.next);
        std::mem::swap(&mut self.now, &mut self.next);
    }
}

/// The normal equations of predictions, sample by sample.
///
/// Columns are those of [`Sensitivities`], filled up to whole lanes, then the parameters of the output map.
pub(crate) struct Gatherer {
    by_theta: ByTheta,
    pub(crate) squares: Squares,
}

impl Gatherer {
    pub(crate) fn new(map: Map, theta: &[f64], states: &Sensitivities) -> Self {
        let by_theta = ByTheta::new(map, theta, 0);
        Self {
            squares: Squares::new((states.chunks() + by_theta.chunks()) * LANES),
            by_theta,
        }
    }

    /// Takes a sample: ∂g/∂x row by row, z and the units' values of the output map, and the errors of all outputs.
    pub(crate) fn take(
        &mut self,
        states: &Sensitivities,
        by_state: &[f64],
        (z, units): (&[f64], &[f64]),
        errors: &[f64],
    ) {
        self.by_theta.update(z, units);
        let nx = states.by_theta.map.rows;
        for (output, error) in errors.iter().enumerate() {
            let slope = &by_state[output * nx..(output + 1) * nx];
            self.squares.push(|row, right| {
                let (through_state, direct) = row.split_at_mut(states.chunks());
                let (right, direct_right) = right.split_at_mut(states.chunks());
                observe(slope, &states.now, *error, (through_state, right));
                observe_direct((&self.by_theta, output), *error, (direct, direct_right));
            });
        }
    }
}

per_level! {
    /// next = A now + E ∘ q, A row by row.
    fn advance(a: &[f64], now: &[Lane], entering: (&[Lane], &[f64]), next: &mut [Lane]) = advance_body in f64;
}

#[inline(always)]
fn advance_body<V: Vector<f64>>(
    simd: Simd<V>,
    a: &[f64],
    now: &[Lane],
    entering: (&[Lane], &[f64]),
    next: &mut [Lane],
) {
    // Numbers of states that are usual get loops of their own, whose numbers stay in registers.
    match a.len() {
        1 => advance_states::<V, 1>(simd, a, now, entering, next),
        4 => advance_states::<V, 2>(simd, a, now, entering, next),
        9 => advance_states::<V, 3>(simd, a, now, entering, next),
        16 => advance_states::<V, 4>(simd, a, now, entering, next),
        25 => advance_states::<V, 5>(simd, a, now, entering, next),
        36 => advance_states::<V, 6>(simd, a, now, entering, next),
        entries => {
            let states = entries.isqrt();
            let (fixed, moving) = entering;
            let columns = now
                .chunks_exact(states.max(1))
                .zip(next.chunks_exact_mut(states.max(1)));
            let entering = fixed.chunks_exact(states.max(1)).zip(moving.as_chunks::<LANES>().0);
            for ((now, next), (fixed, moving)) in columns.zip(entering) {
                let moving = Lane(*moving);
                for (row, (to, fixed)) in a.chunks_exact(states.max(1)).zip(next.iter_mut().zip(fixed)) {
                    let mut sum = simd.product(*fixed, moving);
                    for (a, now) in row.iter().zip(now) {
                        sum = simd.add_product(sum, Lane::splat(*a), *now);
                    }
                    *to = sum;
                }
            }
        }
    }
}

#[inline(always)]
fn advance_states<V: Vector<f64>, const N: usize>(
    simd: Simd<V>,
    a: &[f64],
    now: &[Lane],
    (fixed, moving): (&[Lane], &[f64]),
    next: &mut [Lane],
) {
    let a: [[f64; N]; N] = std::array::from_fn(|row| std::array::from_fn(|column| a[row * N + column]));
    let columns = now.as_chunks::<N>().0.iter().zip(next.as_chunks_mut::<N>().0);
    let entering = fixed.as_chunks::<N>().0.iter().zip(moving.as_chunks::<LANES>().0);
    for ((now, next), (fixed, moving)) in columns.zip(entering) {
        let (now, moving) = (*now, Lane(*moving));
        for row in 0..N {
            let mut sum = simd.product(fixed[row], moving);
            for column in 0..N {
                sum = simd.add_product(sum, Lane::splat(a[row][column]), now[column]);
            }
            next[row] = sum;
        }
    }
}

per_level! {
    /// ∂ŷ = C S into `to.0`, and its product with the error added to `to.1`.
    fn observe(c: &[f64], now: &[Lane], error: f64, to: (&mut [Lane], &mut [Lane])) = observe_body in f64;
}

#[inline(always)]
fn observe_body<V: Vector<f64>>(
    simd: Simd<V>,
    c: &[f64],
    now: &[Lane],
    error: f64,
    (row, right): (&mut [Lane], &mut [Lane]),
) {
    let error = Lane::splat(error);
    for ((now, to), right) in now.chunks_exact(c.len().max(1)).zip(row).zip(right) {
        let mut sum = Lane::ZERO;
        for (c, now) in c.iter().zip(now) {
            sum = simd.add_product(sum, Lane::splat(*c), *now);
        }
        *to = sum;
        *right = simd.add_product(*right, sum, error);
    }
}

per_level! {
    /// A row of E ∘ q into `to.0`, and its product with the error added to `to.1`.
    fn observe_direct(by_theta: (&ByTheta, usize), error: f64, to: (&mut [Lane], &mut [Lane])) = observe_direct_body in f64;
}

#[inline(always)]
fn observe_direct_body<V: Vector<f64>>(
    simd: Simd<V>,
    (by_theta, row): (&ByTheta, usize),
    error: f64,
    (to, right): (&mut [Lane], &mut [Lane]),
) {
    let error = Lane::splat(error);
    let fixed = by_theta.fixed.iter().skip(row).step_by(by_theta.map.rows);
    let moving = by_theta.moving.as_chunks::<LANES>().0;
    for (((fixed, moving), to), right) in fixed.zip(moving).zip(to).zip(right) {
        *to = simd.product(*fixed, Lane(*moving));
        *right = simd.add_product(*right, *to, error);
    }
}

#[cfg(test)]
mod tests {
    use intervalid_interval::kernel::{SimdLevel, with_level};

    use super::*;

    #[test]
    fn derivatives_by_parameters_are_central_differences() {
        for (rows, hidden) in [(2, 0), (1, 1), (2, 4), (3, 9)] {
            let map = Map { rows, width: 3, hidden };
            let theta: Vec<f64> = (0..map.parameters())
                .map(|i| 0.8 * (1.0 + i as f64 * 1.7).sin())
                .collect();
            let z = [0.4, -0.9, 0.3];
            let value = |theta: &[f64]| {
                let (mut units, mut out) = (vec![0.0; hidden], vec![0.0; rows]);
                map.apply(theta, &z, &mut units, &mut out);
                (out, units)
            };
            let in_front = 2;
            let mut by_theta = ByTheta::new(map, &theta, in_front);
            by_theta.update(&z, &value(&theta).1);
            let step = 1e-6;
            for row in 0..rows {
                let entry = |column: usize| {
                    by_theta.fixed[column / LANES * rows + row].0[column % LANES] * by_theta.moving[column]
                };
                for index in 0..map.parameters() {
                    let (mut up, mut down) = (theta.clone(), theta.clone());
                    up[index] += step;
                    down[index] -= step;
                    let expected = (value(&up).0[row] - value(&down).0[row]) / (2.0 * step);
                    let found = entry(in_front + index);
                    assert!(
                        (found - expected).abs() < 1e-8,
                        "{hidden} {row} {index}: {found} {expected}"
                    );
                }
                assert!((0..in_front).all(|column| entry(column).abs() < 1e-300));
            }
        }
    }

    /// A step of S against plain loops, at every level and for all numbers of states that have loops of their own.
    #[test]
    fn a_step_has_the_sums_of_plain_loops() {
        let number = |at: usize| (1.0 + 0.37 * at as f64).sin();
        let lanes = |count: usize| -> Vec<Lane> {
            (0..count)
                .map(|at| Lane(std::array::from_fn(|lane| number(at * LANES + lane))))
                .collect()
        };
        for &level in SimdLevel::available() {
            with_level(level, || {
                for states in 1..9 {
                    let a: Vec<f64> = (0..states * states).map(|at| number(3 * at)).collect();
                    let (now, fixed) = (lanes(2 * states), lanes(2 * states));
                    let moving: Vec<f64> = (0..2 * LANES).map(|at| number(7 * at)).collect();
                    let mut next = vec![Lane::ZERO; 2 * states];
                    advance(&a, &now, (&fixed, &moving), &mut next);
                    for (at, found) in next.iter().enumerate() {
                        let (chunk, row) = (at / states, at % states);
                        for lane in 0..LANES {
                            let through: f64 = (0..states)
                                .map(|j| a[row * states + j] * now[chunk * states + j].0[lane])
                                .sum();
                            let expected = through + fixed[at].0[lane] * moving[chunk * LANES + lane];
                            assert!((found.0[lane] - expected).abs() < 1e-13, "{level:?} {states}");
                        }
                    }
                }
            });
        }
    }
}
