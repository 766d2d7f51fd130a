"""Interval networks: every parameter is an interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._base import Callback, Estimator


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
    epochs, batch, learning_rate, schedule, window, patience, gradient_clip, weight_decay, averaging, \
hidden_decay, train_on_validation
        Training: epochs of each stage, windows per mini-batch, step size, "constant", "step" or "cosine", (length, step) of the
        windows, epochs without improvement before a stage ends, largest norm of a gradient, decay of weights, running mean,
        decay of all weights but those of the read-out, whether windows of the validation part are trained on, too.
    width_penalty, level, margin_hidden, margin_output, margin_floor, margin_epochs, margin_batch, margin_rate, \
margin_schedule, miss_factor, weight_noise, gradnorm_beta, gradnorm_rate, gradnorm_optimiser
        The band's loss and the training of margins; see the tables of ``IntervalConfig`` and ``TrainingConfig`` in
        the Rust documentation.
    detrend : list of str
        Channels that drift: a straight line through the training part is taken out of them, and put back into predictions.
    fill_gaps, clip_spikes, decimate
        What is done to the data first, as :func:`load_data` does it: samples of a gap to fill, standard deviations that make a spike
        (for all outputs, or by channel), samples that become one. Later data are then given as they were measured, and made alike.
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
