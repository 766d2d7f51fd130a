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
from ._arrays import ArrayLike
from ._parameters import NOT_SETTINGS, PREPARATION, three
from ._predicting import Predicting
from ._progress import Observer
from .analysis import Analysis
from .casadi import CasadiModel
from .elasticity import Elasticity
from .errors import IntervalidError, ModelFormatError, OptionError, ShapeError
from .monitor import Monitor
from .record import Record
from .simulator import Simulator

#: Called with a dict after every epoch; a true answer stops training with the best epoch so far.
Callback = Callable[[dict[str, Any]], "bool | None"]

Self = TypeVar("Self", bound="Estimator")

#: File of a model in a folder that ``intervalid fit`` wrote.
_MODEL_FILE = "model.safetensors"


class Estimator(Predicting):
    """Parameters, prediction and files; see :class:`intervalid.IntervalNODE` for how it is used."""

    split: tuple[float, float, float]
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

    # Fitting ----------------------------------------------------------------------------------------------------------

    def fit(
        self: Self,
        u: ArrayLike | Record,
        y: ArrayLike | None = None,
        *,
        sample_time: float | None = None,
        name: str | None = None,
    ) -> Self:
        """Fits the model to inputs u and measured outputs y, one row per sample, in the order of time.

        u and y are arrays or tables (NumPy, pandas, polars, Arrow), or lists of them: several experiments. A :class:`Record`
        is both in one. ``None`` for u is a time series without inputs. The samples are split in the order of time as the
        parameter ``split`` says: by default 60 % train, the next 10 % choose the epoch, and the last 30 % are left out as an honest
        test, which :attr:`result_` and :meth:`report` judge by. ``split=(0.9, 0.1, 0)`` fits to everything.
        ``sample_time`` in seconds and ``name`` are for plots and reports.

        Ctrl-C stops training with the best epoch so far, and a search with the best linear model: the estimator is fitted, and
        ``KeyboardInterrupt`` goes on to the caller. A callback that ends training brings a warning where something of what was asked
        for is then missing: a trained band, its calibration, members of an ensemble.
        """
        record = self._record(u, y, sample_time, name)
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
        missing = ", ".join(fit.unfinished)
        if fit.interrupted and self._is_search:
            raise KeyboardInterrupt("the search was stopped: the estimator is fitted with the best model so far, a linear one")
        if fit.interrupted:
            lacks = f"; {missing}" if missing else ""
            raise KeyboardInterrupt(
                f"training was stopped after {self.n_iter_} epochs: the estimator is fitted with the best of them{lacks}"
            )
        if missing:
            warnings.warn(f"a callback ended training early: {missing}", UserWarning, stacklevel=2)
        elif self._is_search and (self.search_ or {}).get("end") == "cancelled":
            message = "a callback ended the search early: the estimator is fitted with the best model so far, a linear one"
            warnings.warn(message, UserWarning, stacklevel=2)
        return self

    def _record(self, u: ArrayLike | Record, y: ArrayLike | None, sample_time: float | None, name: str | None) -> Record:
        if isinstance(u, Record):
            if y is not None:
                raise ShapeError("a record holds its outputs: leave y out")
            if sample_time is not None or name is not None:
                raise OptionError("a record has a name and a sample time of its own: leave name and sample_time out")
            asked = self._preparation()
            if asked is not None and u._record.is_prepared and not u._record.is_prepared_as(asked):
                wanted = ", ".join(f"{option}={getattr(self, option)!r}" for option in PREPARATION if getattr(self, option) is not None)
                raise OptionError(f"{wanted}: the record was prepared otherwise already; give it as it was measured")
            return u._prepared(asked)
        if y is None:
            raise ShapeError("requires y to be passed, but the target y is None: give the measured outputs")
        name = "record" if name is None else name
        prepare: dict[str, Any] = {parameter: getattr(self, parameter, None) for parameter in PREPARATION}
        return Record(u, y, name=name, sample_time=sample_time, **prepare)

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

    def light(self: Self) -> Self:
        """The light model of a search's mean: one member of each recipe, with a band that was sized for these; what ``export(band="light")`` writes.

        It needs less memory and time, and its band does not widen where members disagree. This one stays as it is.
        """
        light = copy.copy(self)
        light.__dict__.pop("_fit", None)
        light.__dict__.pop("_result", None)
        light._set_model(self._fitted().light())
        return light

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
        band: str = "full",
        jacobian: bool = False,
        monitor: bool = False,
        fmi: int | None = None,
        binary: bool = True,
        force: bool = False,
    ) -> dict[str, Any]:
        """Writes the model as code that runs without this package, and says what was written, as ``intervalid export --json`` does.

        The file's name says what it is: ``step.c`` (and ``step.h``) is C99, ``model.fmu`` a Functional Mock-up Unit,
        ``model.onnx`` (with two more beside it) ONNX graphs; ``to`` says so explicitly. ``precision`` is "float" or "double" (C,
        ONNX), ``band`` "full" or "light" (see :meth:`light`), ``jacobian`` adds exact derivatives of a step (C, ONNX), ``monitor`` a watch over the band (C, FMU), ``fmi`` is 2 or 3; ``binary=False`` leaves compiling an FMU to its user. Files that exist are replaced with ``force``
        alone.
        """
        target = to if to is not None else os.path.splitext(os.fspath(path))[1].lstrip(".")
        options: list[str | os.PathLike[str]] = [f"--to={target}", f"--out={os.fspath(path)}"]
        if precision is not None:
            options.append(f"--precision={precision}")
        if band != "full":
            options.append(f"--band={band}")
        if fmi is not None:
            options.append(f"--fmi={fmi}")
        options += ["--jacobian"] * jacobian + ["--monitor"] * monitor
        options += ["--no-binary"] * (not binary) + ["--force"] * force
        return self._fitted().export(options)

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads a model file, or the one in a folder that ``intervalid fit`` wrote.

        The parameters are those it was fitted with, but for ``split`` and further coverages, which model files do not hold.
        """
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
        if "calibrate" in cls._parameters():
            estimator.set_params(calibrate=model.calibration is not None)
        # Data come as they are measured, as on the command line: what the model wants done to them is done here, too.
        for name, value in model.data_parameters.items():
            setattr(estimator, name, value)
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
