"""The model that a search finds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._base import Callback, Estimator, read_model


class AutoModel(Estimator):
    """The best model that a search finds for a record, with a band calibrated on held-out blocks.

    What ``intervalid fit`` does without settings: it tries linear models and networks, with and without hidden states, on data
    that they have not seen, fits the best again and scales its band to what those data showed. That takes up to two minutes on two
    cores where networks are worth it. ``search_`` says what was tried and why it chose.

    Parameters
    ----------
    model : "arx", "inode", "iss" or "ilstm"
        Search only models of this kind; None searches all.
    lags : (n_x, n_d, n_y)
        Only these lags; None searches them.
    states : int
        Only state-space models of so many states; None searches them.
    hidden : (int, int) or int
        Only these units in the state map and the output map of state-space models; 0 is a linear one. None searches them.
    initial : "zero", "measured", "warmup:N" or "history:N"
        What a simulation knows of the outputs at its start; None is "measured", "warmup:20" for "ilstm", and as much history as
        helps for "iss".
    coverage : float or sequence of float
        Share of the samples that the band should hold. Several give bands inside one another, of which 0.9 (or the first) is what
        the model is trained for and judged by; :meth:`predict` takes others, too.
    together : bool
        Whether the coverage is that of all outputs together: a sample is inside if every output is.
    output_range : mapping
        Physical limits by output, such as ``{"level": (0, 10)}``, which predictions and bands do not leave; None for an end that
        has none. Samples to train on beyond them are refused.
    detrend : list of str
        Channels that drift: a straight line through the training part is taken out of them, and put back into predictions.
    fill_gaps, clip_spikes, decimate
        What is done to the data first, as :func:`load_data` does it: samples of a gap to fill, standard deviations that make a spike
        (for all outputs, or by channel), samples that become one. Later data are then given as they were measured, and made alike.
    rounds : int
        Most rounds, 0 to 1000; fewer are faster. None lets the search end when its work is done or nothing more is gained.
    budget : float
        Most seconds that the search may take; the result then depends on the machine.
    precision, seed, split, n_jobs, verbose, callbacks
        As in :class:`IntervalNODE`; the search uses ``n_jobs`` threads. Callbacks are told ``step`` and ``share``. A search that
        is interrupted keeps the best linear model, as soon as there is one.

    >>> from intervalid import AutoModel, load_data
    >>> dryer = load_data("hair-dryer")
    >>> model = AutoModel(model="arx").fit(dryer[:500])
    >>> nx, nd, ny = model.lags_
    >>> model.config_["model"], model.initial_outputs_ == max(ny, nd + nx)
    ('arx', True)
    """

    _kinds = ("arx", "inode", "iss", "ilstm")
    _is_search = True

    def __init__(
        self,
        *,
        model: str | None = None,
        lags: tuple[int, int, int] | str | None = None,
        states: int | None = None,
        hidden: tuple[int, int] | int | None = None,
        initial: str | None = None,
        coverage: float | Sequence[float] = 0.9,
        together: bool = False,
        output_range: Mapping[str, Any] | None = None,
        detrend: Sequence[str] | None = None,
        fill_gaps: int | None = None,
        clip_spikes: float | Mapping[str, float] | None = None,
        decimate: int | None = None,
        rounds: int | None = None,
        budget: float | None = None,
        precision: str = "f32",
        seed: int = 1,
        random_state: int | None = None,
        split: tuple[float, float, float] = (0.6, 0.1, 0.3),
        n_jobs: int | None = None,
        verbose: bool | int = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.model = model
        self.lags = lags
        self.states = states
        self.hidden = hidden
        self.initial = initial
        self.coverage = coverage
        self.together = together
        self.output_range = output_range
        self.detrend = detrend
        self.fill_gaps = fill_gaps
        self.clip_spikes = clip_spikes
        self.decimate = decimate
        self.rounds = rounds
        self.budget = budget
        self.precision = precision
        self.seed = seed
        self.random_state = random_state
        self.split = split
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> AutoModel:
        """Reads a model file of a search, or the one in a folder that ``intervalid fit`` wrote."""
        return cls._from_model(read_model(path))
