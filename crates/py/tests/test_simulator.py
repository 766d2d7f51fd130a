"""Step by step is the same as the whole record at once."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import intervalid as iv
from conftest import small, two_by_two


@pytest.mark.parametrize("initial", ["zero", "measured", "warmup:5"])
@pytest.mark.parametrize("kind", [iv.IntervalNODE, iv.IntervalLSTM])
def test_steps_are_those_of_predict_to_the_bit(kind: type[iv.IntervalNODE], initial: str, dryer: iv.Record) -> None:
    model = kind(lags=(2, 2, 3), hidden=(6,), epochs=2, initial=initial, window=(30, 5)).fit(dryer[:500])
    u, y = dryer.u[500:], dryer.y[500:]
    band, online = model.predict(u[:100], y0=y[:10]), None
    simulator = model.simulator(y0=y[:10], u0=u[:10])
    for k in range(10, 100):
        step = simulator.step(u[k])
        assert (step.mean, step.lower, step.upper) == tuple(band[k])
    assert simulator.steps == 90 and repr(simulator) == "Simulator('y', after 90 steps)"
    assert online is None


def test_the_online_band_is_that_of_predict_online(dryer: iv.Record, fitted: iv.IntervalNODE) -> None:
    u, y = dryer.u[500:700], dryer.y[500:700]
    online = fitted.predict_online(u, y)
    simulator = fitted.simulator(y0=y[:1], u0=u[:1])
    for k in range(1, 200):
        step = simulator.step(u[k])
        assert (step.online_lower, step.online_upper) == (online.lower[k], online.upper[k])
        simulator.observe(y[k])


def test_copies_pickles_and_states_go_on_alike(dryer: iv.Record, fitted: iv.IntervalNODE) -> None:
    u, y = dryer.u, dryer.y
    simulator = fitted.simulator(y0=y[:3], u0=u[:3])
    for k in range(3, 20):
        simulator.step(u[k])
        simulator.observe(y[k])
    others = [
        simulator.copy(),
        copy.deepcopy(simulator),
        pickle.loads(pickle.dumps(simulator)),
        fitted.simulator().restore(simulator.state()),
    ]
    expected = [simulator.step(u[k]) for k in range(20, 30)]
    for other in others:
        assert [other.step(u[k]) for k in range(20, 30)] == expected
    with pytest.raises(iv.errors.StateError, match="belongs to model"):
        small(seed=2).fit(dryer).simulator().restore(simulator.state())
    with pytest.raises(iv.errors.StateError):
        simulator.restore("{}")


def test_several_channels_and_no_inputs() -> None:
    u, y = two_by_two(200, 1)
    model = iv.ARX(lags=(1, 0, 1)).fit(u, y)
    band = model.predict(u, y0=y[:1])
    simulator = model.simulator(y0=y[0], u0=u[:1])
    step = simulator.step(u[1])
    np.testing.assert_array_equal(step.upper, band.upper[1])
    simulator.observe(y[1])
    series = iv.ARX(lags=(0, 0, 1)).fit(None, y[:, 0])
    assert np.isfinite(series.simulator(y0=y[:1, 0]).step().mean)


def test_what_is_asked_at_the_wrong_time_is_refused(dryer: iv.Record, fitted: iv.IntervalNODE) -> None:
    simulator = fitted.simulator()
    assert simulator.steps is None and simulator.initial_outputs == 1
    with pytest.raises(iv.errors.OrderError, match="reset first"):
        simulator.step(1.0)
    with pytest.raises(iv.errors.InitialOutputsError, match="at least 3"):
        iv.ARX(lags=(2, 2, 3), initial="measured").fit(dryer).simulator(y0=[1.0])
    simulator.reset([5.0])
    with pytest.raises(iv.errors.OrderError, match="call step first"):
        simulator.observe(5.0)
    with pytest.raises(iv.errors.ShapeError, match="got 2, expected 1"):
        simulator.step([1.0, 2.0])
    with pytest.raises(iv.errors.NonFiniteError, match="channel 'u' is NaN"):
        simulator.step(np.nan)
    with pytest.raises(iv.errors.OutOfRangeError, match="input 'u' is 9.9e37"):
        simulator.step(9.9e37)
    assert simulator.steps == 0
    u, y = two_by_two(100, 1)
    bayesian = iv.BayesianNODE(lags=(1, 0, 1), hidden=(4,), epochs=1, window=(20, 10), samples=3).fit(u, y)
    with pytest.raises(iv.errors.NotStepwiseError, match="step by step"):
        bayesian.simulator()
