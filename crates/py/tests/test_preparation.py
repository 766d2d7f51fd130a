"""Preparation: records are made as the command line makes them, and a model wants them alike."""

from __future__ import annotations

import json
import pathlib
import subprocess
import warnings
from typing import Any

import numpy as np
import pandas as pd
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
    with pytest.warns(UserWarning, match="these data have none"):
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


def drifting(samples: int) -> tuple[pd.DataFrame, pd.Series]:
    """A level that rises by 0.02 from sample to sample, with a date for every ten seconds."""
    u = np.where(np.arange(samples) % 14 < 7, 1.0, -1.0)
    y = np.zeros(samples)
    for k in range(1, samples):
        y[k] = 0.5 * y[k - 1] + u[k]
    y += 0.02 * np.arange(samples) + 0.1 * np.random.default_rng(8).normal(size=samples)
    index = pd.date_range("2024-03-01 10:00", periods=samples, freq="10s")
    return pd.DataFrame({"valve": u}, index), pd.Series(y, index, name="level")


def test_a_trend_goes_on_by_the_dates_of_a_table() -> None:
    u, y = drifting(800)
    model = iv.ARX(lags=(2, 0, 2), detrend=["level"], split=(0.9, 0.1, 0.0)).fit(u[:500], y[:500])
    later, record = (u[600:], y[600:]), iv.Record(u[600:], y[600:])
    expected = model.metrics(record)
    assert expected["rmse"] < 0.5, "of a drift of 12"
    assert model.metrics(*later) == expected
    assert model.metrics(u[600:].to_numpy(), y[600:]) == expected, "dates of either side count"
    same = np.testing.assert_array_equal
    same(model.predict(u[600:], y0=y[600:605]).mean, model.predict(record, y0=y[600:605]).mean)
    same(model.predict(u[600:].to_numpy(), y0=y[600:605]).mean, model.predict(record, y0=y[600:605]).mean)
    same(model.predict_online(*later).upper, model.predict_online(record).upper)
    same(model.predict_ahead(*later, horizon=3).mean, model.predict_ahead(record, horizon=3).mean)
    assert model.monitor().update(*later).report() == model.monitor().update(record).report()
    assert model.recalibrate(*later).recalibration_ == model.recalibrate(record).recalibration_

    # Dates of the start alone: the clock of a forecast goes on from there.
    series = iv.ARX(lags=(0, 0, 2), detrend=["level"], split=(0.9, 0.1, 0.0)).fit(None, y[:500])
    forecast = series.predict(None, y0=y[600:650], samples=100)
    assert abs(float(np.mean(forecast.mean[100:]) - np.mean(y[700:750]))) < 1.5


def test_a_trend_without_its_clock_is_told() -> None:
    u, y = drifting(600)
    model = iv.ARX(lags=(2, 0, 2), detrend=["level"], split=(0.9, 0.1, 0.0)).fit(u[:500], y[:500])
    one, other = u.to_numpy()[500:], y.to_numpy()[500:]
    for use in (
        lambda: model.metrics(one, other),
        lambda: model.predict(one, y0=other[:5]),
        lambda: model.predict_online(one, other),
        lambda: model.monitor().update(one, other),
        lambda: model.metrics(iv.Record(one, other, sample_time=10.0)),
    ):
        with pytest.warns(UserWarning, match="trend goes by the clock, and these data have none"):
            use()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.metrics(u[500:], y[500:])
        # Nothing to tell of a trend that never had a clock.
        iv.ARX(lags=(2, 0, 2), detrend=["y"]).fit(u.to_numpy(), y.to_numpy()).metrics(one, other)


def test_tables_with_gaps_in_their_dates_are_refused_in_use_as_in_fits() -> None:
    u, y = drifting(600)
    model = iv.ARX(lags=(2, 0, 2)).fit(u, y)
    holes = [u.drop(u.index[100:130]), y.drop(y.index[100:130])]
    with pytest.raises(iv.errors.DataError, match="row 101, time column 'index': a gap of 310 s where 10 s are usual"):
        model.metrics(*holes)
    with pytest.raises(iv.errors.ShapeError, match="different times"):
        model.predict(u[100:], y0=y[:5])
    with pytest.raises(iv.errors.ShapeError, match="u has 600 samples, y has 10"):
        model.metrics(u, y[:10])
    assert len(model.predict(u[:6], y0=y[:5])) == 6


def test_an_estimator_and_a_record_agree_on_what_was_done() -> None:
    u, y = two_by_two(400, 4)
    prepared = iv.Record(u, y, decimate=2, clip_spikes=8)
    for options in ({"decimate": 10}, {"decimate": 2}, {"decimate": 2, "clip_spikes": {"y1": 8.0}}):
        with pytest.raises(iv.errors.OptionError, match="the record was prepared otherwise already"):
            iv.ARX(lags=(1, 0, 1), **options).fit(prepared)
    same = iv.ARX(lags=(1, 0, 1), decimate=2, clip_spikes={"y1": 8, "y2": 8}).fit(prepared)
    assert same.model_.to_bytes() == iv.ARX(lags=(1, 0, 1)).fit(prepared).model_.to_bytes()
