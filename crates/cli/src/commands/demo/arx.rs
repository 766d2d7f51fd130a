//! The linear models of the demo.

use intervalid_data::Lags;
use intervalid_model::{FitConfig, ModelError, ModelKind, Strategy, search_lags};
use intervalid_workflow::{Settings, TrainOptions};

use super::rows::{COVERAGE, Fitted, Prepared};
use crate::error::Failure;

/// The lags that a search on the validation part suggests.
pub(super) fn search(prepared: &Prepared) -> Result<Lags, ModelError> {
    let config = FitConfig::paper(prepared.known.name, ModelKind::Arx, Strategy::default());
    search_lags(&prepared.dataset, &prepared.split, &config)
}

/// ARX on the training part; the band is the free run ± a quantile of its errors on the validation part.
pub(super) fn fit(name: &'static str, prepared: &Prepared, lags: Lags) -> Result<Fitted, Failure> {
    let settings = Settings {
        model: Some(ModelKind::Arx),
        coverage: Some(COVERAGE),
        lags: Some(lags.into()),
        ..Settings::default()
    };
    let outcome = prepared.fit(&settings, TrainOptions::default())?;
    Ok(Fitted { name, outcome })
}
