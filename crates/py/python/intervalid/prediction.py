"""What a model says about every sample: a point prediction and an interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from . import _intervalid
from ._arrays import ArrayLike, in_order, table, times_of
from ._html import prediction_html
from .errors import MissingDependencyError, ShapeError

if TYPE_CHECKING:
    import pandas

Floats = npt.NDArray[np.float64]


class Sample(NamedTuple):
    """One sample: floats where the model has one output, arrays where it has several."""

    mean: Any
    lower: Any
    upper: Any


@dataclass(frozen=True, repr=False, eq=False)
class Prediction:
    """A free run with its prediction interval, one row per sample of the inputs it was made from.

    ``mean``, ``lower`` and ``upper`` have the shape (samples,) where the model has one output and (samples, outputs) where it
    has several. The first ``known`` rows are the measured outputs that started the run; :attr:`predicted` leaves them out.
    A run that leaves every reasonable range ends in NaN.

    Slices, masks and lists of rows give a prediction again, a row number gives a :class:`Sample`, the name of an output gives
    the prediction of that output alone. Where an array is expected, a prediction is its ``mean``.

    >>> import numpy as np
    >>> from intervalid import ARX, load_data
    >>> dryer = load_data("hair-dryer")
    >>> u, y = dryer.u, dryer.y
    >>> model = ARX(lags=(2, 2, 3)).fit(u[:500], y[:500])
    >>> band = model.predict(u[500:], y0=y[500:501])
    >>> band
    Prediction(500 samples of 'y', 90 % band, the first 1 known)
    >>> band[100:200].mean.shape
    (100,)
    >>> bool((band.lower <= band.mean).all() and (band.mean <= band.upper).all())
    True
    >>> sorted(band.metrics(y[500:]))[:3]
    ['cwc', 'fit_percent', 'interval_score']
    """

    #: Point predictions.
    mean: Floats
    #: Lower bounds.
    lower: Floats
    #: Upper bounds.
    upper: Floats
    #: Rows at the start that were given and not predicted.
    known: int
    #: Share of samples that the band should hold.
    coverage: float
    #: Names of the outputs.
    outputs: tuple[str, ...]
    #: Units of the outputs, where known.
    units: tuple[str | None, ...] = ()
    #: Seconds between samples, where known.
    sample_time: float | None = None
    #: Number of every row in the inputs, from 0.
    positions: npt.NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    #: Which rows lie outside the region of the training data; None where the model does not know it.
    extrapolated: npt.NDArray[np.bool_] | None = None
    #: Row at which the run left every reasonable range; None where it did not.
    diverged_at: int | None = None
    #: Row labels of the pandas object that the inputs came in.
    index: Any = None
    #: Lower and upper bounds by further coverage, where :meth:`~intervalid.IntervalNODE.predict` was asked for several.
    levels: dict[float, tuple[Floats, Floats]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of ``mean``."""
        return self.mean.shape

    @property
    def width(self) -> Floats:
        """Width of the interval."""
        return self.upper - self.lower

    @property
    def predicted(self) -> Prediction:
        """Without the rows that were given."""
        return self[self.known :] if self.known else self

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array = np.asarray(self.mean, dtype=dtype)
        return array.copy() if copy and array is self.mean else array

    def __iter__(self) -> Iterator[Sample]:
        return (Sample(*row) for row in zip(self.mean, self.lower, self.upper, strict=True))

    @overload
    def __getitem__(self, rows: int | np.integer[Any]) -> Sample: ...
    @overload
    def __getitem__(self, rows: str | slice | Sequence[int] | npt.NDArray[Any]) -> Prediction: ...
    def __getitem__(self, rows: Any) -> Prediction | Sample:
        if isinstance(rows, str):
            return self._output(rows)
        if isinstance(rows, (int, np.integer)):
            values = (self.mean[rows], self.lower[rows], self.upper[rows])
            return Sample(*(float(value) if np.ndim(value) == 0 else value for value in values))
        positions = self.positions[rows]
        known = int(np.count_nonzero(np.isin(positions, self.positions[: self.known])))
        diverged = None
        if self.diverged_at is not None:
            found = np.flatnonzero(positions >= self.positions[self.diverged_at])
            diverged = int(found[0]) if len(found) else None
        return replace(
            self,
            mean=self.mean[rows],
            lower=self.lower[rows],
            upper=self.upper[rows],
            known=known,
            positions=positions,
            extrapolated=None if self.extrapolated is None else self.extrapolated[rows],
            diverged_at=diverged,
            index=None if self.index is None else self.index[rows],
            levels={level: (lower[rows], upper[rows]) for level, (lower, upper) in self.levels.items()},
        )

    def _output(self, name: str) -> Prediction:
        if name not in self.outputs:
            raise KeyError(f"no output '{name}': there are {', '.join(self.outputs)}")
        if self.mean.ndim == 1:
            return self
        number = self.outputs.index(name)
        return replace(
            self,
            mean=self.mean[:, number],
            lower=self.lower[:, number],
            upper=self.upper[:, number],
            outputs=(name,),
            units=self.units[number : number + 1],
            levels={level: (lower[:, number], upper[:, number]) for level, (lower, upper) in self.levels.items()},
        )

    def __repr__(self) -> str:
        names = ", ".join(f"'{name}'" for name in self.outputs)
        band = f"{100 * self.coverage:g} % band"
        known = f", the first {self.known} known" if self.known else ""
        away = f", diverged at row {self.diverged_at}" if self.diverged_at is not None else ""
        return f"Prediction({len(self)} samples of {names}, {band}{known}{away})"

    def _repr_html_(self) -> str:
        """A small drawing of the band and its first rows, for notebooks."""
        return prediction_html(self)

    def contains(self, y: ArrayLike) -> npt.NDArray[np.bool_]:
        """For every row and output, whether the measured output is inside the interval, ends included."""
        measured = self._measured(y)
        inside: npt.NDArray[np.bool_] = (self.lower <= measured) & (measured <= self.upper)
        return inside

    def metrics(self, y: ArrayLike) -> dict[str, Any]:
        """Error, coverage and width against measured outputs, over the rows that were predicted.

        The keys are those of ``intervalid fit --json``: ``n``, ``rmse``, ``fit_percent``, ``picp`` (share inside), ``pinaw``
        (mean width over the range of the outputs), ``cwc``, ``interval_score`` and ``worst_rolling_picp``; with several outputs
        each is a dict by output, and ``all`` has the means.
        """
        predicted, end = slice(self.known, None), slice(self.known, self.diverged_at)

        def columns(values: Floats, rows: slice = end) -> list[Floats]:
            values = values[rows]
            return [values] if values.ndim == 1 else [values[:, i] for i in range(values.shape[1])]

        measured = self._measured(y)
        lower, mean, upper = columns(self.lower), columns(self.mean), columns(self.upper)
        return _intervalid.band_metrics(
            list(self.outputs), columns(measured, predicted), lower, mean, upper, self.coverage, self._diverged_step()
        )

    def _diverged_step(self) -> int | None:
        return None if self.diverged_at is None else self.diverged_at - self.known

    def _measured(self, y: ArrayLike) -> Floats:
        units = self.units or (None,) * len(self.outputs)
        item = in_order(table(y, "y"), list(zip(self.outputs, units, strict=True)), "y")
        columns = item.columns
        measured = columns[0] if self.mean.ndim == 1 and len(columns) == 1 else np.column_stack(columns)
        if measured.shape != self.mean.shape:
            raise ShapeError(f"y has shape {measured.shape}, the prediction {self.mean.shape}: give one row per sample")
        own, theirs = times_of(self.index), times_of(item.index)
        if own is not None and theirs is not None and not np.array_equal(own[0], theirs[0]):
            raise ShapeError("y has other times in its index than the prediction: bring them to the same rows first")
        return measured.astype(np.float64, copy=False)

    def to_pandas(self) -> pandas.DataFrame:
        """A table with the columns ``mean``, ``lower`` and ``upper``; prefixed by the output's name where there are several.

        Bounds of further coverages are ``lower_50``, ``upper_50`` and so on.

        Its index is that of the inputs, where they came in a pandas object, else the number of the sample.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("to_pandas needs pandas: pip install pandas") from error
        values = {"mean": self.mean, "lower": self.lower, "upper": self.upper}
        for level, (lower, upper) in self.levels.items():
            values |= {f"lower_{100 * level:g}": lower, f"upper_{100 * level:g}": upper}
        columns: dict[str, npt.NDArray[Any]]
        if self.mean.ndim == 1:
            columns = dict(values)
        else:
            columns = {
                f"{name}_{what}": array[:, i] for i, name in enumerate(self.outputs) for what, array in values.items()
            }
        if self.extrapolated is not None:
            columns["extrapolated"] = self.extrapolated
        return pandas.DataFrame(columns, index=self.positions if self.index is None else self.index)

    def plot(self, y: ArrayLike | None = None, *, ax: Any = None, title: str | None = None) -> Any:
        """Draws the band, the point prediction and, if given, the measured outputs; needs matplotlib.

        Returns the axes: one, or a list with one per output where there are several. Measured outputs outside the band are
        marked.
        """
        from ._plot import plot

        measured = None if y is None else self._measured(y)
        return plot(self, measured, ax, title)
