"""Uncertainty-aware system identification: simulation models that return a prediction interval for every sample.

>>> from intervalid import AutoModel, load_data
>>> dryer = load_data("hair-dryer")                     # or your own arrays u and y
>>> model = AutoModel(model="arx", split=(0.8, 0.2, 0)).fit(dryer[:500])
>>> band = model.predict(dryer[500:])
>>> band
Prediction(500 samples of 'y', 90 % band, the first 4 known)

``band.plot(dryer[500:].y)`` draws it. Estimators follow scikit-learn: parameters in the constructor, ``fit(u, y)``,
``predict(u, y0=...)``, ``score(u, y)``; the guide is docs/guide/python.md.
"""

from __future__ import annotations

from . import analysis, errors, study
from ._base import Callback, Estimator, interval_score
from ._intervalid import __version__
from .analysis import Analysis
from .casadi import CasadiModel
from .elasticity import Elasticity
from .errors import IntervalidError
from .estimators import (
    ARX,
    AutoModel,
    BayesianLSTM,
    BayesianNODE,
    DropoutLSTM,
    DropoutNODE,
    EnsembleLSTM,
    EnsembleNODE,
    IntervalLSTM,
    IntervalNODE,
    IntervalStateSpace,
    load_model,
)
from .monitor import Monitor
from .prediction import Prediction, Sample
from .record import Record, available_data, load_data
from .simulator import Simulator, Step

__all__ = [
    "ARX",
    "Analysis",
    "AutoModel",
    "BayesianLSTM",
    "BayesianNODE",
    "Callback",
    "CasadiModel",
    "DropoutLSTM",
    "DropoutNODE",
    "Elasticity",
    "EnsembleLSTM",
    "EnsembleNODE",
    "Estimator",
    "IntervalLSTM",
    "IntervalNODE",
    "IntervalStateSpace",
    "IntervalidError",
    "Monitor",
    "Prediction",
    "Record",
    "Sample",
    "Simulator",
    "Step",
    "__version__",
    "analysis",
    "available_data",
    "errors",
    "interval_score",
    "load_data",
    "load_model",
    "study",
]
