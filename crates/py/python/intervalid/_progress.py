"""Progress bars and callbacks."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol


class _Display(Protocol):
    def show(self, share: float, event: dict[str, Any]) -> None: ...

    def close(self, *, whole: bool) -> None: ...


class Observer:
    """Told of every epoch; true answers of callbacks end training."""

    def __init__(self, name: str, verbose: bool | int, callbacks: Sequence[Callable[[dict[str, Any]], bool | None]]) -> None:
        self._callbacks = (callbacks,) if callable(callbacks) else tuple(callbacks or ())
        self._display: _Display | None = _display(name) if verbose else None

    @property
    def is_needed(self) -> bool:
        """Whether anybody listens."""
        return bool(self._callbacks) or self._display is not None

    def __call__(self, event: dict[str, Any]) -> bool:
        if self._display is not None:
            is_search = event["stage"] == "search"
            self._display.show(event["share"] if is_search else event["epochs_done"] / event["epochs_total"], event)
        # All of them hear of every epoch, whatever the others say.
        return any([bool(callback(event)) for callback in self._callbacks])

    def close(self, *, whole: bool) -> None:
        """The fit is over; `whole` if nothing broke it off."""
        if self._display is not None:
            self._display.close(whole=whole)


def _display(name: str) -> _Display:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Lines(name)
    return _Bar(name, tqdm)


class _Bar:
    """A bar of tqdm, in a terminal or a notebook."""

    def __init__(self, name: str, tqdm: Any) -> None:
        self._name, self._tqdm, self._bar = name, tqdm, None

    def show(self, share: float, event: dict[str, Any]) -> None:
        if self._bar is None:
            unit = "%" if event["stage"] == "search" else "epoch"
            self._bar = self._tqdm(total=100 if unit == "%" else event["epochs_total"], desc=self._name, unit=unit)
        bar: Any = self._bar
        bar.set_postfix_str(_words(event), refresh=False)
        bar.total = event.get("epochs_total", 100)
        bar.update(event.get("epochs_done", int(100 * share)) - bar.n)

    def close(self, *, whole: bool) -> None:
        bar: Any = self._bar
        if bar is not None:
            if whole:
                bar.update(bar.total - bar.n)
            bar.close()


class _Lines:
    """Without tqdm: a line for every tenth of the work."""

    def __init__(self, name: str) -> None:
        self._name, self._shown = name, -1

    def show(self, share: float, event: dict[str, Any]) -> None:
        if int(10 * share) > self._shown:
            self._shown = int(10 * share)
            print(f"{self._name}: {10 * self._shown:3d} %, {_words(event)}", file=sys.stderr)

    def close(self, *, whole: bool) -> None:
        if whole and self._shown < 10:
            print(f"{self._name}: 100 %", file=sys.stderr)


def _words(event: dict[str, Any]) -> str:
    if event["stage"] == "search":
        return str(event["step"])
    band = event["validation_band"]
    text = "" if math.isnan(band) else f", band {band:.4f}"
    return f"{event['stage']}: loss {event['validation_mse']:.4f}{text}"
