"""A model beside its plant: one sample in, one prediction with its interval out."""

from __future__ import annotations

import copy as copying
from typing import Any, NamedTuple

import numpy as np

from . import _intervalid
from ._arrays import ArrayLike, in_order, one_sample, table
from .errors import InitialOutputsError, OrderError, ShapeError


class Step(NamedTuple):
    """One sample: floats where the model has one output, arrays where it has several."""

    #: Point prediction.
    mean: Any
    #: Lower bound, as ``predict`` gives it.
    lower: Any
    #: Upper bound.
    upper: Any
    #: Lower bound of the band that follows the measurements given to ``observe``.
    online_lower: Any
    #: Upper bound of that band.
    online_upper: Any


class Simulator:
    """A free run step by step, with the numbers that ``predict`` would give for the whole record.

    Interval networks, ensembles that a search found and ARX run this way.

    >>> from intervalid import ARX, load_data
    >>> dryer = load_data("hair-dryer")
    >>> u, y = dryer.u, dryer.y
    >>> model = ARX(lags=(2, 2, 3)).fit(u[:500], y[:500])
    >>> simulator = model.simulator(y0=y[:10], u0=u[:10])
    >>> step = simulator.step(u[10])
    >>> bool(step.lower <= step.mean <= step.upper)
    True
    >>> bool(step.mean == model.predict(u[:20], y0=y[:10]).mean[10])
    True
    >>> simulator.observe(y[10])    # moves online_lower and online_upper of the steps to come
    """

    def __init__(
        self,
        model: _intervalid.Model,
        *,
        false_alarm: float | None = None,
        block: int | None = None,
        horizon: int | None = None,
    ) -> None:
        self._simulator = _intervalid.Simulator(model, false_alarm=false_alarm, block=block, horizon=horizon)

    def monitor_report(self) -> dict[str, Any]:
        """What its monitor says of the measurements given to :meth:`observe`, as :meth:`Monitor.report` does.

        Only of a simulator that was asked to watch: ``model.simulator(false_alarm=0.01)``.
        """
        report = self._simulator.report()
        if report is None:
            raise OrderError("this simulator does not watch over its model: make it with false_alarm=0.01")
        return report

    @property
    def steps(self) -> int | None:
        """Steps since the start; None before it."""
        return self._simulator.steps

    @property
    def initial_outputs(self) -> int:
        """Measured outputs that :meth:`reset` needs."""
        return self._simulator.needs[2]

    def reset(self, y0: ArrayLike, u0: ArrayLike | None = None) -> Simulator:
        """Starts (again) after the measured outputs y0 and the inputs u0 of the same samples, oldest first.

        Columns of tables go by name, as in ``predict``. Inputs that are missing are taken at the training mean, as at the beginning
        of a record. Returns itself.
        """
        outputs = in_order(table(y0, "y0"), self._channels("y"), "y").columns
        channels = len(self._simulator.outputs)
        if len(outputs) != channels and len(outputs) == 1 and channels > 1 and len(outputs[0]) == channels:
            # One sample of several outputs.
            outputs = [np.asarray([value]) for value in outputs[0]]
        if len(outputs) != channels:
            raise ShapeError(f"y0 has {len(outputs)} columns, the model {channels} outputs")
        useful, least, need = self._simulator.needs
        if len(outputs[0]) < need:
            raise InitialOutputsError(f"y0 has {len(outputs[0])} samples, expected at least {need}: the last before the first step")
        inputs = [] if u0 is None else in_order(table(u0, "u0"), self._channels("u"), "u").columns
        if u0 is None and least:
            raise InitialOutputsError(f"this model is led by a warm-up: give u0, the last {least} inputs or more")
        if inputs and len(inputs) != len(self._simulator.inputs):
            raise ShapeError(f"u0 has {len(inputs)} columns, the model {len(self._simulator.inputs)} inputs")
        self._simulator.reset(inputs, outputs)
        return self

    def step(self, u: Any = ()) -> Step:
        """Predicts the next sample from its inputs: a number, one number per input, or a row of a table, which goes by name."""
        values = self._simulator.step(one_sample(u, self._channels("u"), "u"))
        if len(values[0]) == 1:
            return Step(*(value[0] for value in values))
        return Step(*(np.asarray(value) for value in values))

    def observe(self, y: Any) -> None:
        """What was then measured. The online band of the next steps follows it; the simulation itself runs free."""
        self._simulator.observe(one_sample(y, self._channels("y"), "y"))

    def correct(self, y: Any) -> None:
        """What was then measured, for predictions from it: the next steps start from y instead of the predicted outputs, and the
        observer of a state-space model corrects its states. Their band is that of predictions one sample ahead, two, and so on."""
        self._simulator.correct(one_sample(y, self._channels("y"), "y"))

    def _channels(self, letter: str) -> list[tuple[str, str | None]]:
        return self._simulator.inputs if letter == "u" else self._simulator.outputs

    def copy(self) -> Simulator:
        """The same simulation, to go on independently: what if the inputs were these?"""
        return copying.copy(self)

    def __copy__(self) -> Simulator:
        other = Simulator.__new__(Simulator)
        other._simulator = self._simulator.copy()
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulator:
        return self.__copy__()

    def state(self) -> str:
        """All that it remembers, as text that :meth:`restore` takes, here or in another process."""
        return self._simulator.state()

    def restore(self, state: str) -> Simulator:
        """Goes on from a state of a simulation of the same model. Returns itself."""
        self._simulator.restore(state)
        return self

    def __repr__(self) -> str:
        outputs = ", ".join(f"'{name}'" for name, _ in self._simulator.outputs)
        where = "not started" if self.steps is None else f"after {self.steps} steps"
        return f"Simulator({outputs}, {where})"
