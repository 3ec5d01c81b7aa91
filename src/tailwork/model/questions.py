"""The questions a model can be asked, each with its arguments, its answers and the equations between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailwork.algebra.expression import INPUT, Scalar, Tape
from tailwork.algebra.vectors import Array, array
from tailwork.kernels.graph import Graph, finished
from tailwork.mechanics import inverse, kinematics, observe
from tailwork.mechanics.forward import Inputs, forward_dynamics
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.rigid.problem import ContactProblem, Plane, contact_problem, stopped_joints
from tailwork.mechanics.torso import coordinate_rates
from tailwork.model.contact.gauss_seidel import contact_rows, solver_rows

POSE = frozenset(("stand.x", "stand.y", "stand.z"))
"""Numbers of a robot that no equation uses: they say where it starts."""

DYNAMICS = ("q", "v", "tau", "prescribed_acceleration", "forces")

Arguments = Mapping[str, Sequence[Scalar]]


@dataclass(frozen=True)
class Question:
    """A function of the model."""

    arguments: tuple[str, ...]
    shapes: Mapping[str, tuple[str | int, ...]]  # of the answers: numbers, and counts by the names of `counts`
    equations: Callable[[Layout, Arguments], Any]  # answers one after the other, in any nesting

    def answers(self, layout: Layout) -> dict[str, tuple[int, ...]]:
        """Shapes of the answers for a layout."""
        known = counts(layout)
        return {name: tuple(n if isinstance(n, int) else known[n] for n in x) for name, x in self.shapes.items()}


def counts(layout: Layout) -> dict[str, int]:
    """How many there are of what answers are about."""
    joints, imposed = len(kinematics.joint_names(layout)), len(layout.prescribed_names)
    return {
        "coordinates": len(layout.coordinate_names),
        "velocities": len(layout.velocity_names),
        "actuators": len(layout.actuator_names),
        "imposed": imposed,
        "powers": len(layout.actuator_names) + imposed,
        "feet": len(layout.stance),
        "joints": joints,
        "frames": 1 + joints,
        "points": len(kinematics.point_names(layout)),
        "parts": len(observe.part_names(layout)),
        "contacts": len(layout.contact_points) + len(stopped_joints(layout)),
        "contact_points": len(layout.contact_points),
        "contact_rows": len(argument_names(layout, "impulses")),
        "solver_rows": solver_rows(layout),
    }


def argument_names(layout: Layout, argument: str) -> tuple[str, ...]:
    """Names of the entries of an argument."""
    points, stops = list(layout.contact_points), list(stopped_joints(layout))
    return {
        "q": layout.coordinate_names,
        "v": layout.velocity_names,
        "a": layout.velocity_names,
        "tau": layout.actuator_names,
        "prescribed_acceleration": layout.prescribed_names,
        "forces": tuple(f"push {k + 1} {axis}" for k in range(len(layout.pushes)) for axis in "xyz"),
        "heights": tuple(points),
        "normals": tuple(f"{point} {axis}" for point in points for axis in "xyz"),
        "impulses": (*(f"{point} {axis}" for point in points for axis in ("t1", "t2", "n")), *stops),
    }[argument]


def _inputs(arguments: Arguments) -> Inputs:
    forces = arguments.get("forces", ())
    return Inputs(
        q=arguments["q"],
        v=arguments["v"],
        tau=arguments.get("tau", ()),
        prescribed_acceleration=arguments.get("prescribed_acceleration", ()),
        forces=[array(list(forces[k : k + 3])) for k in range(0, len(forces), 3)],
    )


def _contacts(layout: Layout, x: Arguments) -> ContactProblem:
    """The contacts of an instant; without efforts those of an impact."""
    still = {"v": [0.0] * len(layout.velocity_names), "tau": [0.0] * len(layout.actuator_names),
             "prescribed_acceleration": [0.0] * len(layout.prescribed_names),
             "forces": [0.0] * (3 * len(layout.pushes))}  # fmt: skip
    normals, heights = x["normals"], x.get("heights", [0.0] * len(x["normals"]))
    planes = {name: Plane(heights[k], (normals[3 * k], normals[3 * k + 1], normals[3 * k + 2]))
              for k, name in enumerate(layout.contact_points)}  # fmt: skip
    return contact_problem(layout, _inputs({**still, **x}), 0.0, planes)


def _delassus(layout: Layout, x: Arguments) -> list[Array]:
    problem = _contacts(layout, x)
    count = len(problem.contacts)
    return [row for i in range(count) for row in np.concatenate([problem.block(i, k) for k in range(count)], axis=1)]


def _contact_state(layout: Layout, x: Arguments) -> list[Any]:
    found = _contacts(layout, x).contacts
    return [[c.gap for c in found], [c.velocity for c in found], [c.drift for c in found],
            [c.place for c in found if c.place is not None]]  # fmt: skip


def _contact_change(layout: Layout, x: Arguments) -> list[Scalar]:
    problem, start, impulses = _contacts(layout, x), 0, []
    for contact in problem.contacts:
        impulses.append(array(list(x["impulses"][start : start + contact.rows])))
        start += contact.rows
    return problem.change(impulses, problem.torso_response(impulses)).velocities


def _impact_rows(layout: Layout, x: Arguments) -> list[Scalar]:
    """What the contact solver starts from, all contacts closed and without friction."""
    problem = _contacts(layout, x)
    none = [[0.0] * contact.rows for contact in problem.contacts]
    return contact_rows(problem, [c.velocity for c in problem.contacts], [0.0] * len(none), none, [0.0] * len(none))


def _frames(found: Sequence[Any], names: tuple[str, ...]) -> list[Any]:
    """By name, of all frames, one after the other."""
    return [[getattr(frame, name) for frame in found] for name in names]


def _flat(values: Any) -> Iterator[Scalar]:
    """Scalars in any nesting of sequences, one after the other."""
    if isinstance(values, (list, tuple, np.ndarray)):
        for item in values:
            yield from _flat(item)
    else:
        yield values


VELOCITIES = ("velocities",)
QUESTIONS: dict[str, Question] = {
    "forward_dynamics": Question(
        DYNAMICS,
        {"acceleration": VELOCITIES},
        lambda layout, x: forward_dynamics(layout, _inputs(x)).acceleration,
    ),
    "path": Question(
        DYNAMICS,
        {
            "acceleration": VELOCITIES, "foot_forces": ("feet", 3), "extensions": ("feet",),
            "prescribed_efforts": ("imposed",), "powers": ("powers",), "dissipation": (), "outside_power": (),
        },
        lambda layout, x: list(vars(observe.path(layout, _inputs(x))).values()),
    ),
    "generalised_force": Question(
        ("q", "v", "a", "forces"),
        {"force": VELOCITIES},
        lambda layout, x: inverse.generalised_force(layout, _inputs(x), x["a"]),
    ),
    "mass_matrix": Question(
        ("q",), {"mass": ("velocities", "velocities")}, lambda layout, x: inverse.mass_matrix(layout, x["q"])
    ),
    "actuation_matrix": Question(
        ("q",), {"actuation": ("velocities", "actuators")}, lambda layout, x: inverse.actuation_matrix(layout, x["q"])
    ),
    "energy": Question(("q", "v"), {"energies": (3,)}, lambda layout, x: observe.energy(layout, x["q"], x["v"])),
    "air_forces": Question(
        ("q", "v"), {"forces": ("frames", 3)}, lambda layout, x: observe.air_forces(layout, x["q"], x["v"])
    ),
    "centroidal_momentum": Question(
        ("q", "v"),
        {"linear": (3,), "angular": (3,)},
        lambda layout, x: observe.centroidal_momentum(layout, x["q"], x["v"]),
    ),
    "centroidal_momentum_matrix": Question(
        ("q",), {"matrix": (6, "velocities")}, lambda layout, x: observe.centroidal_momentum_matrix(layout, x["q"])
    ),
    "part_momenta": Question(
        ("q", "v"),
        {"masses": ("parts",), "centers": ("parts", 3), "linear": ("parts", 3), "angular": ("parts", 3)},
        lambda layout, x: observe.part_momenta(layout, x["q"], x["v"]),
    ),
    "center_of_mass": Question(("q",), {"com": (3,)}, lambda layout, x: observe.center_of_mass(layout, x["q"])),
    "points": Question(("q",), {"points": ("points", 3)}, lambda layout, x: kinematics.points(layout, x["q"])),
    "joint_angles": Question(
        ("q",), {"angles": ("joints",)}, lambda layout, x: kinematics.joint_angles(layout, x["q"])
    ),
    "joint_rates": Question(
        ("q", "v"), {"rates": ("joints",)}, lambda layout, x: kinematics.joint_rates(layout, x["q"], x["v"])
    ),
    "frame_jacobians": Question(
        ("q",),
        {"rotations": ("frames", 3, 3), "linear": ("frames", 3, "velocities"), "angular": ("frames", 3, "velocities")},
        lambda layout, x: _frames(kinematics.frame_jacobians(layout, x["q"]), ("rotation", "linear", "angular")),
    ),
    "frame_drifts": Question(
        ("q", "v"),
        {"omega": ("frames", 3), "alpha": ("frames", 3), "acceleration": ("frames", 3)},
        lambda layout, x: _frames(
            kinematics.frame_drifts(layout, x["q"], x["v"]), ("omega", "alpha", "acceleration")
        ),
    ),
    "delassus": Question(("q", "normals"), {"delassus": ("contact_rows", "contact_rows")}, _delassus),
    "contact_state": Question(
        (*DYNAMICS, "heights", "normals"),
        {"gaps": ("contacts",), "velocities": ("contact_rows",), "drifts": ("contact_rows",),
         "places": ("contact_points", 3)},
        _contact_state,
    ),
    "contact_change": Question(("q", "normals", "impulses"), {"change": VELOCITIES}, _contact_change),
    "impact_rows": Question(("q", "v", "normals"), {"rows": ("solver_rows",)}, _impact_rows),
    "coordinate_rates": Question(
        ("q", "v"), {"rates": ("coordinates",)}, lambda layout, x: coordinate_rates(layout, x["q"], x["v"])
    ),
}  # fmt: skip


def recorded(layout_of: Callable[[Callable[[str, float], Scalar]], Layout], name: str) -> tuple[Graph, tuple[str, ...]]:
    """The graph of a question by name, and the paths of the robot's numbers that are its parameters.

    `layout_of` makes the layout from a function that exchanges each number of the robot, by path, for a symbol.
    """
    question = QUESTIONS[name]
    tape = Tape()
    parameters: dict[str, Scalar] = {}
    plain = layout_of(lambda path, value: value)
    sizes = {argument: len(argument_names(plain, argument)) for argument in question.arguments}
    count = sum(sizes.values())

    def symbol(path: str, value: float) -> Scalar:
        # What is exactly zero is structure: it prunes the equations and is no input. Nor is where the robot stands.
        if value == 0.0 or path in POSE:
            return value
        return parameters.setdefault(path, tape.record(INPUT, count + len(parameters)))

    layout = layout_of(symbol)
    arguments: dict[str, Sequence[Scalar]] = {}
    start = 0
    for argument, size in sizes.items():
        arguments[argument] = tape.inputs(size, start)
        start += size
    outputs = list(_flat(question.equations(layout, arguments)))
    return finished(tape, outputs, count, len(parameters)), tuple(parameters)
