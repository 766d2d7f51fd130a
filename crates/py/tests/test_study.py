"""Studies: the same database whoever computes, and what is left when somebody dies."""

from __future__ import annotations

import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from intervalid import errors, study

#: Eight runs in six tasks of every kind, in a moment.
SMALL: dict[str, Any] = {
    "name": "small",
    "datasets": ["hair-dryer"],
    "models": ["inode", "bnode", "arx"],
    "strategies": ["cascade", "joint"],
    "margins": ["abs"],
    "coverages": [0.9, 0.95],
    "settings": {"epochs": 2, "hidden": [5], "samples": 3, "lags": {"nx": 2, "nd": 0, "ny": 3}},
}
#: Six runs that are long enough to be interrupted.
SLOW: dict[str, Any] = SMALL | {
    "name": "slow",
    "models": ["inode"],
    "strategies": ["joint"],
    "coverages": [0.9],
    "seeds": "1..6",
    "settings": SMALL["settings"] | {"epochs": 60, "hidden": [20, 20]},
}


def content(out: pathlib.Path) -> list[tuple[Any, ...]]:
    """Everything in a study's database but times."""
    rows: list[tuple[Any, ...]] = []
    with sqlite3.connect(out / "study.sqlite") as connection:
        connection.row_factory = sqlite3.Row
        for table, order in [("meta", "name"), ("runs", "key"), ("predictions", "key"), ("models", "key")]:
            for row in connection.execute(f"SELECT * FROM {table} ORDER BY {order}"):
                if not (table == "meta" and row["name"] == "created"):
                    rows.append(tuple(row[key] for key in row.keys() if key not in ("train_seconds", "finished_at")))
    return rows


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The small study, run in threads."""
    out = tmp_path_factory.mktemp("small")
    assert study.run(SMALL, out=out, workers=2).done == 8
    return out


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The slow study, undisturbed."""
    out = tmp_path_factory.mktemp("slow")
    assert study.run(SLOW, out=out, workers=2).done == 6
    return out


def test_a_study_is_that_of_the_program(small: pathlib.Path, tmp_path: pathlib.Path, program: str) -> None:
    text = "\n".join(
        [
            'name = "small"\ndatasets = ["hair-dryer"]\nmodels = ["inode", "bnode", "arx"]',
            'strategies = ["cascade", "joint"]\nmargins = ["abs"]\ncoverages = [0.9, 0.95]',
            "[settings]\nepochs = 2\nhidden = [5]\nsamples = 3\nlags = { nx = 2, nd = 0, ny = 3 }\n",
        ]
    )
    (tmp_path / "small.toml").write_text(text)
    out = tmp_path / "out"
    subprocess.run([program, "study", "run", tmp_path / "small.toml", "--out", out, "--quiet"], check=True)
    assert content(out) == content(small)
    tables = [subprocess.check_output([program, "study", "table", folder, "--json"]) for folder in (out, small)]
    assert tables[0] == tables[1]
    # Each goes on where the other stopped, and a path or a text is as good as a dict.
    for spec in (tmp_path / "small.toml", text, SMALL):
        assert study.run(spec, out=out).resumed == 8
    assert json.loads(tables[0]) == json.loads(json.dumps(_tables(out)))


def _tables(out: pathlib.Path) -> Any:
    from intervalid import _intervalid

    return _intervalid.study_table(out)


def test_a_study_is_looked_at(small: pathlib.Path) -> None:
    assert study.status(small)["runs"] == {"total": 8, "done": 8, "failed": 0, "left": 0}
    runs = study.runs(small)
    assert len(runs) == 8 and all(run["rmse"] > 0 and run["status"] == "done" for run in runs)
    rows = study.table(small)
    assert {row["model"] for row in rows} == {"inode", "bnode", "arx"}
    assert all(row["n"] == 1 and row["mean"] is not None for row in rows if row["metric"] == "rmse")
    pandas = pytest.importorskip("pandas")
    assert isinstance(study.table(small, as_frame=True), pandas.DataFrame)
    assert study.runs(small, as_frame=True).groupby("model").rmse.mean().notna().all()


def test_every_run_a_task(small: pathlib.Path, tmp_path: pathlib.Path) -> None:
    seen: list[study.RunEvent] = []
    summary = study.run(SMALL, out=tmp_path, workers=2, share_training=False, progress=seen.append)
    assert (summary.done, summary.left, len(seen)) == (8, 0, 8)
    assert {event.status for event in seen} == {"done"} and {event.total for event in seen} == {8}
    assert content(tmp_path) == content(small)


def test_shards_are_merged(small: pathlib.Path, tmp_path: pathlib.Path) -> None:
    shards = [tmp_path / str(index) for index in (1, 2)]
    for index, shard in enumerate(shards, 1):
        assert study.run(SMALL, out=shard, shard=f"{index}/2").left == 0
    assert study.merge(tmp_path / "all", shards)["added"] == 8
    assert study.merge(tmp_path / "all", shards)["added"] == 0
    assert content(tmp_path / "all") == content(small)


def test_mistakes_are_named(small: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(errors.StudySpecError, match="unknown key 'epoch'"):
        study.run(SMALL | {"settings": {"epoch": 3}}, out=tmp_path)
    with pytest.raises(errors.StudySpecError, match="no built-in study 'papper'"):
        study.run("papper", out=tmp_path)
    with pytest.raises(errors.StudySpecError, match="count from 1"):
        study.run(SMALL, out=tmp_path, shard="0/4")
    with pytest.raises(errors.StudyConflictError, match="other contents"):
        study.run(SLOW, out=small)
    with pytest.raises(errors.StudyNotFoundError, match="holds no study"):
        study.status(tmp_path)
    for executor in ("cloud", object()):
        with pytest.raises(errors.OptionError, match="expected 'local', 'ray', 'dask'"):
            study.run(SMALL, out=tmp_path, executor=executor)
    with pytest.raises(errors.UnknownDataError):
        study.run(SMALL | {"datasets": ["nowhere"]}, out=tmp_path)
    assert list(tmp_path.iterdir()) == [], "nothing was written"
    with pytest.warns(UserWarning, match="'nowhere' is missing, 2 runs left out"):
        spec = SMALL | {"datasets": ["hair-dryer", "nowhere"], "models": ["arx"]}
        assert study.run(spec, out=tmp_path).missing_datasets == ["nowhere"]


def test_ctrl_c_keeps_what_is_finished(slow: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def interrupt(event: study.RunEvent) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(SLOW, out=tmp_path, workers=2, progress=interrupt)
    done = study.status(tmp_path)["runs"]["done"]
    assert 1 <= done < 6
    assert not (tmp_path / "claims").exists()
    summary = study.run(SLOW, out=tmp_path, workers=2)
    assert (summary.resumed, summary.done) == (done, 6 - done)
    assert content(tmp_path) == content(slow)


def _count(out: pathlib.Path) -> int:
    try:
        return int(study.status(out)["runs"]["done"])
    except errors.StudyError:
        return 0


def test_a_killed_driver_loses_nothing_finished(slow: pathlib.Path, tmp_path: pathlib.Path) -> None:
    code = f"from intervalid import study; study.run({SLOW!r}, out={str(tmp_path)!r}, workers=2)"
    with subprocess.Popen([sys.executable, "-c", code]) as driver:
        while _count(tmp_path) < 2 and driver.poll() is None:
            time.sleep(0.02)
        driver.kill()
    done = _count(tmp_path)
    assert 2 <= done < 6
    summary = study.run(SLOW, out=tmp_path, workers=2)
    assert (summary.resumed, summary.done) == (done, 6 - done)
    assert content(tmp_path) == content(slow)


def test_a_process_pool(small: pathlib.Path, tmp_path: pathlib.Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn) as pool:
        assert study.run(SMALL, out=tmp_path, executor=pool).done == 8
        assert content(tmp_path) == content(small)
        # A pool does not survive its workers: what was finished does.
        pids = list(pool._processes or {})
        killer = threading.Timer(0.5, lambda: os.kill(pids[0], signal.SIGKILL))
        killer.start()
        with pytest.raises(errors.WorkersLostError, match="run the study again"):
            study.run(SLOW | {"settings": {"epochs": 400}}, out=tmp_path / "lost", executor=pool)
    assert study.status(tmp_path / "lost")["runs"]["failed"] == 0
    fork = concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"))
    with fork, pytest.raises(errors.OptionError, match="spawn"):
        study.run(SMALL, out=tmp_path, executor=fork)
