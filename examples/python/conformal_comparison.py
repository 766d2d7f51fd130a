"""Our bands beside split conformal prediction by MAPIE, around the same simulation of the same record.

Split conformal prediction takes the quantile of the errors on held-out samples as half the width. Its guarantee needs errors
that are exchangeable; those of a simulation are correlated and drift, so its coverage may miss what was asked, as may ours.
"""

import numpy as np
from mapie.regression import SplitConformalRegressor
from sklearn.base import BaseEstimator, RegressorMixin

from intervalid import ARX, AutoModel, load_data


class FreeRun(RegressorMixin, BaseEstimator):
    """A fitted model as a regressor whose rows carry the measured outputs, of which it uses those that start the run."""

    def __init__(self, model: ARX) -> None:
        self.model = model
        self.n_features_in_ = 2

    def fit(self, X: np.ndarray, y: np.ndarray) -> "FreeRun":
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: np.ndarray) -> np.ndarray:
        start = self.model.initial_outputs_
        if len(X) <= start:  # MAPIE tries one row
            return X[:, 1]
        return self.model.predict(X[:, 0], y0=X[:start, 1]).mean


dryer = load_data("hair-dryer")
u, y = dryer.u, dryer.y
rows = np.column_stack([u, y])
fit, calibrate, test = slice(0, 400), slice(400, 500), slice(500, 1000)

linear = ARX(lags=(2, 2, 3), initial="measured").fit(u[fit], y[fit])
conformal = SplitConformalRegressor(FreeRun(linear), confidence_level=0.9, prefit=True)
conformal.conformalize(rows[calibrate], y[calibrate])
_, interval = conformal.predict_interval(rows[test])
lower, upper = interval[:, 0, 0], interval[:, 1, 0]

auto = AutoModel(budget=20).fit(u[:500], y[:500])  # seconds; without a budget it takes the time it needs
band = auto.predict(u[test], y0=y[test][: auto.initial_outputs_])
online = auto.predict_online(u[test], y[test])

start = max(10, auto.initial_outputs_)  # past the start of either
for name, low, high in (
    ("MAPIE around ARX", lower, upper),
    ("AutoModel", band.lower, band.upper),
    ("AutoModel, online", online.lower, online.upper),
):
    low, high, measured = low[start:], high[start:], y[test][start:]
    inside = np.mean((low <= measured) & (measured <= high))
    print(f"{name:18} inside {inside:6.1%} (asked 90 %), mean width {np.mean(high - low):.3f} V")
