"""`tailwork cache`: what is kept of compiled equations."""

from __future__ import annotations

import argparse

from tailwork.kernels import cache


def add_cache(command: argparse.ArgumentParser) -> None:
    """The command and its options."""
    command.description = (
        "Compiled equations are kept on disk, so that they are compiled once. What was used longest ago "
        f"goes when there is more than {cache.LIMIT // 10**6} MB, or TAILWORK_CACHE_SIZE megabytes. The folder is "
        "TAILWORK_CACHE if set."
    )
    command.add_argument("--clear", action="store_true", help="remove all: they are compiled again when next needed")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show the cache, or clear it."""
    if options.clear:
        print(f"removed {cache.shrink(0)} compiled objects from {cache.folder()}")
        return 0
    objects = cache.cached_objects()
    size = sum(size for _, size, _ in objects) / 1e6
    print(f"{cache.folder()}: {len(objects)} compiled objects, {size:.1f} MB of at most {cache.limit() / 1e6:.0f} MB")
    return 0
