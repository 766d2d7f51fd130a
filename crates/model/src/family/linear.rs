//! Linear ARX as a model like the others: order search, least squares, and a band from its own simulation errors.

use intervalid_data::{
    ArxModel, Dataset, LagSearchConfig, Lags, Normaliser, Part, Split, free_run_windows, suggest_lags,
};

use crate::band::calibration::quantile;
use crate::band::metrics::align;
use crate::band::prediction::Band;
use crate::config::FitConfig;
use crate::error::{ModelError, Result};
use crate::interface::{ModelInterface, Simulated};
use crate::kind::{Method, Precision};

/// A fitted ARX model with a band of constant width.
///
/// The band is the free run ± the α-quantile of |simulation error| over the validation part (or the training part where
/// there is no validation part). Those errors are autocorrelated, so the quantile is an estimate and no guarantee.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    pub(crate) arx: ArxModel,
    /// Half the width of the band of each output, in its unit.
    pub(crate) half_width: Vec<f64>,
    pub(crate) interface: ModelInterface,
    pub(crate) config: FitConfig,
}

/// The lags that the best linear model on the validation part has, free runs started as `config` says.
///
/// # Errors
/// If the record is too short for a search.
pub fn search_lags(dataset: &Dataset, split: &Split, config: &FitConfig) -> Result<Lags> {
    let search = LagSearchConfig {
        initial: config.initial,
        ..LagSearchConfig::default()
    };
    Ok(suggest_lags(dataset, split, &search)?.suggested.lags)
}

impl LinearModel {
    /// Fits ARX with the configured lags by least squares on the training part.
    ///
    /// # Errors
    /// If the configuration is not one of ARX, or the record is too short.
    pub fn fit(dataset: &Dataset, split: &Split, config: &FitConfig) -> Result<Self> {
        config.check()?;
        if config.model.method() != Method::Linear {
            return Err(ModelError::option("model", config.model, "arx"));
        }
        let normaliser = Normaliser::fit(dataset, &split.train)?;
        let arx = ArxModel::fit(&normaliser.scale::<f64>(dataset), &split.train, config.lags, true)?;
        let mut model = Self {
            arx,
            half_width: vec![0.0; dataset.outputs().len()],
            interface: ModelInterface::new(dataset, normaliser),
            config: FitConfig {
                precision: Precision::F64,
                ..config.clone()
            },
        };
        let part = if split.validation.is_empty() {
            &split.train
        } else {
            &split.validation
        };
        let bands = model.simulate(dataset, part)?;
        for output in 0..model.half_width.len() {
            let runs = align(dataset, &bands, output)?;
            let errors = runs
                .iter()
                .flat_map(|run| run.target.iter().zip(run.centre))
                .map(|(target, centre)| (target - centre).abs());
            model.half_width[output] = quantile(errors.collect(), config.coverage);
        }
        Ok(model)
    }

    /// The linear model, in normalised units.
    #[must_use]
    pub fn arx(&self) -> &ArxModel {
        &self.arx
    }

    /// Half the width of the band of each output, in its unit.
    #[must_use]
    pub fn half_width(&self) -> &[f64] {
        &self.half_width
    }

    /// Channels it was fitted on, and their scaling.
    #[must_use]
    pub fn interface(&self) -> &ModelInterface {
        &self.interface
    }

    /// The resolved configuration of the fit.
    #[must_use]
    pub fn config(&self) -> &FitConfig {
        &self.config
    }

    /// Free-run simulation with prediction intervals over every segment of a part.
    ///
    /// # Errors
    /// If the data have other channels or the part is too short.
    pub fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        let scaled = self.interface.scale::<f64>(dataset)?;
        let initial = self.config.initial;
        let mut bands = Vec::new();
        for window in free_run_windows(dataset, part, self.arx.lags, initial)? {
            let columns = self
                .arx
                .simulate(&scaled.experiments()[window.experiment], window, initial);
            let steps = columns.first().map_or(0, Vec::len);
            let centre: Vec<f64> = (0..steps)
                .flat_map(|step| columns.iter().map(move |column| column[step]))
                .collect();
            let simulated = Simulated {
                lower: &centre,
                centre: &centre,
                upper: &centre,
                diverged_at: None,
            };
            let mut band = self.interface.band(window, initial.unscored(), &simulated);
            for (output, &width) in self.half_width.iter().enumerate() {
                band.lower[output].iter_mut().for_each(|y| *y -= width);
                band.upper[output].iter_mut().for_each(|y| *y += width);
            }
            bands.push(band);
        }
        Ok(self.interface.calibrate(bands))
    }
}
