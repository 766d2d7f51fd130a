//! `config.toml`: the settings of a fit and the data they are for, as a file.

use intervalid_workflow::{FitRequest, RecordRequest};
use toml::{Table, Value};

use crate::error::Result;

/// With it and the same data, read by the same options, `fit --config` repeats the fit. `split` is written whoever chose it: commands
/// that take a part of the record later must not take another.
///
/// # Errors
/// If a number has no form as TOML.
pub fn config_toml(request: &FitRequest, record: &RecordRequest) -> Result<String> {
    let options = record.options();
    let mut table = Table::new();
    table.insert("preset".to_owned(), Value::from(request.preset().name()));
    for (key, names) in [("input", &options.inputs), ("output", &options.outputs)] {
        if let Some(names) = names {
            table.insert(key.to_owned(), Value::from(names.clone()));
        }
    }
    if let Some(column) = &options.experiment {
        table.insert("experiment".to_owned(), Value::from(column.as_str()));
    }
    if let Some(seconds) = options.sample_time {
        table.insert("sample_time".to_owned(), Value::from(seconds));
    }
    let prepare = &options.prepare;
    for (key, samples) in [("fill_gaps", prepare.fill_gaps), ("decimate", prepare.decimate)] {
        if let Some(samples) = samples {
            table.insert(key.to_owned(), Value::try_from(samples)?);
        }
    }
    if !prepare.clip_spikes.is_none() {
        table.insert("clip_spikes".to_owned(), Value::from(prepare.clip_spikes.to_string()));
    }
    table.insert("split".to_owned(), Value::from(record.fractions.to_string()));
    table.extend(request.to_table()?);
    Ok(toml::to_string(&table)?)
}
