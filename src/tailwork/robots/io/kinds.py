"""Kinds of parts that files can name: those of the library, own ones, and those that installed packages offer.

A file says a kind and, where that is not of the library, the module that it came from. Reading a file never imports
that module: its code runs only where somebody has imported it, or has installed a package that offers the kind.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from tailwork.errors import RobotError, UnknownNameError
from tailwork.robots.legs.dh import DhChain
from tailwork.robots.legs.insect import InsectLeg
from tailwork.robots.legs.offset_leg import OffsetLeg
from tailwork.robots.legs.three_hinge import ThreeHingeLegs
from tailwork.robots.quantities import Described
from tailwork.robots.robot import FreeLimb
from tailwork.robots.tails import R3, Articulated, Continuum, FreeTail, Pendulum, ReactionWheel, Tail, TwoLink, Usrt

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PARTS: tuple[Any, ...] = (
    ThreeHingeLegs, OffsetLeg, InsectLeg, DhChain, Pendulum, R3, Usrt, Articulated, Continuum, TwoLink, ReactionWheel,
    FreeTail, FreeLimb,
)  # fmt: skip
"""Kinds of parts of the library."""
GROUP = "tailwork.parts"
"""Entry points of installed packages: a kind and the class that it names."""
MODULE = "module"
"""What a table in a file calls the module of a kind that is not of the library."""

_registered: list[Any] = []
Part = TypeVar("Part", bound=Described)


def register(cls: type[Part]) -> type[Part]:
    """Make a class of parts (legs, a tail) known to files, by its `kind`; used as a decorator.

    The class is a frozen dataclass that derives from `Described` (tails from `Tail`), has a `kind` that no other class
    has, and builds limbs: `limbs(name, forward)`. Tails are known without it.

    Raises:
        RobotError: it is not such a class, or its kind is taken.
    """
    if not (isinstance(cls, type) and issubclass(cls, Described) and callable(getattr(cls, "limbs", None))):
        required = "a frozen dataclass that derives from Tail or Described and has a method limbs(name, forward)"
        raise RobotError("register", cls, required)
    kind = vars(cls).get("kind")
    if not isinstance(kind, str) or not kind:
        raise RobotError(f"{cls.__name__}.kind", kind, "a name of the kind: kind: ClassVar[str] = 'whip'")
    if MODULE in (f.name for f in dataclasses.fields(cls)):
        raise RobotError(f"{cls.__name__}.{MODULE}", MODULE, "another name for this field: files use it")
    for other in (*PARTS, *_own()):
        if other.kind == kind and _name(other) != _name(cls):
            raise RobotError(f"{cls.__name__}.kind", kind, f"a kind that no other class has: it is {_name(other)}'s")
    # A cell or a module that is run again defines the class again.
    _registered[:] = [other for other in _registered if _name(other) != _name(cls)]
    _registered.append(cls)
    return cls


def part_kinds() -> tuple[type, ...]:
    """The kinds of parts that are known by now: those of the library, registered ones and every own tail."""
    library = [cls.kind for cls in PARTS]
    latest = {_name(cls): cls for cls in _own() if cls.kind not in library}  # of those that are defined again, the last
    return (*PARTS, *latest.values())


def _own() -> Iterator[Any]:
    """Own classes in the order of their definition, tails first."""
    left: list[Any] = [Tail]
    while left:
        cls = left.pop(0)
        left += cls.__subclasses__()
        if "kind" in vars(cls) and cls not in PARTS:
            yield cls
    yield from (cls for cls in _registered if not issubclass(cls, Tail))


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def offered() -> dict[str, EntryPoint]:
    """Kinds that installed packages offer; nothing is imported yet."""
    from importlib.metadata import entry_points  # slow to import, and needed for files alone

    return {point.name: point for point in entry_points(group=GROUP)}


def imported(kind: str) -> Any:
    """The class of a kind that an installed package offers.

    Raises:
        RobotError: it cannot be imported, or is no such class.
    """
    point = offered()[kind]
    for cls in part_kinds():
        if cls.kind == kind:
            return cls
    package = f"the package {point.dist.name}" if point.dist is not None else "an installed package"
    try:
        cls = point.load()
    except Exception as error:  # whatever the code of that package raises
        required = f"a class that can be imported; importing {package} raises {error!r}"
        raise RobotError(f"kind {kind}", point.value, required) from error
    register(cls)
    if cls.kind != kind:
        required = f"a class of the kind {kind!r}: {package} offers {_name(cls)} of the kind {cls.kind!r}"
        raise RobotError(f"kind {kind}", point.value, required)
    return cls


def part_kind(path: str, kind: Any, module: Any) -> Any:
    """The class of a kind that a file names, with the module that it says it came from (None: it says none)."""
    known = part_kinds()
    found = [cls for cls in known if cls.kind == kind]
    if len(found) > 1 and module is not None:
        found = [cls for cls in found if cls.__module__ == module] or found
    if len(found) > 1:
        names = " and ".join(_name(cls) for cls in found)
        raise RobotError(f"{path}.kind", kind, f"a kind that one class has; these do: {names}")
    if found:
        return found[0]
    if isinstance(kind, str) and kind in offered():
        return imported(kind)
    if module is None:
        raise UnknownNameError.among(f"{path}.kind", str(kind), [cls.kind for cls in known], "kind")
    if not isinstance(module, str) or not all(word.isidentifier() for word in module.split(".")):
        raise RobotError(f"{path}.{MODULE}", module, "the name of the Python module that has the kind")
    if module == "__main__":
        where = "it was defined in a script: run that, or put the class into a module and import it"
    elif module in sys.modules:
        where = f"the module {module} is imported, but has it no more"
    else:
        where = f"it comes from {module}: import that first, or install the package that has it and offers it"
    required = f"a kind that is known here; {where} (entry point {GROUP!r})"
    raise UnknownNameError(f"{path}.kind", kind, required)
