//! FMUs in fmpy: valid, and the numbers of `predict`, in several instances, after resets and restored states.

use std::path::Path;
use std::process::Command;

use intervalid_deploy::{FmiVersion, FmuOptions, StepProgram, fmu};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::models::{Case, cases};
use crate::tools::{python, run, tool, write};

/// What the script needs: the FMU, what to feed it and what to expect.
fn task(case: &Case, version: FmiVersion, folder: &Path, index: usize) -> Value {
    let plan = StepProgram::new(&case.model).unwrap();
    let options = FmuOptions {
        name: "plant".to_owned(),
        version,
        with_binary: true,
    };
    let package = fmu(&plan, &options).unwrap();
    assert!(package.has_binary);
    let path = folder.join(format!("case{index}_{version:?}.fmu"));
    std::fs::write(&path, &package.bytes).unwrap();
    if index == 0 {
        let again = fmu(&plan, &options).unwrap();
        assert_eq!(package.bytes, again.bytes, "same bytes every time");
    }
    let expected = case.expected(60);
    // With a dead time the inputs of a step are those at its beginning: one sample earlier.
    let mut past_inputs = expected.past_inputs.clone();
    let mut inputs = expected.inputs.clone();
    if !package.inputs_at_end {
        inputs.insert(0, past_inputs.pop().unwrap());
        inputs.pop();
    }
    let names = |channels: &[intervalid_data::Channel]| -> Vec<String> {
        channels.iter().map(|channel| channel.name.clone()).collect()
    };
    json!({
        "fmu": path,
        "name": case.name,
        "sample_time": package.sample_time,
        "inputs": names(case.dataset.inputs()),
        "outputs": names(case.dataset.outputs()),
        "past_inputs": past_inputs,
        "past_outputs": expected.past_outputs,
        "u": inputs,
        "measured": expected.measured,
        "expected": expected.bounds,
        "extrapolated": plan.region.as_ref().map(|_| &expected.extrapolated),
        "std": case.model.interface().normaliser.outputs.iter().map(|scale| scale.std).collect::<Vec<_>>(),
        "tolerance": match plan.precision {
            intervalid_model::Precision::F32 => 1e-6,
            intervalid_model::Precision::F64 => 1e-12,
        },
    })
}

#[test]
fn fmpy_gives_the_numbers_of_predict() {
    let (Some(python), Some(_)) = (python(), tool("cc", "gcc")) else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let mut tasks = Vec::new();
    for (index, case) in cases().iter().enumerate() {
        for version in [FmiVersion::V2, FmiVersion::V3] {
            tasks.push(task(case, version, folder.path(), index));
        }
    }
    let tasks = write(folder.path(), "tasks.json", &Value::from(tasks).to_string());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deploy/fmu.py");
    run(Command::new(python).arg(script).arg(tasks));
}
