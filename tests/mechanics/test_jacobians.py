"""Every Jacobian against finite differences, in one place.

Derivatives come from CasADi (`Model.casadi`), differences from the compiled kernels through the model's own methods:
for every question by every argument, and by the design, for which each difference takes a robot of other numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import casadi
import numpy as np
import pytest

from oracles.layout import Array, relative
from oracles.states import random_state, random_tree, with_contacts
from tailwork.model import Model, Push
from tailwork.model.questions import QUESTIONS, argument_names
from tailwork.robots import Air, TailDrag, liu2018, liu2020
from tailwork.robots.paths import robot_numbers
from tailwork.robots.robot import Robot

WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # central differences of order 8
STEPS = {"q": 2e-4, "v": 1e-1, "tau": 1e-1, "a": 1.0, "prescribed_acceleration": 1.0, "forces": 1.0,
         "parameters": 1e-3,
         "heights": 1e-2, "normals": 1e-2, "impulses": 1.0}  # fmt: skip
MAKERS: dict[str, Callable[[Robot], Model]] = {
    "liu2018": Model,
    "usrt": Model,
    "usrt straight": Model,
    "everything": lambda robot: Model(
        robot, ("leg1", "leg3"), prescribed=["tail"], attitude="quaternion", pushes=PUSHES
    ),
    "tree": lambda robot: Model(robot, "none", torso="fixed"),
    "touching": lambda robot: Model(robot, "none"),
    "windy": Model,
}
PUSHES = (
    Push("torso", point=(0.1, 0.2, 0.05)),
    Push("tail", "bend_3", (0.01, -0.03, 0.0)),
    Push("leg1", "hb", (0.0, 0.02, -0.2)),
    Push("leg2", "k", (0.0, 0.0, -0.1)),
)
ROBOTS = {
    "liu2018": liu2018(),
    "usrt": liu2020("usrt"),
    "usrt straight": liu2020("usrt"),
    "everything": liu2020("r3").replace({"tail.links_per_segment": 2}),
    "tree": random_tree(np.random.default_rng(1), 2, geared=True),
    "touching": with_contacts(liu2020("pendulum")),
    "windy": replace(
        liu2020("pendulum").replace({"tail.drag": TailDrag(radius=0.05, coefficient=1.1, tip_area=0.02)}),
        air=Air(wind=(4.0, -3.0, 1.0)),
    ),
}
DESIGN = {
    "windy": ("tail.length", "torso.mass", "air.density"),
    "liu2018": ("tail.length", "tail.tip_mass", "legs.thigh_length", "torso.mass", "gravity"),
    "usrt": ("tail.link_length", "tail.bending_stiffness", "tail.point_a.z", "legs.hips.1.x", "torso.length"),
    "usrt straight": ("tail.link_length", "tail.bending_damping", "tail.hole_radius", "legs.feet.2.y"),
    "everything": ("tail.link_length", "tail.link_inertia.xx", "tail.mount.y", "legs.shank_length", "legs.shank_mass"),
    "tree": (),
    "touching": (
        "contacts.ball.radius",
        "leg1.limb.foot.radius",
        "tail.limb.joints.tb.body.com.y",
        "torso.mass",
        "gravity",
    ),
}
ANSWERS: dict[str, Callable[..., Array]] = {
    "forward_dynamics": lambda m, x: m.forward_dynamics(
        x["q"], x["v"], x["tau"], prescribed_acceleration=x["prescribed_acceleration"], forces=x["forces"]
    ),
    "path": lambda m, x: together(
        m.path(x["q"], x["v"], x["tau"], prescribed_acceleration=x["prescribed_acceleration"], forces=x["forces"])
    ),
    "generalised_force": lambda m, x: m.generalised_force(x["q"], x["v"], x["a"], forces=x["forces"]),
    "mass_matrix": lambda m, x: together([m.mass_matrix(x["q"])]),
    "actuation_matrix": lambda m, x: together([m.actuation_matrix(x["q"])]),
    "energy": lambda m, x: np.stack(m.energy(x["q"], x["v"]), axis=-1),
    "centroidal_momentum": lambda m, x: together(m.centroidal_momentum(x["q"], x["v"])),
    "part_momenta": lambda m, x: together(m.part_momenta(x["q"], x["v"])),
    "center_of_mass": lambda m, x: m.center_of_mass(x["q"]),
    "points": lambda m, x: together([m.points(x["q"])]),
    "joint_angles": lambda m, x: np.stack(list(m.joint_angles(x["q"]).values()), axis=-1),
    "centroidal_momentum_matrix": lambda m, x: together([m.centroidal_momentum_matrix(x["q"])]),
    "joint_rates": lambda m, x: np.stack(list(m.joint_rates(x["q"], x["v"]).values()), axis=-1),
    "frame_jacobians": lambda m, x: together(m.ask("frame_jacobians", q=x["q"]).values()),
    "frame_drifts": lambda m, x: together(m.ask("frame_drifts", q=x["q"], v=x["v"]).values()),
    "coordinate_rates": lambda m, x: m.coordinate_rates(x["q"], x["v"]),
    "air_forces": lambda m, x: together([m.air_forces(x["q"], x["v"])]),
}
CONTACT = [name for name, question in QUESTIONS.items() if "normals" in question.arguments]
ANSWERS |= {
    name: lambda m, x, name=name: together(m.ask(name, **{k: x[k] for k in QUESTIONS[name].arguments}).values())
    for name in CONTACT
}
OF_ONE = dict.fromkeys(CONTACT, "touching") | {"air_forces": "windy"}
"""Questions of which one robot alone has an answer."""
CASES = [(name, question) for name in ROBOTS for question in QUESTIONS if OF_ONE.get(question, name) == name]


def together(values: object) -> Array:
    """Answers for rows of states, one behind the other in each row."""
    return np.concatenate([np.reshape(x, (len(x), np.prod(np.shape(x)[1:], dtype=int))) for x in values], axis=1)


def differences(function: Callable[[float], Array], step: float) -> Array:
    """d function/dh at h = 0."""
    return sum(w * (function(k * step) - function(-k * step)) for k, w in WEIGHTS.items()) / step


@cache
def model_and_state(name: str) -> tuple[Model, dict[str, Array]]:
    """The model and one value of each argument; tensions well above zero, so that differences pull too."""
    model, rng = MAKERS[name](ROBOTS[name]), np.random.default_rng(7)
    torso, stance = model.layout.torso, model.layout.stance
    q, v, tau = random_state(ROBOTS[name], stance, rng, torso)
    if name == "usrt straight":
        q = model.standing()
    if model.layout.attitude == "quaternion":
        q = np.concatenate([q[:3], [1.1, 0.1, -0.05, 0.07], q[6:]])  # not of length one: the equations allow that
    sizes = {
        "a": len(v),
        "prescribed_acceleration": len(model.prescribed_names),
        "forces": 3 * len(model.layout.pushes),
    }
    touching = {argument: len(argument_names(model.layout, argument)) for argument in ("heights", "impulses")}
    others = {argument: rng.normal(size=size) for argument, size in (sizes | touching).items()}
    others["normals"] = np.tile([0.1, -0.2, 0.9], len(others["heights"]))
    return model, {"q": q, "v": v, "tau": tau[: len(model.actuator_names)] + 1.0, **others}


@cache
def designs(name: str) -> list[tuple[Array, Callable[[float], Model]]]:
    """Ways through the space of designs: the parameters' relative rates, and the model at a place on the way.

    Each named parameter alone, and all of them together, each at a rate of its own.
    """
    model, _ = model_and_state(name)
    values, rng = robot_numbers(ROBOTS[name]), np.random.default_rng(8)

    def way(rates: Array) -> tuple[Array, Callable[[float], Model]]:
        by_path = dict(zip(model.parameter_names, rates, strict=True))

        @cache
        def at(h: float) -> Model:
            changed = {path: values[path] * (1.0 + h * rate) for path, rate in by_path.items() if rate}
            return MAKERS[name](ROBOTS[name].replace(changed))

        return rates, at

    alone = [np.array([float(path == one) for path in model.parameter_names]) for one in DESIGN[name]]
    assert all(rates.any() for rates in alone)
    if name == "touching":  # thin bars written out: of their inertias none can be changed alone
        return [way(rates) for rates in alone]
    return [way(rates) for rates in [*alone, rng.uniform(-1.0, 1.0, len(model.parameter_names))]]


@cache
def derivatives(name: str, question: str) -> tuple[Array, dict[str, Array]]:
    """Value and Jacobians by every argument from CasADi, results one behind the other."""
    model, state = model_and_state(name)
    function = model.casadi(question)
    symbols = function.sx_in()
    results = casadi.vertcat(*(casadi.vec(result.T) for result in function.call(symbols)))
    jacobians = [casadi.densify(casadi.jacobian(results, symbol)) for symbol in symbols]
    whole = casadi.Function("derivatives", symbols, [results, *jacobians])
    names = function.name_in()
    assert names == [*QUESTIONS[question].arguments, "parameters"]
    arguments = [state[argument] for argument in names[:-1]] + [model.parameters()]
    value, *found = whole.call(arguments)
    return np.array(value).ravel(), {argument: np.array(x) for argument, x in zip(names, found, strict=True)}


def differenced(name: str, question: str, argument: str) -> Array:
    """Jacobian by one argument from differences of the compiled kernel."""
    model, state = model_and_state(name)
    count = len(state[argument])
    directions = np.eye(count)

    def moved(h: float) -> Array:
        rows = {key: np.tile(value, (count, 1)) for key, value in state.items()}
        return ANSWERS[question](model, rows | {argument: rows[argument] + h * directions})

    return differences(moved, STEPS[argument]).T


def error(found: Array, expected: Array, value: Array) -> float:
    """Largest difference of two Jacobians, row by row against the size of the row and of the value itself.

    What is smaller than a thousandth of the largest (the height of a foot on the ground) is measured by that.
    """
    if not expected.size:
        return 0.0
    scale = np.abs(expected).max(axis=1) + np.abs(value)
    return float((np.abs(found - expected).max(axis=1) / np.maximum(scale, 1e-3 * scale.max())).max())


every_case = pytest.mark.parametrize(("name", "question"), CASES)


@every_case
def test_casadi_is_the_kernel(name: str, question: str) -> None:
    """The CasADi function and the compiled kernel are one and the same function, to rounding."""
    model, state = model_and_state(name)
    kernel = ANSWERS[question](model, {key: value[None] for key, value in state.items()})[0]
    value, _ = derivatives(name, question)
    assert np.isfinite(value).all()
    assert relative(kernel, value) < 1e-13


@pytest.mark.measured("derivatives")
@every_case
def test_by_arguments(measured: Callable[..., None], name: str, question: str) -> None:
    """Derivatives by states, efforts, accelerations and forces; finite even where the USRT is straight."""
    value, jacobians = derivatives(name, question)
    for argument in QUESTIONS[question].arguments:
        assert np.isfinite(jacobians[argument]).all()
        apart = error(jacobians[argument], differenced(name, question, argument), value)
        measured("every function by state, efforts and forces, beside differences", apart, at_most=5e-9)


@every_case
def test_by_design(name: str, question: str) -> None:
    """Derivatives by dimensions, masses, stiffnesses and places: through offsets and inertias alike."""
    model, state = model_and_state(name)
    value, jacobians = derivatives(name, question)
    assert np.isfinite(jacobians["parameters"]).all()
    rows = {key: value[None] for key, value in state.items()}
    for rates, at in designs(name):
        found = jacobians["parameters"] @ (rates * model.parameters())
        expected = differences(lambda h, at=at: ANSWERS[question](at(h), rows)[0], STEPS["parameters"])
        assert error(found[:, None], expected[:, None], value) < 5e-9


def test_velocities_are_the_rates_of_places() -> None:
    """The Jacobian of all points by q, along the rates of q, moves no foot; that of the energy is the power."""
    model, state = model_and_state("usrt")
    rates = model.coordinate_rates(state["q"], state["v"])
    _, places = derivatives("usrt", "points")
    moving = (places["q"] @ rates).reshape(-1, 3)
    feet = [model.point_names.index(f"{leg}.foot") for leg in model.foot_names]
    assert np.abs(moving[feet]).max() < 1e-13 * np.abs(moving).max()
    _, energies = derivatives("usrt", "energy")
    path = model.path(state["q"], state["v"], state["tau"])
    change = energies["q"].sum(axis=0) @ rates + energies["v"].sum(axis=0) @ path.acceleration
    power = path.powers.sum() - path.dissipation
    assert abs(change - power) < 1e-12 * np.abs(path.powers).max()


def test_where_a_robot_stands_is_no_parameter() -> None:
    """No equation depends on it: the parameters are the same whether it starts at zero or not, in any order asked."""
    plain, moved = (Model(liu2020("pendulum").replace({"stand.x": x})) for x in (0.0, 0.01))
    assert plain.parameter_names == moved.parameter_names
    assert len(moved.parameters()) == moved.casadi("energy").size1_in(2)
