"""Choices of a design problem on a Dask cluster: each is solved by one worker and kept here as soon as it comes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tailwork.errors import TailworkError
from tailwork.studies.design.folder import Bundle, DesignCase, Kept, solved
from tailwork.studies.sweep import cluster
from tailwork.studies.sweep.cluster import KEPT, LOOK, PATIENCE, ClusterError, check_workers


def case_on_worker(case: DesignCase, digest: str) -> Bundle:
    """Runs on a worker: a case, on all threads of the machine; others of the same worker wait."""
    if case.digest != digest:
        raise RuntimeError("this worker has another version of tailwork")
    with cluster.one_at_a_time:
        return solved(case, digest)


def do_on_cluster(
    kept: Kept, cases: Sequence[DesignCase], address: str, progress: Callable[[DesignCase], None],
    say: Callable[[str], None] = lambda text: None,
) -> None:  # fmt: skip
    """Solve cases on a cluster.

    Args:
        kept: where answers are kept.
        cases: that are not finished yet.
        address: of the scheduler, such as tcp://host:8786, or the file in which it has left it (.json).
        progress: told of each case that is finished.
        say: told what it waits for.

    Raises:
        ClusterError: the cluster cannot be reached, has another version of tailwork, or has died.
    """
    with cluster.connected(cluster.scheduler_address(address)) as connected:
        cluster.wait_for_workers(connected, say)
        check_workers(connected.address, connected.client)
        for case, bundle in _results(connected, cases):
            kept.write(case, bundle)
            progress(case)


def _results(connected: Any, cases: Sequence[DesignCase]) -> Iterator[tuple[DesignCase, Bundle]]:
    """What was found for cases, as it comes."""
    under_way = {connected.client.submit(case_on_worker, case, case.digest, pure=False): case for case in cases}
    last_seen = time.monotonic()
    while under_way:
        ready = [future for future in under_way if future.done()]
        for future in sorted(ready, key=lambda future: future.status != "finished"):  # what there is comes first
            case = under_way.pop(future)
            if future.status == "error":
                raise _failure(connected.address, case, future.exception())
            yield case, future.result(timeout=PATIENCE)
        if not ready:
            time.sleep(LOOK)
        last_seen = time.monotonic() if connected.workers() else last_seen
        connected.give_up(last_seen)


def _failure(address: str, case: DesignCase, error: Any) -> TailworkError:
    if isinstance(error, TailworkError):  # the problem is at fault
        return error
    return ClusterError(address, f"{case.name} failed: {type(error).__name__}: {error}. {KEPT.capitalize()}")
