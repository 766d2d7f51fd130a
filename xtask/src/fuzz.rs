//! `cargo xtask fuzz`: mutated files for everything that reads files, for as long as asked.

use crate::UsageError;
use crate::step::{Outcome, cargo, execute};

pub(crate) fn run(options: &[String]) -> anyhow::Result<bool> {
    let (mut minutes, mut seed, mut targets) = ("1".to_owned(), "1".to_owned(), Vec::new());
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let mut value = || {
            options
                .next()
                .cloned()
                .ok_or_else(|| UsageError(format!("{option} needs a value")))
        };
        match option.as_str() {
            "--minutes" => minutes = value()?,
            "--seed" => seed = value()?,
            "--target" => targets.push(value()?),
            other => return Err(UsageError(format!("unknown option `{other}`")).into()),
        }
    }
    // Not the release profile: overflow of integers shall be noticed.
    let mut command = cargo(&["run", "--package", "intervalid-fuzz", "--", &minutes, &seed]);
    command.args(targets);
    Ok(matches!(execute(&mut command)?, Outcome::Passed))
}
