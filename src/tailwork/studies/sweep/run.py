"""Doing a sweep on this machine, a chunk after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tailwork.studies.sweep.folder import SweepFolder
from tailwork.studies.sweep.plan import DESIGN, perform_chunk

Progress = Callable[[int], None]
"""Told how many designs are done."""


def pending(folder: SweepFolder, done: set[int]) -> Iterator[int]:
    """Chunks that are still to do, in their order."""
    return (chunk for chunk in range(folder.sweep.chunks) if chunk not in done)


def designs_in(folder: SweepFolder, chunks: set[int]) -> int:
    """How many designs some chunks have."""
    return sum(len(folder.sweep.numbers(chunk)) for chunk in chunks)


def sweep_here(folder: SweepFolder, done: set[int], threads: int | None, progress: Progress) -> None:
    """Do all chunks that are not done yet, on threads of this machine; each is kept as soon as it is finished."""
    count = designs_in(folder, done)
    for chunk in pending(folder, done):
        before = count
        columns = perform_chunk(folder.sweep, chunk, threads, lambda some, _, before=before: progress(before + some))
        folder.write(chunk, columns)
        count += len(columns[DESIGN])
        progress(count)
