//! `cargo xtask fuzz`: hostile files for everything that reads files, for as long as asked.

mod guided;

use crate::UsageError;
use crate::step::{Outcome, cargo, execute};

/// What was asked for. Values are checked by the programs that use them.
#[derive(Debug, PartialEq)]
struct Options {
    minutes: f64,
    seed: String,
    targets: Vec<String>,
    plain: bool,
}

fn parse(options: &[String]) -> anyhow::Result<Options> {
    let mut found = Options {
        minutes: 1.0,
        seed: "1".to_owned(),
        targets: Vec::new(),
        plain: false,
    };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let mut value = || {
            let value = options.next().cloned();
            value.ok_or_else(|| UsageError(format!("{option} needs a value")))
        };
        match option.as_str() {
            "--minutes" => {
                let text = value()?;
                let minutes = text.parse().ok().filter(|minutes| (0.0..=20_000.0).contains(minutes));
                found.minutes = minutes.ok_or_else(|| UsageError(format!("--minutes {text}: expected 0 to 20000")))?;
            }
            "--seed" => found.seed = value()?,
            "--target" => found.targets.push(value()?),
            "--plain" => found.plain = true,
            other => return Err(UsageError(format!("unknown option `{other}`")).into()),
        }
    }
    Ok(found)
}

pub(crate) fn run(options: &[String]) -> anyhow::Result<bool> {
    let options = parse(options)?;
    if !options.plain {
        match guided::build()? {
            Ok(program) => return guided::run(&program, &options),
            Err(reason) => println!("libFuzzer cannot be used: {reason}. Branches are not counted."),
        }
    }
    // Not the release profile: overflow of integers shall be noticed.
    let minutes = options.minutes.to_string();
    let mut command = cargo(&[
        "run",
        "--package",
        "intervalid-fuzz",
        "--bin",
        "intervalid-fuzz",
        "--",
        &minutes,
        &options.seed,
    ]);
    command.args(&options.targets);
    Ok(matches!(execute(&mut command)?, Outcome::Passed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_understood() {
        let given = |line: &str| parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let found = given("--minutes 2.5 --target csv --target mat --plain").unwrap();
        assert!(found.plain && (found.minutes - 2.5).abs() < 1e-9);
        assert_eq!(found.targets, ["csv", "mat"]);
        for bad in ["--minutes", "--minutes -1", "--minutes nan", "--fast 1"] {
            assert!(given(bad).is_err(), "{bad}");
        }
    }
}
