//! ONNX in onnxruntime: valid for the checker of the ONNX project, and the numbers of `predict`.

use std::path::{Path, PathBuf};
use std::process::Command;

use intervalid_deploy::{Body, OnnxOptions, StepProgram, onnx_models};
use intervalid_model::Precision;
use serde_json::{Value, json};

use crate::c::corrected;
use crate::models::{Case, cases, rare_cases, unstable_arx};
use crate::tools::{python, run, write};

fn options(precision: Option<Precision>) -> OnnxOptions {
    OnnxOptions {
        precision,
        jacobian: false,
    }
}

/// Writes the models of a plan into a folder of their own; they stay there to be looked at.
fn export(plan: &StepProgram, precision: Option<Precision>, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("onnx").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for (part, content) in onnx_models(plan, &options(precision)).unwrap().parts() {
        std::fs::write(folder.join(format!("{part}.onnx")), content).unwrap();
    }
    folder
}

/// Relative to a value or its standard deviation. Free runs in single precision differ by a few units of 1e-7 per step in
/// rounding alone: `predict` itself is 9e-7 away from the same parameters in double.
fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::F32 => 5e-6,
        Precision::F64 => 1e-12,
    }
}

/// What the script needs: a folder of models, what to feed them and what to expect.
pub(crate) fn task(case: &Case, plan: &StepProgram, precision: Option<Precision>, index: usize) -> Value {
    let expected = case.expected(60);
    let name = format!("case{index}{}", precision.map_or("", Precision::name));
    let computed = onnx_models(plan, &options(precision)).unwrap().precision;
    let needs = plan.needs();
    let own = onnx_models(plan, &OnnxOptions::default()).unwrap().precision;
    // In another precision than the model's own, a free run adds up what parameters and steps are rounded by.
    let tolerance = match (own, computed) {
        (Precision::F64, Precision::F32) => 1e-3,
        (Precision::F32, Precision::F64) => tolerance(own),
        _ => tolerance(computed),
    };
    json!({
        "folder": export(plan, precision, &name),
        "name": format!("{} in {}", case.name, computed.name()),
        "past_u": expected.past_inputs,
        "past_y": expected.past_outputs,
        "past_u_rows": needs.inputs,
        "past_u_least_rows": needs.least_inputs,
        "past_y_rows": needs.outputs,
        "u": expected.inputs,
        // In another precision a sample on the border may fall on its other side.
        "extrapolated": plan.region.as_ref().filter(|_| own == computed).map(|_| &expected.extrapolated),
        "expected": expected.bounds.iter().map(|sample| {
            sample.iter().map(|[y, lower, upper, ..]| [lower, y, upper]).collect()
        }).collect::<Vec<Vec<_>>>(),
        "std": case.model.interface().normaliser.outputs.iter().map(|scale| scale.std).collect::<Vec<_>>(),
        "tolerance": tolerance,
        "metadata": {
            "model_hash": case.model.fingerprint().unwrap(),
            "model": case.model.kind().name(),
            "coverage": plan.coverage.to_string(),
            "sample_time_seconds": plan.sample_time.map(|seconds| seconds.to_string()),
            "initial": plan.initial.to_string(),
        },
        "inputs": case.dataset.inputs().iter().map(|channel| json!({"name": channel.name, "unit": channel.unit})).collect::<Vec<_>>(),
        "outputs": case.dataset.outputs().iter().map(|channel| json!({"name": channel.name, "unit": channel.unit})).collect::<Vec<_>>(),
    })
}

pub(crate) fn script(tasks: Vec<Value>, name: &str) -> Option<()> {
    let python = python()?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("onnx");
    std::fs::create_dir_all(&folder).unwrap();
    let tasks = write(&folder, name, &Value::from(tasks).to_string());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deploy/run_onnx.py");
    run(Command::new(python).arg(script).arg(tasks));
    Some(())
}

#[test]
fn onnxruntime_gives_the_numbers_of_predict() {
    let mut tasks = Vec::new();
    for (index, case) in cases().iter().chain(&rare_cases()).enumerate() {
        let plan = StepProgram::new(&case.model).unwrap();
        tasks.push(task(case, &plan, None, index));
        let other = match onnx_models(&plan, &OnnxOptions::default()).unwrap().precision {
            Precision::F32 => Precision::F64,
            Precision::F64 => Precision::F32,
        };
        tasks.push(task(case, &plan, Some(other), index));
    }
    script(tasks, "predict.json");
}

/// Where measurements arrive, steps go on from them as those of `Simulator::correct`, with the band of so few samples ahead.
#[test]
fn onnxruntime_starts_again_from_measurements() {
    let mut tasks = Vec::new();
    let mut learnt = 0;
    for (index, case) in cases().into_iter().chain(rare_cases()).enumerate() {
        let free = case.expected(60);
        let case = Case {
            model: case.model.with_horizons(&case.dataset, &case.part).unwrap(),
            ..case
        };
        learnt += usize::from(case.model.interface().horizons.is_some());
        let expected = corrected(&case, &free);
        assert_ne!(expected.bounds[1], free.bounds[1], "{}: corrections matter", case.name);
        let plan = StepProgram::new(&case.model).unwrap();
        let computed = onnx_models(&plan, &OnnxOptions::default()).unwrap().precision;
        tasks.push(json!({
            "folder": export(&plan, None, &format!("corrected{index}")),
            "name": format!("{}, corrected", case.name),
            "past_u": expected.past_inputs,
            "past_y": expected.past_outputs,
            "u": expected.inputs,
            "measured": expected.measured,
            "expected": expected.bounds.iter().map(|sample| {
                sample.iter().map(|[y, lower, upper, ..]| [lower, y, upper]).collect()
            }).collect::<Vec<Vec<_>>>(),
            "std": case.model.interface().normaliser.outputs.iter().map(|scale| scale.std).collect::<Vec<_>>(),
            // A linear model on measured lags takes the difference of large products, which are summed in another order here.
            "tolerance": if computed == Precision::F64 { 1e-11 } else { tolerance(computed) },
        }));
    }
    assert!(learnt > 5, "{learnt} models know how errors grow");
    script(tasks, "corrected.json");
}

/// Makes the read-outs of a member run away at once.
fn poison(plan: &mut StepProgram, member: usize) {
    let bias = match &mut plan.body {
        Body::Networks(networks) => &mut networks.members[member].layers.last_mut().unwrap().bias,
        Body::StateSpace(models) => &mut models.members[member].output.bias,
        Body::Linear(_) => panic!("networks expected"),
    };
    bias.centre.fill(1e6);
}

/// Keeps some members only.
fn keep(plan: &mut StepProgram, kept: impl Fn(usize) -> bool) {
    let mut index = 0..;
    let mut keeps = || kept(index.next().unwrap());
    match &mut plan.body {
        Body::Networks(networks) => networks.members.retain(|_| keeps()),
        Body::StateSpace(models) => models.members.retain(|_| keeps()),
        Body::Linear(_) => panic!("networks expected"),
    }
}

/// An ensemble leaves out a member that has run away; a run that has left every sensible range says so.
#[test]
fn runaways_are_left_out() {
    let mut tasks = Vec::new();
    let is_ensemble = |case: &&Case| case.model.members() > 1;
    for (index, case) in cases().iter().filter(is_ensemble).enumerate() {
        let plan = StepProgram::new(&case.model).unwrap();
        let mut poisoned = plan.clone();
        poison(&mut poisoned, 1);
        let mut rest = plan.clone();
        keep(&mut rest, |member| member != 1);
        let mut gone = plan.clone();
        (0..plan.members()).for_each(|member| poison(&mut gone, member));
        let mut alone = gone.clone();
        keep(&mut alone, |member| member == 0);
        let expected = case.expected(60);
        let mut compare = |found: &StepProgram, same_as: Option<&StepProgram>, what: &str| {
            tasks.push(json!({
                "folder": export(found, None, &format!("runaway{index}-{what}")),
                "same_as": same_as.map(|plan| export(plan, None, &format!("runaway{index}-{what}-expected"))),
                "name": format!("{}: {what}", case.name),
                "past_u": expected.past_inputs,
                "past_y": expected.past_outputs,
                "u": expected.inputs,
                "std": plan.outputs.iter().map(|output| output.scale.std).collect::<Vec<_>>(),
                "tolerance": tolerance(Precision::F32),
            }));
        };
        compare(&poisoned, Some(&rest), "one of three");
        compare(&gone, None, "all");
        compare(&alone, None, "the only one");
    }
    assert_eq!(tasks.len(), 21);
    script(tasks, "runaways.json");
}

/// Where a run ends, everything after is not a number: an unstable ARX model at the step that the simulator names, any model from
/// an input on that is beyond all reason, also where a dead time keeps it from the regressor for a while.
#[test]
fn runs_end_in_nan_where_the_simulator_refuses_to_go_on() {
    let mut tasks = Vec::new();
    let mut add = |case: &Case, u: Vec<Vec<f64>>, past_u: Vec<Vec<f64>>, ends_at: usize| {
        let plan = StepProgram::new(&case.model).unwrap();
        let expected = case.expected(60);
        tasks.push(json!({
            "folder": export(&plan, None, &format!("ends{}", tasks.len())),
            "ends_at": ends_at,
            "name": case.name,
            "past_u": past_u,
            "past_y": expected.past_outputs,
            "u": u,
        }));
    };
    let unstable = unstable_arx();
    let band = unstable
        .model
        .simulate(&unstable.dataset, &unstable.part)
        .unwrap()
        .remove(0);
    let record = &unstable.dataset.experiments()[0];
    let u = (band.first..band.first + 80)
        .map(|k| vec![record.input(0)[k]])
        .collect();
    let ends_at = band.diverged_at.unwrap();
    assert!(ends_at > 3 && ends_at < 70, "{ends_at}");
    let past = vec![vec![record.output(0)[band.first - 1]]];
    let plan = StepProgram::new(&unstable.model).unwrap();
    let folder = export(&plan, None, "unstable");
    for case in cases() {
        let expected = case.expected(60);
        let mut marked = expected.inputs[..20].to_vec();
        marked[7][0] = 9.9e37;
        add(&case, marked, expected.past_inputs.clone(), 7);
        let needs = StepProgram::new(&case.model).unwrap().needs();
        if needs.inputs > 0 {
            let mut marked = expected.past_inputs.clone();
            marked.last_mut().unwrap()[0] = 9.9e37;
            add(&case, expected.inputs[..20].to_vec(), marked, 0);
        }
    }
    let u: Vec<Vec<f64>> = u;
    tasks.push(json!({
        "folder": folder, "ends_at": ends_at, "name": unstable.name, "past_u": [[0.0]], "past_y": past, "u": u,
    }));
    script(tasks, "ends.json");
}
