"""What users hand over, as columns: NumPy, pandas, polars, Arrow and everything that speaks their protocols."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .errors import ChannelsError, NonFiniteError, NotNumericError, ShapeError

#: An array or a table of one experiment, or a list of them.
ArrayLike: TypeAlias = Any
#: Names and units of the channels of a model.
Wanted: TypeAlias = "Sequence[tuple[str, str | None]]"
#: One channel of one experiment: one-dimensional, float32 or float64, of any stride.
Column: TypeAlias = "npt.NDArray[np.float64] | npt.NDArray[np.float32]"


@dataclass
class Table:
    """Columns of one experiment."""

    columns: list[Column]
    #: Names, where the container has them.
    names: list[str] | None
    #: Row labels of a pandas object.
    index: Any = None

    @property
    def samples(self) -> int:
        """Rows."""
        return len(self.columns[0]) if self.columns else 0


def experiments(data: ArrayLike, what: str) -> list[Table]:
    """One table per experiment: lists and tuples of arrays are several, anything else is one."""
    if isinstance(data, (list, tuple)):
        if len(data) == 0:
            raise ShapeError(f"{what}: an empty list, expected samples or experiments")
        if not all(_is_number(item) or _is_row(item) for item in data):
            return [table(item, f"{what}, experiment {number}") for number, item in enumerate(data)]
    return [table(data, what)]


def is_several(data: ArrayLike) -> bool:
    """Whether `data` is a list of experiments."""
    return isinstance(data, (list, tuple)) and not all(_is_number(item) or _is_row(item) for item in data)


def _is_number(item: object) -> bool:
    return isinstance(item, (int, float, np.number, np.bool_)) and not isinstance(item, np.ndarray)


def _is_row(item: object) -> bool:
    return isinstance(item, (list, tuple)) and all(_is_number(cell) for cell in item)


def table(data: ArrayLike, what: str) -> Table:
    """The columns of an array or table with one row per sample."""
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "to_numpy"):
        data = _from_arrow(data, what)
    if hasattr(data, "column_names") and hasattr(data, "itercolumns"):  # pyarrow.Table, RecordBatch
        names = [str(name) for name in data.column_names]
        return Table([column(c, f"{what}, column '{n}'") for n, c in zip(names, data.itercolumns(), strict=True)], names)
    if hasattr(data, "get_columns"):  # polars.DataFrame
        series = data.get_columns()
        names = [str(item.name) for item in series]
        return Table([column(c, f"{what}, column '{n}'") for n, c in zip(names, series, strict=True)], names)
    if hasattr(data, "columns") and hasattr(data, "iloc"):  # pandas.DataFrame
        names = [str(name) for name in data.columns]
        columns = [column(data.iloc[:, i], f"{what}, column '{name}'") for i, name in enumerate(names)]
        # scikit-learn counts names only where all of them are text.
        return Table(columns, names, data.index)
    if hasattr(data, "name") and hasattr(data, "to_numpy"):  # a Series of pandas or polars
        names_of_one = None if data.name in (None, "") else [str(data.name)]
        return Table([column(data, what)], names_of_one, getattr(data, "index", None))
    if hasattr(data, "__dataframe__") and not hasattr(data, "__array__"):
        return _from_interchange(data, what)
    array = _numeric(data, what)
    if array.ndim == 1:
        return Table([array], None)
    if array.ndim == 2 and array.shape[1] == 0:
        raise ShapeError(
            f"{what}: 0 feature(s) (shape={array.shape}) while a minimum of 1 is required; give None for a time series without inputs"
        )
    if array.ndim == 2:
        return Table([array[:, index] for index in range(array.shape[1])], None)
    raise ShapeError(
        f"{what}: an array with {array.ndim} dimensions, expected 1 (one channel) or 2 (one row per sample, one column per "
        "channel); give several experiments as a list of arrays"
    )


def column(data: Any, what: str) -> Column:
    """A one-dimensional array of floats that shares the memory of `data` where its layout allows."""
    if hasattr(data, "to_numpy"):
        data = data.to_numpy()
    array: Column = _numeric(data, what)
    if array.ndim != 1:
        raise ShapeError(f"{what}: expected one dimension, found {array.ndim}")
    return array


def _numeric(data: Any, what: str) -> Any:
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise NotNumericError(f"{what}: sparse data are not supported: convert them with toarray()")
    array = np.asarray(data)
    if hasattr(data, "mask") and np.ma.is_masked(data):
        raise NonFiniteError(f"{what}: some samples are masked: fill them, or cut the record there into experiments")
    if array.dtype in (np.float64, np.float32):
        return array
    if array.dtype.kind in "mM":
        raise NotNumericError(
            f"{what}: {array.dtype} values are times, not numbers: make them the index of the table, which gives the sample time, "
            "or leave them out"
        )
    if array.dtype.kind == "c":
        raise NotNumericError(f"{what}: Complex data not supported: expected real numbers")
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype == object and any(hasattr(item, "isoformat") for item in array.ravel()[:1]):
        raise NotNumericError(f"{what}: dates are not numbers: make them the index of the table, or leave them out")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise NotNumericError(f"{what}: {array.dtype} values are not numbers ({error})") from error


def _from_arrow(data: Any, what: str) -> Any:
    try:
        import pyarrow

        return pyarrow.table(data)
    except ImportError:
        pass
    try:
        import polars

        return polars.DataFrame(data)
    except ImportError as error:
        raise ShapeError(f"{what}: install pyarrow or polars to read {type(data).__name__} through Arrow") from error


def _from_interchange(data: Any, what: str) -> Table:
    try:
        import pyarrow.interchange

        return table(pyarrow.interchange.from_dataframe(data), what)
    except ImportError:
        pass
    try:
        import pandas

        return table(pandas.api.interchange.from_dataframe(data), what)
    except ImportError as error:
        raise ShapeError(f"{what}: install pyarrow or pandas to read {type(data).__name__}") from error


def names_of(tables: Sequence[Table], letter: str, what: str) -> list[str]:
    """Channel names: those of the first experiment that has some, else u, or u1, u2 …"""
    count = len(tables[0].columns)
    for number, item in enumerate(tables):
        if len(item.columns) != count:
            raise ShapeError(f"{what}: experiment {number} has {len(item.columns)} channels, the first one {count}")
    named = [item.names for item in tables if item.names is not None]
    if named:
        for number, names in enumerate(named):
            if names != named[0]:
                raise ShapeError(f"{what}: experiment {number} has columns {names}, the first one {named[0]}")
        return named[0]
    return default_names(count, letter)


def default_names(count: int, letter: str) -> list[str]:
    """What channels without names are called."""
    return [letter] if count == 1 else [f"{letter}{index + 1}" for index in range(count)]


def _parts(name: str) -> tuple[str, str | None]:
    """``level`` and ``m`` of ``level [m]``."""
    bare, bracket, unit = name.removesuffix("]").rpartition("[")
    return (bare.rstrip(), unit.strip()) if name.endswith("]") and bracket and unit.strip() and bare.strip() else (name, None)


def by_name(found: Sequence[str] | None, wanted: Wanted, letter: str, what: str) -> list[int] | None:
    """Which column is which channel of a model, by name; None where a side has no names and the order counts.

    Default names are no names on the side of the model: it was fitted to plain arrays.
    """
    if found is None:
        return None
    names = [name for name, _ in wanted]
    places = [_place(found, channel, what) for channel in wanted]
    if names == default_names(len(names), letter) and all(place is None for place in places):
        return None
    known = [place for place in places if place is not None]
    if len(known) == len(places):
        return known
    missing = ", ".join(name for name, place in zip(names, places, strict=True) if place is None)
    raise ChannelsError(
        f"The feature names should match those that were passed during fit: {what} has no column {missing}; it has "
        f"{', '.join(found)}"
    )


def _place(found: Sequence[str], channel: tuple[str, str | None], what: str) -> int | None:
    """The column of a channel: the one of its name, else the one that differs in the unit alone that one of them leaves out."""
    name, unit = channel
    exact = [place for place, other in enumerate(found) if other == name]
    if len(exact) > 1:
        raise ChannelsError(f"{what} has {len(exact)} columns named {name}: which one is it?")
    if exact:
        return exact[0]
    stem, bracket = _parts(name)
    unit = unit or bracket
    near = [(place, _parts(other)) for place, other in enumerate(found) if _parts(other)[0] == stem]
    fitting = [place for place, (_, other) in near if other is None or unit is None or other == unit]
    if len(fitting) > 1:
        raise ChannelsError(f"{what} has several columns for {name}: {', '.join(found[place] for place in fitting)}")
    if near and not fitting:
        raise ChannelsError(f"{what} has {found[near[0][0]]}, the model takes {stem} in {unit}: convert it first")
    return fitting[0] if fitting else None


def in_order(item: Table, wanted: Wanted, letter: str) -> Table:
    """The channels of a model, ``wanted`` by name where both sides have names, in the model's order."""
    places = by_name(item.names, wanted, letter, letter)
    if places is None:
        return item
    return Table([item.columns[place] for place in places], [name for name, _ in wanted], item.index)


def one_sample(values: Any, wanted: Wanted, letter: str) -> list[float]:
    """One number per channel of a model: a row of a table goes by the names of its columns, anything else by position."""
    labels = getattr(values, "index", None)
    if hasattr(values, "columns"):
        rows = in_order(table(values, letter), wanted, letter)
        if rows.samples != 1:
            raise ShapeError(f"{letter} has {rows.samples} rows, expected one: a step is of one sample")
        values = [column[0] for column in rows.columns]
    elif hasattr(values, "to_numpy") and labels is not None and all(isinstance(label, str) for label in labels):
        places = by_name(list(labels), wanted, letter, letter)
        values = values.to_numpy() if places is None else values.to_numpy()[places]
    return [float(value) for value in np.atleast_1d(np.asarray(values, dtype=np.float64))]


#: Nanoseconds since 1970 of the rows of an experiment, and whether they know their time zone.
Times: TypeAlias = "tuple[npt.NDArray[np.int64], bool]"


def times_of(index: Any) -> Times | None:
    """Nanoseconds since 1970 of a pandas index of dates, and whether it knows its time zone."""
    if getattr(getattr(index, "dtype", None), "kind", "") != "M":
        return None
    universal = getattr(index, "tz", None) is not None
    values = index.tz_convert("UTC").tz_localize(None) if universal else index
    return np.asarray(values, dtype="datetime64[ns]").astype(np.int64), universal


def common_times(inputs: Sequence[Table], outputs: Sequence[Table]) -> list[Times] | None:
    """Times of every experiment, from an index of dates of u or y; where both have one, they agree as far as both go."""
    found = []
    for one, other in zip(inputs, outputs, strict=True):
        first, second = times_of(one.index), times_of(other.index)
        if first is not None and second is not None:
            rows = min(len(first[0]), len(second[0]))
            if not np.array_equal(first[0][:rows], second[0][:rows]):
                raise ShapeError("u and y have different times in their indices: bring them to the same rows first")
        found.append(first if first is not None else second)
    times = [item for item in found if item is not None]
    return times if len(times) == len(found) else None


def check_pairs(inputs: Sequence[Table], outputs: Sequence[Table]) -> None:
    """Refuses inputs and outputs of other numbers of experiments or samples, or of rows with other labels."""
    if len(inputs) != len(outputs):
        raise ShapeError(f"u has {len(inputs)} experiments, y has {len(outputs)}: expected as many")
    for number, (one, other) in enumerate(zip(inputs, outputs, strict=True)):
        where = f", experiment {number}" if len(inputs) > 1 else ""
        if one.columns and one.samples != other.samples:
            raise ShapeError(f"u has {one.samples} samples, y has {other.samples}{where}: expected as many")
        if one.columns:
            check_labels(one.index, other.index, where)


def check_labels(first: Any, second: Any, where: str = "") -> None:
    """Refuses rows of u and y that are numbered differently, as far as both go: they are of different samples.

    Labels that just count from 0 may be those that pandas gives to anything, so they bring a warning.
    """
    if not (_is_counted(first) and _is_counted(second)):
        return
    rows = min(len(first), len(second))
    one, other = np.asarray(first)[:rows], np.asarray(second)[:rows]
    if np.array_equal(one, other):
        return
    told = f"u has rows {one[0]} to {one[-1]}, y has rows {other[0]} to {other[-1]}{where}"
    count = np.arange(rows)
    if np.array_equal(one, count) or np.array_equal(other, count):
        warnings.warn(f"{told}: they are taken in the order they come in", UserWarning, stacklevel=4)
        return
    raise ShapeError(f"{told}: bring them to the same rows first")


def _is_counted(index: Any) -> bool:
    """Whether these are row labels that are whole numbers."""
    kind = getattr(getattr(index, "dtype", None), "kind", "")
    return bool(kind) and kind in "iu" and len(index) > 0


def check_order(index: Any, what: str) -> None:
    """Refuses rows whose labels say that they are not in the order of time, and tells of those that are missing."""
    if getattr(index, "nlevels", 1) > 1:
        raise ShapeError(
            f"{what}: its rows have labels of {index.nlevels} levels, so they are of several experiments: give a list of them, such as "
            "[part for _, part in table.groupby(level=0)]"
        )
    kind = getattr(getattr(index, "dtype", None), "kind", "")
    advice = "folds must not be shuffled (use KFold(shuffle=False) or TimeSeriesSplit)"
    if kind and kind in "iufM" and not getattr(index, "is_monotonic_increasing", True):
        raise ShapeError(f"{what}: its index does not rise, so the rows are not in the order of time: sort them; {advice}")
    if kind and kind in "iu" and len(index) > 2:
        # scikit-learn sorts the rows of a shuffled fold: what tells is that rows are missing everywhere.
        steps = np.diff(np.asarray(index))
        holes = int(np.count_nonzero(steps != np.median(steps)))
        if holes > max(3, len(index) // 20):
            raise ShapeError(f"{what}: its index has {holes} holes in {len(index)} rows, so these are no neighbours in time; {advice}")
        if holes:
            warnings.warn(
                f"{what}: its index has {holes} hole{'s' if holes > 1 else ''} in {len(index)} rows, and the samples around "
                f"{'them' if holes > 1 else 'it'} are taken for neighbours in time: give the stretches as a list of experiments",
                UserWarning,
                stacklevel=4,
            )


def check_orientation(item: Table, what: str) -> None:
    """Refuses tables with more channels than samples: they lie on their side."""
    samples, channels = item.samples, len(item.columns)
    if channels > samples > 0:
        raise ShapeError(
            f"{what} has {samples} sample{'s' if samples > 1 else ''} of {channels} channels: time runs down the rows; is it "
            f"transposed? Give {what}.T"
        )
