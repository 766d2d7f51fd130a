//! The derivatives in exported C and ONNX are those of a linearisation.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use intervalid_analysis::{Linearisation, PointRequest, Rows};
use intervalid_deploy::{COptions, CPrecision, OnnxOptions, StepProgram, c_code, onnx_models};
use intervalid_model::{Model, ModelKind, Precision};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::models::{every_kind, known_linear};
use crate::tools::{python, run, tool, write};

fn models() -> Vec<(&'static str, Model)> {
    let mut models = every_kind();
    models.push(("mean of arx", known_linear(&[1.0, 0.8, 1.1], None)));
    models
}

/// A linearisation, and how many steps with its inputs lead a model there from its outputs.
fn linear(name: &str, model: &Model) -> (Linearisation, usize) {
    let found = Linearisation::new(model, &PointRequest::default());
    if let Some(found) = found.ok().filter(|found| found.is_stable) {
        assert!(found.operating_point.is_steady, "{name}");
        return (found, 4000);
    }
    // So short a training leaves some networks nowhere at rest; a history is all the state of those without hidden states.
    assert_eq!(model.kind(), ModelKind::Inode, "{name}");
    let values = [("flow".to_owned(), 0.7), ("temperature".to_owned(), 20.5)].to_vec();
    (Linearisation::new(model, &PointRequest { values }).unwrap(), 0)
}

fn matrices(linear: &Linearisation) -> [&Rows; 4] {
    [&linear.a, &linear.b, &linear.c, &linear.d]
}

fn assert_close(name: &str, which: usize, expected: &Rows, found: &[f64], tolerance: f64) {
    let expected: Vec<f64> = expected.concat();
    assert_eq!(expected.len(), found.len(), "{name}: matrix {which}");
    let largest = expected.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    for (at, (a, b)) in expected.iter().zip(found).enumerate() {
        assert!(
            (a - b).abs() <= tolerance * (1.0 + largest),
            "{name}: matrix {which}, entry {at}: expected {a}, found {b}"
        );
    }
}

#[test]
fn c_gives_the_derivatives_of_a_linearisation() {
    let Some(gcc) = tool("gcc", "gcc") else { return };
    for (name, model) in models() {
        let (linear, settle) = linear(name, &model);
        for (precision, tolerance) in [(CPrecision::Double, 1e-7), (CPrecision::Float, 2e-4)] {
            let options = COptions {
                name: "plant".to_owned(),
                precision: Some(precision),
                jacobian: true,
                monitor: None,
            };
            let code = c_code(&StepProgram::new(&model).unwrap(), &options).unwrap();
            let folder = TempDir::new().unwrap();
            write(folder.path(), "plant.h", &code.header);
            write(folder.path(), "plant.c", &code.source);
            let lines = printed(&gcc, folder.path(), &model, (&linear, settle));
            for (which, expected) in matrices(&linear).into_iter().enumerate() {
                assert_close(name, which, expected, &lines[which], tolerance);
            }
            // Off the rest, in double: differences of float steps are mostly rounding.
            if precision == CPrecision::Double {
                let [largest, error] = lines[4][..] else {
                    panic!("{:?}", lines[4])
                };
                assert!(error <= 1e-6 * (1e-3 + largest), "{name}: {error:e} of {largest:e}");
            }
        }
    }
}

/// The lines of numbers that the program of this folder prints.
fn printed(gcc: &str, folder: &Path, model: &Model, (linear, settle): (&Linearisation, usize)) -> Vec<Vec<f64>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/analysis/jacobian.c");
    let program = folder.join("program");
    let mut compile = Command::new(gcc);
    compile
        .args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Wconversion",
            "-Werror",
            "-O1",
        ])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I"])
        .arg(folder)
        .arg(source);
    run(compile.arg(folder.join("plant.c")).arg("-lm").arg("-o").arg(&program));
    let point = &linear.operating_point;
    let scales = &model.interface().normaliser.inputs;
    let inputs = point.inputs.iter().zip(scales).flat_map(|(u, scale)| [*u, scale.std]);
    let mut numbers: Vec<String> = inputs
        .chain(point.outputs.clone())
        .map(|value| format!("{value:?}"))
        .collect();
    numbers.insert(0, settle.to_string());
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(numbers.join("\n").as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| line.split_whitespace().map(|value| value.parse().unwrap()).collect())
        .collect()
}

#[test]
fn onnx_gives_the_derivatives_of_a_linearisation() {
    let Some(python) = python() else { return };
    let folder = TempDir::new().unwrap();
    let mut tasks = Vec::new();
    for (index, (name, model)) in models().into_iter().enumerate() {
        let (linear, settle) = linear(name, &model);
        let plan = StepProgram::new(&model).unwrap();
        for (precision, tolerance) in [(Precision::F64, 1e-7), (Precision::F32, 2e-4)] {
            let options = OnnxOptions {
                precision: Some(precision),
                jacobian: true,
            };
            let graphs = onnx_models(&plan, &options).unwrap();
            let place = folder.path().join(format!("{index}{}", precision.name()));
            std::fs::create_dir(&place).unwrap();
            for (part, bytes) in graphs.parts() {
                std::fs::write(place.join(format!("{part}.onnx")), bytes).unwrap();
            }
            let [a, b, c, d] = matrices(&linear);
            tasks.push(json!({
                "folder": place,
                "name": name,
                "u": linear.operating_point.inputs,
                "y": linear.operating_point.outputs,
                "tolerance": tolerance,
                "settle": settle,
                "jacobian_x_x": a, "jacobian_x_u": b, "jacobian_y_x": c, "jacobian_y_u": d,
            }));
        }
    }
    let tasks = write(folder.path(), "tasks.json", &Value::from(tasks).to_string());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/analysis/jacobian.py");
    run(Command::new(python).arg(script).arg(tasks));
}
