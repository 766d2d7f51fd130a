"""The models as estimators in the manner of scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._base import Callback, Estimator, read_model


class _IntervalNetwork(Estimator):
    def __init__(
        self,
        *,
        strategy: str = "cascade",
        margin: str = "abs",
        lags: tuple[int, int, int] | str | None = None,
        hidden: Sequence[int] | int | None = None,
        states: int | None = None,
        initial: str | None = None,
        coverage: float | Sequence[float] = 0.9,
        output_range: Mapping[str, Any] | None = None,
        detrend: Sequence[str] | None = None,
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
        gradnorm_optimiser: str | None = None,
        linear_path: bool | None = None,
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
        self.strategy = strategy
        self.margin = margin
        self.lags = lags
        self.hidden = hidden
        self.states = states
        self.initial = initial
        self.coverage = coverage
        self.output_range = output_range
        self.detrend = detrend
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
        self.gradnorm_optimiser = gradnorm_optimiser
        self.linear_path = linear_path
        self.lag_search = lag_search
        self.precision = precision
        self.seed = seed
        self.random_state = random_state
        self.calibrate = calibrate
        self.split = split
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks


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
        epochs: int | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        schedule: str | None = None,
        window: tuple[int, int] | None = None,
        patience: int | None = None,
        gradient_clip: float | None = None,
        weight_decay: float | None = None,
        averaging: float | None = None,
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
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.window = window
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.weight_decay = weight_decay
        self.averaging = averaging
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
        epochs: int | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        schedule: str | None = None,
        window: tuple[int, int] | None = None,
        patience: int | None = None,
        gradient_clip: float | None = None,
        weight_decay: float | None = None,
        averaging: float | None = None,
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
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.window = window
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.weight_decay = weight_decay
        self.averaging = averaging
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
        epochs: int | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        schedule: str | None = None,
        window: tuple[int, int] | None = None,
        patience: int | None = None,
        gradient_clip: float | None = None,
        weight_decay: float | None = None,
        averaging: float | None = None,
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
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.window = window
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.weight_decay = weight_decay
        self.averaging = averaging
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


class IntervalNODE(_IntervalNetwork):
    """Interval neural ODE: y(k) = y(k-1) + MLP(x(k)), with an interval around every parameter.

    It is fitted to recorded inputs u and outputs y and simulates: from the inputs and a few measured outputs it predicts all
    further outputs, feeding its own predictions back, with an interval that should hold the share ``coverage`` of them.

    Parameters
    ----------
    strategy : "cascade" or "joint"
        Weights first and margins after, or both at once.
    margin : "abs" or "relu"
        How margins are kept non-negative.
    lags : (n_x, n_d, n_y)
        Input taps beyond the first, dead time and output lags; None searches them.
    hidden : sequence of int
        Widths of the hidden layers.
    states : int
        Only of :class:`IntervalStateSpace`.
    initial : "zero", "measured", "warmup:N" or "history:N"
        What a simulation knows of the outputs at its start: the first one, the last n_y, or N+1 that lead it, which belong to
        the simulation ("warmup") or lie before it ("history").
    coverage : float or sequence of float
        Share of the samples that the band should hold. Several give bands inside one another, of which 0.9 (or the first) is what
        the model is trained for and judged by; they need ``calibrate=True``. :meth:`predict` takes others, too.
    output_range : mapping
        Physical limits by output, such as ``{"level": (0, 10)}``, which predictions and bands do not leave; None for an end that
        has none. Samples to train on beyond them are refused.
    epochs, batch, learning_rate, schedule, window, patience, gradient_clip, weight_decay, averaging
        Training: epochs of each stage, windows per mini-batch, step size, "constant", "step" or "cosine", (length, step) of the
        windows, epochs without improvement before a stage ends, largest norm of a gradient, decay of weights, running mean.
    width_penalty, level, margin_hidden, margin_output, margin_floor, margin_epochs, margin_batch, margin_rate, \
margin_schedule, miss_factor, weight_noise, gradnorm_beta, gradnorm_rate, gradnorm_optimiser
        The band's loss and the training of margins; see the tables of ``IntervalConfig`` and ``TrainingConfig`` in
        the Rust documentation.
    detrend : list of str
        Channels that drift: a straight line through the training part is taken out of them, and put back into predictions.
    linear_path : bool
        Learn a linear function of the regressor beside the network.
    lag_search : bool
        Search the lags even if they are given.
    precision : "f32" or "f64"
        Type of the numbers.
    seed : int
        Seed of everything random: the same seed gives the same bits.
    random_state : int or None
        The seed as scikit-learn spells it; it wins over ``seed``.
    calibrate : bool
        Scale the band on stretches that models of the same settings are fitted without; takes seven more fits.
    split : (training, validation, test)
        Shares of the samples given to ``fit``, in the order of time. The epoch is chosen on the validation part; the test
        part is not looked at and is judged in ``result_`` and ``report``.
    n_jobs : int
        Threads of calibration and simulation; -1 for all cores. Results do not depend on it.
    verbose : bool
        Show a progress bar.
    callbacks : sequence of callables
        Each is called with a dict after every epoch; a true answer stops training with the best epoch so far.

    Attributes
    ----------
    config_ : dict
        All settings as they were resolved.
    lags_ : (n_x, n_d, n_y)
        The lags in use.
    history_ : list of dict
        Losses of every epoch.
    result_ : dict
        What ``intervalid fit --json`` prints.
    initial_outputs_ : int
        Measured outputs that ``predict`` needs to start from.
    n_features_in_, feature_names_in_, n_outputs_, output_names_, n_iter_, stages_
        Channels, and how training went.

    Examples
    --------
    >>> from intervalid import IntervalNODE, load_data
    >>> dryer = load_data("hair-dryer")
    >>> u, y = dryer.u, dryer.y
    >>> model = IntervalNODE(lags=(2, 2, 3), hidden=(8,), epochs=3, seed=1)
    >>> model.fit(u[:500], y[:500])
    IntervalNODE(lags=(2, 2, 3), hidden=(8,), epochs=3), fitted: inode with lags 2,2,3, y from u, 90 % band
    >>> band = model.predict(u[500:], y0=y[500:501])
    >>> band.mean.shape, band.known
    ((500,), 1)
    >>> 0 <= model.metrics(u[500:], y[500:])["picp"] <= 1
    True
    """

    _kinds = ("inode",)


class IntervalLSTM(_IntervalNetwork):
    """Interval LSTM: stacked cells with an affine read-out, and an interval around every parameter.

    Parameters left at None take the value of the paper's preset for this model; :attr:`config_` has all of them after
    ``fit``. See :class:`IntervalNODE` for the parameters and methods that all models share.

    >>> from intervalid import IntervalLSTM
    >>> IntervalLSTM(strategy="joint", hidden=(30, 10))
    IntervalLSTM(strategy='joint', hidden=(30, 10))
    """

    _kinds = ("ilstm",)


class IntervalStateSpace(_IntervalNetwork):
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
    IntervalStateSpace(hidden=(8, 0), states=3)
    """

    _kinds = ("iss",)


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
        self.lag_search = lag_search
        self.seed = seed
        self.random_state = random_state
        self.calibrate = calibrate
        self.split = split
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks


class AutoModel(Estimator):
    """The best model that a search finds for a record, with a band calibrated on held-out blocks.

    What ``intervalid fit`` does without settings: it tries linear models and networks, with and without hidden states, on data
    that they have not seen, fits the best again and scales its band to what those data showed. That takes about two minutes on two
    cores where networks are worth it. ``search_`` says what was tried and why it chose.

    Parameters
    ----------
    model : "arx", "inode", "iss" or "ilstm"
        Search only models of this kind; None searches all.
    lags : (n_x, n_d, n_y)
        Only these lags; None searches them.
    initial : "zero", "measured", "warmup:N" or "history:N"
        What a simulation knows of the outputs at its start; None is "measured", "warmup:20" for "ilstm", and as much history as
        helps for "iss".
    coverage : float or sequence of float
        Share of the samples that the band should hold. Several give bands inside one another, of which 0.9 (or the first) is what
        the model is trained for and judged by; :meth:`predict` takes others, too.
    output_range : mapping
        Physical limits by output, such as ``{"level": (0, 10)}``, which predictions and bands do not leave; None for an end that
        has none. Samples to train on beyond them are refused.
    detrend : list of str
        Channels that drift: a straight line through the training part is taken out of them, and put back into predictions.
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
    >>> model.config_["model"], model.initial_outputs_ == model.lags_[2]
    ('arx', True)
    """

    _kinds = ("arx", "inode", "iss", "ilstm")
    _is_search = True

    def __init__(
        self,
        *,
        model: str | None = None,
        lags: tuple[int, int, int] | str | None = None,
        initial: str | None = None,
        coverage: float | Sequence[float] = 0.9,
        output_range: Mapping[str, Any] | None = None,
        detrend: Sequence[str] | None = None,
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
        self.initial = initial
        self.coverage = coverage
        self.output_range = output_range
        self.detrend = detrend
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


#: Every estimator of one model, by the name that the model has on the command line.
ESTIMATORS: dict[str, type[Estimator]] = {
    estimator._kinds[0]: estimator
    for estimator in (
        IntervalNODE,
        IntervalLSTM,
        IntervalStateSpace,
        BayesianNODE,
        BayesianLSTM,
        DropoutNODE,
        DropoutLSTM,
        EnsembleNODE,
        EnsembleLSTM,
        ARX,
    )
}


def load_model(path: str | os.PathLike[str]) -> Estimator:
    """Reads a model file, or the one in a folder that ``intervalid fit`` wrote, as the estimator of its kind.

    >>> import tempfile, os
    >>> from intervalid import ARX, load_data, load_model
    >>> model = ARX(lags=(2, 2, 3)).fit(load_data("hair-dryer"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     model.save(path)
    ...     load_model(path)
    ARX(lags=(2, 2, 3), initial='zero', lag_search=False), fitted: arx with lags 2,2,3, y from u, 90 % band, one sample every 0.08 s
    """
    model = read_model(path)
    return ESTIMATORS[model.kind]._from_model(model)

