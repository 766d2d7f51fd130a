//! Reports as files of a fit's folder.

use intervalid_report::{FitReport, fit_page};

use crate::args::{DataArgs, GlobalArgs};
use crate::error::Failure;

/// The page of a fit.
pub(crate) const REPORT: &str = "report.html";
/// What the page shows, so that it can be written again and be compared with others.
pub(crate) const REPORT_DATA: &str = "report.json";

/// The page of a fit and its data, as files.
pub(crate) fn report_files(report: &FitReport<'_>) -> Result<[(&'static str, Vec<u8>); 2], Failure> {
    let page = fit_page(report)?;
    Ok([
        (REPORT_DATA, page.to_json().into_bytes()),
        (REPORT, page.to_html()?.into_bytes()),
    ])
}

/// The command that reads the same data with the settings in `config`: what a configuration file has no keys for are
/// options of it.
pub(crate) fn repeat_command((data, test): (&DataArgs, &[String]), global: &GlobalArgs, config: &str) -> String {
    let mut words = vec!["intervalid".to_owned(), "fit".to_owned()];
    words.extend(data.data.iter().cloned());
    words.extend(["--config".to_owned(), config.to_owned()]);
    if let Some(character) = data.options.delimiter {
        words.extend(["--delimiter".to_owned(), character.to_string()]);
    }
    if data.options.decimal == intervalid_data::Decimal::Comma {
        words.extend(["--decimal".to_owned(), ",".to_owned()]);
    }
    if data.options.missing == intervalid_data::MissingPolicy::Split {
        words.extend(["--missing".to_owned(), "split".to_owned()]);
    }
    if let Some(most) = data.options.max_samples {
        words.extend(["--max-samples".to_owned(), most.to_string()]);
    }
    for file in test {
        words.extend(["--test".to_owned(), file.clone()]);
    }
    if data.options.skip_rows > 0 {
        words.extend(["--skip-rows".to_owned(), data.options.skip_rows.to_string()]);
    }
    if let Some(column) = &data.options.time {
        words.extend(["--time".to_owned(), column.clone()]);
    }
    if let Some(step) = data.options.resample {
        words.extend(["--resample".to_owned(), step.to_string()]);
    }
    for (name, unit) in &data.options.unit {
        words.extend(["--unit".to_owned(), format!("{name}={unit}")]);
    }
    if let Some(folder) = global.data_dir.as_ref().filter(|folder| !folder.is_empty()) {
        words.extend(["--data-dir".to_owned(), folder.to_string_lossy().into_owned()]);
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it for one. No shell takes a NUL, and no file name of the user's holds one.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.replace('\0', ""), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        assert_eq!(quoted("run-1.csv"), "run-1.csv");
        for word in ["it's here.csv", "", "a b", "$HOME", "back`tick`"] {
            assert_eq!(shlex::split(&quoted(word)), Some(vec![word.to_owned()]));
        }
    }
}
