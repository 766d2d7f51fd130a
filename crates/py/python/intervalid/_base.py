"""What all estimators have in common."""

from __future__ import annotations

import copy
import html
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _intervalid
from ._arrays import ArrayLike, Table, experiments, is_several
from ._channels import Channels
from ._parameters import NOT_SETTINGS, Parameters, three
from ._progress import Observer
from .analysis import Analysis
from .casadi import CasadiModel
from .elasticity import Elasticity
from .errors import InitialOutputsError, IntervalidError, ModelFormatError, OptionError, ShapeError, not_fitted
from .monitor import Monitor
from .prediction import Prediction
from .record import Record
from .simulator import Simulator

#: Called with a dict after every epoch; a true answer stops training with the best epoch so far.
Callback = Callable[[dict[str, Any]], "bool | None"]

Self = TypeVar("Self", bound="Estimator")

#: File of a model in a folder that ``intervalid fit`` wrote.
_MODEL_FILE = "model.safetensors"


class Estimator(Parameters):
    """Parameters, prediction and files; see :class:`intervalid.IntervalNODE` for how it is used."""

    split: tuple[float, float, float]
    n_jobs: int | None
    verbose: bool | int
    callbacks: Sequence[Callback]
    #: After :meth:`recalibrate`: what it did.
    recalibration_: dict[str, Any]

    def __repr__(self) -> str:
        code = self._code()
        return f"{code}, fitted: {self._found()}" if hasattr(self, "model_") else code

    def _found(self) -> str:
        """What a fit found, in a few words."""
        model = self._fitted()
        inputs = ", ".join(name for name, _ in model.inputs) or "its own past"
        every = "" if model.sample_time is None else f", one sample every {model.sample_time:g} s"
        share = f"{100 * self.config_['coverage']:g} % band"
        return f"{model.kind} with {model.memory}, {', '.join(self.output_names_)} from {inputs}, {share}{every}"

    def _repr_html_(self) -> str:
        """A table for notebooks, with the metrics of the test part once :attr:`result_` has them.

        Showing a model must not take the time of judging it.
        """
        if not hasattr(self, "model_"):
            return f"<pre>{html.escape(repr(self))}</pre>"
        rows = [("model", self._found())]
        test = self.__dict__.get("_result", {}).get("test") or {}
        for key, label in (("fit_percent", "fit (%)"), ("picp", "share inside"), ("pinaw", "width of the band / range")):
            value = test.get(key)
            per_output = value if isinstance(value, dict) else {"": value}
            shown = ", ".join(
                f"{name} {number:.3g}".strip() for name, number in per_output.items() if number is not None and name != "all"
            )
            if shown:
                rows.append((f"test part, {label}", shown))
        cells = "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in rows)
        return f"<table><caption><code>{html.escape(self._code())}</code></caption>{cells}</table>"

    def _threads(self) -> int:
        if self.n_jobs is None:
            return 1
        if self.n_jobs == 0:
            raise OptionError("n_jobs = 0: expected a number of threads, or -1 for all cores")
        return self.n_jobs if self.n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + self.n_jobs)

    # Fitting ----------------------------------------------------------------------------------------------------------

    def fit(
        self: Self,
        u: ArrayLike | Record,
        y: ArrayLike | None = None,
        *,
        sample_time: float | None = None,
        name: str = "record",
    ) -> Self:
        """Fits the model to inputs u and measured outputs y, one row per sample, in the order of time.

        u and y are arrays or tables (NumPy, pandas, polars, Arrow), or lists of them: several experiments. A :class:`Record`
        is both in one. ``None`` for u is a time series without inputs. The samples are split in the order of time as the
        parameter ``split`` says: by default 60 % train, the next 10 % choose the epoch, and the last 30 % are left out as an honest
        test, which :attr:`result_` and :meth:`report` judge by. ``split=(0.9, 0.1, 0)`` fits to everything.
        ``sample_time`` in seconds and ``name`` are for plots and reports.

        Ctrl-C stops training with the best epoch so far, and a search with the best linear model: the estimator is fitted, and
        ``KeyboardInterrupt`` goes on to the caller.
        """
        record = _record(u, y, sample_time, name)
        observer = Observer(type(self).__name__, self.verbose, self.callbacks)
        whole = False
        try:
            fit = _intervalid.fit(
                record._record,
                three(self.split, "split", "(training, validation, test)", float),
                self._settings(),
                search=self._is_search,
                calibrate=bool(getattr(self, "calibrate", False)),
                threads=self._threads(),
                budget=getattr(self, "budget", None),
                observer=observer if observer.is_needed else None,
            )
            whole = not any(stage["interrupted"] for stage in fit.stages)
        finally:
            observer.close(whole=whole)
        self._set_model(fit.model)
        self._fit = fit
        self.history_ = fit.history
        self.stages_ = fit.stages
        self.n_iter_ = len(self.history_)
        if self._is_search:
            self.search_ = fit.search
        if record.named_inputs:
            self.feature_names_in_ = np.array(record.inputs, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.__dict__.pop("_result", None)
        if fit.interrupted and self._is_search:
            raise KeyboardInterrupt("the search was stopped: the estimator is fitted with the best model so far, a linear one")
        if fit.interrupted:
            band = "" if self._has_trained_band() else "; its band has not been trained yet"
            raise KeyboardInterrupt(
                f"training was stopped after {self.n_iter_} epochs: the estimator is fitted with the best of them{band}"
            )
        return self

    def _has_trained_band(self) -> bool:
        return [stage["stage"] for stage in self.stages_] != ["crisp"]

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

    @property
    def result_(self) -> dict[str, Any]:
        """What ``intervalid fit --json`` prints about this fit: epochs, time, and metrics of the parts of the record."""
        self._fitted()
        if "_result" not in self.__dict__:
            fit = self.__dict__.get("_fit")
            if fit is None:
                raise AttributeError("result_ is there after fit, not for a model that was loaded: use metrics(u, y)")
            self._result: dict[str, Any] = fit.result(threads=self._threads())
        return self._result

    @property
    def linear_(self) -> dict[str, Any]:
        """Inside a linear model: ``equations`` with their terms, constant and gains in the units of the record, and ``poles``.

        Of a model that averages several, as ``members`` says, these are of the first, which has seen all the data.
        """
        view = self._fitted().linear()
        if view is None:
            raise AttributeError(f"linear_ is of linear models, this is a model '{self.model_.kind}'")
        return view

    @property
    def coef_(self) -> Any:
        """Coefficients of a linear model in the units of the record, one row per output; :attr:`linear_` says of what."""
        return np.array([[term["coefficient"] for term in row["terms"]] for row in self.linear_["equations"]])

    # Prediction -------------------------------------------------------------------------------------------------------

    @property
    def initial_outputs_(self) -> int:
        """How many measured outputs ``predict`` needs to start from."""
        return self._fitted().initial_outputs

    def predict(
        self, u: ArrayLike | Record, y0: ArrayLike | None = None, *, coverage: float | Sequence[float] | None = None
    ) -> Any:
        """Simulates: the outputs for the inputs u, each with its interval, as a :class:`Prediction`.

        y0 are the measured outputs of the first samples of u, which the free run starts from: at least
        :attr:`initial_outputs_` of them (one with ``initial="zero"``, n_y with ``"measured"``, N+1 with ``"warmup:N"`` or
        ``"history:N"``). The run starts after the last of them. A list of experiments gives a list of predictions; a :class:`Record` brings its own y0.

        ``coverage`` is the share of samples that the band should hold, if not that of the fit: a calibrated model stores how wide
        it is for others. Several, such as ``[0.5, 0.9, 0.99]``, give bands inside one another (:attr:`Prediction.levels`).
        """
        main, others = self._coverages(coverage)
        predicted = self._predict(u, y0, None, coverage=main)
        for level in others:
            beside = self._predict(u, y0, None, coverage=level)
            pairs = zip(predicted, beside, strict=True) if isinstance(predicted, list) else [(predicted, beside)]
            for one, other in pairs:
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

    def simulate(self, u: ArrayLike | Record, y0: ArrayLike | None = None, *, recursion: str | int = "recentred") -> Any:
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

    def _predict(
        self,
        u: ArrayLike | Record,
        y0: ArrayLike | None,
        recursion: str | int | None,
        *,
        coverage: float | None = None,
    ) -> Any:
        model = self._fitted() if coverage is None else self._fitted().at_coverage(coverage)
        need = model.initial_outputs
        channels = self._channels()
        if isinstance(u, Record):
            several = len(u._record.experiments) > 1
            inputs, outputs = channels.reordered(u)
            lengths = [length for _, length in u._record.experiments]
            if y0 is None:
                starts = [Table([column[:need] for column in item.columns], None) for item in outputs]
        else:
            several = is_several(u)
            inputs = [channels.select(item) for item in experiments(u, "u")]
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
        record = channels.own_record([item.columns for item in inputs], columns, u)
        runs = model.simulate(record, segments, recursion=recursion)
        predictions = [
            self._prediction(run, start, length, item.index, coverage)
            for run, start, length, item in zip(runs, starts, lengths, inputs, strict=True)
        ]
        return predictions if several else predictions[0]

    def predict_online(self, u: ArrayLike | Record, y: ArrayLike | None = None) -> Any:
        """As :meth:`predict` over all of u, with the band that would have followed the measured outputs y.

        Its scale widens after a miss and narrows after a hit, and each sample's band knows only the samples before it. The
        point predictions are the same free run.
        """
        return self._predict_measured(u, y, online=True)

    def predict_ahead(self, u: ArrayLike | Record, y: ArrayLike | None = None, *, horizon: int = 1) -> Any:
        """Predictions ``horizon`` samples ahead over all of u, each made from the measured outputs y up to then.

        The band is that of this horizon. ``intervalid predict --horizon`` gives the same numbers.
        """
        if horizon < 1:
            raise OptionError(f"horizon = {horizon}: expected at least 1 sample ahead")
        return self._predict_measured(u, y, horizon=horizon)

    def _predict_measured(
        self, u: ArrayLike | Record, y: ArrayLike | None, *, online: bool = False, horizon: int | None = None
    ) -> Any:
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
        index = [None] * len(starts) if isinstance(u, Record) else [item.index for item in experiments(u, "u")]
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

    def monitor(self, *, false_alarm: float = 0.01, block: int | None = None, horizon: int | None = None) -> Monitor:
        """A watch over the model in use: give it recordings with ``update(u, y)``, ask for its ``health``.

        ``horizon=K`` watches predictions K samples ahead in place of free runs; their errors forget sooner, so that drifts show sooner.
        ``intervalid monitor`` gives the same numbers.
        """
        return Monitor(self._fitted(), self._measured, false_alarm=false_alarm, block=block, horizon=horizon)

    def recalibrate(self: Self, u: ArrayLike | Record, y: ArrayLike | None = None, *, weight: float = 1.0) -> Self:
        """The same model with its band scaled anew by recordings made after the fit; this one stays as it is.

        ``weight`` is that of the new recordings, the rest that of the scale the band has. What it did is in ``recalibration_`` of the new
        estimator: coverage and width before and after, judged on held-out halves.
        """
        model, said = self._fitted().recalibrated(self._measured(u, y)[0], weight=weight)
        renewed = copy.copy(self)
        renewed.__dict__.pop("_fit", None)
        renewed.__dict__.pop("_result", None)
        renewed._set_model(model)
        renewed.recalibration_ = said
        return renewed

    def simulator(
        self,
        y0: ArrayLike | None = None,
        u0: ArrayLike | None = None,
        *,
        false_alarm: float | None = None,
        block: int | None = None,
        horizon: int | None = None,
    ) -> Simulator:
        """The model step by step, for use beside a plant; started where y0 (and u0, the inputs of the same samples) are given.

        With ``false_alarm`` it also watches over the model, as :meth:`monitor` does: every ``observe`` is a sample.
        """
        simulator = Simulator(self._fitted(), false_alarm=false_alarm, block=block, horizon=horizon)
        return simulator if y0 is None else simulator.reset(y0, u0)

    @property
    def analysis(self) -> Analysis:
        """Views of the model: linearisation, responses, static curve, errors, what its band is made of, what to measure next."""
        model = self._fitted()
        views = self.__dict__.get("_analysis")
        if views is None or views._model is not model:
            views = self._analysis = Analysis(model, self._measured)
        return views

    def to_casadi(self, name: str = "step") -> CasadiModel:
        """The model's step as a CasADi function of state and inputs that gives ŷ and its band, and where a run starts; needs ``casadi``.

        Solvers of CasADi then plan inputs with the band as a constraint; examples/python/predictive_control.py does.
        """
        return CasadiModel(self._fitted(), name)

    def elasticity(self) -> Elasticity:
        """How far each parameter of an interval network may move, relative to its size."""
        return Elasticity(self._fitted().elasticity())

    def _measured(self, u: ArrayLike | Record, y: ArrayLike | None) -> tuple[_intervalid.Record, bool]:
        return self._channels().measured(u, y)

    def _channels(self) -> Channels:
        return Channels(self._fitted(), type(self).__name__)

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

    # Files ------------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ``model.safetensors``, the file that the command line reads and writes."""
        self._fitted().save(path)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        to: str | None = None,
        precision: str | None = None,
        jacobian: bool = False,
        fmi: int | None = None,
        binary: bool = True,
        force: bool = False,
    ) -> dict[str, Any]:
        """Writes the model as code that runs without this package, and says what was written, as ``intervalid export --json`` does.

        The file's name says what it is: ``step.c`` (and ``step.h``) is C99, ``model.fmu`` a Functional Mock-up Unit,
        ``model.onnx`` (with two more beside it) ONNX graphs; ``to`` says so explicitly. ``precision`` is "float" or "double" (C,
        ONNX), ``jacobian`` adds exact derivatives of a step (C, ONNX), ``fmi`` is 2 or 3; ``binary=False`` leaves compiling an FMU to its user. Files that exist are replaced with ``force``
        alone.
        """
        target = to if to is not None else os.path.splitext(os.fspath(path))[1].lstrip(".")
        options: list[str | os.PathLike[str]] = [f"--to={target}", f"--out={os.fspath(path)}"]
        if precision is not None:
            options.append(f"--precision={precision}")
        if fmi is not None:
            options.append(f"--fmi={fmi}")
        options += ["--jacobian"] * jacobian
        options += ["--no-binary"] * (not binary) + ["--force"] * force
        return self._fitted().export(options)

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads a model file, or the one in a folder that ``intervalid fit`` wrote."""
        return cls._from_model(read_model(path))

    @classmethod
    def _from_model(cls: type[Self], model: _intervalid.Model) -> Self:
        if model.kind not in cls._kinds:
            raise ModelFormatError(f"this is a model '{model.kind}', not one of {cls.__name__}: use intervalid.load_model")
        estimator = cls()
        estimator._set_model(model)
        config = dict(estimator.config_)
        config["lags"] = estimator.lags_
        config["window"] = (config["window"]["length"], config["window"]["step"])
        config["hidden"] = tuple(config["hidden"])
        for name in cls._parameters():
            if name in config and name not in NOT_SETTINGS and not cls._is_search:
                setattr(estimator, name, config[name])
        return estimator

    def report(
        self, path: str | os.PathLike[str], u: ArrayLike | Record | None = None, y: ArrayLike | None = None
    ) -> None:
        """Writes the page of this fit, the same as ``report.html`` of the command line.

        It judges the test part of the record (parameter ``split``), or u and y: data that the model has not seen.
        """
        self._fitted()
        fit = self.__dict__.get("_fit")
        if fit is None:
            raise IntervalidError("a report needs the record of the fit: it is made after fit, not for a model that was loaded")
        test = None
        if u is not None or y is not None:
            test = self._measured(u, y)[0]
        fit.report(path, test=test, code=f"{self._code()}.fit(u, y)", threads=self._threads())

    def __getstate__(self) -> dict[str, Any]:
        # The record of the fit stays behind: pickles are of models.
        return {name: value for name, value in self.__dict__.items() if name not in ("_fit", "_analysis")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    # scikit-learn -----------------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True, multi_output=True),
            regressor_tags=RegressorTags(poor_score=True),
            input_tags=InputTags(),
            requires_fit=True,
        )


def interval_score(estimator: Estimator, u: ArrayLike, y: ArrayLike) -> float:
    """For ``scoring=`` of scikit-learn's searches: minus the mean interval score over all outputs, so that more is better.

    The interval score is the mean width of the band plus a penalty for every sample outside it.
    """
    metrics = estimator.metrics(u, y)
    score = metrics["interval_score"]
    value = score["all"] if isinstance(score, dict) else score
    return float("-inf") if value is None else -float(value)


def read_model(path: str | os.PathLike[str]) -> _intervalid.Model:
    """The model of a file or of a fit's folder."""
    if os.path.isdir(path):
        path = os.path.join(path, _MODEL_FILE)
    return _intervalid.Model.load(path)


def _record(u: ArrayLike | Record, y: ArrayLike | None, sample_time: float | None, name: str) -> Record:
    if isinstance(u, Record):
        if y is not None:
            raise ShapeError("a record holds its outputs: leave y out")
        return u
    if y is None:
        raise ShapeError("requires y to be passed, but the target y is None: give the measured outputs")
    return Record(u, y, name=name, sample_time=sample_time)
