//! A step of a task: something with a name that passes, fails or is skipped with a reason, and the table of results.

use std::{
    fmt::Write as _,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::Context;

/// How a step ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    /// What is wrong, for the table; details were printed by the step.
    Failed(String),
    /// A tool or file is missing. A failure with CI=true.
    Skipped(String),
    /// Cannot run offline by its nature. Never a failure, always reported.
    Unavailable(String),
}

/// One line of the table. To add a step, add an entry to the list in `test.rs`.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) run: fn() -> anyhow::Result<Outcome>,
}

/// Runs the steps in order, all of them whatever fails, prints the table and tells whether nothing failed.
pub(crate) fn run_all<'a>(steps: impl IntoIterator<Item = &'a Step>, in_ci: bool) -> bool {
    let mut results = Vec::new();
    for step in steps {
        println!("\n=== {}", step.name);
        let start = Instant::now();
        let outcome = (step.run)().unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        match &outcome {
            Outcome::Skipped(reason) => println!("SKIPPED {}: {reason}", step.name),
            Outcome::Unavailable(reason) => println!("SKIPPED {} (needs the network): {reason}", step.name),
            Outcome::Failed(reason) => println!("FAILED {}: {reason}", step.name),
            Outcome::Passed => {}
        }
        results.push((step.name, outcome, start.elapsed()));
    }
    let (table, passed) = summary(&results, in_ci);
    println!("\n{table}");
    passed
}

/// The table, its closing line "N passed, N failed, N skipped", and whether nothing failed.
fn summary(results: &[(&str, Outcome, Duration)], in_ci: bool) -> (String, bool) {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut table = format!("{:<14} {:<8} {:>8}  reason\n", "step", "result", "time");
    for (name, outcome, time) in results {
        let (count, word, reason) = match outcome {
            Outcome::Passed => (&mut passed, "passed", String::new()),
            Outcome::Failed(reason) => (&mut failed, "FAILED", reason.clone()),
            Outcome::Skipped(reason) if in_ci => (&mut failed, "FAILED", format!("skipped with CI=true: {reason}")),
            Outcome::Skipped(reason) => (&mut skipped, "SKIPPED", reason.clone()),
            Outcome::Unavailable(reason) => (&mut skipped, "SKIPPED", format!("{reason} (allowed offline)")),
        };
        *count += 1;
        let line = format!("{name:<14} {word:<8} {:>6.1} s  {reason}", time.as_secs_f64());
        writeln!(table, "{}", line.trim_end()).expect("a String takes any text");
    }
    write!(table, "\n{passed} passed, {failed} failed, {skipped} skipped").expect("a String takes any text");
    (table, failed == 0)
}

/// `cargo` with arguments, in the workspace root, by the same cargo that runs this task.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(crate::root());
    command
}

/// Runs a command with its output shown; passes when it exits with 0.
pub(crate) fn execute(command: &mut Command) -> anyhow::Result<Outcome> {
    let line = describe(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("could not start `{line}`"))?;
    Ok(if status.success() {
        Outcome::Passed
    } else {
        Outcome::Failed(format!("`{line}` ended with {status}"))
    })
}

/// Runs a command quietly and returns what it printed to stdout.
pub(crate) fn capture(command: &mut Command) -> anyhow::Result<String> {
    let line = describe(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not start `{line}`"))?;
    anyhow::ensure!(output.status.success(), "`{line}` ended with {}", output.status);
    String::from_utf8(output.stdout).with_context(|| format!("output of `{line}` is not UTF-8"))
}

/// Whether a cargo subcommand such as `nextest` is installed.
pub(crate) fn has_cargo_tool(name: &str) -> bool {
    cargo(&[name, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program())
        .file_name()
        .unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Vec<(&'static str, Outcome, Duration)> {
        let time = Duration::from_millis(1500);
        vec![
            ("format", Outcome::Passed, time),
            ("python", Outcome::Skipped("no python3".into()), time),
            ("advisories", Outcome::Unavailable("no database".into()), time),
        ]
    }

    #[test]
    fn a_skip_is_a_failure_only_in_ci() {
        let (table, passed) = summary(&results(), false);
        assert!(passed && table.ends_with("1 passed, 0 failed, 2 skipped"), "{table}");
        let (table, passed) = summary(&results(), true);
        assert!(!passed && table.ends_with("1 passed, 1 failed, 1 skipped"), "{table}");
        assert!(table.contains("skipped with CI=true: no python3"), "{table}");
    }

    #[test]
    fn the_table_has_one_line_per_step() {
        let (table, _) = summary(&results(), false);
        assert!(table.contains("format         passed      1.5 s\n"), "{table}");
        assert_eq!(table.lines().count(), 1 + 3 + 2);
    }
}
