//! Golden values: four small networks in float64 from an independent implementation of docs/method.md.

use intervalid_data::Lags;
use intervalid_testkit::{GoldenCase, GoldenLayer, GoldenMargins, Tolerance, assert_all_close, assert_close, golden};

use super::*;
use crate::train::loss::{QuantileLevel, RqrW, mean_squared_error};

const TOLERANCE: Tolerance = Tolerance::relative(1e-10).with_absolute(1e-13);

pub(crate) fn flatten(layers: &[GoldenLayer]) -> Vec<f64> {
    let mut flat = Vec::new();
    for layer in layers {
        flat.extend(layer.weight_flat());
        flat.extend(layer.recurrent_flat());
        flat.extend(&layer.bias);
    }
    flat
}

fn architecture(case: &GoldenCase) -> Architecture {
    let kind = if case.architecture == "inode" {
        NetworkKind::Node
    } else {
        NetworkKind::Lstm
    };
    let hidden = case.theta[..case.theta.len() - 1]
        .iter()
        .map(|layer| {
            if kind == NetworkKind::Lstm {
                layer.rows() / 4
            } else {
                layer.rows()
            }
        })
        .collect();
    let lags = Lags {
        nx: case.input_channels - 1,
        nd: 0,
        ny: case.output_lags,
    };
    Architecture {
        kind,
        inputs: 1,
        outputs: 1,
        lags,
        hidden,
        linear_path: false,
        states: 0,
        head: super::architecture::Head::Point,
    }
}

fn batch(case: &GoldenCase, architecture: &Architecture) -> Batch<f64> {
    let steps = case.y_target[0].len() - 1;
    let mut batch = Batch::new(architecture, case.y_target.len(), steps, 0);
    let width = batch.width();
    for (window, target) in case.y_target.iter().enumerate() {
        batch.start[window] = target[0];
        for step in 0..steps {
            batch.target[step * width + window] = target[step + 1];
            for channel in 0..case.input_channels {
                let row = case.output_lags + channel;
                batch.frames.x_mut(step)[row * width + window] = case.u[window][step + 1][channel];
            }
        }
    }
    batch
}

/// σ_Δ and its derivative.
fn margins(case: &GoldenCase, raw: &[f64]) -> (Vec<f64>, Vec<f64>) {
    raw.iter()
        .map(|&raw| match case.parameterisation.as_str() {
            "abs" => (raw.abs(), raw.signum()),
            _ => (raw.max(0.0), if raw > 0.0 { 1.0 } else { 0.0 }),
        })
        .unzip()
}

fn check_margin_gradient(expected: &GoldenMargins, lower: &[f64], upper: &[f64]) {
    assert_all_close("lower margins", &flatten(&expected.lower), lower, TOLERANCE);
    assert_all_close("upper margins", &flatten(&expected.upper), upper, TOLERANCE);
}

#[test]
fn networks_losses_and_gradients_match_the_golden_values() {
    let cases = golden().cases;
    assert_eq!(cases.len(), 4);
    for case in &cases {
        let architecture = architecture(case);
        let mut network = Network::<f64>::new(&architecture);
        let theta = flatten(&case.theta);
        let mut batch = batch(case, &architecture);
        let width = batch.width();

        network.forward(&theta, &mut batch);
        let at = |values: &[f64], window: usize, step: usize| values[step * width + window];
        for (window, expected) in case.y.iter().enumerate() {
            let found: Vec<f64> = (0..batch.steps).map(|step| at(&batch.y, window, step)).collect();
            assert_all_close("y", expected, &found, TOLERANCE);
        }
        let mut y_adjoint = vec![0.0; batch.y.len()];
        let mse = mean_squared_error(&batch, 1.0 / batch.scored() as f64, &mut y_adjoint);
        assert_close("L_MSE", case.loss.mse, mse, TOLERANCE);
        let mut mse_gradient = vec![0.0; theta.len()];
        network.backward(&theta, &batch, &mut y_adjoint, None, &mut mse_gradient);
        assert_all_close("dL_MSE/dθ", &flatten(&case.grad.mse_theta), &mse_gradient, TOLERANCE);

        let (margin_lower, slope_lower) = margins(case, &flatten(&case.delta_raw.lower));
        let (margin_upper, slope_upper) = margins(case, &flatten(&case.delta_raw.upper));
        let mut parameters = IntervalParameters::new(network.layout());
        parameters.update(&theta, &margin_lower, &margin_upper);
        let mut adjoint = IntervalAdjoint::new(network.layout());
        let mut trajectory = TrajectoryAdjoint::zeros(&batch.frames);
        let loss = RqrW::new(case.coverage, case.width_penalty, QuantileLevel::Corrected);
        let windows = case.y.len();
        let mut sum = 0.0;
        for step in 0..batch.steps {
            let [mut lower, mut upper] = [vec![0.0; width], vec![0.0; width]];
            let [mut to_lower, mut to_upper] = [vec![0.0; width], vec![0.0; width]];
            network.interval_forward(&parameters, &batch.frames, step, &mut lower, &mut upper);
            for window in 0..windows {
                assert_close("lower", case.lower[window][step], lower[window], TOLERANCE);
                assert_close("upper", case.upper[window][step], upper[window], TOLERANCE);
            }
            let target = &batch.target[step * width..step * width + windows];
            let share = 1.0 / batch.scored() as f64;
            sum += loss.row(
                &lower[..windows],
                &upper[..windows],
                target,
                share,
                &mut to_lower,
                &mut to_upper,
            );
            let (frames, adjoint) = (&batch.frames, &mut adjoint);
            network.interval_backward(
                &parameters,
                frames,
                step,
                &to_lower,
                &to_upper,
                adjoint,
                &mut trajectory,
            );
        }
        assert_close("L_RQR-W", case.loss.rqr_w, sum / batch.scored() as f64, TOLERANCE);
        adjoint.finish();

        let chain = |sign: f64, adjoint: &[f64], slope: &[f64]| -> Vec<f64> {
            adjoint.iter().zip(slope).map(|(g, slope)| sign * g * slope).collect()
        };
        check_margin_gradient(
            &case.grad.rqr_w_delta_raw,
            &chain(-1.0, &adjoint.lower, &slope_lower),
            &chain(1.0, &adjoint.upper, &slope_upper),
        );
        let mut rqr_gradient: Vec<f64> = adjoint.lower.iter().zip(&adjoint.upper).map(|(l, u)| l + u).collect();
        let mut y_adjoint = vec![0.0; batch.y.len()];
        network.backward(&theta, &batch, &mut y_adjoint, Some(&trajectory), &mut rqr_gradient);
        assert_all_close(
            "dL_RQR-W/dθ",
            &flatten(&case.grad.rqr_w_theta),
            &rqr_gradient,
            TOLERANCE,
        );
    }
}
