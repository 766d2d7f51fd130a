"""Recordings: inputs and outputs with names, units and sample time."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import _intervalid
from ._arrays import (
    ArrayLike,
    Column,
    Table,
    check_order,
    check_orientation,
    check_pairs,
    common_times,
    experiments,
    names_of,
)
from .errors import MissingDependencyError, OptionError, ShapeError

if TYPE_CHECKING:
    import pandas


#: Longest gap to fill, limits of spikes as they are typed on the command line, samples that become one.
Prepare: TypeAlias = "tuple[int | None, str | None, int | None]"


class Record:
    """Inputs and outputs of one or more experiments, checked once.

    Estimators take arrays and tables as they are; a record is for data that bring names, units and a sample time along, and for
    files. An index of dates gives the sample time: uneven sampling is an error unless ``resample`` gives a step in seconds, and a
    gap is one unless ``missing="split"`` starts a new experiment there. ``fill_gaps``, ``clip_spikes`` and ``decimate`` prepare
    the samples as the options of ``intervalid fit`` do (see :func:`load_data`). It can be given to ``fit``, ``predict``, ``score`` and ``metrics`` in place of u and y.

    >>> from intervalid import Record
    >>> record = Record([0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.5, 0.7], name="step", sample_time=0.1)
    >>> record
    Record('step', 4 samples of 'y' from 'u', one every 0.1 s)
    >>> record[1:].y
    array([0. , 0.5, 0.7])
    """

    def __init__(
        self,
        u: ArrayLike | None,
        y: ArrayLike,
        *,
        name: str = "record",
        sample_time: float | None = None,
        input_units: Sequence[str | None] | None = None,
        output_units: Sequence[str | None] | None = None,
        missing: str = "error",
        resample: float | None = None,
        fill_gaps: int | None = None,
        clip_spikes: float | Mapping[str, float] | None = None,
        decimate: int | None = None,
    ) -> None:
        _check_missing(missing)
        outputs = experiments(y, "y")
        inputs = [Table([], None) for _ in outputs] if u is None else experiments(u, "u")
        for what, tables in (("u", inputs), ("y", outputs)):
            for item in tables:
                check_orientation(item, what)
                check_order(item.index, what)
        check_pairs(inputs, outputs)
        input_names = names_of(inputs, "u", "u") if inputs[0].columns else []
        output_names = names_of(outputs, "y", "y")
        times = common_times(inputs, outputs)
        if resample is not None and times is None:
            raise ShapeError("resample needs times: give u or y an index of dates")
        self._set(
            _intervalid.Record(
                name,
                _with_units(input_names, input_units, "input_units"),
                _with_units(output_names, output_units, "output_units"),
                sample_time,
                [
                    (name if len(outputs) == 1 else f"{name} {number + 1}", one.columns, other.columns)
                    for number, (one, other) in enumerate(zip(inputs, outputs, strict=True))
                ],
                times=times,
                split_at_gaps=missing == "split",
                resample=resample,
                prepare=preparation(fill_gaps, clip_spikes, decimate),
            ),
            named=(any(item.names is not None for item in inputs), any(item.names is not None for item in outputs)),
        )

    def _set(self, record: _intervalid.Record, named: tuple[bool, bool]) -> None:
        self._record = record
        self.named_inputs, self.named_outputs = named
        #: Whether the sample time was measured; one that somebody gave is a label.
        self._has_times = record.has_times
        for warning in record.warnings:
            warnings.warn(warning, UserWarning, stacklevel=4)

    @classmethod
    def _of(cls, record: _intervalid.Record, named: tuple[bool, bool]) -> Record:
        instance = cls.__new__(cls)
        instance._set(record, named)
        return instance

    @property
    def name(self) -> str:
        """Its name, for messages and reports."""
        return self._record.name

    @property
    def sample_time(self) -> float | None:
        """Seconds between samples, if known."""
        return self._record.sample_time

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs."""
        return [name for name, _ in self._record.inputs]

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return [name for name, _ in self._record.outputs]

    @property
    def split(self) -> tuple[float, float, float] | None:
        """The paper's shares of training, validation and test, for a known data set."""
        return self._record.known_split

    @property
    def u(self) -> Any:
        """Inputs: (samples,) or (samples, inputs); a list of such arrays where there are several experiments."""
        return self._arrays(self._record.input, len(self.inputs))

    @property
    def y(self) -> Any:
        """Outputs: (samples,) or (samples, outputs); a list of such arrays where there are several experiments."""
        return self._arrays(self._record.output, len(self.outputs))

    def _arrays(self, read: Any, channels: int) -> Any:
        lengths = [length for _, length in self._record.experiments]
        arrays = []
        for experiment, length in enumerate(lengths):
            columns = [read(experiment, channel) for channel in range(channels)]
            arrays.append(columns[0] if channels == 1 else np.column_stack(columns) if columns else np.empty((length, 0)))
        return arrays[0] if len(arrays) == 1 else arrays

    def _prepared(self, prepare: Prepare | None) -> Record:
        """The record as it is after ``prepare``, unless something was done to it already: then the model sees whether that was the same."""
        if prepare is None or self._record.is_prepared:
            return self
        return Record._of(self._record.prepared(prepare), (self.named_inputs, self.named_outputs))

    def __len__(self) -> int:
        """Samples of all experiments."""
        return sum(length for _, length in self._record.experiments)

    def __getitem__(self, rows: slice) -> Record:
        """A stretch of every experiment; ``record[::n]`` takes every n-th sample."""
        if not isinstance(rows, slice):
            raise TypeError("a record is cut by slices, such as record[:500]")
        step = 1 if rows.step is None else rows.step
        if step < 1:
            raise OptionError(f"a step of {step}: expected at least 1, since time runs forwards")
        seconds = None if self.sample_time is None else step * self.sample_time
        experiments = []
        # Every n-th sample of a record is another one than its preparation made.
        like, skipped = (self._record, []) if step == 1 else (None, [])
        for number, (name, length) in enumerate(self._record.experiments):
            skipped.append(rows.indices(length)[0])
            inputs: list[Column] = [self._record.input(number, i)[rows] for i in range(len(self.inputs))]
            outputs: list[Column] = [self._record.output(number, i)[rows] for i in range(len(self.outputs))]
            experiments.append((name, inputs, outputs))
        parts = self._record
        stretch = Record._of(
            _intervalid.Record(parts.name, parts.inputs, parts.outputs, seconds, experiments, parts.known, like=like, skipped=skipped),
            (self.named_inputs, self.named_outputs),
        )
        stretch._has_times = self._has_times
        return stretch

    def __repr__(self) -> str:
        names = ", ".join(f"'{name}'" for name in self.outputs)
        inputs = ", ".join(f"'{name}'" for name in self.inputs) or "its own past"
        several = len(self._record.experiments)
        parts = f" in {several} experiments" if several > 1 else ""
        every = f", one every {self.sample_time:g} s" if self.sample_time is not None else ""
        return f"Record('{self.name}', {len(self)} samples{parts} of {names} from {inputs}{every})"

    def to_pandas(self) -> pandas.DataFrame:
        """All channels as columns; several experiments as an outer index level."""
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("to_pandas needs pandas: pip install pandas") from error
        frames = {}
        for number, (name, _) in enumerate(self._record.experiments):
            columns = {channel: self._record.input(number, i) for i, channel in enumerate(self.inputs)}
            columns |= {channel: self._record.output(number, i) for i, channel in enumerate(self.outputs)}
            frames[name] = pandas.DataFrame(columns)
        return next(iter(frames.values())) if len(frames) == 1 else pandas.concat(frames, names=["experiment", "k"])


def _check_missing(missing: str) -> None:
    if missing not in ("error", "split"):
        raise OptionError(f"missing = {missing!r}: expected 'error' or 'split'")


def preparation(
    fill_gaps: int | None, clip_spikes: float | Mapping[str, float] | None, decimate: int | None
) -> Prepare:
    """What is done to a record first, as the library takes it."""
    if isinstance(clip_spikes, Mapping):
        spikes = ",".join(f"{name}={limit!r}" for name, limit in clip_spikes.items()) or None
    else:
        spikes = None if clip_spikes is None else repr(clip_spikes)
    return (fill_gaps, spikes, decimate)


def _with_units(
    names: list[str], units: Sequence[str | None] | None, option: str
) -> list[tuple[str, str | None]]:
    if units is None:
        return [(name, None) for name in names]
    if len(units) != len(names):
        raise ShapeError(f"{option} has {len(units)} entries, expected {len(names)}")
    return list(zip(names, units, strict=True))


def load_data(
    *data: str | os.PathLike[str],
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    experiment: str | None = None,
    sample_time: float | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    missing: str = "error",
    time: str | None = None,
    resample: float | None = None,
    skip_rows: int = 0,
    units: Mapping[str, str] | None = None,
    fill_gaps: int | None = None,
    clip_spikes: float | Mapping[str, float] | None = None,
    decimate: int | None = None,
    data_dir: str | os.PathLike[str] | None = None,
) -> Record:
    """Reads a recording as the command line does: a built-in name, or text, spreadsheet, MATLAB, NumPy and Parquet files.

    Columns named u, u1 … and y, y1 … are taken unless ``inputs`` and ``outputs`` name others. ``experiment`` is a column that
    changes where a new experiment starts; several files are several experiments. ``missing="split"`` starts a new experiment
    after a gap. ``decimal=","`` reads decimal commas, ``skip_rows`` passes over titles, ``units`` are by channel.

    A column of times gives the sample time; ``time`` names it where its own name does not tell, ``""`` passes over it. Uneven
    sampling is an error unless ``resample`` gives a step in seconds.

    ``fill_gaps=3`` fills up to three missing samples in a row by a straight line. ``clip_spikes=6`` replaces samples of outputs that are
    more than six standard deviations from the median of their neighbours by it, ``{"level": 6}`` those of some channels. ``decimate=10``
    keeps one sample in ten, after a low-pass filter. What was done is told, and a model wants it of all records it is given.

    A data set that is known by name, such as ``"hair-dryer"``, brings its settings in the paper along.

    >>> from intervalid import load_data
    >>> load_data("hair-dryer")
    Record('hair-dryer', 1000 samples of 'y' from 'u', one every 0.08 s)
    """
    if decimal not in (".", ","):
        raise OptionError(f"decimal = {decimal!r}: expected '.' or ','")
    _check_missing(missing)
    return Record._of(
        _intervalid.Record.load(
            [os.fspath(item) for item in data],
            inputs=None if inputs is None else list(inputs),
            outputs=None if outputs is None else list(outputs),
            experiment=experiment,
            sample_time=sample_time,
            delimiter=delimiter,
            decimal_comma=decimal == ",",
            split_at_gaps=missing == "split",
            data_dir=data_dir,
            time=time,
            resample=resample,
            skip_rows=skip_rows,
            units=list((units or {}).items()),
            prepare=preparation(fill_gaps, clip_spikes, decimate),
        ),
        (True, True),
    )


def available_data(data_dir: str | os.PathLike[str] | None = None) -> list[str]:
    """Names that :func:`load_data` knows: built-in data sets and the CSV files of ``data_dir`` or ``$INTERVALID_DATA``."""
    return _intervalid.available_data(data_dir)
