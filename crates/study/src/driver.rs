//! The side of a study that plans and records: it hands out tasks and takes results, whoever computes them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use crate::claim::Claim;
use crate::error::{Result, StudyError};
use crate::output::RunOutput;
use crate::plan::{Job, Run, StudyPlan};
use crate::put::Put;
use crate::shard::Shard;
use crate::spec::Spec;
use crate::store::{RecordedState, Store};
use crate::task::Task;

/// What a driver does of a study. None of it changes results.
#[derive(Clone, Copy, Debug)]
pub struct DriverOptions<'a> {
    /// Folder of further data sets.
    pub data_dir: Option<&'a Path>,
    /// One share of the study only.
    pub shard: Option<Shard>,
    /// Whether runs that can share training are one task (else every run is a task of its own).
    pub share_training: bool,
}

impl Default for DriverOptions<'_> {
    fn default() -> Self {
        Self {
            data_dir: None,
            shard: None,
            share_training: true,
        }
    }
}

/// What [`Driver::next`] has to offer.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// A task that nobody else is at.
    Task(Box<Task>),
    /// Nothing now: what is left is being computed by other processes. Ask again in a while.
    Busy,
    /// Nothing any more: all is done or handed out.
    Finished,
}

/// What became of the runs of a study since a driver was opened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudySummary {
    /// Runs finished in this call.
    pub done: usize,
    /// Runs that failed in this call.
    pub failed: usize,
    /// Runs that were done before, or meanwhile by another process.
    pub resumed: usize,
    /// Runs left out because their data set is missing.
    pub skipped: usize,
    /// Runs left because the study was stopped.
    pub left: usize,
    /// Runs removed because data, settings or the program had changed.
    pub outdated: usize,
    /// Runs that other versions of the program did, which are kept: they may have trained or evaluated otherwise. Not in the JSON, whose
    /// readers know its keys; that of [`status`](crate::status()) has the versions.
    #[serde(skip)]
    pub other_versions: usize,
    /// Names of the missing data sets.
    pub missing_datasets: Vec<String>,
    /// Time of this call.
    pub seconds: f64,
}

/// Drives a study in a folder. Several drivers may be at work on one folder: none gets a run that another has claimed, and
/// what a driver that was killed had claimed is free again.
#[derive(Debug)]
pub struct Driver {
    folder: PathBuf,
    data_dir: Option<PathBuf>,
    store: Store,
    plan: StudyPlan,
    /// Places of the whole plan by key, to know results that belong to it.
    planned: HashSet<String>,
    /// As recorded when the driver was opened.
    before: HashMap<String, RecordedState>,
    pending: VecDeque<Job>,
    busy: VecDeque<Job>,
    claims: HashMap<String, Claim>,
    finished: HashSet<String>,
    summary: StudySummary,
    /// Versions of the program that did [`StudySummary::other_versions`].
    other_versions: Vec<String>,
    runs: usize,
    started: Instant,
}

impl Driver {
    /// Plans a study and opens its database in `folder`.
    ///
    /// # Errors
    /// If the study, its data or the folder cannot be used.
    pub fn open(spec: &Spec, folder: impl AsRef<Path>, options: &DriverOptions<'_>) -> Result<Self> {
        let folder = folder.as_ref();
        spec.check()?;
        let mut plan = StudyPlan::new(spec, options.data_dir)?;
        let mut store = Store::open_for_writing(folder, spec)?;
        Claim::sweep(folder);
        // The share comes first: runs of other shards are not this driver's to redo, so they are not its to remove.
        if let Some(shard) = options.shard {
            plan.retain_shard(shard);
        }
        let outdated = store.remove_outdated(&plan)?;
        let other_versions: BTreeMap<String, usize> = store.other_versions()?;
        let before = store.states()?;
        let is_done = |run: &Run| before.get(&run.key).is_some_and(|state| state.done);
        let planned: HashSet<String> = plan.runs().map(|run| run.key.clone()).collect();
        let resumed = plan.runs().filter(|run| is_done(run)).count();
        let left = plan
            .jobs
            .iter()
            .filter_map(|job| job.clone().retain(|run| !is_done(run)));
        let pending = if options.share_training {
            left.collect()
        } else {
            left.flat_map(Job::split).collect()
        };
        Ok(Self {
            folder: folder.to_owned(),
            data_dir: options.data_dir.map(Path::to_owned),
            pending,
            busy: VecDeque::new(),
            claims: HashMap::new(),
            finished: HashSet::new(),
            summary: StudySummary {
                done: 0,
                failed: 0,
                resumed,
                skipped: plan.missing.iter().map(|missing| missing.runs).sum(),
                left: 0,
                outdated,
                other_versions: other_versions.values().sum(),
                missing_datasets: plan.missing.iter().map(|missing| missing.name.clone()).collect(),
                seconds: 0.0,
            },
            runs: planned.len(),
            other_versions: other_versions.into_keys().collect(),
            planned,
            before,
            plan,
            store,
            started: Instant::now(),
        })
    }

    /// Other versions of the program that did runs of the study which are kept, sorted.
    #[must_use]
    pub fn other_versions(&self) -> &[String] {
        &self.other_versions
    }

    /// The plan: of the shard, if there is one.
    #[must_use]
    pub fn plan(&self) -> &StudyPlan {
        &self.plan
    }

    /// Jobs that are neither done nor handed out.
    pub fn pending(&self) -> impl Iterator<Item = &Job> {
        self.pending.iter().chain(&self.busy)
    }

    /// Runs of the driver's share of the study, without those whose data are missing.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Runs that are done or failed, and not to be tried again by this driver.
    #[must_use]
    pub fn runs_ended(&self) -> usize {
        self.summary.resumed + self.summary.done + self.summary.failed
    }

    /// Claims the next task.
    ///
    /// # Errors
    /// If the database cannot be read, or runs cannot be claimed in the folder.
    #[expect(
        clippy::should_implement_trait,
        reason = "it may fail, and nothing now does not mean nothing later"
    )]
    pub fn next(&mut self) -> Result<Next> {
        while let Some(job) = self.pending.pop_front() {
            let Some(job) = self.without_ended(job)? else {
                continue;
            };
            if !self.claim(&job)? {
                self.busy.push_back(job);
                continue;
            }
            // Another may have finished the runs just before it let go of them.
            match self.without_ended(job)? {
                Some(job) => {
                    let task = Task::new(&self.plan, job, self.store.spec_hash(), self.data_dir.as_deref());
                    return Ok(Next::Task(Box::new(task)));
                }
                None => continue,
            }
        }
        if self.busy.is_empty() {
            return Ok(Next::Finished);
        }
        std::mem::swap(&mut self.pending, &mut self.busy);
        Ok(Next::Busy)
    }

    /// Records a result; the same one again changes nothing.
    ///
    /// # Errors
    /// If it is of another study, other data or another version, contradicts what is recorded, or cannot be written.
    pub fn put(&mut self, output: &RunOutput) -> Result<Put> {
        if output.spec_hash == self.store.spec_hash() && !self.planned.contains(&output.key) {
            return Err(StudyError::Message {
                what: "result",
                reason: format!("'{}' with these data and settings is not planned here", output.cell),
            });
        }
        let put = self.store.put(output)?;
        if self.finished.insert(output.key.clone()) {
            *match (put, output.is_done()) {
                (Put::AlreadyThere, _) => &mut self.summary.resumed,
                (Put::Stored, true) => &mut self.summary.done,
                (Put::Stored, false) => &mut self.summary.failed,
            } += 1;
        }
        self.claims.remove(&output.key);
        Ok(put)
    }

    /// Gives back a task that was handed out and will not be done: others may claim it.
    pub fn release(&mut self, task: &Task) {
        for run in &task.job.runs {
            self.claims.remove(&run.key);
        }
    }

    /// What became of the runs so far.
    #[must_use]
    pub fn summary(&self) -> StudySummary {
        StudySummary {
            left: self.runs - self.runs_ended(),
            seconds: self.started.elapsed().as_secs_f64(),
            ..self.summary.clone()
        }
    }

    /// Closes the database and gives back all claims; dropping the driver does the same, silently.
    ///
    /// # Errors
    /// If the database cannot be closed.
    pub fn close(self) -> Result<StudySummary> {
        let summary = self.summary();
        let Self {
            store, claims, folder, ..
        } = self;
        drop(claims);
        Claim::sweep(&folder);
        store.close()?;
        Ok(summary)
    }

    /// The job without runs that another process has done, or that have failed there, since this driver was opened.
    fn without_ended(&mut self, job: Job) -> Result<Option<Job>> {
        let mut ended = HashSet::new();
        for run in &job.runs {
            let Some(now) = self.store.state(&run.key)? else {
                continue;
            };
            let is_new = self.before.get(&run.key) != Some(&now);
            if !now.done && !is_new {
                continue;
            }
            *(if now.done {
                &mut self.summary.resumed
            } else {
                &mut self.summary.failed
            }) += 1;
            self.claims.remove(&run.key);
            self.finished.insert(run.key.clone());
            ended.insert(run.key.clone());
        }
        Ok(job.retain(|run| !ended.contains(&run.key)))
    }

    /// Claims all runs of a job or none.
    fn claim(&mut self, job: &Job) -> Result<bool> {
        let mut claims = Vec::with_capacity(job.runs.len());
        for run in &job.runs {
            match Claim::take(&self.folder, &run.key)? {
                Some(claim) => claims.push((run.key.clone(), claim)),
                None => return Ok(false),
            }
        }
        self.claims.extend(claims);
        Ok(true)
    }
}
