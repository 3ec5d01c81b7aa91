"""The questions a model can be asked, each with its arguments, its answers and the equations between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tailwork.algebra.expression import INPUT, Scalar, Tape
from tailwork.algebra.vectors import array
from tailwork.kernels.graph import Graph, finished
from tailwork.mechanics import inverse, kinematics, observe
from tailwork.mechanics.forward import Inputs, forward_dynamics
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.torso import coordinate_rates

POSE = frozenset(("stand.x", "stand.y", "stand.z"))
"""Numbers of a robot that no equation uses: they say where it starts."""

DYNAMICS = ("q", "v", "tau", "prescribed_acceleration", "forces")

Shapes = Mapping[str, tuple[int, ...]]
Arguments = Mapping[str, Sequence[Scalar]]


@dataclass(frozen=True)
class Question:
    """A function of the model."""

    arguments: tuple[str, ...]
    answers: Callable[[Layout], Shapes]
    equations: Callable[[Layout, Arguments], Sequence[Scalar]]


def argument_names(layout: Layout, argument: str) -> tuple[str, ...]:
    """Names of the entries of an argument."""
    return {
        "q": layout.coordinate_names,
        "v": layout.velocity_names,
        "a": layout.velocity_names,
        "tau": layout.actuator_names,
        "prescribed_acceleration": layout.prescribed_names,
        "forces": tuple(f"push {k + 1} {axis}" for k in range(len(layout.pushes)) for axis in "xyz"),
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


def _path(layout: Layout, arguments: Arguments) -> Sequence[Scalar]:
    path = observe.path(layout, _inputs(arguments))
    lists = (path.acceleration, path.foot_forces, path.extensions, path.prescribed_efforts, path.powers)
    return [*(x for values in lists for x in values), path.dissipation, path.outside_power]


def _path_shapes(layout: Layout) -> Shapes:
    feet, prescribed = len(layout.stance), len(layout.prescribed_names)
    return {
        "acceleration": (len(layout.velocity_names),),
        "foot_forces": (feet, 3),
        "extensions": (feet,),
        "prescribed_efforts": (prescribed,),
        "powers": (len(layout.actuator_names) + prescribed,),
        "dissipation": (),
        "outside_power": (),
    }


def _velocities(layout: Layout) -> int:
    return len(layout.velocity_names)


def _jacobian_shapes(layout: Layout) -> Shapes:
    frames, velocities = 1 + len(kinematics.joint_names(layout)), _velocities(layout)
    return {"rotations": (frames, 3, 3), "linear": (frames, 3, velocities), "angular": (frames, 3, velocities)}


def _jacobians(layout: Layout, arguments: Arguments) -> Sequence[Scalar]:
    found = kinematics.frame_jacobians(layout, arguments["q"])
    lists = ([x.rotation for x in found], [x.linear for x in found], [x.angular for x in found])
    return [value for matrices in lists for matrix in matrices for value in matrix.flat]


def _drift_shapes(layout: Layout) -> Shapes:
    frames = 1 + len(kinematics.joint_names(layout))
    return {"omega": (frames, 3), "alpha": (frames, 3), "acceleration": (frames, 3)}


def _drifts(layout: Layout, arguments: Arguments) -> Sequence[Scalar]:
    found = kinematics.frame_drifts(layout, arguments["q"], arguments["v"])
    lists = ([x.omega for x in found], [x.alpha for x in found], [x.acceleration for x in found])
    return [value for vectors in lists for vector in vectors for value in vector]


QUESTIONS: dict[str, Question] = {
    "forward_dynamics": Question(
        DYNAMICS,
        lambda layout: {"acceleration": (_velocities(layout),)},
        lambda layout, x: forward_dynamics(layout, _inputs(x)).acceleration,
    ),
    "path": Question(DYNAMICS, _path_shapes, _path),
    "generalised_force": Question(
        ("q", "v", "a", "forces"),
        lambda layout: {"force": (_velocities(layout),)},
        lambda layout, x: inverse.generalised_force(layout, _inputs(x), x["a"]),
    ),
    "mass_matrix": Question(
        ("q",),
        lambda layout: {"mass": (_velocities(layout), _velocities(layout))},
        lambda layout, x: list(inverse.mass_matrix(layout, x["q"]).flat),
    ),
    "actuation_matrix": Question(
        ("q",),
        lambda layout: {"actuation": (_velocities(layout), len(layout.actuator_names))},
        lambda layout, x: list(inverse.actuation_matrix(layout, x["q"]).flat),
    ),
    "energy": Question(
        ("q", "v"), lambda layout: {"energies": (3,)}, lambda layout, x: observe.energy(layout, x["q"], x["v"])
    ),
    "centroidal_momentum": Question(
        ("q", "v"),
        lambda layout: {"linear": (3,), "angular": (3,)},
        lambda layout, x: observe.centroidal_momentum(layout, x["q"], x["v"]),
    ),
    "centroidal_momentum_matrix": Question(
        ("q",),
        lambda layout: {"matrix": (6, _velocities(layout))},
        lambda layout, x: list(observe.centroidal_momentum_matrix(layout, x["q"]).flat),
    ),
    "part_momenta": Question(
        ("q", "v"),
        lambda layout: {
            "masses": (len(observe.part_names(layout)),),
            **{name: (len(observe.part_names(layout)), 3) for name in ("centers", "linear", "angular")},
        },
        lambda layout, x: observe.part_momenta(layout, x["q"], x["v"]),
    ),
    "center_of_mass": Question(
        ("q",), lambda layout: {"com": (3,)}, lambda layout, x: list(observe.center_of_mass(layout, x["q"]))
    ),
    "points": Question(
        ("q",),
        lambda layout: {"points": (len(kinematics.point_names(layout)), 3)},
        lambda layout, x: kinematics.points(layout, x["q"]),
    ),
    "joint_angles": Question(
        ("q",),
        lambda layout: {"angles": (len(kinematics.joint_names(layout)),)},
        lambda layout, x: kinematics.joint_angles(layout, x["q"]),
    ),
    "joint_rates": Question(
        ("q", "v"),
        lambda layout: {"rates": (len(kinematics.joint_names(layout)),)},
        lambda layout, x: kinematics.joint_rates(layout, x["q"], x["v"]),
    ),
    "frame_jacobians": Question(("q",), _jacobian_shapes, _jacobians),
    "frame_drifts": Question(("q", "v"), _drift_shapes, _drifts),
    "coordinate_rates": Question(
        ("q", "v"),
        lambda layout: {"rates": (len(layout.coordinate_names),)},
        lambda layout, x: coordinate_rates(layout, x["q"], x["v"]),
    ),
}


def recorded(layout_of: Callable[[Callable[[str, float], Scalar]], Layout], name: str) -> tuple[Graph, tuple[str, ...]]:
    """The graph of a question, and the paths of the robot's numbers that are its parameters.

    Args:
        layout_of: makes the layout from a function that exchanges each number of the robot, by path, for a symbol.
        name: of the question.
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
    outputs = question.equations(layout, arguments)
    return finished(tape, list(outputs), count, len(parameters)), tuple(parameters)
