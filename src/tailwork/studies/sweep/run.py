"""Doing a sweep: on this machine, a chunk after the other, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tailwork.studies.cluster import do_on_cluster, worker_threads
from tailwork.studies.sweep.folder import SweepFolder
from tailwork.studies.sweep.plan import DESIGN, Columns, from_data, perform_chunk

DesignsDone = Callable[[int], None]
"""Told how many designs are done."""


def designs_in(folder: SweepFolder, chunks: set[int]) -> int:
    """How many designs some chunks have."""
    return sum(len(folder.sweep.numbers(chunk)) for chunk in chunks)


def sweep_here(folder: SweepFolder, done: set[int], threads: int | None, progress: DesignsDone) -> None:
    """Do all chunks that are not done yet, on threads of this machine; each is kept as soon as it is finished."""
    count = designs_in(folder, done)
    for chunk in (chunk for chunk in range(folder.sweep.chunks) if chunk not in done):
        before = count
        columns = perform_chunk(folder.sweep, chunk, threads, lambda some, _, before=before: progress(before + some))
        folder.write(chunk, columns)
        count += len(columns[DESIGN])
        progress(count)


def sweep_on_cluster(
    folder: SweepFolder, done: set[int], address: str, progress: DesignsDone,
    say: Callable[[str], None] = lambda text: None,
) -> None:  # fmt: skip
    """Do all chunks that are not done yet on a cluster (see `do_on_cluster`); each is kept as soon as it comes back."""
    count = designs_in(folder, done)

    def take(chunk: int, columns: Columns) -> None:
        nonlocal count
        folder.write(chunk, columns)
        count += len(columns[DESIGN])
        progress(count)

    left = (chunk for chunk in range(folder.sweep.chunks) if chunk not in done)
    do_on_cluster(address, ((k, f"chunk {k}", chunk_on_worker, (folder.data, k)) for k in left), take, say)


def chunk_on_worker(data: dict[str, Any], chunk: int) -> Columns:
    """Runs on a worker: the results of a chunk, on all threads of the worker."""
    return perform_chunk(from_data(data), chunk, worker_threads())
