"""A user's data as a model knows them: its own channels, by name where there are names."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _intervalid
from ._arrays import (
    ArrayLike,
    Column,
    Table,
    Times,
    by_name,
    check_order,
    check_pairs,
    common_times,
    experiments,
    in_order,
    is_several,
    times_of,
)
from .errors import ChannelsError, ShapeError
from .record import Prepare, Record


class Channels:
    """The channels of a model; ``name`` is that of its estimator, for messages, ``prepare`` what it does to data first."""

    def __init__(self, model: _intervalid.Model, name: str, prepare: Prepare | None = None) -> None:
        self._model = model
        self._name = name
        self._prepare = prepare

    def measured(self, u: ArrayLike | Record, y: ArrayLike | None) -> tuple[_intervalid.Record, bool]:
        """Inputs and measured outputs as a record of the model, and whether they are a list of experiments."""
        if isinstance(u, Record):
            u = self.prepared(u)
            several = len(u._record.experiments) > 1
            one, other = self.reordered(u)
            return self._told(self.own_record([item.columns for item in one], [item.columns for item in other], u)), several
        if y is None:
            raise ShapeError("y is missing: give the measured outputs")
        outputs = [self.select(item, "y") for item in experiments(y, "y")]
        inputs = [Table([], None) for _ in outputs] if u is None else [self.select(item) for item in experiments(u, "u")]
        check_pairs(inputs, outputs)
        record = self.own_record(
            [item.columns for item in inputs], [item.columns for item in outputs], times=common_times(inputs, outputs)
        )
        return self._told(record), is_several(y)

    def _told(self, record: _intervalid.Record) -> _intervalid.Record:
        """The same record, after a warning where the model's trend is not what it was fitted for."""
        for warning in self._model.trend_warnings(record):
            warnings.warn(warning, UserWarning, stacklevel=5)
        return record

    def own_record(
        self,
        inputs: Sequence[Sequence[Any]],
        outputs: Sequence[Sequence[Any]],
        like: ArrayLike | Record | None = None,
        times: Sequence[Times] | None = None,
    ) -> _intervalid.Record:
        """Data under the names of the model's own channels, with these times, or with the times and the preparation of the record they are from."""
        model = self._model
        for what, expected, found in (
            ("inputs", model.inputs, inputs[0]),
            ("outputs", model.outputs, outputs[0]),
        ):
            if len(expected) != len(found):
                names = ", ".join(name for name, _ in expected)
                raise ChannelsError(
                    f"X has {len(found)} features, but {self._name} is expecting {len(expected)} features as input: {names}"
                    if what == "inputs"
                    else f"the data have {len(found)} outputs, the model {len(expected)}: {names}"
                )
        known = self._as_given(like) if isinstance(like, Record) else (model.inputs, model.outputs)
        several = len(outputs) > 1
        rows = [
            (f"experiment {number + 1}" if several else "data", list(one), list(other))
            for number, (one, other) in enumerate(zip(inputs, outputs, strict=True))
        ]
        source = like._record if isinstance(like, Record) else None
        # What is measured comes as often as before it is thinned out.
        thinned = None if self._prepare is None else self._prepare[2]
        seconds = model.sample_time
        if source is None and thinned is not None and seconds is not None:
            seconds /= thinned
        prepare = None if source is not None else self._prepare
        return _intervalid.Record("data", *known, seconds, rows, like=source, prepare=prepare, times=times)

    def _as_given(self, record: Record) -> tuple[list[tuple[str, str | None]], list[tuple[str, str | None]]]:
        """The channels of the model in the units that a record says it is in, which the model may refuse."""
        handle = record._record

        def given(wanted: list[tuple[str, str | None]], found: list[tuple[str, str | None]], names: bool, letter: str) -> Any:
            places = by_name([name for name, _ in found] if names else None, wanted, letter, letter)
            units = [unit for _, unit in (found if places is None else [found[place] for place in places])]
            return [(name, unit or own) for (name, own), unit in zip(wanted, units, strict=True)]

        return (
            given(self._model.inputs, handle.inputs, record.named_inputs, "u"),
            given(self._model.outputs, handle.outputs, record.named_outputs, "y"),
        )

    def prepared(self, record: Record) -> Record:
        """A record as the model wants it."""
        if self._prepare is None or record._record.is_prepared:
            return record
        return self._named(record)._prepared(self._prepare)

    def _named(self, record: Record) -> Record:
        """The record under the model's names where its channels go by position: what is done to channels is told by name."""
        model, handle = self._model, record._record
        known = self._as_given(record) if len(handle.inputs) == len(model.inputs) and len(handle.outputs) == len(model.outputs) else None
        inputs = handle.inputs if record.named_inputs or known is None else known[0]
        outputs = handle.outputs if record.named_outputs or known is None else known[1]
        rows: list[tuple[str, list[Column], list[Column]]] = [
            (
                name,
                [handle.input(number, channel) for channel in range(len(inputs))],
                [handle.output(number, channel) for channel in range(len(outputs))],
            )
            for number, (name, _) in enumerate(handle.experiments)
        ]
        named = Record._of(
            _intervalid.Record(handle.name, inputs, outputs, handle.sample_time, rows, handle.known, like=handle),
            (record.named_inputs, record.named_outputs),
        )
        named._has_times = record._has_times
        return named

    def started(
        self,
        inputs: Sequence[Sequence[Any]],
        outputs: Sequence[Sequence[Any]],
        like: ArrayLike | Record | None,
        times: Sequence[Times] | None,
    ) -> _intervalid.Record:
        """As :meth:`own_record`, where only the first outputs are measured: what is done to outputs is not done to those."""
        if isinstance(like, Record) or self._prepare is None:
            return self._told(self.own_record(inputs, outputs, like, None if isinstance(like, Record) else times))
        if self._prepare[2] is not None:
            raise ShapeError(
                f"{self._name} thins out its data (decimate={self._prepare[2]}), which takes the measured outputs beside the inputs: "
                "give predict a Record, or use metrics, predict_online or predict_ahead with u and y"
            )
        whole = self.own_record(inputs, outputs, times=times)
        prepared: list[list[Any]] = [[whole.input(k, i) for i in range(len(one))] for k, one in enumerate(inputs)]
        model = self._model
        rows = [(name, one, list(other)) for (name, _), one, other in zip(whole.experiments, prepared, outputs, strict=True)]
        return self._told(_intervalid.Record("data", model.inputs, model.outputs, model.sample_time, rows, like=whole))

    def times_ahead(self, inputs: Sequence[Table], starts: Sequence[Table], lengths: Sequence[int]) -> list[Times] | None:
        """Times of all samples of a run, from an index of dates of u, or of y0, whose clock then goes on at the model's rate."""
        found = common_times(inputs, starts)
        if found is None:
            return None
        times = []
        for (known, universal), length in zip(found, lengths, strict=True):
            seconds = self._model.sample_time or (float(np.median(np.diff(known))) / 1e9 if len(known) > 1 else None)
            if len(known) < length and seconds is None:
                return None
            ahead = 1e9 * (seconds or 0.0) * np.arange(1, length - len(known) + 1)
            times.append((np.concatenate([known, known[-1] + np.rint(ahead).astype(np.int64)]), universal))
        return times

    def select(self, item: Table, letter: str = "u") -> Table:
        """The model's channels by name, where both sides have names."""
        model = self._model
        check_order(item.index, letter)
        times = times_of(item.index)
        if times is not None and len(times[0]) >= 3:
            thinned = (None if self._prepare is None else self._prepare[2]) or 1
            self._check_rate(thinned * float(np.median(np.diff(times[0]))) / 1e9)
        return in_order(item, model.inputs if letter == "u" else model.outputs, letter)

    def _check_rate(self, found: float) -> None:
        """Refuses data whose times say that there are ``found`` seconds between samples, other than in the record of the fit."""
        expected = self._model.sample_time
        if expected is not None and abs(found - expected) > 0.01 * expected:
            raise ChannelsError(
                f"the model was fitted on samples every {expected:g} s, the data have one every {found:g} s: resample them"
            )

    def reordered(self, record: Record) -> tuple[list[Table], list[Table]]:
        """Inputs and outputs of a record in the model's order."""
        if record._has_times and record.sample_time is not None:
            self._check_rate(record.sample_time)
        tables: tuple[list[Table], list[Table]] = ([], [])
        handle = record._record
        for number in range(len(handle.experiments)):
            inputs: list[Column] = [handle.input(number, channel) for channel in range(len(handle.inputs))]
            outputs: list[Column] = [handle.output(number, channel) for channel in range(len(handle.outputs))]
            tables[0].append(self.select(Table(inputs, record.inputs if record.named_inputs else None), "u"))
            tables[1].append(self.select(Table(outputs, record.outputs if record.named_outputs else None), "y"))
        return tables
