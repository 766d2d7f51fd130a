//! Several models on one recording.

use std::fs;
use std::sync::Arc;

use intervalid_data::{Dataset, Part};
use intervalid_model::{Band, Metrics, evaluate};
use intervalid_report::folder::{CONFIG, METRICS, MODEL};
use intervalid_workflow::{FitMetrics, RecordStamp};
use serde::{Deserialize, Serialize};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::cache::stamp;
use crate::choice::{Choice, split_key};
use crate::series::{Grid, Pieces, Shown};
use crate::tracks::{outputs, starts};

/// More models than this cannot be told apart.
pub(crate) const MOST_MODELS: usize = 6;

/// What to show.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    data: String,
    part: PartName,
    fits: Vec<String>,
    #[serde(default)]
    output: usize,
    from: Option<usize>,
    to: Option<usize>,
    pixels: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PartName {
    All,
    Test,
}

/// A model's free run over a part of a recording.
#[derive(Debug)]
pub(crate) struct Simulation {
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) part: Part,
    pub(crate) bands: Vec<Band>,
    coverage: f64,
    metrics: Metrics,
    output_names: Vec<String>,
    /// What to know before its numbers are believed.
    pub(crate) warnings: Vec<String>,
}

/// Lines for a chart.
#[derive(Debug, Serialize)]
pub(crate) struct Overlay {
    /// All samples that are shown when nothing is zoomed.
    extent: [usize; 2],
    sample_time: Option<f64>,
    output: String,
    outputs: Vec<String>,
    exact: bool,
    x: Vec<f64>,
    measured: Vec<Shown>,
    models: Vec<Drawn>,
}

#[derive(Debug, Serialize)]
struct Drawn {
    name: String,
    centre: Vec<Shown>,
    lower: Vec<Shown>,
    upper: Vec<Shown>,
    coverage: f64,
    metrics: Metrics,
    /// Whether its simulation left every reasonable range.
    diverged: bool,
    /// What to know before its numbers are believed.
    warnings: Vec<String>,
}

impl Simulation {
    /// Whether it left every reasonable range.
    pub(crate) fn is_diverged(&self) -> bool {
        self.bands.iter().any(|band| band.diverged_at.is_some())
    }
}

impl App {
    /// A model's free run, with a key that changes with all that it depends on.
    pub(crate) fn simulation(
        &self,
        fit: &str,
        data: &str,
        choice: &Choice,
        part: PartName,
    ) -> ApiResult<(String, Arc<Simulation>)> {
        let model = self.model(fit)?;
        let interface = model.interface();
        let mut choice = choice.for_model(interface);
        if part == PartName::Test {
            // The parts are those of the fit, whatever the recording is split into by now.
            choice.split = self.split_of(fit).or(choice.split);
        }
        let request = self.request(data, &choice)?;
        let file = self.workspace.fit_file(fit, MODEL)?;
        let key = format!("{}|{}|{part:?}", stamp(&file), split_key(&request));
        let simulation = self.caches.simulations.get(&key, || {
            let dataset = self.dataset(&request)?;
            let mut warnings: Vec<String> = model.trend_warnings(&dataset).iter().map(ToString::to_string).collect();
            let part = match part {
                PartName::All => Part::whole(&dataset),
                PartName::Test => {
                    let split = request.split(&dataset)?;
                    if self.may_have_learnt(fit, &dataset, &RecordStamp::new(&dataset, &split)) {
                        warnings.push(
                            "this is not the test part of its fit, and may hold what it learnt from: its numbers here say little about new data"
                                .to_owned(),
                        );
                    }
                    split.test
                }
            };
            if part.is_empty() {
                return Err(ApiError::bad("this split has no test part: show the whole record"));
            }
            let bands = model.simulate(&dataset, &part)?;
            let coverage = model.config().coverage;
            let metrics = evaluate(&dataset, &bands, coverage)?.all;
            Ok::<_, ApiError>(Simulation {
                output_names: interface.outputs.iter().map(|channel| channel.name.clone()).collect(),
                dataset,
                part,
                bands,
                coverage,
                metrics,
                warnings,
            })
        })?;
        Ok((key, simulation))
    }

    /// Shares of the parts that a fit was made with, as far as its folder tells.
    fn split_of(&self, fit: &str) -> Option<String> {
        let text = fs::read_to_string(self.workspace.fit_file(fit, CONFIG).ok()?).ok()?;
        let config: toml::Table = text.parse().ok()?;
        Some(config.get("split")?.as_str()?.to_owned())
    }

    /// Whether a recording is one that a fit learnt from, and its test part, `stamp` tells of it, another than that of the fit. A folder that does
    /// not say what was fitted leaves it open.
    fn may_have_learnt(&self, fit: &str, dataset: &Dataset, stamp: &RecordStamp) -> bool {
        let record = || -> Option<RecordStamp> {
            let text = fs::read(self.workspace.fit_file(fit, METRICS).ok()?).ok()?;
            serde_json::from_slice::<FitMetrics>(&text).ok()?.record
        };
        record().is_none_or(|record| record.test != stamp.test && record.learnt_of(dataset).is_some())
    }

    /// Models on a recording, for so many pixels.
    pub(crate) fn overlay(&self, asked: &Asked) -> ApiResult<Overlay> {
        if asked.fits.is_empty() || asked.fits.len() > MOST_MODELS {
            return Err(ApiError::bad(format!(
                "choose 1 to {MOST_MODELS} models to show, not {}",
                asked.fits.len()
            )));
        }
        let choice = self.stored_choice(&asked.data).unwrap_or_default();
        let runs = asked
            .fits
            .iter()
            .map(|fit| {
                let run = self.simulation(fit, &asked.data, &choice, asked.part);
                run.map(|(_, run)| run)
                    .map_err(|error| ApiError::new(error.status, format!("{fit}: {}", error.message)))
            })
            .collect::<ApiResult<Vec<_>>>()?;
        let first = &runs[0];
        let thinned = |run: &Simulation| run.dataset.preparation().decimate;
        if let Some(other) = runs.iter().position(|run| thinned(run) != thinned(first)) {
            return Err(ApiError::bad(format!(
                "{} and {} were fitted to records of different rates: show one at a time",
                asked.fits[0], asked.fits[other]
            )));
        }
        let names = &first.output_names;
        let output = names.get(asked.output).cloned();
        let output = output.ok_or_else(|| ApiError::bad(format!("there is no output {}", asked.output)))?;
        let begin = starts(&first.dataset);
        let segments = first.part.segments().iter();
        let ends = segments.map(|segment| {
            let start = begin[segment.experiment];
            (start + segment.start, start + segment.end)
        });
        let ends: Vec<(usize, usize)> = ends.collect();
        let low = ends.iter().map(|(start, _)| *start).min().unwrap_or(0);
        let high = ends.iter().map(|(_, end)| *end).max().unwrap_or(0);
        let to = asked.to.unwrap_or(high).clamp(low, high);
        let from = asked.from.unwrap_or(low).clamp(low, to);
        let grid = Grid::new(from..to, asked.pixels);
        let models = asked.fits.iter().zip(&runs).map(|(name, run)| {
            let at = run.output_names.iter().position(|other| *other == output);
            let at = at.ok_or_else(|| ApiError::bad(format!("{name} has no output '{output}'")))?;
            let begin = starts(&run.dataset);
            let pieces = |values: fn(&Band) -> &Vec<Vec<f64>>| {
                let mut pieces = Pieces::default();
                for band in &run.bands {
                    pieces.push(begin[band.experiment] + band.first, &values(band)[at]);
                }
                pieces
            };
            Ok(Drawn {
                name: name.clone(),
                centre: grid.line(&pieces(|band| &band.centre)),
                lower: grid.edge(&pieces(|band| &band.lower), false),
                upper: grid.edge(&pieces(|band| &band.upper), true),
                coverage: run.coverage,
                metrics: run.metrics,
                diverged: run.is_diverged(),
                warnings: run.warnings.clone(),
            })
        });
        Ok(Overlay {
            extent: [low, high],
            sample_time: first.dataset.sample_time(),
            exact: grid.is_exact(),
            x: grid.positions(),
            measured: grid.line(&outputs(&first.dataset, asked.output)),
            models: models.collect::<ApiResult<_>>()?,
            outputs: names.clone(),
            output,
        })
    }
}
