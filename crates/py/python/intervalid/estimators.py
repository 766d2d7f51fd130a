"""The models as estimators in the manner of scikit-learn."""

from __future__ import annotations

import os

from ._base import Estimator, read_model
from ._baselines import BayesianLSTM, BayesianNODE, DropoutLSTM, DropoutNODE, EnsembleLSTM, EnsembleNODE
from ._interval_networks import IntervalLSTM, IntervalNODE, IntervalStateSpace
from ._linear import ARX
from ._search import AutoModel

__all__ = [
    "ARX",
    "ESTIMATORS",
    "AutoModel",
    "BayesianLSTM",
    "BayesianNODE",
    "DropoutLSTM",
    "DropoutNODE",
    "EnsembleLSTM",
    "EnsembleNODE",
    "IntervalLSTM",
    "IntervalNODE",
    "IntervalStateSpace",
    "load_model",
]

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

