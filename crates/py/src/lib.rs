//! `intervalid._intervalid`: what the Python package is made of. One file per wrapped type; nothing is computed here.
//!
//! The Python side (`python/intervalid`) has the estimators and everything that is about arrays, tables and plots.

mod analysis;
mod band_metrics;
mod command_line;
mod convert;
mod error;
mod fit;
mod model;
mod monitor;
mod preparation;
mod record;
mod simulator;
mod step_program;
mod study;
mod watch;

use pyo3::prelude::*;

/// The compiled part of intervalid; use the package `intervalid`.
#[pymodule]
mod _intervalid {
    #[pymodule_export]
    use crate::analysis::{Linearisation, fits_ahead, residuals, static_curve, width_shares};
    #[pymodule_export]
    use crate::band_metrics::band_metrics;
    #[pymodule_export]
    use crate::command_line::command_line;
    #[pymodule_export]
    use crate::fit::{Fit, defaults, fit};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::monitor::Monitor;
    #[pymodule_export]
    use crate::record::{Record, available_data};
    #[pymodule_export]
    use crate::simulator::Simulator;
    #[pymodule_export]
    use crate::step_program::step_program;
    #[pymodule_export]
    use crate::study::{
        StudyDriver, StudyStop, StudyTask, study_execute, study_merge, study_runs, study_spec, study_status,
        study_table,
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        intervalid_interval::SimdLevel::from_environment().map_err(crate::error::interval)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
