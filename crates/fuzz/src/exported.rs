//! Exported C code in a process of its own, compiled once per model with checks for undefined behaviour.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use anyhow::{Context as _, ensure};
use intervalid_deploy::{COptions, StepProgram, c_code};

use crate::models::stepwise;

/// What a C function answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    Refused,
    Diverged,
}

/// The C code of one model, waiting for questions.
pub(crate) struct Exported {
    process: Rc<RefCell<Process>>,
    outputs: usize,
}

struct Process {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    _folder: tempfile::TempDir,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It waits for questions that never come.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

thread_local! {
    static PROCESSES: RefCell<BTreeMap<usize, Rc<RefCell<Process>>>> = const { RefCell::new(BTreeMap::new()) };
}

impl Exported {
    /// Of one of the [`stepwise`] models.
    ///
    /// # Errors
    /// If there is no C compiler, or it refuses the code.
    pub(crate) fn of(model: usize) -> anyhow::Result<Self> {
        let outputs = stepwise()?[model].interface().outputs.len();
        let known = PROCESSES.with_borrow(|processes| processes.get(&model).cloned());
        let process = match known {
            Some(process) => process,
            None => {
                let process = Rc::new(RefCell::new(start(model)?));
                PROCESSES.with_borrow_mut(|processes| processes.insert(model, process.clone()));
                process
            }
        };
        Ok(Self { process, outputs })
    }

    pub(crate) fn reset(&mut self, inputs: &[f64], outputs: &[f64]) -> anyhow::Result<Answer> {
        let counts = [inputs.len(), outputs.len()].map(|count| i32::try_from(count).unwrap_or(i32::MAX).to_le_bytes());
        let question = [counts.concat(), bytes(inputs), bytes(outputs)].concat();
        Ok(self.ask(b"r", &question, 0)?.0)
    }

    /// The answer, and lower bound, prediction and upper bound of every output.
    pub(crate) fn step(&mut self, inputs: &[f64]) -> anyhow::Result<(Answer, Vec<[f64; 3]>)> {
        let (answer, values) = self.ask(b"s", &bytes(inputs), 3 * self.outputs)?;
        let bounds = (0..self.outputs).map(|output| [0, 1, 2].map(|which| values[which * self.outputs + output]));
        Ok((answer, bounds.collect()))
    }

    pub(crate) fn observe(&mut self, measured: &[f64]) -> anyhow::Result<Answer> {
        Ok(self.ask(b"o", &bytes(measured), 0)?.0)
    }

    fn ask(&mut self, question: &[u8], with: &[u8], numbers: usize) -> anyhow::Result<(Answer, Vec<f64>)> {
        let mut process = self.process.borrow_mut();
        let mut status = [0; 4];
        let mut values = vec![0; 8 * numbers];
        let asked = process
            .questions
            .write_all(&[question, with].concat())
            .and_then(|()| process.questions.flush())
            .and_then(|()| process.answers.read_exact(&mut status))
            .and_then(|()| process.answers.read_exact(&mut values));
        // The sanitizer has printed what the code did.
        assert!(asked.is_ok(), "the C code ended: {:?}", process.child.wait());
        let values = values.chunks_exact(8).map(|chunk| {
            let mut number = [0; 8];
            number.copy_from_slice(chunk);
            f64::from_le_bytes(number)
        });
        let answer = match i32::from_le_bytes(status) {
            0 => Answer::Done,
            6 => Answer::Diverged,
            _ => Answer::Refused,
        };
        Ok((answer, values.collect()))
    }
}

fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn start(model: usize) -> anyhow::Result<Process> {
    let options = COptions {
        name: "plant".to_owned(),
        precision: None,
        jacobian: false,
        monitor: None,
    };
    let code = c_code(&StepProgram::new(&stepwise()?[model])?, &options)?;
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name);
    for (name, content) in [
        ("plant.h", code.header.as_str()),
        ("plant.c", &code.source),
        ("main.c", include_str!("exported.c")),
    ] {
        std::fs::write(file(name), content)?;
    }
    let mut compile = Command::new("cc");
    compile.args([
        "-std=c99",
        "-O1",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]);
    compile
        .args([file("main.c"), file("plant.c")])
        .arg("-lm")
        .arg("-o")
        .arg(file("plant"));
    let compiled = compile
        .output()
        .context("the target `exported` needs a C compiler, `cc`")?;
    ensure!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let mut child = Command::new(file("plant"))
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (questions, answers) = pipes.context("the C code has no pipes")?;
    Ok(Process {
        child,
        questions,
        answers: BufReader::new(answers),
        _folder: folder,
    })
}
