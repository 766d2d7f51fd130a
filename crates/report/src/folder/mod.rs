//! The folder of a fit: what is in it, and how it is written. The command line and the studio write the same one.

mod candidates;
mod command;
mod config;
mod files;
mod history;
mod predictions;

pub use command::{command_line, repeat_command, with_config};
pub use config::config_toml;
pub use files::{
    CHECKPOINT, CONFIG, FILES, FitJson, JOURNAL, METRICS, MODEL, MODEL_ALL, READ, REPORT, REPORT_DATA, fit_files,
    page_files, write_fit,
};
pub use history::history_csv;
pub use predictions::{Extras, Planned, predictions_csv};
