"""Studies on real clusters of two local workers: Ray and Dask, with workers that are killed while they compute."""

from __future__ import annotations

import os
import pathlib
import runpy
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from test_study import SLOW, SMALL, content

from intervalid import _engines, errors, study
from intervalid._intervalid import StudyDriver, study_execute, study_spec


def _require(module: str) -> Any:
    if os.environ.get("CI") == "true":
        return __import__(module)
    return pytest.importorskip(module)


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """A local Ray with two workers."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray = _require("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Databases of both studies, computed without a cluster."""
    found = {}
    for spec in (SMALL, SLOW):
        out = tmp_path_factory.mktemp(spec["name"])
        study.run(spec, out=out, workers=2)
        found[spec["name"]] = content(out)
    return found


def _deadly_once(folder: pathlib.Path) -> tuple[Callable[[str], list[str]], pathlib.Path]:
    """What workers execute, but the first of them dies with its results in hand, and the file by which one sees that it did.

    It kills itself: no look from outside is sure to find a run of milliseconds at work.
    """
    trace = folder / "killed"
    place = str(trace)

    def execute(task: str) -> list[str]:
        results = study_execute(task)
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return results
        os.kill(os.getpid(), signal.SIGKILL)
        return results

    return execute, trace


def test_ray(ray: Any, reference: dict[str, list[Any]], tmp_path: pathlib.Path) -> None:
    assert study.run(SMALL, out=tmp_path, executor="ray").done == 8
    assert content(tmp_path) == reference["small"]
    assert ray.is_initialized(), "a cluster that was there before stays"
    assert study.run(SMALL, out=tmp_path, executor="ray").resumed == 8


def test_a_killed_ray_worker_costs_its_run_only(
    ray: Any, reference: dict[str, list[Any]], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute, killed = _deadly_once(tmp_path)
    monkeypatch.setattr(_engines, "execute", execute)
    summary = study.run(SLOW, out=tmp_path / "out", executor="ray")
    assert killed.exists()
    assert (summary.done, summary.failed, summary.left) == (6, 0, 0)
    assert content(tmp_path / "out") == reference["slow"]


def test_a_ray_worker_that_always_dies_is_a_failed_run(
    ray: Any, reference: dict[str, list[Any]], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute, _ = _deadly_once(tmp_path)
    out = tmp_path / "out"
    seen: list[study.RunEvent] = []
    with monkeypatch.context() as patch:
        patch.setattr(_engines, "execute", execute)
        summary = study.run(SLOW, out=out, executor="ray", retries=0, progress=seen.append)
    assert (summary.done, summary.failed) == (5, 1)
    assert [event.reason for event in seen if event.status == "failed"][0] is not None
    assert "the worker died" in study.status(out)["failures"][0]["reason"]
    assert study.run(SLOW, out=out, executor="ray").done == 1
    assert content(out) == reference["slow"]


def test_ray_brings_a_workers_error_home(ray: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "\n".join(f"{k * 37 % 11},{k * 53 % 17}" for k in range(300))
    (tmp_path / "mine.csv").write_text(f"u,y\n{rows}\n")
    spec = {"name": "mine", "datasets": ["mine"], "models": ["arx"], "seeds": "1..4"}
    driver = StudyDriver

    def changed(*arguments: Any, **options: Any) -> Any:
        planned = driver(*arguments, **options)
        (tmp_path / "mine.csv").write_text(f"u,y\n1,1\n{rows}\n")
        return planned

    monkeypatch.setattr(study, "StudyDriver", changed)
    with pytest.raises(errors.WorkerDataError, match="differ from those of the machine that planned"):
        study.run(spec, out=tmp_path / "out", executor="ray", data_dir=tmp_path)


def test_the_guide_says_what_works(
    ray: Any, reference: dict[str, list[Any]], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _require("distributed")
    page = (pathlib.Path(__file__).parents[3] / "docs/guide/cluster.md").read_text()
    blocks = [part.partition("```")[0] for part in page.split("```python\n")[1:]]
    monkeypatch.chdir(tmp_path)
    pathlib.Path("my-study.toml").write_text(study_spec(SMALL))
    for block in blocks:
        exec(block, {"__name__": "__main__"})
    for out in ("on-ray", "on-dask", "in-a-pool"):
        assert content(tmp_path / out) == reference["small"], out


def test_the_overhead_is_measured(ray: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _require("distributed")
    example = pathlib.Path(__file__).parents[3] / "examples/python/cluster_overhead.py"
    runpy.run_path(str(example))["main"](3)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    names = [row.split(" | ")[0].strip("| ") for row in rows[1:]]
    assert names == ["computing", "recording", "local", "process pool", "ray", "dask"]


def test_dask(reference: dict[str, list[Any]], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = _require("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        assert study.run(SMALL, out=tmp_path / "small", executor=client).done == 8
        assert content(tmp_path / "small") == reference["small"]
        execute, killed = _deadly_once(tmp_path)
        monkeypatch.setattr(_engines, "execute", execute)
        assert study.run(SLOW, out=tmp_path / "slow", executor="dask").done == 6
        assert killed.exists()
    assert content(tmp_path / "slow") == reference["slow"]
