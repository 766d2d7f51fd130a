"""Studies: grids of fits, on this machine or on many.

The process that calls :func:`run` is the driver: it plans, hands out tasks and alone writes ``study.sqlite``. Workers only
compute. So a worker that dies costs what it was computing, and a driver that dies nothing that was finished: call
:func:`run` again. The folder is the one of ``intervalid study run``; ``intervalid study table|figures|status`` and
``intervalid report`` read it.

>>> from intervalid import study
>>> spec = {"name": "small", "datasets": ["hair-dryer"], "models": ["arx"]}
>>> study.run(spec, out="small").done  # doctest: +SKIP
1
"""

from __future__ import annotations

import concurrent.futures
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from . import _engines
from ._intervalid import StudyDriver, StudyTask, study_merge, study_runs, study_spec, study_status, study_table
from .errors import MissingDependencyError

__all__ = ["RunEvent", "Spec", "Summary", "merge", "run", "runs", "status", "table"]

#: A file, the name of a built-in study, the text of a study file, or its content as a dict.
Spec: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any]"
#: A folder.
Folder: TypeAlias = "str | os.PathLike[str]"

#: Seconds between two looks at runs that another driver is computing.
_LOOK_AGAIN = 0.2


@dataclass(frozen=True)
class Summary:
    """What a call of :func:`run` did."""

    #: Runs finished in this call.
    done: int
    #: Runs that failed in this call; :func:`status` says why, the next call tries them again.
    failed: int
    #: Runs that were done before, or meanwhile by another driver.
    resumed: int
    #: Runs left out because their data set is missing.
    skipped: int
    #: Runs that are neither done nor failed.
    left: int
    #: Runs removed because data, settings or the program had changed.
    outdated: int
    #: Names of the missing data sets.
    missing_datasets: list[str]
    #: Time of this call.
    seconds: float


@dataclass(frozen=True)
class RunEvent:
    """A run that has ended."""

    #: In words, such as ``"hair-dryer arx 0.9 seed 1"``.
    run: str
    #: ``"done"`` or ``"failed"``.
    status: str
    #: Why it failed.
    reason: str | None
    #: Root mean squared error of the test part; ``None`` with several outputs, which have no common unit.
    rmse: float | None
    #: Share of the test part inside the band, of the worst output.
    picp: float | None
    #: Training time.
    train_seconds: float | None
    #: Runs that have ended so far.
    ended: int
    #: All runs.
    total: int


def run(
    spec: Spec,
    *,
    out: Folder,
    executor: str | concurrent.futures.Executor | Any = "local",
    workers: int | None = None,
    data_dir: Folder | None = None,
    shard: str | None = None,
    share_training: bool = True,
    retries: int = 3,
    in_flight: int | None = None,
    progress: bool | Callable[[RunEvent], object] = False,
) -> Summary:
    """Run what `out` does not hold yet of a study; failed runs are tried again.

    Results depend on the study and the data only, not on the executor, the number of workers or interruptions.

    Parameters
    ----------
    spec
        A study: a file, ``"paper"``, ``"paper-faithful"``, ``"paper-auto"`` or ``"paper-quick"``, the text of a study file, or its content as a dict.
    out
        Folder of ``study.sqlite``. Only this process writes to it.
    executor
        ``"local"`` (threads of this process, which compute without holding the interpreter), ``"ray"``, ``"dask"``, a
        ``distributed.Client``, or any :class:`concurrent.futures.Executor` whose workers can import intervalid. Ray and Dask
        are used as they are set up; where they are not, a local cluster is started and ended again.
    workers
        Workers of what is started here; default: all cores. Each computes in one thread.
    data_dir
        Folder of further data sets. Workers look there too, then in their own ``INTERVALID_DATA``, and compare what they find
        with what the driver has.
    shard
        One share of the study only, ``"1/4"`` to ``"4/4"``.
    share_training
        Whether runs that can share training are computed together. Without, every run is a task of its own: more tasks to
        spread over many workers, more work in all.
    retries
        How often Ray or Dask compute a task again when its worker died, before its runs are recorded as failed.
    in_flight
        Tasks that are handed out at a time; default: twice the workers.
    progress
        ``True`` for a bar (without tqdm: a line per run), or a function that is called with every run that has ended.

    Returns
    -------
    Summary
        What was done. Runs that failed are in :func:`status`.

    Raises
    ------
    intervalid.errors.StudyError
        If the study, its data or its folder cannot be used, or a worker has another version or other data.
    KeyboardInterrupt
        After what was running has been stopped. All that was finished is in the folder.
    """
    text = study_spec(dict(spec) if isinstance(spec, Mapping) else spec)
    with _reporter(progress) as report, _engines.engine(executor, workers, retries) as engine:
        driver = StudyDriver(
            text,
            os.fspath(out),
            data_dir=None if data_dir is None else os.fspath(data_dir),
            shard=shard,
            share_training=share_training,
        )
        try:
            for name, reason, count in driver.missing():
                warnings.warn(f"data set '{name}' is missing, {count} runs left out: {reason}", stacklevel=2)
            report.start(*driver.progress())
            _drive(driver, engine, in_flight, report)
            return Summary(**driver.summary())
        finally:
            driver.close()


def _drive(driver: StudyDriver, engine: _engines.Engine, in_flight: int | None, report: _Reporter) -> None:
    running: dict[Any, StudyTask] = {}
    try:
        while True:
            busy = False
            while len(running) < (in_flight or 2 * engine.workers()):
                task, busy = driver.next_task()
                if task is None:
                    break
                running[engine.submit(task.text)] = task
            if not running:
                if not busy:
                    return
                time.sleep(_LOOK_AGAIN)
            for handle in engine.wait(list(running)) if running else ():
                task = running.pop(handle)
                try:
                    outputs = engine.result(handle)
                except _engines.WorkerLost as lost:
                    for event in driver.fail(task.text, str(lost)):
                        report.ended(event, *driver.progress())
                else:
                    for output in outputs:
                        report.ended(driver.put(output), *driver.progress())
                    driver.release(task.text)
    finally:
        # Nothing runs on when all went well.
        engine.cancel(list(running))


class _Reporter:
    """Tells of runs that end."""

    def __init__(self, callback: Callable[[RunEvent], object]) -> None:
        self._callback = callback

    def __enter__(self) -> _Reporter:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def start(self, ended: int, total: int) -> None:
        """Says how much there is to do."""

    def ended(self, event: dict[str, Any], ended: int, total: int) -> None:
        """Says that a run has ended."""
        fields = {key: value for key, value in event.items() if key != "stored"}
        self._callback(RunEvent(**fields, ended=ended, total=total))


class _Bar(_Reporter):
    """A bar of tqdm."""

    def __init__(self, bar: Any) -> None:
        super().__init__(self._show)
        self._bar = bar

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def start(self, ended: int, total: int) -> None:
        self._bar.reset(total)
        self._bar.update(ended)

    def _show(self, event: RunEvent) -> None:
        self._bar.set_postfix_str(event.run, refresh=False)
        self._bar.update(event.ended - self._bar.n)


def _reporter(progress: bool | Callable[[RunEvent], object]) -> _Reporter:
    if callable(progress):
        return _Reporter(progress)
    if not progress:
        return _Reporter(lambda _: None)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Reporter(lambda event: print(f"{event.ended}/{event.total} {event.status}: {event.run}", file=sys.stderr))
    return _Bar(tqdm(unit="run"))


def status(out: Folder) -> dict[str, Any]:
    """How far the study in a folder is: what ``intervalid study status --json`` prints."""
    return study_status(os.fspath(out))


def merge(out: Folder, shards: Iterable[Folder]) -> dict[str, Any]:
    """Put the shards of a study together, as ``intervalid study merge`` does."""
    return study_merge(os.fspath(out), [os.fspath(shard) for shard in shards])


def runs(out: Folder, *, as_frame: bool = False) -> Any:
    """All recorded runs with their metrics of the test part: a list of dicts, or a pandas data frame.

    With several outputs the metrics are means over them; ``rmse`` and ``interval_score`` have a meaning only where all have one unit.
    """
    rows = []
    for record in study_runs(os.fspath(out)):
        test = record.get("test", {}).get("all", {})
        row = {key: record.get(key) for key in ("dataset", "model", "strategy", "margin", "coverage", "seed", "status", "reason")}
        row |= {key: test.get(key) for key in ("rmse", "fit_percent", "picp", "pinaw", "cwc", "interval_score")}
        row |= {key: record.get(key) for key in ("epochs_run", "train_seconds", "parameters", "key")}
        rows.append(row)
    return _frame(rows) if as_frame else rows


def table(out: Folder, *, as_frame: bool = False) -> Any:
    """The tables of a study, a row per cell: a list of dicts, or a pandas data frame.

    ``mean`` and ``std`` are over the ``n`` seeds that are done; ``published_mean`` and ``published_std`` are the paper's, where
    it has the cell.
    """
    rows: list[dict[str, Any]] = []
    for one in study_table(os.fspath(out))["tables"]:
        for row in one["rows"]:
            for column, cell in zip(one["columns"], row["cells"], strict=True):
                ours, published = cell["ours"] or {}, cell["published"] or {}
                rows.append(
                    {
                        "kind": one["kind"],
                        "dataset": row["dataset"],
                        "model": column["model"],
                        "strategy": column["strategy"],
                        "margin": column["margin"],
                        "coverage": one["coverage"],
                        "metric": row["metric"],
                        "n": ours.get("n", 0),
                        "mean": ours.get("mean"),
                        "std": ours.get("std"),
                        "published_mean": published.get("mean"),
                        "published_std": published.get("std"),
                        "mark": cell["mark"],
                        "failed": cell["failed"],
                        "missing": cell["missing"],
                    }
                )
    return _frame(rows) if as_frame else rows


def _frame(rows: Sequence[dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise MissingDependencyError("as_frame=True needs pandas: pip install 'intervalid[pandas]'") from error
    return pandas.DataFrame(rows)
