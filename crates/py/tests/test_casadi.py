"""The CasADi function of a model gives the numbers of its simulator."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import intervalid as iv
from conftest import two_by_two
from intervalid import errors

casadi = pytest.importorskip("casadi")

MODELS = [
    iv.ARX(lags=(2, 1, 3)),
    iv.IntervalNODE(lags=(1, 2, 2), hidden=(5, 4), epochs=2, initial="measured", precision="f64"),
    iv.IntervalNODE(lags=(1, 0, 2), hidden=(4,), epochs=2, initial="zero", precision="f64", calibrate=True),
    iv.IntervalLSTM(lags=(1, 1, 2), hidden=(4, 3), epochs=2, initial="warmup:5", precision="f64"),
    iv.IntervalStateSpace(states=3, hidden=(4, 3), epochs=2, precision="f64", learning_rate=1e-4),
    iv.AutoModel(model="arx", rounds=1),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_step_is_that_of_the_simulator(model: iv.Estimator) -> None:
    u, y = two_by_two(300, 3)
    model.fit(u, y)
    past = slice(200, 240)
    simulator = model.simulator(y0=y[past], u0=u[past])
    exported = model.to_casadi()
    x = exported.start(y[past], u[past])
    assert len(x) == len(exported.states) == exported.step.size1_in(0)
    for now in u[240:270]:
        expected = simulator.step(now)
        x, *band = (np.array(value).ravel() for value in exported.step(x, now))
        for found, wanted in zip(band, (expected.mean, expected.lower, expected.upper), strict=True):
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_a_start_takes_columns_by_name() -> None:
    pandas = pytest.importorskip("pandas")
    u, y = two_by_two(300, 3)
    inputs, outputs = pandas.DataFrame(u, columns=["flow", "heat"]), pandas.DataFrame(y, columns=["level", "temperature"])
    exported = iv.ARX(lags=(2, 1, 3)).fit(inputs, outputs).to_casadi()
    swapped = exported.start(outputs[["temperature", "level"]][:40], inputs[["heat", "flow"]][:40])
    np.testing.assert_array_equal(swapped, exported.start(y[:40], u[:40]))


def test_its_derivatives_are_those_of_the_linearisation() -> None:
    u, y = two_by_two(300, 4)
    model = iv.IntervalNODE(lags=(1, 1, 2), hidden=(4,), epochs=2, initial="measured", precision="f64").fit(u, y)
    # Named, since not every barely trained network has a rest.
    linear = model.analysis.linearise({"u1": 0.2, "u2": -0.1, "y1": 0.3, "y2": 0.4})
    exported = model.to_casadi()
    point = linear.operating_point
    at_rest = np.array(list(point.inputs.values())), np.array(list(point.outputs.values()))
    x = exported.start(np.tile(at_rest[1], (10, 1)), np.tile(at_rest[0], (10, 1)))
    assert exported.states == linear.states
    state, now = casadi.MX.sym("x", len(x)), casadi.MX.sym("u", 2)
    following, mean, _, _ = exported.step(state, now)
    for value, by, expected in (
        (following, state, linear.A),
        (following, now, linear.B),
        (mean, state, linear.C),
        (mean, now, linear.D),
    ):
        jacobian = casadi.Function("jacobian", [state, now], [casadi.jacobian(value, by)])
        assert np.array(jacobian(x, at_rest[0])) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_derivatives_are_exported_too(tmp_path: pathlib.Path) -> None:
    u, y = two_by_two(300, 6)
    model = iv.ARX(lags=(1, 1, 2)).fit(u, y)
    written = model.export(tmp_path / "plant.c", jacobian=True)
    assert written["jacobian_states"] == len(model.analysis.linearise().states)
    assert "plant_jacobian" in (tmp_path / "plant.h").read_text()
    with pytest.raises(errors.OptionError, match="--jacobian is an option of --to c and --to onnx"):
        model.export(tmp_path / "plant.fmu", jacobian=True)


def test_limits_and_refusals() -> None:
    u, y = two_by_two(300, 5)
    model = iv.ARX(lags=(1, 1, 2), output_range={"y1": (None, 6.0)}).fit(u, y)
    exported = model.to_casadi("plant")
    # Far to either side: one of them would lead far beyond the limit.
    starts = [exported.start(y[:20], np.full((20, 2), size)) for size in (90.0, -90.0)]
    assert max(float(np.array(exported.step(x, [0.0, 0.0])[3])[0, 0]) for x in starts) == 6.0
    with pytest.raises(errors.InitialOutputsError, match="expected at least 1"):
        exported.start(y[:0])
    with pytest.raises(errors.ShapeError, match="2 outputs"):
        exported.start(y[:20, 0])
    with pytest.raises(errors.NotStepwiseError):
        iv.BayesianNODE(epochs=1, hidden=(2,)).fit(u, y).to_casadi()
