"""Looking at a fitted model as a control engineer does: ``model.analysis``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _intervalid
from ._views import (
    ChannelResponse,
    Correlation,
    CoverageGroup,
    Excitation,
    FitsAhead,
    FrequencyGap,
    FrequencyResponse,
    InputPart,
    Linearisation,
    LinearChannel,
    LinearIntervals,
    MeasuredResponse,
    NextRecording,
    OperatingPoint,
    Residuals,
    Response,
    ResponseOutput,
    StaticCurve,
    StaticOutput,
    WidthShares,
)
from .errors import OptionError, ShapeError

if TYPE_CHECKING:
    from ._arrays import ArrayLike
    from .record import Record

__all__ = [
    "Analysis",
    "ChannelResponse",
    "Correlation",
    "CoverageGroup",
    "Excitation",
    "FitsAhead",
    "FrequencyGap",
    "FrequencyResponse",
    "InputPart",
    "LinearChannel",
    "LinearIntervals",
    "Linearisation",
    "MeasuredResponse",
    "NextRecording",
    "OperatingPoint",
    "Residuals",
    "Response",
    "ResponseOutput",
    "StaticCurve",
    "StaticOutput",
    "WidthShares",
]


class Analysis:
    """Views of a fitted model, with the numbers of ``intervalid analyse`` and ``intervalid linearise``.

    ``at`` names the operating point by channel: ``{"valve": 0.4}`` looks for the steady state at that input, and other inputs stay at
    their training mean. With all outputs named too, that point is taken, steady or not.

    >>> from intervalid import ARX, load_data
    >>> dryer = load_data("hair-dryer")
    >>> model = ARX(lags=(2, 2, 3)).fit(dryer)
    >>> linear = model.analysis.linearise()
    >>> linear.A.shape, linear.is_stable
    ((7, 7), True)
    >>> step = model.analysis.step(amplitudes=[1.0])[0].outputs["y"]
    >>> bool(abs(step.gain - linear.channels["y", "u"].gain) < 0.01)
    True
    """

    def __init__(
        self, model: _intervalid.Model, measured: Callable[[Any, Any], tuple[_intervalid.Record, bool]]
    ) -> None:
        self._model = model
        self._measured = measured
        # Draws inside the margins take a while: views at one point share them.
        self._points: dict[tuple[tuple[str, float], ...], _intervalid.Linearisation] = {}

    def linearise(self, at: Mapping[str, float] | None = None) -> Linearisation:
        """A, B, C, D around a point in the units of the record, with intervals, poles, zeros and gains."""
        return Linearisation(self._linear(at))

    def frequency_response(
        self, u: ArrayLike | Record | None = None, y: ArrayLike | None = None, *, at: Mapping[str, float] | None = None
    ) -> FrequencyResponse:
        """Bode and Nyquist around a point with a band; with a recording, what it shows without a model."""
        return FrequencyResponse(self._linear(at).frequency_response(self._record(u, y)))

    def step(
        self, input: str | None = None, *, at: Mapping[str, float] | None = None, amplitudes: Sequence[float] = ()
    ) -> list[Response]:
        """Answers to steps of an input (the first unless it is named), one per amplitude in its unit, with the model's band.

        Without amplitudes: -1, ½, 1 and 2 standard deviations of the input.
        """
        return self._responses("steps", input, at, amplitudes)

    def impulse(
        self, input: str | None = None, *, at: Mapping[str, float] | None = None, amplitudes: Sequence[float] = ()
    ) -> list[Response]:
        """As :meth:`step`, with the input changed for one sample."""
        return self._responses("pulses", input, at, amplitudes)

    def static_curve(
        self, u: ArrayLike | Record | None = None, y: ArrayLike | None = None, *, input: str | None = None
    ) -> StaticCurve:
        """Where outputs come to rest over the range of an input: that of the recording, else the training mean ± 2 standard deviations."""
        return StaticCurve(_intervalid.static_curve(self._model, self._input(input), self._record(u, y)))

    def residuals(self, u: ArrayLike | Record, y: ArrayLike | None = None) -> dict[str, Residuals]:
        """Errors of the free run over a recording, by output: histogram, spectrum, correlations, coverage by time and level."""
        found = _intervalid.residuals(self._model, self._measured(u, y)[0])
        return {view["output"]: Residuals(view) for view in found}

    def fits_ahead(self, u: ArrayLike | Record, y: ArrayLike | None = None) -> FitsAhead:
        """Fits over a recording from one sample ahead of measurements to the free run."""
        return FitsAhead(_intervalid.fits_ahead(self._model, self._measured(u, y)[0]), self._names(self._model.outputs))

    def why_wide(self, u: ArrayLike | Record, y: ArrayLike | None = None) -> dict[str, WidthShares]:
        """What the band over a recording is made of, by output: shares at every sample, and in words."""
        found = _intervalid.width_shares(self._model, self._measured(u, y)[0])
        return {view["output"]: WidthShares(view) for view in found}

    def next_recording(
        self,
        u: ArrayLike | Record,
        y: ArrayLike | None = None,
        *,
        at: Mapping[str, float] | None = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
    ) -> NextRecording:
        """Levels of the inputs and frequencies that a recording hardly shows. ``limits`` of inputs, by name, default to its range."""
        return NextRecording(self._linear(at).next_recording(self._measured(u, y)[0], _limits(limits)))

    def excitation(
        self,
        u: ArrayLike | Record | None = None,
        y: ArrayLike | None = None,
        *,
        at: Mapping[str, float] | None = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
        samples: int | None = None,
    ) -> Excitation:
        """Proposed inputs of the next recording: steps, those that a recording lacks first, then sines.

        Look at them before a plant does: nobody but you knows how fast its valves may move.
        """
        view = self._linear(at).excitation(self._record(u, y), _limits(limits), samples)
        return Excitation(view, self._names(self._model.inputs))

    def __repr__(self) -> str:
        return f"Analysis({', '.join(self._names(self._model.outputs))} from {', '.join(self._names(self._model.inputs))})"

    def _linear(self, at: Mapping[str, float] | None) -> _intervalid.Linearisation:
        point = tuple((str(name), float(value)) for name, value in (at or {}).items())
        if point not in self._points:
            self._points[point] = _intervalid.Linearisation(self._model, list(point))
        return self._points[point]

    def _responses(
        self, kind: str, input: str | None, at: Mapping[str, float] | None, amplitudes: Sequence[float]
    ) -> list[Response]:
        view = self._linear(at).responses(self._input(input), [float(amplitude) for amplitude in amplitudes])
        return [Response(view, response) for response in view[kind]]

    def _input(self, name: str | None) -> int:
        names = self._names(self._model.inputs)
        if name is None:
            return 0
        if name not in names:
            raise OptionError(f"the model has no input '{name}': expected one of {', '.join(names)}")
        return names.index(name)

    def _record(self, u: ArrayLike | Record | None, y: ArrayLike | None) -> _intervalid.Record | None:
        return None if u is None and y is None else self._measured(u, y)[0]

    @staticmethod
    def _names(channels: Sequence[tuple[str, str | None]]) -> list[str]:
        return [name for name, _ in channels]


def _limits(limits: Mapping[str, tuple[float, float]] | None) -> list[tuple[str, tuple[float, float]]]:
    found = []
    for name, ends in (limits or {}).items():
        try:
            least, greatest = ends
        except (TypeError, ValueError) as error:
            raise ShapeError(f"limits of '{name}': expected (least, greatest), found {ends!r}") from error
        found.append((str(name), (float(least), float(greatest))))
    return found
