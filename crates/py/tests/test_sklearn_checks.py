"""scikit-learn's estimator checks, with the reason for each that does not apply."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import intervalid as iv

EXPECTED: dict[str, str] = {}


def expected(estimator: Any) -> dict[str, str]:
    return EXPECTED


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        iv.ARX(lags=(0, 0, 1)),
        iv.IntervalNODE(lags=(0, 0, 1), hidden=(3,), epochs=2, window=(4, 2), batch=4),
    ],
    expected_failed_checks=expected,
)
def test_checks(estimator: Any, check: Any) -> None:
    check(estimator)
