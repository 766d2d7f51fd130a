"""Predictions: shape, rows, outputs, metrics, tables and pictures."""

from __future__ import annotations

import pathlib
import pickle

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import intervalid as iv
from conftest import small, two_by_two


def test_one_row_per_sample_and_the_known_ones_are_those_given(dryer: iv.Record, fitted: iv.IntervalNODE) -> None:
    u, y = dryer.u[500:], dryer.y[500:]
    band = fitted.predict(u, y0=y[:4])
    assert band.mean.shape == band.lower.shape == band.upper.shape == (500,)
    assert band.known == 4
    np.testing.assert_array_equal(band.mean[:4], y[:4])
    np.testing.assert_array_equal(band.width[:4], 0)
    assert (band.width[4:] > 0).all()
    assert (band.lower <= band.mean).all() and (band.mean <= band.upper).all()


def test_a_run_starts_after_the_last_output_that_is_given(dryer: iv.Record) -> None:
    u, y = dryer.u[500:], dryer.y[500:]
    model = iv.ARX(lags=(2, 2, 3)).fit(dryer[:500])
    late = model.predict(u, y0=y[:50])
    early = model.predict(u, y0=y[:1])
    # Both forget their start: the dryer is well damped.
    assert np.abs(late.mean[300:] - early.mean[300:]).max() < 1e-6
    assert np.abs(late.mean[50:60] - early.mean[50:60]).max() > 0


def test_slices_masks_rows_and_outputs(dryer: iv.Record, fitted: iv.IntervalNODE) -> None:
    band = fitted.predict(dryer.u, y0=dryer.y[:2])
    part = band[100:200]
    assert isinstance(part, iv.Prediction) and len(part) == 100 and part.known == 0
    np.testing.assert_array_equal(part.mean, band.mean[100:200])
    assert band[:10].known == 2 and band[1:10].known == 1
    assert band.predicted.known == 0 and len(band.predicted) == 998
    mask = band.width > np.median(band.width)
    np.testing.assert_array_equal(band[mask].mean, band.mean[mask])
    sample = band[-1]
    assert sample == (band.mean[-1], band.lower[-1], band.upper[-1]) and isinstance(sample.mean, float)
    assert band["y"] is band
    with pytest.raises(KeyError, match="there are y"):
        band["z"]
    np.testing.assert_array_equal(np.asarray(band), band.mean)
    assert [row.upper for row in band][-1] == band.upper[-1]
    again = pickle.loads(pickle.dumps(band))
    np.testing.assert_array_equal(again.upper, band.upper)


def test_metrics_are_those_of_the_model(dryer: iv.Record, fitted: iv.IntervalNODE) -> None:
    u, y = dryer.u[500:], dryer.y[500:]
    band = fitted.predict(u, y0=y[: fitted.initial_outputs_])
    of_band, of_model = band.metrics(y), fitted.metrics(u, y)
    assert of_band == of_model
    assert of_band["n"] == 499
    assert of_band["picp"] == pytest.approx(band.contains(y)[band.known :].mean())
    assert of_band["rmse"] == pytest.approx(np.sqrt(np.mean((band.mean - y)[1:] ** 2)))
    with pytest.raises(iv.errors.ShapeError, match="one row per sample"):
        band.metrics(y[:10])


def test_several_outputs_have_columns() -> None:
    u, y = two_by_two(300, 1)
    model = iv.ARX(lags=(1, 0, 1)).fit(u, y)
    band = model.predict(u, y0=y[:1])
    assert band.shape == (300, 2) and band.outputs == ("y1", "y2")
    assert band["y2"].mean.shape == (300,)
    np.testing.assert_array_equal(band["y2"].upper, band.upper[:, 1])
    metrics = band.metrics(y)
    assert set(metrics["picp"]) == {"y1", "y2", "all"}
    assert list(band.to_pandas().columns)[:3] == ["y1_mean", "y1_lower", "y1_upper"]
    assert isinstance(band[3].mean, np.ndarray)
    assert model.score(u, y) > 0.98


def test_tables_keep_the_index_of_the_inputs(dryer: iv.Record) -> None:
    frame = dryer.to_pandas()
    frame.index = pd.date_range("2026-01-01", periods=1000, freq="80ms", name="time")
    model = iv.ARX(lags=(2, 2, 3)).fit(frame[["u"]], frame["y"])
    band = model.predict(frame[["u"]][500:], y0=frame["y"][500:501])
    table = band.to_pandas()
    assert list(table.columns) == ["mean", "lower", "upper"]
    assert table.index.equals(frame.index[500:])
    assert band[10:20].to_pandas().index.equals(frame.index[510:520])


def test_a_plot_shows_band_mean_and_measured(dryer: iv.Record, fitted: iv.IntervalNODE) -> None:
    band = fitted.predict(dryer.u[500:], y0=dryer.y[500:501])
    axes = band.plot(dryer.y[500:], title="hair dryer")
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[:3] == ["90 % interval", "simulated", "measured"]
    assert axes.get_title(loc="left") == "hair dryer" and axes.get_xlabel() == "sample"
    outside = ~band.contains(dryer.y[500:])
    marked = [line for line in axes.get_lines() if line.get_label() == "outside"]
    assert sum(len(line.get_xdata()) for line in marked) == outside.sum()
    same = band.plot(ax=axes)
    assert same is axes
    with pytest.raises(ValueError, match="one per output"):
        band.plot(ax=[axes, axes])


def test_a_run_that_leaves_every_range_ends_in_nan_with_a_warning() -> None:
    generator = np.random.default_rng(1)
    u = generator.normal(size=300)
    y = np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.5 * y[k - 1] + u[k]
    model = iv.IntervalNODE(lags=(0, 0, 1), hidden=(4,), epochs=2, window=(20, 5), linear_path=True).fit(u, y)
    huge = np.full(50, 5e5)
    with pytest.warns(RuntimeWarning, match="left every reasonable range"):
        band = model.predict(huge, y0=[0.0])
    assert band.diverged_at is not None and np.isnan(band.mean[band.diverged_at :]).all()
    assert "diverged" in repr(band)
    assert band.metrics(np.zeros(50))["rmse"] is None


def test_online_bands_follow_the_measurements(dryer: iv.Record, fitted: iv.IntervalNODE) -> None:
    u, y = dryer.u[500:], dryer.y[500:]
    band, online = fitted.predict(u, y0=y[:1]), fitted.predict_online(u, y)
    np.testing.assert_array_equal(band.mean, online.mean)
    assert not np.array_equal(band.lower, online.lower)
    assert online.metrics(y) == fitted.metrics(u, y, online=True)
    # The band of a sample knows nothing of that sample: a wild last output changes nothing.
    wild = y.copy()
    wild[-1] = 1e3
    np.testing.assert_array_equal(online.upper, fitted.predict_online(u, wild).upper)


def test_recursion_widens(dryer: iv.Record, fitted: iv.IntervalNODE) -> None:
    u, y0 = dryer.u[500:560], dryer.y[500:501]
    one, three = fitted.simulate(u, y0), fitted.simulate(u, y0, recursion=3)
    np.testing.assert_array_equal(one.mean, fitted.predict(u, y0).mean)
    assert (three.width[3:] > one.width[3:]).all()
    with pytest.raises(iv.errors.OptionError, match="'recentred', 'full'"):
        fitted.simulate(u, y0, recursion="fully")


def test_warmup_leads_the_run(dryer: iv.Record) -> None:
    model = small(initial="warmup:10").fit(dryer.u[:500], dryer.y[:500])
    assert model.initial_outputs_ == 11
    band = model.predict(dryer.u[500:], y0=dryer.y[500:511])
    assert band.known == 11 and len(band.predicted) == 489
    assert band.metrics(dryer.y[500:]) == model.metrics(dryer.u[500:], dryer.y[500:])


def test_a_notebook_shows_the_band_and_its_first_rows(dryer: iv.Record, fitted: iv.IntervalNODE) -> None:
    band = fitted.predict(dryer.u, y0=dryer.y[:2])
    shown = band._repr_html_()
    assert shown.count("<svg") == 1 and "<polygon" in shown and "currentColor" in shown
    assert "and 993 more rows" in shown and "nan" not in shown
    u, y = two_by_two(200, 2)
    several = small().fit(u, y).predict(u, y0=y[:4])
    assert several._repr_html_().count("<svg") == 2
    # A run without finite bounds has no drawing, and no error.
    assert "<svg" not in band[:1]._repr_html_()


def of_arrays(model: iv.ARX, u: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> iv.Prediction:
    """The type checker refuses a function that returns Any: these are about it as much as about the numbers."""
    return model.predict(u, y0=y[:3])


def of_lists(model: iv.ARX, u: list[npt.NDArray[np.float64]], y: list[npt.NDArray[np.float64]]) -> list[iv.Prediction]:
    return model.predict(u, y0=[one[:3] for one in y])


def a_row(band: iv.Prediction) -> iv.Sample:
    return band[7]


def a_stretch(band: iv.Prediction) -> iv.Prediction:
    return band[5:20]["y"]


def test_predictions_are_typed(dryer: iv.Record) -> None:
    u, y = dryer.u, dryer.y
    model = iv.ARX(lags=(2, 2, 3)).fit(u[:500], y[:500])
    one = of_arrays(model, u[500:], y[500:])
    several = of_lists(model, [u[500:700], u[700:]], [y[500:700], y[700:]])
    assert isinstance(one, iv.Prediction) and [len(band) for band in several] == [200, 300]
    assert isinstance(a_row(one), iv.Sample) and len(a_stretch(one)) == 15
    assert isinstance(model.predict(list(u[500:]), y0=y[500:503]), iv.Prediction)


def test_the_light_model_has_fewer_members_and_its_own_band(dryer: iv.Record, tmp_path: pathlib.Path) -> None:
    record = dryer[:500]
    full = iv.AutoModel(model="arx").fit(record)
    light = full.light()
    assert (full.model_.members, light.model_.members) == (6, 1)
    bands = [model.predict(record) for model in (full, light)]
    assert np.abs(bands[0].mean - bands[1].mean).max() < 0.5
    assert not np.array_equal(bands[0].upper, bands[1].upper)
    written = full.export(tmp_path / "light.c", band="light")
    assert written["band"] == "light" and written["bands"]["light"]["members"] == 1
