//! Exact values of four small networks from an independent implementation; `golden/README.md` describes the file.

use serde::Deserialize;

/// The whole golden file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Golden {
    /// One entry per network.
    pub cases: Vec<GoldenCase>,
}

/// One network with its data and everything one training iteration computes from them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenCase {
    /// `inode` or `ilstm`.
    pub architecture: String,
    /// Margin function σ_Δ: `abs` or `relu`.
    pub parameterisation: String,
    /// n_y.
    pub output_lags: usize,
    /// Number of input entries in the regressor.
    pub input_channels: usize,
    /// α.
    pub coverage: f64,
    /// λ.
    pub width_penalty: f64,
    /// Crisp parameters, first layer first; the last layer is the read-out.
    pub theta: Vec<GoldenLayer>,
    /// Δ' before σ_Δ.
    pub delta_raw: GoldenMargins,
    /// Lagged inputs, `[window][step][channel]`.
    pub u: Vec<Vec<Vec<f64>>>,
    /// Measured output, `[window][step]`; step 0 is the known start.
    pub y_target: Vec<Vec<f64>>,
    /// Crisp prediction of steps 1…, `[window][step - 1]`.
    pub y: Vec<Vec<f64>>,
    /// Lower bound, as `y`.
    pub lower: Vec<Vec<f64>>,
    /// Upper bound, as `y`.
    pub upper: Vec<Vec<f64>>,
    /// Both losses.
    pub loss: GoldenLosses,
    /// Gradients of both losses.
    pub grad: GoldenGradients,
    /// One GradNorm update.
    pub gradnorm: GradNormValues,
}

/// Parameters of one layer, or a gradient with respect to them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenLayer {
    /// W, `[out][in]`.
    #[serde(rename = "W")]
    pub weight: Vec<Vec<f64>>,
    /// U, `[4h][h]` with gate order i, f, q, o; only in LSTM cells.
    #[serde(rename = "U")]
    pub recurrent: Option<Vec<Vec<f64>>>,
    /// b, `[out]`.
    #[serde(rename = "b")]
    pub bias: Vec<f64>,
}

impl GoldenLayer {
    /// W row-major.
    pub fn weight_flat(&self) -> Vec<f64> {
        self.weight.concat()
    }

    /// U row-major; empty where there is none.
    pub fn recurrent_flat(&self) -> Vec<f64> {
        self.recurrent.as_ref().map(|rows| rows.concat()).unwrap_or_default()
    }

    /// Number of outputs: rows of W.
    pub fn rows(&self) -> usize {
        self.weight.len()
    }

    /// Number of inputs: columns of W.
    pub fn columns(&self) -> usize {
        self.weight.first().map_or(0, Vec::len)
    }
}

/// Raw margins of all layers, or a gradient with respect to them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenMargins {
    /// Below the centre.
    pub lower: Vec<GoldenLayer>,
    /// Above the centre.
    pub upper: Vec<GoldenLayer>,
}

/// Values of the two losses.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenLosses {
    /// L_MSE.
    pub mse: f64,
    /// L_RQR-W with the corrected level.
    pub rqr_w: f64,
}

/// Gradients of the two losses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenGradients {
    /// ∂L_MSE/∂θ.
    pub mse_theta: Vec<GoldenLayer>,
    /// ∂L_RQR-W/∂θ, through the interval centres and through the crisp trajectory.
    pub rqr_w_theta: Vec<GoldenLayer>,
    /// ∂L_RQR-W/∂Δ'.
    pub rqr_w_delta_raw: GoldenMargins,
}

/// Quantities of one GradNorm update; index 0 is MSE, 1 is RQR-W.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradNormValues {
    /// Loss scales s before the update.
    pub s: [f64; 2],
    /// L_j(0).
    pub initial_losses: [f64; 2],
    /// β.
    pub beta: f64,
    /// ‖∇L_j‖ over the shared weights, without s_j.
    pub shared_gradient_norms: [f64; 2],
    /// r_j.
    pub relative_rates: [f64; 2],
    /// Ḡ r_j^β.
    pub targets: [f64; 2],
    /// L_grad.
    pub loss: f64,
    /// ∂L_grad/∂s_j.
    pub grad_s: [f64; 2],
}

/// The golden file, parsed.
///
/// # Panics
/// If the file compiled into this crate is not of the expected form.
pub fn golden() -> Golden {
    serde_json::from_str(include_str!("../golden/golden.json")).expect("golden/golden.json has the documented form")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_four_consistent_cases() {
        let golden = golden();
        let names: Vec<_> = golden
            .cases
            .iter()
            .map(|case| format!("{}-{}", case.architecture, case.parameterisation))
            .collect();
        assert_eq!(names, ["inode-abs", "inode-relu", "ilstm-abs", "ilstm-relu"]);
        for case in &golden.cases {
            let (windows, steps) = (case.u.len(), case.u[0].len());
            assert_eq!(case.u[0][0].len(), case.input_channels);
            assert_eq!((case.y_target.len(), case.y_target[0].len()), (windows, steps));
            assert_eq!((case.y.len(), case.y[0].len()), (windows, steps - 1));
            assert_eq!(case.theta[0].columns(), case.output_lags + case.input_channels);
            for (layer, gradient) in case.theta.iter().zip(&case.grad.rqr_w_theta) {
                assert_eq!(layer.weight_flat().len(), gradient.weight_flat().len());
                assert_eq!(layer.recurrent_flat().len(), gradient.recurrent_flat().len());
                assert_eq!(layer.rows(), layer.bias.len());
            }
        }
    }

    #[test]
    fn bounds_contain_the_prediction() {
        for case in golden().cases {
            let (y, lower, upper) = (case.y.concat(), case.lower.concat(), case.upper.concat());
            for ((y, lower), upper) in y.iter().zip(lower).zip(upper) {
                assert!(lower <= *y && *y <= upper);
            }
        }
    }
}
