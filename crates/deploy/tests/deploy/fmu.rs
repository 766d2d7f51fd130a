//! FMUs in fmpy: valid, and the numbers of `predict`, in several instances, after resets and restored states.

use std::path::Path;
use std::process::Command;

use intervalid_deploy::{FmiVersion, FmuOptions, StepProgram, fmu};
use intervalid_model::{Monitor, MonitorConfig, MonitorSample};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::models::{Case, Expected, cases};
use crate::tools::{python, run, tool, write};

/// Blocks so short that a state is reached in a short run.
fn watch(case: &Case) -> Monitor {
    let config = MonitorConfig {
        false_alarm: 0.5,
        block: Some(5),
        horizon: None,
    };
    Monitor::new(&case.model, config).unwrap()
}

/// State and coverages of every output before each step, as the FMU has seen the samples until then.
fn watched(case: &Case, expected: &Expected) -> Vec<Vec<f64>> {
    let mut monitor = watch(case);
    let mut rows = Vec::new();
    for (step, bounds) in expected.bounds.iter().enumerate() {
        rows.push(crate::monitor::shown(&monitor));
        let of = |column: usize| -> Vec<f64> { bounds.iter().map(|row| row[column]).collect() };
        let sample = MonitorSample {
            predicted: &of(0),
            lower: &of(1),
            upper: &of(2),
            measured: &expected.measured[step],
            extrapolated: Some(expected.extrapolated[step] == 1).filter(|_| expected.extrapolated[step] >= 0),
        };
        monitor.observe(sample).unwrap();
    }
    rows
}

/// What the script needs: the FMU, what to feed it and what to expect.
fn task(case: &Case, version: FmiVersion, folder: &Path, index: usize) -> Value {
    let plan = StepProgram::new(&case.model).unwrap();
    let watches = index % 2 == 1;
    let options = FmuOptions {
        name: "plant".to_owned(),
        version,
        with_binary: true,
        monitor: watches.then(|| watch(case).coverage_test()),
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
        // Two samples of three are measured in time.
        "corrected": crate::c::corrected(case, &expected).bounds,
        "monitor": watches.then(|| watched(case, &expected)),
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
