"""Saving many figures, by several processes where it pays."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from matplotlib.figure import Figure

from tailwork.view.draw.style import save

Keep = Callable[[Figure, str, Sequence[str]], dict[str, Path]]
"""Saves a figure under a name in some kinds of files, now or soon; their paths by kind."""


@contextmanager
def saving(folder: Path, processes: int = 1) -> Iterator[Keep]:
    """A way to save figures into a folder; all are saved when it ends.

    Args:
        folder: made if need be.
        processes: how many work at it. With more than one, the program's main module must be importable, as a command
            is; a script of one's own needs the usual `if __name__ == "__main__"`.
    """
    if processes < 2:
        yield lambda figure, name, kinds: save(figure, folder, name, kinds)
        return
    waiting: list[Future[dict[str, Path]]] = []
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:

        def later(figure: Figure, name: str, kinds: Sequence[str]) -> dict[str, Path]:
            waiting.append(pool.submit(save, figure, folder, name, kinds))
            return {kind: folder / f"{name}.{kind}" for kind in kinds}

        yield later
        for one in waiting:
            one.result()
