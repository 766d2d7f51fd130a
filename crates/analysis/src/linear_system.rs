//! Linear systems in discrete time: poles, zeros, gains, frequency responses.

use nalgebra::{Complex, DMatrix, DVector, Schur};
use serde::Serialize;

use crate::error::{AnalysisError, Result};

/// More iterations than any matrix of finite numbers needs.
const SCHUR_ITERATIONS: usize = 10_000;
/// A response coefficient below this share of the largest counts as none.
const NEGLIGIBLE: f64 = 1e-10;
/// A pole and a zero nearer than this cancel; one nearer to the origin is a sample of delay.
const SAME_PLACE: f64 = 1e-6;

/// One member: x(k+1) = A·x(k) + Σ_j B_j·u(k-j), y(k) = C·x(k) + Σ_j D_j·u(k-j), j from 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemberSystem {
    pub(crate) a: DMatrix<f64>,
    pub(crate) b: Vec<DMatrix<f64>>,
    pub(crate) c: DMatrix<f64>,
    pub(crate) d: Vec<DMatrix<f64>>,
}

/// A value of z.
pub(crate) type Z = Complex<f64>;

impl MemberSystem {
    /// C·(zI - A)⁻¹·Σ B_j z⁻ʲ + Σ D_j z⁻ʲ; none where z is a pole.
    pub(crate) fn at(&self, z: Z) -> Option<DMatrix<Z>> {
        let complex = |matrix: &DMatrix<f64>| matrix.map(|value| Z::new(value, 0.0));
        let taps = |matrices: &[DMatrix<f64>]| {
            let mut power = Z::new(1.0, 0.0);
            let mut sum = DMatrix::<Z>::zeros(matrices[0].nrows(), matrices[0].ncols());
            for matrix in matrices {
                sum += complex(matrix) * power;
                power /= z;
            }
            sum
        };
        let count = self.a.nrows();
        let shifted = DMatrix::<Z>::identity(count, count) * z - complex(&self.a);
        let solved = shifted.lu().solve(&taps(&self.b))?;
        Some(complex(&self.c) * solved + taps(&self.d))
    }

    pub(crate) fn poles(&self) -> Result<Vec<Z>> {
        eigenvalues(&self.a)
    }
}

/// The mean of the members' outputs as one system: inputs remembered by all, then the states of each member.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinearSystem {
    pub(crate) a: DMatrix<f64>,
    pub(crate) b: DMatrix<f64>,
    pub(crate) c: DMatrix<f64>,
    pub(crate) d: DMatrix<f64>,
}

impl LinearSystem {
    pub(crate) fn mean(members: &[MemberSystem]) -> Self {
        let first = &members[0];
        let (inputs, outputs, own) = (first.b[0].ncols(), first.c.nrows(), first.a.nrows());
        let shared = (first.b.len() - 1) * inputs;
        let states = shared + own * members.len();
        let share = 1.0 / members.len() as f64;
        let mut system = Self {
            a: DMatrix::zeros(states, states),
            b: DMatrix::zeros(states, inputs),
            c: DMatrix::zeros(outputs, states),
            d: DMatrix::zeros(outputs, inputs),
        };
        if shared > 0 {
            system.b.view_mut((0, 0), (inputs, inputs)).fill_with_identity();
            for place in inputs..shared {
                system.a[(place, place - inputs)] = 1.0;
            }
        }
        for (index, member) in members.iter().enumerate() {
            let at = shared + index * own;
            system.a.view_mut((at, at), (own, own)).copy_from(&member.a);
            system.b.view_mut((at, 0), (own, inputs)).copy_from(&member.b[0]);
            for (tap, (b, d)) in member.b.iter().zip(&member.d).enumerate().skip(1) {
                let column = (tap - 1) * inputs;
                system.a.view_mut((at, column), (own, inputs)).copy_from(b);
                let mut place = system.c.view_mut((0, column), (outputs, inputs));
                place += d * share;
            }
            system
                .c
                .view_mut((0, at), (outputs, own))
                .copy_from(&(&member.c * share));
            system.d += &member.d[0] * share;
        }
        system
    }

    /// Zeros of one channel, and its delay in samples; no zeros where the input does not reach the output.
    ///
    /// **Formula.** With h_0 = D, h_i = C·Aⁱ⁻¹·B and r the first h that is not zero, zʳ·G(z) is the system (A, B, C·Aʳ, h_r), whose
    /// zeros are the eigenvalues of A - B·C·Aʳ/h_r; r of them lie in the origin and are not of G. Zeros that a pole cancels are left
    /// out.
    pub(crate) fn zeros(&self, output: usize, input: usize) -> Result<(usize, Vec<Z>)> {
        let b: DVector<f64> = self.b.column(input).into_owned();
        let mut row: DMatrix<f64> = self.c.rows(output, 1).into_owned();
        let mut coefficients = vec![self.d[(output, input)]];
        let mut rows = vec![row.clone()];
        for _ in 0..self.a.nrows() {
            coefficients.push((&row * &b)[0]);
            row = &row * &self.a;
            rows.push(row.clone());
        }
        let largest = coefficients.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let first = coefficients.iter().position(|value| value.abs() > NEGLIGIBLE * largest);
        let Some(delay) = first.filter(|_| largest > 0.0) else {
            return Ok((0, Vec::new()));
        };
        let closed = &self.a - &b * &rows[delay] / coefficients[delay];
        let mut zeros = eigenvalues(&closed)?;
        zeros.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
        zeros.drain(..delay.min(zeros.len()));
        let mut poles = eigenvalues(&self.a)?;
        zeros.retain(|zero| {
            let near = |pole: &Z| (pole - zero).norm() <= SAME_PLACE.max(origin(zero)) * (1.0 + zero.norm());
            match poles.iter().position(near) {
                Some(index) => {
                    poles.swap_remove(index);
                    false
                }
                None => true,
            }
        });
        zeros.reverse();
        Ok((delay, zeros))
    }

    /// C·(I - A)⁻¹·B + D; none where a pole at one leaves no rest.
    pub(crate) fn gain(&self) -> Option<DMatrix<f64>> {
        let count = self.a.nrows();
        let inverse = (DMatrix::identity(count, count) - &self.a).lu().solve(&self.b)?;
        let gain = &self.c * inverse + &self.d;
        gain.iter().all(|value| value.is_finite()).then_some(gain)
    }

    /// What the answer to a step still lacks of its rest after `samples` samples, C·(I - A)⁻¹·Aᵏ·B with k = `samples` - 1; none where a
    /// pole at one leaves no rest.
    pub(crate) fn lacking(&self, samples: usize) -> Option<DMatrix<f64>> {
        let count = self.a.nrows();
        let mut state = self.b.clone();
        // By squares: A, A², A⁴, …
        let (mut power, mut left) = (self.a.clone(), samples.saturating_sub(1));
        while left > 0 {
            if left % 2 == 1 {
                state = &power * state;
            }
            left /= 2;
            power = &power * &power;
        }
        let lacking = (DMatrix::identity(count, count) - &self.a).lu().solve(&state)?;
        Some(&self.c * lacking)
    }
}

/// Repeated eigenvalues in the origin come out as a small ring around it.
fn origin(zero: &Z) -> f64 {
    if zero.norm() < 1e-2 { 2e-2 } else { 0.0 }
}

/// Eigenvalues, largest first.
pub(crate) fn eigenvalues(matrix: &DMatrix<f64>) -> Result<Vec<Z>> {
    // The iteration below would not end on a matrix with values that are no numbers.
    if !matrix.iter().all(|value| value.is_finite()) {
        return Err(AnalysisError::Eigenvalues);
    }
    if matrix.is_empty() {
        return Ok(Vec::new());
    }
    let schur = |matrix: DMatrix<f64>| Schur::try_new(matrix, f64::EPSILON, SCHUR_ITERATIONS);
    // It does not end on some companion matrices either. In reverse order of states, or transposed, a matrix has the same eigenvalues.
    let last = matrix.nrows() - 1;
    let reversed = || DMatrix::from_fn(last + 1, last + 1, |row, column| matrix[(last - row, last - column)]);
    let schur = schur(matrix.clone())
        .or_else(|| schur(reversed()))
        .or_else(|| schur(matrix.transpose()))
        .ok_or(AnalysisError::Eigenvalues)?;
    let mut values: Vec<Z> = schur.complex_eigenvalues().iter().copied().collect();
    values.sort_by(|a, b| b.norm().total_cmp(&a.norm()).then(b.im.total_cmp(&a.im)));
    Ok(values)
}

/// A pole or a zero in the z-plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Place {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

/// A pole and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PoleView {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// Below 1 its answer decays.
    pub magnitude: f64,
    /// Time in which its answer falls to 1/e, in the time unit of the linearisation; none where it does not.
    pub time_constant: Option<f64>,
    /// Of the continuous pole ln(z)/T: 1 does not swing, 0 does not decay, below it grows. None of a pole in the origin.
    pub damping: Option<f64>,
    /// |ln(z)|/T in radians per time unit; none of a pole in the origin.
    pub natural_frequency: Option<f64>,
}

impl PoleView {
    /// With this time between samples.
    pub(crate) fn new(pole: Z, sample_time: f64) -> Self {
        let magnitude = pole.norm();
        let logarithm = (magnitude > SAME_PLACE).then(|| pole.ln());
        let frequency = logarithm.map(|value| value.norm());
        Self {
            place: pole.into(),
            magnitude,
            time_constant: (magnitude > SAME_PLACE && magnitude < 1.0).then(|| -sample_time / magnitude.ln()),
            damping: logarithm
                .filter(|value| value.norm() > 0.0)
                .map(|value| -value.re / value.norm()),
            natural_frequency: frequency.map(|value| value / sample_time),
        }
    }
}

impl From<Z> for Place {
    fn from(value: Z) -> Self {
        Self {
            re: value.re,
            im: value.im,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y(k) = 1.5 y(k-1) - 0.7 y(k-2) + u(k-1) + 0.5 u(k-2), the past samples its states.
    fn second_order() -> LinearSystem {
        LinearSystem::mean(&[member()])
    }

    fn member() -> MemberSystem {
        let input = |value: f64| DMatrix::from_row_slice(2, 1, &[value, 0.0]);
        MemberSystem {
            a: DMatrix::from_row_slice(2, 2, &[1.5, -0.7, 1.0, 0.0]),
            b: vec![input(0.0), input(1.0), input(0.5)],
            c: DMatrix::from_row_slice(1, 2, &[1.5, -0.7]),
            d: [0.0, 1.0, 0.5].map(|value| DMatrix::from_element(1, 1, value)).to_vec(),
        }
    }

    /// An ARX model of three outputs and five inputs in the past, on which the iteration does not end.
    #[test]
    fn eigenvalues_of_a_companion_matrix_are_found() {
        let first = [
            0.965_780_675_411_224_4,
            -0.047_469_742_596_149_445,
            -0.086_816_765_367_984_77,
            0.0,
            0.0,
            0.118_873_074_650_764_47,
            0.111_609_138_548_374_18,
            0.037_059_478_461_742_4,
            0.009_859_674_610_197_544,
            0.000_875_211_146_194_487_8,
        ];
        let matrix = DMatrix::from_fn(10, 10, |row, column| match row {
            0 => first[column],
            3 => 0.0,
            _ => f64::from(u8::from(row == column + 1)),
        });
        assert!(Schur::try_new(matrix.clone(), f64::EPSILON, SCHUR_ITERATIONS).is_none());
        for matrix in [matrix.transpose(), matrix] {
            let found = eigenvalues(&matrix).expect("eigenvalues");
            // Those of z³ - 0.966 z² + 0.047 z + 0.087, and the delays of inputs.
            let characteristic = |z: Z| z.powu(3) - first[0] * z.powu(2) - first[1] * z - first[2];
            assert_eq!(found.len(), 10);
            assert!(
                found[..3].iter().all(|z| characteristic(*z).norm() < 1e-12),
                "{found:?}"
            );
            assert!(found[3..].iter().all(|z| z.norm() < 0.02), "{found:?}");
        }
    }

    #[test]
    fn poles_zeros_delay_and_gain_are_those_of_the_polynomials() {
        let system = second_order();
        // z² - 1.5 z + 0.7 and z + 0.5
        let poles = eigenvalues(&system.a).unwrap();
        let expected = Z::new(0.75, (0.7_f64 - 0.75 * 0.75).sqrt());
        assert!((poles[0] - expected).norm() < 1e-9, "{poles:?}");
        let (delay, zeros) = system.zeros(0, 0).unwrap();
        assert_eq!((delay, zeros.len()), (1, 1), "{zeros:?}");
        assert!((zeros[0] - Z::new(-0.5, 0.0)).norm() < 1e-6, "{zeros:?}");
        assert!((system.gain().unwrap()[0] - 1.5 / 0.2).abs() < 1e-9);
    }

    #[test]
    fn the_member_and_the_whole_answer_alike() {
        let z = Z::from_polar(1.0, 0.3);
        let closed = (z + 0.5) / (z * z - 1.5 * z + 0.7);
        let found = member().at(z).unwrap()[0];
        assert!((found - closed).norm() < 1e-12, "{found} {closed}");
        let system = second_order();
        let complex = |matrix: &DMatrix<f64>| matrix.map(|value| Z::new(value, 0.0));
        let shifted = DMatrix::<Z>::identity(4, 4) * z - complex(&system.a);
        let whole = complex(&system.c) * shifted.lu().solve(&complex(&system.b)).unwrap() + complex(&system.d);
        assert!((whole[0] - closed).norm() < 1e-12);
    }

    #[test]
    fn a_swinging_pole_has_its_damping() {
        // s = -0.5 ± 2j sampled every 0.1
        let view = PoleView::new(Z::new(-0.05, 0.2).exp(), 0.1);
        assert!((view.time_constant.unwrap() - 2.0).abs() < 1e-9);
        let natural = (0.25_f64 + 4.0).sqrt();
        assert!((view.natural_frequency.unwrap() - natural).abs() < 1e-9);
        assert!((view.damping.unwrap() - 0.5 / natural).abs() < 1e-9);
        assert_eq!(PoleView::new(Z::new(0.0, 0.0), 0.1).damping, None);
        assert!(eigenvalues(&DMatrix::from_element(2, 2, f64::NAN)).is_err());
    }
}
