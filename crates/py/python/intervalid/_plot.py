"""Pictures of predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import MissingDependencyError

if TYPE_CHECKING:
    from .prediction import Floats, Prediction

# The colours of the reports.
_BAND = "#9ecae1"
_MEAN = "#08519c"
_MEASURED = "#333333"
_OUTSIDE = "#cb181d"


def plot(prediction: Prediction, measured: Floats | None, ax: Any, title: str | None) -> Any:
    """One panel per output."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError("plot needs matplotlib: pip install matplotlib") from error
    count = len(prediction.outputs)
    if ax is None:
        _, axes = plt.subplots(count, 1, figsize=(9, 1 + 2.6 * count), sharex=True, squeeze=False, layout="constrained")
        panels = list(axes[:, 0])
    else:
        panels = list(np.ravel(ax))
        if len(panels) != count:
            raise ValueError(f"ax has {len(panels)} panels, expected {count}: one per output")
    for number, panel in enumerate(panels):
        one = prediction[prediction.outputs[number]]
        column = measured if measured is None or measured.ndim == 1 else measured[:, number]
        _panel(panel, one, column)
    if title is not None:
        panels[0].set_title(title, loc="left")
    # Above the panel: inside it would hide part of the record.
    panels[0].legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, fontsize="small", frameon=False, borderaxespad=0.3)
    if prediction.index is not None:
        panels[-1].set_xlabel(prediction.index.name or "")
    else:
        panels[-1].set_xlabel("time (s)" if prediction.sample_time else "sample")
    return panels[0] if count == 1 else panels


def _panel(panel: Any, one: Prediction, measured: Floats | None) -> None:
    if one.index is not None:
        x: Any = np.asarray(one.index)
    else:
        x = one.positions * (one.sample_time or 1.0)
    label = f"{100 * one.coverage:g} % interval"
    panel.fill_between(x, one.lower, one.upper, color=_BAND, alpha=0.6, linewidth=0, label=label)
    panel.plot(x, one.mean, color=_MEAN, linewidth=1.2, label="simulated")
    if measured is not None:
        panel.plot(x, measured, color=_MEASURED, linewidth=0.8, label="measured")
        outside = (measured < one.lower) | (measured > one.upper)
        if outside.any():
            panel.plot(x[outside], measured[outside], ".", color=_OUTSIDE, markersize=3, label="outside")
    unit = one.units[0] if one.units else None
    panel.set_ylabel(one.outputs[0] if unit is None else f"{one.outputs[0]} ({unit})")
    panel.margins(x=0.01)
    panel.grid(alpha=0.25)
