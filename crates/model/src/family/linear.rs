//! Linear ARX as a model like the others: order search, least squares, and a band from its own simulation errors.

use intervalid_data::{
    ArxModel, DIVERGED, Dataset, LagSearchConfig, Lags, Normaliser, Part, Scaled, Split, Window, suggest_lags,
};

use crate::band::calibration::quantile;
use crate::band::metrics::align;
use crate::band::prediction::Band;
use crate::config::{CheckedConfig, FitConfig};
use crate::error::Result;
use crate::family::body::{Body, Fitted};
use crate::family::ensemble::averaged;
use crate::interface::{ModelInterface, Simulated};
use crate::kind::ModelKind;
use crate::memory::check_linear;
use crate::model::Model;
use crate::simulate::free_run::free_run;

/// An ARX model with a band of constant width, or several whose free runs are averaged as those of networks are.
///
/// The band of one is the free run ± the α-quantile of |simulation error| over the validation part (or the training part where
/// there is no validation part), up to where a run diverges. Those errors are autocorrelated, so the quantile is an estimate and no guarantee.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ArxWithBand {
    /// In normalised units, of the same lags; never none. The first has seen all the data.
    pub(crate) members: Vec<ArxModel>,
    /// Half the width of the band of each output, in its unit.
    pub(crate) half_width: Vec<f64>,
}

/// The lags that the best linear model on the validation part has, free runs started as `config` says: as many of them as the configured model
/// has. The states of an `iss` remember the past, so that of the lags found only the dead time is its own.
///
/// # Errors
/// If the record is too short for a search.
pub fn search_lags(dataset: &Dataset, split: &Split, config: &FitConfig) -> Result<Lags> {
    let search = LagSearchConfig {
        initial: config.initial,
        ..LagSearchConfig::default()
    };
    let found = suggest_lags(dataset, split, &search)?.suggested.lags;
    Ok(match config.model {
        ModelKind::Iss => Lags {
            nd: found.nd,
            ..config.lags
        },
        _ => found,
    })
}

/// Fits ARX with the configured lags by least squares on the training part, in units of `normaliser`.
///
/// # Errors
/// If the record is too short.
pub(crate) fn fit_arx(
    normaliser: Normaliser,
    dataset: &Dataset,
    split: &Split,
    config: &CheckedConfig,
) -> Result<Model> {
    check_linear(config.lags, dataset.inputs().len(), dataset.outputs().len())?;
    let arx = ArxModel::fit(&normaliser.scale::<f64>(dataset), &split.train, config.lags, true)?;
    let interface = ModelInterface::new(dataset, normaliser);
    let mut body = ArxWithBand {
        members: vec![arx],
        half_width: vec![0.0; dataset.outputs().len()],
    };
    let part = match split.validation.is_empty() {
        true => &split.train,
        false => &split.validation,
    };
    let fitted = Fitted {
        interface: &interface,
        config,
        body: &body,
    };
    let bands = fitted.simulate(dataset, part)?;
    let mut half_width = Vec::new();
    for output in 0..dataset.outputs().len() {
        let runs = align(dataset, &bands, output)?;
        let errors = runs
            .iter()
            .flat_map(|run| run.target.iter().zip(run.centre))
            .map(|(target, centre)| (target - centre).abs());
        let errors: Vec<f64> = errors.collect();
        half_width.push(match errors.is_empty() {
            // All runs diverged before the first scored sample: nothing is known but how far a run may go.
            true => interface.normaliser.output_width_to_physical(output, DIVERGED),
            false => quantile(errors, config.coverage),
        });
    }
    body.half_width = half_width;
    Ok(Model::new(interface, config.clone().into_inner(), Body::Linear(body)))
}

impl ArxWithBand {
    /// Of each member the coefficients row by row, then the biases.
    pub(crate) fn parameter_sets(&self) -> Vec<Vec<f64>> {
        let of = |arx: &ArxModel| arx.coefficients.iter().chain([&arx.bias]).flatten().copied().collect();
        self.members.iter().map(of).collect()
    }

    pub(crate) fn lags(&self) -> Lags {
        self.members[0].lags
    }
}

impl Fitted<'_, ArxWithBand> {
    /// Free runs with their band.
    pub(crate) fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        let start = (self.body.lags(), self.config.initial);
        let (scaled, windows) = self.interface.runs(dataset, part, start)?;
        let members = self.body.members.iter();
        let runs = members.map(|arx| self.simulate_one(arx, &scaled, &windows)).collect();
        drop(scaled);
        Ok(averaged(runs, *self))
    }

    fn simulate_one(&self, arx: &ArxModel, scaled: &Scaled<f64>, windows: &[Window]) -> Vec<Band> {
        let initial = self.config.initial;
        let mut bands = Vec::new();
        let outputs = self.interface.outputs.len();
        let mut regressor = vec![0.0; arx.lags.regressor_len(self.interface.inputs.len(), outputs)];
        for &window in windows {
            let mut centre = vec![0.0; window.predicted().len() * outputs];
            let start = (arx.lags, initial);
            let diverged_at = free_run(scaled, window, start, &mut regressor, &mut centre, |_, x, y| {
                arx.step(x, y)
            });
            let simulated = Simulated {
                lower: &centre,
                centre: &centre,
                upper: &centre,
                diverged_at,
            };
            let mut band = self.interface.band(window, initial, &simulated);
            for (output, &width) in self.body.half_width.iter().enumerate() {
                band.lower[output].iter_mut().for_each(|y| *y -= width);
                band.upper[output].iter_mut().for_each(|y| *y += width);
            }
            bands.push(band);
        }
        bands
    }
}
