//! What one step of a model computes, as plain data: other programs rebuild it from this.

use intervalid_deploy::{Base, Body, Bounded, MapPlan, StepProgram};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::convert::json as to_python;
use crate::error;
use crate::model::Model;

/// The step of a model: channels with their scaling, lags, parameters with their bounds, calibration, limits.
#[pyfunction]
pub(crate) fn step_program<'py>(py: Python<'py>, model: &Model) -> PyResult<Bound<'py, PyAny>> {
    let program = StepProgram::new(&model.model).map_err(error::deploy)?;
    to_python(py, &plain(&program))
}

fn plain(program: &StepProgram) -> Value {
    let needs = program.needs();
    let inputs: Vec<Value> = program
        .inputs
        .iter()
        .map(|input| json!({"name": input.channel.name, "unit": input.channel.unit, "mean": input.scale.mean, "std": input.scale.std}))
        .collect();
    let outputs: Vec<Value> = program
        .outputs
        .iter()
        .map(|output| {
            json!({
                "name": output.channel.name,
                "unit": output.channel.unit,
                "mean": output.scale.mean,
                "std": output.scale.std,
                "spread_factor": output.spread.factor,
                "spread_floor": output.spread.floor,
                "calibration": output.calibration.map(|found| [found.lower, found.upper, found.floor]),
                "least": output.range.least,
                "most": output.range.most,
            })
        })
        .collect();
    json!({
        "inputs": inputs,
        "outputs": outputs,
        "nx": program.lags.nx,
        "nd": program.lags.nd,
        "ny": program.lags.ny,
        "past_outputs": needs.outputs,
        "warmup": needs.least_inputs,
        "body": body(&program.body),
    })
}

fn body(body: &Body) -> Value {
    match body {
        Body::Linear(linear) => json!({
            "kind": "linear", "weight": linear.weight, "bias": linear.bias, "half_width": linear.half_width,
        }),
        Body::Networks(networks) => {
            let members: Vec<Value> = networks
                .members
                .iter()
                .map(|member| {
                    let layers: Vec<Value> = member
                        .layers
                        .iter()
                        .map(|layer| {
                            json!({
                                "weight": matrix(&layer.weight),
                                "recurrent": layer.recurrent.as_ref().map(matrix),
                                "bias": matrix(&layer.bias),
                            })
                        })
                        .collect();
                    json!({"layers": layers, "linear": member.linear.as_ref().map(matrix)})
                })
                .collect();
            let base = match networks.base {
                Base::Zero => "zero",
                Base::LastOutput => "last",
                Base::Linear => "linear",
            };
            json!({"kind": "networks", "lstm": networks.lstm, "base": base, "hidden": networks.hidden, "members": members})
        }
        Body::StateSpace(plan) => {
            let members: Vec<Value> = plan
                .members
                .iter()
                .map(|member| {
                    json!({"state": map(&member.state), "output": map(&member.output), "observer": matrix(&member.observer)})
                })
                .collect();
            json!({"kind": "state_space", "states": plan.states, "members": members})
        }
    }
}

fn map(map: &MapPlan) -> Value {
    let units = map.units.as_ref();
    json!({
        "linear": matrix(&map.linear),
        "bias": matrix(&map.bias),
        "units": units.map(|units| [matrix(&units.weight), matrix(&units.bias), matrix(&units.read_out)]),
    })
}

/// Row by row.
fn matrix(matrix: &Bounded) -> Value {
    json!({
        "shape": [matrix.rows, matrix.columns],
        "centre": matrix.centre,
        "lower": matrix.lower,
        "upper": matrix.upper,
    })
}
