//! Settings from a study file, put into a configuration.

use intervalid_data::parse_seconds;
use intervalid_model::FitConfig;
use intervalid_search::SearchConfig;
use intervalid_workflow::{Settings, WorkflowError, main_coverage};
use toml::{Table, Value};

use crate::cell::Cell;
use crate::error::{Result, StudyError};
use crate::run_config::SearchRun;

/// Settings of a single fit that a study decides otherwise.
const NOT_OF_A_RUN: [&str; 7] = [
    "preset",
    "calibrate",
    "rounds",
    "levels",
    "output_range",
    "detrend",
    "together",
];

/// Settings of `auto` in a study: those of a search that a study does not decide, and its budget.
const OF_AUTO: [&str; 5] = [BUDGET, "rounds", "lags", "initial", "precision"];
const BUDGET: &str = "budget";

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

/// The search of a run, with the settings of a study's table `auto`.
///
/// # Errors
/// If a key is none of a search, or its value has the wrong type.
pub(crate) fn search_run(auto: &Table, coverages: &[f64], cell: &Cell) -> Result<SearchRun> {
    let wrong = |source| StudyError::Settings {
        place: "auto".to_owned(),
        source: Box::new(source),
    };
    if let Some(key) = auto.keys().find(|key| !OF_AUTO.contains(&key.as_str())) {
        let expected = format!("one of {}", OF_AUTO.join(", "));
        return Err(StudyError::value("auto", key, expected));
    }
    let budget_seconds = auto.get(BUDGET).map(budget).transpose()?;
    let of_search = auto.iter().filter(|(key, _)| *key != BUDGET);
    let of_search: Table = of_search.map(|(key, value)| (key.clone(), value.clone())).collect();
    let settings = Settings::from_table(&of_search).map_err(wrong)?;
    let search = settings.search_config().map_err(wrong)?;
    // The coverage that a fit with several would be made for.
    let main = main_coverage(coverages, SearchConfig::default().coverage).map_or(cell.coverage, |(main, _)| main);
    Ok(SearchRun {
        search: SearchConfig {
            coverage: main,
            seed: cell.seed,
            ..search
        },
        coverage: cell.coverage,
        budget_seconds,
    })
}

fn budget(value: &Value) -> Result<f64> {
    let seconds = value.as_str().and_then(parse_seconds);
    seconds.ok_or_else(|| StudyError::value("auto: budget", value, "a positive time such as \"30s\" or \"2m\""))
}
