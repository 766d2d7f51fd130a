"""scikit-learn's estimator checks, with the reason for each that does not apply.

The checks know only ``predict(X)``, and a simulation has to start from measured outputs. So they are run on estimators that
bring the first outputs of their training record along; everything else is the package's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

import intervalid as iv
from conftest import ROOT


class Started(iv.Estimator):
    """Starts every run from the first outputs of the training record."""

    def fit(self, u: Any, y: Any = None, **metadata: Any) -> Any:
        super().fit(u, y, **metadata)
        self.start_ = np.asarray(y, dtype=np.float64)[: self.initial_outputs_]
        return self

    def predict(self, u: Any, y0: Any = None, *, coverage: Any = None, samples: Any = None) -> Any:
        return super().predict(u, y0=getattr(self, "start_", None)).mean


class StartedARX(Started, iv.ARX):
    """Linear."""


class StartedNODE(Started, iv.IntervalNODE):
    """A network."""


#: Check and why it does not apply to models of sequences.
NOT_APPLICABLE: dict[str, str] = {
    "check_methods_sample_order_invariance": "a simulation depends on the order of its samples",
    "check_methods_subset_invariance": "a simulation of a part starts where the part does",
    "check_fit1d": "a one-dimensional u is one input",
    "check_fit2d_predict1d": "a one-dimensional u is one input, refused by the number of inputs and not by its dimension",
}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        # The records of these checks are too short to leave a test part out.
        StartedARX(lags=(0, 0, 1), split=(0.8, 0.2, 0.0)),
        StartedNODE(lags=(0, 0, 1), hidden=(3,), epochs=2, window=(4, 2), batch=4, split=(0.8, 0.2, 0.0)),
    ],
    expected_failed_checks=lambda estimator: NOT_APPLICABLE,
)
def test_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_guide_lists_what_does_not_apply() -> None:
    page = (ROOT / "docs/guide/python.md").read_text()
    listed = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `check_")}
    assert listed == set(NOT_APPLICABLE)
