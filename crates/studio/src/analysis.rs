//! Views of models: those of `intervalid analyse`, of one model or of several in the same charts.

use std::sync::Arc;

use intervalid_analysis::{Linearisation, PointRequest, Run, Views, input_limits};
use intervalid_model::Model;
use intervalid_report::{AnalysisReport, NamedAnalysis, Page, analysis_overlay, analysis_page};
use serde::{Deserialize, Serialize};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::overlay::{MOST_MODELS, PartName, Simulation};

/// Analyses of longer stretches are for the command line: so many take seconds, and up to 0.7 GB while they run.
const MOST_SAMPLES: usize = 1_000_000;

/// What to look at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    data: String,
    part: PartName,
    fits: Vec<String>,
}

/// A model, its run and its views.
pub(crate) struct Analysis {
    model: Arc<Model>,
    simulation: Arc<Simulation>,
    views: Views,
}

/// What was found.
#[derive(Debug, Serialize)]
pub(crate) struct Analysed {
    /// Curves of all models together; none of fewer than two.
    together: Option<Page>,
    models: Vec<OneModel>,
}

#[derive(Debug, Serialize)]
struct OneModel {
    name: String,
    page: Option<Page>,
    /// Why there is nothing to see.
    problem: Option<String>,
}

impl Analysis {
    fn report(&self) -> AnalysisReport<'_> {
        AnalysisReport::new(&self.model, Some(&self.simulation.dataset), &self.views)
    }
}

impl App {
    fn analysis(&self, fit: &str, asked: &Asked) -> ApiResult<Arc<Analysis>> {
        let choice = self.stored_choice(&asked.data).unwrap_or_default();
        let (key, simulation) = self.simulation(fit, &asked.data, &choice, asked.part)?;
        self.caches.analyses.get(&key, || {
            let samples = simulation.part.samples();
            if samples > MOST_SAMPLES {
                return Err(ApiError::bad(format!(
                    "{samples} samples: expected at most {MOST_SAMPLES} here; `intervalid analyse` takes as many as there are"
                )));
            }
            let model = self.model(fit)?;
            let linear = Linearisation::new(&model, &PointRequest::default())?;
            let Simulation {
                dataset, part, bands, ..
            } = &*simulation;
            let limits = input_limits(&linear, &model.interface().normaliser.inputs, Some(dataset), &[])?;
            let run = Run { dataset, part, bands };
            let mut views = Views::new(&model, linear, Some(run), &[], &limits)?;
            views.notes.extend(simulation.warnings.iter().cloned());
            if simulation.is_diverged() {
                views.notes.push("The simulation left every reasonable range; nothing is shown from there on.".to_owned());
            }
            Ok(Analysis {
                model,
                simulation: Arc::clone(&simulation),
                views,
            })
        })
    }

    /// Views of every model, and of all of them together. One that cannot be looked at does not keep the others from being seen.
    pub(crate) fn analyse(&self, asked: &Asked) -> ApiResult<Analysed> {
        if asked.fits.is_empty() || asked.fits.len() > MOST_MODELS {
            return Err(ApiError::bad(format!(
                "choose 1 to {MOST_MODELS} models to analyse, not {}",
                asked.fits.len()
            )));
        }
        let found: Vec<(&String, ApiResult<Arc<Analysis>>)> =
            asked.fits.iter().map(|fit| (fit, self.analysis(fit, asked))).collect();
        let seen = found
            .iter()
            .filter_map(|(name, found)| Some((name.as_str(), found.as_ref().ok()?)));
        let named: Vec<NamedAnalysis<'_>> = seen.map(|(name, found)| (name, found.report())).collect();
        let together = match named.len() {
            0 | 1 => None,
            _ => Some(analysis_overlay(&named)?),
        };
        let models = found.iter().map(|(name, found)| match found {
            Ok(found) => Ok::<_, ApiError>(OneModel {
                name: (*name).clone(),
                page: Some(analysis_page(&found.report())?),
                problem: None,
            }),
            Err(error) => Ok(OneModel {
                name: (*name).clone(),
                page: None,
                problem: Some(error.message.clone()),
            }),
        });
        Ok(Analysed {
            models: models.collect::<ApiResult<_>>()?,
            together,
        })
    }
}
