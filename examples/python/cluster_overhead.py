"""What an executor adds to a run of a study.

    python examples/python/cluster_overhead.py [RUNS]

Runs a study of many tiny fits (ARX on the built-in hair dryer) with one worker of every kind, in turns, and compares it with
computing and recording the same tasks in a bare loop. Recording is mostly the disk: a result is safe there before it counts
as done. Starting a cluster is not counted. What is left is the time per run for planning, sending and receiving.
"""

from __future__ import annotations

import concurrent.futures
import importlib
import multiprocessing
import os
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

from intervalid import study  # noqa: E402
from intervalid._intervalid import StudyDriver, study_execute, study_spec  # noqa: E402

ROUNDS = 3


def spec(runs: int) -> dict[str, Any]:
    return {
        "name": "overhead",
        "datasets": ["hair-dryer"],
        "models": ["arx"],
        "seeds": list(range(1, runs + 1)),
        "settings": {"lags": {"nx": 2, "nd": 0, "ny": 3}},
    }


def bare(runs: int, out: pathlib.Path) -> tuple[float, float]:
    """Seconds to compute all tasks in a loop, and to record their results."""
    driver = StudyDriver(study_spec(spec(runs)), out)
    tasks = []
    while (task := driver.next_task()[0]) is not None:
        tasks.append(task.text)
    started = time.perf_counter()
    outputs = [output for text in tasks for output in study_execute(text)]
    computed = time.perf_counter()
    for output in outputs:
        driver.put(output)
    recorded = time.perf_counter()
    driver.close()
    return computed - started, recorded - computed


def main(runs: int) -> None:
    pool = concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    executors: dict[str, Any] = {"local": "local", "process pool": pool}
    closers: list[Callable[[], object]] = [pool.shutdown]
    try:
        ray: Any = importlib.import_module("ray")
        if not ray.is_initialized():
            ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
            closers.append(ray.shutdown)
        executors["ray"] = "ray"
    except ImportError:
        print("Ray is not installed: left out", file=sys.stderr)
    try:
        distributed: Any = importlib.import_module("distributed")
        client = distributed.Client(n_workers=1, threads_per_worker=1, dashboard_address=None)
        executors["dask"] = client
        closers.append(client.close)
    except ImportError:
        print("Dask is not installed: left out", file=sys.stderr)
    seconds: dict[str, list[float]] = {name: [] for name in ["computing", "recording", *executors]}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        for name, executor in executors.items():  # workers start and import
            study.run(spec(2), out=out / f"warm-{name}", executor=executor, workers=1)
        for turn in range(ROUNDS):
            for name, bare_seconds in zip(("computing", "recording"), bare(runs, out / f"bare-{turn}"), strict=True):
                seconds[name].append(bare_seconds)
            for name, executor in executors.items():
                started = time.perf_counter()
                summary = study.run(spec(runs), out=out / f"{name}-{turn}", executor=executor, workers=1)
                seconds[name].append(time.perf_counter() - started)
                assert summary.done == runs, summary
    for close in reversed(closers):
        close()
    each = {name: 1e3 * statistics.median(values) / runs for name, values in seconds.items()}
    print(f"{runs} runs, medians of {ROUNDS} rounds, ms per run; folder on {tempfile.gettempdir()}\n")
    print("| | in all | beyond computing and recording |\n|---|---|---|")
    for name in seconds:
        beyond = f"{each[name] - each['computing'] - each['recording']:.1f}" if name in executors else ""
        print(f"| {name} | {each[name]:.1f} | {beyond} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
