//! From preset, configuration file and flags to one checked configuration; each wins over the one before.

use std::path::Path;

use anyhow::{Context, anyhow};
use intervalid_data::SplitFractions;
use intervalid_model::{AutoConfig, FitConfig, ModelError, ModelKind, Plan, Preset, Schedule};
use toml::{Table, Value};

use crate::args::{DataArgs, FitArgs};
use crate::error::Failure;
use crate::suggest::{nearest, nearest_in};

/// Keys of a configuration file that are not settings of one fit.
const OTHER_KEYS: [&str; 8] = [
    "preset",
    "input",
    "output",
    "experiment",
    "sample_time",
    "split",
    "rounds",
    "calibrate",
];

const PRINT_CONFIG: &str = "`intervalid fit DATA --print-config` prints such a file with all keys";

/// Settings that the search of `auto` takes; all others say how one network is trained.
const AUTO_KEYS: [&str; 7] = ["model", "lags", "initial", "coverage", "rounds", "precision", "seed"];

/// The preset that was asked for; else `auto`, unless something says how one network is trained.
pub(super) fn preset_of(args: &FitArgs, file: &ConfigFile) -> Result<Preset, Failure> {
    let of_file = file.table.get("preset").and_then(Value::as_str);
    let asked = args.preset.as_deref().or(of_file).and_then(Preset::named);
    let setting = one_network_setting(args, file)?;
    match (asked, setting) {
        (Some(Preset::Auto), Some(setting)) => {
            let found = anyhow!("{setting} is not for --preset auto, which searches that itself");
            Err(Failure::input(found).with_hint("use --preset paper, or leave it out"))
        }
        (Some(preset), _) => Ok(preset),
        (None, Some(_)) => Ok(Preset::Paper),
        (None, None) => Ok(Preset::Auto),
    }
}

/// The first setting that only makes sense for one network or a baseline.
fn one_network_setting(args: &FitArgs, file: &ConfigFile) -> Result<Option<String>, Failure> {
    let flags = [
        ("--strategy", args.strategy.is_some()),
        ("--margin", args.margin.is_some()),
        ("--hidden", args.hidden.is_some()),
        ("--epochs", args.epochs.is_some()),
        ("--batch", args.batch.is_some()),
        ("--lr", args.lr.is_some()),
    ];
    if let Some((flag, _)) = flags.iter().find(|(_, is_given)| *is_given) {
        return Ok(Some((*flag).to_owned()));
    }
    let known = |key: &&String| OTHER_KEYS.contains(&key.as_str()) || AUTO_KEYS.contains(&key.as_str());
    if let Some(key) = file.table.keys().find(|key| !known(key)) {
        return Ok(Some(format!("{}: {key}", file.name)));
    }
    let model: Option<ModelKind> = match args.model {
        Some(model) => Some(model),
        None => file.get("model")?,
    };
    let searched = [ModelKind::Arx, ModelKind::Inode];
    Ok(model
        .filter(|model| !searched.contains(model))
        .map(|model| format!("--model {model}")))
}

/// Flags whose name differs from the setting's.
const ALIASES: [(&str, &str); 1] = [("lr", "learning_rate")];

/// A configuration file, keys checked.
#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    name: String,
    table: Table,
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
        let mut table: Table = text.parse().map_err(|error: toml::de::Error| {
            Failure::input(anyhow!("{name}: {}", error.to_string().trim_end())).with_hint(PRINT_CONFIG)
        })?;
        for (alias, key) in ALIASES {
            if let Some(value) = table.remove(alias) {
                table.insert(key.to_owned(), value);
            }
        }
        let known = known_keys();
        if let Some(key) = table.keys().find(|key| !known.contains(*key)) {
            let failure = Failure::input(anyhow!("{name}: unknown key '{key}'"));
            return Err(match nearest(key, known.iter().map(String::as_str)) {
                Some(near) => failure.with_hint(format!("did you mean '{near}'?")),
                None => failure.with_hint(PRINT_CONFIG),
            });
        }
        if let Some(value) = table.get("preset")
            && value.as_str().and_then(Preset::named).is_none()
        {
            return Err(Failure::input(anyhow!(
                "{name}: preset = {value} is not allowed: expected \"auto\" or \"paper\""
            )));
        }
        Ok(Self { name, table })
    }

    /// Takes over what the file says about the data where no flag does.
    pub(super) fn fill(&self, data: &mut DataArgs) -> Result<(), Failure> {
        let wrong = |key: &str, expected: &str| {
            let found = &self.table[key];
            Failure::input(anyhow!("{}: {key} = {found}: expected {expected}", self.name))
        };
        let columns = |key: &str| -> Result<Option<Vec<String>>, Failure> {
            match self.table.get(key) {
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
        if let (None, Some(value)) = (&data.experiment, self.table.get("experiment")) {
            let column = value
                .as_str()
                .ok_or_else(|| wrong("experiment", "the name of a column"))?;
            data.experiment = Some(column.to_owned());
        }
        if let (None, Some(value)) = (data.sample_time, self.table.get("sample_time")) {
            let seconds = value
                .as_float()
                .or_else(|| value.as_integer().map(|seconds| seconds as f64));
            let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
            data.sample_time = Some(seconds.ok_or_else(|| wrong("sample_time", "a positive number of seconds"))?);
        }
        if data.split.is_none() {
            data.split = self.split()?;
        }
        Ok(())
    }

    /// Shares of the parts, if the file has them.
    pub(crate) fn split(&self) -> Result<Option<SplitFractions>, Failure> {
        let Some(value) = self.table.get("split") else {
            return Ok(None);
        };
        let Some(text) = value.as_str() else {
            let found = anyhow!("{}: split = {value}: expected text such as \"0.4,0.1,0.5\"", self.name);
            return Err(Failure::input(found));
        };
        Ok(Some(text.parse()?))
    }

    fn get<T: serde::de::DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Failure> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let parsed = value.clone().try_into::<T>().map(Some);
        parsed.map_err(|error| {
            self.refused(ModelError::Setting {
                key: key.to_owned(),
                found: value.to_string(),
                reason: error.message().lines().next().unwrap_or_default().to_owned(),
            })
        })
    }

    /// Its keys that are settings of one fit; a search has one more.
    fn settings(&self, of_search: Option<&str>) -> Table {
        let mut settings = self.table.clone();
        settings.retain(|key, _| Some(key) == of_search || !OTHER_KEYS.contains(&key));
        settings
    }

    fn refused(&self, error: ModelError) -> Failure {
        let ModelError::Setting { reason, .. } = &error else {
            return error.into();
        };
        let failure = Failure::input(anyhow!("{}: {error}", self.name));
        match nearest_in(reason) {
            Some(near) => failure.with_hint(format!("did you mean '{near}'?")),
            None => failure,
        }
    }
}

/// All settings: the preset for this record, then the file, then the flags.
pub(super) fn resolve(args: &FitArgs, file: &ConfigFile, dataset: &str) -> Result<FitConfig, Failure> {
    let mut settings = file.settings(None);
    if let Some(model) = args.model {
        settings.insert("model".to_owned(), Value::from(model.name()));
    }
    if let Some(strategy) = args.strategy {
        settings.insert("strategy".to_owned(), Value::from(strategy.name()));
    }
    let mut config = FitConfig::from_settings(dataset, &settings).map_err(|error| file.refused(error))?;
    apply_flags(args, &mut config);
    config.check()?;
    Ok(config)
}

fn apply_flags(args: &FitArgs, config: &mut FitConfig) {
    fn set<T: Clone>(to: &mut T, flag: Option<&T>) {
        if let Some(value) = flag {
            *to = value.clone();
        }
    }
    set(&mut config.margin, args.margin.as_ref());
    set(&mut config.coverage, args.coverage.as_ref());
    set(&mut config.hidden, args.hidden.as_ref());
    set(&mut config.initial, args.initial.as_ref());
    if let Some(epochs) = args.epochs {
        // Of every stage, whatever the preset has for margins.
        (config.epochs, config.margin_epochs) = (epochs, None);
    }
    set(&mut config.batch, args.batch.as_ref());
    set(&mut config.learning_rate, args.lr.as_ref());
    set(&mut config.seed, args.seed.as_ref());
    set(&mut config.precision, args.precision.as_ref());
    if let Some(lags) = args.lags {
        config.lags = lags;
        config.lag_search = false;
    }
}

/// Whether the band of one model is scaled on held-out blocks.
pub(super) fn resolve_calibrate(args: &FitArgs, file: &ConfigFile) -> Result<bool, Failure> {
    Ok(args.calibrate || file.get("calibrate")?.unwrap_or(false))
}

/// What a search is asked: the defaults, then the file, then the flags.
pub(super) fn resolve_auto(args: &FitArgs, file: &ConfigFile) -> Result<AutoConfig, Failure> {
    let of_file = AutoConfig::from_settings(&file.settings(Some("rounds"))).map_err(|error| file.refused(error))?;
    let config = AutoConfig {
        model: args.model.or(of_file.model),
        lags: args.lags.or(of_file.lags),
        initial: args.initial.unwrap_or(of_file.initial),
        coverage: args.coverage.unwrap_or(of_file.coverage),
        rounds: of_file.rounds,
        precision: args.precision.unwrap_or(of_file.precision),
        seed: args.seed.unwrap_or(of_file.seed),
    };
    config.check()?;
    Ok(config)
}

/// `config.toml`: with it and the same data, `fit --config` repeats the fit.
pub(super) fn config_toml(plan: &Plan, data: &DataArgs) -> Result<String, Failure> {
    let mut table = Table::new();
    table.insert("preset".to_owned(), Value::from(plan.preset().name()));
    for (key, names) in [("input", &data.input), ("output", &data.output)] {
        if let Some(names) = names {
            table.insert(key.to_owned(), Value::try_from(names).map_err(Failure::run)?);
        }
    }
    if let Some(column) = &data.experiment {
        table.insert("experiment".to_owned(), Value::from(column.as_str()));
    }
    if let Some(seconds) = data.sample_time {
        table.insert("sample_time".to_owned(), Value::from(seconds));
    }
    if let Some(split) = data.split {
        table.insert("split".to_owned(), Value::from(split.to_string()));
    }
    table.extend(plan.settings());
    toml::to_string(&table).map_err(Failure::run)
}

fn known_keys() -> Vec<String> {
    let config = FitConfig {
        // An option without a value has no key.
        patience: Some(1),
        margin_epochs: Some(1),
        margin_batch: Some(1),
        margin_schedule: Some(Schedule::Constant),
        ..FitConfig::default()
    };
    let settings = Table::try_from(config).unwrap_or_default();
    settings.keys().cloned().chain(OTHER_KEYS.map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use intervalid_data::Lags;

    use super::*;
    use crate::args::{Cli, Command};

    fn args(line: &str) -> Box<FitArgs> {
        match Cli::parse_from(line.split(' ')).command {
            Command::Fit(args) => args,
            _ => panic!("not a fit"),
        }
    }

    fn file(text: &str) -> Result<ConfigFile, Failure> {
        ConfigFile::parse("fit.toml".to_owned(), text)
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_the_preset() {
        let file = file("model = 'ilstm'\nlr = 0.02\nepochs = 7\nlags = '1,2,3'\n").expect("parses");
        let args = args("intervalid fit hair-dryer --epochs 9");
        let config = resolve(&args, &file, "hair-dryer").expect("resolves");
        assert_eq!(
            (config.model, config.epochs, config.lags),
            (ModelKind::Ilstm, 9, Lags { nx: 1, nd: 2, ny: 3 })
        );
        assert!((config.learning_rate - 0.02).abs() < 1e-15);
        // From the preset for this model and record.
        assert_eq!(config.hidden, [30, 10]);
    }

    #[test]
    fn mistyped_keys_and_values_are_named() {
        let failure = file("epoch = 3").expect_err("unknown");
        assert_eq!(failure.lines(), ["fit.toml: unknown key 'epoch'"]);
        assert_eq!(failure.hint(), Some("did you mean 'epochs'?"));
        let failure = file("qwertz = 3").expect_err("unknown");
        assert!(failure.hint().is_some_and(|hint| hint.contains("--print-config")));
        let bad = file("margin = 'cube'").expect("keys are known");
        let failure = resolve(&args("intervalid fit hair-dryer"), &bad, "hair-dryer").expect_err("no such margin");
        assert!(
            failure.lines()[0].starts_with("fit.toml: margin = \"cube\": unknown variant"),
            "{failure:?}"
        );
    }

    #[test]
    fn the_written_file_gives_the_same_settings_again() {
        let args = args("intervalid fit my.csv --model blstm --coverage 0.95 --lags 4,1,2 --initial warmup:5");
        let config = resolve(&args, &ConfigFile::default(), "my").expect("resolves");
        let plan = Plan::One {
            config: Box::new(config.clone()),
            calibrate: false,
        };
        let text = config_toml(&plan, &args.data).expect("writes");
        let again = file(&text).expect("parses");
        let plain = super::tests::args("intervalid fit my.csv");
        assert_eq!(resolve(&plain, &again, "my").expect("resolves"), config);
    }
}
