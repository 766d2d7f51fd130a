//! The watch in C against the coverage test of `Monitor`: the same numbers after every sample.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use intervalid_deploy::{COptions, CPrecision, StepProgram, c_code};
use intervalid_model::{Health, Monitor, MonitorConfig, MonitorSample};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::c::{SANITIZED, STRICT};
use crate::models::{Case, calibration, cases};
use crate::tools::{run, tool, write};

/// State, then coverages of every output, as an FMU shows them.
pub(crate) fn shown(monitor: &Monitor) -> Vec<f64> {
    let report = monitor.report();
    let worst = report.outputs.iter().map(|output| output.tests.coverage.state).max();
    let watched = report.recently_extrapolated.is_some_and(|share| share > 0.1);
    let state = match worst.unwrap_or(Health::Ok) {
        Health::Ok if watched => 1.0,
        Health::Ok => 0.0,
        Health::Watch => 1.0,
        Health::Refit => 2.0,
    };
    let shares = report.outputs.iter().flat_map(|output| {
        let share = |share: Option<f64>| share.unwrap_or(-1.0);
        [share(output.coverage), share(output.recent_coverage)]
    });
    std::iter::once(state).chain(shares).collect()
}

const SAMPLES: usize = 1500;

/// Lower bounds, predictions, upper bounds and measured outputs, and whether each sample extrapolates.
type Rows = Vec<([Vec<f64>; 4], i32)>;

/// A plant that does what the model says, then has more noise, and has left the region of its training data for a while.
fn rows(case: &Case, seed: u64) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let scales = &case.model.interface().normaliser.outputs;
    let mut errors = vec![0.0; scales.len()];
    let mut row = |k: usize| {
        let mut values = [const { Vec::new() }; 4];
        for (scale, error) in scales.iter().zip(&mut errors) {
            let y = scale.mean + scale.std * (0.05 * k as f64).sin();
            let size = if k < 900 { 0.1 } else { 0.4 };
            *error = 0.6 * *error + size * rng.random_range(-1.0..1.0);
            let (below, above) = (0.2 + 0.05 * rng.random_range(0.0..1.0), 0.2);
            let numbers = [y - below * scale.std, y, y + above * scale.std, y + *error * scale.std];
            values
                .iter_mut()
                .zip(numbers)
                .for_each(|(list, number)| list.push(number));
        }
        (values, if (300..340).contains(&k) { 1 } else { 0 })
    };
    (0..SAMPLES).map(&mut row).collect()
}

fn answers(case: &Case, config: MonitorConfig, rows: &Rows, gcc: &str) -> Vec<Vec<f64>> {
    let options = COptions {
        name: "plant".to_owned(),
        precision: Some(CPrecision::Double),
        jacobian: false,
        monitor: Some(Monitor::new(&case.model, config).unwrap().coverage_test()),
    };
    let code = c_code(&StepProgram::new(&case.model).unwrap(), &options).unwrap();
    let folder = TempDir::new().unwrap();
    write(folder.path(), "plant.h", &code.header);
    write(folder.path(), "plant.c", &code.source);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deploy/watch.c");
    let program = folder.path().join("watch");
    let mut compile = Command::new(gcc);
    compile
        .args(STRICT)
        .args(SANITIZED)
        .arg("-I")
        .arg(folder.path())
        .arg(source);
    run(compile
        .arg(folder.path().join("plant.c"))
        .arg("-lm")
        .arg("-o")
        .arg(&program));
    let mut text = String::new();
    for (values, flag) in rows {
        for value in values.iter().flatten() {
            let _ = write!(text, "{value:?} ");
        }
        let _ = writeln!(text, "{flag}");
    }
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{}: {:?}", case.name, output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines();
    let size: usize = lines.next().unwrap().parse().unwrap();
    assert_eq!(code.monitor_bytes, Some(size), "{}: bytes of a watch", case.name);
    lines
        .map(|line| line.split(' ').map(|value| value.parse().unwrap()).collect())
        .collect()
}

#[test]
fn c_watches_as_the_monitor_does() {
    let Some(gcc) = tool("gcc", "gcc") else { return };
    let all = cases();
    let one = all.iter().find(|case| case.dataset.outputs().len() == 1).unwrap();
    let two = all.iter().find(|case| case.dataset.outputs().len() == 2).unwrap();
    let mut found = calibration(2).unwrap();
    found.together = true;
    let together = Case {
        name: "two outputs together",
        model: two.model.clone().calibrated(Some(found)).unwrap(),
        dataset: two.dataset.clone(),
        part: two.part.clone(),
    };
    let mut seen = [0; 3];
    for (case, seed) in [(one, 1), (two, 2), (&together, 2)] {
        for block in [None, Some(12)] {
            let config = MonitorConfig {
                block,
                ..MonitorConfig::default()
            };
            let rows = rows(case, seed);
            let found = answers(case, config, &rows, &gcc);
            let mut monitor = Monitor::new(&case.model, config).unwrap();
            for (k, ((values, flag), found)) in rows.iter().zip(&found).enumerate() {
                let [lower, predicted, upper, measured] = values;
                let sample = MonitorSample {
                    predicted,
                    lower,
                    upper,
                    measured,
                    extrapolated: Some(*flag == 1),
                };
                monitor.observe(sample).unwrap();
                let [state, shares @ ..] = &shown(&monitor)[..] else {
                    unreachable!("a state comes first")
                };
                let place = format!("{}, {block:?}, sample {k}", case.name);
                assert_eq!(*state as usize, found[0] as usize, "{place}");
                seen[found[0] as usize] += 1;
                for (output, (pair, found)) in shares.chunks(2).zip(found[1..].chunks(3)).enumerate() {
                    let evidence = monitor.report().outputs[output].tests.coverage.evidence;
                    for (expected, found) in pair.iter().chain([&evidence]).zip(found) {
                        let error = (expected - found).abs() / expected.abs().max(1e-300);
                        assert!(error < 1e-12, "{place}: {expected} against {found}");
                    }
                }
            }
            assert_eq!(found.len(), SAMPLES);
        }
    }
    assert!(seen.iter().all(|count| *count > 20), "all states occur: {seen:?}");
}
