//! Settings from a study file, put into a configuration.

use intervalid_model::FitConfig;
use intervalid_workflow::{Settings, WorkflowError};
use toml::Table;

use crate::error::{Result, StudyError};

/// Settings of a single fit that a study decides otherwise.
const NOT_OF_A_RUN: [&str; 6] = ["preset", "calibrate", "rounds", "levels", "output_range", "detrend"];

/// `config` with the keys of `settings` replaced; tables such as `lags` key by key.
///
/// # Errors
/// If a key is unknown or its value has the wrong type; `place` says where it was written.
pub(crate) fn apply(config: FitConfig, settings: &Table, place: &str) -> Result<FitConfig> {
    let wrong = |source| StudyError::Settings {
        place: place.to_owned(),
        source: Box::new(source),
    };
    if let Some(key) = settings.keys().find(|key| NOT_OF_A_RUN.contains(&key.as_str())) {
        let key = key.clone();
        return Err(wrong(WorkflowError::UnknownSetting { key, nearest: None }));
    }
    let settings = Settings::from_table(settings).map_err(wrong)?;
    // Several coverages are a study's own list.
    if settings.levels.is_some() {
        return Err(wrong(WorkflowError::Setting {
            key: "coverage".to_owned(),
            found: "several shares".to_owned(),
            reason: "a study lists them as `coverages`".to_owned(),
        }));
    }
    Ok(settings.applied_to(config))
}
