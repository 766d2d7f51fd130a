//! C99 against `predict`: compiled by gcc and clang without a warning, run with sanitizers, sized for a microcontroller.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use intervalid_deploy::{CCode, COptions, CPrecision, StepProgram, c_code};
use intervalid_model::{History, Simulator};
use tempfile::TempDir;

use crate::models::{Case, Expected, cases, unstable_arx};
use crate::tools::{run, tool, write};

pub(crate) const STRICT: [&str; 6] = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

pub(crate) const SANITIZED: &[&str] = &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

fn export(case: &Case, precision: Option<CPrecision>) -> (TempDir, CCode) {
    let plan = StepProgram::new(&case.model).unwrap();
    let options = COptions {
        name: "plant".to_owned(),
        precision,
        jacobian: true,
        monitor: None,
    };
    let code = c_code(&plan, &options).unwrap();
    let folder = TempDir::new().unwrap();
    write(folder.path(), "plant.h", &code.header);
    write(folder.path(), "plant.c", &code.source);
    (folder, code)
}

fn numbers(expected: &Expected) -> String {
    let Expected {
        past_inputs,
        past_outputs,
        inputs,
        measured,
        ..
    } = expected;
    let mut text = format!("{} {} {}\n", past_inputs.len(), past_outputs.len(), inputs.len());
    let rows = past_inputs.iter().chain(past_outputs);
    for value in rows
        .chain(inputs.iter().zip(measured).flat_map(|(u, y)| [u, y]))
        .flatten()
    {
        let _ = writeln!(text, "{value:?}");
    }
    text
}

/// What the harness printed: the size of a state, and of every step its alarm and the numbers of each output.
struct Answers {
    size: usize,
    bounds: Vec<Vec<[f64; 5]>>,
    extrapolated: Vec<i32>,
}

/// Compiles the harness with `flags` and runs it.
fn answers(folder: &Path, compiler: &str, flags: &[&str], case: &Case, expected: &Expected) -> Answers {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deploy/harness.c");
    let mut compile = Command::new(compiler);
    compile.args(STRICT).args(flags).arg("-I").arg(folder).arg(harness);
    run(compile
        .arg(folder.join("plant.c"))
        .arg("-lm")
        .arg("-o")
        .arg(folder.join("plant")));
    let mut program = Command::new(folder.join("plant"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = program.stdin.take().unwrap();
    let text = numbers(expected);
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = program.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(
        output.status.success(),
        "{}: {}",
        case.name,
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines();
    let size = lines.next().unwrap().parse().unwrap();
    let rows: Vec<(i32, [f64; 5])> = lines
        .map(|line| {
            let (alarm, values) = line.split_once(' ').unwrap();
            let values: Vec<f64> = values.split(' ').map(|value| value.parse().unwrap()).collect();
            (alarm.parse().unwrap(), values.try_into().unwrap())
        })
        .collect();
    let outputs = case.dataset.outputs().len();
    let samples = rows.chunks(outputs);
    Answers {
        size,
        bounds: samples
            .clone()
            .map(|rows| rows.iter().map(|row| row.1).collect())
            .collect(),
        extrapolated: samples.map(|rows| rows[0].0).collect(),
    }
}

fn tolerance(precision: CPrecision) -> f64 {
    match precision {
        CPrecision::Float => 1e-6,
        CPrecision::Double => 1e-12,
    }
}

/// Under sanitizers, C gives the numbers of `predict`.
pub(crate) fn assert_agrees(case: &Case, gcc: &str) {
    let (folder, code) = export(case, None);
    let expected = case.expected(60);
    let found = answers(folder.path(), gcc, SANITIZED, case, &expected);
    case.assert_close(&expected, &found.bounds, 3, tolerance(code.precision));
}

#[test]
fn c_gives_the_numbers_of_predict() {
    let Some(gcc) = tool("gcc", "gcc") else { return };
    let mut alarms = [0, 0];
    for case in cases() {
        let (folder, code) = export(&case, None);
        // All of the past, and only what is asked for.
        for (history, flags) in [(60, SANITIZED), (code_history(&case), &["-O2"])] {
            let expected = case.expected(history);
            let found = answers(folder.path(), &gcc, flags, &case, &expected);
            case.assert_close(&expected, &found.bounds, 5, tolerance(code.precision));
            assert_eq!(found.size, code.footprint.state, "{}: bytes of a state", case.name);
            assert_eq!(found.extrapolated, expected.extrapolated, "{}: alarms", case.name);
            for (count, flag) in alarms.iter_mut().zip(0..) {
                *count += found.extrapolated.iter().filter(|found| **found == flag).count();
            }
        }
    }
    assert!(
        alarms.iter().all(|count| *count > 500),
        "inside and outside: {alarms:?}"
    );
}

/// What a simulator gives where two samples of three are measured in time, up to where the gain of an untrained observer makes it diverge.
pub(crate) fn corrected(case: &Case, expected: &Expected) -> Expected {
    let mut simulator = Simulator::new(&case.model).unwrap();
    let (past_inputs, past_outputs) = (expected.past_inputs.concat(), expected.past_outputs.concat());
    simulator
        .reset(History {
            inputs: &past_inputs,
            outputs: &past_outputs,
        })
        .unwrap();
    let samples = expected.inputs.iter().zip(&expected.measured).enumerate();
    let bounds = samples.map_while(|(step, (inputs, measured))| {
        let found = simulator.step(inputs).ok()?;
        let columns = [
            found.y,
            found.lower,
            found.upper,
            found.online_lower,
            found.online_upper,
        ];
        let bounds = (0..measured.len())
            .map(|output| columns.map(|column| column[output]))
            .collect();
        simulator.observe(measured).unwrap();
        if step % 3 != 2 {
            simulator.correct(measured).unwrap();
        }
        Some(bounds)
    });
    let bounds: Vec<_> = bounds.collect();
    assert!(bounds.len() > 10, "{}: {} samples", case.name, bounds.len());
    Expected {
        inputs: expected.inputs[..bounds.len()].to_vec(),
        measured: expected.measured[..bounds.len()].to_vec(),
        bounds,
        ..expected.clone()
    }
}

#[test]
fn c_starts_again_from_measurements() {
    let Some(gcc) = tool("gcc", "gcc") else { return };
    let mut learnt = 0;
    for case in cases() {
        let free = case.expected(60);
        let case = Case {
            model: case.model.with_horizons(&case.dataset, &case.part).unwrap(),
            ..case
        };
        learnt += usize::from(case.model.interface().horizons.is_some());
        let (folder, code) = export(&case, None);
        let expected = corrected(&case, &free);
        let flags = [SANITIZED, &["-DCORRECTED"]].concat();
        let found = answers(folder.path(), &gcc, &flags, &case, &expected);
        case.assert_close(&expected, &found.bounds, 5, tolerance(code.precision));
        assert_ne!(expected.bounds[1], free.bounds[1], "{}: corrections matter", case.name);
        assert_eq!(found.size, code.footprint.state, "{}: bytes of a state", case.name);
    }
    assert!(learnt > 5, "{learnt} models know how errors grow");
}

fn code_history(case: &Case) -> usize {
    let plan = StepProgram::new(&case.model).unwrap();
    let needs = plan.needs();
    needs.inputs.max(plan.useful_outputs())
}

#[test]
fn c_is_clean_under_clang() {
    let Some(clang) = tool("clang", "clang") else { return };
    for case in cases() {
        let (folder, code) = export(&case, None);
        let expected = case.expected(60);
        let found = answers(folder.path(), &clang, &["-O2"], &case, &expected);
        case.assert_close(&expected, &found.bounds, 5, tolerance(code.precision));
        assert_eq!(found.extrapolated, expected.extrapolated, "{}: alarms", case.name);
    }
}

/// The other precision than the model's own: rounding of the parameters, no more.
#[test]
fn the_other_precision_stays_close() {
    let Some(gcc) = tool("gcc", "gcc") else { return };
    for case in cases() {
        let other = match export(&case, None).1.precision {
            CPrecision::Float => CPrecision::Double,
            CPrecision::Double => CPrecision::Float,
        };
        let (folder, _) = export(&case, Some(other));
        let expected = case.expected(60);
        let found = answers(folder.path(), &gcc, &["-O2"], &case, &expected);
        // Parameters differ by up to 6e-8, and a free run adds such errors up; the online band may turn on a rounded miss.
        case.assert_close(&expected, &found.bounds, 3, 1e-4);
    }
}

#[test]
fn c_fits_a_microcontroller() {
    let Some(compiler) = tool("arm-none-eabi-gcc", "gcc-arm-none-eabi") else {
        return;
    };
    for case in cases() {
        for precision in [CPrecision::Float, CPrecision::Double] {
            let (folder, code) = export(&case, Some(precision));
            let object = folder.path().join("plant.o");
            let mut compile = Command::new(&compiler);
            compile.args(STRICT).args([
                "-mcpu=cortex-m4",
                "-mthumb",
                "-mfloat-abi=hard",
                "-mfpu=fpv4-sp-d16",
                "-Os",
                "-c",
            ]);
            run(compile.arg(folder.path().join("plant.c")).arg("-o").arg(&object));
            let sizes = run(Command::new("arm-none-eabi-size").arg(&object)).stdout;
            let sizes = String::from_utf8(sizes).unwrap();
            let row: Vec<usize> = sizes
                .lines()
                .nth(1)
                .unwrap()
                .split_whitespace()
                .map_while(|n| n.parse().ok())
                .collect();
            let [text, data, bss] = [row[0], row[1], row[2]];
            assert_eq!((data, bss), (0, 0), "{}: no globals", case.name);
            // Tables, descriptors of layers, and code.
            assert!(
                text >= code.footprint.tables && text < code.footprint.tables + 9000,
                "{}: {text} {:?}",
                case.name,
                code.footprint
            );
        }
    }
}

#[test]
fn misuse_gets_a_status() {
    let Some(gcc) = tool("gcc", "gcc") else { return };
    let case = &cases()[3];
    for precision in [CPrecision::Double, CPrecision::Float] {
        let (folder, _) = export(case, Some(precision));
        run(&mut Command::new(compiled(folder.path(), &gcc, "misuse.c")));
    }
}

/// A program of this folder with the exported code, under sanitizers.
fn compiled(folder: &Path, gcc: &str, source: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deploy").join(source);
    let program = folder.join("program");
    let mut compile = Command::new(gcc);
    compile
        .args(STRICT)
        .args(["-fsanitize=address,undefined", "-I"])
        .arg(folder)
        .arg(source);
    run(compile.arg(folder.join("plant.c")).arg("-lm").arg("-o").arg(&program));
    program
}

/// ARX follows the rule of the networks: the step at which the simulator says that it has diverged.
#[test]
fn an_unstable_arx_diverges_in_c_where_the_simulator_does() {
    let Some(gcc) = tool("gcc", "gcc") else { return };
    let case = unstable_arx();
    let mut simulator = Simulator::new(&case.model).unwrap();
    let past = History {
        inputs: &[],
        outputs: &[1.0],
    };
    simulator.reset(past).unwrap();
    let steps = std::iter::from_fn(|| simulator.step(&[1.0]).is_ok().then_some(()))
        .take(1000)
        .count();
    assert!(steps > 3 && steps < 100, "{steps}");
    for precision in [CPrecision::Double, CPrecision::Float] {
        let (folder, _) = export(&case, Some(precision));
        let output = run(&mut Command::new(compiled(folder.path(), &gcc, "diverge.c")));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), steps.to_string());
    }
}
