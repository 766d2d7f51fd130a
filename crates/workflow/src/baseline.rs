//! The plain linear model that every fit is compared with.

use intervalid_data::{Dataset, Lags, Split};
use intervalid_model::{Evaluation, FitConfig, FitOptions, Method, Model, ModelKind, Strategy, evaluate, search_lags};

use crate::error::Result;

/// ARX on the same record, parts and start, judged on the same test part.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// Lags that a search on the validation part found.
    pub lags: Lags,
    /// Free run over the test part.
    pub test: Evaluation,
}

impl Baseline {
    /// Fits it; `None` where the fitted model is linear itself, or there is no test part to judge on.
    ///
    /// # Errors
    /// If the record is too short for a linear model.
    pub(crate) fn fit(dataset: &Dataset, split: &Split, beside: &Model) -> Result<Option<Self>> {
        let config = beside.config();
        if config.model.method() == Method::Linear || split.test.is_empty() {
            return Ok(None);
        }
        // The same drift is taken out, for a fair comparison.
        let trend = beside.interface().trend.clone();
        let level = trend.as_ref().map(|trend| trend.remove(dataset));
        let level = level.as_ref().unwrap_or(dataset);
        let mut config = FitConfig {
            initial: config.initial,
            coverage: config.coverage,
            ..FitConfig::paper("", ModelKind::Arx, Strategy::default())
        };
        config.lags = search_lags(level, split, &config)?;
        config.lag_search = false;
        let (model, _) = Model::fit(level, split, &config, FitOptions::default())?;
        // The plant has the same limits.
        let model = model
            .with_output_ranges(beside.interface().output_ranges.clone())?
            .with_trend(trend)?;
        let bands = model.simulate(dataset, &split.test)?;
        Ok(Some(Self {
            lags: config.lags,
            test: evaluate(dataset, &bands, config.coverage)?,
        }))
    }

    /// As in tables.
    #[must_use]
    pub fn label(&self) -> String {
        format!("ARX, lags {}", self.lags)
    }
}
