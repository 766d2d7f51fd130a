"""Studies on real clusters of two local workers: Ray and Dask, with workers that are killed while they compute."""

from __future__ import annotations

import os
import pathlib
import runpy
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from test_study import SLOW, SMALL, content

from intervalid import errors, study
from intervalid._intervalid import StudyDriver, study_spec


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


def _computing() -> list[int]:
    """Processes of Ray that are computing a task now; Ray names them so."""
    pids = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                title = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if title.startswith(b"ray::execute"):
                pids.append(int(entry.name))
    return pids


class _Killer(threading.Thread):
    """Kills the first worker that computes, as soon as it is seen to: on a fast machine a run is over in a moment."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.killed: int | None = None

    def run(self) -> None:
        deadline = time.monotonic() + 120
        while self.killed is None and time.monotonic() < deadline:
            for pid in _computing()[:1]:
                os.kill(pid, signal.SIGKILL)
                self.killed = pid
            time.sleep(0.005)


def test_ray(ray: Any, reference: dict[str, list[Any]], tmp_path: pathlib.Path) -> None:
    assert study.run(SMALL, out=tmp_path, executor="ray").done == 8
    assert content(tmp_path) == reference["small"]
    assert ray.is_initialized(), "a cluster that was there before stays"
    assert study.run(SMALL, out=tmp_path, executor="ray").resumed == 8


def test_a_killed_ray_worker_costs_its_run_only(
    ray: Any, reference: dict[str, list[Any]], tmp_path: pathlib.Path
) -> None:
    killer = _Killer()
    killer.start()
    summary = study.run(SLOW, out=tmp_path, executor="ray")
    killer.join()
    assert killer.killed is not None
    assert (summary.done, summary.failed, summary.left) == (6, 0, 0)
    assert content(tmp_path) == reference["slow"]


def test_a_ray_worker_that_always_dies_is_a_failed_run(
    ray: Any, reference: dict[str, list[Any]], tmp_path: pathlib.Path
) -> None:
    killer = _Killer()
    killer.start()
    seen: list[study.RunEvent] = []
    summary = study.run(SLOW, out=tmp_path, executor="ray", retries=0, progress=seen.append)
    killer.join()
    assert (summary.done, summary.failed) == (5, 1)
    assert [event.reason for event in seen if event.status == "failed"][0] is not None
    assert "the worker died" in study.status(tmp_path)["failures"][0]["reason"]
    assert study.run(SLOW, out=tmp_path, executor="ray").done == 1
    assert content(tmp_path) == reference["slow"]


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


def test_dask(reference: dict[str, list[Any]], tmp_path: pathlib.Path) -> None:
    distributed = _require("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        assert study.run(SMALL, out=tmp_path / "small", executor=client).done == 8
        assert content(tmp_path / "small") == reference["small"]
        pids = list(client.run(os.getpid).values())
        killer = threading.Timer(1.0, lambda: os.kill(pids[0], signal.SIGKILL))
        killer.start()
        assert study.run(SLOW, out=tmp_path / "slow", executor="dask").done == 6
        killer.join()
    assert content(tmp_path / "slow") == reference["slow"]
