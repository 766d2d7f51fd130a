//! Linear identification by a subspace method that works with feedback and on several stretches of data.
//!
//! x(k) = L [z(k-1); …; z(k-p)] with z = [u; y] is a linear function of the past that explains f future outputs best; then
//! [A B b_x] and [C D b_y] are least squares of x(k+1) and y(k) on [x(k); u(k); 1].

use std::ops::Range;

use nalgebra::{Cholesky, DMatrix, DVector, SymmetricEigen};

use super::linear::Linear;
use super::run::{Run, Scored};

/// Settings of [`Subspace::fit`].
///
/// | field | symbol | default | purpose |
/// |---|---|---|---|
/// | `past` | p | 20 | past samples that stand for the state; fewer where data are short |
/// | `future` | f | 10 | future samples the state is to explain, at most p |
/// | `most_states` | | 10 | largest order that models are wanted for |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubspaceConfig {
    /// p
    pub past: usize,
    /// f
    pub future: usize,
    /// Largest order.
    pub most_states: usize,
}

impl Default for SubspaceConfig {
    fn default() -> Self {
        Self {
            past: 20,
            future: 10,
            most_states: 10,
        }
    }
}

/// Poles of models are within this radius.
const START_RADIUS: f64 = 0.999;

/// State estimates of all orders up to a largest one, from which [`Subspace::model`] takes models.
///
/// **Method** (predictor-based subspace identification, PBSID). A long ARX model
/// y(k) = Σ_{j=1..p} Ξ_j [u; y](k-j) + D u(k) + d gives Ξ_j = C (A-KC)^{j-1} [B-KD, K]. The rows Ξ_{i+j} make the product of
/// observability and reachability matrices, whose product with the past, f samples ahead, has the states' span as its
/// principal directions; x(k) is the leading ones scaled to unit variance, a linear function of p past samples. Least squares
/// then gives C, D, A, B, and K from what is left.
///
/// **Assumptions.** (A-KC)^p is negligible. The one-step predictor is identified, so inputs may depend on past outputs.
///
/// **Reference.** A. Chiuso, "The role of vector autoregressive modeling in predictor-based subspace identification",
/// Automatica 43(6), 2007; M. Jansson, "Subspace identification and ARX modeling", IFAC SYSID 2003.
#[derive(Clone, Debug)]
pub struct Subspace {
    sizes: (usize, usize, usize),
    past: usize,
    /// x(k) = encoder · [z(k-1); …; z(k-p)] with z = [u; y], all orders: leading rows.
    encoder: DMatrix<f64>,
    /// Singular values that tell orders apart, largest first.
    singular_values: Vec<f64>,
    /// Σ v vᵀ with v = [x(k); u(k); 1; y(k); x(k+1)].
    moments: DMatrix<f64>,
}

impl Subspace {
    /// Fits on the samples that count; stretches shorter than the past are left out. None if data are too short for two
    /// samples of past or a decomposition fails.
    pub fn fit(runs: &[Run], scored: &Scored, config: SubspaceConfig) -> Option<Self> {
        let (nu, ny) = runs.first().map(|run| (run.inputs(), run.outputs()))?;
        let nz = nu + ny;
        let longest = runs
            .iter()
            .enumerate()
            .flat_map(|(index, _)| scored.ranges(index))
            .map(ExactSizeIterator::len)
            .max()?;
        // Five samples per coefficient at the least, or the long model fits noise.
        let past = config.past.min(scored.samples() / (5 * nz)).min(longest / 3);
        if past < 2 {
            return None;
        }
        let future = config.future.min(past);
        let most = config.most_states.min(future * ny).min(past * nz);
        // Row: z(k-1) … z(k-p), u(k), 1, y(k).
        let width = past * nz + nu + 1;
        let mut moments = Moments::new(width + ny);
        for_each_sample(runs, scored, past, |run, k| {
            moments.push(|row| {
                write_past(run, k, past, row);
                row[past * nz..past * nz + nu].copy_from_slice(run.u(k));
                row[past * nz + nu] = 1.0;
                row[width..].copy_from_slice(run.y(k));
            });
        });
        let (moments, count) = moments.finish();
        let coefficients = regress(&moments, 0..width, width..width + ny, 1e-6)?;
        // Ξ_{i+j} at (i, j): what the past says about output i samples ahead.
        let mut product = DMatrix::zeros(future * ny, past * nz);
        for i in 0..future {
            for j in 0..past - i {
                let from = coefficients.columns((i + j) * nz, nz);
                product.view_mut((i * ny, j * nz), (ny, nz)).copy_from(&from);
            }
        }
        let past_covariance = moments.view((0, 0), (past * nz, past * nz)) / count;
        let explained = &product * past_covariance * product.transpose();
        let eigen = SymmetricEigen::try_new(explained, f64::EPSILON, 10_000)?;
        let mut places: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
        places.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
        let largest = eigen.eigenvalues[*places.first()?];
        places.retain(|&i| eigen.eigenvalues[i] > 1e-9 * largest);
        places.truncate(most);
        let nx = places.len();
        let mut encoder = DMatrix::zeros(nx, past * nz);
        for (row, &place) in places.iter().enumerate() {
            let scale = eigen.eigenvalues[place].sqrt().recip();
            let direction = eigen.eigenvectors.column(place).transpose() * &product * scale;
            encoder.row_mut(row).copy_from(&direction);
        }
        let mut moments = Moments::new(2 * nx + nu + 1 + ny);
        let (mut before, mut after) = (DVector::zeros(past * nz), DVector::zeros(past * nz));
        let (mut x, mut next) = (DVector::zeros(nx), DVector::zeros(nx));
        for_each_sample(runs, scored, past, |run, k| {
            write_past(run, k, past, before.as_mut_slice());
            write_past(run, k + 1, past, after.as_mut_slice());
            x.gemv(1.0, &encoder, &before, 0.0);
            next.gemv(1.0, &encoder, &after, 0.0);
            moments.push(|row| {
                row[..nx].copy_from_slice(x.as_slice());
                row[nx..nx + nu].copy_from_slice(run.u(k));
                row[nx + nu] = 1.0;
                row[nx + nu + 1..nx + nu + 1 + ny].copy_from_slice(run.y(k));
                row[nx + nu + 1 + ny..].copy_from_slice(next.as_slice());
            });
        });
        Some(Self {
            sizes: (nx, nu, ny),
            past,
            encoder,
            singular_values: places.iter().map(|&i| eigen.eigenvalues[i].max(0.0).sqrt()).collect(),
            moments: moments.finish().0,
        })
    }

    /// Largest order there is a model for.
    pub fn most_states(&self) -> usize {
        self.sizes.0
    }

    /// Singular values of the states, largest first.
    pub fn singular_values(&self) -> &[f64] {
        &self.singular_values
    }

    /// p
    pub fn past(&self) -> usize {
        self.past
    }

    /// The state estimate before sample k ≥ p of a run: the leading `order` entries.
    pub fn state(&self, run: &Run, k: usize, order: usize) -> Vec<f64> {
        let mut past = DVector::zeros(self.encoder.ncols());
        write_past(run, k, self.past, past.as_mut_slice());
        (self.encoder.rows(0, order) * past).as_slice().to_vec()
    }

    /// The model with `order` states, poles inside 0.999, from where fits can move either way. None if there are not so many or
    /// a solver fails.
    pub fn model(&self, order: usize) -> Option<Linear> {
        let (most, nu, ny) = self.sizes;
        if order == 0 || order > most {
            return None;
        }
        // Leading states only.
        let mut places: Vec<usize> = (0..order).collect();
        places.extend(most..most + nu + 1 + ny);
        places.extend((0..order).map(|i| most + nu + 1 + ny + i));
        let moments = self.moments.select_rows(&places).select_columns(&places);
        let regressors = 0..order + nu + 1;
        let outputs = regressors.end..regressors.end + ny;
        let next = outputs.end..outputs.end + order;
        let cd = regress(&moments, regressors.clone(), outputs.clone(), 1e-8)?;
        let ab = regress(&moments, regressors.clone(), next.clone(), 1e-8)?;
        let part = |rows: &Range<usize>, columns: &Range<usize>| {
            moments
                .view((rows.start, columns.start), (rows.len(), columns.len()))
                .into_owned()
        };
        // Innovations e = y - ŷ are orthogonal to the regressors, so K needs two products only.
        let innovation = part(&outputs, &outputs) - &cd * part(&regressors, &outputs);
        let cross = part(&next, &outputs) - &ab * part(&regressors, &outputs);
        let mut floor = innovation.clone();
        (0..ny).for_each(|i| floor[(i, i)] += 1e-9 * moments[(outputs.start + i, outputs.start + i)].max(1e-12));
        let gain = Cholesky::new(0.5 * (&floor + floor.transpose()))?
            .solve(&cross.transpose())
            .transpose();
        let mut linear = Linear {
            a: ab.columns(0, order).into_owned(),
            b: ab.columns(order, nu).into_owned(),
            c: cd.columns(0, order).into_owned(),
            d: cd.columns(order, nu).into_owned(),
            state_bias: ab.column(order + nu).into_owned(),
            output_bias: cd.column(order + nu).into_owned(),
            gain,
        };
        linear.stabilise(START_RADIUS).then_some(linear)
    }
}

/// Samples whose past lies in the same stretch of samples that count, in order.
fn for_each_sample(runs: &[Run], scored: &Scored, past: usize, mut visit: impl FnMut(&Run, usize)) {
    for (index, run) in runs.iter().enumerate() {
        for range in scored.ranges(index) {
            (range.start + past..range.end).for_each(|k| visit(run, k));
        }
    }
}

/// [u; y](k-1), …, [u; y](k-p)
fn write_past(run: &Run, k: usize, past: usize, row: &mut [f64]) {
    let (nu, ny) = (run.inputs(), run.outputs());
    for (lag, to) in row.chunks_exact_mut(nu + ny).take(past).enumerate() {
        to[..nu].copy_from_slice(run.u(k - 1 - lag));
        to[nu..].copy_from_slice(run.y(k - 1 - lag));
    }
}

/// Least squares of some columns on others from their moments, with a small share of each variance as ridge:
/// coefficients `[target][regressor]`.
fn regress(
    moments: &DMatrix<f64>,
    regressors: Range<usize>,
    targets: Range<usize>,
    ridge: f64,
) -> Option<DMatrix<f64>> {
    let mut normal = moments
        .view(
            (regressors.start, regressors.start),
            (regressors.len(), regressors.len()),
        )
        .into_owned();
    let floor = 1e-3 * normal.diagonal().mean().max(1e-300);
    for i in 0..normal.nrows() {
        normal[(i, i)] += ridge * normal[(i, i)].max(floor);
    }
    let right = moments.view((regressors.start, targets.start), (regressors.len(), targets.len()));
    Some(Cholesky::new(normal)?.solve(&right).transpose())
}

/// Σ v vᵀ, gathered in blocks.
struct Moments {
    block: DMatrix<f64>,
    rows: DMatrix<f64>,
    sum: DMatrix<f64>,
    filled: usize,
    count: usize,
}

const BLOCK: usize = 256;

impl Moments {
    fn new(width: usize) -> Self {
        Self {
            block: DMatrix::zeros(width, BLOCK),
            rows: DMatrix::zeros(BLOCK, width),
            sum: DMatrix::zeros(width, width),
            filled: 0,
            count: 0,
        }
    }

    fn push(&mut self, write: impl FnOnce(&mut [f64])) {
        let width = self.sum.nrows();
        write(&mut self.block.as_mut_slice()[self.filled * width..(self.filled + 1) * width]);
        self.filled += 1;
        self.count += 1;
        if self.filled == BLOCK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.block.columns_range_mut(self.filled..).fill(0.0);
        self.block.transpose_to(&mut self.rows);
        self.sum.gemm(1.0, &self.block, &self.rows, 1.0);
        self.filled = 0;
    }

    /// The sum and how many samples are in it.
    fn finish(mut self) -> (DMatrix<f64>, f64) {
        self.flush();
        (self.sum, self.count.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::state_space::model::StateSpace;

    /// Two inputs, two outputs, three states, white noise on the outputs, one block kept apart.
    #[test]
    fn a_known_system_is_found_at_its_order() {
        let ab = [
            0.8, 0.3, 0.0, 1.0, 0.2, -0.3, 0.8, 0.0, 0.0, 0.5, 0.0, 0.0, 0.6, 0.3, -1.0,
        ];
        let cd = [1.0, 0.0, 0.5, 0.0, 0.1, 0.0, 1.0, -0.5, 0.2, 0.0];
        let truth = StateSpaceTruth::new(&ab, &cd);
        let run = truth.generate(4000, 0.05, 3);
        let runs = [run];
        let scored = Scored::outside(&runs, 1000..1500);
        let found = Subspace::fit(&runs, &scored, SubspaceConfig::default()).expect("fits");
        let sizes = found.singular_values();
        assert!(sizes[2] > 5.0 * sizes[3], "{sizes:?}");
        let linear = found.model(3).expect("three states");
        let mut expected: Vec<f64> = vec![0.6, (0.64_f64 + 0.09).sqrt(), (0.64_f64 + 0.09).sqrt()];
        let mut poles: Vec<f64> = linear
            .a
            .complex_eigenvalues()
            .iter()
            .map(|pole| pole.re.hypot(pole.im))
            .collect();
        expected.sort_by(f64::total_cmp);
        poles.sort_by(f64::total_cmp);
        for (found, expected) in poles.iter().zip(&expected) {
            assert!((found - expected).abs() < 0.02, "{poles:?}");
        }
        let x0 = found.state(&runs[0], 1000, 3);
        let apart = runs[0].slice(1000..1500);
        let predicted = linear.to_model().simulate(&apart, &x0).expect("stable");
        let errors = (0..500).flat_map(|k| (0..2).map(move |i| (k, i)));
        let squares: f64 = errors
            .map(|(k, i)| (apart.y(k)[i] - predicted[2 * k + i]).powi(2))
            .sum();
        assert!((squares / 1000.0).sqrt() < 0.07, "{}", (squares / 1000.0).sqrt());
    }

    struct StateSpaceTruth(StateSpace);

    impl StateSpaceTruth {
        fn new(ab: &[f64], cd: &[f64]) -> Self {
            Self(StateSpace::linear((3, 2, 2), ab, cd))
        }

        fn generate(&self, samples: usize, noise: f64, seed: u64) -> Run {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let u: Vec<f64> = (0..2 * samples).map(|_| StandardNormal.sample(&mut rng)).collect();
            let blank = Run::new(2, 2, u.clone(), vec![0.0; 2 * samples]);
            let mut y = self.0.simulate(&blank, &[0.0; 3]).expect("stable");
            for y in &mut y {
                let draw: f64 = StandardNormal.sample(&mut rng);
                *y += noise * draw;
            }
            Run::new(2, 2, u, y)
        }
    }
}
