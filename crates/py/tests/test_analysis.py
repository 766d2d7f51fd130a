"""The views of a model have the numbers of the command line, and a known system has its closed form."""

from __future__ import annotations

import json
import pathlib
import pickle
import subprocess
from typing import Any

import numpy as np
import pytest

import intervalid as iv
from intervalid import errors


def known() -> tuple[iv.ARX, np.ndarray, np.ndarray]:
    """y(k) = 1.5 y(k-1) - 0.7 y(k-2) + 0.5 u(k-1) + 3, found without an error."""
    rng = np.random.default_rng(0)
    u = 50 + 20 * rng.uniform(-1, 1, 600)
    y = np.full(600, 140.0)
    for k in range(2, 600):
        y[k] = 1.5 * y[k - 1] - 0.7 * y[k - 2] + 0.5 * u[k - 1] + 3
    model = iv.ARX(lags=(0, 1, 2), split=(0.9, 0.1, 0)).fit(u, y, sample_time=0.5)
    return model, u, y


def test_a_known_system_has_its_closed_form() -> None:
    model, u, y = known()
    linear = model.analysis.linearise({"u": 50.0})
    assert linear.operating_point.is_steady and linear.is_stable
    assert linear.operating_point.outputs["y"] == pytest.approx((0.5 * 50 + 3) / 0.2, rel=1e-6)
    assert linear.channels["y", "u"].gain == pytest.approx(2.5, rel=1e-6)
    assert linear.channels["y", "u"].delay == 1
    assert np.abs(linear.poles) == pytest.approx([np.sqrt(0.7)] * 2, rel=1e-6)
    assert linear.time_constants == pytest.approx([-0.5 / np.log(np.sqrt(0.7))] * 2, rel=1e-6)
    # The matrices are a system: its gain is C (I - A)^-1 B + D.
    gain = linear.C @ np.linalg.solve(np.eye(len(linear.A)) - linear.A, linear.B) + linear.D
    assert gain[0, 0] == pytest.approx(2.5, rel=1e-6)
    (step,) = model.analysis.step(amplitudes=[10.0], at={"u": 50.0})
    answer = step.outputs["y"]
    assert answer.mean[-1] - answer.rest == pytest.approx(25.0, rel=2e-2)
    assert (answer.lower <= answer.mean).all() and (answer.mean <= answer.upper).all() and len(step.time) == len(answer.mean)
    (pulse,) = model.analysis.impulse(amplitudes=[10.0], at={"u": 50.0})
    # The first coefficients of the impulse response, by hand.
    assert (pulse.outputs["y"].mean[1:4] - answer.rest) / 10 == pytest.approx([0.5, 0.75, 0.775], rel=1e-4)
    curve = model.analysis.static_curve(u, y)
    assert curve.range == "data"
    assert curve.outputs["y"].mean == pytest.approx((0.5 * curve.u + 3) / 0.2, rel=1e-4)
    response = model.analysis.frequency_response(u, y, at={"u": 50.0})
    channel = response.channels["y", "u"]
    z = np.exp(2j * np.pi * response.frequency * 0.5)
    assert channel.response == pytest.approx(0.5 * z / (z * z - 1.5 * z + 0.7), rel=1e-5)
    assert channel.measured is not None and channel.measured.coherence.max() > 0.9
    # The run starts from one measured output; what that leaves decays.
    assert np.abs(model.analysis.residuals(u, y)["y"].errors[200:]).max() < 1e-6
    assert np.isinf(model.analysis.fits_ahead(u, y).horizons[-1])
    widths = model.analysis.why_wide(u, y)["y"]
    assert sum(widths.shares.values()) == pytest.approx(np.ones(len(widths.sample)))


def numbers(value: np.ndarray) -> Any:
    """An array as JSON has it."""
    return json.loads(json.dumps(value.tolist()).replace("NaN", "null"))


def test_the_numbers_are_those_of_the_command_line(program: str, tmp_path: pathlib.Path) -> None:
    dryer = iv.load_data("hair-dryer")
    model = iv.IntervalNODE(hidden=(4,), epochs=3, split=(0.6, 0.1, 0.3), seed=2).fit(dryer)
    model.save(tmp_path / "model.safetensors")
    command = [program, "analyse", str(tmp_path / "model.safetensors"), "--data", "hair-dryer", "--at", "u=5.5", "--json", "--quiet"]
    command += ["--limit", "u=3:7", "--excite", str(tmp_path / "next.csv"), "--excite-samples", "300", "--amplitude", "0.5,1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout)
    at, views = {"u": 5.5}, model.analysis
    linear = views.linearise(at)
    for name in "abcd":
        assert numbers(getattr(linear, name.upper())) == expected["linearisation"][name]
        assert linear.intervals is not None
        pair = getattr(linear.intervals, name.upper())
        assert [numbers(side) for side in pair] == expected["linearisation"]["intervals"][name]
    assert [[pole.real, pole.imag] for pole in linear.poles] == [[p["re"], p["im"]] for p in expected["linearisation"]["poles"]]
    response = views.frequency_response(dryer, at=at)
    wanted = expected["frequency_response"]["channels"][0]
    channel = response.channels["y", "u"]
    assert numbers(response.frequency) == expected["frequency_response"]["frequency"]
    assert numbers(channel.magnitude) == wanted["magnitude"]
    assert channel.magnitude_band is not None
    assert [numbers(side) for side in channel.magnitude_band] == wanted["band"]["magnitude"]
    assert channel.measured is not None
    assert numbers(channel.measured.coherence) == wanted["measured"]["coherence"]
    for kind, answers in (("steps", views.step(at=at, amplitudes=[0.5, 1])), ("pulses", views.impulse(at=at, amplitudes=[0.5, 1]))):
        for one, other in zip(answers, expected["responses"][0][kind], strict=True):
            assert one.amplitude == other["amplitude"]
            assert numbers(one.outputs["y"].upper) == other["outputs"][0]["upper"]
            assert one.outputs["y"].overshoot == (other["outputs"][0]["figures"] or {}).get("overshoot")
    curve = views.static_curve(dryer)
    assert numbers(curve.outputs["y"].gain) == expected["static_curves"][0]["outputs"][0]["gain"]
    found = views.residuals(dryer)["y"]
    assert numbers(found.errors) == expected["residuals"][0]["errors"]
    assert numbers(found.autocorrelation.values) == expected["residuals"][0]["autocorrelation"]["values"]
    assert found.by_time[3].inside == expected["residuals"][0]["by_time"][3]["inside"]
    assert numbers(views.fits_ahead(dryer).fit_percent["y"]) == [fit["fit_percent"][0] for fit in expected["ahead"]]
    widths = views.why_wide(dryer)["y"]
    assert widths.words == expected["widths"][0]["words"]
    assert {name: numbers(share) for name, share in widths.shares.items()} == {
        part["name"]: part["share"] for part in expected["widths"][0]["parts"]
    }
    following = views.next_recording(dryer, at=at, limits={"u": (3, 7)})
    assert following.words == expected["next"]["words"]
    assert [part.share for part in following.inputs["u"]] == [part["share"] for part in expected["next"]["inputs"][0]["parts"]]
    proposal = views.excitation(dryer, at=at, limits={"u": (3, 7)}, samples=300)
    written = np.genfromtxt(tmp_path / "next.csv", delimiter=",", names=True)["u"]
    assert proposal.u.shape == (300, 1) and proposal.u[:, 0] == pytest.approx(written, rel=1e-5)


def test_files_and_refusals(tmp_path: pathlib.Path) -> None:
    model, u, y = known()
    views = model.analysis
    assert views is model.analysis
    linear = views.linearise()
    linear.save(tmp_path / "linear.py")
    compile((tmp_path / "linear.py").read_text(), "linear.py", "exec")
    linear.save(tmp_path / "linear.mat")
    assert (tmp_path / "linear.mat").read_bytes().startswith(b"MATLAB 5.0")
    linear.save(tmp_path / "linear.json")
    assert json.loads((tmp_path / "linear.json").read_text())["a"] == linear.A.tolist()
    with pytest.raises(errors.OptionError, match=r"\.json, \.mat or \.py"):
        linear.save(tmp_path / "linear.txt")
    with pytest.raises(OSError, match="No such file"):
        linear.save(tmp_path / "nowhere" / "linear.json")
    with pytest.raises(errors.OptionError, match="no channel 'valve'"):
        views.linearise({"valve": 1.0})
    with pytest.raises(errors.OptionError, match="no input 'valve'"):
        views.step("valve")
    with pytest.raises(errors.OutOfRangeError, match="'u' = 1000000000 is not allowed"):
        views.linearise({"u": 1e9})
    with pytest.raises(errors.OptionError, match="amplitude"):
        views.step(amplitudes=[0.0])
    with pytest.raises(errors.ShapeError, match=r"expected \(least, greatest\)"):
        views.next_recording(u, y, limits={"u": 3})  # type: ignore[dict-item]
    with pytest.raises(errors.TooShortError):
        views.frequency_response(u[:50], y[:50])
    with pytest.raises(errors.NotStepwiseError):
        iv.BayesianNODE(epochs=1, hidden=(2,)).fit(u, y).analysis.linearise()
    # The views stay behind in a pickle, and are made again.
    assert pickle.loads(pickle.dumps(model)).analysis.linearise().is_stable
