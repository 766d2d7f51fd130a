"""A watch over a model in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _intervalid
from ._arrays import ArrayLike
from .record import Record


class Monitor:
    """Does the band of a model still hold what it promised, and if not, what has changed?

    Made by ``model.monitor()``. Four tests per output: coverage, and drift of level, gain and noise. A model that keeps its promise is ever
    told to be refitted with probability ``false_alarm`` at most, however long it is watched and however often one looks.

    >>> from intervalid import ARX, load_data
    >>> dryer = load_data("hair-dryer")
    >>> u, y = dryer.u, dryer.y
    >>> model = ARX(lags=(2, 2, 3)).fit(u[:500], y[:500])
    >>> monitor = model.monitor(horizon=1)
    >>> monitor.update(u[500:800], y[500:800]).health
    'ok'
    >>> monitor.update(u[800:], y[800:] + 1.0).health
    'refit'
    >>> monitor.report()["outputs"][0]["cause"]
    'level'
    """

    def __init__(
        self,
        model: _intervalid.Model,
        measured: Callable[[Any, Any], tuple[_intervalid.Record, bool]],
        *,
        false_alarm: float = 0.01,
        block: int | None = None,
        horizon: int | None = None,
    ) -> None:
        self._monitor = _intervalid.Monitor(model, false_alarm=false_alarm, block=block, horizon=horizon)
        self._measured = measured

    def update(self, u: ArrayLike | Record, y: ArrayLike | None = None) -> Monitor:
        """Runs the model over u and compares with the measured outputs y; every call, and every experiment, is a run of its own.
        Returns itself."""
        self._monitor.update(self._measured(u, y)[0])
        return self

    @property
    def health(self) -> str:
        """``ok``, ``watch`` (something may have changed) or ``refit`` (the promise is broken)."""
        return self._monitor.health

    def report(self) -> dict[str, Any]:
        """What ``intervalid monitor --json`` prints: state, coverage, evidence and estimates of every test, trend, reasons in words."""
        report: dict[str, Any] = self._monitor.report()
        return report

    def state(self) -> str:
        """All that it remembers, as text that :meth:`restore` takes, here or in another process."""
        return self._monitor.state()

    def restore(self, state: str) -> Monitor:
        """Goes on from a state of a monitor of the same model with the same settings. Returns itself."""
        self._monitor.restore(state)
        return self

    def __repr__(self) -> str:
        return f"Monitor({self.health}, {self.report()['samples']} samples)"
