"""Locks that the child of a process finds open, whoever held them when it forked."""

from __future__ import annotations

import os
from threading import RLock
from typing import Any


def lock(wait: bool = False) -> Any:
    """A lock that a thread may take again while it has it.

    Args:
        wait: whether forking waits until nobody has it: for what leaves something half done, such as a compiler.
    """
    made: Any = RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=made._at_fork_reinit)
        if wait:
            os.register_at_fork(before=made.acquire, after_in_parent=made.release)
    return made
