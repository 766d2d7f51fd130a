//! Every kind of error of the libraries as a Python exception. The classes are in `python/intervalid/errors.py`.

use intervalid_analysis::AnalysisError;
use intervalid_cli::ExportError;
use intervalid_data::{DataError, FileProblem};
use intervalid_deploy::DeployError;
use intervalid_interval::IntervalError;
use intervalid_model::ModelError;
use intervalid_report::ReportError;
use intervalid_search::SearchError;
use intervalid_study::StudyError;
use intervalid_workflow::WorkflowError;
use pyo3::prelude::*;

/// Names of the exceptions in `intervalid.errors`.
fn class_of_data(error: &DataError) -> &'static str {
    match error {
        DataError::NonFiniteSample { .. } => "NonFiniteError",
        DataError::TooShort { .. } | DataError::EmptyPart { .. } | DataError::TooFewForStatistics { .. } => {
            "TooShortError"
        }
        DataError::ConstantChannel { .. } => "ConstantChannelError",
        DataError::StatisticsOverflow { .. } => "ChannelRangeError",
        DataError::LeastSquares => "LeastSquaresError",
        DataError::NoOutputs
        | DataError::NoExperiments
        | DataError::EmptyExperiment { .. }
        | DataError::DuplicateChannel { .. }
        | DataError::ExperimentWidth { .. }
        | DataError::UnequalLengths { .. }
        | DataError::NoChannel { .. }
        | DataError::ForeignPart { .. } => "ShapeError",
        DataError::Lags { .. }
        | DataError::ParseLags { .. }
        | DataError::ParseInitialState { .. }
        | DataError::ParseSplit { .. }
        | DataError::SplitFractions { .. }
        | DataError::SampleTime { .. }
        | DataError::ResampleStep { .. }
        | DataError::WindowLength { .. }
        | DataError::WindowStep
        | DataError::FalseAlarm { .. }
        | DataError::SearchTolerance { .. }
        | DataError::DeadTimes { .. }
        | DataError::Preparation { .. }
        | DataError::ParseClipSpikes { .. }
        | DataError::PreparedTwice
        | DataError::TestIsLearnt { .. }
        | DataError::ParseMissingPolicy { .. } => "OptionError",
        DataError::File(error) => class_of_file(&error.problem),
        DataError::NoDataDirectory { .. } => "DataFileAccessError",
        DataError::UnknownName { .. } | DataError::NotShipped { .. } => "UnknownDataError",
        _ => "DataFileError",
    }
}

fn class_of_file(problem: &FileProblem) -> &'static str {
    match problem {
        FileProblem::FileNotFound => "DataFileNotFoundError",
        FileProblem::Io { .. } | FileProblem::IsDirectory => "DataFileAccessError",
        FileProblem::NonFiniteCell { .. } | FileProblem::MissingSample { .. } | FileProblem::GapNotFilled { .. } => {
            "NonFiniteError"
        }
        // All that a file may hold and a table may not.
        _ => "DataFileError",
    }
}

fn class_of_model(error: &ModelError) -> &'static str {
    match error {
        ModelError::Data(error) => class_of_data(error),
        ModelError::Option { .. }
        | ModelError::LagsTooLong { .. }
        | ModelError::NoSuchLevel { .. }
        | ModelError::NoLightBand { .. } => "OptionError",
        ModelError::Channels { .. }
        | ModelError::Unit { .. }
        | ModelError::SampleTime { .. }
        | ModelError::Preparation { .. } => "ChannelsError",
        ModelError::Length { .. } => "ShapeError",
        ModelError::NotFinite { .. } => "NonFiniteError",
        ModelError::OutOfRange { .. } => "OutOfRangeError",
        ModelError::NotStepwise { .. } | ModelError::PreparedStep { .. } => "NotStepwiseError",
        ModelError::NotNow(_) => "OrderError",
        ModelError::RunDiverged { .. } => "RunDivergedError",
        ModelError::State(_) => "StateError",
        ModelError::TooFewSamples { .. } => "TooShortError",
        ModelError::Diverged { .. } => "DivergedError",
        ModelError::Interrupted { .. } => "InterruptedFitError",
        ModelError::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => "ModelFileNotFoundError",
        ModelError::File { .. } => "ModelFileError",
        ModelError::Format { .. } => "ModelFormatError",
        _ => "IntervalidError",
    }
}

fn class_of_workflow(error: &WorkflowError) -> &'static str {
    match error {
        WorkflowError::Data(error) => class_of_data(error),
        WorkflowError::Model(error) => class_of_model(error),
        WorkflowError::UnknownSetting { .. }
        | WorkflowError::Setting { .. }
        | WorkflowError::NotForSearch { .. }
        | WorkflowError::NotSearched { .. } => "SettingError",
        WorkflowError::Search(SearchError::TooShortForNetworks { .. }) => "TooShortError",
        WorkflowError::Interrupted { .. } | WorkflowError::Cancelled { .. } => "InterruptedFitError",
        WorkflowError::Search(_)
        | WorkflowError::BudgetWithoutSearch
        | WorkflowError::RangeOfNothing { .. }
        | WorkflowError::OutsideRange(_)
        | WorkflowError::LevelsWithoutCalibration { .. }
        | WorkflowError::TogetherWithoutCalibration { .. } => "OptionError",
        _ => "IntervalidError",
    }
}

fn class_of_study(error: &StudyError) -> &'static str {
    match error {
        StudyError::Data { source, .. } => class_of_data(source),
        StudyError::NoData { .. } => "UnknownDataError",
        StudyError::WorkerData { .. } => "WorkerDataError",
        StudyError::Parse { .. }
        | StudyError::UnknownKey { .. }
        | StudyError::Value { .. }
        | StudyError::Settings { .. }
        | StudyError::UnknownStudy { .. }
        | StudyError::Shard { .. } => "StudySpecError",
        StudyError::NoStudy { .. } => "StudyNotFoundError",
        StudyError::InUse { .. } => "StudyInUseError",
        StudyError::OtherStudy { .. }
        | StudyError::ForeignResult { .. }
        | StudyError::Conflict { .. }
        | StudyError::Merge { .. } => "StudyConflictError",
        StudyError::OtherVersion { .. } => "StudyVersionError",
        StudyError::Damaged { .. } | StudyError::Message { .. } => "StudyFormatError",
        StudyError::File { .. } | StudyError::Database { .. } => "StudyFileError",
        StudyError::Model(error) => class_of_model(error),
        _ => "StudyError",
    }
}

/// The name of a variant.
fn kind(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    text.chars()
        .take_while(|character| character.is_alphanumeric())
        .collect()
}

/// The same for data, where the problem of a file says more than that there is one.
fn kind_of_data(error: &DataError) -> String {
    match error {
        DataError::File(error) => kind(&error.problem),
        error => kind(error),
    }
}

/// An exception of the class with this name; `kind` says more precisely what it is.
pub(crate) fn exception(class: &str, message: String, kind: &str) -> PyErr {
    Python::attach(|py| {
        let made = || -> PyResult<PyErr> {
            let instance = py.import("intervalid.errors")?.getattr(class)?.call1((message,))?;
            instance.setattr("kind", kind)?;
            Ok(PyErr::from_value(instance))
        };
        made().unwrap_or_else(|error| error)
    })
}

/// Of `INTERVALID_SIMD`; bounds and shapes never come from Python.
pub(crate) fn interval(error: IntervalError) -> PyErr {
    exception("SettingError", error.to_string(), &kind(&error))
}

pub(crate) fn data(error: DataError) -> PyErr {
    exception(class_of_data(&error), error.to_string(), &kind_of_data(&error))
}

pub(crate) fn model(error: ModelError) -> PyErr {
    model_ref(&error)
}

fn model_ref(error: &ModelError) -> PyErr {
    let kind = match error {
        ModelError::Data(error) => kind_of_data(error),
        error => kind(error),
    };
    exception(class_of_model(error), error.to_string(), &kind)
}

pub(crate) fn workflow(error: WorkflowError) -> PyErr {
    let kind = match &error {
        WorkflowError::Data(error) => kind_of_data(error),
        WorkflowError::Model(error) => return model_ref(error),
        WorkflowError::Search(error) => kind(error),
        error => kind(error),
    };
    exception(class_of_workflow(&error), error.to_string(), &kind)
}

pub(crate) fn export(error: &ExportError) -> PyErr {
    let class = if error.is_input {
        "OptionError"
    } else {
        "IntervalidError"
    };
    exception(class, error.to_string(), "Export")
}

pub(crate) fn analysis(error: AnalysisError) -> PyErr {
    let class = match &error {
        AnalysisError::Model(error) => return model_ref(error),
        AnalysisError::Data(error) => return exception(class_of_data(error), error.to_string(), &kind_of_data(error)),
        AnalysisError::TooShort { .. } => "TooShortError",
        AnalysisError::NoInputs => "ShapeError",
        AnalysisError::Value { .. } => "OutOfRangeError",
        AnalysisError::UnknownChannel { .. }
        | AnalysisError::PartOfOutputs { .. }
        | AnalysisError::NoSteadyState { .. }
        | AnalysisError::Option { .. } => "OptionError",
        _ => "IntervalidError",
    };
    exception(class, error.to_string(), &kind(&error))
}

pub(crate) fn deploy(error: DeployError) -> PyErr {
    match error {
        DeployError::Model(error) => model(error),
        error => exception("IntervalidError", error.to_string(), &kind(&error)),
    }
}

pub(crate) fn report(error: ReportError) -> PyErr {
    match error {
        ReportError::Model(error) => model(error),
        error => exception("ReportError", error.to_string(), &kind(&error)),
    }
}

pub(crate) fn study(error: StudyError) -> PyErr {
    let kind = match &error {
        StudyError::Data { source, .. } => kind_of_data(source),
        StudyError::Model(error) => kind(error),
        error => kind(error),
    };
    exception(class_of_study(&error), error.to_string(), &kind)
}
