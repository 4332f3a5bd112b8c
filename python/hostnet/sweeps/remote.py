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
from hostnet.sweeps.cut import cut
from hostnet.sweeps.job import ClusterError
from hostnet.sweeps.outcome import outcome_of, types_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distributed import Client, Future

    from hostnet.sweeps.job import Job, Keep, Tell
    from hostnet.sweeps.outcome import Outcome, Types

    Done = tuple[list[Outcome], Types]

TIMEOUT_S = 5
"""A scheduler that does not answer for so long is not there."""

ALONE_S = 60.0
"""Without any worker for so long the sweep gives up."""

LOOK_EVERY_S = 0.1
"""Time between two calls of the progress callback at most."""

WORKERS_EVERY_S = 2.0
"""Time between two looks at the workers while nothing comes back."""

TOGETHER = {"run": 1, "predict": 16}
"""Points of a task."""

IN_FLIGHT = {"run": 256, "predict": 64}
"""Tasks that the cluster has at a time."""


class Cluster:
    """A Dask cluster whose workers have this version of hostnet."""

    def __init__(self, client: Client, address: str) -> None:
        """A cluster that has answered."""
        self.client = client
        self.address = address
        self._seen_s = time.monotonic()
        self._looked_s = self._seen_s

    def compute(self, job: Job, points: Iterable[int], keep: Keep, tell: Tell) -> None:
        """Computes points and hands over what is done as it is done.

        The cluster computes a point again if the worker that had it is lost.

        Raises:
            KeyboardInterrupt: `tell` returned False, or Ctrl-C; what was done is kept.
            ConfigError: A file that the configuration names has changed since the check, or a worker has another
                version of hostnet.
            SimulationError: One of the runs could not go on, or killed every worker that tried; what was done is kept.
            ClusterError: The cluster is gone; what was done is kept.
        """
        tasks = cut(points, TOGETHER[job.engine])
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
                if not tell(0.0):
                    raise KeyboardInterrupt
        finally:
            with suppress(Exception):
                self.client.cancel([future for future, _ in pending.values()])

    def _submit(self, job: Job, task: list[int], key: str) -> Future:
        plans = [(point, *job.plan(point)) for point in task]
        content = pickle.dumps((_core.version(), job.engine, plans))
        return self.client.submit(compute_there, content, key=key, pure=False)

    def _next(self, finished: queue.SimpleQueue[Future]) -> Future | None:
        """The next task that came to an end, or None if there is none for a while."""
        try:
            future = finished.get(timeout=LOOK_EVERY_S)
        except queue.Empty:
            self._look()
            return None
        self._seen_s = time.monotonic()
        return future

    def _look(self) -> None:
        """Nothing came back: is there still anybody?"""
        now_s = time.monotonic()
        if self.client.status != "running":
            raise ClusterError("cluster-failed", f"--dask {self.address}: the cluster is gone")
        if now_s - self._looked_s < WORKERS_EVERY_S:
            return
        self._looked_s = now_s
        if self.client.nthreads():
            self._seen_s = now_s
        elif now_s - self._seen_s > ALONE_S:
            raise ClusterError("cluster-failed", f"--dask {self.address}: has had no workers for {ALONE_S:.0f} s")

    def _result(self, job: Job, future: Future, task: list[int]) -> Done:
        from distributed import CancelledError
        from distributed.scheduler import KilledWorker

        where = job.where(task[0])
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


def compute_there(content: bytes) -> Done:
    """What a worker does.

    Raises:
        ConfigError: The worker has another version of hostnet.
        SimulationError: A run could not go on.
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


def version_there() -> str:
    """The version of hostnet that a worker has."""
    return _core.version()


@contextmanager
def connect(place: str) -> Iterator[Cluster]:
    """A cluster by its address or scheduler file, with workers that have this version of hostnet.

    Raises:
        ConfigError: Dask is not installed, it is no address, or a worker has another version of hostnet or none.
        ClusterError: The cluster does not answer, or has no workers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError("missing-package", "--dask: Dask is not installed; pip install 'hostnet[dask]'") from None
    address = address_of(place)
    with _quiet():
        _knock(address, place)
        with Client(address, timeout=TIMEOUT_S, set_as_default=False) as client:
            _check_workers(client, place)
            yield Cluster(client, place)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps Dask from writing tracebacks about connections whose loss we tell in one line."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in ("distributed", "tornado")]
    loggers = [logger for logger in map(logging.getLogger, names) if not logger.disabled]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger in loggers:
            logger.disabled = False


def address_of(place: str) -> str:
    """The address of a scheduler, which may stand in a scheduler file.

    Raises:
        ConfigError: It is neither an address nor such a file.
    """
    if "://" in place:
        return place
    path = Path(place)
    if not path.is_file():
        if path.suffix == ".json" or ":" not in place:
            raise ConfigError(
                "malformed-value", f"--dask {place}: is neither an address such as tcp://host:8786 nor a scheduler file"
            )
        return f"tcp://{place}"
    try:
        address = parse_json(read_bytes(path))["address"]
    except (ValueError, KeyError, TypeError):
        raise ConfigError("malformed-file", f"--dask {place}: is not the scheduler file of Dask") from None
    return str(address)


def _knock(address: str, place: str) -> None:
    """Asks who is there, for a client waits for ever for somebody who takes a connection and says nothing."""
    with ThreadPoolExecutor(1) as thread:  # the caller's own may be inside an event loop
        try:
            kind = thread.submit(asyncio.run, _kind_of(address)).result()
        except ValueError as error:
            raise ConfigError("malformed-value", f"--dask {place}: {error}") from None
        except OSError:
            raise ClusterError("cluster-failed", f"--dask {place}: does not answer within {TIMEOUT_S} s") from None
    if kind != "Scheduler":
        raise ConfigError("wrong-kind", f"--dask {place}: is a {kind.lower()} of Dask; name its scheduler")


async def _kind_of(address: str) -> str:
    from distributed import Security
    from distributed.core import rpc

    somebody = rpc(address, timeout=TIMEOUT_S, connection_args=Security().get_connection_args("client"))
    try:
        identity = await asyncio.wait_for(somebody.identity(), TIMEOUT_S)
    finally:
        await somebody.close_rpc()
    return str(identity["type"])


def _check_workers(client: Client, place: str) -> None:
    """A worker of another version would compute other results."""
    try:
        client.wait_for_workers(1, timeout=TIMEOUT_S)
        versions = client.run(version_there, on_error="return")
    except (TimeoutError, OSError):
        raise ClusterError("cluster-failed", f"--dask {place}: has no workers") from None
    for worker, version in versions.items():
        if isinstance(version, BaseException):
            raise ConfigError(
                "other-version", f"--dask {place}: worker {worker} has no hostnet {_core.version()}: {version}"
            )
        if version != _core.version():
            raise ConfigError(
                "other-version", f"--dask {place}: worker {worker} has hostnet {version}, here is {_core.version()}"
            )
