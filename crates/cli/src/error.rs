//! What a command fails with: a message, an exit code and, where we can say what to do, a hint.

use std::io;

use clap::CommandFactory;
use intervalid_analysis::AnalysisError;
use intervalid_bench::BenchError;
use intervalid_data::{DataError, FileError, FileProblem, NotANumberCause};
use intervalid_deploy::DeployError;
use intervalid_figure::FigureError;
use intervalid_files::FolderError;
use intervalid_model::ModelError;
use intervalid_report::ReportError;
use intervalid_search::SearchError;
use intervalid_study::{Spec, StudyError};
use intervalid_workflow::{WorkflowError, nearest};

use crate::args::Cli;
use crate::format::count;
use crate::write::out_of_space;

/// What to do where a disk is full.
pub(crate) const MAKE_ROOM: &str = "free some space, or write to another disk with --out";

/// Who can mend it, and with that the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The user: bad usage or bad input, nothing written. Exit code 2.
    Input,
    /// The run itself failed. Exit code 1.
    Run,
    /// The run was fine, its result is not what the user requires. Exit code 3.
    Requirement,
}

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    error: anyhow::Error,
    hint: Option<String>,
}

impl Failure {
    /// Bad usage or bad input.
    pub(crate) fn input(error: impl Into<anyhow::Error>) -> Self {
        Self {
            kind: Kind::Input,
            error: error.into(),
            hint: None,
        }
    }

    /// A run that failed for other reasons.
    pub(crate) fn run(error: impl Into<anyhow::Error>) -> Self {
        Self {
            kind: Kind::Run,
            error: error.into(),
            hint: None,
        }
    }

    /// A result that is not what the user requires.
    pub(crate) fn requirement(error: impl Into<anyhow::Error>) -> Self {
        Self {
            kind: Kind::Requirement,
            error: error.into(),
            hint: None,
        }
    }

    /// The same failure with advice.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure with advice, unless it has better one.
    pub(crate) fn or_hint(mut self, hint: &str) -> Self {
        self.hint.get_or_insert_with(|| hint.to_owned());
        self
    }

    /// The same failure with what to do where a file lacks outputs because they are still to come.
    pub(crate) fn or_missing_output(self, model: &intervalid_model::Model) -> Self {
        let outputs = &model.interface().outputs;
        let is_output = match self.error.downcast_ref::<DataError>() {
            Some(DataError::File(FileError {
                problem: FileProblem::MissingColumn { column, .. },
                ..
            })) => outputs.iter().any(|output| output.name == *column),
            _ => false,
        };
        match is_output {
            true => self.with_hint(
                "name the column with --output; where outputs are still to come, start with --initial-output VALUE or \
                 --start-from FILE",
            ),
            false => self,
        }
    }

    /// The same failure with what to do where a file lacks the column by which the experiments of the fit were told apart.
    pub(crate) fn or_missing_experiment(self, column: &str) -> Self {
        let is_it = match self.error.downcast_ref::<DataError>() {
            Some(DataError::File(FileError {
                problem: FileProblem::MissingColumn { column: missing, .. },
                ..
            })) => missing == column,
            _ => false,
        };
        match is_it {
            true => self.with_hint(format!(
                "the fit has parts of each experiment by the column '{column}', and so have these data: name the column with --experiment, or take the \
                 whole record with --part all"
            )),
            false => self,
        }
    }

    /// The same failure with the data it is about named in front, where the message does not name them.
    pub(crate) fn about(mut self, data: &str) -> Self {
        let message = self.error.to_string();
        let of_input = self.error.is::<DataError>() || self.error.is::<StudyError>();
        if of_input && !message.contains(data) {
            self.error = self.error.context(format!("{data}: {message}"));
        }
        self
    }

    /// Code for the shell.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Run => 1,
            Kind::Input => 2,
            Kind::Requirement => 3,
        }
    }

    /// The message and its causes, one per line. A cause that the line above already quotes is left out.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for cause in self.error.chain().map(ToString::to_string) {
            if !lines.last().is_some_and(|line| line.contains(&cause)) {
                lines.push(cause);
            }
        }
        lines
    }

    /// What to do, if we know.
    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        let hint = match &error {
            BenchError::UnknownBenchmark { name, known } => match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => Some(format!("did you mean '{near}'?")),
                None => Some("`intervalid bench list` shows them".to_owned()),
            },
            BenchError::NoDataFolder { home, .. } | BenchError::MissingFile { home, .. } => Some(format!(
                "get the files from {home} and name their folder with --data-dir or the environment variable INTERVALID_DATA"
            )),
            BenchError::Length { .. } | BenchError::Shape { .. } => {
                Some("is it the official file, as it was downloaded?".to_owned())
            }
            BenchError::Start { .. } => Some("leave `initial` out: the protocol then decides".to_owned()),
            BenchError::NoResults { .. } => Some("`intervalid bench run NAME --out DIR` writes some".to_owned()),
            BenchError::Result { .. } => Some("remove the file, or run it again with `bench run --again`".to_owned()),
            BenchError::File {
                action: "write",
                source,
                ..
            } if out_of_space(source) => Some(MAKE_ROOM.to_owned()),
            _ => None,
        };
        let failure = match error {
            BenchError::Data(error) => return error.into(),
            BenchError::Workflow(error) => return error.into(),
            BenchError::File { action: "write", .. } | BenchError::Json(_) | BenchError::Protocol { .. } => {
                Self::run(error)
            }
            _ => Self::input(error),
        };
        Self { hint, ..failure }
    }
}

/// Why a model could not be exported, for who calls the program as a library.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ExportError {
    message: String,
    /// Whether another argument would do, and nothing was written.
    pub is_input: bool,
}

impl From<Failure> for ExportError {
    fn from(failure: Failure) -> Self {
        let hint = failure.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        Self {
            message: failure.lines().join(": ") + &hint,
            is_input: failure.kind == Kind::Input,
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        let hint = hint(&error);
        let failure = match error {
            DataError::LeastSquares => Self::run(error),
            _ => Self::input(error),
        };
        Self { hint, ..failure }
    }
}

impl From<DeployError> for Failure {
    fn from(error: DeployError) -> Self {
        match error {
            DeployError::Model(error) => error.into(),
            DeployError::Unsupported { .. } | DeployError::Name { .. } | DeployError::Exists { .. } => {
                Self::input(error)
            }
            _ => Self::run(error),
        }
    }
}

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Model(error) => error.into(),
            AnalysisError::Data(error) => error.into(),
            AnalysisError::Deploy(error) => error.into(),
            AnalysisError::NoSteadyState { .. } => Self::input(error).with_hint(
                "name the outputs too, as in --at valve=0.4,level=1.2, to look at a point that is not steady",
            ),
            AnalysisError::Eigenvalues => Self::run(error),
            _ => Self::input(error),
        }
    }
}

impl From<FigureError> for Failure {
    fn from(error: FigureError) -> Self {
        Self::run(anyhow::Error::new(error).context("cannot draw the picture"))
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        match &error {
            FolderError::Locked { .. } => Self::input(error).with_hint("wait until it has ended, or name another folder"),
            FolderError::Changed { .. } => Self::input(error).with_hint(
                "these files do not belong together: run the fit again; if you changed the file on purpose, remove manifest.json",
            ),
            FolderError::Damaged { .. } => Self::input(error).with_hint("remove it to use the files as they are"),
            FolderError::Io { source, .. } if out_of_space(source) => Self::run(error).with_hint(MAKE_ROOM),
            _ => Self::run(error),
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Model(error) => error.into(),
            ReportError::Study(error) => error.into(),
            ReportError::Compare { .. }
            | ReportError::Json(_)
            | ReportError::NewerFormat { .. }
            | ReportError::Field { .. } => Self::input(error),
            _ => Self::run(error),
        }
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        let hint = study_hint(&error);
        let failure = match error.is_input() {
            true => Self::input(error),
            false => Self::run(error),
        };
        Self { hint, ..failure }
    }
}

impl From<WorkflowError> for Failure {
    fn from(error: WorkflowError) -> Self {
        let hint = match &error {
            WorkflowError::UnknownSetting {
                nearest: Some(near), ..
            } => Some(format!("did you mean '{near}'?")),
            WorkflowError::NotForSearch { .. } | WorkflowError::NotSearched { .. } => {
                Some("use --preset paper, or leave it out".to_owned())
            }
            WorkflowError::LevelsWithoutCalibration { .. } | WorkflowError::TogetherWithoutCalibration { .. } => {
                Some("add --calibrate, or leave the search to the preset auto, which always does".to_owned())
            }
            WorkflowError::OutsideRange(_) => {
                Some("widen --output-range, or take such samples out of the record if they cannot be true".to_owned())
            }
            WorkflowError::BudgetWithoutSearch => Some("use --epochs N, or leave --budget out".to_owned()),
            WorkflowError::Search(SearchError::TooShortForNetworks { .. }) => {
                Some("`--preset paper` trains one network without a search; --model arx needs fewer samples".to_owned())
            }
            _ => None,
        };
        let failure = match error {
            WorkflowError::Data(error) => return error.into(),
            WorkflowError::Model(error) => return error.into(),
            WorkflowError::Interrupted { epochs } => {
                Self::run(anyhow::anyhow!("interrupted after {}", count(epochs, "epoch")))
            }
            WorkflowError::Cancelled { .. }
            | WorkflowError::Write(_)
            | WorkflowError::Search(SearchError::JournalFile { .. }) => Self::run(error),
            _ => Self::input(error),
        };
        Self { hint, ..failure }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Data(error) => error.into(),
            ModelError::Option { option, .. } => Self {
                hint: option_hint(option),
                ..Self::input(error)
            },
            ModelError::SampleTime { expected, .. } => {
                Self::input(error).with_hint(format!("--resample {expected} brings the data to the model's step"))
            }
            ModelError::Unit {
                ref channel,
                ref expected,
                ..
            } => {
                let hint = format!("if its samples are in {expected} after all, say so with --unit '{channel}={expected}'");
                Self::input(error).with_hint(hint)
            }
            ModelError::Channels { .. }
            | ModelError::Format { .. }
            | ModelError::NotStepwise { .. }
            | ModelError::Preparation { .. }
            | ModelError::PreparedStep { .. }
            | ModelError::TooFewSamples { .. } => Self::input(error),
            ModelError::NoSuchLevel { reach: None, .. } => Self::input(error).with_hint(
                "models that this version fits with the preset auto or with --calibrate store bands from 10 to 99 %: fit it again",
            ),
            ModelError::NoSuchLevel { .. } => Self::input(error),
            ModelError::NoLightBand { .. } => Self::input(error).with_hint(
                "models that this version fits with the preset auto store one: fit it again, or leave out --band light",
            ),
            ModelError::OutOfRange { .. } => {
                Self::input(error).with_hint("remove the sample, or mark it as missing and split the record there")
            }
            ModelError::LagsTooLong { .. } => Self::input(error)
                .with_hint("`intervalid data show DATA` suggests lags; without --lags they are searched"),
            ModelError::File { action: "read", .. } => Self::input(error),
            ModelError::File { ref source, .. } if out_of_space(source) => Self::run(error).with_hint(MAKE_ROOM),
            _ => Self::run(error),
        }
    }
}

/// Results that cannot be written, most of all to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::run(anyhow::Error::new(error).context("cannot write the results"))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::run(anyhow::Error::new(error).context("cannot write the results as JSON"))
    }
}

/// Where a setting of a fit is given, if its name does not tell.
fn option_hint(option: &str) -> Option<String> {
    if option == "learning_rate" {
        return Some("set it with --lr, or in the file of --config".to_owned());
    }
    // A flag of this or another command says what it is.
    let flag = option.replace('_', "-");
    let mut command = Cli::command();
    command.build();
    let mut all = command.get_subcommands().flat_map(clap::Command::get_arguments);
    let is_flag = all.any(|argument| argument.get_long() == Some(flag.as_str()));
    (!is_flag).then(|| format!("set `{option}` in the file of --config"))
}

/// Where the keys of a study are explained.
const EVERY_KEY: &str = "`intervalid study run paper --print` shows and explains every key";

/// What to do about a study.
fn study_hint(error: &StudyError) -> Option<String> {
    let hint = match error {
        StudyError::Settings { source, .. } => match source.as_ref() {
            WorkflowError::UnknownSetting { nearest: Some(near), .. } => format!("did you mean '{near}'?"),
            _ => return None,
        },
        StudyError::UnknownKey { key, known, .. } => match nearest(key, known.iter().copied()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => EVERY_KEY.to_owned(),
        },
        StudyError::Parse { .. } => EVERY_KEY.to_owned(),
        StudyError::UnknownStudy { name, .. } => match nearest(name, Spec::builtin_names()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => "name a .toml file or a built-in study".to_owned(),
        },
        StudyError::Conflict { .. } => {
            "other data, settings, versions or processors give other results: keep one of the folders that hold this run".to_owned()
        }
        StudyError::Data { dataset, source } => match source.as_ref() {
            DataError::File(FileError {
                problem: FileProblem::NoDefaultColumns { .. } | FileProblem::MissingColumn { .. },
                ..
            }) => format!("name its columns in the study: [columns.\"{dataset}\"] with input = [\"…\"] and output = [\"…\"]"),
            _ => return None,
        },
        StudyError::File { action: "read", .. } => {
            "check the path; `paper`, `paper-faithful`, `paper-auto` and `paper-quick` are built in and need none".to_owned()
        }
        StudyError::File { .. } => "name a folder that you may write with --out DIR".to_owned(),
        StudyError::Database { .. } => {
            "if the disk is full, free some space; the same command goes on with what is left".to_owned()
        }
        _ => return None,
    };
    Some(hint)
}

/// What the message of the data layer means in terms of our options.
fn hint(error: &DataError) -> Option<String> {
    let hint = match error {
        DataError::File(error) => return file_hint(error),
        DataError::UnknownName { .. } => {
            "`intervalid data list` shows the data sets that have a name; --data-dir or INTERVALID_DATA adds a folder of \
             your own"
                .to_owned()
        }
        DataError::NotShipped { .. } => {
            "get the record, and name its folder with --data-dir or the environment variable INTERVALID_DATA".to_owned()
        }
        DataError::NoDataDirectory { .. } => {
            "check --data-dir or, where it is not given, the environment variable INTERVALID_DATA".to_owned()
        }
        DataError::TooShort { .. } => {
            "record more samples, or give the part more of them with --split, or use smaller --lags or, in the file of \
             --config, a shorter `window`"
                .to_owned()
        }
        DataError::ConstantChannel { .. } => {
            "leave the column out of --input and --output, or move the parts with --split".to_owned()
        }
        DataError::EmptyPart { .. } => "choose other shares with --split TRAIN,VALIDATION,TEST".to_owned(),
        _ => return None,
    };
    Some(hint)
}

/// The same for files.
fn file_hint(FileError { file, problem, .. }: &FileError) -> Option<String> {
    let hint = match problem {
        FileProblem::Delimiter { found: '\t', .. } => "try --delimiter tab".to_owned(),
        FileProblem::Delimiter { found, .. } => format!("try --delimiter '{found}'"),
        FileProblem::DelimiterAndDecimal { found: '\t', .. } => "try --delimiter tab --decimal ','".to_owned(),
        FileProblem::DelimiterAndDecimal { found, .. } => format!("try --delimiter '{found}' --decimal ','"),
        FileProblem::NotANumber { cause, .. } => match cause {
            NotANumberCause::DecimalComma => "try --decimal ','".to_owned(),
            NotANumberCause::DecimalPoint => "try --decimal '.'".to_owned(),
            _ => return None,
        },
        FileProblem::MissingSample { .. } => {
            "--fill-gaps 3 draws a line over up to three missing samples; --missing split starts a new experiment after each gap"
                .to_owned()
        }
        FileProblem::BlankLine { .. } => "--missing split starts a new experiment after each gap".to_owned(),
        FileProblem::GapNotFilled { .. } => {
            "--fill-gaps N fills gaps of up to N samples; --missing split starts a new experiment after longer ones"
                .to_owned()
        }
        FileProblem::TooManyValues { found, .. } | FileProblem::Expansion { values: found, .. } => {
            format!("if the file is meant to hold as many, read it with --max-samples {found}")
        }
        FileProblem::IrregularTime { step, .. } => {
            format!("--resample {step} puts the samples on an even grid; --time '' passes over the times")
        }
        FileProblem::TimeGap { step, bridge: true, .. } => {
            format!("--missing split starts a new experiment after each gap; --resample {step} bridges short ones")
        }
        FileProblem::TimeGap { .. } | FileProblem::TimeBackwards { .. } => {
            "--missing split starts a new experiment there; --time '' passes over the times".to_owned()
        }
        FileProblem::SampleTimeConflict { .. } => {
            "leave --sample-time out, or pass over the column with --time ''".to_owned()
        }
        FileProblem::SampleTimesDiffer { found, expected, .. } => {
            format!("--resample {} puts the samples of all files on one grid", found.max(*expected))
        }
        FileProblem::NotATime { .. } | FileProblem::ResampleWithoutTime { .. } => {
            "name the column of times with --time COL".to_owned()
        }
        FileProblem::RaggedRow {
            line,
            found,
            expected,
            decimal_commas: false,
        } if *line < 20 && found > expected => {
            "if titles stand in front of the column names, pass over them with --skip-rows N".to_owned()
        }
        FileProblem::NoDefaultColumns { .. } => "name the columns with --input and --output".to_owned(),
        FileProblem::MissingColumn { available, .. } if available.len() < 2 => {
            "if titles stand in front of the column names, pass over them with --skip-rows N".to_owned()
        }
        FileProblem::MissingColumn { .. } | FileProblem::ColumnTwice { .. } => {
            "choose columns by name with --input, --output and --experiment".to_owned()
        }
        FileProblem::NoExperimentLabel { .. } | FileProblem::ExperimentReappears { .. } => {
            "--experiment '' takes the file as one experiment".to_owned()
        }
        FileProblem::FileNotFound => {
            "check the path; `intervalid data list` shows the data sets that need none".to_owned()
        }
        FileProblem::IsDirectory => {
            format!("name a file in it, or use the folder with --data-dir {file} and give a NAME")
        }
        FileProblem::UnknownExtension { extension, .. } if extension == "safetensors" => {
            "this looks like a model: `intervalid predict MODEL DATA` and `evaluate` take it in front of the data"
                .to_owned()
        }
        _ => return None,
    };
    Some(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_causes_are_not_repeated() {
        let cause = io::Error::other("disk on fire");
        let error = DataError::from(FileError {
            file: "a.csv".to_owned(),
            problem: FileProblem::Io { source: cause },
        });
        assert_eq!(Failure::from(error).lines(), ["a.csv: cannot be read: disk on fire"]);
        let failure = Failure::from(io::Error::other("disk full"));
        assert_eq!(failure.lines(), ["cannot write the results", "disk full"]);
    }
}
