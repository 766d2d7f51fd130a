"""A prediction in a notebook: a small drawing of the band, and a table of its first rows."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .prediction import Prediction

_WIDTH, _HEIGHT = 480, 90
#: More points than pixels make the drawing no finer.
_POINTS = 480
_ROWS = 5


def prediction_html(prediction: Prediction) -> str:
    """What a notebook shows."""
    parts = [f"<p><code>{html.escape(repr(prediction))}</code></p>"]
    for name in prediction.outputs:
        one = prediction[name]
        unit = f" [{one.units[0]}]" if one.units and one.units[0] else ""
        parts.append(f"<p>{html.escape(name + unit)}</p>{_drawing(one)}{_table(one)}")
    return "".join(parts)


def _drawing(one: Prediction) -> str:
    """Band and point prediction, drawn in the colour of the text so that it shows on a dark page too."""
    lower, mean, upper = (np.asarray(values, dtype=np.float64) for values in (one.lower, one.mean, one.upper))
    finite = np.isfinite(lower) & np.isfinite(mean) & np.isfinite(upper)
    if np.count_nonzero(finite) < 2:
        return ""
    rows = np.flatnonzero(finite)
    # Of several rows that share a pixel the band is that of all of them.
    groups = [group for group in np.array_split(rows, min(len(rows), _POINTS)) if len(group)]
    low = np.array([lower[group].min() for group in groups])
    high = np.array([upper[group].max() for group in groups])
    middle = np.array([mean[group].mean() for group in groups])
    least, span = float(low.min()), float(high.max() - low.min()) or 1.0
    x = np.linspace(0.0, _WIDTH, len(groups))

    def points(values: npt.NDArray[np.float64]) -> list[str]:
        y = (_HEIGHT - 4) * (1.0 - (values - least) / span) + 2
        return [f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True)]

    band = " ".join(points(high) + points(low)[::-1])
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="band from {least:.4g} to {least + span:.4g}">'
        f'<polygon points="{band}" fill="currentColor" opacity="0.2"/>'
        f'<polyline points="{" ".join(points(middle))}" fill="none" stroke="currentColor"/></svg>'
    )


def _table(one: Prediction) -> str:
    first = one.predicted[:_ROWS]
    head = "".join(f"<th>{title}</th>" for title in ("row", "lower", "prediction", "upper"))
    rows = "".join(
        f"<tr><td>{position}</td><td>{low:.4g}</td><td>{mean:.4g}</td><td>{high:.4g}</td></tr>"
        for position, low, mean, high in zip(first.positions, first.lower, first.mean, first.upper, strict=True)
    )
    more = max(len(one.predicted) - _ROWS, 0)
    rest = f"<caption>and {more} more rows</caption>" if more else ""
    return f"<table>{rest}<tr>{head}</tr>{rows}</table>"
