//! Recordings: what is in them, and what the user is shown before any fit.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use intervalid_data::{
    CATALOGUE, ChannelSummary, DataError, Dataset, FileError, FileProblem, Part, ReadOptions, columns, describe,
    is_time_name,
};
use intervalid_workflow::RecordRequest;
use serde::Serialize;

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::cache::stamp;
use crate::choice::{Choice, check_seen, record_key, revision};
use crate::prepared::{Places, in_words};
use crate::problem::Problem;
use crate::tracks::starts;

/// An entry of the list of recordings.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    id: String,
    /// Of a built-in record.
    description: Option<&'static str>,
    bytes: Option<u64>,
    chosen: bool,
    /// Another one when its files or what is chosen for it have changed.
    version: String,
}

/// Everything about a recording.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    id: String,
    columns: Vec<String>,
    /// The column that is taken for the time where nobody names one.
    time_column: Option<String>,
    choice: Choice,
    /// Tells the choice that is stored from others, so that nobody replaces one that they have not seen.
    revision: String,
    /// Whether nobody has chosen yet, and this is a guess.
    guessed: bool,
    problem: Option<Problem>,
    summary: Option<Summary>,
}

#[derive(Debug, Serialize)]
struct Summary {
    name: String,
    samples: usize,
    sample_time: Option<f64>,
    experiments: Vec<Experiment>,
    channels: Vec<Channel>,
    warnings: Vec<String>,
    /// Where in the record there is something to look at.
    places: Places,
    /// What is done to it before a fit, a sentence each.
    preparation: Vec<String>,
    split: Split,
}

#[derive(Debug, Serialize)]
struct Experiment {
    name: String,
    samples: usize,
    /// Whether all of it is for the test.
    test: bool,
}

#[derive(Debug, Serialize)]
struct Channel {
    role: &'static str,
    name: String,
    unit: Option<String>,
    min: f64,
    max: f64,
    mean: f64,
    std: f64,
    longest_constant: usize,
}

/// The parts, in samples of the whole record.
#[derive(Debug, Serialize)]
struct Split {
    fractions: String,
    train: Vec<[usize; 2]>,
    validation: Vec<[usize; 2]>,
    test: Vec<[usize; 2]>,
    /// Why it cannot be split like this.
    problem: Option<String>,
}

impl App {
    /// Recordings in the workspace, then those that are built in.
    pub(crate) fn records(&self) -> ApiResult<Vec<Entry>> {
        let choices = self.store.read(|kept| kept.choices.clone());
        let mut entries = Vec::new();
        for id in self.workspace.records()? {
            // One that was taken away meanwhile has no size.
            let metadata = self.workspace.record(&id).ok().and_then(|path| path.metadata().ok());
            let choice = choices.get(&id);
            entries.push(Entry {
                chosen: choice.is_some(),
                version: self.version(&id, choice),
                id,
                description: None,
                bytes: metadata.map(|metadata| metadata.len()),
            });
        }
        entries.extend(CATALOGUE.iter().filter(|known| known.is_built_in()).map(|known| Entry {
            id: known.name.to_owned(),
            description: Some(known.description),
            bytes: None,
            chosen: choices.contains_key(known.name),
            version: self.version(known.name, choices.get(known.name)),
        }));
        Ok(entries)
    }

    /// Another text when the choice or one of the files that are read together has changed.
    fn version(&self, id: &str, choice: Option<&Choice>) -> String {
        let others = choice
            .into_iter()
            .flat_map(|choice| choice.more.iter().chain(&choice.test));
        let files = std::iter::once(id).chain(others.map(String::as_str));
        // Those that are gone have no stamp.
        let stamps = files.map(|name| self.workspace.record(name).ok().map(|path| stamp(&path)));
        let mut hasher = DefaultHasher::new();
        (revision(choice), stamps.collect::<Vec<_>>()).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// Everything about a recording, read as `choice` says or else as it was or could be chosen.
    pub(crate) fn view(&self, id: &str, choice: Option<Choice>) -> ApiResult<View> {
        let stored = self.stored_choice(id);
        let revision = revision(stored.as_ref());
        let view = self.look(id, choice.or(stored))?;
        Ok(View { revision, ..view })
    }

    fn look(&self, id: &str, stored: Option<Choice>) -> ApiResult<View> {
        let guessed = stored.is_none();
        let choice = stored.unwrap_or_default();
        let request = match self.request(id, &choice) {
            Ok(request) => request,
            // A file that was read together with this one may be gone: the user is shown which, and can choose again.
            Err(error) => {
                let alone = self.request(id, &Choice::default())?;
                let names = columns(&alone.data()[0], self.data_dir.as_deref(), &choice.options).unwrap_or_default();
                let problem = Problem::of_choice(error.message);
                return Ok(View::with_problem(id, names, (choice, guessed), problem));
            }
        };
        let problem = |error: &DataError| Problem::new(error, self.workspace.text());
        let names = match columns(&request.data()[0], self.data_dir.as_deref(), &choice.options) {
            Ok(names) => names,
            Err(error) => return Ok(View::with_problem(id, Vec::new(), (choice, guessed), problem(&error))),
        };
        match self.caches.records.get(&record_key(&request), || request.load()) {
            Ok(dataset) => Ok(self.seen(id, names, (choice, guessed), &request, &dataset)),
            Err(DataError::File(FileError {
                problem: FileProblem::NoDefaultColumns { .. },
                ..
            })) if guessed => self.guess(id, names),
            Err(error) => Ok(View::with_problem(id, names, (choice, guessed), problem(&error))),
        }
    }

    /// A recording that could be read.
    fn seen(
        &self,
        id: &str,
        columns: Vec<String>,
        (choice, guessed): (Choice, bool),
        request: &RecordRequest,
        dataset: &Dataset,
    ) -> View {
        match self.trend(request, &choice, dataset) {
            Ok(trend) => {
                let preparation = in_words(dataset, trend.as_ref());
                let mut view = View::of(id, columns, (choice, guessed), request, (dataset, preparation));
                // The folder is known; only the names of its files tell something.
                let folder = format!("{}/", self.workspace.text());
                for warning in view.summary.iter_mut().flat_map(|summary| &mut summary.warnings) {
                    *warning = warning.replace(&folder, "");
                }
                view
            }
            Err(error) => View::with_problem(id, columns, (choice, guessed), Problem::of_choice(error.message)),
        }
    }

    /// Without names that tell, the last column of numbers is taken for the output and the others for inputs; the user is asked to look.
    fn guess(&self, id: &str, names: Vec<String>) -> ApiResult<View> {
        let mut numeric: Vec<String> = names.iter().filter(|name| !is_time_name(name)).cloned().collect();
        loop {
            let Some((output, inputs)) = numeric.split_last() else {
                return Err(ApiError::bad(format!("{id}: no column holds numbers")));
            };
            let choice = Choice {
                options: ReadOptions {
                    inputs: Some(inputs.to_vec()),
                    outputs: Some(vec![output.clone()]),
                    ..ReadOptions::default()
                },
                ..Choice::default()
            };
            let request = self.request(id, &choice)?;
            match self.caches.records.get(&record_key(&request), || request.load()) {
                Ok(dataset) => return Ok(self.seen(id, names, (choice, true), &request, &dataset)),
                // A column that starts with words holds words; one with a word further down has a mistake.
                Err(DataError::File(FileError {
                    problem: FileProblem::NotANumber { position, column, .. },
                    ..
                })) if position.number() <= 3 && numeric.contains(&column) => numeric.retain(|name| *name != column),
                Err(error) => {
                    let problem = Problem::new(&error, self.workspace.text());
                    return Ok(View::with_problem(id, names, (choice, true), problem));
                }
            }
        }
    }

    /// Remembers a choice that can be read and split, in place of the one that the user has `seen`, where that is said.
    pub(crate) fn choose(&self, id: &str, choice: Choice, seen: Option<&str>) -> ApiResult<View> {
        choice.check()?;
        let view = self.look(id, Some(choice.clone()))?;
        if let Some(problem) = &view.problem {
            return Err(ApiError::bad(problem.message.clone()));
        }
        if let Some(problem) = view.summary.as_ref().and_then(|summary| summary.split.problem.as_ref()) {
            return Err(ApiError::bad(problem.clone()));
        }
        let revision = revision(Some(&choice));
        self.store.try_change(|kept| {
            check_seen(seen, kept.choices.get(id))?;
            kept.choices.insert(id.to_owned(), choice);
            Ok(())
        })?;
        Ok(View { revision, ..view })
    }
}

fn time_column(columns: &[String]) -> Option<String> {
    columns.iter().find(|column| is_time_name(column)).cloned()
}

impl View {
    fn of(
        id: &str,
        columns: Vec<String>,
        (choice, guessed): (Choice, bool),
        request: &RecordRequest,
        (dataset, preparation): (&Dataset, Vec<String>),
    ) -> Self {
        let summary = describe(dataset);
        let places = Places::of(dataset, &summary);
        let role = |role: &'static str| {
            move |found: ChannelSummary| Channel {
                role,
                name: found.channel.name,
                unit: found.channel.unit,
                min: found.min,
                max: found.max,
                mean: found.mean,
                std: found.std,
                longest_constant: found.longest_constant,
            }
        };
        let files = request.files(dataset).unwrap_or_default();
        let first_of_test = files.get(request.data().len()).map_or(usize::MAX, |file| file.start);
        let channels = summary.inputs.into_iter().map(role("input"));
        let channels = channels
            .chain(summary.outputs.into_iter().map(role("output")))
            .collect();
        Self {
            id: id.to_owned(),
            time_column: time_column(&columns),
            columns,
            choice,
            // Who asks for the view knows what is stored.
            revision: String::new(),
            guessed,
            problem: None,
            summary: Some(Summary {
                name: summary.name,
                samples: summary.samples,
                sample_time: summary.sample_time,
                experiments: summary
                    .experiments
                    .into_iter()
                    .enumerate()
                    .map(|(place, (name, samples))| Experiment {
                        name,
                        samples,
                        test: place >= first_of_test,
                    })
                    .collect(),
                channels,
                warnings: summary.warnings.iter().map(ToString::to_string).collect(),
                places,
                preparation,
                split: Split::of(request, dataset),
            }),
        }
    }

    fn with_problem(id: &str, columns: Vec<String>, (choice, guessed): (Choice, bool), problem: Problem) -> Self {
        Self {
            id: id.to_owned(),
            time_column: time_column(&columns),
            columns,
            choice,
            // Who asks for the view knows what is stored.
            revision: String::new(),
            guessed,
            problem: Some(problem),
            summary: None,
        }
    }
}

impl Split {
    fn of(request: &RecordRequest, dataset: &Dataset) -> Self {
        let starts = starts(dataset);
        let ranges = |part: &Part| {
            let segments = part.segments().iter();
            let ranges = segments.map(|segment| {
                let start = starts[segment.experiment];
                [start + segment.start, start + segment.end]
            });
            ranges.collect::<Vec<_>>()
        };
        let fractions = request.fractions.to_string();
        match request.split(dataset) {
            Ok(split) => Self {
                fractions,
                train: ranges(&split.train),
                validation: ranges(&split.validation),
                test: ranges(&split.test),
                problem: None,
            },
            Err(error) => Self {
                fractions,
                train: Vec::new(),
                validation: Vec::new(),
                test: Vec::new(),
                problem: Some(error.to_string()),
            },
        }
    }
}
