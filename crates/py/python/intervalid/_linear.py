"""The linear model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._base import Callback, Estimator


class ARX(Estimator):
    """Linear ARX model by least squares, with a band of constant width from its simulation errors.

    The model to beat first: it takes milliseconds. ``lags=None`` searches them. See :class:`IntervalNODE` for the parameters and
    methods that all models share.

    >>> from intervalid import ARX, load_data
    >>> dryer = load_data("hair-dryer")
    >>> model = ARX(split=(0.4, 0.1, 0.5)).fit(dryer)
    >>> model.lags_
    (1, 3, 3)
    >>> round(model.result_["test"]["fit_percent"], 1)
    83.6
    """

    _kinds = ("arx",)

    def __init__(
        self,
        *,
        lags: tuple[int, int, int] | str | None = None,
        initial: str | None = None,
        coverage: float | Sequence[float] = 0.9,
        output_range: Mapping[str, Any] | None = None,
        detrend: Sequence[str] | None = None,
        fill_gaps: int | None = None,
        clip_spikes: float | Mapping[str, float] | None = None,
        decimate: int | None = None,
        lag_search: bool | None = None,
        seed: int = 1,
        random_state: int | None = None,
        calibrate: bool = False,
        split: tuple[float, float, float] = (0.6, 0.1, 0.3),
        n_jobs: int | None = None,
        verbose: bool | int = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.lags = lags
        self.initial = initial
        self.coverage = coverage
        self.output_range = output_range
        self.detrend = detrend
        self.fill_gaps = fill_gaps
        self.clip_spikes = clip_spikes
        self.decimate = decimate
        self.lag_search = lag_search
        self.seed = seed
        self.random_state = random_state
        self.calibrate = calibrate
        self.split = split
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks
