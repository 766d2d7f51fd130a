//! The file of `--config`: settings of a fit and the data they are for.

use std::path::Path;

use anyhow::{Context, anyhow};
use intervalid_data::SplitFractions;
use intervalid_workflow::{Settings, WorkflowError, nearest};
use toml::{Table, Value};

use crate::args::{DataOptions, PrepareArgs};
use crate::error::Failure;

/// Keys about the data; all others are settings.
const DATA_KEYS: [&str; 8] = [
    "input",
    "output",
    "experiment",
    "sample_time",
    "split",
    "fill_gaps",
    "clip_spikes",
    "decimate",
];

const PRINT_CONFIG: &str = "`intervalid fit DATA --preset paper --print-config` prints such a file with all keys";

/// A configuration file, keys checked.
#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    name: String,
    data: Table,
    /// What it says about the fit.
    pub(crate) settings: Settings,
}

impl ConfigFile {
    /// Reads the file of `--config`, or nothing.
    pub(crate) fn load(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self::default());
        };
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("--config {name}: cannot be read"))
            .map_err(|error| Failure::input(error).with_hint(PRINT_CONFIG))?;
        Self::parse(name, &text)
    }

    fn parse(name: String, text: &str) -> Result<Self, Failure> {
        let mut settings: Table = text.parse().map_err(|error: toml::de::Error| {
            Failure::input(anyhow!("{name}: {}", error.to_string().trim_end())).with_hint(PRINT_CONFIG)
        })?;
        let mut data = Table::new();
        for key in DATA_KEYS {
            if let Some(value) = settings.remove(key) {
                data.insert(key.to_owned(), value);
            }
        }
        let settings = Settings::from_table(&settings).map_err(|error| refused(&name, &error))?;
        Ok(Self { name, data, settings })
    }

    /// Keys of the file that are about the data.
    pub(crate) fn data_keys(&self) -> Vec<&str> {
        self.data.keys().map(String::as_str).collect()
    }

    /// What it does to samples that a fit is judged by.
    pub(crate) fn changes_of_samples(&self) -> [Option<&Value>; 2] {
        ["clip_spikes", "decimate"].map(|key| self.data.get(key))
    }

    /// Takes over what the file says about the data where no flag does.
    pub(super) fn fill(&self, data: &mut DataOptions, prepare: &mut PrepareArgs) -> Result<(), Failure> {
        let wrong = |key: &str, expected: &str| {
            let found = &self.data[key];
            Failure::input(anyhow!("{}: {key} = {found}: expected {expected}", self.name))
        };
        let columns = |key: &str| -> Result<Option<Vec<String>>, Failure> {
            match self.data.get(key) {
                None => Ok(None),
                Some(Value::String(names)) => Ok(Some(names.split(',').map(str::to_owned).collect())),
                Some(Value::Array(names)) => {
                    let names: Option<Vec<String>> =
                        names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
                    names.map(Some).ok_or_else(|| wrong(key, "names of columns"))
                }
                Some(_) => Err(wrong(key, "names of columns")),
            }
        };
        if data.input.is_none() {
            data.input = columns("input")?;
        }
        if data.output.is_none() {
            data.output = columns("output")?;
        }
        if data.experiment.is_none() {
            data.experiment = self.experiment()?;
        }
        if let (None, Some(value)) = (data.sample_time, self.data.get("sample_time")) {
            let seconds = value
                .as_float()
                .or_else(|| value.as_integer().map(|seconds| seconds as f64));
            let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
            data.sample_time = Some(seconds.ok_or_else(|| wrong("sample_time", "a positive number of seconds"))?);
        }
        if data.split.is_none() {
            data.split = self.split()?;
        }
        for (key, samples) in [
            ("fill_gaps", &mut prepare.fill_gaps),
            ("decimate", &mut prepare.decimate),
        ] {
            if let (None, Some(value)) = (&samples, self.data.get(key)) {
                let whole = value.as_integer().and_then(|whole| usize::try_from(whole).ok());
                *samples = Some(whole.ok_or_else(|| wrong(key, "a whole number of samples"))?);
            }
        }
        if let (None, Some(value)) = (&prepare.clip_spikes, self.data.get("clip_spikes")) {
            let text = match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            prepare.clip_spikes = Some(text.parse()?);
        }
        Ok(())
    }

    /// The column that tells experiments apart, if the file has one.
    pub(crate) fn experiment(&self) -> Result<Option<String>, Failure> {
        let Some(value) = self.data.get("experiment") else {
            return Ok(None);
        };
        let Some(column) = value.as_str() else {
            let found = anyhow!("{}: experiment = {value}: expected the name of a column", self.name);
            return Err(Failure::input(found));
        };
        Ok(Some(column.to_owned()))
    }

    /// Shares of the parts, if the file has them.
    pub(crate) fn split(&self) -> Result<Option<SplitFractions>, Failure> {
        let Some(value) = self.data.get("split") else {
            return Ok(None);
        };
        let Some(text) = value.as_str() else {
            let found = anyhow!("{}: split = {value}: expected text such as \"0.6,0.1,0.3\"", self.name);
            return Err(Failure::input(found));
        };
        Ok(Some(text.parse()?))
    }
}

/// A mistake in a file, with the file's name in front.
fn refused(file: &str, error: &WorkflowError) -> Failure {
    let failure = Failure::input(anyhow!("{file}: {error}"));
    match error {
        WorkflowError::UnknownSetting { key, nearest: near } => match near.or_else(|| nearest(key, DATA_KEYS)) {
            Some(near) => failure.with_hint(format!("did you mean '{near}'?")),
            None => failure.with_hint(PRINT_CONFIG),
        },
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use intervalid_data::{Lags, ReadOptions};
    use intervalid_model::{FitConfig, ModelKind};
    use intervalid_report::folder::config_toml;
    use intervalid_workflow::{FitRequest, RecordRequest};

    use super::*;
    use crate::args::{Cli, Command, FitArgs};
    use crate::request::settings;

    fn args(line: &str) -> Box<FitArgs> {
        match Cli::parse_from(line.split(' ')).command {
            Command::Fit(args) => args,
            _ => panic!("not a fit"),
        }
    }

    fn file(text: &str) -> Result<ConfigFile, Failure> {
        ConfigFile::parse("fit.toml".to_owned(), text)
    }

    fn resolve(args: &FitArgs, file: ConfigFile, dataset: &str) -> FitConfig {
        settings(args).over(file.settings).fit_config(dataset)
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_the_preset() {
        let file = file("model = 'ilstm'\nlr = 0.02\nepochs = 7\nmargin_epochs = 3\nlags = '1,2,3'\n").expect("parses");
        let args = args("intervalid fit hair-dryer --epochs 9");
        let config = resolve(&args, file, "hair-dryer");
        assert_eq!(
            (config.model, config.training.epochs, config.lags),
            (ModelKind::Ilstm, 9, Lags { nx: 1, nd: 2, ny: 3 })
        );
        assert_eq!(config.interval.margin_epochs, None, "the flag is for every stage");
        assert!((config.training.learning_rate - 0.02).abs() < 1e-15);
        // From the preset for this model and record.
        assert_eq!(config.network.hidden, [30, 10]);
    }

    #[test]
    fn mistyped_keys_and_values_are_named() {
        let failure = file("epoch = 3").expect_err("unknown");
        assert_eq!(failure.lines(), ["fit.toml: unknown key 'epoch'"]);
        assert_eq!(failure.hint(), Some("did you mean 'epochs'?"));
        let failure = file("qwertz = 3").expect_err("unknown");
        assert!(failure.hint().is_some_and(|hint| hint.contains("--print-config")));
        let failure = file("margin = 'cube'").expect_err("no such margin");
        assert!(
            failure.lines()[0].starts_with("fit.toml: margin = \"cube\": unknown variant"),
            "{failure:?}"
        );
    }

    #[test]
    fn the_written_file_gives_the_same_settings_again() {
        let args = args("intervalid fit my.csv --model blstm --coverage 0.95 --lags 4,1,2 --initial warmup:5");
        let request = FitRequest::new(&settings(&args), "my").expect("resolves");
        let record = RecordRequest::new(vec!["my.csv".to_owned()], None, ReadOptions::default(), None);
        let text = config_toml(&request, &record).expect("writes");
        let again = file(&text).expect("parses");
        assert_eq!(FitRequest::new(&again.settings, "my").expect("resolves"), request);
    }
}
