"""What the views of an analysis hold: arrays in the units of the record."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _intervalid
from .errors import OptionError

Array = npt.NDArray[np.float64]
ComplexArray = npt.NDArray[np.complex128]


def _array(values: Any) -> Array:
    """Numbers, NaN where there are none."""
    return np.array(values, dtype=np.float64)


def _pair(values: Any) -> tuple[Array, Array]:
    return _array(values[0]), _array(values[1])


def _places(values: Any) -> ComplexArray:
    return np.array([complex(place["re"], place["im"]) for place in values], dtype=np.complex128)


class OperatingPoint:
    """Where a model was looked at."""

    def __init__(self, view: dict[str, Any], inputs: list[str], outputs: list[str]) -> None:
        point = view["operating_point"]
        #: Value of every input, by name.
        self.inputs: dict[str, float] = dict(zip(inputs, point["inputs"], strict=True))
        #: Value of every output.
        self.outputs: dict[str, float] = dict(zip(outputs, point["outputs"], strict=True))
        #: Whether a free run stays here.
        self.is_steady: bool = point["is_steady"]
        #: How far each output moves in the next sample.
        self.drift: dict[str, float] = dict(zip(outputs, point["drift"], strict=True))
        #: Whether it lies outside the region of the training data; None where the model does not know that region.
        self.is_extrapolated: bool | None = point["is_extrapolated"]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.5g}" for name, value in {**self.inputs, **self.outputs}.items())
        return f"OperatingPoint({values}, {'steady' if self.is_steady else 'not steady'})"


class LinearChannel:
    """One input to one output of a linear system."""

    def __init__(self, view: dict[str, Any]) -> None:
        #: Samples before a change of the input is seen.
        self.delay: int = view["delay"]
        #: Change of the output at rest per unit of the input; None where a pole at one leaves no rest.
        self.gain: float | None = view["gain"]
        #: Least and greatest gain of the members and of draws inside the margins; None where the model has neither.
        self.gain_range: tuple[float, float] | None = None if view["gain_range"] is None else tuple(view["gain_range"])
        #: Zeros of the transfer function.
        self.zeros: ComplexArray = _places(view["zeros"])


class LinearIntervals:
    """Element by element the least and the greatest value that the model allows for: pairs (lower, upper) of matrices."""

    def __init__(self, view: dict[str, Any]) -> None:
        #: ``margins``, ``members`` or ``members and margins``: what says so.
        self.source: str = view["from"]
        #: Draws inside the margins, and those with all poles inside the unit circle.
        self.samples: int = view["samples"]
        self.stable_samples: int = view["stable_samples"]
        self.A, self.B, self.C, self.D = (_pair(view[name]) for name in "abcd")


class Linearisation:
    """x(k+1) = A·x(k) + B·u(k), ŷ(k) = C·x(k) + D·u(k), all of them deviations from the operating point."""

    def __init__(self, linear: _intervalid.Linearisation) -> None:
        self._linear = linear
        view = linear.view()
        inputs, outputs = ([channel["name"] for channel in view[side]] for side in ("inputs", "outputs"))
        #: Names of the channels and of the states, in the order of the matrices.
        self.inputs: list[str] = inputs
        self.outputs: list[str] = outputs
        self.states: list[str] = view["states"]
        #: The matrices, in the units of the record.
        self.A: Array = _array(view["a"]).reshape(len(self.states), len(self.states))
        self.B: Array = _array(view["b"]).reshape(len(self.states), len(inputs))
        self.C: Array = _array(view["c"]).reshape(len(outputs), len(self.states))
        self.D: Array = _array(view["d"]).reshape(len(outputs), len(inputs))
        #: Seconds between samples; None where that is not known.
        self.sample_time: float | None = view["sample_time"]
        #: What times are in: ``s`` or ``samples``.
        self.time_unit: str = view["time_unit"]
        self.operating_point = OperatingPoint(view, inputs, outputs)
        #: Poles of every member, largest first, without those of remembered inputs.
        self.poles: ComplexArray = _places(view["poles"])
        #: One number per pole: time in which its answer falls to 1/e, damping, and |ln z|/T; NaN where it has none.
        self.time_constants: Array = _array([pole["time_constant"] for pole in view["poles"]])
        self.damping: Array = _array([pole["damping"] for pole in view["poles"]])
        self.natural_frequencies: Array = _array([pole["natural_frequency"] for pole in view["poles"]])
        self.is_stable: bool = view["is_stable"]
        #: By (output, input).
        self.channels: dict[tuple[str, str], LinearChannel] = {
            (channel["output"], channel["input"]): LinearChannel(channel) for channel in view["channels"]
        }
        #: How far the matrices may be off; None where the model says nothing about its parameters.
        self.intervals: LinearIntervals | None = None if view["intervals"] is None else LinearIntervals(view["intervals"])
        #: What to know before using it.
        self.notes: list[str] = view["notes"]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the system: ``.mat`` for MATLAB and Octave, ``.py`` for the package control, or ``.json``."""
        if not self._linear.save(path):
            raise OptionError(f"'{os.fspath(path)}': expected a name that ends in .json, .mat or .py")

    def __repr__(self) -> str:
        kind = "stable" if self.is_stable else "unstable"
        return f"Linearisation({len(self.states)} states, {kind}, at {self.operating_point!r})"


class MeasuredResponse:
    """What a recording shows without a model (Welch's estimate)."""

    def __init__(self, view: dict[str, Any]) -> None:
        self.frequency: Array = _array(view["frequency"])
        self.magnitude: Array = _array(view["magnitude"])
        #: Degrees.
        self.phase: Array = _array(view["phase"])
        #: Near one where the recording shows what the inputs do.
        self.coherence: Array = _array(view["coherence"])
        #: Of the magnitude, relative.
        self.deviation: Array = _array(view["deviation"])
        #: Pieces of the recording that were averaged.
        self.pieces: int = view["pieces"]


class ChannelResponse:
    """Frequency response of one input to one output."""

    def __init__(self, view: dict[str, Any]) -> None:
        #: |G| in output units per input unit.
        self.magnitude: Array = _array(view["magnitude"])
        #: Degrees, unwrapped.
        self.phase: Array = _array(view["phase"])
        #: G itself, Nyquist's curve.
        self.response: ComplexArray = _array(view["real"]) + 1j * _array(view["imaginary"])
        band = view["band"]
        #: (lower, upper) over members and draws inside the margins; None where the model has neither.
        self.magnitude_band: tuple[Array, Array] | None = None if band is None else _pair(band["magnitude"])
        self.phase_band: tuple[Array, Array] | None = None if band is None else _pair(band["phase"])
        certified = view["certified"]
        #: (lower, upper) that are proven of every model inside the margins; NaN at frequencies where nothing is, None where the model has
        #: neither margins nor members.
        self.proven_magnitude: tuple[Array, Array] | None = None if certified is None else _pair(certified["magnitude"])
        self.proven_phase: tuple[Array, Array] | None = None if certified is None else _pair(certified["phase"])
        #: What a recording shows; None without one.
        self.measured: MeasuredResponse | None = None if view["measured"] is None else MeasuredResponse(view["measured"])


class FrequencyResponse:
    """How a model answers sines around a point."""

    def __init__(self, view: dict[str, Any]) -> None:
        #: ``Hz``, or ``cycles/sample`` where the sample time is not known.
        self.unit: str = view["frequency_unit"]
        #: From slow to the Nyquist frequency.
        self.frequency: Array = _array(view["frequency"])
        #: By (output, input).
        self.channels: dict[tuple[str, str], ChannelResponse] = {
            (channel["output"], channel["input"]): ChannelResponse(channel) for channel in view["channels"]
        }

    def __repr__(self) -> str:
        return f"FrequencyResponse({self.frequency[0]:.3g} to {self.frequency[-1]:.3g} {self.unit}, {len(self.channels)} channels)"


class ResponseOutput:
    """One output after a change of an input."""

    def __init__(self, view: dict[str, Any]) -> None:
        #: Where it stood before.
        self.rest: float = view["rest"]
        #: ŷ and its band, as a simulation gives them.
        self.mean: Array = _array(view["y"])
        self.lower: Array = _array(view["lower"])
        self.upper: Array = _array(view["upper"])
        #: (least, greatest) of the members; None of a single one.
        self.members: tuple[Array, Array] | None = None if view["members"] is None else _pair(view["members"])
        figures = view["figures"] or {}
        #: Of a step: change at the end per unit of the input; None where the input does not reach this output.
        self.gain: float | None = figures.get("gain")
        #: From 10 to 90 % of the change, and until it stays within 2 % of it; None where it does not get that far.
        self.rise_time: float | None = figures.get("rise_time")
        self.settling_time: float | None = figures.get("settling_time")
        #: Beyond the end, in percent of the change.
        self.overshoot: float | None = figures.get("overshoot")


class Response:
    """Answers to one change of an input."""

    def __init__(self, view: dict[str, Any], response: dict[str, Any]) -> None:
        #: The input that changes, and by how much.
        self.input: str = view["input"]
        self.amplitude: float = response["amplitude"]
        #: From the change on, in ``time_unit``.
        self.time: Array = _array(view["time"])
        self.time_unit: str = view["time_unit"]
        #: By name.
        self.outputs: dict[str, ResponseOutput] = {output["output"]: ResponseOutput(output) for output in response["outputs"]}

    def __repr__(self) -> str:
        return f"Response({self.input} by {self.amplitude:g}, {len(self.time)} samples of {', '.join(self.outputs)})"


class StaticOutput:
    """One output at rest; NaN where the model has no steady state."""

    def __init__(self, view: dict[str, Any]) -> None:
        self.mean: Array = _array(view["y"])
        self.lower: Array = _array(view["lower"])
        self.upper: Array = _array(view["upper"])
        #: Slope: change of ŷ at rest per unit of the input.
        self.gain: Array = _array(view["gain"])


class StaticCurve:
    """Where outputs come to rest for every value of an input."""

    def __init__(self, view: dict[str, Any]) -> None:
        self.input: str = view["input"]
        #: What the range is: ``data``, or ``training mean ± 2 standard deviations``.
        self.range: str = view["range"]
        #: Values of the input.
        self.u: Array = _array(view["u"])
        #: Where the other inputs stay.
        self.others: dict[str, float] = {held["input"]: held["value"] for held in view["others"]}
        #: By name.
        self.outputs: dict[str, StaticOutput] = {output["output"]: StaticOutput(output) for output in view["outputs"]}

    def __repr__(self) -> str:
        return f"StaticCurve({self.input} from {self.u[0]:.4g} to {self.u[-1]:.4g}, {', '.join(self.outputs)})"


class Correlation:
    """Correlations by lag."""

    def __init__(self, view: dict[str, Any]) -> None:
        self.values: Array = _array(view["values"])
        #: In samples; negative where the input comes after the error.
        self.lags: npt.NDArray[np.int64] = view["first"] + np.arange(len(self.values), dtype=np.int64)
        #: 95 % of the correlations of independent signals are nearer to zero.
        self.bound: float = view["bound"]


class CoverageGroup:
    """Samples of a group, and the share inside the band."""

    def __init__(self, view: dict[str, Any]) -> None:
        #: Where the group begins and ends: samples, counted from 1, or values.
        self.start: float = view["from"]
        self.end: float = view["to"]
        self.n: int = view["n"]
        #: Share inside the band and its mean width; None of an empty group.
        self.inside: float | None = view["inside"]
        self.width: float | None = view["width"]


class Residuals:
    """Errors of one output, measured less simulated."""

    def __init__(self, view: dict[str, Any]) -> None:
        self.output: str = view["output"]
        self.mean: float = view["mean"]
        self.std: float = view["std"]
        #: In the order of time, runs one after the other; ``measured`` and ``simulated`` in step with them.
        self.errors: Array = _array(view["errors"])
        self.measured: Array = _array(view["measured"])
        self.simulated: Array = _array(view["simulated"])
        #: Middle of each bar, its share per unit, and that of the normal curve with the same mean and deviation.
        self.histogram_middle: Array = _array(view["histogram"]["middle"])
        self.histogram_density: Array = _array(view["histogram"]["density"])
        self.histogram_normal: Array = _array(view["histogram"]["normal"])
        spectrum = view["spectrum"]
        #: (cycles per sample, power); None of short recordings.
        self.spectrum: tuple[Array, Array] | None = (
            None if spectrum is None else (_array(spectrum["frequency"]), _array(spectrum["power"]))
        )
        self.autocorrelation = Correlation(view["autocorrelation"])
        #: With each input, by name.
        self.cross: dict[str, Correlation] = {cross["input"]: Correlation(cross) for cross in view["cross"]}
        #: Coverage along the record, and by the simulated output from its smallest to its largest values.
        self.by_time: list[CoverageGroup] = [CoverageGroup(group) for group in view["by_time"]]
        self.by_amplitude: list[CoverageGroup] = [CoverageGroup(group) for group in view["by_amplitude"]]
        #: Inside the region of the training data and outside it; None where the model does not know it.
        self.by_region: tuple[CoverageGroup, CoverageGroup] | None = (
            None if view["by_region"] is None else (CoverageGroup(view["by_region"][0]), CoverageGroup(view["by_region"][1]))
        )

    def __repr__(self) -> str:
        return f"Residuals({len(self.errors)} samples of '{self.output}', mean {self.mean:.4g}, std {self.std:.4g})"


class FitsAhead:
    """How well predictions so many samples ahead fit."""

    def __init__(self, view: list[dict[str, Any]], outputs: list[str]) -> None:
        #: Samples ahead, the free run last as infinity.
        self.horizons: Array = _array([np.inf if fit["horizon"] is None else fit["horizon"] for fit in view])
        rows = _array([fit["fit_percent"] for fit in view]).reshape(len(view), len(outputs))
        #: Percent by output: 100 is perfect, 0 no better than the mean.
        self.fit_percent: dict[str, Array] = {name: rows[:, index] for index, name in enumerate(outputs)}


class WidthShares:
    """Where the width of one output's band comes from."""

    def __init__(self, view: dict[str, Any]) -> None:
        self.output: str = view["output"]
        #: Samples that were taken apart, counted from 1 over all runs.
        self.sample: npt.NDArray[np.int64] = np.array(view["sample"], dtype=np.int64)
        #: Half the width of the band there.
        self.half_width: Array = _array(view["half_width"])
        #: Whether the sample is outside the region of the training data; None where the model does not know it.
        self.extrapolated: npt.NDArray[np.bool_] | None = (
            None if view["extrapolated"] is None else np.array(view["extrapolated"], dtype=np.bool_)
        )
        #: Share of every part at each sample, the largest part first; at every sample they add up to one.
        self.shares: dict[str, Array] = {part["name"]: _array(part["share"]) for part in view["parts"]}
        #: Mean share of every part, over all samples and over the widest tenth.
        self.mean: dict[str, float] = {part["name"]: part["mean"] for part in view["parts"]}
        self.where_wide: dict[str, float] = {part["name"]: part["where_wide"] for part in view["parts"]}
        #: By how much the calibration scales every part; 1 without one.
        self.calibration: float = view["calibration"]
        #: In a sentence.
        self.words: str = view["words"]

    def __repr__(self) -> str:
        return f"WidthShares({self.words})"


class InputPart:
    """A part of an input's range."""

    def __init__(self, view: dict[str, Any]) -> None:
        self.start: float = view["from"]
        self.end: float = view["to"]
        #: Share of the samples.
        self.share: float = view["share"]
        #: Mean width of the band there as a multiple of its median; None where nothing was simulated.
        self.width: float | None = view["width"]
        self.is_rare: bool = view["is_rare"]
        self.is_wide: bool = view["is_wide"]


class FrequencyGap:
    """A stretch of frequency that matters and was hardly seen."""

    def __init__(self, view: dict[str, Any]) -> None:
        self.output: str = view["output"]
        self.start: float = view["from"]
        self.end: float = view["to"]
        self.coherence: float = view["coherence"]


class NextRecording:
    """What a recording leaves open."""

    def __init__(self, view: dict[str, Any]) -> None:
        #: Parts of the range of every input, by name.
        self.inputs: dict[str, list[InputPart]] = {
            coverage["input"]: [InputPart(part) for part in coverage["parts"]] for coverage in view["inputs"]
        }
        self.frequencies: list[FrequencyGap] = [FrequencyGap(gap) for gap in view["frequencies"]]
        #: The same in sentences.
        self.words: list[str] = view["words"]

    def __repr__(self) -> str:
        return f"NextRecording({' '.join(self.words)})"


class Excitation:
    """Proposed inputs of the next recording."""

    def __init__(self, view: dict[str, Any], inputs: list[str]) -> None:
        #: Names of the columns.
        self.inputs = inputs
        #: One row per sample, one column per input, within the limits.
        self.u: Array = np.column_stack([_array(column) for column in view["columns"]])
        #: How many samples at the start are steps; sines follow.
        self.steps: int = view["steps"]
        #: In sentences.
        self.words: list[str] = view["words"]

    def __repr__(self) -> str:
        return f"Excitation({len(self.u)} samples of {', '.join(self.inputs)})"
