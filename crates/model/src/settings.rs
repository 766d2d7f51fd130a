//! Configurations from keys and values, as configuration files and callers from other languages give them.

use intervalid_data::Lags;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::auto::AutoConfig;
use crate::config::{FitConfig, Strategy};
use crate::error::{ModelError, Result};
use crate::kind::ModelKind;

impl FitConfig {
    /// The preset `paper` of a model for a record of this name, with the given settings in place of its own.
    ///
    /// Keys are the fields of [`FitConfig`]; `lags` may be text such as `2,0,3`. Lags that are given are not searched for, and
    /// `epochs` are those of every stage, unless `lag_search` and `margin_epochs` say otherwise. Ranges are not checked here:
    /// [`check`](Self::check) does that.
    ///
    /// # Errors
    /// [`ModelError::Setting`] naming the first key that is unknown or has a value of the wrong type.
    ///
    /// ```
    /// use intervalid_model::{FitConfig, ModelKind};
    ///
    /// let settings = "model = 'ilstm'\nlags = '2,1,3'\nepochs = 20".parse()?;
    /// let config = FitConfig::from_settings("robot-arm", &settings)?;
    /// assert_eq!((config.model, config.hidden.as_slice()), (ModelKind::Ilstm, [10, 10].as_slice()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_settings(dataset: &str, settings: &Table) -> Result<Self> {
        let model: ModelKind = get(settings, "model")?.unwrap_or_default();
        let strategy: Strategy = get(settings, "strategy")?.unwrap_or_default();
        let preset = Self::paper(dataset, model, strategy);
        let table = Table::try_from(&preset).expect("a configuration is a table");
        let mut config: Self = with_settings(table, settings)?;
        if settings.contains_key("lags") && !settings.contains_key("lag_search") {
            config.lag_search = false;
        }
        if settings.contains_key("epochs") && !settings.contains_key("margin_epochs") {
            config.margin_epochs = None;
        }
        Ok(config)
    }
}

impl AutoConfig {
    /// The defaults with the given settings in place of their own. Keys are the fields of [`AutoConfig`]; `lags` may be text
    /// such as `2,0,3`. Ranges are not checked here: [`check`](Self::check) does that.
    ///
    /// # Errors
    /// [`ModelError::Setting`] naming the first key that is unknown or has a value of the wrong type.
    pub fn from_settings(settings: &Table) -> Result<Self> {
        with_settings(Table::new(), settings)
    }
}

/// A configuration from a table, with the given settings in place of its own.
fn with_settings<C: DeserializeOwned>(mut table: Table, settings: &Table) -> Result<C> {
    for (key, value) in settings {
        let value = match (key.as_str(), value) {
            ("lags", Value::String(text)) => lags_value(text.parse()?),
            _ => value.clone(),
        };
        table.insert(key.clone(), value.clone());
        // One key at a time, so that the message can name it.
        if let Err(error) = table.clone().try_into::<C>() {
            return Err(refused(key, &value, &error));
        }
    }
    Ok(table.try_into().expect("every key was tried"))
}

fn lags_value(lags: Lags) -> Value {
    Value::try_from(lags).expect("lags are a table")
}

fn get<T: DeserializeOwned>(settings: &Table, key: &str) -> Result<Option<T>> {
    let Some(value) = settings.get(key) else {
        return Ok(None);
    };
    let parsed = value.clone().try_into::<T>().map(Some);
    parsed.map_err(|error| refused(key, value, &error))
}

fn refused(key: &str, value: &Value, error: &toml::de::Error) -> ModelError {
    ModelError::Setting {
        key: key.to_owned(),
        found: value.to_string(),
        reason: error.message().lines().next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn settings_win_over_the_preset() {
        let config = FitConfig::from_settings("hair-dryer", &settings("epochs = 7\nlags = '1,2,3'")).unwrap();
        assert_eq!((config.epochs, config.margin_epochs), (7, None));
        assert_eq!((config.lags, config.lag_search), (Lags { nx: 1, nd: 2, ny: 3 }, false));
        let paper = FitConfig::paper("hair-dryer", ModelKind::Inode, Strategy::Cascade);
        assert_eq!(config.batch, paper.batch);
        assert_eq!(FitConfig::from_settings("hair-dryer", &Table::new()).unwrap(), paper);
        let both = settings("epochs = 7\nmargin_epochs = 9\nlags = '1,2,3'\nlag_search = true");
        let config = FitConfig::from_settings("x", &both).unwrap();
        assert_eq!((config.margin_epochs, config.lag_search), (Some(9), true));
    }

    #[test]
    fn bad_settings_are_named() {
        let fit = |text| FitConfig::from_settings("x", &settings(text)).unwrap_err().to_string();
        assert!(fit("margin = 'cube'").starts_with("margin = \"cube\": unknown variant"));
        assert!(fit("epoch = 3").starts_with("epoch = 3: unknown field"));
        assert!(fit("model = 'gru'").starts_with("model = \"gru\": unknown variant"));
        let auto = |text| AutoConfig::from_settings(&settings(text)).unwrap_err().to_string();
        assert!(auto("rounds = 'many'").starts_with("rounds = \"many\": invalid type"));
        assert!(auto("epochs = 3").starts_with("epochs = 3: unknown field"));
    }

    #[test]
    fn a_search_has_defaults() {
        let config = AutoConfig::from_settings(&settings("lags = '1,0,2'\ncoverage = 0.95")).unwrap();
        assert_eq!(config.lags, Some(Lags { nx: 1, nd: 0, ny: 2 }));
        assert_eq!(config.rounds, AutoConfig::default().rounds);
    }
}
