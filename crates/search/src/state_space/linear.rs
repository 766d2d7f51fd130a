//! Linear state-space models as matrices: stable poles, whitened states.
//!
//! x(k+1) = A x(k) + B u(k) + b_x + K e(k), ŷ(k) = C x(k) + D u(k) + b_y. With x' = T (x - c) the same model has the matrices
//! T A T⁻¹, T B, C T⁻¹, D and the biases T (A c + b_x - c), b_y + C c.

use nalgebra::{DMatrix, DVector, Schur, SymmetricEigen};

use super::model::{StateSpace, Step};
use super::run::Run;

/// A linear state-space model, its matrices one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    pub(crate) a: DMatrix<f64>,
    pub(crate) b: DMatrix<f64>,
    pub(crate) c: DMatrix<f64>,
    pub(crate) d: DMatrix<f64>,
    /// b_x
    pub(crate) state_bias: DVector<f64>,
    /// b_y
    pub(crate) output_bias: DVector<f64>,
    /// K, zeros where it is not known.
    pub(crate) gain: DMatrix<f64>,
}

/// Poles are kept below this radius: a mode that hardly decays ruins runs on new data.
pub(crate) const LARGEST_RADIUS: f64 = 0.9999;
/// Directions whose variance is below this share of the largest are not scaled up further.
const VARIANCE_FLOOR: f64 = 1e-6;

impl Linear {
    /// Number of states.
    pub fn order(&self) -> usize {
        self.a.nrows()
    }

    /// The linear paths of a model, its networks left out.
    pub fn from_model(model: &StateSpace) -> Self {
        let (nx, nu, ny) = (model.shape.states, model.shape.inputs, model.shape.outputs);
        let (state, output) = (model.shape.state_map(), model.shape.output_map());
        let ab = DMatrix::from_row_slice(nx, nx + nu, &model.state_theta()[state.linear()]);
        let cd = DMatrix::from_row_slice(ny, nx + nu, &model.output_theta()[output.linear()]);
        Self {
            a: ab.columns(0, nx).into_owned(),
            b: ab.columns(nx, nu).into_owned(),
            c: cd.columns(0, nx).into_owned(),
            d: cd.columns(nx, nu).into_owned(),
            state_bias: DVector::from_column_slice(&model.state_theta()[state.bias()]),
            output_bias: DVector::from_column_slice(&model.output_theta()[output.bias()]),
            gain: DMatrix::zeros(nx, ny),
        }
    }

    /// As a model without networks.
    pub fn to_model(&self) -> StateSpace {
        let (nx, nu, ny) = (self.order(), self.b.ncols(), self.c.nrows());
        let rows = |left: &DMatrix<f64>, right: &DMatrix<f64>| -> Vec<f64> {
            let row = |i: usize| {
                left.row(i)
                    .iter()
                    .chain(right.row(i).iter())
                    .copied()
                    .collect::<Vec<_>>()
            };
            (0..left.nrows()).flat_map(row).collect()
        };
        let mut model = StateSpace::linear((nx, nu, ny), &rows(&self.a, &self.b), &rows(&self.c, &self.d));
        let (state, output) = (model.shape.state_map(), model.shape.output_map());
        model.theta[state.bias()].copy_from_slice(self.state_bias.as_slice());
        model.theta[state.parameters()..][output.bias()].copy_from_slice(self.output_bias.as_slice());
        model
    }

    /// Largest modulus of a pole; infinite if the eigenvalues cannot be found.
    pub(crate) fn radius(&self) -> f64 {
        let Some(schur) = Schur::try_new(self.a.clone(), f64::EPSILON, 10_000) else {
            return f64::INFINITY;
        };
        let poles = schur.complex_eigenvalues();
        poles.iter().map(|pole| pole.re.hypot(pole.im)).fold(0.0, f64::max)
    }

    /// Draws poles outside `radius` back onto it, each along its own direction. False if the eigenvalues cannot be found.
    ///
    /// **Method.** A = Q T Qᵀ with T block triangular; the poles are those of the blocks on the diagonal, which are scaled.
    pub(crate) fn stabilise(&mut self, radius: f64) -> bool {
        let Some(schur) = Schur::try_new(self.a.clone(), f64::EPSILON, 10_000) else {
            return false;
        };
        let (q, mut t) = schur.unpack();
        let (mut at, mut changed) = (0, false);
        while at < t.nrows() {
            let is_pair = at + 1 < t.nrows() && t[(at + 1, at)].abs() > 1e-300;
            let size = if is_pair { 2 } else { 1 };
            let mut block = t.view_mut((at, at), (size, size));
            let modulus = match size {
                1 => block[(0, 0)].abs(),
                _ => pair_radius(block[(0, 0)], block[(0, 1)], block[(1, 0)], block[(1, 1)]),
            };
            if modulus > radius {
                block *= radius / modulus;
                changed = true;
            }
            at += size;
        }
        if changed {
            self.a = &q * t * q.transpose();
        }
        true
    }

    /// The same model with states T (x - centre), T having the inverse `back`.
    pub(crate) fn transformed(&self, transform: &DMatrix<f64>, back: &DMatrix<f64>, centre: &DVector<f64>) -> Self {
        Self {
            a: transform * &self.a * back,
            b: transform * &self.b,
            c: &self.c * back,
            d: self.d.clone(),
            state_bias: transform * (&self.a * centre + &self.state_bias - centre),
            output_bias: &self.output_bias + &self.c * centre,
            gain: transform * &self.gain,
        }
    }

    /// The same model with states of mean zero and unit covariance on free runs over `runs`, so that networks see numbers
    /// of order one. None if a run diverges.
    pub(crate) fn whitened(&self, runs: &[Run]) -> Option<Self> {
        let zero = vec![vec![0.0; self.order()]; runs.len()];
        self.whitened_with(runs, &zero).map(|(linear, _)| linear)
    }

    /// As [`Linear::whitened`], with runs from the first states `x0`, which are returned in the new coordinates.
    pub(crate) fn whitened_with(&self, runs: &[Run], x0: &[Vec<f64>]) -> Option<(Self, Vec<Vec<f64>>)> {
        let nx = self.order();
        let model = self.to_model();
        let mut step = Step::new(model.shape);
        let mut sum = DVector::zeros(nx);
        let mut squares = DMatrix::zeros(nx, nx);
        let mut count = 0_usize;
        for (run, x0) in runs.iter().zip(x0) {
            let is_finite = model.run(run, x0, run.len(), &mut step, |_, step| {
                let x = nalgebra::DVectorView::from_slice(&step.z[..nx], nx);
                sum += x;
                squares.ger(1.0, &x, &x, 1.0);
                count += 1;
            });
            if !is_finite {
                return None;
            }
        }
        let count = count.max(1) as f64;
        let centre = sum / count;
        let covariance = squares / count - &centre * centre.transpose();
        let eigen = SymmetricEigen::try_new(covariance, f64::EPSILON, 10_000)?;
        let largest = eigen.eigenvalues.max();
        if !(largest.is_finite() && largest > 0.0) {
            return Some((self.clone(), x0.to_vec()));
        }
        let size = eigen
            .eigenvalues
            .map(|value| value.max(VARIANCE_FLOOR * largest).sqrt());
        let forward = DMatrix::from_diagonal(&size.map(|s| 1.0 / s)) * eigen.eigenvectors.transpose();
        let back = &eigen.eigenvectors * DMatrix::from_diagonal(&size);
        let first = x0.iter().map(|x| {
            (&forward * (DVector::from_column_slice(x) - &centre))
                .as_slice()
                .to_vec()
        });
        Some((self.transformed(&forward, &back, &centre), first.collect()))
    }

    /// This model with states added up to `order` that follow the inputs at different speeds and do not act yet: room for
    /// what a network may need.
    pub(crate) fn padded(&self, order: usize) -> Self {
        let (nx, nu) = (self.order(), self.b.ncols());
        if order <= nx {
            return self.clone();
        }
        let mut a = self.a.clone().resize(order, order, 0.0);
        let mut b = self.b.clone().resize_vertically(order, 0.0);
        for (extra, state) in (nx..order).enumerate() {
            let speed = 0.5_f64.powi(1 + (extra % 6) as i32);
            a[(state, state)] = 1.0 - speed;
            if nu > 0 {
                b[(state, extra % nu)] = speed.sqrt();
            }
        }
        Self {
            a,
            b,
            c: self.c.clone().resize_horizontally(order, 0.0),
            d: self.d.clone(),
            state_bias: self.state_bias.clone().resize_vertically(order, 0.0),
            output_bias: self.output_bias.clone(),
            gain: self.gain.clone().resize_vertically(order, 0.0),
        }
    }
}

/// Largest modulus of the eigenvalues of a two by two matrix.
fn pair_radius(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let (half, determinant) = (0.5 * (a + d), a * d - b * c);
    match half * half - determinant {
        spread if spread >= 0.0 => half.abs() + spread.sqrt(),
        _ => determinant.abs().sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poles_are_drawn_back_one_by_one() {
        let model = StateSpace::linear((2, 1, 1), &[0.9, 0.2, 0.3, -0.2, 0.8, 1.0], &[1.0, 0.5, 0.0]);
        let mut linear = Linear::from_model(&model);
        assert_eq!(linear.to_model(), model);
        let before = linear.a.clone();
        assert!(linear.stabilise(0.99) && (&linear.a - before).amax() < 1e-12);
        // A pair with modulus 0.9 √2 and a pole at 0.5.
        linear.a = DMatrix::from_row_slice(3, 3, &[0.9, 0.9, 0.1, -0.9, 0.9, 0.2, 0.0, 0.0, 0.5]);
        assert!(linear.stabilise(0.95));
        assert!((linear.radius() - 0.95).abs() < 1e-9, "{}", linear.radius());
        let poles = linear.a.complex_eigenvalues();
        let is_kept = |re: f64, im: f64| (re - 0.5).abs() < 1e-9 && im.abs() < 1e-9;
        assert!(poles.iter().any(|pole| is_kept(pole.re, pole.im)));
    }
}
