//! A study and its data sets become jobs: runs that share training are fitted together.

use std::path::Path;
use std::sync::Arc;

use intervalid_data::{
    DataError, Dataset, FileError, FileProblem, Part, ReadOptions, Split, SplitFractions, known_dataset, load,
};
use intervalid_model::{FitConfig, Method, NetworkKind, Strategy};
use intervalid_workflow::each_sample;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::cell::Cell;
use crate::error::{Result, StudyError};
use crate::run_config::{RunConfig, SearchRun};
use crate::shard::Shard;
use crate::spec::{Columns, Spec, hex};

/// Part of every run's key: grows when the same configuration would be trained or evaluated differently.
const KEY_FORMAT: u32 = 1;

/// About what a search takes on one core that has all the time it wants; for estimates only.
const SEARCH_SECONDS: f64 = 200.0;

/// A data set of a study, ready to fit.
#[derive(Clone, Debug)]
pub struct PlanData {
    /// Name or path in the study.
    pub name: String,
    /// Its columns, where the study names them.
    pub columns: Columns,
    /// The record.
    pub dataset: Dataset,
    /// Its parts: the paper's for its data sets, else the default.
    pub split: Split,
    /// SHA-256 of channels, samples and parts.
    pub hash: String,
}

/// A data set that cannot be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingDataset {
    /// Name or path in the study.
    pub name: String,
    /// Why, and what to do.
    pub reason: String,
    /// Runs that are left out.
    pub runs: usize,
}

/// One fit and its evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Place in the grid.
    pub cell: Cell,
    /// What it is to do, everything decided.
    pub config: RunConfig,
    /// SHA-256 of everything that decides the result, in hexadecimal.
    pub key: String,
    /// Whether the fitted model is kept.
    pub keep_model: bool,
}

/// What the runs of a job share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobKind {
    /// Cascades around one crisp network.
    Cascades,
    /// One model, evaluated at several coverages.
    Coverages,
    /// One search, whose model is evaluated at several coverages.
    Search,
    /// Nothing: there is one run.
    Single,
}

/// Runs of one data set that are fitted together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What they share.
    pub kind: JobKind,
    /// The runs, at least one.
    pub runs: Vec<Run>,
}

/// All jobs of a study.
#[derive(Clone, Debug)]
pub struct StudyPlan {
    /// Data sets that were found.
    pub data: Vec<Arc<PlanData>>,
    /// Data sets that were not.
    pub missing: Vec<MissingDataset>,
    /// Jobs: all of the first seed, then the next; long ones first, so that no worker is left with one at the end.
    pub jobs: Vec<Job>,
    /// Jobs of every data set of the study in its order, found or not: shards are the same wherever data are missing.
    job_counts: Vec<(String, usize)>,
}

impl StudyPlan {
    /// Loads the data and lists what there is to do.
    ///
    /// # Errors
    /// If a data set exists but cannot be used, none can be found, or a configuration cannot be resolved.
    pub fn new(spec: &Spec, data_dir: Option<&Path>) -> Result<Self> {
        let mut plan = Self {
            data: Vec::new(),
            missing: Vec::new(),
            jobs: grouped(spec)?,
            job_counts: Vec::new(),
        };
        for name in &spec.datasets {
            match PlanData::load(name, &spec.columns_of(name), data_dir) {
                Ok(data) => plan.data.push(Arc::new(data)),
                Err(error) if is_missing(&error) => plan.missing.push(MissingDataset {
                    name: name.clone(),
                    reason: error.to_string(),
                    runs: spec.cells().filter(|cell| cell.dataset == *name).count(),
                }),
                Err(source) => {
                    return Err(StudyError::Data {
                        dataset: name.clone(),
                        source: Box::new(source),
                    });
                }
            }
            let jobs = plan.jobs.iter().filter(|job| job.dataset() == name).count();
            plan.job_counts.push((name.clone(), jobs));
        }
        if plan.data.is_empty() {
            let reasons: Vec<&str> = plan.missing.iter().map(|missing| missing.reason.as_str()).collect();
            return Err(StudyError::NoData {
                reasons: reasons.join("; "),
            });
        }
        let mut ranked = Vec::new();
        for mut job in std::mem::take(&mut plan.jobs) {
            let Some(data) = plan.data.iter().find(|data| data.name == job.dataset()) else {
                continue;
            };
            for run in &mut job.runs {
                run.key = run_key(data, &run.config);
            }
            let seed_rank = spec.seeds.iter().position(|&seed| seed == job.runs[0].cell.seed);
            ranked.push((seed_rank, job.cost(data), job));
        }
        ranked.sort_by(|(seed_a, cost_a, _), (seed_b, cost_b, _)| seed_a.cmp(seed_b).then(cost_b.total_cmp(cost_a)));
        plan.jobs = ranked.into_iter().map(|(_, _, job)| job).collect();
        Ok(plan)
    }

    /// All runs.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.jobs.iter().flat_map(|job| &job.runs)
    }

    /// The data of a job.
    ///
    /// # Panics
    /// If the job is of another plan.
    #[must_use]
    pub fn data_of(&self, job: &Job) -> &PlanData {
        let data = self.data.iter().find(|data| data.name == job.dataset());
        data.expect("a plan has jobs of data that were found only")
    }

    /// The same plan with the jobs of one shard only. Long jobs and data sets are spread evenly, and a job's shard depends
    /// on the study and the job's own data alone: a machine that lacks a data set does not move the jobs of others.
    pub(crate) fn retain_shard(&mut self, shard: Shard) {
        let mut next: Vec<(&str, usize)> = Vec::new();
        let mut before = 0;
        for (name, jobs) in &self.job_counts {
            next.push((name, before));
            before += jobs;
        }
        self.jobs.retain(|job| {
            let place = next.iter_mut().find(|(name, _)| *name == job.dataset());
            let (_, ordinal) = place.expect("data sets of jobs are those of the study");
            *ordinal += 1;
            shard.takes(*ordinal - 1)
        });
    }
}

/// All runs of a study in jobs, without keys: those need data.
fn grouped(spec: &Spec) -> Result<Vec<Job>> {
    let mut jobs: Vec<Job> = Vec::new();
    for cell in spec.cells() {
        let config = spec.config(&cell)?;
        let run = Run {
            key: String::new(),
            keep_model: spec.keep_models.keeps(cell.seed, spec.seeds[0]),
            cell,
            config,
        };
        let kind = JobKind::of(&run.config);
        let shared = jobs.iter_mut().rev().find(|job| {
            // The cheap comparisons first: a study has thousands of runs.
            let cell = &job.runs[0].cell;
            kind != JobKind::Single
                && job.kind == kind
                && (cell.seed, cell.model) == (run.cell.seed, run.cell.model)
                && cell.dataset == run.cell.dataset
                && shared_config(kind, &job.runs[0].config) == shared_config(kind, &run.config)
        });
        match shared {
            Some(job) => job.runs.push(run),
            None => jobs.push(Job { kind, runs: vec![run] }),
        }
    }
    Ok(jobs)
}

impl PlanData {
    /// A data set of a study: `name` is a name or a path.
    pub(crate) fn load(name: &str, columns: &Columns, data_dir: Option<&Path>) -> Result<Self, DataError> {
        Self::load_as(name, name, columns, data_dir)
    }

    /// A data set that the study calls `name`, from another place.
    pub(crate) fn load_as(
        name: &str,
        place: &str,
        columns: &Columns,
        data_dir: Option<&Path>,
    ) -> Result<Self, DataError> {
        let options = ReadOptions {
            inputs: columns.input.clone(),
            outputs: columns.output.clone(),
            ..ReadOptions::default()
        };
        let dataset = load(&[place], data_dir, &options)?;
        let fractions = known_dataset(name).map_or_else(SplitFractions::default, |known| known.split());
        let split = Split::new(&dataset, fractions)?;
        let hash = data_hash(&dataset, &split);
        Ok(Self {
            name: name.to_owned(),
            columns: columns.clone(),
            dataset,
            split,
            hash,
        })
    }
}

impl JobKind {
    fn of(config: &RunConfig) -> Self {
        let RunConfig::One(config) = config else {
            return Self::Search;
        };
        match (config.model.method(), config.interval.strategy) {
            (Method::Interval, Strategy::Cascade) => Self::Cascades,
            (Method::Interval, Strategy::Joint) | (Method::Linear, _) => Self::Single,
            (Method::Bayesian | Method::Dropout | Method::Ensemble, _) => Self::Coverages,
        }
    }
}

impl Job {
    /// Name or path of its data set in the study.
    #[must_use]
    pub fn dataset(&self) -> &str {
        &self.runs[0].cell.dataset
    }

    /// The same job with some of its runs only; none if there are none left.
    pub(crate) fn retain(mut self, keep: impl Fn(&Run) -> bool) -> Option<Self> {
        self.runs.retain(keep);
        (!self.runs.is_empty()).then_some(self)
    }

    /// The same runs, a job each.
    pub(crate) fn split(self) -> impl Iterator<Item = Self> {
        let kind = self.kind;
        self.runs.into_iter().map(move |run| Self { kind, runs: vec![run] })
    }

    /// Relative time of the whole job, for estimates only: the constants were measured on small networks.
    pub(crate) fn cost(&self, data: &PlanData) -> f64 {
        let config = match &self.runs[0].config {
            RunConfig::One(config) => config,
            RunConfig::Search(run) => return run.budget_seconds.unwrap_or(SEARCH_SECONDS),
        };
        let Some(network) = config.model.network() else {
            return 1.0;
        };
        let window = config.training.window;
        let starts = data.split.train.samples().saturating_sub(window.length) / window.step.max(1) + 1;
        let steps = (starts * window.length) as f64;
        let inputs = config
            .lags
            .regressor_len(data.dataset.inputs().len(), data.dataset.outputs().len());
        let mut weights = 0.0;
        let mut before = inputs;
        for &width in &config.network.hidden {
            weights += match network {
                NetworkKind::Node => before * width,
                // Four gates, each with its recurrent weights.
                NetworkKind::Lstm => 4 * (before + width) * width,
                // Units read states and inputs and add to as many states.
                NetworkKind::StateSpace => 2 * (before + config.network.states_or_default()) * width.max(1),
            } as f64;
            before = width;
        }
        let epochs = config.training.epochs as f64;
        let passes = match (self.kind, config.model.method()) {
            (JobKind::Cascades, _) => epochs + 1.5 * (self.epochs() as f64 - epochs),
            (_, Method::Interval) => 3.0 * epochs,
            (_, Method::Ensemble) => config.gaussian.members as f64 * epochs,
            (_, Method::Bayesian) => 2.0 * epochs,
            _ => 1.2 * epochs,
        };
        1.0 + steps * (weights + 400.0) * passes * 1e-9
    }
}

/// What runs of a job have in common: a crisp network, or all but the coverage.
fn shared_config(kind: JobKind, config: &RunConfig) -> RunConfig {
    let coverage = FitConfig::default().coverage;
    match config {
        RunConfig::One(config) if kind == JobKind::Cascades => RunConfig::One(Box::new(config.first_stage())),
        RunConfig::One(config) => RunConfig::One(Box::new(FitConfig {
            coverage,
            ..FitConfig::clone(config)
        })),
        RunConfig::Search(run) => RunConfig::Search(SearchRun {
            coverage,
            ..run.clone()
        }),
    }
}

/// Whether the data set is not there at all, as opposed to damaged.
pub(crate) fn is_missing(error: &DataError) -> bool {
    matches!(
        error,
        DataError::NotShipped { .. }
            | DataError::UnknownName { .. }
            | DataError::File(FileError {
                problem: FileProblem::FileNotFound,
                ..
            })
    )
}

fn data_hash(dataset: &Dataset, split: &Split) -> String {
    let mut hasher = Sha256::new();
    // Lengths go first, so that no two records run into the same bytes.
    let mut text = |value: &str| {
        hasher.update((value.len() as u64).to_le_bytes());
        hasher.update(value.as_bytes());
    };
    text(&dataset.inputs().len().to_string());
    for channel in dataset.inputs().iter().chain(dataset.outputs()) {
        text(&channel.name);
    }
    text(&serde_json::to_string(split).expect("a split is plain data"));
    each_sample(dataset, &Part::whole(dataset), |bytes| hasher.update(bytes));
    hex(hasher.finalize().as_slice())
}

/// The key of a run: SHA-256 of its data and its configuration.
pub(crate) fn run_key(data: &PlanData, config: &RunConfig) -> String {
    let config = serde_json::to_value(config).expect("a configuration is plain data");
    let mut text = format!("intervalid run {KEY_FORMAT}\n{:?}\n{}\n", data.name, data.hash);
    write_canonical(&config, &mut text);
    hex(Sha256::digest(text.as_bytes()).as_slice())
}

/// JSON with sorted keys and no spaces: the same value always has the same text.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort_unstable();
            text.push('{');
            for key in keys {
                text.push_str(&format!("{key:?}:"));
                write_canonical(&fields[key], text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}
