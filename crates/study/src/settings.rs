//! Keys of a configuration from a study file, put into a configuration.

use intervalid_model::FitConfig;
use toml::{Table, Value};

use crate::error::{Result, StudyError};

/// `config` with the keys of `settings` replaced; tables such as `lags` key by key.
///
/// # Errors
/// If a key is unknown or its value has the wrong type; `place` says where it was written.
pub(crate) fn apply(config: FitConfig, settings: &Table, place: &str) -> Result<FitConfig> {
    if settings.is_empty() {
        return Ok(config);
    }
    let wrong = |reason: String| StudyError::Settings {
        place: place.to_owned(),
        reason,
    };
    let table = |config: &FitConfig| Table::try_from(config).map_err(|error| wrong(error.to_string()));
    let mut merged = table(&config)?;
    merge(&mut merged, settings);
    let mut config: FitConfig = merged
        .try_into()
        .map_err(|error: toml::de::Error| wrong(error.message().to_owned()))?;
    // As on the command line: lags that are given are not searched for, and epochs are those of every stage.
    if settings.contains_key("lags") && !settings.contains_key("lag_search") {
        config.lag_search = false;
    }
    if settings.contains_key("epochs") && !settings.contains_key("margin_epochs") {
        config.margin_epochs = None;
    }
    // Inner tables accept unknown keys silently: what did not arrive was not understood.
    match lost(settings, &table(&config)?) {
        Some(key) => Err(wrong(format!("unknown field `{key}`"))),
        None => Ok(config),
    }
}

fn merge(into: &mut Table, from: &Table) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(Value::Table(into)), Value::Table(from)) => merge(into, from),
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

fn lost(given: &Table, arrived: &Table) -> Option<String> {
    given.iter().find_map(|(key, value)| match (value, arrived.get(key)) {
        (_, None) => Some(key.clone()),
        (Value::Table(given), Some(Value::Table(arrived))) => {
            lost(given, arrived).map(|inner| format!("{key}.{inner}"))
        }
        _ => None,
    })
}
