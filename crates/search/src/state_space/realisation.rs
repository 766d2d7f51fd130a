//! ARX models as state-space models, exactly and with fewer states.
//!
//! y(k) = Σ aᵢ y(k-i) + Σ bⱼ u(k-j) + c has the past outputs and inputs as states. Balancing leaves those out that are hard to
//! reach and hardly seen: the Gramians P = Σ Aᵏ B Bᵀ (Aᵏ)ᵀ and Q = Σ (Aᵏ)ᵀ Cᵀ C Aᵏ tell which.

use intervalid_data::ArxModel;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::linear::Linear;

impl Linear {
    /// The exact realisation of an ARX model whose input comes delayed by `dead_time` already: its states are the past
    /// outputs and inputs. None if the model's own dead time is shorter.
    pub fn from_arx(arx: &ArxModel, inputs: usize, dead_time: usize) -> Option<Self> {
        let (ny, lags) = (arx.outputs(), arx.lags);
        let delay = lags.nd.checked_sub(dead_time)?;
        // Inputs u(k-1) … u(k-past) are states, newest first, after the outputs.
        let past = delay + lags.nx;
        let order = ny * lags.ny + inputs * past;
        let first_input = ny * lags.ny;
        let mut c = DMatrix::zeros(ny, order);
        let mut d = DMatrix::zeros(ny, inputs);
        for (output, row) in arx.coefficients.iter().enumerate() {
            let (outputs, taps) = row.split_at(first_input);
            outputs
                .iter()
                .enumerate()
                .for_each(|(at, value)| c[(output, at)] = *value);
            for (at, value) in taps.iter().enumerate() {
                let (age, channel) = (delay + at / inputs.max(1), at % inputs.max(1));
                match age.checked_sub(1) {
                    Some(age) => c[(output, first_input + age * inputs + channel)] = *value,
                    None => d[(output, channel)] = *value,
                }
            }
        }
        let mut a = DMatrix::zeros(order, order);
        let mut b = DMatrix::zeros(order, inputs);
        let mut state_bias = DVector::zeros(order);
        let output_bias = DVector::from_column_slice(&arx.bias);
        a.rows_mut(0, ny).copy_from(&c);
        b.rows_mut(0, ny).copy_from(&d);
        state_bias.rows_mut(0, ny).copy_from(&output_bias);
        (ny..first_input).for_each(|i| a[(i, i - ny)] = 1.0);
        if past > 0 {
            (0..inputs).for_each(|i| b[(first_input + i, i)] = 1.0);
            (first_input + inputs..order).for_each(|i| a[(i, i - inputs)] = 1.0);
        }
        Some(Self {
            gain: DMatrix::zeros(order, ny),
            a,
            b,
            c,
            d,
            state_bias,
            output_bias,
        })
    }

    /// The balanced model of at most `order` states. None if this one is not stable or a decomposition fails.
    ///
    /// **Method.** Square-root balancing: with the Gramians P = F Fᵀ and Q = G Gᵀ and the decomposition Gᵀ F = U Σ Vᵀ, the
    /// kept states are Σ₁^-½ U₁ᵀ Gᵀ x, and x ≈ F V₁ Σ₁^-½ times them.
    ///
    /// **Reference.** M. S. Tombs, I. Postlethwaite, Int. J. Control 46(4), 1987, doi:10.1080/00207178708933971.
    pub fn truncated(&self, order: usize) -> Option<Self> {
        if self.radius() >= 1.0 {
            return None;
        }
        // A constant offset acts like one more input; it must survive the truncation.
        let mut driven = self.b.clone().insert_column(self.b.ncols(), 0.0);
        driven.column_mut(self.b.ncols()).copy_from(&self.state_bias);
        let reach = square_root(&gramian(&self.a, &(&driven * driven.transpose())))?;
        let observe = square_root(&gramian(&self.a.transpose(), &self.c.tr_mul(&self.c)))?;
        let svd = (observe.transpose() * &reach).try_svd(true, true, f64::EPSILON, 10_000)?;
        let (u, v) = (svd.u.as_ref()?, svd.v_t.as_ref()?);
        let mut places: Vec<usize> = (0..svd.singular_values.len()).collect();
        places.sort_by(|&i, &j| svd.singular_values[j].total_cmp(&svd.singular_values[i]));
        let largest = places.first().map_or(0.0, |&i| svd.singular_values[i]);
        places.retain(|&i| svd.singular_values[i] > 1e-10 * largest);
        places.truncate(order);
        let (nx, kept) = (self.order(), places.len());
        let mut forward = DMatrix::zeros(kept, nx);
        let mut back = DMatrix::zeros(nx, kept);
        for (to, &from) in places.iter().enumerate() {
            let scale = svd.singular_values[from].sqrt().recip();
            forward.row_mut(to).tr_copy_from(&(&observe * u.column(from) * scale));
            back.column_mut(to)
                .copy_from(&(&reach * v.row(from).transpose() * scale));
        }
        Some(self.transformed(&forward, &back, &DVector::zeros(nx)))
    }
}

/// Σ Aᵏ W (Aᵏ)ᵀ by doubling the number of terms.
fn gramian(a: &DMatrix<f64>, w: &DMatrix<f64>) -> DMatrix<f64> {
    let (mut sum, mut power) = (w.clone(), a.clone());
    for _ in 0..40 {
        let more = &power * &sum * power.transpose();
        sum += &more;
        if more.amax() <= 1e-14 * sum.amax() {
            break;
        }
        power = &power * &power;
    }
    sum
}

/// F with F Fᵀ = P for a positive semidefinite P.
fn square_root(p: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let symmetric = 0.5 * (p + p.transpose());
    let eigen = SymmetricEigen::try_new(symmetric, f64::EPSILON, 10_000)?;
    let roots = eigen.eigenvalues.map(|value| value.max(0.0).sqrt());
    Some(&eigen.eigenvectors * DMatrix::from_diagonal(&roots))
}

#[cfg(test)]
mod tests {
    use intervalid_data::Lags;

    use super::*;
    use crate::state_space::run::Run;

    fn wave(len: usize) -> Vec<f64> {
        (0..len).map(|k| (0.37 * (k * k % 97) as f64).sin() + 0.3).collect()
    }

    fn example() -> ArxModel {
        ArxModel {
            lags: Lags { nx: 1, nd: 2, ny: 2 },
            coefficients: vec![vec![1.5, -0.7, 1.0, 0.5]],
            bias: vec![0.2],
        }
    }

    /// The realisation, its whitened and its balanced form all answer as the ARX model does.
    #[test]
    fn an_arx_model_is_realised_exactly() {
        let u = wave(200);
        let mut y = vec![0.0; 200];
        let at = |v: &[f64], k: usize, lag: usize| k.checked_sub(lag).map_or(0.0, |k| v[k]);
        for k in 0..200 {
            // Lag 3 of the input becomes 2 since the run's input is delayed by one sample already.
            y[k] = 1.5 * at(&y, k, 1) - 0.7 * at(&y, k, 2) + at(&u, k, 1) + 0.5 * at(&u, k, 2) + 0.2;
        }
        let run = Run::new(1, 1, u, y.clone());
        let linear = Linear::from_arx(&example(), 1, 1).expect("dead time fits");
        assert_eq!(linear.order(), 4);
        let balanced = linear.truncated(3).expect("stable");
        assert_eq!(balanced.order(), 3);
        let whitened = balanced.whitened(std::slice::from_ref(&run)).expect("stable");
        let padded = balanced.padded(6);
        assert_eq!(padded.order(), 6);
        for (model, late) in [(&linear, 0), (&balanced, 0), (&padded, 0), (&whitened, 150)] {
            let found = model
                .to_model()
                .simulate(&run, &vec![0.0; model.order()])
                .expect("stable");
            for k in late..200 {
                assert!((found[k] - y[k]).abs() < 1e-7, "{k}: {} {}", found[k], y[k]);
            }
        }
        assert_eq!(Linear::from_model(&whitened.to_model()).a, whitened.a);
    }
}
