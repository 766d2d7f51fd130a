"""Names decide which column is which, and times say when: whatever a table knows is used or refused, never passed over."""

from __future__ import annotations

import pathlib

import numpy as np
import pandas as pd
import pytest

import intervalid as iv
from conftest import small, two_by_two

U, Y = two_by_two(300, 5)
INPUTS = pd.DataFrame(U, columns=["flow", "heat"])
OUTPUTS = pd.DataFrame(Y, columns=["level", "temperature"])


@pytest.fixture(scope="module")
def model() -> iv.ARX:
    return iv.ARX(lags=(1, 0, 1)).fit(INPUTS, OUTPUTS)


def test_swapped_columns_give_the_same_numbers(model: iv.ARX, tmp_path: pathlib.Path) -> None:
    model.save(tmp_path / "m.safetensors")
    loaded = iv.load_model(tmp_path / "m.safetensors")
    for estimator in (model, loaded):
        expected = estimator.metrics(INPUTS, OUTPUTS)
        assert estimator.metrics(INPUTS[["heat", "flow"]], OUTPUTS[["temperature", "level"]]) == expected
        straight = estimator.predict(INPUTS, y0=OUTPUTS[:1]).mean
        swapped = estimator.predict(INPUTS[["heat", "flow"]], y0=OUTPUTS[["temperature", "level"]][:1]).mean
        np.testing.assert_array_equal(straight, swapped)
        record = iv.Record(INPUTS[["heat", "flow"]], OUTPUTS[["temperature", "level"]])
        assert estimator.metrics(record) == expected
        np.testing.assert_array_equal(estimator.predict(record).mean, straight)
        # Arrays have no names: the order counts.
        assert estimator.metrics(U, Y) == expected


def test_tables_without_the_right_names_are_refused(model: iv.ARX, tmp_path: pathlib.Path) -> None:
    model.save(tmp_path / "m.safetensors")
    for estimator in (model, iv.load_model(tmp_path / "m.safetensors")):
        with pytest.raises(iv.errors.ChannelsError, match="u has no column flow"):
            estimator.metrics(INPUTS.rename(columns={"flow": "u1"}), OUTPUTS)
        with pytest.raises(iv.errors.ChannelsError, match="y has no column level"):
            estimator.metrics(INPUTS, OUTPUTS.rename(columns={"level": "x"}))
        with pytest.raises(iv.errors.ChannelsError, match="no column temperature"):
            estimator.predict(INPUTS, y0=OUTPUTS[["level"]][:1])
    # A unit in brackets is no other name.
    with_units = OUTPUTS.rename(columns={"level": "level [m]"})
    assert model.metrics(INPUTS, with_units) == model.metrics(INPUTS, OUTPUTS)
    # A model of plain arrays has no names to insist on.
    plain = iv.ARX(lags=(1, 0, 1)).fit(U, Y)
    assert plain.metrics(INPUTS, OUTPUTS) == plain.metrics(U, Y)


def test_a_run_step_by_step_takes_columns_by_name(model: iv.ARX) -> None:
    expected = model.simulator(y0=OUTPUTS[:20], u0=INPUTS[:20]).step(INPUTS.iloc[20])
    swapped = INPUTS[["heat", "flow"]], OUTPUTS[["temperature", "level"]]
    simulator = model.simulator(y0=swapped[1][:20], u0=swapped[0][:20])
    for now in (U[20], swapped[0].iloc[20], swapped[0][20:21], list(U[20])):
        np.testing.assert_array_equal(simulator.copy().step(now).mean, expected.mean)
    # Measurements too.
    simulator.step(U[20])
    other = simulator.copy()
    simulator.correct(Y[20])
    other.correct(swapped[1].iloc[20])
    np.testing.assert_array_equal(simulator.step(U[21]).mean, other.step(U[21]).mean)
    with pytest.raises(iv.errors.ChannelsError, match="u has no column heat"):
        simulator.reset(OUTPUTS[:20], INPUTS.rename(columns={"heat": "x"})[:20])


def dated(step: str = "5s", drop: slice | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    index = pd.date_range("2024-03-01 10:00", periods=300, freq=step)
    frames = [INPUTS.set_axis(index), OUTPUTS.set_axis(index)]
    return tuple(frame if drop is None else frame.drop(frame.index[drop]) for frame in frames)


def test_an_index_of_dates_gives_the_sample_time() -> None:
    u, y = dated()
    assert iv.Record(u, y).sample_time == 5.0
    model = iv.ARX(lags=(1, 0, 1)).fit(u, y)
    assert model.predict(u, y0=y[:1]).sample_time == 5.0
    with pytest.raises(iv.errors.ChannelsError, match="every 5 s, the data have one every 1 s"):
        model.predict(dated("1s")[0], y0=Y[:1])
    with pytest.raises(iv.errors.ShapeError, match="different times"):
        iv.Record(u, dated("1s")[1])


def test_a_record_at_another_rate_is_refused(tmp_path: pathlib.Path) -> None:
    record, fast = iv.Record(*dated()), iv.Record(*dated("1s"))
    model = iv.ARX(lags=(1, 0, 1)).fit(record)
    for other, seconds in ((fast, 1), (fast[:200], 1), (record[::2], 10)):
        for use in (
            model.predict,
            model.simulate,
            model.predict_online,
            model.predict_ahead,
            model.metrics,
            model.score,
            lambda data: model.report(tmp_path / "page.html", data),
        ):
            with pytest.raises(iv.errors.ChannelsError, match=f"every 5 s, the data have one every {seconds} s"):
                use(other)
    assert not (tmp_path / "page.html").exists()
    assert model.metrics(record[:200]) == model.metrics(U[:200], Y[:200])
    # A sample time that somebody gave is a label.
    assert model.metrics(iv.Record(U, Y, sample_time=1.0)) == model.metrics(record)
    with pytest.raises(iv.errors.OptionError, match="a step of -1: expected at least 1"):
        _ = record[::-1]


def test_gaps_and_jitter_in_an_index_are_refused() -> None:
    u, y = dated(drop=slice(100, 130))
    with pytest.raises(iv.errors.DataError, match="row 101, time column 'index': a gap of 155 s where 5 s are usual"):
        iv.ARX(lags=(1, 0, 1)).fit(u, y)
    with pytest.warns(UserWarning, match="1 gap"):
        record = iv.Record(u, y, missing="split")
    assert [len(part) for part in record.y] == [100, 170]
    late = u.index + pd.to_timedelta(np.arange(len(u)) % 2, unit="s")
    with pytest.raises(iv.errors.DataError, match="evenly spaced"):
        iv.Record(u.set_axis(late), y.set_axis(late), missing="split")
    u, y = dated()
    late = u.index + pd.to_timedelta(np.arange(len(u)) % 2, unit="s")
    with pytest.warns(UserWarning, match="resampled to"):
        assert iv.Record(u.set_axis(late), y.set_axis(late), resample=5.0).sample_time == 5.0
    with pytest.raises(iv.errors.ShapeError, match="resample needs times"):
        iv.Record(U, Y, resample=5.0)


def test_times_are_no_inputs() -> None:
    stamped = INPUTS.assign(when=pd.date_range("2024-03-01", periods=300, freq="s"))
    with pytest.raises(iv.errors.NotNumericError, match="column 'when': .*times, not numbers"):
        iv.ARX(lags=(1, 0, 1)).fit(stamped, OUTPUTS)
    objects = INPUTS.assign(when=[stamp.to_pydatetime() for stamp in stamped["when"]]).astype({"when": object})
    with pytest.raises(iv.errors.NotNumericError, match="dates are not numbers"):
        iv.ARX(lags=(1, 0, 1)).fit(objects, OUTPUTS)


def test_shuffled_folds_are_refused() -> None:
    from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_score

    model = iv.ARX(lags=(1, 0, 1))
    with pytest.raises(iv.errors.ShapeError, match="must not be shuffled"):
        cross_val_score(model, INPUTS, OUTPUTS, cv=KFold(3, shuffle=True, random_state=1), error_score="raise")
    assert len(cross_val_score(model, INPUTS, OUTPUTS, cv=TimeSeriesSplit(3))) == 3


def test_transposed_arrays_are_recognised() -> None:
    with pytest.raises(iv.errors.ShapeError, match=r"u has 2 samples of 300 channels: .*Give u\.T"):
        iv.ARX(lags=(1, 0, 1)).fit(U.T, Y)
    with pytest.raises(iv.errors.ShapeError, match=r"y has 1 sample of 300 channels"):
        iv.ARX(lags=(1, 0, 1)).fit(U, Y[:, :1].T)
    model = iv.ARX(lags=(1, 0, 1)).fit(U, Y)
    with pytest.raises(iv.errors.ShapeError, match=r"u has 2 samples of 300 channels: .*Give u\.T"):
        model.predict(U.T, y0=Y[:1])


def test_random_state_is_the_seed() -> None:
    parameters = {"lags": (1, 0, 1), "hidden": (4,), "epochs": 2, "window": (20, 10)}
    one = iv.IntervalNODE(**parameters, random_state=3).fit(U, Y)  # type: ignore[arg-type]
    other = iv.IntervalNODE(**parameters, seed=3).fit(U, Y)  # type: ignore[arg-type]
    assert one.model_.to_bytes() == other.model_.to_bytes() and one.config_["seed"] == 3
    with pytest.raises(iv.errors.OptionError, match="random_state = 'x'"):
        iv.ARX(random_state="x").fit(U, Y)  # type: ignore[arg-type]


def test_misspelt_keywords_are_answered_with_the_near_name() -> None:
    with pytest.raises(TypeError, match="'covrage': did you mean 'coverage'"):
        iv.AutoModel(covrage=0.9)  # type: ignore[call-arg]


def test_a_fitted_model_says_what_was_found(model: iv.ARX) -> None:
    assert repr(model) == (
        "ARX(lags=(1, 0, 1)), fitted: arx with lags 1,0,1, level, temperature from flow, heat, 90 % band"
    )
    page = model._repr_html_()
    assert page.startswith("<table>") and "level, temperature from flow, heat" in page
    assert iv.ARX()._repr_html_() == "<pre>ARX()</pre>"
    judged = iv.ARX(lags=(1, 0, 1), split=(0.6, 0.1, 0.3)).fit(INPUTS, OUTPUTS)
    # Showing a model does not judge it.
    assert "test part" not in judged._repr_html_()
    assert judged.result_["test"] is not None
    assert "test part, share inside" in judged._repr_html_()


def test_a_model_with_hidden_states_is_described_by_its_states() -> None:
    model = iv.IntervalStateSpace(states=2, epochs=2, hidden=4, window=(40, 20), initial="history:20").fit(INPUTS, OUTPUTS)
    assert "fitted: iss with 2 states, level, temperature from flow, heat" in repr(model)
    with pytest.raises(iv.errors.InitialOutputsError, match=r"\(initial = 'history:20', 2 states\)"):
        model.predict(INPUTS, y0=OUTPUTS[:5])


def test_files_are_read_as_the_command_line_reads_them(tmp_path: pathlib.Path) -> None:
    rows = "\n".join(f"2024-03-01 10:00:{k:02d};{k}" for k in range(40))
    (tmp_path / "a.csv").write_text(f"sep=;\nPlant\nwhen;level [m]\n{rows}\n")
    record = iv.load_data(tmp_path / "a.csv", inputs=[], outputs=["level"], skip_rows=2)
    assert record.sample_time == 1.0 and record._record.outputs == [("level", "m")]
    assert record._record.start(0) == ("2024-03-01T10:00:00", 4)
    named = iv.load_data(tmp_path / "a.csv", inputs=[], outputs=["level"], skip_rows=2, time="", units={"level": "mm"})
    assert named.sample_time is None and named._record.outputs == [("level", "mm")]
    with pytest.warns(UserWarning, match="resampled to"):
        assert len(iv.load_data(tmp_path / "a.csv", inputs=[], outputs=["level"], skip_rows=2, resample=2.0)) == 20


def test_a_linear_model_can_be_looked_into(model: iv.ARX, dryer: iv.Record) -> None:
    u = np.repeat(np.random.default_rng(1).normal(20.0, 5.0, size=80), 5)
    y = np.full(400, 30.0)
    for k in range(1, 400):
        y[k] = 0.9 * y[k - 1] + 0.5 * u[k] + 1.0
    known = iv.ARX(lags=(0, 0, 1)).fit(u, y)
    np.testing.assert_allclose(known.coef_, [[0.9, 0.5]], rtol=1e-6)
    equation = known.linear_["equations"][0]
    assert abs(equation["constant"] - 1.0) < 1e-5 and abs(equation["gains"][0][1] - 5.0) < 1e-4
    assert known.linear_["is_stable"] and abs(known.linear_["poles"][0]["re"] - 0.9) < 1e-6
    assert model.coef_.shape == (2, 6)
    with pytest.raises(AttributeError, match="model 'inode'"):
        _ = small().fit(dryer[:300]).coef_


def test_predictions_take_columns_by_name(model: iv.ARX) -> None:
    band = model.predict(INPUTS, y0=OUTPUTS[:1])
    swapped = OUTPUTS[["temperature", "level"]]
    assert band.metrics(swapped) == band.metrics(OUTPUTS) == model.metrics(INPUTS, OUTPUTS)
    np.testing.assert_array_equal(band.contains(swapped), band.contains(OUTPUTS))
    with pytest.raises(iv.errors.ChannelsError, match="y has no column level"):
        band.metrics(OUTPUTS.rename(columns={"level": "x"}))
    u, y = dated()
    band = iv.ARX(lags=(1, 0, 1)).fit(u, y).predict(u[100:], y0=y[100:101])
    assert band.metrics(y[100:])["n"] == 199
    with pytest.raises(iv.errors.ShapeError, match="y has other times in its index than the prediction"):
        band.metrics(y[:200])


def test_data_in_other_units_are_refused(tmp_path: pathlib.Path) -> None:
    for name, unit, factor in (("m", "m", 1.0), ("mm", "mm", 1000.0), ("none", "", 1.0)):
        head = f"level [{unit}]" if unit else "level"
        rows = "\n".join(f"{u},{factor * y}" for u, y in zip(U[:, 0], Y[:, 0], strict=True))
        (tmp_path / f"{name}.csv").write_text(f"flow,{head}\n{rows}\n")

    def load(name: str) -> iv.Record:
        return iv.load_data(tmp_path / f"{name}.csv", inputs=["flow"], outputs=["level"])

    model = iv.ARX(lags=(1, 0, 1)).fit(load("m"))
    model.save(tmp_path / "model.safetensors")
    for estimator in (model, iv.load_model(tmp_path / "model.safetensors")):
        expected = estimator.metrics(load("m"))
        assert estimator.metrics(load("none")) == expected
        for use in (estimator.metrics, estimator.predict, estimator.recalibrate, estimator.monitor().update):
            with pytest.raises(iv.errors.ChannelsError, match="mm"):
                use(load("mm"))
        frame = pd.DataFrame({"level [mm]": 1000.0 * Y[:, 0]})
        with pytest.raises(iv.errors.ChannelsError, match=r"y has level \[mm\], the model takes level in m"):
            estimator.metrics(INPUTS[["flow"]], frame)
        # Of two columns of the name, the one in the unit of the model.
        both = frame.assign(**{"level [m]": Y[:, 0]})
        assert estimator.metrics(INPUTS[["flow"]], both) == expected


def test_columns_that_could_both_be_meant_are_refused(model: iv.ARX) -> None:
    twice = pd.concat([INPUTS, INPUTS[["flow"]]], axis=1)
    with pytest.raises(iv.errors.ChannelsError, match="u has 2 columns named flow"):
        model.metrics(twice, OUTPUTS)
    near = OUTPUTS.rename(columns={"level": "level [m]"}).assign(**{"level [mm]": 0.0})
    with pytest.raises(iv.errors.ChannelsError, match=r"y has several columns for level: level \[m\], level \[mm\]"):
        model.metrics(INPUTS, near)
    # Brackets may as well count channels.
    numbered = iv.ARX(lags=(1, 0, 1)).fit(INPUTS.set_axis(["x[1]", "x[2]"], axis=1), OUTPUTS)
    with pytest.raises(iv.errors.ChannelsError):
        numbered.metrics(INPUTS.set_axis(["x[3]", "x[2]"], axis=1), OUTPUTS)


def test_rows_out_of_order_are_refused_in_use_as_in_fits(model: iv.ARX) -> None:
    shuffled = INPUTS.sample(frac=1, random_state=1)
    for use in (
        lambda: model.metrics(shuffled, OUTPUTS),
        lambda: model.score(shuffled, OUTPUTS),
        lambda: model.predict(shuffled, y0=OUTPUTS[:1]),
        lambda: model.recalibrate(shuffled, OUTPUTS),
        lambda: model.monitor().update(shuffled, OUTPUTS),
    ):
        with pytest.raises(iv.errors.ShapeError, match="its index does not rise"):
            use()
    with pytest.raises(iv.errors.ShapeError, match="u has 5 rows, expected one"):
        model.simulator(y0=OUTPUTS[:20]).step(INPUTS[20:25])


def test_rows_of_other_samples_are_refused_or_told() -> None:
    arx = iv.ARX(lags=(1, 0, 1))
    with pytest.raises(iv.errors.ShapeError, match="u has rows 50 to 149, y has rows 150 to 249"):
        arx.fit(INPUTS[50:150], OUTPUTS[150:250])
    with pytest.warns(UserWarning, match="u has rows 0 to 99, y has rows 150 to 249: they are taken in the order they come in"):
        arx.fit(INPUTS[:100], OUTPUTS[150:250])
    with pytest.warns(UserWarning, match="1 hole in 299 rows"):
        arx.fit(INPUTS.drop(100), OUTPUTS.drop(100))
    record = iv.Record([INPUTS[:100], INPUTS[100:]], [OUTPUTS[:100], OUTPUTS[100:]])
    frame = record.to_pandas()
    with pytest.raises(iv.errors.ShapeError, match="labels of 2 levels, so they are of several experiments"):
        arx.fit(frame[["flow", "heat"]], frame[["level", "temperature"]])
    parts = [part for _, part in frame.groupby(level=0)]
    assert len(parts) == 2


def test_a_record_has_a_name_and_a_rate_of_its_own() -> None:
    record = iv.Record(U, Y, sample_time=2.0)
    for options in ({"sample_time": 0.1}, {"name": "x"}):
        with pytest.raises(iv.errors.OptionError, match="a name and a sample time of its own"):
            iv.ARX(lags=(1, 0, 1)).fit(record, **options)
