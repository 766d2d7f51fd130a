"""Everything that intervalid raises on purpose.

All exceptions are an :class:`IntervalidError` and, besides, the built-in exception that a Python programmer would expect:
bad input is a :class:`ValueError`, a missing file a :class:`FileNotFoundError`. Their attribute ``kind`` names the precise
cause, such as ``"UnequalLengths"``.
"""

from __future__ import annotations

import sys

__all__ = [
    "ChannelRangeError",
    "ChannelsError",
    "ConstantChannelError",
    "DataError",
    "DataFileAccessError",
    "DataFileError",
    "DataFileNotFoundError",
    "DivergedError",
    "InitialOutputsError",
    "InterruptedFitError",
    "IntervalidError",
    "LeastSquaresError",
    "MissingDependencyError",
    "ModelFileError",
    "ModelFileNotFoundError",
    "ModelFormatError",
    "NonFiniteError",
    "NotFittedError",
    "NotNumericError",
    "NotStepwiseError",
    "OptionError",
    "OrderError",
    "OutOfRangeError",
    "ReportError",
    "ReportFileError",
    "RunDivergedError",
    "SettingError",
    "ShapeError",
    "StateError",
    "StudyConflictError",
    "StudyError",
    "StudyFileError",
    "StudyFormatError",
    "StudyInUseError",
    "StudyNotFoundError",
    "StudySpecError",
    "StudyVersionError",
    "TooShortError",
    "UnknownDataError",
    "WorkerDataError",
    "WorkersLostError",
]


class IntervalidError(Exception):
    """Base class of all exceptions of this package."""

    #: The precise cause, in one word.
    kind: str = ""


class DataError(IntervalidError, ValueError):
    """Data that cannot be used; the message says where and what to do."""


class ShapeError(DataError):
    """Columns, samples or experiments do not fit together."""


class NonFiniteError(DataError):
    """A sample is NaN or infinite."""


class NotNumericError(DataError, TypeError):
    """Values are not real numbers."""


class TooShortError(DataError):
    """Too few samples for what was asked."""


class ConstantChannelError(DataError):
    """A channel does not move over the training part."""


class ChannelRangeError(DataError):
    """A channel's values are too large or too close together to be normalised."""


class DataFileError(DataError):
    """A file was read, but is not the table that was expected."""


class UnknownDataError(DataError):
    """There is no data set of this name."""


class DataFileNotFoundError(IntervalidError, FileNotFoundError):
    """A data file does not exist."""


class DataFileAccessError(IntervalidError, OSError):
    """A data file or folder cannot be read."""


class LeastSquaresError(IntervalidError, ArithmeticError):
    """A least-squares problem has no finite solution."""


class OptionError(IntervalidError, ValueError):
    """A parameter is outside its range."""


class SettingError(OptionError):
    """A parameter has a value of the wrong type or is not known."""


class ChannelsError(IntervalidError, ValueError):
    """The data have other channels than the model."""


class InitialOutputsError(IntervalidError, ValueError):
    """A free run needs measured outputs to start from, and there are none or too few."""


class DivergedError(IntervalidError, RuntimeError):
    """Training gave nothing finite."""


class InterruptedFitError(IntervalidError, RuntimeError):
    """Training was stopped before any epoch was worth keeping."""


class NotStepwiseError(IntervalidError, TypeError):
    """A model of this kind cannot run step by step."""


class OrderError(IntervalidError, RuntimeError):
    """A running simulation was asked for something that it cannot do now."""


class OutOfRangeError(IntervalidError, ValueError):
    """A sample is further from its channel's training mean than any model may run on."""


class RunDivergedError(IntervalidError, ArithmeticError):
    """A running simulation left every reasonable range."""


class StateError(IntervalidError, ValueError):
    """A saved state does not belong to the model, or is damaged."""


class ModelFileError(IntervalidError, OSError):
    """A model file cannot be read or written."""


class ModelFileNotFoundError(ModelFileError, FileNotFoundError):
    """A model file does not exist."""


class ModelFormatError(IntervalidError, ValueError):
    """A file is not a model that this version can read."""


class ReportError(IntervalidError, RuntimeError):
    """A report cannot be made."""


class ReportFileError(IntervalidError, OSError):
    """A report cannot be written."""


class StudyError(IntervalidError):
    """A study as a whole cannot be run or read; a run that fails is a record, not an exception."""


class StudySpecError(StudyError, ValueError):
    """A study file has a key or a value that is not allowed, or there is no such study."""


class StudyNotFoundError(StudyError, FileNotFoundError):
    """A folder holds no study."""


class StudyInUseError(StudyError, RuntimeError):
    """Another process has the folder for itself."""


class StudyConflictError(StudyError, ValueError):
    """A folder, a shard or a result is of another study, or contradicts what is recorded."""


class StudyVersionError(StudyError, RuntimeError):
    """A task, a result or a shard is of another version of the program."""


class StudyFormatError(StudyError, ValueError):
    """A study database, a task or a result is damaged."""


class StudyFileError(StudyError, OSError):
    """A study cannot be read or written."""


class WorkerDataError(StudyError, DataError):
    """A worker does not have the data of the study, or has others."""


class WorkersLostError(StudyError, RuntimeError):
    """The executor has lost its workers; what was finished is kept."""


class MissingDependencyError(IntervalidError, ImportError):
    """An optional package is needed for this and is not installed."""


class NotFittedError(IntervalidError, ValueError, AttributeError):
    """The estimator has not been fitted yet. Where scikit-learn is imported, also its exception of this name."""


def not_fitted(name: str) -> NotFittedError:
    """The exception for an estimator of this class, one that scikit-learn recognises where it is in use."""
    message = f"this {name} is not fitted yet: call fit(u, y) first, or load a model"
    module = sys.modules.get("sklearn.exceptions")
    if module is None:
        return NotFittedError(message)
    both: type[NotFittedError] = type("NotFittedError", (NotFittedError, module.NotFittedError), {})
    return both(message)
