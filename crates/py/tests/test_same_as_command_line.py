"""The same settings and seed give the same bits as the command line."""

from __future__ import annotations

import csv
import json
import pathlib
import subprocess
from typing import Any

import numpy as np
import pandas as pd
import pytest

import intervalid as iv
from conftest import two_by_two

PAPER = (0.4, 0.1, 0.5)


def run(program: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run([program, *arguments, "--json", "--quiet"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def compare(result: dict[str, Any], folder: pathlib.Path, model: iv.Estimator) -> None:
    """Model file, metrics and test predictions are the same."""
    assert (folder / "model.safetensors").read_bytes() == model.model_.to_bytes()
    ours = dict(model.result_)
    for timed in ("train_seconds", "out", "search"):
        ours.pop(timed, None)
        result.pop(timed, None)
    assert ours == result


@pytest.mark.parametrize(
    ("arguments", "model"),
    [
        (["--model", "inode", "--strategy", "joint"], iv.IntervalNODE(strategy="joint", epochs=3)),
        (["--model", "inode", "--strategy", "cascade"], iv.IntervalNODE(epochs=3)),
        (
            ["--model", "ilstm", "--margin", "relu", "--hidden", "5,4", "--seed", "7", "--precision", "f64"],
            iv.IntervalLSTM(margin="relu", hidden=(5, 4), seed=7, precision="f64", epochs=3),
        ),
        (
            ["--model", "inode", "--hidden", "4", "--calibrate", "--initial", "measured"],
            iv.IntervalNODE(hidden=(4,), calibrate=True, initial="measured", epochs=3, n_jobs=2),
        ),
        (["--model", "dropout-lstm", "--coverage", "0.95"], iv.DropoutLSTM(coverage=0.95, epochs=3)),
        (["--model", "bnode"], iv.BayesianNODE(epochs=3)),
        (["--model", "ensemble-node", "--hidden", "4"], iv.EnsembleNODE(epochs=3, hidden=(4,))),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_networks(program: str, arguments: list[str], model: iv.Estimator, tmp_path: pathlib.Path) -> None:
    result = run(program, "fit", "hair-dryer", *arguments, "--epochs", "3", "--out", str(tmp_path / "fit"))
    model.set_params(split=PAPER).fit(iv.load_data("hair-dryer"))
    compare(result, tmp_path / "fit", model)


def test_arx_and_auto_on_an_own_record(program: str, tmp_path: pathlib.Path) -> None:
    u, y = two_by_two(240, 5)
    frame = pd.DataFrame({"flow": u[:, 0], "heat": u[:, 1], "level": y[:, 0], "temperature": y[:, 1]})
    frame.to_csv(tmp_path / "my.csv", index=False)
    columns = ["--input", "flow,heat", "--output", "level,temperature", "--sample-time", "0.5", "--split", "0.4,0.1,0.5"]
    data = (frame[["flow", "heat"]], frame[["level", "temperature"]])
    arx = iv.ARX(split=PAPER).fit(*data, sample_time=0.5, name="my")
    result = run(
        program, "fit", str(tmp_path / "my.csv"), *columns, "--preset", "paper", "--model", "arx", "--out", str(tmp_path / "a")
    )
    compare(result, tmp_path / "a", arx)

    (tmp_path / "auto.toml").write_text("preset = 'auto'\nrounds = 1\n")
    result = run(
        program,
        *("fit", str(tmp_path / "my.csv"), *columns),
        *("--config", str(tmp_path / "auto.toml"), "--model", "inode", "--out", str(tmp_path / "b")),
    )
    auto = iv.AutoModel(model="inode", rounds=1, split=PAPER, n_jobs=2).fit(*data, sample_time=0.5, name="my")
    assert auto.search_ is not None and auto.search_["why"] == result["search"]["why"]
    compare(result, tmp_path / "b", auto)


def test_predictions_of_the_test_part(program: str, dryer: iv.Record, tmp_path: pathlib.Path) -> None:
    run(program, "fit", "hair-dryer", "--model", "inode", "--epochs", "3", "--out", str(tmp_path / "fit"))
    model = iv.load_model(tmp_path / "fit")
    # The test part starts at sample 500, which is known, with the inputs before it.
    band = model.predict(dryer.u, y0=dryer.y[:501])
    with (tmp_path / "fit" / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 499
    for ours, name in ((band.mean, "y_hat"), (band.lower, "y_lower"), (band.upper, "y_upper")):
        np.testing.assert_array_equal(ours[501:], [float(row[name]) for row in rows])


def test_bands_of_several_coverages(program: str, tmp_path: pathlib.Path) -> None:
    u, y = two_by_two(240, 5)
    frame = pd.DataFrame({"flow": u[:, 0], "heat": u[:, 1], "level": y[:, 0], "temperature": y[:, 1]})
    frame.to_csv(tmp_path / "my.csv", index=False)
    columns = ["--input", "flow,heat", "--output", "level,temperature", "--split", "0.4,0.1,0.5"]
    fit = ["fit", str(tmp_path / "my.csv"), *columns, "--model", "arx", "--coverage", "0.5,0.9,0.99"]
    result = run(program, *fit, "--out", str(tmp_path / "a"))
    data = (frame[["flow", "heat"]], frame[["level", "temperature"]])
    model = iv.AutoModel(model="arx", coverage=[0.5, 0.9, 0.99], split=PAPER).fit(*data, name="my")
    compare(result, tmp_path / "a", model)
    assert [level["coverage"] for level in model.result_["levels"]] == [0.5, 0.99]

    loaded = iv.load_model(tmp_path / "a")
    start = loaded.initial_outputs_
    band = loaded.predict(data[0], y0=data[1][:start], coverage=[0.8, 0.9, 0.5])
    assert band.coverage == 0.9 and sorted(band.levels) == [0.5, 0.8]
    inner, outer = band.predicted["level"].levels[0.5], band.predicted["level"].levels[0.8]
    assert (outer[0] < inner[0]).all() and (inner[1] < outer[1]).all()
    assert (band.predicted["level"].lower < outer[0]).all()
    assert list(band.to_pandas().columns)[3] == "level_lower_50"
    alone = loaded.predict(data[0], y0=data[1][:start], coverage=0.8)
    assert alone.coverage == 0.8
    np.testing.assert_array_equal(alone.lower, band.levels[0.8][0])
    there = run(program, "evaluate", str(tmp_path / "a"), str(tmp_path / "my.csv"), "--coverage", "0.8")
    assert loaded.metrics(*data, coverage=0.8)["picp"] == there["picp"]
    with pytest.raises(iv.errors.OptionError, match="expected 0.1 to 0.99"):
        loaded.predict(data[0], y0=data[1][:start], coverage=0.999)
    with pytest.raises(iv.errors.OptionError, match="calibrated"):
        iv.IntervalNODE(coverage=[0.5, 0.9], epochs=1).fit(*data)


def test_physical_limits(program: str, tmp_path: pathlib.Path) -> None:
    u, y = two_by_two(240, 5)
    frame = pd.DataFrame({"flow": u[:, 0], "heat": u[:, 1], "level": y[:, 0], "temperature": y[:, 1]})
    frame.to_csv(tmp_path / "my.csv", index=False)
    most = float(y[:, 0].max()) + 1e-3
    columns = ["--input", "flow,heat", "--output", "level,temperature", "--split", "0.4,0.1,0.5"]
    limits = ["--output-range", f"level=:{most!r}"]
    fit = ["fit", str(tmp_path / "my.csv"), *columns, *limits, "--preset", "paper", "--model", "arx"]
    result = run(program, *fit, "--out", str(tmp_path / "a"))
    data = (frame[["flow", "heat"]], frame[["level", "temperature"]])
    model = iv.ARX(output_range={"level": (None, most)}, split=PAPER).fit(*data, name="my")
    compare(result, tmp_path / "a", model)
    band = model.predict(data[0], y0=data[1][: model.initial_outputs_])
    assert band["level"].predicted.upper.max() == most
    with pytest.raises(iv.errors.OptionError, match="outside of its range"):
        iv.ARX(output_range={"level": "0:0.001"}).fit(*data)
    with pytest.raises(iv.errors.OptionError, match="expected"):
        iv.ARX(output_range={"level": 3}).fit(*data)


def test_a_model_saved_here_is_used_there(program: str, dryer: iv.Record, tmp_path: pathlib.Path) -> None:
    model = iv.IntervalNODE(epochs=3, hidden=(5,)).fit(dryer[:500])
    model.save(tmp_path / "model.safetensors")
    for online in (False, True):
        flags = ["--online"] if online else []
        there = run(program, "evaluate", str(tmp_path / "model.safetensors"), "hair-dryer", *flags)
        here = model.metrics(dryer, online=online)
        assert {key: there[key] for key in here} == here


def test_the_report_tells_the_same(program: str, dryer: iv.Record, tmp_path: pathlib.Path) -> None:
    run(program, "fit", "hair-dryer", "--model", "inode", "--epochs", "3", "--out", str(tmp_path / "fit"))
    page = json.loads((tmp_path / "fit" / "report.json").read_text())
    model = iv.IntervalNODE(epochs=3, split=PAPER).fit(dryer)
    model.report(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text().replace("\xa0", " ")
    assert html.startswith("<!DOCTYPE html>") or html.startswith("<!doctype html>")
    for fact in page["facts"]:
        assert fact["value"] in html
    for sentence in page["lead"]:
        assert sentence.replace("'", "&#x27;").replace('"', "&quot;") in html, sentence
    assert "IntervalNODE(epochs=3, split=(0.4, 0.1, 0.5)).fit(u, y)" in html
    assert len(html) > 0.9 * len((tmp_path / "fit" / "report.html").read_text())
