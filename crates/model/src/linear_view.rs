//! A linear model to look at: coefficients in the units of the record, poles and steady-state gains.

use nalgebra::{DMatrix, DVector};
use serde::Serialize;

use intervalid_data::Regressor;

use crate::model::Model;

/// One term of a difference equation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinearTerm {
    /// Channel whose sample it multiplies.
    pub channel: String,
    /// `output` or `input`.
    pub role: &'static str,
    /// How many samples back.
    pub age: usize,
    /// In units of the output per unit of the channel.
    pub coefficient: f64,
}

/// The difference equation of one output: ŷ(k) is the sum of its terms and the constant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinearEquation {
    /// Name of the output.
    pub output: String,
    /// Past outputs, newest first, then inputs.
    pub terms: Vec<LinearTerm>,
    /// In units of the output.
    pub constant: f64,
    /// Change of the output at rest per unit of each input, by the input's name; none where a pole at one leaves no rest.
    pub gains: Option<Vec<(String, f64)>>,
}

/// A pole of the free run, in the z-plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pole {
    /// Real part.
    pub re: f64,
    /// Imaginary part; poles off the axis come in pairs.
    pub im: f64,
    /// Distance from the origin: below 1 the answer decays.
    pub magnitude: f64,
    /// Samples in which the answer falls to 1/e; none where it does not.
    pub time_constant: Option<f64>,
}

/// A fitted ARX model in the units of its record.
///
/// Of a model that averages several linear ones it is the first, which has seen all the data.
///
/// **Formula.** With scales (μ, σ) the coefficient of channel j in the equation of output i is `a_ij·σ_i/σ_j`. Poles are the
/// eigenvalues of the companion matrix of A_1 … A_ny; the gain is `(I - ΣA)⁻¹ΣB`.
///
/// **Reference.** L. Ljung, *System Identification: Theory for the User*, 2nd ed., Prentice Hall 1999, section 4.2.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinearView {
    /// Linear models whose mean the model is.
    pub members: usize,
    /// One per output.
    pub equations: Vec<LinearEquation>,
    /// Largest first.
    pub poles: Vec<Pole>,
    /// Whether all poles lie inside the unit circle.
    pub is_stable: bool,
}

impl LinearView {
    /// That of a linear model; none of others.
    #[must_use]
    pub fn of(model: &Model) -> Option<Self> {
        let members = model.arx()?.0;
        let arx = &members[0];
        let interface = model.interface();
        let (inputs, outputs) = (&interface.inputs, &interface.outputs);
        let (input_scales, output_scales) = (&interface.normaliser.inputs, &interface.normaliser.outputs);
        let lags = arx.lags;
        let regressor = Regressor::new(lags, inputs.len(), outputs.len());
        let count = outputs.len();
        let mut companion = DMatrix::<f64>::zeros(count * lags.ny, count * lags.ny);
        let mut past_sum = DMatrix::<f64>::zeros(count, count);
        let mut input_sum = DMatrix::<f64>::zeros(count, inputs.len());
        let mut equations = Vec::new();
        for (row, coefficients) in arx.coefficients.iter().enumerate() {
            let own = output_scales[row];
            let mut terms = Vec::new();
            let mut constant = own.mean + own.std * arx.bias[row];
            for age in 1..=lags.ny {
                for (index, channel) in outputs.iter().enumerate() {
                    let scale = output_scales[index];
                    let coefficient = coefficients[regressor.output_row(age, index)] * own.std / scale.std;
                    constant -= coefficient * scale.mean;
                    companion[(row, count * (age - 1) + index)] = coefficient;
                    past_sum[(row, index)] += coefficient;
                    terms.push(LinearTerm {
                        channel: channel.name.clone(),
                        role: "output",
                        age,
                        coefficient,
                    });
                }
            }
            for tap in 0..lags.input_taps() {
                for (index, channel) in inputs.iter().enumerate() {
                    let scale = input_scales[index];
                    let coefficient = coefficients[regressor.input_row(tap, index)] * own.std / scale.std;
                    constant -= coefficient * scale.mean;
                    input_sum[(row, index)] += coefficient;
                    terms.push(LinearTerm {
                        channel: channel.name.clone(),
                        role: "input",
                        age: lags.input_age(tap),
                        coefficient,
                    });
                }
            }
            equations.push(LinearEquation {
                output: outputs[row].name.clone(),
                terms,
                constant,
                gains: None,
            });
        }
        for place in count..count * lags.ny {
            companion[(place, place - count)] = 1.0;
        }
        if let Some(inverse) = (DMatrix::identity(count, count) - past_sum).try_inverse() {
            let gains = inverse * input_sum;
            for (row, equation) in equations.iter_mut().enumerate() {
                let named = inputs
                    .iter()
                    .enumerate()
                    .map(|(index, input)| (input.name.clone(), gains[(row, index)]));
                equation.gains = Some(named.collect());
            }
        }
        let eigenvalues: DVector<_> = companion.complex_eigenvalues();
        let mut poles: Vec<Pole> = eigenvalues.iter().map(|value| Pole::new(value.re, value.im)).collect();
        poles.sort_by(|a, b| b.magnitude.total_cmp(&a.magnitude).then(b.im.total_cmp(&a.im)));
        let is_stable = poles.iter().all(|pole| pole.magnitude < 1.0);
        Some(Self {
            members: members.len(),
            equations,
            poles,
            is_stable,
        })
    }
}

impl Pole {
    fn new(re: f64, im: f64) -> Self {
        let magnitude = re.hypot(im);
        Self {
            re,
            im,
            magnitude,
            time_constant: (magnitude > 0.0 && magnitude < 1.0).then(|| -1.0 / magnitude.ln()),
        }
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Channel, Dataset, Experiment, Lags, Split, SplitFractions};

    use super::*;
    use crate::config::FitConfig;
    use crate::config::Strategy;
    use crate::kind::ModelKind;
    use crate::train::FitOptions;

    /// y(k) = 1.5 y(k-1) - 0.7 y(k-2) + 0.5 u(k-1) + 3 in its own units, far from zero mean and unit variance.
    #[test]
    fn a_known_system_is_recovered_in_its_own_units() {
        let u: Vec<f64> = (0..400).map(|k| 50.0 + 20.0 * f64::from((k * k / 7) % 5)).collect();
        let mut y = vec![100.0, 100.0];
        for k in 2..400 {
            y.push(1.5 * y[k - 1] - 0.7 * y[k - 2] + 0.5 * u[k - 1] + 3.0);
        }
        let channels = [Channel::new("valve"), Channel::new("level")].map(|channel| vec![channel]);
        let [inputs, outputs] = channels;
        let experiment = Experiment::new("e", vec![u], vec![y]);
        let dataset = Dataset::new("d", inputs, outputs, None, vec![experiment]).expect("valid");
        let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
        let mut config = FitConfig::paper("", ModelKind::Arx, Strategy::default());
        (config.lags, config.lag_search) = (Lags { nx: 0, nd: 1, ny: 2 }, false);
        let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).expect("fits");
        let view = LinearView::of(&model).expect("linear");
        let equation = &view.equations[0];
        let found: Vec<f64> = equation.terms.iter().map(|term| term.coefficient).collect();
        for (found, expected) in found.iter().chain([&equation.constant]).zip([1.5, -0.7, 0.5, 3.0]) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        assert_eq!(equation.terms[2].age, 1);
        let gain = equation.gains.as_ref().expect("at rest")[0].1;
        assert!((gain - 0.5 / 0.2).abs() < 1e-5, "{gain}");
        assert!(view.is_stable && (view.poles[0].magnitude - 0.7_f64.sqrt()).abs() < 1e-6);
        assert!((view.poles[0].re - 0.75).abs() < 1e-6 && view.poles[0].im > 0.0);
    }
}
