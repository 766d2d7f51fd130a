"""Preparation: records are made as the command line makes them, and a model wants them alike."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

import numpy as np
import pytest

import intervalid as iv
from conftest import two_by_two


def messy(folder: pathlib.Path, samples: int = 400) -> pathlib.Path:
    """A drifting level with two missing samples and a spike."""
    u, y = two_by_two(samples, 3)
    level = y[:, 0] + 0.02 * np.arange(samples)
    level[150] = 500.0
    cells = [f"{value:.6f}" for value in level]
    cells[40] = cells[41] = ""
    rows = [f"{k * 0.5},{u[k, 0]:.6f},{cells[k]}" for k in range(samples)]
    path = folder / "my.csv"
    path.write_text("time,valve,level\n" + "\n".join(rows) + "\n")
    return path


def run(program: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run([program, *arguments, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def load(path: pathlib.Path, **options: Any) -> iv.Record:
    with pytest.warns(UserWarning):
        return iv.load_data(
            path, inputs=["valve"], outputs=["level"], fill_gaps=2, clip_spikes={"level": 8}, decimate=2, **options
        )


def test_the_same_model_as_the_command_line(program: str, tmp_path: pathlib.Path) -> None:
    path = messy(tmp_path)
    record = load(path)
    assert (len(record), record.sample_time) == (200, 1.0)
    model = iv.ARX(lags=(1, 0, 1), detrend=["level"]).fit(record)
    options = ["--fill-gaps", "2", "--clip-spikes", "level=8", "--decimate", "2", "--detrend", "level"]
    result = run(
        program,
        *("fit", str(path), "--input", "valve", "--output", "level", *options),
        *("--preset", "paper", "--model", "arx", "--lags", "1,0,1", "--out", str(tmp_path / "fit")),
    )
    assert (tmp_path / "fit" / "model.safetensors").read_bytes() == model.model_.to_bytes()
    assert model.result_["test"] == result["test"]
    assert model.result_["preparation"] == result["preparation"]

    # The loaded model, on the record as it is read again and on a later piece of it, which knows when it was taken.
    loaded = iv.load_model(tmp_path / "fit")
    judged = run(program, "evaluate", str(tmp_path / "fit"), str(path))
    assert {key: judged[key] for key in ("n", "rmse", "picp", "pinaw")} == {
        key: loaded.metrics(record)[key] for key in ("n", "rmse", "picp", "pinaw")
    }
    prediction = loaded.predict(record[100:])
    assert abs(float(prediction.mean[-1]) - float(record.y[-1])) < 1.0
    assert float(prediction.mean[-1]) > 6.0


def test_a_model_that_was_loaded_prepares_data_as_the_command_line_does(program: str, tmp_path: pathlib.Path) -> None:
    path = messy(tmp_path)
    options = ["--fill-gaps", "2", "--clip-spikes", "level=8", "--decimate", "2", "--detrend", "level"]
    run(
        program,
        *("fit", str(path), "--input", "valve", "--output", "level", *options, "--output-range", "level=-100:100"),
        *("--preset", "paper", "--model", "arx", "--lags", "1,0,1", "--out", str(tmp_path / "fit")),
    )
    judged = run(program, "evaluate", str(tmp_path / "fit"), str(path))
    loaded = iv.load_model(tmp_path / "fit")
    assert loaded.get_params()["decimate"] == 2 and loaded.get_params()["fill_gaps"] == 2
    assert loaded.get_params()["clip_spikes"] == {"level": 8.0}
    assert loaded.get_params()["detrend"] == ["level"]
    assert loaded.get_params()["output_range"] == {"level": (-100.0, 100.0)}

    # Data as they were measured: arrays, which go by position, and a record without names.
    cells = [line.split(",") for line in path.read_text().splitlines()[1:]]
    valve = np.array([float(row[1]) for row in cells])
    level = np.array([float(row[2]) if row[2] else np.nan for row in cells])
    metrics = loaded.metrics(valve, level)
    assert (metrics["n"], metrics["rmse"]) == (judged["n"], pytest.approx(judged["rmse"], rel=1e-9))
    filled = iv.Record(valve, level, fill_gaps=2, sample_time=0.5)
    with pytest.warns(UserWarning):
        assert loaded.metrics(filled)["rmse"] == pytest.approx(judged["rmse"], rel=1e-9)

    # Fitted once more it is prepared alike, and what is prepared already is not prepared twice.
    with pytest.warns(UserWarning):
        again = iv.load_model(tmp_path / "fit").fit(iv.load_data(path, inputs=["valve"], outputs=["level"], fill_gaps=2))
    assert np.allclose(again.coef_, loaded.coef_, rtol=1e-9)
    assert loaded.metrics(load(path))["rmse"] == pytest.approx(judged["rmse"], rel=1e-9)


def test_what_is_not_prepared_alike_is_refused(tmp_path: pathlib.Path) -> None:
    path = messy(tmp_path)
    record = load(path)
    model = iv.ARX(lags=(1, 0, 1)).fit(record)
    with pytest.raises(iv.errors.ChannelsError, match="not prepared as the model's own"):
        model.metrics(record.u, record.y)
    with pytest.raises(iv.errors.NotStepwiseError, match="thinned out"):
        model.simulator()
    with pytest.raises(iv.errors.OptionError, match="decimate is 1"):
        iv.Record(record.u, record.y, decimate=1)
    with pytest.raises(iv.errors.NonFiniteError, match="not filled"):
        iv.load_data(path, inputs=["valve"], outputs=["level"], fill_gaps=1)


def test_arrays_are_prepared_by_a_record() -> None:
    u, y = two_by_two(300, 4)
    level = y[:, 0].copy()
    level[10] = np.nan
    with pytest.warns(UserWarning, match="thinned out to 100"):
        record = iv.Record(u[:, 0], level, fill_gaps=1, decimate=3)
    assert len(record) == 100 and np.isfinite(record.y).all()
    with pytest.raises(iv.errors.NonFiniteError):
        iv.Record(u[:, 0], level)


def test_an_estimator_prepares_what_it_is_given(tmp_path: pathlib.Path) -> None:
    path = messy(tmp_path)
    # As it was measured: nothing is done to it yet, but for the gap that no file reader lets pass.
    u, y = two_by_two(400, 3)
    level = y[:, 0] + 0.02 * np.arange(400)
    level[150] = 500.0
    level[40:42] = np.nan
    valve = np.array([float(f"{value:.6f}") for value in u[:, 0]])
    level = np.array([float(f"{value:.6f}") for value in level])
    settings: dict[str, Any] = {"lags": (1, 0, 1), "detrend": ["y"]}
    with pytest.warns(UserWarning):
        model = iv.ARX(fill_gaps=2, clip_spikes={"y": 8}, decimate=2, **settings).fit(valve, level)
    expected = iv.ARX(lags=(1, 0, 1), detrend=["level"]).fit(load(path))
    assert np.allclose(model.coef_, expected.coef_, rtol=1e-12)
    assert model.result_["test"]["rmse"] == pytest.approx(expected.result_["test"]["rmse"], rel=1e-12)

    # Later data come as they are measured, too, as arrays and as records.
    metrics = model.metrics(valve, level)
    assert metrics["n"] == expected.metrics(load(path))["n"] == 199
    assert metrics["rmse"] == pytest.approx(expected.metrics(load(path))["rmse"], rel=1e-12)
    ahead = model.predict_ahead(valve, level, horizon=1)
    assert len(ahead) == 200
    whole = iv.Record(valve, np.nan_to_num(level, nan=1.0), sample_time=0.5)
    with pytest.warns(UserWarning):
        band = model.predict(whole)
    assert len(band) == 200
    with pytest.raises(iv.errors.ShapeError, match="give predict a Record"):
        model.predict(valve, y0=level[:10])
    assert "decimate=2" in repr(model)


def test_spikes_of_inputs_are_clipped_in_plans() -> None:
    u, y = two_by_two(400, 3)
    valve, level = u[:, 0].copy(), y[:, 0]
    with pytest.warns(UserWarning):
        model = iv.ARX(lags=(1, 0, 1), clip_spikes={"u": 8}).fit(valve, level)
    clean = model.predict(valve, y0=level[:1])
    valve[200] = 1e4
    spiky = model.predict(valve, y0=level[:1])
    assert np.allclose(spiky.mean[210:], clean.mean[210:], atol=0.2)
    assert np.allclose(spiky.mean[:190], clean.mean[:190])
    # A start is what was measured: nothing is clipped from it.
    assert spiky.mean[0] == level[0]


def test_a_record_prepared_otherwise_is_refused() -> None:
    u, y = two_by_two(400, 3)
    with pytest.warns(UserWarning):
        model = iv.ARX(lags=(1, 0, 1), decimate=2).fit(u[:, 0], y[:, 0])
    with pytest.warns(UserWarning):
        other = iv.Record(u[:, 0], y[:, 0], decimate=4)
    with pytest.raises(iv.errors.ChannelsError, match="not prepared as the model's own"):
        model.metrics(other)
    with pytest.raises(iv.errors.OptionError, match="decimate is 1"):
        iv.ARX(decimate=1).fit(u[:, 0], y[:, 0])
