"""What computes the tasks of a study: threads here, Ray, Dask, or an executor of the standard library's kind.

Each engine is used as it is. Ray and Dask compute a task again themselves when a worker died; a process pool cannot, and ends.
"""

from __future__ import annotations

import concurrent.futures
import importlib
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Protocol

from ._intervalid import StudyStop, study_execute
from .errors import MissingDependencyError, OptionError, WorkersLostError

#: Seconds to wait for results before looking for signals and other drivers again.
PATIENCE = 0.5


class WorkerLost(Exception):
    """The worker of a task died, as often as it was tried."""


def execute(task: str) -> list[str]:
    """Execute a task; workers import and call this."""
    return study_execute(task)


class Engine(Protocol):
    """Computes tasks."""

    def workers(self) -> int:
        """How many tasks are computed at a time."""

    def submit(self, task: str) -> Any:
        """Hands out a task."""

    def wait(self, handles: Sequence[Any]) -> Sequence[Any]:
        """Those that are done, after a while at most."""

    def result(self, handle: Any) -> list[str]:
        """Results of a task that is done."""

    def cancel(self, handles: Sequence[Any]) -> None:
        """Stops tasks, and waits where they cannot be left alone."""


class _Futures(AbstractContextManager["_Futures"]):
    """An executor of :mod:`concurrent.futures`."""

    def __init__(self, executor: concurrent.futures.Executor, workers: int) -> None:
        self._executor = executor
        self._workers = workers

    def workers(self) -> int:
        return self._workers

    def submit(self, task: str) -> Any:
        try:
            return self._executor.submit(execute, task)
        except concurrent.futures.BrokenExecutor as error:
            raise _broken() from error

    def wait(self, handles: Sequence[Any]) -> Sequence[Any]:
        done, _ = concurrent.futures.wait(
            handles, timeout=PATIENCE, return_when=concurrent.futures.FIRST_COMPLETED
        )
        return list(done)

    def result(self, handle: Any) -> list[str]:
        try:
            outputs: list[str] = handle.result()
        except concurrent.futures.BrokenExecutor as error:
            raise _broken() from error
        return outputs

    def cancel(self, handles: Sequence[Any]) -> None:
        for handle in handles:
            handle.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The executor is its owner's."""


def _broken() -> WorkersLostError:
    return WorkersLostError(
        "a worker of the executor died, and the executor with it: what was finished is kept; run the study again with a new "
        "executor to go on, or use Ray or Dask, which replace workers"
    )


class _Threads(_Futures):
    """Threads of this process: the tasks compute without the interpreter."""

    def __init__(self, workers: int | None) -> None:
        count = workers or os.cpu_count() or 1
        self._pool = concurrent.futures.ThreadPoolExecutor(count, thread_name_prefix="intervalid")
        self._stop = StudyStop()
        super().__init__(self._pool, count)

    def submit(self, task: str) -> Any:
        return self._pool.submit(study_execute, task, self._stop)

    def cancel(self, handles: Sequence[Any]) -> None:
        if handles:
            self._stop.set()
        super().cancel(handles)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._stop.set()
        self._pool.shutdown(cancel_futures=True)


class _Size:
    """The size of a cluster, which may grow and shrink, asked for now and then."""

    def __init__(self, ask: Callable[[], int]) -> None:
        self._ask = ask
        self._known = 1
        self._until = 0.0

    def __call__(self) -> int:
        if time.monotonic() > self._until:
            self._known = max(1, self._ask())
            self._until = time.monotonic() + 5.0
        return self._known


class _Dask(_Futures):
    """A Dask cluster, through the executor that `distributed` itself offers."""

    def __init__(self, client: Any, is_ours: bool, retries: int) -> None:
        self._client = client
        self._is_ours = is_ours
        # Dask gives a task up after this many dead workers.
        self._lost = _lost_message(retries)
        self._size = _Size(self._threads)
        super().__init__(client.get_executor(pure=False, retries=0), 1)

    def workers(self) -> int:
        return self._size()

    def _threads(self) -> int:
        threads: dict[str, int] = self._client.nthreads()
        return sum(threads.values())

    def result(self, handle: Any) -> list[str]:
        killed: type[Exception] = importlib.import_module("distributed.scheduler").KilledWorker
        try:
            return super().result(handle)
        except killed as error:
            raise WorkerLost(f"{self._lost} ({error})") from error

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_ours:
            self._client.close()


class _Ray(AbstractContextManager["_Ray"]):
    """A Ray cluster: one task of Ray per task of the study, one core each."""

    def __init__(self, ray: Any, is_ours: bool, retries: int) -> None:
        self._ray = ray
        self._is_ours = is_ours
        # Ray repeats a task whose worker or node died; what it raises itself is no reason to.
        self._execute = ray.remote(num_cpus=1, max_retries=retries, retry_exceptions=False)(execute)
        self._lost = _lost_message(retries)
        self._size = _Size(lambda: int(ray.cluster_resources().get("CPU", 1)))

    def workers(self) -> int:
        return self._size()

    def submit(self, task: str) -> Any:
        return self._execute.remote(task)

    def wait(self, handles: Sequence[Any]) -> Sequence[Any]:
        done, _ = self._ray.wait(list(handles), timeout=PATIENCE)
        return list(done)

    def result(self, handle: Any) -> list[str]:
        errors = self._ray.exceptions
        try:
            outputs: list[str] = self._ray.get(handle)
        except errors.RayTaskError as error:
            # What the task raised, as if it had been raised here.
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError, errors.ObjectLostError) as error:
            raise WorkerLost(f"{self._lost} ({type(error).__name__})") from error
        return outputs

    def cancel(self, handles: Sequence[Any]) -> None:
        for handle in handles:
            self._ray.cancel(handle, force=True)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_ours:
            self._ray.shutdown()


def _lost_message(retries: int) -> str:
    times = "the one time" if retries == 0 else f"all {retries + 1} times"
    return f"the worker died {times} it was tried: was it killed for its memory?"


def engine(executor: Any, workers: int | None, retries: int) -> Any:
    """The engine that a user means: a context manager around an :class:`Engine`."""
    if workers is not None and workers < 1:
        raise OptionError(f"workers = {workers} is not allowed: expected at least 1")
    if retries < 0:
        raise OptionError(f"retries = {retries} is not allowed: expected at least 0")
    if executor == "local":
        return _Threads(workers)
    if executor == "ray":
        return _ray(workers, retries)
    if executor == "dask":
        return _dask(workers, retries)
    if isinstance(executor, str):
        raise OptionError(f"executor = '{executor}' is not allowed: expected 'local', 'ray', 'dask' or an executor")
    if type(executor).__module__.partition(".")[0] == "distributed" and hasattr(executor, "get_executor"):
        return _Dask(executor, False, retries)
    if hasattr(executor, "submit"):
        _refuse_fork(executor)
        return _Futures(executor, workers or getattr(executor, "_max_workers", None) or os.cpu_count() or 1)
    raise OptionError(f"executor: a {type(executor).__name__} has no submit(); expected 'local', 'ray', 'dask' or an executor")


def _refuse_fork(executor: Any) -> None:
    """A forked process has the locks of threads that it does not have."""
    context = getattr(executor, "_mp_context", None)
    if isinstance(executor, concurrent.futures.ProcessPoolExecutor) and context is not None:
        method = context.get_start_method()
        if method == "fork":
            raise OptionError(
                "executor: this ProcessPoolExecutor forks, which is not safe beside threads; make it with "
                "mp_context=multiprocessing.get_context('spawn')"
            )


def _ray(workers: int | None, retries: int) -> _Ray:
    try:
        ray = importlib.import_module("ray")
        importlib.import_module("ray.exceptions")
    except ImportError as error:
        raise MissingDependencyError("executor='ray' needs Ray: pip install 'intervalid[ray]'") from error
    is_ours = not ray.is_initialized()
    if is_ours:
        if os.environ.get("RAY_ADDRESS"):
            ray.init(log_to_driver=False)
        else:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    return _Ray(ray, is_ours, retries)


def _dask(workers: int | None, retries: int) -> _Dask:
    try:
        dask = importlib.import_module("dask")
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise MissingDependencyError("executor='dask' needs Dask: pip install 'intervalid[dask]'") from error
    try:
        return _Dask(distributed.get_client(), False, retries)
    except ValueError:
        pass
    with dask.config.set({"distributed.scheduler.allowed-failures": retries}):
        # Workers are spawned, each with one thread.
        client = distributed.Client(
            n_workers=workers or multiprocessing.cpu_count(), threads_per_worker=1, dashboard_address=None
        )
    return _Dask(client, True, retries)
