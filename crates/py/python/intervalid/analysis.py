"""Looking at a fitted model as a control engineer does."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import OptionError, ShapeError

if TYPE_CHECKING:
    from . import _intervalid
    from ._arrays import ArrayLike
    from ._base import Estimator
    from .record import Record

__all__ = ["Analysis"]


class Analysis:
    """Views of a fitted model: ``estimator.analysis``. Every view is a plain dict, with the keys of ``intervalid analyse --json``.

    ``at`` names the operating point by channel: ``{"valve": 0.4}`` looks for the steady state at that input, other inputs stay at
    their training mean; with all outputs named too, that point is taken, steady or not.
    """

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator
        self._views: _intervalid.Analysis = estimator._fitted().analysis

    def linearise(self, at: Mapping[str, float] | None = None) -> dict[str, Any]:
        """``a``, ``b``, ``c``, ``d`` around a point in the units of the record, ``poles``, ``channels`` with gains and zeros,
        ``intervals``."""
        return self._views.linearise(_point(at))

    def save_linear(self, path: str | os.PathLike[str], at: Mapping[str, float] | None = None) -> None:
        """Writes the linear system: ``.mat`` for MATLAB and Octave, ``.py`` for the package control."""
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending == ".mat":
            content = self._views.mat_file(_point(at))
        elif ending == ".py":
            content = self._views.python_code(_point(at)).encode()
        else:
            raise OptionError(f"'{os.fspath(path)}': expected a name that ends in .mat or .py")
        with open(path, "wb") as file:
            file.write(content)

    def frequency_response(
        self, at: Mapping[str, float] | None = None, u: ArrayLike | Record | None = None, y: ArrayLike | None = None
    ) -> dict[str, Any]:
        """Bode and Nyquist around a point with a band; with data, what they show without a model."""
        return self._views.frequency_response(_point(at), self._record(u, y))

    def step(
        self, u: str | None = None, at: Mapping[str, float] | None = None, amplitudes: Sequence[float] = ()
    ) -> dict[str, Any]:
        """Answers to ``steps`` and ``pulses`` of an input (the first one unless it is named), with the model's band."""
        return self._views.responses(self._input(u), _point(at), [float(size) for size in amplitudes])

    def static_curve(
        self, channel: str | None = None, u: ArrayLike | Record | None = None, y: ArrayLike | None = None
    ) -> dict[str, Any]:
        """Where outputs come to rest over the range of an input: that of the data, else the training mean ± 2 standard deviations."""
        return self._views.static_curve(self._input(channel), self._record(u, y))

    def residuals(self, u: ArrayLike | Record, y: ArrayLike | None = None) -> list[dict[str, Any]]:
        """Errors of the free run, one entry per output: histogram, spectrum, correlations, coverage by time and level."""
        return self._views.residuals(self._measured(u, y))

    def fits_ahead(self, u: ArrayLike | Record, y: ArrayLike | None = None) -> list[dict[str, Any]]:
        """Fits from one sample ahead to the free run."""
        return self._views.fits_ahead(self._measured(u, y))

    def width_shares(self, u: ArrayLike | Record, y: ArrayLike | None = None) -> list[dict[str, Any]]:
        """What the band is made of, sample by sample and in ``words``, one entry per output."""
        return self._views.width_shares(self._measured(u, y))

    def _input(self, name: str | None) -> int:
        names = [channel for channel, _ in self._estimator._fitted().inputs]
        if name is None:
            return 0
        if name not in names:
            raise ShapeError(f"the model has no input '{name}': expected one of {', '.join(names)}")
        return names.index(name)

    def _record(self, u: ArrayLike | Record | None, y: ArrayLike | None) -> _intervalid.Record | None:
        return None if u is None and y is None else self._measured(u, y)

    def _measured(self, u: Any, y: ArrayLike | None) -> _intervalid.Record:
        record, _ = self._estimator._measured(u, y)
        return record


def _point(at: Mapping[str, float] | None) -> list[tuple[str, float]]:
    return [(str(name), float(value)) for name, value in (at or {}).items()]
