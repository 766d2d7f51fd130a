//! The linear models of the demo.

use intervalid_data::Lags;
use intervalid_model::{FitConfig, LinearModel, ModelError, ModelKind, Strategy, search_lags};

use super::rows::{COVERAGE, ModelRow, Prepared};
use crate::error::Failure;

fn config(prepared: &Prepared) -> FitConfig {
    FitConfig {
        coverage: COVERAGE,
        ..FitConfig::paper(prepared.known.name, ModelKind::Arx, Strategy::default())
    }
}

/// The lags that a search on the validation part suggests.
pub(super) fn search(prepared: &Prepared) -> Result<Lags, ModelError> {
    search_lags(&prepared.dataset, &prepared.split, &config(prepared))
}

/// ARX on the training part; the band is the free run ± a quantile of its errors on the validation part.
pub(super) fn fit(name: &'static str, prepared: &Prepared, lags: Lags) -> Result<ModelRow, Failure> {
    let config = FitConfig {
        lags,
        ..config(prepared)
    };
    let model = LinearModel::fit(&prepared.dataset, &prepared.split, &config)?;
    let validation = model.simulate(&prepared.dataset, &prepared.split.validation)?;
    let bands = model.simulate(&prepared.dataset, &prepared.split.test)?;
    Ok(ModelRow {
        name,
        model: ModelKind::Arx,
        lags,
        parameters: model.arx().coefficients.iter().map(|row| row.len() + 1).sum(),
        training: None,
        test: prepared.evaluate(&bands)?,
        validation: prepared.evaluate(&validation)?,
        bands,
    })
}
