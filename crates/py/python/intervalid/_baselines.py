"""Networks with Gaussian intervals, to compare with: Bayesian, Monte Carlo dropout, deep ensembles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._base import Callback, Estimator


class _BayesianNetwork(Estimator):
    def __init__(
        self,
        *,
        lags: tuple[int, int, int] | str | None = None,
        hidden: Sequence[int] | int | None = None,
        initial: str | None = None,
        coverage: float | Sequence[float] = 0.9,
        output_range: Mapping[str, Any] | None = None,
        detrend: Sequence[str] | None = None,
        fill_gaps: int | None = None,
        clip_spikes: float | Mapping[str, float] | None = None,
        decimate: int | None = None,
        epochs: int | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        schedule: str | None = None,
        window: tuple[int, int] | None = None,
        patience: int | None = None,
        gradient_clip: float | None = None,
        weight_decay: float | None = None,
        averaging: float | None = None,
        hidden_decay: float | None = None,
        train_on_validation: bool | None = None,
        prior_std: float | None = None,
        samples: int | None = None,
        feedback: str | None = None,
        lag_search: bool | None = None,
        precision: str = "f32",
        seed: int = 1,
        random_state: int | None = None,
        calibrate: bool = False,
        split: tuple[float, float, float] = (0.6, 0.1, 0.3),
        n_jobs: int | None = None,
        verbose: bool | int = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.lags = lags
        self.hidden = hidden
        self.initial = initial
        self.coverage = coverage
        self.output_range = output_range
        self.detrend = detrend
        self.fill_gaps = fill_gaps
        self.clip_spikes = clip_spikes
        self.decimate = decimate
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.window = window
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.weight_decay = weight_decay
        self.averaging = averaging
        self.hidden_decay = hidden_decay
        self.train_on_validation = train_on_validation
        self.prior_std = prior_std
        self.samples = samples
        self.feedback = feedback
        self.lag_search = lag_search
        self.precision = precision
        self.seed = seed
        self.random_state = random_state
        self.calibrate = calibrate
        self.split = split
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks


class _DropoutNetwork(Estimator):
    def __init__(
        self,
        *,
        lags: tuple[int, int, int] | str | None = None,
        hidden: Sequence[int] | int | None = None,
        initial: str | None = None,
        coverage: float | Sequence[float] = 0.9,
        output_range: Mapping[str, Any] | None = None,
        detrend: Sequence[str] | None = None,
        fill_gaps: int | None = None,
        clip_spikes: float | Mapping[str, float] | None = None,
        decimate: int | None = None,
        epochs: int | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        schedule: str | None = None,
        window: tuple[int, int] | None = None,
        patience: int | None = None,
        gradient_clip: float | None = None,
        weight_decay: float | None = None,
        averaging: float | None = None,
        hidden_decay: float | None = None,
        train_on_validation: bool | None = None,
        dropout: float | None = None,
        samples: int | None = None,
        feedback: str | None = None,
        lag_search: bool | None = None,
        precision: str = "f32",
        seed: int = 1,
        random_state: int | None = None,
        calibrate: bool = False,
        split: tuple[float, float, float] = (0.6, 0.1, 0.3),
        n_jobs: int | None = None,
        verbose: bool | int = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.lags = lags
        self.hidden = hidden
        self.initial = initial
        self.coverage = coverage
        self.output_range = output_range
        self.detrend = detrend
        self.fill_gaps = fill_gaps
        self.clip_spikes = clip_spikes
        self.decimate = decimate
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.window = window
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.weight_decay = weight_decay
        self.averaging = averaging
        self.hidden_decay = hidden_decay
        self.train_on_validation = train_on_validation
        self.dropout = dropout
        self.samples = samples
        self.feedback = feedback
        self.lag_search = lag_search
        self.precision = precision
        self.seed = seed
        self.random_state = random_state
        self.calibrate = calibrate
        self.split = split
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks


class _EnsembleNetwork(Estimator):
    def __init__(
        self,
        *,
        lags: tuple[int, int, int] | str | None = None,
        hidden: Sequence[int] | int | None = None,
        initial: str | None = None,
        coverage: float | Sequence[float] = 0.9,
        output_range: Mapping[str, Any] | None = None,
        detrend: Sequence[str] | None = None,
        fill_gaps: int | None = None,
        clip_spikes: float | Mapping[str, float] | None = None,
        decimate: int | None = None,
        epochs: int | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        schedule: str | None = None,
        window: tuple[int, int] | None = None,
        patience: int | None = None,
        gradient_clip: float | None = None,
        weight_decay: float | None = None,
        averaging: float | None = None,
        hidden_decay: float | None = None,
        train_on_validation: bool | None = None,
        members: int | None = None,
        feedback: str | None = None,
        lag_search: bool | None = None,
        precision: str = "f32",
        seed: int = 1,
        random_state: int | None = None,
        calibrate: bool = False,
        split: tuple[float, float, float] = (0.6, 0.1, 0.3),
        n_jobs: int | None = None,
        verbose: bool | int = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.lags = lags
        self.hidden = hidden
        self.initial = initial
        self.coverage = coverage
        self.output_range = output_range
        self.detrend = detrend
        self.fill_gaps = fill_gaps
        self.clip_spikes = clip_spikes
        self.decimate = decimate
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.window = window
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.weight_decay = weight_decay
        self.averaging = averaging
        self.hidden_decay = hidden_decay
        self.train_on_validation = train_on_validation
        self.members = members
        self.feedback = feedback
        self.lag_search = lag_search
        self.precision = precision
        self.seed = seed
        self.random_state = random_state
        self.calibrate = calibrate
        self.split = split
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks


class BayesianNODE(_BayesianNetwork):
    """Bayesian neural ODE: a Gaussian over every parameter, ``samples`` draws per prediction, a Gaussian interval.

    Parameters left at None take the value of the paper's preset for this model; :attr:`config_` has all of them after
    ``fit``. See :class:`IntervalNODE` for the parameters and methods that all models share.
    """

    _kinds = ("bnode",)


class BayesianLSTM(_BayesianNetwork):
    """Bayesian LSTM: a Gaussian over every parameter, ``samples`` draws per prediction, a Gaussian interval.

    Parameters left at None take the value of the paper's preset for this model; :attr:`config_` has all of them after
    ``fit``. See :class:`IntervalNODE` for the parameters and methods that all models share.
    """

    _kinds = ("blstm",)


class DropoutNODE(_DropoutNetwork):
    """Neural ODE with Monte Carlo dropout: ``samples`` draws per prediction, a Gaussian interval.

    Parameters left at None take the value of the paper's preset for this model; :attr:`config_` has all of them after
    ``fit``. See :class:`IntervalNODE` for the parameters and methods that all models share.
    """

    _kinds = ("dropout-node",)


class DropoutLSTM(_DropoutNetwork):
    """LSTM with Monte Carlo dropout: ``samples`` draws per prediction, a Gaussian interval.

    Parameters left at None take the value of the paper's preset for this model; :attr:`config_` has all of them after
    ``fit``. See :class:`IntervalNODE` for the parameters and methods that all models share.
    """

    _kinds = ("dropout-lstm",)


class EnsembleNODE(_EnsembleNetwork):
    """Deep ensemble of ``members`` neural ODEs with a Gaussian interval.

    Parameters left at None take the value of the paper's preset for this model; :attr:`config_` has all of them after
    ``fit``. See :class:`IntervalNODE` for the parameters and methods that all models share.
    """

    _kinds = ("ensemble-node",)


class EnsembleLSTM(_EnsembleNetwork):
    """Deep ensemble of ``members`` LSTMs with a Gaussian interval.

    Parameters left at None take the value of the paper's preset for this model; :attr:`config_` has all of them after
    ``fit``. See :class:`IntervalNODE` for the parameters and methods that all models share.
    """

    _kinds = ("ensemble-lstm",)
