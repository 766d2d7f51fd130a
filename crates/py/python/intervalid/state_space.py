"""The state-space model as an estimator."""

from __future__ import annotations

from collections.abc import Sequence

from ._base import Callback, Estimator


class IntervalStateSpace(Estimator):
    """Interval neural state-space model, for plants whose state does not show in a few past outputs.

    x(k+1) = A x(k) + B u(k) + W2 tanh(W1 [x; u] + b1) + b_x and the like for the output, with an interval around every
    parameter. Its state at the start of a simulation comes from measured history, through an observer that is fitted with it.

    This class trains one model with the settings given. ``AutoModel(model="iss")`` searches sizes, starts and penalties, and is
    what to use unless you want a particular one.

    Parameters
    ----------
    states : int
        Number of states.
    hidden : (int, int) or int
        Units of the networks in the state map and in the output map; 0 leaves a map linear.
    lags : (1, n_d, 1)
        Only the dead time n_d is free: the states remember the rest.
    initial : "history:N", "warmup:N" or "zero"
        Where the state comes from: N measured samples before the simulation, its first N samples, or nothing but one output.

    All others are those of :class:`IntervalNODE`.

    >>> from intervalid import IntervalStateSpace
    >>> IntervalStateSpace(states=3, hidden=(8, 0))
    IntervalStateSpace(states=3, hidden=(8, 0))
    """

    _kinds = ("iss",)

    def __init__(
        self,
        *,
        strategy: str = "cascade",
        margin: str = "abs",
        lags: tuple[int, int, int] | str | None = None,
        states: int | None = None,
        hidden: Sequence[int] | int | None = None,
        initial: str | None = None,
        coverage: float = 0.9,
        epochs: int | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        schedule: str | None = None,
        window: tuple[int, int] | None = None,
        patience: int | None = None,
        gradient_clip: float | None = None,
        weight_decay: float | None = None,
        averaging: float | None = None,
        width_penalty: float | None = None,
        level: str | None = None,
        margin_hidden: float | None = None,
        margin_output: float | None = None,
        margin_floor: float | None = None,
        margin_epochs: int | None = None,
        margin_batch: int | None = None,
        margin_rate: float | None = None,
        margin_schedule: str | None = None,
        miss_factor: float | None = None,
        weight_noise: float | None = None,
        gradnorm_beta: float | None = None,
        gradnorm_rate: float | None = None,
        lag_search: bool | None = None,
        precision: str = "f32",
        seed: int = 1,
        calibrate: bool = False,
        split: tuple[float, float, float] = (0.8, 0.2, 0.0),
        n_jobs: int | None = None,
        verbose: bool | int = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.strategy = strategy
        self.margin = margin
        self.lags = lags
        self.states = states
        self.hidden = hidden
        self.initial = initial
        self.coverage = coverage
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.window = window
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.weight_decay = weight_decay
        self.averaging = averaging
        self.width_penalty = width_penalty
        self.level = level
        self.margin_hidden = margin_hidden
        self.margin_output = margin_output
        self.margin_floor = margin_floor
        self.margin_epochs = margin_epochs
        self.margin_batch = margin_batch
        self.margin_rate = margin_rate
        self.margin_schedule = margin_schedule
        self.miss_factor = miss_factor
        self.weight_noise = weight_noise
        self.gradnorm_beta = gradnorm_beta
        self.gradnorm_rate = gradnorm_rate
        self.lag_search = lag_search
        self.precision = precision
        self.seed = seed
        self.calibrate = calibrate
        self.split = split
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks
