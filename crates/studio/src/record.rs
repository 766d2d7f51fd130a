//! Recordings: how they are read, what is in them, what is wrong with them.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use intervalid_data::{
    CATALOGUE, ChannelSummary, DataError, Dataset, FileError, FileProblem, Part, Position, ReadOptions, columns,
    describe, is_time_name, known_dataset,
};
use intervalid_workflow::RecordRequest;
use serde::{Deserialize, Serialize};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::cache::stamp;
use crate::series::{Grid, Lines, Pieces};

/// Rows shown before a mistake in a file, and how much of a row.
const ROWS_BEFORE: usize = 12;
const ROW_BYTES: u64 = 400;

/// How a recording is read and split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Choice {
    pub(crate) options: ReadOptions,
    /// Shares of the parts as text such as `0.6,0.1,0.3`; those that `fit` takes by default where there is none.
    pub(crate) split: Option<String>,
}

/// An entry of the list of recordings.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    id: String,
    /// Of a built-in record.
    description: Option<&'static str>,
    bytes: Option<u64>,
    chosen: bool,
}

/// Everything about a recording.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    id: String,
    columns: Vec<String>,
    /// The column that is taken for the time where nobody names one.
    time_column: Option<String>,
    choice: Choice,
    /// Whether nobody has chosen yet, and this is a guess.
    guessed: bool,
    problem: Option<Problem>,
    summary: Option<Summary>,
}

/// What is wrong, and where.
#[derive(Debug, Serialize)]
struct Problem {
    message: String,
    line: Option<u64>,
    /// The rows up to it.
    rows: Vec<Row>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Row {
    line: u64,
    text: String,
}

#[derive(Debug, Serialize)]
struct Summary {
    name: String,
    samples: usize,
    sample_time: Option<f64>,
    experiments: Vec<Experiment>,
    channels: Vec<Channel>,
    warnings: Vec<String>,
    split: Split,
}

#[derive(Debug, Serialize)]
struct Experiment {
    name: String,
    samples: usize,
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

/// A stretch of all channels.
#[derive(Debug, Serialize)]
pub(crate) struct Series {
    samples: usize,
    from: usize,
    to: usize,
    #[serde(flatten)]
    lines: Lines,
}

impl App {
    /// Recordings in the workspace, then those that are built in.
    pub(crate) fn records(&self) -> ApiResult<Vec<Entry>> {
        let chosen: Vec<String> = self.store.read(|kept| kept.choices.keys().cloned().collect());
        let mut entries = Vec::new();
        for id in self.workspace.records()? {
            let bytes = self
                .workspace
                .record(&id)?
                .metadata()
                .ok()
                .map(|metadata| metadata.len());
            entries.push(Entry {
                chosen: chosen.contains(&id),
                id,
                description: None,
                bytes,
            });
        }
        entries.extend(CATALOGUE.iter().filter(|known| known.is_built_in()).map(|known| Entry {
            id: known.name.to_owned(),
            description: Some(known.description),
            bytes: None,
            chosen: chosen.iter().any(|id| id == known.name),
        }));
        Ok(entries)
    }

    /// The choice that was made, if one was.
    pub(crate) fn stored_choice(&self, id: &str) -> Option<Choice> {
        self.store.read(|kept| kept.choices.get(id).cloned())
    }

    /// What `fit` would be given to read the recording.
    pub(crate) fn request(&self, id: &str, choice: &Choice) -> ApiResult<RecordRequest> {
        let is_built_in = known_dataset(id).is_some_and(|known| known.is_built_in());
        let data = match is_built_in {
            true => id.to_owned(),
            false => {
                self.workspace.record(id)?;
                format!("{}/{id}", self.workspace.text())
            }
        };
        let split = choice.split.as_deref().map(str::parse).transpose()?;
        Ok(RecordRequest::new(
            vec![data],
            self.data_dir.clone(),
            choice.options.clone(),
            split,
        ))
    }

    /// The recording, read now or a moment ago.
    pub(crate) fn dataset(&self, request: &RecordRequest) -> ApiResult<Arc<Dataset>> {
        let key = record_key(request);
        Ok(self.caches.records.get(&key, || request.load())?)
    }

    /// Everything about a recording, read as `choice` says or else as it was or could be chosen.
    pub(crate) fn view(&self, id: &str, choice: Option<Choice>) -> ApiResult<View> {
        let stored = choice.or_else(|| self.stored_choice(id));
        let guessed = stored.is_none();
        let choice = stored.unwrap_or_default();
        let request = self.request(id, &choice)?;
        let data = &request.data()[0];
        let names = match columns(data, self.data_dir.as_deref(), &choice.options) {
            Ok(names) => names,
            Err(error) => return Ok(View::with_problem(id, Vec::new(), choice, guessed, &error, data)),
        };
        match self.caches.records.get(&record_key(&request), || request.load()) {
            Ok(dataset) => Ok(View::of(id, names, (choice, guessed), &request, &dataset)),
            Err(DataError::File(FileError {
                problem: FileProblem::NoDefaultColumns { .. },
                ..
            })) if guessed => self.guess(id, names),
            Err(error) => Ok(View::with_problem(id, names, choice, guessed, &error, data)),
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
                split: None,
            };
            let request = self.request(id, &choice)?;
            match self.caches.records.get(&record_key(&request), || request.load()) {
                Ok(dataset) => return Ok(View::of(id, names, (choice, true), &request, &dataset)),
                // A column that starts with words holds words; one with a word further down has a mistake.
                Err(DataError::File(FileError {
                    problem: FileProblem::NotANumber { position, column, .. },
                    ..
                })) if position.number() <= 3 && numeric.contains(&column) => numeric.retain(|name| *name != column),
                Err(error) => {
                    let data = &request.data()[0];
                    return Ok(View::with_problem(id, names, choice, true, &error, data));
                }
            }
        }
    }

    /// Remembers a choice that can be read and split.
    pub(crate) fn choose(&self, id: &str, choice: Choice) -> ApiResult<View> {
        let view = self.view(id, Some(choice.clone()))?;
        if let Some(problem) = &view.problem {
            return Err(ApiError::bad(problem.message.clone()));
        }
        if let Some(problem) = view.summary.as_ref().and_then(|summary| summary.split.problem.as_ref()) {
            return Err(ApiError::bad(problem.clone()));
        }
        self.store.change(|kept| {
            kept.choices.insert(id.to_owned(), choice);
        })?;
        Ok(view)
    }

    /// Samples `from..to` of all channels for so many pixels.
    pub(crate) fn series(
        &self,
        id: &str,
        choice: Choice,
        from: usize,
        to: Option<usize>,
        pixels: usize,
    ) -> ApiResult<Series> {
        let dataset = self.dataset(&self.request(id, &choice)?)?;
        let samples = dataset.samples();
        let to = to.unwrap_or(samples).min(samples);
        let from = from.min(to);
        let grid = Grid::new(from..to, pixels);
        let lines = (0..dataset.inputs().len())
            .map(|channel| inputs(&dataset, channel))
            .chain((0..dataset.outputs().len()).map(|channel| outputs(&dataset, channel)));
        Ok(Series {
            samples,
            from,
            to,
            lines: Lines {
                lines: lines.map(|pieces| grid.line(&pieces)).collect(),
                x: grid.positions(),
                exact: grid.is_exact(),
            },
        })
    }
}

/// Changes with the file and with how it is read.
pub(crate) fn record_key(request: &RecordRequest) -> String {
    let files: Vec<String> = request.data().iter().map(|file| stamp(Path::new(file))).collect();
    let options = serde_json::to_string(request.options()).unwrap_or_default();
    format!("{}|{options}", files.join("|"))
}

/// First sample of each experiment in the whole record.
pub(crate) fn starts(dataset: &Dataset) -> Vec<usize> {
    let lengths = dataset.experiments().iter().map(|experiment| experiment.len());
    let sums = lengths.scan(0, |sum, length| {
        let start = *sum;
        *sum += length;
        Some(start)
    });
    sums.collect()
}

fn inputs(dataset: &Dataset, channel: usize) -> Pieces<'_> {
    let mut pieces = Pieces::default();
    for (experiment, start) in dataset.experiments().iter().zip(starts(dataset)) {
        pieces.push(start, experiment.input(channel));
    }
    pieces
}

/// An output over the whole record.
pub(crate) fn outputs(dataset: &Dataset, channel: usize) -> Pieces<'_> {
    let mut pieces = Pieces::default();
    for (experiment, start) in dataset.experiments().iter().zip(starts(dataset)) {
        pieces.push(start, experiment.output(channel));
    }
    pieces
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
        dataset: &Dataset,
    ) -> Self {
        let summary = describe(dataset);
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
        let channels = summary.inputs.into_iter().map(role("input"));
        let channels = channels
            .chain(summary.outputs.into_iter().map(role("output")))
            .collect();
        Self {
            id: id.to_owned(),
            time_column: time_column(&columns),
            columns,
            choice,
            guessed,
            problem: None,
            summary: Some(Summary {
                name: summary.name,
                samples: summary.samples,
                sample_time: summary.sample_time,
                experiments: summary
                    .experiments
                    .into_iter()
                    .map(|(name, samples)| Experiment { name, samples })
                    .collect(),
                channels,
                warnings: summary.warnings.iter().map(ToString::to_string).collect(),
                split: Split::of(request, dataset),
            }),
        }
    }

    fn with_problem(
        id: &str,
        columns: Vec<String>,
        choice: Choice,
        guessed: bool,
        error: &DataError,
        data: &str,
    ) -> Self {
        let position = match error {
            DataError::File(error) => error.problem.position(),
            _ => None,
        };
        let line = match position {
            Some(Position::Line(line)) => Some(line),
            _ => None,
        };
        // The folder is known; only the file tells something.
        let folder = data.strip_suffix(id).unwrap_or_default();
        Self {
            id: id.to_owned(),
            time_column: time_column(&columns),
            columns,
            choice,
            guessed,
            problem: Some(Problem {
                message: error.to_string().replacen(folder, "", usize::from(!folder.is_empty())),
                line,
                rows: line.map(|line| rows_up_to(Path::new(data), line)).unwrap_or_default(),
            }),
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

/// The rows of a text file up to this line, which is the last; what is not text is shown with replacement characters.
fn rows_up_to(file: &Path, line: u64) -> Vec<Row> {
    let Ok(file) = File::open(file) else {
        return Vec::new();
    };
    let mut reader = BufReader::new(file);
    let mut rows = VecDeque::new();
    for number in 1..=line {
        let mut bytes = Vec::new();
        let read = reader.by_ref().take(ROW_BYTES).read_until(b'\n', &mut bytes);
        if !read.is_ok_and(|count| count > 0) {
            break;
        }
        // The rest of a long row.
        if bytes.len() as u64 == ROW_BYTES && !bytes.ends_with(b"\n") && reader.skip_until(b'\n').is_err() {
            break;
        }
        rows.push_back(Row {
            line: number,
            text: String::from_utf8_lossy(&bytes).trim_end().to_owned(),
        });
        if rows.len() > ROWS_BEFORE {
            rows.pop_front();
        }
    }
    rows.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_with_the_mistake() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.csv");
        let long = "9".repeat(5000);
        let mut text = format!("u,y\n{long},1\n");
        for row in 0..30 {
            text += &format!("{row},2\n");
        }
        std::fs::write(&file, text).expect("written");
        let rows = rows_up_to(&file, 3);
        assert_eq!(rows.len(), 3);
        assert_eq!((rows[1].text.len(), rows[2].text.as_str()), (400, "0,2"));
        let rows = rows_up_to(&file, 20);
        assert_eq!((rows.len(), rows[11].line, rows[11].text.as_str()), (12, 20, "17,2"));
        assert_eq!(rows_up_to(&file, 900).last().map(|row| row.line), Some(32));
    }
}
