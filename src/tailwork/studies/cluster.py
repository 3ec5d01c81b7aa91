"""Jobs on a Dask cluster: chunks of a sweep or choices of a design, on machines that have the same tailwork.

Workers get plain data and give arrays. Only a few jobs for each worker are under way at a time. Those of a worker that
dies are done by another; when the cluster itself is gone, what was finished is kept.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from tailwork.errors import FileError, TailworkError
from tailwork.files import read_bytes
from tailwork.studies.data import source_digest

CONNECT = 10.0  # [s], to reach the scheduler
PATIENCE = 60.0  # [s], for a cluster without workers
LOOK = 0.25  # [s], between looks at the cluster
A_WORKER = 2  # jobs under way: one that it works at, one that waits
KEPT = "what was finished is kept: the same command goes on, with the cluster or without"

Key = TypeVar("Key")
one_at_a_time = threading.Lock()
"""A job uses all threads of its worker, so that others of the same worker wait."""


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


def do_on_cluster(
    address: str, jobs: Iterable[tuple[Key, str, Callable[..., Any], tuple[Any, ...]]],
    take: Callable[[Key, Any], None], say: Callable[[str], None] = lambda text: None,
) -> None:  # fmt: skip
    """Do jobs on a cluster.

    Args:
        address: of the scheduler, such as tcp://host:8786, or the file in which it has left it (.json).
        jobs: the key of each, its name in errors, a function of a module and its arguments.
        take: told of the key and the result of each job as soon as it is done.
        say: told what it waits for.

    Raises:
        ClusterError: the cluster cannot be reached, has another version of tailwork, or has died.
    """
    address, left = scheduler_address(address), iter(jobs)
    with connected(address) as client:
        if not _workers(client):
            say(f"the cluster has no workers yet; waiting for one, up to {PATIENCE:.0f} s")
        last_seen = time.monotonic()
        while not (workers := _workers(client)):
            _give_up(address, last_seen)
            time.sleep(LOOK)
        check_workers(address, client)
        arrived = threading.Event()
        under_way: dict[Any, tuple[Key, str]] = {}
        waiting = next(left, None)
        while under_way or waiting is not None:
            while waiting is not None and len(under_way) < A_WORKER * workers:
                key, name, function, arguments = waiting
                future = client.submit(on_worker, source_digest(), function, *arguments, pure=False)
                future.add_done_callback(lambda _: arrived.set())
                under_way[future] = key, name
                waiting = next(left, None)
            arrived.wait(LOOK)
            arrived.clear()
            ready = [future for future in under_way if future.done()]
            for future in sorted(ready, key=lambda future: future.status != "finished"):  # what there is comes first
                key, name = under_way.pop(future)
                if future.status == "error":
                    raise _failure(address, name, future.exception())
                if future.status == "cancelled" and client.status == "running":
                    raise ClusterError(address, f"somebody else has cancelled {name}; {KEPT}")
                take(key, future.result(timeout=PATIENCE))
            workers = _workers(client)
            last_seen = time.monotonic() if workers else last_seen
            _give_up(address, last_seen)


def on_worker(code: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Runs on a worker: a job, if it comes from the same version of tailwork."""
    if code != source_digest():
        raise RuntimeError("this worker has another version of tailwork")
    with one_at_a_time:
        return function(*arguments)


def worker_threads() -> int:
    """How many threads the worker has on which this runs."""
    return int(_distributed("this worker").get_worker().state.nthreads)


def _workers(client: Any) -> int:
    """How many workers there are."""
    if client.status != "running":
        raise OSError
    return len(client.nthreads(callback_timeout=CONNECT))


def _give_up(address: str, since: float) -> None:
    """An error, if there have been no workers for too long."""
    if time.monotonic() - since > PATIENCE:
        raise ClusterError(address, f"no worker for {PATIENCE:.0f} s; start some. {KEPT.capitalize()}")


def _failure(address: str, name: str, error: Any) -> TailworkError:
    if isinstance(error, TailworkError):  # the problem is at fault
        return error
    said = f"{type(error).__name__}: {error}"
    if type(error).__name__ == "KilledWorker":
        said = "each worker that tried it has died (too little memory?)"
    return ClusterError(address, f"{name} failed: {said}. {KEPT.capitalize()}")


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
        return str(json.loads(read_bytes(text).decode())["address"])
    except (ValueError, KeyError, TypeError):
        raise FileError(text, "not the file of a Dask scheduler (dask scheduler --scheduler-file …)") from None


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
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
            yield client
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


def check_workers(address: str, client: Any) -> None:
    """Every worker must have this very tailwork: other equations would give other results."""
    for worker, found in client.run(source_digest, on_error="return").items():
        if isinstance(found, Exception):
            raise ClusterError(
                address, f"worker {worker} cannot import tailwork ({found}); install the same version there"
            )
        if found != source_digest():
            raise ClusterError(address, f"worker {worker} has another version of tailwork; install this one there")
