//! The command that repeats a fit.

use intervalid_data::{Decimal, MissingPolicy};
use intervalid_workflow::RecordRequest;

/// The command that reads the same data with the settings in `config`: what a configuration file has no keys for are
/// options of it.
#[must_use]
pub fn repeat_command(record: &RecordRequest, config: &str) -> String {
    let options = record.options();
    let mut words = vec!["intervalid".to_owned(), "fit".to_owned()];
    words.extend(record.data().iter().cloned());
    words.extend(["--config".to_owned(), config.to_owned()]);
    if let Some(character) = options.delimiter {
        words.extend(["--delimiter".to_owned(), character.to_string()]);
    }
    if options.decimal == Decimal::Comma {
        words.extend(["--decimal".to_owned(), ",".to_owned()]);
    }
    if options.missing == MissingPolicy::Split {
        words.extend(["--missing".to_owned(), "split".to_owned()]);
    }
    if let Some(most) = options.max_samples {
        words.extend(["--max-samples".to_owned(), most.to_string()]);
    }
    for file in record.test() {
        words.extend(["--test".to_owned(), file.clone()]);
    }
    if options.skip_rows > 0 {
        words.extend(["--skip-rows".to_owned(), options.skip_rows.to_string()]);
    }
    if let Some(column) = &options.time {
        words.extend(["--time".to_owned(), column.clone()]);
    }
    if let Some(step) = options.resample {
        words.extend(["--resample".to_owned(), step.to_string()]);
    }
    for (name, unit) in &options.units {
        words.extend(["--unit".to_owned(), format!("{name}={unit}")]);
    }
    if let Some(folder) = record.data_dir() {
        words.extend(["--data-dir".to_owned(), folder.to_string_lossy().into_owned()]);
    }
    command_line(&words)
}

/// The same command with the settings in `config`: those of a fit are found where its folder is by now.
#[must_use]
pub fn with_config(command: &str, config: &str) -> String {
    let Some(mut words) = shlex::split(command) else {
        return command.to_owned();
    };
    let at = words.iter().position(|word| word == "--config");
    match at.and_then(|at| words.get_mut(at + 1)) {
        Some(word) => config.clone_into(word),
        None => return command.to_owned(),
    }
    command_line(&words)
}

/// Words as one line for a shell.
#[must_use]
pub fn command_line(words: &[impl AsRef<str>]) -> String {
    words
        .iter()
        .map(|word| quoted(word.as_ref()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A word as a shell takes it for one. No shell takes a NUL, and no file name of the user's holds one.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.replace('\0', ""), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_takes_the_configuration_of_another_place() {
        let moved = with_config(
            "intervalid fit 'it plant.csv' --config old/config.toml --skip-rows 2",
            "new name/config.toml",
        );
        assert_eq!(
            moved,
            "intervalid fit 'it plant.csv' --config 'new name/config.toml' --skip-rows 2"
        );
        for other in [
            "ARX().fit(u, y)",
            "intervalid fit a.csv",
            "intervalid fit a.csv --config",
        ] {
            assert_eq!(with_config(other, "config.toml"), other);
        }
    }

    #[test]
    fn words_of_a_shell() {
        assert_eq!(quoted("run-1.csv"), "run-1.csv");
        for word in ["it's here.csv", "", "a b", "$HOME", "back`tick`"] {
            assert_eq!(shlex::split(&quoted(word)), Some(vec![word.to_owned()]));
        }
    }
}
