"""A model in use: the watch over it, and its band scaled anew."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import intervalid
from intervalid import ARX
from intervalid.errors import OptionError, OrderError, StateError, TooShortError


def plant(samples: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    u = rng.integers(0, 2, samples).astype(float)
    level, y = 0.0, np.empty(samples)
    for k in range(samples):
        y[k] = level + noise * rng.standard_normal()
        level = 0.8 * level + u[k]
    return u, y


@pytest.fixture(scope="module")
def model() -> ARX:
    return ARX(lags=(1, 1, 2)).fit(*plant(800, 0.2, 1))


def test_a_healthy_plant_is_ok_and_a_step_is_found(model: ARX) -> None:
    u, y = plant(1200, 0.2, 2)
    monitor = model.monitor()
    assert monitor.update(u[:800], y[:800]).health == "ok"
    assert monitor.update(u[800:], y[800:] + 0.6).health == "refit"
    report = monitor.report()
    assert report["outputs"][0]["cause"] == "level"
    assert report["reasons"] and "refit" in repr(monitor)


def test_pieces_and_saved_states_give_the_same(model: ARX) -> None:
    u, y = plant(900, 0.2, 3)
    whole = model.monitor(false_alarm=0.05).update([u[:500], u[500:]], [y[:500], y[500:]])
    pieces = model.monitor(false_alarm=0.05).update(u[:500], y[:500])
    pieces = model.monitor(false_alarm=0.05).restore(pieces.state()).update(u[500:], y[500:])
    assert pieces.report() == whole.report()
    with pytest.raises(StateError, match="other settings"):
        model.monitor().restore(whole.state())
    with pytest.raises(StateError):
        model.monitor().restore("{}")
    with pytest.raises(OptionError):
        model.monitor(false_alarm=0.0)


def test_a_simulator_watches_as_well(model: ARX) -> None:
    u, y = plant(600, 0.2, 4)
    need = model.initial_outputs_
    simulator = model.simulator(y[:need], u[:need], false_alarm=0.01)
    for k in range(need, 600):
        simulator.step(u[k])
        simulator.observe(y[k])
        if k == 400:
            simulator = pickle.loads(pickle.dumps(simulator))
    whole = model.monitor().update(u, y).report()
    stepped = simulator.monitor_report()
    assert stepped["samples"] == whole["samples"] and stepped["state"] == whole["state"]
    assert stepped["outputs"][0]["coverage"] == pytest.approx(whole["outputs"][0]["coverage"])
    with pytest.raises(OrderError, match="does not watch"):
        model.simulator().monitor_report()


def test_a_band_is_scaled_anew(model: ARX, tmp_path: object) -> None:
    louder, later = plant(600, 0.4, 5), plant(600, 0.4, 6)
    renewed = model.recalibrate(*louder)
    assert model.metrics(*later)["picp"] < 0.75
    assert abs(renewed.metrics(*later)["picp"] - 0.9) < 0.06
    said = renewed.recalibration_
    assert said["before"]["coverage"] < said["after"]["coverage"]
    assert said["new_weight"] == 1.0 and said["old_weight"] == 0.0
    calibration = renewed.model_.calibration
    assert calibration is not None
    assert calibration["renewal"]["new_samples"] == said["new_samples"]
    assert model.model_.calibration is None or "renewal" not in model.model_.calibration
    with pytest.raises(TooShortError, match="independent"):
        model.recalibrate(louder[0][:15], louder[1][:15])
    with pytest.raises(OptionError):
        model.recalibrate(*louder, weight=0.0)
    assert json.loads(renewed.monitor().state())["samples"] == 0
    assert intervalid.Monitor is type(renewed.monitor())
