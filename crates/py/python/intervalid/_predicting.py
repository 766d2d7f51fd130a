"""A fitted model at work: free runs, predictions ahead, and how they compare with what was measured."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias, overload

import numpy as np

from . import _intervalid
from ._arrays import ArrayLike, Table, check_labels, check_orientation, experiments, is_several
from ._channels import Channels
from ._parameters import Parameters
from .errors import InitialOutputsError, OptionError, ShapeError, not_fitted
from .prediction import Prediction
from .record import Record

#: Samples of one experiment as plain lists of numbers, and several experiments.
Numbers: TypeAlias = "Sequence[float] | Sequence[Sequence[float]]"
Experiments: TypeAlias = "list[Any] | tuple[Any, ...]"
#: One prediction, or a list of them where a record has several experiments: only running it tells.
OfRecord: TypeAlias = "Prediction | Any"


class Predicting(Parameters):
    """What a fitted estimator predicts."""

    n_jobs: int | None

    def _set_model(self, model: _intervalid.Model) -> None:
        self.model_ = model
        self.config_: dict[str, Any] = model.config
        lags = self.config_["lags"]
        self.lags_: tuple[int, int, int] = (lags["nx"], lags["nd"], lags["ny"])
        self.n_features_in_ = len(model.inputs)
        self.n_outputs_ = len(model.outputs)
        self.output_names_ = [name for name, _ in model.outputs]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _fitted(self) -> _intervalid.Model:
        if not hasattr(self, "model_"):
            raise not_fitted(type(self).__name__)
        return self.model_

    def _threads(self) -> int:
        if self.n_jobs is None:
            return 1
        if self.n_jobs == 0:
            raise OptionError("n_jobs = 0: expected a number of threads, or -1 for all cores")
        return self.n_jobs if self.n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + self.n_jobs)

    @property
    def initial_outputs_(self) -> int:
        """How many measured outputs ``predict`` needs to start from."""
        return self._fitted().initial_outputs

    @overload
    def predict(self, u: Record, y0: ArrayLike | None = None, *, coverage: float | Sequence[float] | None = None, samples: int | None = None) -> OfRecord: ...
    @overload
    def predict(self, u: Numbers | None, y0: ArrayLike | None = None, *, coverage: float | Sequence[float] | None = None, samples: int | None = None) -> Prediction: ...
    @overload
    def predict(self, u: Experiments, y0: ArrayLike | None = None, *, coverage: float | Sequence[float] | None = None, samples: int | None = None) -> list[Prediction]: ...
    @overload
    def predict(self, u: ArrayLike, y0: ArrayLike | None = None, *, coverage: float | Sequence[float] | None = None, samples: int | None = None) -> Prediction: ...
    def predict(
        self,
        u: ArrayLike | Record,
        y0: ArrayLike | None = None,
        *,
        coverage: float | Sequence[float] | None = None,
        samples: int | None = None,
    ) -> Prediction | list[Prediction]:
        """Simulates: the outputs for the inputs u, each with its interval, as a :class:`Prediction`.

        y0 are the measured outputs of the first samples of u, which the free run starts from: at least
        :attr:`initial_outputs_` of them (one with ``initial="zero"``, the larger of n_y and n_d + n_x with ``"measured"``,
        N+1 with ``"warmup:N"`` or ``"history:N"``). The run starts after the last of them. A list of experiments gives a list of predictions; a :class:`Record` brings its own y0.

        ``coverage`` is the share of samples that the band should hold, if not that of the fit: a calibrated model stores how wide
        it is for others.
        A model of a series without inputs takes ``None`` for u, and ``samples``: how many to forecast after y0. Several coverages, such as ``[0.5, 0.9, 0.99]``, give bands inside one another (:attr:`Prediction.levels`).
        """
        main, others = self._coverages(coverage)
        predicted = self._predict(u, y0, None, coverage=main, ahead=samples)
        for level in others:
            beside = self._predict(u, y0, None, coverage=level, ahead=samples)
            for one, other in zip(_listed(predicted), _listed(beside), strict=True):
                one.levels[level] = (other.lower, other.upper)
        return predicted

    def _coverages(self, coverage: float | Sequence[float] | None) -> tuple[float | None, list[float]]:
        """The coverage that decides, the fit's if it is among them, and the others."""
        if coverage is None or isinstance(coverage, (int, float, np.number)):
            return (None if coverage is None else float(coverage)), []
        levels = [float(level) for level in coverage]
        if not levels:
            raise OptionError(f"coverage = {coverage!r}: expected a share between 0 and 1, or several")
        own = self._fitted().config["coverage"]
        main = own if own in levels else levels[0]
        return main, sorted(set(levels) - {main})

    @overload
    def simulate(self, u: Record, y0: ArrayLike | None = None, *, recursion: str | int = "recentred") -> OfRecord: ...
    @overload
    def simulate(self, u: Numbers | None, y0: ArrayLike | None = None, *, recursion: str | int = "recentred") -> Prediction: ...
    @overload
    def simulate(self, u: Experiments, y0: ArrayLike | None = None, *, recursion: str | int = "recentred") -> list[Prediction]: ...
    @overload
    def simulate(self, u: ArrayLike, y0: ArrayLike | None = None, *, recursion: str | int = "recentred") -> Prediction: ...
    def simulate(self, u: ArrayLike | Record, y0: ArrayLike | None = None, *, recursion: str | int = "recentred") -> Prediction | list[Prediction]:
        """As :meth:`predict`, with a choice of how intervals are fed back.

        ``"recentred"`` is what the model was trained with: each step starts from the point prediction. ``"full"`` feeds intervals
        back from the start, which widens quickly; a number n does so for n steps. Both are for analysis of single interval
        networks.
        """
        if isinstance(recursion, str) and recursion not in ("recentred", "full"):
            raise OptionError(f"recursion = {recursion!r}: expected 'recentred', 'full' or a number of steps")
        if not isinstance(recursion, str) and recursion < 1:
            raise OptionError(f"recursion = {recursion}: expected at least 1 step")
        return self._predict(u, y0, None if recursion == "recentred" else recursion)

    def _forecast_lengths(self, y0: ArrayLike | None, ahead: int | None) -> list[int]:
        """Rows of each experiment of a series without inputs: those that are known, and so many more."""
        names = ", ".join(name for name, _ in self._fitted().inputs)
        if names:
            raise ShapeError(f"u is missing: this model predicts from {names}")
        if y0 is None:
            raise InitialOutputsError("predict(None, …) needs y0: the measured outputs that a forecast starts from")
        if ahead is None or ahead < 1:
            raise OptionError(f"samples = {ahead}: expected how many samples after y0 to forecast, such as predict(None, y0=y, samples=50)")
        return [item.samples + ahead for item in experiments(y0, "y0")]

    def _predict(
        self,
        u: ArrayLike | Record,
        y0: ArrayLike | None,
        recursion: str | int | None,
        *,
        coverage: float | None = None,
        ahead: int | None = None,
    ) -> Prediction | list[Prediction]:
        model = self._fitted() if coverage is None else self._fitted().at_coverage(coverage)
        need = model.initial_outputs
        channels = self._channels()
        if ahead is not None and u is not None:
            raise OptionError(f"samples = {ahead}: u says how many samples there are; samples is for models without inputs")
        if u is None:
            several = is_several(y0)
            lengths = self._forecast_lengths(y0, ahead)
            inputs = [Table([], None) for _ in lengths]
        elif isinstance(u, Record):
            u = channels.prepared(u)
            several = len(u._record.experiments) > 1
            inputs, outputs = channels.reordered(u)
            lengths = [length for _, length in u._record.experiments]
            if y0 is None:
                starts = [Table([column[:need] for column in item.columns], None) for item in outputs]
        else:
            several = is_several(u)
            inputs = [channels.select(item) for item in experiments(u, "u")]
            for item in inputs:
                if len(item.columns) != len(model.inputs):
                    check_orientation(item, "u")
            lengths = [item.samples for item in inputs]
        if y0 is not None:
            starts = [channels.select(item, "y") for item in experiments(y0, "y0")]
        elif not isinstance(u, Record):
            raise InitialOutputsError(
                f"predict needs y0: the first {need} measured output{'s' if need > 1 else ''}, such as y0=y[:{need}], "
                "which the simulation starts from"
            )
        if len(starts) != len(inputs):
            raise ShapeError(f"u has {len(inputs)} experiments, y0 has {len(starts)}: expected as many")
        if not isinstance(u, Record):
            for one, start in zip(inputs, starts, strict=True):
                check_labels(one.index, start.index)
        columns, segments = [], []
        for number, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            where = f" of experiment {number}" if len(starts) > 1 else ""
            known = start.samples
            if known < need:
                raise InitialOutputsError(
                    f"y0{where} has {known} sample{'s' if known != 1 else ''}, expected at least {need}: this model starts from "
                    f"{need} measured outputs (initial = {self.config_['initial']!r}, {model.memory})"
                )
            if known >= length:
                raise ShapeError(f"y0{where} has {known} samples, u has {length}: nothing is left to predict")
            # What is not known is never read; it only has to be there.
            columns.append([np.concatenate([c, np.full(length - known, c[-1])]) for c in start.columns])
            segments.append((number, known - 1 - model.warmup, length))
        times = None if isinstance(u, Record) else channels.times_ahead(inputs, starts, lengths)
        record = channels.started([item.columns for item in inputs], columns, u, times)
        runs = model.simulate(record, segments, recursion=recursion)
        predictions = [
            self._prediction(run, start, length, item.index, coverage)
            for run, start, length, item in zip(runs, starts, lengths, inputs, strict=True)
        ]
        return predictions if several else predictions[0]

    @overload
    def predict_online(self, u: Record, y: ArrayLike | None = None) -> OfRecord: ...
    @overload
    def predict_online(self, u: Numbers | None, y: ArrayLike | None = None) -> Prediction: ...
    @overload
    def predict_online(self, u: Experiments, y: ArrayLike | None = None) -> list[Prediction]: ...
    @overload
    def predict_online(self, u: ArrayLike, y: ArrayLike | None = None) -> Prediction: ...
    def predict_online(self, u: ArrayLike | Record, y: ArrayLike | None = None) -> Prediction | list[Prediction]:
        """As :meth:`predict` over all of u, with the band that would have followed the measured outputs y.

        Its scale widens after a miss and narrows after a hit, and each sample's band knows only the samples before it. The
        point predictions are the same free run.
        """
        return self._predict_measured(u, y, online=True)

    @overload
    def predict_ahead(self, u: Record, y: ArrayLike | None = None, *, horizon: int = 1) -> OfRecord: ...
    @overload
    def predict_ahead(self, u: Numbers | None, y: ArrayLike | None = None, *, horizon: int = 1) -> Prediction: ...
    @overload
    def predict_ahead(self, u: Experiments, y: ArrayLike | None = None, *, horizon: int = 1) -> list[Prediction]: ...
    @overload
    def predict_ahead(self, u: ArrayLike, y: ArrayLike | None = None, *, horizon: int = 1) -> Prediction: ...
    def predict_ahead(
        self, u: ArrayLike | Record, y: ArrayLike | None = None, *, horizon: int = 1
    ) -> Prediction | list[Prediction]:
        """Predictions ``horizon`` samples ahead over all of u, each made from the measured outputs y up to then.

        The band is that of this horizon. ``intervalid predict --horizon`` gives the same numbers.
        """
        if horizon < 1:
            raise OptionError(f"horizon = {horizon}: expected at least 1 sample ahead")
        return self._predict_measured(u, y, horizon=horizon)

    def _predict_measured(
        self, u: ArrayLike | Record, y: ArrayLike | None, *, online: bool = False, horizon: int | None = None
    ) -> Prediction | list[Prediction]:
        model = self._fitted()
        record, several = self._measured(u, y)
        need = model.initial_outputs
        runs = model.simulate(record, online=online, horizon=horizon)
        starts = [
            Table([record.output(number, i)[:need] for i in range(self.n_outputs_)], None)
            for number in range(len(record.experiments))
        ]
        if len(runs) != len(starts):
            raise ShapeError(f"an experiment is too short for a free run: expected more than {need} samples in each")
        if isinstance(u, Record) or u is None:
            index = [None] * len(starts)
        else:
            thinned = getattr(self, "decimate", None) or 1
            index = [None if item.index is None else item.index[::thinned] for item in experiments(u, "u")]
        predictions = [
            self._prediction(run, start, length, labels)
            for run, start, (_, length), labels in zip(runs, starts, record.experiments, index, strict=True)
        ]
        return predictions if several else predictions[0]

    def metrics(
        self,
        u: ArrayLike | Record,
        y: ArrayLike | None = None,
        *,
        online: bool = False,
        coverage: float | None = None,
    ) -> dict[str, Any]:
        """How free runs over u compare with the measured outputs y; keys as in :meth:`Prediction.metrics`.

        A run starts from the first outputs of y, which are not scored. Experiments are pooled. ``online=True`` judges the
        band of :meth:`predict_online`, ``coverage`` that of another coverage than the fit's (see :meth:`predict`).
        """
        model = self._fitted() if coverage is None else self._fitted().at_coverage(coverage)
        record, _ = self._measured(u, y)
        metrics: dict[str, Any] = model.metrics(record, online=online)
        return metrics

    def score(self, u: ArrayLike | Record, y: ArrayLike | None = None) -> float:
        """R² of the free run over u against y: 1 is perfect, 0 no better than the mean; the mean over outputs.

        This is about the point prediction alone; to choose by the band, use ``scoring=intervalid.interval_score`` in
        scikit-learn's searches.
        """
        fits = self.metrics(u, y)["fit_percent"]
        values = [fits] if not isinstance(fits, dict) else [fits[name] for name in self.output_names_]
        if any(value is None for value in values):
            return float("-inf")
        return float(np.mean([1.0 - (1.0 - value / 100.0) ** 2 for value in values]))

    def _measured(self, u: ArrayLike | Record, y: ArrayLike | None) -> tuple[_intervalid.Record, bool]:
        return self._channels().measured(u, y)

    def _channels(self) -> Channels:
        return Channels(self._fitted(), type(self).__name__, self._preparation())

    def _prediction(
        self, run: dict[str, Any], start: Table, length: int, index: Any, coverage: float | None = None
    ) -> Prediction:
        model = self._fitted()
        known = start.samples
        end = run["first"] + len(run["mean"][0])

        def whole(columns: list[Any]) -> Any:
            arrays = []
            for given, column in zip(start.columns, columns, strict=True):
                array = np.full(length, np.nan)
                array[run["first"] : end] = column
                array[:known] = given
                arrays.append(array)
            return arrays[0] if len(arrays) == 1 else np.column_stack(arrays)

        flags = None
        if run["extrapolated"] is not None:
            flags = np.zeros(length, dtype=bool)
            flags[run["first"] : end] = run["extrapolated"]
            flags[:known] = False
        if run["diverged_at"] is not None:
            message = f"the simulation left every reasonable range at sample {end}: what follows is NaN"
            warnings.warn(message, RuntimeWarning, stacklevel=4)
        return Prediction(
            mean=whole(run["mean"]),
            lower=whole(run["lower"]),
            upper=whole(run["upper"]),
            known=known,
            coverage=self.config_["coverage"] if coverage is None else coverage,
            outputs=tuple(self.output_names_),
            units=tuple(unit for _, unit in model.outputs),
            sample_time=model.sample_time,
            positions=np.arange(length),
            extrapolated=flags,
            diverged_at=None if run["diverged_at"] is None else end,
            index=index,
        )


def _listed(predicted: Prediction | list[Prediction]) -> list[Prediction]:
    return predicted if isinstance(predicted, list) else [predicted]
