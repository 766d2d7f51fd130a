"""The views of a model are those of the command line, and a known system has its closed form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import intervalid
from intervalid import errors


def known() -> tuple[intervalid.ARX, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    u = 50 + 20 * rng.uniform(-1, 1, 400)
    y = np.full(400, 100.0)
    for k in range(2, 400):
        y[k] = 1.5 * y[k - 1] - 0.7 * y[k - 2] + 0.5 * u[k - 1] + 3
    model = intervalid.ARX(lags=(0, 1, 2))
    return model.fit(u, y), u, y


def test_a_known_system_has_its_poles_gain_and_step() -> None:
    model, u, y = known()
    linear = model.analysis.linearise()
    assert linear["channels"][0]["gain"] == pytest.approx(2.5, rel=1e-6)
    assert linear["poles"][0]["magnitude"] == pytest.approx(np.sqrt(0.7), rel=1e-6)
    # The matrices are a system: its gain is C (I - A)^-1 B + D.
    a, b, c, d = (np.array(linear[key]) for key in "abcd")
    gain = c @ np.linalg.solve(np.eye(len(a)) - a, b) + d
    assert gain[0, 0] == pytest.approx(2.5, rel=1e-6)
    step = model.analysis.step(amplitudes=[10.0])["steps"][0]["outputs"][0]
    assert step["y"][-1] - step["rest"] == pytest.approx(25.0, rel=1e-2)
    curve = model.analysis.static_curve(u=u, y=y)
    assert curve["range"] == "data" and len(curve["u"]) == 41
    response = model.analysis.frequency_response(u=u, y=y)["channels"][0]
    assert response["magnitude"][0] == pytest.approx(2.5, rel=1e-2)
    assert max(response["measured"]["coherence"]) > 0.9
    assert model.analysis.residuals(u, y)[0]["std"] < 1e-3
    assert model.analysis.width_shares(u, y)[0]["parts"][0]["name"] == "constant width"
    assert model.analysis.fits_ahead(u, y)[-1]["horizon"] is None


def test_files_and_refusals(tmp_path: Path) -> None:
    model, _, _ = known()
    views = model.analysis
    views.save_linear(tmp_path / "linear.py")
    compile((tmp_path / "linear.py").read_text(), "linear.py", "exec")
    views.save_linear(tmp_path / "linear.mat")
    assert (tmp_path / "linear.mat").read_bytes().startswith(b"MATLAB 5.0")
    with pytest.raises(errors.OptionError, match=r"\.mat or \.py"):
        views.save_linear(tmp_path / "linear.txt")
    with pytest.raises(errors.OptionError, match="no channel 'valve'"):
        views.linearise({"valve": 1.0})
    with pytest.raises(errors.ShapeError, match="no input 'valve'"):
        views.step("valve")
