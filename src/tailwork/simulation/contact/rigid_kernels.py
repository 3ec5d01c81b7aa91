"""The kernels of time stepping on rigid ground: contacts before the impulses, the end of a round, events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tailwork.algebra.expression import Expression, Scalar
from tailwork.algebra.vectors import Array, array
from tailwork.kernels.graph import cut, finished
from tailwork.kernels.kernel import Kernel
from tailwork.mechanics.forward import Inputs
from tailwork.mechanics.observe import Path
from tailwork.mechanics.rigid.problem import Plane, check_contacts
from tailwork.mechanics.rigid.step import Approach, Finished, RoundEnd, RoundStart, approach, finish_round
from tailwork.model.contact.gauss_seidel import contact_rows, contact_sizes, solver_rows
from tailwork.simulation.equations import Symbols
from tailwork.simulation.events import Event
from tailwork.simulation.system import System

CLOCK = 5
"""Step, left, hit, located, tries: see `mechanics.rigid.step`."""


@dataclass(frozen=True)
class RigidKernels:
    """Kernels of a system on rigid ground, flat or not, and where things are in their inputs and outputs."""

    touch: Kernel  # [t, x, controls, `known`] → [rows of the contacts, w, handed]
    move: Kernel  # [handed, impulses, w, left, tries] → what `end_rows` lists
    parameters: tuple[str, ...]
    handed: int


def rigid_kernels(system: System, field: bool) -> RigidKernels:
    """Compiled once for all systems of this structure; `field`: the ground is a height field."""
    return system.once(("rigid", field), lambda: _made(system, field))


def known_rows(system: System, field: bool) -> dict[str, int]:
    """What `touch` takes after [t, x, controls], by name: how many rows."""
    sizes = contact_sizes(system.model.layout)
    points = sizes.count(3)
    return {
        "step": 1, "hit": 1, "nominal": 1, "located": 1, "friction": 1, "restitution": 1, "impulses": sum(sizes),
        "slip": points, "ahead": len(system.free_v), "planes": 4 * points if field else 0,
    }  # fmt: skip


def end_rows(system: System) -> dict[str, int]:
    """What `move` gives, by name: how many rows."""
    layout, sizes = system.model.layout, contact_sizes(system.model.layout)
    points = sizes.count(3)
    return {
        "x": system.size, "ahead": len(system.free_v), "clock": CLOCK, "over": 1, "q": len(system.free_q),
        "impulses": 3 * points, "work": points, "joint_work": 1, "efforts": len(layout.prescribed_names),
    }  # fmt: skip


@dataclass(frozen=True)
class Round:
    """A round, recorded. Its inputs are [t, x, controls], what `known_rows` lists, then impulses, w, left and tries."""

    symbols: Symbols
    parameters: tuple[str, ...]
    count: int  # of inputs
    late: int  # of them: impulses and what follows
    inputs: Inputs
    given: RoundStart
    found: Approach
    end: RoundEnd  # with the impulses as they come in
    records: list[Scalar]  # of the contacts, as `contact_rows` gives them

    def finished(self, end: RoundEnd) -> Finished:
        """What comes of it."""
        return finish_round(self.symbols.layout, self.inputs, self.given, self.found, end)


def recorded_round(system: System, field: bool) -> Round:
    """The equations of a round, from contacts to impulses and on."""
    layout, known = system.model.layout, known_rows(system, field)
    check_contacts(layout)
    sizes, early = contact_sizes(layout), sum(known.values())
    late = sum(sizes) + 6 + 2
    r, parameters, count = system.record(early + late, over="around")
    parts: dict[str, list[Expression]] = {}
    start = 0
    for name, size in known.items():
        parts[name] = r.more[start : start + size]
        start += size
    touching = [point for _, point in r.layout.contact_points.values()]
    given = RoundStart(
        parts["step"][0], parts["hit"][0], parts["located"][0], parts["nominal"][0],
        [parts["friction"][0] * point.friction for point in touching],
        [parts["restitution"][0] * point.restitution for point in touching],
        _split(parts["impulses"], sizes), parts["slip"],
    )  # fmt: skip
    planes = None
    if field:
        rows = [parts["planes"][4 * k : 4 * k + 4] for k in range(sizes.count(3))]
        planes = {name: Plane(row[0], (row[1], row[2], row[3]))
                  for name, row in zip(r.layout.contact_points, rows, strict=True)}  # fmt: skip
    turning = list(r.v)
    for k, number in zip(system.free_v, parts["ahead"], strict=True):
        turning[k] = number
    inputs = replace(r.inputs, turning=turning)
    found = approach(r.tape, r.layout, inputs, given, planes)
    slip = [*found.slip, *[0.0] * sizes.count(1)]
    friction = [*given.friction, *[0.0] * sizes.count(1)]
    records = contact_rows(found.problem, found.free, friction, found.impulses, slip)
    assert len(records) == solver_rows(layout)
    rest = r.more[early:]
    impulses, w, (left, tries) = rest[: sum(sizes)], rest[sum(sizes) : sum(sizes) + 6], rest[sum(sizes) + 6 :]
    end = RoundEnd(_split(impulses, sizes), w, left, tries)
    return Round(r, tuple(parameters), count, late, inputs, given, found, end, records)


def _made(system: System, field: bool) -> RigidKernels:
    one = recorded_round(system, field)
    end = one.finished(one.end)
    second = [
        *state_of(system, end.middle, end.v), *(end.ahead[k] for k in system.free_v), *end.clock, end.over,
        *(end.q[k] for k in system.free_q), *(x for impulse in end.impulses for x in impulse), *end.ground_work,
        end.joint_work, *end.prescribed,
    ]  # fmt: skip
    first, tape = [*one.records, *one.found.w], one.symbols.tape
    halves = cut(tape, first, second, one.count - one.late, one.count, len(one.parameters))
    name = system.model.robot.name
    return RigidKernels(Kernel(halves.first, name), Kernel(halves.second, name), one.parameters, halves.handed)


def state_of(system: System, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """x from all coordinates and velocities."""
    return [q[k] for k in system.free_q] + [v[k] for k in system.free_v]


def _split(values: Sequence[Scalar], sizes: Sequence[int]) -> list[Array]:
    found: list[Array] = []
    start = 0
    for size in sizes:
        found.append(array(list(values[start : start + size])))
        start += size
    return found


def rigid_event_kernel(system: System, watched: tuple[Event, ...]) -> tuple[Kernel, tuple[str, ...]]:
    """[t, x, controls, efforts on prescribed coordinates] → values that are to stay positive."""

    def made() -> tuple[Kernel, tuple[str, ...]]:
        r, parameters, count = system.record(len(system.model.layout.prescribed_names))
        path = Path([], [], [], list(r.more), [], 0.0, 0.0)
        values = [value for event in watched for value in event.values(r.context, path)]
        return Kernel(finished(r.tape, values, count, len(parameters)), system.model.robot.name), tuple(parameters)

    return system.once(("rigid events", watched), made)
