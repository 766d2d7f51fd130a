//! Normal equations of free runs, gathered with forward sensitivities.
//!
//! With S(k) = ∂x(k)/∂[x(0), θ]: S(k+1) = ∂f/∂x S(k) + ∂f/∂θ and ∂ŷ(k) = ∂g/∂x S(k) + ∂g/∂θ. The equations are SᵀS δ = Sᵀe with
//! e = y - ŷ over the samples that count.

use nalgebra::{DMatrix, DVector};

use super::cholesky::cholesky;
use super::lanes::LANES;
use super::model::{StateSpace, Step};
use super::run::{Run, Scored};
use super::sensitivities::{Gatherer, Sensitivities};

/// SᵀS and Sᵀe over the samples that count, split into θ and the first state of every run.
///
/// First states of different runs do not meet, so they are eliminated one run at a time: with H the local block of a run,
/// E its coupling to θ and g its right side, the equations of θ lose E H⁻¹ Eᵀ and E H⁻¹ g.
#[derive(Clone, Debug)]
pub(crate) struct NormalEquations {
    /// Σ e²
    pub(crate) squares: f64,
    /// Lower triangle of SᵀS for θ.
    pub(crate) theta: DMatrix<f64>,
    /// Sᵀe for θ.
    pub(crate) right: DVector<f64>,
    pub(crate) locals: Vec<Local>,
}

/// What belongs to the first state of one run.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    /// H, lower triangle.
    pub(crate) normal: DMatrix<f64>,
    /// E
    pub(crate) coupling: DMatrix<f64>,
    /// g
    pub(crate) right: DVector<f64>,
}

/// A step of θ and of the first state of every run.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    pub(crate) theta: DVector<f64>,
    pub(crate) x0: Vec<DVector<f64>>,
}

impl NormalEquations {
    /// Gathers the equations at `model` and the first states `x0`; none if a run diverges or a derivative overflows.
    pub(crate) fn gather(model: &StateSpace, x0: &[Vec<f64>], runs: &[Run], scored: &Scored) -> Option<Self> {
        let shape = model.shape;
        let (nx, ny, parameters) = (shape.states, shape.outputs, shape.parameters());
        let (state_map, output_map) = (shape.state_map(), shape.output_map());
        let mut found = Self {
            squares: 0.0,
            theta: DMatrix::zeros(parameters, parameters),
            right: DVector::zeros(parameters),
            locals: Vec::with_capacity(runs.len()),
        };
        let mut states = Sensitivities::new(state_map, model.state_theta());
        let mut gatherer = Gatherer::new(output_map, model.output_theta(), &states);
        // Where a parameter has its column: whole lanes lie between those of the two maps.
        let (inner, gap) = (nx + state_map.parameters(), states.chunks() * LANES);
        let column = |parameter: usize| match nx + parameter {
            at if at < inner => at,
            at => at - inner + gap,
        };
        let (mut by_state, mut output_by_state) = (vec![0.0; nx * nx], vec![0.0; ny * nx]);
        let mut errors = vec![0.0; ny];
        let mut step = Step::new(shape);
        for (index, run) in runs.iter().enumerate() {
            states.reset();
            gatherer.squares.reset();
            let end = scored.end(index);
            let mut ranges = scored.ranges(index).iter().peekable();
            let is_finite = model.run(run, &x0[index], end, &mut step, |k, step| {
                while ranges.next_if(|range| range.end <= k).is_some() {}
                if ranges.peek().is_some_and(|range| range.start <= k) {
                    output_map.slope(model.output_theta(), &step.output_units, nx, &mut output_by_state);
                    for ((error, y), predicted) in errors.iter_mut().zip(run.y(k)).zip(&step.output) {
                        *error = y - predicted;
                        found.squares += *error * *error;
                    }
                    gatherer.take(&states, &output_by_state, (&step.z, &step.output_units), &errors);
                }
                if k + 1 < end {
                    state_map.slope(model.state_theta(), &step.state_units, nx, &mut by_state);
                    states.advance(&by_state, &step.z, &step.state_units);
                }
            });
            let squares = &mut gatherer.squares;
            squares.flush();
            let right = |parameter: usize| squares.right(column(parameter));
            let mut all = (0..parameters)
                .map(right)
                .chain((0..nx).map(|state| squares.right(state)));
            if !is_finite || !all.all(f64::is_finite) {
                return None;
            }
            for at in 0..parameters {
                found.right[at] += right(at);
                for row in at..parameters {
                    found.theta[(row, at)] += squares.normal(column(at), column(row));
                }
            }
            found.locals.push(Local {
                normal: DMatrix::from_fn(nx, nx, |row, column| squares.normal(row, column)),
                coupling: DMatrix::from_fn(parameters, nx, |row, state| squares.normal(state, column(row))),
                right: DVector::from_fn(nx, |state, _| squares.right(state)),
            });
        }
        found.theta.iter().all(|value| value.is_finite()).then_some(found)
    }

    /// The damped step: every diagonal entry is raised by `damping` of itself. First states stay where they are unless
    /// `with_states`. None if the damped matrix is not positive definite.
    pub(crate) fn solve(&self, damping: f64, with_states: bool) -> Option<Solution> {
        let mut theta = self.theta.clone();
        let mut right = self.right.clone();
        let floor = 1e-8 * theta.diagonal().max().max(1e-12);
        raise(&mut theta, damping, floor);
        let mut factors = Vec::with_capacity(self.locals.len());
        for local in self.locals.iter().filter(|_| with_states) {
            let mut normal = local.normal.clone();
            let floor = 1e-8 * normal.diagonal().max().max(1e-12);
            raise(&mut normal, damping, floor);
            let factor = cholesky(normal)?;
            let solved = factor.solve(&local.coupling.transpose());
            theta.gemm(-1.0, &local.coupling, &solved, 1.0);
            right.gemv(-1.0, &local.coupling, &factor.solve(&local.right), 1.0);
            factors.push(factor);
        }
        let theta = cholesky(theta)?.solve(&right);
        let x0 = self.locals.iter().zip(&factors).map(|(local, factor)| {
            let left = &local.right - local.coupling.tr_mul(&theta);
            factor.solve(&left)
        });
        Some(Solution {
            x0: x0.collect(),
            theta,
        })
    }
}

/// Adds damping·max(diagonal, floor) to the diagonal.
fn raise(matrix: &mut DMatrix<f64>, damping: f64, floor: f64) {
    for index in 0..matrix.nrows() {
        let entry = matrix[(index, index)];
        matrix[(index, index)] = entry + damping * entry.max(floor) + 1e-12;
    }
}

/// to += Σ_j factors_j rows_j, the rows of `rows` being as long as `to`.
#[inline]
pub(crate) fn combine(factors: &[f64], rows: &[f64], to: &mut [f64]) {
    for (factor, row) in factors.iter().zip(rows.chunks_exact(to.len())) {
        to.iter_mut().zip(row).for_each(|(to, s)| *to += factor * s);
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::Cholesky;

    use super::*;
    use crate::state_space::model::Shape;

    fn example() -> (StateSpace, Vec<Run>, Vec<Vec<f64>>) {
        let shape = Shape {
            states: 2,
            inputs: 1,
            outputs: 2,
            state_hidden: 3,
            output_hidden: 2,
        };
        let theta = (0..shape.parameters()).map(|i| 0.4 * (1.0 + 1.3 * i as f64).sin());
        let model = StateSpace {
            shape,
            theta: theta.collect(),
        };
        let wave = |len: usize, rate: f64| (0..len).map(|k| (rate * k as f64).sin()).collect::<Vec<_>>();
        let runs = vec![
            Run::new(1, 2, wave(70, 0.7), wave(140, 0.3)),
            Run::new(1, 2, wave(90, 1.1), wave(180, 0.2)),
        ];
        (model, runs, vec![vec![0.3, -0.2], vec![-0.5, 0.1]])
    }

    /// The gradient of ½Σe² is -Sᵀe, for θ and first states, with samples that do not count.
    #[test]
    fn the_right_side_is_the_slope_of_the_error() {
        let (model, runs, x0) = example();
        let scored = Scored::outside(&runs, 20..100);
        let squares = |model: &StateSpace, x0: &[Vec<f64>]| {
            NormalEquations::gather(model, x0, &runs, &scored)
                .expect("finite")
                .squares
        };
        let found = NormalEquations::gather(&model, &x0, &runs, &scored).expect("finite");
        let step = 1e-6;
        let slope = |up: f64, down: f64| (down - up) / (4.0 * step);
        for index in 0..model.theta.len() {
            let (mut up, mut down) = (model.clone(), model.clone());
            up.theta[index] += step;
            down.theta[index] -= step;
            let expected = slope(squares(&up, &x0), squares(&down, &x0));
            let found = found.right[index];
            assert!(
                (found - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                "{index}: {found} {expected}"
            );
        }
        for (run, state) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (mut up, mut down) = (x0.clone(), x0.clone());
            up[run][state] += step;
            down[run][state] -= step;
            let expected = slope(squares(&model, &up), squares(&model, &down));
            let found = found.locals[run].right[state];
            assert!(
                (found - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                "{run} {state}: {found} {expected}"
            );
        }
    }

    /// Eliminating first states gives the solution of the whole system.
    #[test]
    fn elimination_solves_the_whole_system() {
        let (model, runs, x0) = example();
        let found = NormalEquations::gather(&model, &x0, &runs, &Scored::all(&runs)).expect("finite");
        let parameters = model.theta.len();
        let size = parameters + 4;
        let mut whole = DMatrix::zeros(size, size);
        let mut right = DVector::zeros(size);
        whole.view_mut((0, 0), (parameters, parameters)).copy_from(&found.theta);
        right.rows_mut(0, parameters).copy_from(&found.right);
        for (index, local) in found.locals.iter().enumerate() {
            let at = parameters + 2 * index;
            whole.view_mut((at, at), (2, 2)).copy_from(&local.normal);
            whole
                .view_mut((at, 0), (2, parameters))
                .copy_from(&local.coupling.transpose());
            right.rows_mut(at, 2).copy_from(&local.right);
        }
        raise(&mut whole, 0.1, 0.0);
        let expected = Cholesky::new(whole).expect("positive").solve(&right);
        let solution = found.solve(0.1, true).expect("positive");
        for index in 0..parameters {
            assert!((solution.theta[index] - expected[index]).abs() < 1e-6 * (1.0 + expected[index].abs()));
        }
        for index in 0..4 {
            let found = solution.x0[index / 2][index % 2];
            assert!((found - expected[parameters + index]).abs() < 1e-6);
        }
    }
}
