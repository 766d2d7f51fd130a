"""Progress bars and callbacks."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any


def observer(
    name: str, verbose: bool | int, callbacks: Sequence[Callable[[dict[str, Any]], bool | None]] | Any
) -> Callable[[dict[str, Any]], bool] | None:
    """What is told of every epoch; None where nobody listens."""
    if callable(callbacks):
        callbacks = (callbacks,)
    listeners = tuple(callbacks or ())
    if not verbose and not listeners:
        return None
    bar = _bar(name) if verbose else None

    def observe(event: dict[str, Any]) -> bool:
        if bar is not None:
            bar(event)
        # All of them hear of every epoch, whatever the others say.
        return any([bool(listener(event)) for listener in listeners])

    return observe


def _bar(name: str) -> Callable[[dict[str, Any]], None]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _lines(name)
    bar: Any = None

    def show(event: dict[str, Any]) -> None:
        nonlocal bar
        if bar is None:
            total = 100 if event["stage"] == "search" else event["epochs_total"]
            unit = "%" if event["stage"] == "search" else "epoch"
            bar = tqdm(total=total, desc=name, unit=unit, leave=True)
        if event["stage"] == "search":
            bar.set_postfix_str(event["step"], refresh=False)
            bar.update(int(100 * event["share"]) - bar.n)
        else:
            bar.total = event["epochs_total"]
            bar.set_postfix_str(_losses(event), refresh=False)
            bar.update(event["epochs_done"] - bar.n)
        if bar.n >= bar.total:
            bar.close()

    return show


def _lines(name: str) -> Callable[[dict[str, Any]], None]:
    """Without tqdm: a line for every tenth of the work."""
    shown = -1

    def show(event: dict[str, Any]) -> None:
        nonlocal shown
        is_search = event["stage"] == "search"
        share = event["share"] if is_search else event["epochs_done"] / event["epochs_total"]
        if int(10 * share) > shown:
            shown = int(10 * share)
            print(f"{name}: {10 * shown:3d} %, {event['step'] if is_search else _losses(event)}", file=sys.stderr)

    return show


def _losses(event: dict[str, Any]) -> str:
    band = event["validation_band"]
    text = "" if math.isnan(band) else f", band {band:.4f}"
    return f"{event['stage']}: loss {event['validation_mse']:.4f}{text}"
