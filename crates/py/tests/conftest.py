"""Records and programs that tests share."""

from __future__ import annotations

import os
import pathlib
import shutil

import matplotlib
import numpy as np
import numpy.typing as npt
import pytest

import intervalid as iv

matplotlib.use("Agg")

ROOT = pathlib.Path(__file__).parents[3]
Floats = npt.NDArray[np.float64]


def small(**parameters: object) -> iv.IntervalNODE:
    """A network that is fitted in a moment."""
    defaults: dict[str, object] = {"lags": (2, 2, 3), "hidden": (6,), "epochs": 3, "window": (30, 5)}
    return iv.IntervalNODE(**(defaults | parameters))  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def dryer() -> iv.Record:
    """The hair dryer, 1000 samples."""
    return iv.load_data("hair-dryer")


@pytest.fixture(scope="session")
def fitted(dryer: iv.Record) -> iv.IntervalNODE:
    """A network fitted to the first half of the hair dryer. Not to be changed."""
    return small().fit(dryer.u[:500], dryer.y[:500])


def two_by_two(samples: int, seed: int) -> tuple[Floats, Floats]:
    """A stable linear system with two inputs and two outputs, and noise."""
    generator = np.random.default_rng(seed)
    u = np.repeat(generator.normal(size=(samples // 5 + 1, 2)), 5, axis=0)[:samples]
    y = np.zeros((samples, 2))
    for k in range(1, samples):
        y[k, 0] = 0.8 * y[k - 1, 0] + 0.1 * y[k - 1, 1] + 0.5 * u[k, 0]
        y[k, 1] = 0.6 * y[k - 1, 1] + 0.4 * u[k - 1, 1] - 0.1 * u[k, 0]
    return u, y + 0.02 * generator.normal(size=y.shape)


@pytest.fixture(scope="session")
def program() -> str:
    """The command line, which the same sources build."""
    path = os.environ.get("INTERVALID_PROGRAM") or shutil.which("intervalid")
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail("INTERVALID_PROGRAM names no intervalid program")
        pytest.skip("no intervalid program: set INTERVALID_PROGRAM (`cargo xtask test --only python` does)")
    return path
