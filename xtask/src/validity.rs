//! `cargo xtask validity`: how often bands hold on hundreds of synthetic records of each kind of drift.

use crate::step::{Outcome, cargo, execute};

pub(crate) fn run(options: &[String]) -> anyhow::Result<bool> {
    let example = ["--package", "intervalid-search", "--example", "validity", "--"];
    let mut command = cargo(&["run", "--release"]);
    command.args(example).args(options);
    Ok(matches!(execute(&mut command)?, Outcome::Passed))
}
