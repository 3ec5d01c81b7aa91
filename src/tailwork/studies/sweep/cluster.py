"""Doing a sweep on a Dask cluster: the same chunks, on machines that have the same tailwork.

Workers get plain data and give arrays. Only a few chunks for each worker are under way at a time. Those of a worker
that dies are done by another; when the cluster itself is gone, what was finished is kept.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailwork.errors import FileError, TailworkError
from tailwork.files import why
from tailwork.studies.data import source_digest
from tailwork.studies.sweep.folder import SweepFolder
from tailwork.studies.sweep.plan import DESIGN, Columns, from_data, perform_chunk
from tailwork.studies.sweep.run import Progress, designs_in, pending

CONNECT = 10.0  # [s], to reach the scheduler
PATIENCE = 60.0  # [s], for a cluster without workers
LOOK = 0.25  # [s], between looks at the cluster
A_WORKER = 2  # chunks under way: one that it works at, one that waits
KEPT = "what was finished is kept: the same command goes on, with the cluster or without"

one_at_a_time = threading.Lock()
"""A chunk uses all threads of its worker, so that others of the same worker wait."""


class ClusterError(TailworkError):
    """A cluster that cannot be used, or no longer.

    Attributes:
        address: of its scheduler.
        reason: what is wrong.
    """

    def __init__(self, address: str, reason: str) -> None:
        self.address = address
        self.reason = reason
        super().__init__(f"cluster {address}: {reason}")


def chunk_on_worker(data: dict[str, Any], chunk: int) -> Columns:
    """Runs on a worker: the results of a chunk, on all threads of the worker."""
    if data["code"] != source_digest():
        raise RuntimeError("this worker has another version of tailwork")
    distributed = _distributed("this worker")
    with one_at_a_time:
        return perform_chunk(from_data(data), chunk, int(distributed.get_worker().state.nthreads))


@dataclass(frozen=True)
class _Cluster:
    """A cluster that is connected."""

    client: Any
    address: str

    def workers(self) -> int:
        """How many workers there are."""
        if self.client.status != "running":
            raise OSError
        return len(self.client.nthreads(callback_timeout=CONNECT))

    def give_up(self, since: float) -> None:
        """An error, if there have been no workers for too long."""
        if time.monotonic() - since > PATIENCE:
            raise ClusterError(self.address, f"no worker for {PATIENCE:.0f} s; start some. {KEPT.capitalize()}")


def sweep_on_cluster(
    folder: SweepFolder, done: set[int], address: str, progress: Progress,
    say: Callable[[str], None] = lambda text: None,
) -> None:  # fmt: skip
    """Do all chunks that are not done yet on a cluster; each is kept as soon as it comes back.

    Args:
        folder: where the sweep is kept.
        done: chunks that are finished.
        address: of the scheduler, such as tcp://host:8786, or the file in which it has left it (.json).
        progress: told how many designs are done.
        say: told what it waits for.

    Raises:
        ClusterError: the cluster cannot be reached, has another version of tailwork, or has died.
    """
    count = designs_in(folder, done)
    with connected(scheduler_address(address)) as cluster:
        wait_for_workers(cluster, say)
        check_workers(cluster.address, cluster.client)
        for chunk, columns in _results(cluster, folder, pending(folder, done)):
            folder.write(chunk, columns)
            count += len(columns[DESIGN])
            progress(count)


def _distributed(where: str) -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise ClusterError(
            where, "needs the package distributed; install it: pip install 'tailwork[cluster]'"
        ) from None


def scheduler_address(text: str) -> str:
    """The address of a scheduler, given itself or by its file."""
    if not text.endswith(".json"):
        return text
    try:
        return str(json.loads(Path(text).read_text(encoding="utf-8"))["address"])
    except OSError as error:
        raise FileError(text, why(error)) from None
    except (ValueError, KeyError, TypeError):
        raise FileError(text, "not the file of a Dask scheduler (dask scheduler --scheduler-file …)") from None


@contextlib.contextmanager
def connected(address: str) -> Iterator[_Cluster]:
    """A connection to a cluster, without what Dask itself says of trouble: our errors say it."""
    distributed = _distributed(address)
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    client = None
    try:
        try:
            _knock(distributed, address)
            client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ClusterError(
                address, f"cannot be reached ({said}); is its scheduler running, and is this its address?"
            ) from None
        try:
            yield _Cluster(client, address)
        except TailworkError:
            raise
        except Exception as error:  # Dask has many for a scheduler that is gone
            if client.status == "running" and not isinstance(error, (OSError, TimeoutError, CancelledError)):
                raise
            raise ClusterError(address, f"its scheduler is gone; {KEPT}") from None
    finally:
        if client is not None:
            with contextlib.suppress(Exception):  # a cluster that is gone cannot be left politely
                client.close(timeout=2.0)
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _knock(distributed: Any, address: str) -> None:
    """See whether somebody listens: a client that has tried in vain would go on, and complain, until the end."""
    host, port = distributed.comm.get_address_host_port(address)
    with socket.create_connection((host, port), CONNECT):
        pass


def wait_for_workers(cluster: _Cluster, say: Callable[[str], None]) -> None:
    """Until there is a worker; says so if that is not at once."""
    start = time.monotonic()
    if not cluster.workers():
        say(f"the cluster has no workers yet; waiting for one, up to {PATIENCE:.0f} s")
    while not cluster.workers():
        cluster.give_up(start)
        time.sleep(LOOK)


def check_workers(address: str, client: Any) -> None:
    """Every worker must have this very tailwork: other equations would give other results."""
    for worker, found in client.run(source_digest, on_error="return").items():
        if isinstance(found, Exception):
            raise ClusterError(
                address, f"worker {worker} cannot import tailwork ({found}); install the same version there"
            )
        if found != source_digest():
            raise ClusterError(address, f"worker {worker} has another version of tailwork; install this one there")


def _results(cluster: _Cluster, folder: SweepFolder, chunks: Iterator[int]) -> Iterator[tuple[int, Columns]]:
    """Results of chunks as they come, a bounded number of chunks being under way."""
    arrived = threading.Event()
    under_way: dict[Any, int] = {}
    workers, last_seen = cluster.workers(), time.monotonic()
    waiting = next(chunks, None)
    while under_way or waiting is not None:
        while waiting is not None and len(under_way) < A_WORKER * workers:
            future = cluster.client.submit(chunk_on_worker, folder.data, waiting, pure=False)
            future.add_done_callback(lambda _: arrived.set())
            under_way[future] = waiting
            waiting = next(chunks, None)
        arrived.wait(LOOK)
        arrived.clear()
        ready = [future for future in under_way if future.done()]
        for future in sorted(ready, key=lambda future: future.status != "finished"):  # what there is comes first
            chunk = under_way.pop(future)
            if future.status == "error":
                raise _failure(cluster.address, chunk, future.exception())
            if future.status == "cancelled" and cluster.client.status == "running":
                raise ClusterError(cluster.address, f"somebody else has cancelled chunk {chunk}; {KEPT}")
            yield chunk, future.result(timeout=PATIENCE)
        workers = cluster.workers()
        last_seen = time.monotonic() if workers else last_seen
        cluster.give_up(last_seen)


def _failure(address: str, chunk: int, error: Any) -> ClusterError:
    if type(error).__name__ == "KilledWorker":
        said = "each worker that tried it has died (too little memory?)"
    else:
        said = f"{type(error).__name__}: {error}"
    return ClusterError(address, f"chunk {chunk} failed: {said}. {KEPT.capitalize()}")
