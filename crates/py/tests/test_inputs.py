"""Whatever holds numbers can be given: arrays of any layout, tables of any library, lists of experiments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import intervalid as iv
from conftest import small, two_by_two
from intervalid._arrays import table

U, Y = two_by_two(200, 3)


def bytes_of(u: Any, y: Any) -> bytes:
    """The fitted model, with default channel names."""
    return iv.ARX(lags=(1, 0, 1)).fit(u, y).model_.to_bytes()


@pytest.mark.parametrize(
    "layout",
    [
        np.ascontiguousarray,
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=0)[::2],
        lambda a: np.repeat(a, 3, axis=1)[:, ::3],
        lambda a: a[::-1].copy()[::-1],
        lambda a: a.tolist(),
        lambda a: a.astype(">f8"),
        lambda a: a.astype(object),
    ],
)
def test_layouts_of_an_array_change_nothing(layout: Any) -> None:
    assert bytes_of(layout(U), layout(Y)) == bytes_of(U, Y)


def test_float32_is_taken_as_it_is() -> None:
    assert bytes_of(U.astype(np.float32), Y.astype(np.float32)) == bytes_of(
        U.astype(np.float32).astype(np.float64), Y.astype(np.float32).astype(np.float64)
    )


class OnlyArrow:
    """A table of a library that nobody has heard of, which speaks the Arrow protocol."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)


class OnlyInterchange:
    """A table of such a library, which speaks the older interchange protocol."""

    def __init__(self, frame: pa.Table) -> None:
        self._frame = frame

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self._frame.__dataframe__(nan_as_null, allow_copy)


class OnlyArray:
    """An array of such a library."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self._array, dtype=dtype)


@pytest.mark.parametrize(
    "container",
    [
        lambda a, n: pd.DataFrame(a, columns=n),
        lambda a, n: pl.DataFrame(a, schema=n),
        lambda a, n: pa.table(dict(zip(n, a.T, strict=True))),
        lambda a, n: pa.record_batch(dict(zip(n, a.T, strict=True))),
        lambda a, n: OnlyArrow(pl.DataFrame(a, schema=n)),
        lambda a, n: OnlyInterchange(pa.table(dict(zip(n, a.T, strict=True)))),
    ],
)
def test_tables_bring_their_names(container: Any) -> None:
    u, y = container(U, ["flow", "heat"]), container(Y, ["level", "temperature"])
    model = iv.ARX(lags=(1, 0, 1)).fit(u, y)
    assert list(model.feature_names_in_) == ["flow", "heat"]
    assert model.output_names_ == ["level", "temperature"]
    plain = iv.ARX(lags=(1, 0, 1)).fit(U, Y)
    band = model.predict(u, y0=container(Y[:1], ["level", "temperature"]))
    np.testing.assert_array_equal(band.mean, plain.predict(U, y0=Y[:1]).mean)
    # Columns are found by name, whatever their order and what else is there.
    wide = np.column_stack([U[:, 1], U[:, 0], U[:, 0]])
    np.testing.assert_array_equal(model.predict(container(wide, ["heat", "flow", "x"]), y0=Y[:1]).mean, band.mean)
    with pytest.raises(iv.errors.ChannelsError, match="no column heat"):
        model.predict(container(U, ["flow", "heat2"]), y0=Y[:1])


def test_the_array_protocol_is_enough() -> None:
    assert bytes_of(OnlyArray(U), OnlyArray(Y)) == bytes_of(U, Y)


@pytest.mark.parametrize(
    "series",
    [
        lambda a: pd.Series(a, name="level"),
        lambda a: pl.Series("level", a),
    ],
)
def test_a_series_is_one_named_channel(series: Any) -> None:
    model = iv.ARX(lags=(1, 0, 1)).fit(U, series(Y[:, 0]))
    assert model.output_names_ == ["level"] and model.predict(U, y0=series(Y[:1, 0])).mean.ndim == 1


def test_columns_are_read_where_they_are() -> None:
    array = np.asfortranarray(U)
    columns = table(array, "u").columns
    assert all(np.shares_memory(column, array) for column in columns)
    frame = pl.DataFrame({"a": U[:, 0]})
    assert np.shares_memory(table(frame, "u").columns[0], frame["a"].to_numpy())
    arrow = pa.table({"a": U[:, 0]}).combine_chunks()
    assert np.shares_memory(table(arrow, "u").columns[0], arrow["a"].chunk(0).to_numpy())


def test_integers_and_flags_are_numbers() -> None:
    generator = np.random.default_rng(1)
    u = generator.integers(0, 2, size=200)
    y = np.convolve(u, [0.0, 0.5, 0.3])[:200] + 0.01 * generator.normal(size=200)
    assert bytes_of(u, y) == bytes_of(u.astype(float), y) == bytes_of(u.astype(bool), y)


def test_lists_are_experiments() -> None:
    other = two_by_two(150, 4)
    model = iv.ARX(lags=(1, 0, 1)).fit([U, other[0]], [Y, other[1]])
    bands = model.predict([U, other[0]], y0=[Y[:1], other[1][:1]])
    assert [len(band) for band in bands] == [200, 150]
    np.testing.assert_array_equal(bands[1].mean, model.predict(other[0], y0=other[1][:1]).mean)
    online = model.predict_online([U, other[0]], [Y, other[1]])
    assert [band.known for band in online] == [1, 1]
    with pytest.raises(iv.errors.ShapeError, match="u has 2 experiments, y has 1"):
        model.fit([U, other[0]], [Y])
    with pytest.raises(iv.errors.ShapeError, match="experiment 1 has 1 channels, the first one 2"):
        model.fit([U, other[0][:, 0]], [Y, other[1]])
    with pytest.raises(iv.errors.ShapeError, match="y0 has 1"):
        model.predict([U, other[0]], y0=Y[:1])


def test_a_time_series_needs_no_inputs() -> None:
    generator = np.random.default_rng(2)
    y = np.zeros(300)
    for k in range(2, 300):
        y[k] = 1.6 * y[k - 1] - 0.8 * y[k - 2] + generator.normal()
    model = iv.ARX(lags=(0, 0, 2)).fit(None, y)
    assert model.n_features_in_ == 0
    assert model.metrics(None, y)["n"] == 299
    record = iv.Record(None, y)
    assert len(model.predict(record)) == 300
    # A forecast: what comes after the samples that are known, by the model's own equation.
    model = iv.ARX(lags=(0, 0, 2), initial="measured").fit(None, y)
    band = model.predict(None, y0=y, samples=50)
    assert (len(band), band.known) == (350, 300)
    (term,), bias = model.coef_, model.linear_["equations"][0]["constant"]
    expected = list(y[-2:])
    for _ in range(50):
        expected.append(term @ expected[:-3:-1] + bias)
    np.testing.assert_allclose(band.mean[300:], expected[2:], rtol=1e-9, atol=1e-9)
    assert [len(one) for one in model.predict(None, y0=[y[:20], y[:40]], samples=5)] == [25, 45]
    for given, error, message in (
        ({"y0": y}, iv.errors.OptionError, "samples = None"),
        ({"samples": 5}, iv.errors.InitialOutputsError, "needs y0"),
    ):
        with pytest.raises(error, match=message):
            model.predict(None, **given)
    with pytest.raises(iv.errors.OptionError, match="u says how many"):
        model.predict(record, samples=5)


def test_records_bring_their_own_start(dryer: iv.Record) -> None:
    model = small().fit(dryer[:500])
    np.testing.assert_array_equal(
        model.predict(dryer[500:]).mean, model.predict(dryer.u[500:], y0=dryer.y[500:501]).mean
    )
    assert model.predict(dryer[500:]).sample_time == 0.08 and model.predict(dryer[500:]).units == ("V",)
    assert len(dryer[::2]) == 500 and dryer.split == (0.4, 0.1, 0.5)
    with pytest.raises(TypeError, match="slices"):
        dryer[3]  # type: ignore[index]
    with pytest.raises(iv.errors.ShapeError, match="leave y out"):
        model.fit(dryer, dryer.y)


@pytest.mark.parametrize(
    ("u", "y", "error", "message"),
    [
        (U, Y[:-1], iv.errors.ShapeError, "u has 200 samples, y has 199"),
        (U[:, :, None], Y, iv.errors.ShapeError, "3 dimensions"),
        (U, None, iv.errors.ShapeError, "y is None"),
        (np.where(U == U[7, 0], np.nan, U), Y, iv.errors.NonFiniteError, "NaN at sample"),
        (U.astype(complex), Y, iv.errors.NotNumericError, "Complex data"),
        (np.array([["a", "b"]] * 200), Y, iv.errors.NotNumericError, "not numbers"),
        ([], Y, iv.errors.ShapeError, "empty list"),
        (U[:3], Y[:3], iv.errors.TooShortError, "consecutive samples|too few|is empty"),
        (np.ones(200), Y, iv.errors.ConstantChannelError, "'u' is constant"),
        (pd.DataFrame(U, columns=["y1", "b"]), Y, iv.errors.ShapeError, "named twice"),
    ],
)
def test_bad_data_are_refused_with_where_and_why(u: Any, y: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        iv.ARX(lags=(1, 0, 1)).fit(u, y)
    assert isinstance(raised.value, (ValueError, iv.IntervalidError))


def test_y0_is_asked_for_and_counted(dryer: iv.Record) -> None:
    model = iv.ARX(lags=(2, 2, 3), initial="measured").fit(dryer.u[:500], dryer.y[:500])
    # The third output, and the fourth input before the first step.
    assert model.initial_outputs_ == 4
    with pytest.raises(iv.errors.InitialOutputsError, match=r"predict needs y0: the first 4 .* y0=y\[:4\]"):
        model.predict(dryer.u)
    with pytest.raises(iv.errors.InitialOutputsError, match="y0 has 2 samples, expected at least 4"):
        model.predict(dryer.u, y0=dryer.y[:2])
    with pytest.raises(iv.errors.ShapeError, match="nothing is left to predict"):
        model.predict(dryer.u[:5], y0=dryer.y[:5])
    with pytest.raises(iv.errors.ChannelsError, match="X has 2 features, but ARX is expecting 1"):
        model.predict(U, y0=dryer.y[:4])
    with pytest.raises(iv.errors.ChannelsError, match="the data have 2 outputs"):
        model.predict(dryer.u, y0=Y[:4])
