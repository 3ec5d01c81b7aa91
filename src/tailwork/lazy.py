"""Names of a package that are imported when they are first used, so that a first result does not wait for all; of names
that it does not have, an error says where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

PACKAGES = ("control", "model", "robots", "simulation", "studies", "view")
"""Where `elsewhere` looks."""


def lazily(package: str, modules: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """A package's `__getattr__`: `modules` has, by module of it, the names that come from there."""
    homes = {name: module for module, names in modules.items() for name in names}

    def attribute(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        found = "" if name.startswith("_") else elsewhere(name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}{found}")

    return attribute


def elsewhere(name: str) -> str:
    """In which packages a public name is, in words; empty: in none."""
    modules = (f"tailwork.{package}" for package in PACKAGES)
    found = [f"{module}.{name}" for module in modules if name in getattr(import_module(module), "__all__", ())]
    return f"; it is {' or '.join(found)}" if found else ""
