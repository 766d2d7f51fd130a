//! Whether a model still does what it promised, from what is measured while it is used.

mod coverage_test;
mod evidence;
mod health;
mod moments;
mod output;
mod ranks;
mod state;
mod watch;

pub use coverage_test::CoverageTest;
pub use health::{DriftKind, Health, MonitorReport, OutputHealth, TestHealth, Tests, TrendPoint};
pub use state::{MonitorConfig, MonitorState};
pub use watch::{Monitor, MonitorSample};
