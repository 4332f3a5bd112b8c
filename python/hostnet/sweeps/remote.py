"""Computes points on a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import pickle
import queue
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from hostnet import _core
from hostnet._core import ConfigError, SimulationError
from hostnet.files import parse_json, read_bytes
from hostnet.sweeps.chips import compute
from hostnet.sweeps.chunks import split_into_chunks
from hostnet.sweeps.job import ClusterError
from hostnet.sweeps.outcome import outcome_of, types_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distributed import Client, Future

    from hostnet.sweeps.job import Job, Keep, Report
    from hostnet.sweeps.outcome import Outcome, Types

    Done = tuple[list[Outcome], Types]

TIMEOUT_S = 5
"""Timeout of the scheduler, in s."""

NO_WORKER_TIMEOUT_S = 60.0
"""Time without any worker after which the sweep gives up, in s."""

POLL_EVERY_S = 0.1
"""Longest interval between two calls of the progress callback, in s."""

WORKERS_EVERY_S = 2.0
"""Interval between two checks of the workers while no results arrive, in s."""

POINTS_PER_TASK = {"run": 1, "predict": 16}
"""Points per task."""

IN_FLIGHT = {"run": 256, "predict": 64}
"""Tasks in flight on the cluster."""


class Cluster:
    """A Dask cluster whose workers have this version of hostnet."""

    def __init__(self, client: Client, address: str) -> None:
        """Creates the interface of a cluster that has answered."""
        self.client = client
        self.address = address
        self._seen_s = time.monotonic()
        self._looked_s = self._seen_s

    def compute(self, job: Job, points: Iterable[int], keep: Keep, report: Report) -> None:
        """Computes points and passes each to `keep` when it is finished.

        The cluster computes a point again if its worker is lost.

        Raises:
            KeyboardInterrupt: `report` returned False, or Ctrl-C; finished points are kept.
            ConfigError: A file that the configuration names has changed since the check, or a worker has another
                version of
                hostnet.
            SimulationError: One of the runs failed, or killed every worker that tried; finished points are kept.
            ClusterError: The cluster is gone; finished points are kept.
        """
        tasks = split_into_chunks(points, POINTS_PER_TASK[job.engine])
        finished: queue.SimpleQueue[Future] = queue.SimpleQueue()
        pending: dict[str, tuple[Future, list[int]]] = {}
        token = token_hex(8)
        try:
            while True:
                for task in islice(tasks, IN_FLIGHT[job.engine] - len(pending)):
                    future = self._submit(job, task, f"hostnet-{token}-{task[0]}")
                    pending[future.key] = (future, task)
                    future.add_done_callback(finished.put)
                if not pending:
                    break
                ended = self._next(finished)
                if ended is not None:
                    _, task = pending.pop(ended.key)
                    keep(*self._result(job, ended, task))
                if not report(0.0):
                    raise KeyboardInterrupt
        finally:
            with suppress(Exception):
                self.client.cancel([future for future, _ in pending.values()])

    def _submit(self, job: Job, task: list[int], key: str) -> Future:
        """Submits a task."""
        plans = [(point, *job.plan(point)) for point in task]
        content = pickle.dumps((_core.version(), job.engine, plans))
        return self.client.submit(compute_on_worker, content, key=key, pure=False)

    def _next(self, finished: queue.SimpleQueue[Future]) -> Future | None:
        """Returns the next finished task, or None after a short timeout."""
        try:
            future = finished.get(timeout=POLL_EVERY_S)
        except queue.Empty:
            self._look()
            return None
        self._seen_s = time.monotonic()
        return future

    def _look(self) -> None:
        """Raises ClusterError if the cluster is gone or has had no workers for long."""
        now_s = time.monotonic()
        if self.client.status != "running":
            raise ClusterError("cluster-failed", f"--dask {self.address}: the cluster is gone")
        if now_s - self._looked_s < WORKERS_EVERY_S:
            return
        self._looked_s = now_s
        if self.client.nthreads():
            self._seen_s = now_s
        elif now_s - self._seen_s > NO_WORKER_TIMEOUT_S:
            raise ClusterError(
                "cluster-failed", f"--dask {self.address}: has had no workers for {NO_WORKER_TIMEOUT_S:.0f} s"
            )

    def _result(self, job: Job, future: Future, task: list[int]) -> Done:
        """Returns the result of a task, or raises its error."""
        from distributed import CancelledError
        from distributed.scheduler import KilledWorker

        where = job.point_label(task[0])
        try:
            done: Done = future.result()
        except SimulationError as error:
            raise error.reworded(f"{where}: {error}") from None
        except ConfigError as error:
            raise error.reworded(f"--dask {self.address}: {error}") from None
        except KilledWorker:
            raise SimulationError("cluster-failed", f"{where}: every worker that computed it died") from None
        except (CancelledError, OSError):
            raise ClusterError("cluster-failed", f"--dask {self.address}: the cluster is gone") from None
        return done


def compute_on_worker(content: bytes) -> Done:
    """Computes a task on a worker.

    Raises:
        ConfigError: The worker has another version of hostnet.
        SimulationError: A run failed.
    """
    version, engine, plans = pickle.loads(content)
    if version != _core.version():
        raise ConfigError("other-version", f"a worker has hostnet {_core.version()}, here is {version}")
    outcomes: list[Outcome] = []
    types: Types = {}
    for point, plan, source in plans:
        results = compute(engine, plan, source)
        outcomes.append(outcome_of(point, results))
        types = types or types_of(results)
    return outcomes, types


def worker_version() -> str:
    """Returns the version of hostnet on a worker."""
    return _core.version()


@contextmanager
def connect(scheduler: str) -> Iterator[Cluster]:
    """Connects to a cluster by its address or scheduler file, and checks the version of its workers.

    Raises:
        ConfigError: Dask is not installed, the address is invalid, or a worker has another version of hostnet or none.
        ClusterError: The cluster does not answer, or has no workers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError("missing-package", "--dask: Dask is not installed; pip install 'hostnet[dask]'") from None
    address = address_of(scheduler)
    with _silence_dask():
        _check_reachable(address, scheduler)
        with Client(address, timeout=TIMEOUT_S, set_as_default=False) as client:
            _check_workers(client, scheduler)
            yield Cluster(client, scheduler)


@contextmanager
def _silence_dask() -> Iterator[None]:
    """Suppresses Dask's tracebacks about lost connections, which are reported in one line."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in ("distributed", "tornado")]
    loggers = [logger for logger in map(logging.getLogger, names) if not logger.disabled]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger in loggers:
            logger.disabled = False


def address_of(scheduler: str) -> str:
    """Returns the address of a scheduler, which may be given as a scheduler file.

    Raises:
        ConfigError: The text is neither an address nor such a file.
    """
    if "://" in scheduler:
        return scheduler
    path = Path(scheduler)
    if not path.is_file():
        if path.suffix == ".json" or ":" not in scheduler:
            raise ConfigError(
                "malformed-value",
                f"--dask {scheduler}: is neither an address such as tcp://host:8786 nor a scheduler file",
            )
        return f"tcp://{scheduler}"
    try:
        address = parse_json(read_bytes(path))["address"]
    except (ValueError, KeyError, TypeError):
        raise ConfigError("malformed-file", f"--dask {scheduler}: is not the scheduler file of Dask") from None
    return str(address)


def _check_reachable(address: str, scheduler: str) -> None:
    """Checks that a scheduler answers, because a client waits forever for a peer that accepts and stays silent."""
    with ThreadPoolExecutor(1) as thread:  # the caller's thread may run an event loop
        try:
            kind = thread.submit(asyncio.run, _kind_of(address)).result()
        except ValueError as error:
            raise ConfigError("malformed-value", f"--dask {scheduler}: {error}") from None
        except OSError:
            raise ClusterError("cluster-failed", f"--dask {scheduler}: does not answer within {TIMEOUT_S} s") from None
    if kind != "Scheduler":
        raise ConfigError("wrong-kind", f"--dask {scheduler}: is a {kind.lower()} of Dask; name its scheduler")


async def _kind_of(address: str) -> str:
    """Returns the type of the process at an address."""
    from distributed import Security
    from distributed.core import rpc

    somebody = rpc(address, timeout=TIMEOUT_S, connection_args=Security().get_connection_args("client"))
    try:
        identity = await asyncio.wait_for(somebody.identity(), TIMEOUT_S)
    finally:
        await somebody.close_rpc()
    return str(identity["type"])


def _check_workers(client: Client, scheduler: str) -> None:
    """Checks that all workers have this version, because another one would compute other results."""
    try:
        client.wait_for_workers(1, timeout=TIMEOUT_S)
        versions = client.run(worker_version, on_error="return")
    except (TimeoutError, OSError):
        raise ClusterError("cluster-failed", f"--dask {scheduler}: has no workers") from None
    for worker, version in versions.items():
        if isinstance(version, BaseException):
            raise ConfigError(
                "other-version", f"--dask {scheduler}: worker {worker} has no hostnet {_core.version()}: {version}"
            )
        if version != _core.version():
            raise ConfigError(
                "other-version", f"--dask {scheduler}: worker {worker} has hostnet {version}, here is {_core.version()}"
            )
