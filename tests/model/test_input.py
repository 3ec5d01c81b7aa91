"""What a model is given: every wrong argument is an error of ours that says what is required; no NaN comes out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tailwork import Model, Push, simulate
from tailwork.errors import ArgumentError, StateError, TailworkError, UnknownNameError, UnreachableError
from tailwork.model.model import LIU2018_REDUNDANT
from tailwork.robots import Body, Cable, FreeLimb, Hole, Joint, Limb, Motor, blaberus, liu2018, liu2020
from tailwork.typing import Floats

MODELS: dict[str, Callable[[], Model]] = {
    "liu2018": lambda: Model(liu2018()),
    "pendulum": lambda: Model(liu2020("pendulum")),
    "r3": lambda: Model(liu2020("r3")),
    "usrt": lambda: Model(liu2020("usrt")),
    "flight": lambda: Model(liu2020("pendulum"), "none"),
    "quaternion": lambda: Model(liu2020("pendulum"), attitude="quaternion"),
    "bench": lambda: Model(liu2020("pendulum"), "none", torso="fixed"),
    "prescribed": lambda: Model(liu2020("pendulum"), prescribed=["tail"]),
    "pushed": lambda: Model(liu2020("pendulum"), pushes=[Push("torso"), Push("tail", "tb", (0.0, -0.48, 0.0))]),
    "armature": lambda: Model(liu2020("pendulum").replace({"tail.armature": 1e-4})),
    "blaberus": lambda: Model(blaberus(), "none"),
}
Question = Callable[[Any, Any, Any], Any]


@cache
def model_of(name: str) -> Model:
    """A model, made once."""
    return MODELS[name]()


def rest(name: str) -> tuple[Floats, Floats, Floats]:
    """The standing state of a model without motion and efforts."""
    model = model_of(name)
    return model.standing(), np.zeros(len(model.velocity_names)), np.zeros(len(model.actuator_names))


def at(name: str, **changes: float) -> Floats:
    """The standing state with some coordinates changed: z=0.5, tail_tb=1.0."""
    model = model_of(name)
    q = model.standing()
    for coordinate, value in changes.items():
        q[model.coordinate_names.index(coordinate.replace("tail_", "tail."))] = value
    return q


def questions(model: Model) -> dict[str, tuple[Question, tuple[int, ...]]]:
    """Everything a model answers, as functions of q, v and efforts, and the shape of the answer for one state."""
    n, m, feet, points = (
        len(names) for names in (model.velocity_names, model.actuator_names, model.foot_names, model.point_names)
    )
    a = np.full(n, 0.1)
    return {
        "forward_dynamics": (model.forward_dynamics, (n,)),
        "foot_forces": (model.foot_forces, (feet, 3)),
        "path acceleration": (lambda q, v, tau: model.path(q, v, tau).acceleration, (n,)),
        "path extensions": (lambda q, v, tau: model.path(q, v, tau).extensions, (feet,)),
        "path efforts": (lambda q, v, tau: model.path(q, v, tau).prescribed_efforts, (0,)),
        "path powers": (lambda q, v, tau: model.path(q, v, tau).powers, (m,)),
        "mass_matrix": (lambda q, v, tau: model.mass_matrix(q), (n, n)),
        "actuation_matrix": (lambda q, v, tau: model.actuation_matrix(q), (n, m)),
        "bias": (lambda q, v, tau: model.bias(q, v), (n,)),
        "generalised_force": (lambda q, v, tau: model.generalised_force(q, v, a), (n,)),
        "energy": (lambda q, v, tau: model.energy(q, v).total, ()),
        "linear momentum": (lambda q, v, tau: model.centroidal_momentum(q, v).linear, (3,)),
        "angular momentum": (lambda q, v, tau: model.centroidal_momentum(q, v).angular, (3,)),
        "center_of_mass": (lambda q, v, tau: model.center_of_mass(q), (3,)),
        "points": (lambda q, v, tau: model.points(q), (points, 3)),
        "joint_angles": (lambda q, v, tau: next(iter(model.joint_angles(q).values())), ()),
        "coordinate_rates": (lambda q, v, tau: model.coordinate_rates(q, v), (len(model.coordinate_names),)),
    }


def inverse_questions(model: Model) -> dict[str, tuple[Question, tuple[int, ...]]]:
    """Those that look for efforts."""
    n, m = len(model.velocity_names), len(model.actuator_names)
    a = np.full(n, 0.1)
    return {
        "allocation efforts": (lambda q, v, tau: model.allocation(q, v, a).efforts, (m,)),
        "allocation residual": (lambda q, v, tau: model.allocation(q, v, a).residual, (n,)),
        "allocation condition": (lambda q, v, tau: model.allocation(q, v, a).condition, ()),
        "inverse_dynamics": (lambda q, v, tau: model.inverse_dynamics(q, v, a), (m,)),
        "static_torques": (lambda q, v, tau: model.static_torques(q), (m,)),
    }


QUESTIONS = list(questions(model_of("pendulum")))
INVERSE = list(inverse_questions(model_of("pendulum")))


def question(name: str) -> tuple[Question, tuple[int, ...]]:
    """A question to the pendulum model."""
    model = model_of("pendulum")
    return (questions(model) | inverse_questions(model))[name]


# Shapes and kinds of arrays.

WRONG: dict[str, Any] = {
    "too short": np.zeros(7),
    "too long": np.zeros(9),
    "a number": 1.0,
    "nothing": None,
    "no entries": [],
    "a column": np.zeros((8, 1)),
    "text": "standing",
    "ragged": [[0.0, 1.0], [0.0]],
    "a mapping": {"x": 0.0},
    "objects": [object()] * 8,
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("argument", ["q", "v"])
def test_a_wrong_array_says_what_is_required(argument: str, wrong: str) -> None:
    """The error names the argument, what came, how many entries are required and, for a wrong shape, which."""
    q, v, tau = rest("pendulum")
    given_ = {"q": q, "v": v, "tau": tau} | {argument: WRONG[wrong]}
    with pytest.raises(StateError, match=r"required: .*\(\.\.\., 8\)") as caught:
        model_of("pendulum").forward_dynamics(**given_)
    assert caught.value.argument == argument
    assert str(caught.value).startswith(f"{argument}: got ")
    if isinstance(WRONG[wrong], np.ndarray):
        assert str(WRONG[wrong].shape) in str(caught.value)
        assert ("phi_x" if argument == "q" else "omega_x") in str(caught.value)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_looks_at_q(name: str) -> None:
    _, v, tau = rest("pendulum")
    with pytest.raises(StateError, match=r"^q: got an array of shape \(7,\)"):
        question(name)[0](np.zeros(7), v, tau)


@pytest.mark.parametrize("name", ["liu2018", "r3", "usrt", "blaberus"])
def test_a_wrong_number_of_efforts(name: str) -> None:
    q, v, tau = rest(name)
    for wrong in (tau[:-1], 1.0, [], np.zeros((len(tau), 2))):
        with pytest.raises(StateError, match=r"^tau: got an array of shape"):
            model_of(name).forward_dynamics(q, v, wrong)


def test_missing_accelerations_of_prescribed_coordinates() -> None:
    q, v, tau = rest("prescribed")
    for wrong in ((), [1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(StateError, match=r"^prescribed_acceleration: .*: \(\.\.\., 2\), for tail\.ta, tail\.tb"):
            model_of("prescribed").forward_dynamics(q, v, tau, prescribed_acceleration=wrong)


def test_forces_are_for_pushes() -> None:
    """As many as the pushes, flat or by threes; none where there are none."""
    model = model_of("pushed")
    q, v, tau = rest("pushed")
    flat = model.forward_dynamics(q, v, tau, forces=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert np.array_equal(flat, model.forward_dynamics(q, v, tau, forces=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    assert model.forward_dynamics(q, v, tau, forces=np.ones((7, 2, 3))).shape == (7, 8)
    for wrong in ((), [1.0, 2.0, 3.0], np.zeros((3, 2)), np.zeros((2, 2))):
        with pytest.raises(StateError, match=r"^forces: got"):
            model.forward_dynamics(q, v, tau, forces=wrong)
    with pytest.raises(StateError, match=r"^forces: got"):
        model_of("pendulum").forward_dynamics(q, v, tau, forces=[1.0, 2.0, 3.0])


def test_text_is_no_number() -> None:
    _, v, tau = rest("pendulum")
    with pytest.raises(StateError):
        model_of("pendulum").forward_dynamics(["0", "0", "0.4", "0", "0", "0", "0", "0"], v, tau)


def test_a_complex_number_is_no_state() -> None:
    q, v, tau = rest("pendulum")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(StateError):
            model_of("pendulum").forward_dynamics(q + 1j, v, tau)
        with pytest.raises(StateError, match="required: numbers, 8 a state"):
            simulate(model_of("pendulum"), q + 1j, 0.01)
        for wrong in (q + 1j, "x", {}, object()):
            with pytest.raises(ArgumentError, match="required: 8 finite numbers, a single state"):
                model_of("pendulum").closed(wrong)  # type: ignore[arg-type]


def test_leading_dimensions_that_do_not_fit() -> None:
    q, v, tau = rest("pendulum")
    with pytest.raises(StateError):
        model_of("pendulum").forward_dynamics(np.tile(q, (5, 1)), np.tile(v, (7, 1)), tau)


@pytest.mark.parametrize("wrong", ["text", [[1.0, 2.0], [1.0]]])
def test_wrong_tensions(wrong: Any) -> None:
    q, v, _ = rest("usrt")
    with pytest.raises(StateError):
        model_of("usrt").forward_dynamics(q, v, wrong)


# Numbers that are none.


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("argument", ["q", "v", "tau"])
def test_what_is_not_finite_is_found(argument: str, bad: float) -> None:
    """Alone and in a batch, where the error says which states and carries their numbers."""
    model = model_of("usrt")
    state = dict(zip(("q", "v", "tau"), rest("usrt"), strict=True))
    for k in (0, 11 if argument == "tau" else 17):  # of efforts, those of the legs: −∞ is no tension for another reason
        one = state[argument].copy()
        one[k] = bad
        with pytest.raises(StateError, match=f"^{argument}: not a finite number in the state$") as caught:
            model.forward_dynamics(**(state | {argument: one}))
        assert caught.value.rows == (0,)
        many = np.tile(state[argument], (3, 4, 1))
        many[1, 2, k] = many[2, 0, k] = bad
        with pytest.raises(StateError, match=rf"^{argument}: .* in states \(1, 2\), \(2, 0\) of 12$") as caught:
            model.forward_dynamics(**(state | {argument: many}))
        assert (caught.value.argument, caught.value.rows) == (argument, (6, 8))


def test_many_states_are_not_all_listed() -> None:
    q, v, tau = rest("pendulum")
    with pytest.raises(StateError, match="in states 0, 1, 2, 3, 4 and 95 more of 100"):
        model_of("pendulum").forward_dynamics(q, np.full((100, 8), np.nan), tau)
    assert len(v) == 8


def test_forces_and_given_accelerations_are_looked_at_too() -> None:
    q, v, tau = rest("prescribed")
    with pytest.raises(StateError, match=r"^prescribed_acceleration: not a finite number"):
        model_of("prescribed").path(q, v, tau, prescribed_acceleration=[np.nan, 0.0])
    q, v, tau = rest("pushed")
    with pytest.raises(StateError, match=r"^forces: not a finite number in state 1 of 2"):
        model_of("pushed").path(q, v, tau, forces=[[0.0] * 6, [np.inf] * 6])


@pytest.mark.parametrize("name", [*QUESTIONS, *INVERSE])
def test_no_question_lets_a_nan_through(name: str) -> None:
    q, v, tau = rest("pendulum")
    with pytest.raises(StateError, match=r"^q: not a finite number"):
        question(name)[0](np.where(np.arange(8) == 6, np.nan, q), v, tau)


# Poses out of reach.


def test_a_foot_out_of_reach() -> None:
    """The error names the leg, its foot, how far it would have to stretch and which states are meant."""
    _, v, tau = rest("pendulum")
    q = np.tile(model_of("pendulum").standing(), (2, 3, 1))
    q[1, 2, 2] = 0.6
    q[0, 1, :2] = 0.2, -0.3
    for ask in (lambda: model_of("pendulum").forward_dynamics(q, v, tau), lambda: model_of("pendulum").mass_matrix(q)):
        with pytest.raises(StateError, match=r"states \(0, 1\), \(1, 2\) of 6 cannot be evaluated") as caught:
            ask()
        assert (caught.value.argument, caught.value.rows) == ("q", (1, 5))
        assert str(caught.value).startswith("q: leg1 cannot reach its foot at (0.15, 0.25, 0) m: extension 1.0")
        assert "required: above 0 and below 1" in str(caught.value)


def test_a_forgotten_stand_is_named() -> None:
    """At the origin: start from where the robot stands; and if the robot does not say where, what to say."""
    _, v, tau = rest("pendulum")
    model = model_of("pendulum")
    with pytest.raises(StateError, match=r"the torso is at the origin: start from model\.standing\(\)"):
        model.forward_dynamics(np.zeros(8), v, tau)
    forgotten = Model(model.robot.replace({"stand": (0.0, 0.0, 0.0)}))
    with pytest.raises(StateError, match=r"`stand` is at the origin, and could be \[0, 0, 0\.38\] \(m\)"):
        forgotten.forward_dynamics(forgotten.standing(), v, tau)


def test_the_leg_that_cannot_reach_is_named() -> None:
    """A torso rolled or pitched far: the leg on the high side."""
    _, v, tau = rest("pendulum")
    for changes, leg in (
        ({"phi_x": 0.6}, "leg1"),
        ({"phi_x": -0.6}, "leg3"),
        ({"phi_x": 0.4, "phi_y": 0.6}, "leg2"),
        ({"phi_x": -0.4, "phi_y": -0.6}, "leg4"),
    ):
        with pytest.raises(StateError, match=f"{leg} cannot reach"):
            model_of("pendulum").forward_dynamics(at("pendulum", **changes), v, tau)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_that_needs_the_legs_says_so(name: str) -> None:
    _, v, tau = rest("pendulum")
    q = at("pendulum", z=0.6)
    if name == "coordinate_rates":
        assert np.array_equal(question(name)[0](q, v, tau), np.zeros(8))
    else:
        with pytest.raises(StateError, match="leg1 cannot reach"):
            question(name)[0](q, v, tau)


def test_a_straight_leg() -> None:
    """Exactly straight is an error; nearly straight is evaluated, however short the way to the singularity."""
    _, v, tau = rest("pendulum")
    with pytest.raises(StateError, match=r"leg1 cannot reach .* extension 1\.0000 .*above 0 and below 1"):
        model_of("pendulum").forward_dynamics(at("pendulum", z=0.5), v, tau)
    near = model_of("pendulum").path(at("pendulum", z=0.5 - 1e-9), v, tau)
    assert np.isfinite(near.acceleration).all()
    np.testing.assert_allclose(near.extensions, np.full(4, 1 - 2e-9), rtol=1e-15)
    assert np.abs(near.acceleration[:6]).max() < 1e-2, "straight legs hold the torso up"


def test_a_folded_leg() -> None:
    """Legs of equal halves fold up to nothing; others to the difference of their lengths."""
    _, v, tau = rest("pendulum")
    with pytest.raises(StateError, match=r"leg1 cannot reach .* extension 0\.0000 .*above 0 and below 1"):
        model_of("pendulum").forward_dynamics(at("pendulum", z=0.0), v, tau)
    model = Model(liu2020("pendulum").replace({"legs.shank_length": 0.15}))
    for height in (0.0999, 0.09, 0.01):
        with pytest.raises(StateError, match=r"leg1 cannot reach .* required: above 0\.25 and below 1"):
            model.forward_dynamics(at("pendulum", z=height), v, tau)
    assert np.isfinite(model.forward_dynamics(at("pendulum", z=0.101), v, tau)).all()


def test_a_foot_on_the_axis_of_the_hip() -> None:
    """Where the hip's angle is not defined there is an error."""
    _, v, tau = rest("pendulum")
    with pytest.raises(StateError, match="cannot be evaluated"):
        model_of("pendulum").forward_dynamics(at("pendulum", z=0.0, y=0.1), v, tau)


# Singular attitudes and joints.


def test_pitch_of_90_degrees() -> None:
    """The dynamics do not care. The rates of the angles are what division by the cosine of that float gives: 1.6e16."""
    model = model_of("flight")
    q, v = at("flight", phi_y=math.pi / 2), np.ones(len(model.velocity_names))
    assert np.isfinite(model.forward_dynamics(q, v, np.zeros(14))).all()
    rates = model.coordinate_rates(q, v)
    assert np.isfinite(rates).all()
    assert rates[3] == pytest.approx(1 / math.cos(math.pi / 2), rel=1e-14)
    assert np.array_equal(model.coordinate_rates(q, 0 * v), np.zeros(len(q)))
    small = Model(liu2020("pendulum"), "none", attitude="rpy-small-angle")
    assert np.array_equal(small.coordinate_rates(q, v), v)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("name", ["pendulum", "liu2018", "flight", "bench"])
def test_a_universal_joint_at_90_degrees_without_armature(name: str, side: int) -> None:
    """The bar lies along the first axis and has no inertia about it: an error that offers an armature."""
    model = model_of(name)
    q, v, tau = rest(name)
    q = at(name, tail_tb=side * math.pi / 2)
    for ask in (model.forward_dynamics, model.path):
        with pytest.raises(StateError, match="universal joint at ±90° without armature"):
            ask(q, v, tau)
    with pytest.raises(StateError, match="states 1, 3 of 4 cannot be evaluated"):
        model.forward_dynamics(np.array([rest(name)[0], q, rest(name)[0], q]), v, tau)
    assert np.isfinite(model.mass_matrix(q)).all() and np.isfinite(model.bias(q, v)).all()


def test_a_universal_joint_at_90_degrees_with_armature() -> None:
    """The armature alone resists a torque about the first axis: acceleration = torque / armature."""
    model = model_of("armature")
    _, v, tau = rest("armature")
    tau[-2] = 1e-3
    free = model.forward_dynamics(at("armature", tail_tb=math.pi / 2), v, 0 * tau)
    found = model.forward_dynamics(at("armature", tail_tb=math.pi / 2), v, tau)
    assert found[6] - free[6] == pytest.approx(1e-3 / 1e-4, rel=1e-9)


def test_a_quaternion_of_any_length_and_not_of_none() -> None:
    model = model_of("quaternion")
    q, v, tau = rest("quaternion")
    expected = model.forward_dynamics(q, v, tau)
    for length in (0.5, -1.0, 1e3, 1e-100):
        found = model.forward_dynamics(np.concatenate([q[:3], q[3:7] * length, q[7:]]), v, tau)
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("length", [0.0, 1e-170])
def test_a_quaternion_of_no_length(length: float) -> None:
    q, v, tau = rest("quaternion")
    with pytest.raises(StateError, match="quaternion"):
        model_of("quaternion").forward_dynamics(np.concatenate([q[:3], [length, 0, 0, 0], q[7:]]), v, tau)


# Cables.


def test_a_cable_cannot_push() -> None:
    """The error names the first cable, its least tension, and which states; zero tension is none."""
    model = model_of("usrt")
    q, v, tau = rest("usrt")
    many = np.tile(tau, (5, 1))
    many[1, 13], many[4, 15], many[4, 13] = -1.0, -2.0, -3.0
    for ask in (model.forward_dynamics, model.path, model.foot_forces):
        with pytest.raises(StateError, match=r"tail\.T_2 is -3 N in states 1, 4 of 5; a cable can only pull") as caught:
            ask(q, v, many)
        assert (caught.value.argument, caught.value.rows) == ("tau", (1, 4))
    assert np.isfinite(model.forward_dynamics(q, v, -0.0 * tau)).all()
    legs = np.where(np.arange(18) < 12, -1.0, 0.0)
    assert np.isfinite(model.forward_dynamics(q, v, legs)).all(), "the torques of the legs have both signs"
    negative = np.full(15, -1.0)
    assert np.isfinite(model_of("r3").forward_dynamics(*rest("r3")[:2], negative)).all(), "R3's cables run both ways"


def test_a_motor_beside_a_cable_turns_both_ways() -> None:
    """Only the cable of a limb is bound to pull, not the motor beside it."""
    body = Body(mass=1.0, com=(0.0, -0.1, 0.0), inertia=(1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0))
    joints = (
        Joint(name="a", axis=(1.0, 0.0, 0.0), body=body),
        Joint(name="b", axis=(0.0, 0.0, 1.0), parent="a", offset=(0.0, -0.2, 0.0), body=body),
    )
    route = (Hole(joint="a", point=(0.02, -0.1, 0.0)), Hole(joint="b", point=(0.02, -0.1, 0.0)))
    limb = Limb(joints=joints, actuators=(Motor(name="m", coordinate="a"), Cable(name="c", route=route)))
    model = Model(liu2020(None).without("legs").with_part("arm", FreeLimb(limb=limb)))
    q, v = model.standing(), np.zeros(8)
    assert np.isfinite(model.forward_dynamics(q, v, [-1.0, 0.0])).all()


# Names and kinds of arguments of Model.


def test_a_robot_is_required() -> None:
    for wrong in ("liu2020", None, liu2020, {}):
        with pytest.raises(ArgumentError, match="a Robot, from"):
            Model(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "error", "path", "said"),
    [
        ({"stance": "al"}, ArgumentError, "stance", "'all', 'none' or a list of legs, of"),
        ({"stance": "leg1"}, ArgumentError, "stance", "'all', 'none' or a list of legs, of"),
        ({"stance": ["leg5"]}, UnknownNameError, "stance", "did you mean 'leg4'"),
        ({"stance": ["leg1", "lg2"]}, UnknownNameError, "stance", "did you mean 'leg2'"),
        ({"stance": ["tail"]}, UnknownNameError, "stance", "valid: leg1, leg2, leg3, leg4"),
        ({"stance": [1, 2]}, ArgumentError, "stance", "or a list of legs"),
        ({"prescribed": "tail"}, ArgumentError, "prescribed", r"a list of limb names, such as \['tail'\]"),
        ({"prescribed": ["tial"]}, UnknownNameError, "prescribed", "did you mean 'tail'"),
        ({"prescribed": ["leg1"]}, ArgumentError, "prescribed", "a limb whose foot is not pinned"),
        ({"attitude": "quat"}, UnknownNameError, "attitude", "did you mean 'quaternion'"),
        ({"attitude": "RPY"}, UnknownNameError, "attitude", "valid: rpy, rpy-small-angle, quaternion"),
        ({"attitude": None}, UnknownNameError, "attitude", "valid: rpy, rpy-small-angle, quaternion"),
        ({"torso": "fix"}, ArgumentError, "torso", "'free' or 'fixed'"),
        ({"torso": "fixed"}, ArgumentError, "stance", "'none' with a fixed torso"),
        ({"torso": "fixed", "stance": ["leg2"]}, ArgumentError, "stance", "'none' with a fixed torso"),
        ({"pushes": [Push("tial", "tb")]}, UnknownNameError, "pushes.limb", "did you mean 'tail'"),
        ({"pushes": [Push("tail", "tc")]}, UnknownNameError, None, "did you mean 'tb'"),
        ({"pushes": [Push("tail")]}, UnknownNameError, None, "valid: ta, tb"),
        ({"pushes": [Push("torso")], "torso": "fixed", "stance": "none"}, ArgumentError, "pushes.limb", "not feel a p"),
    ],
)  # fmt: skip
def test_wrong_names(arguments: dict[str, Any], error: type[ArgumentError], path: str | None, said: str) -> None:
    """Each is an error that carries where, what came and what is required."""
    with pytest.raises(error, match=said) as caught:
        Model(liu2020("pendulum"), **arguments)
    assert type(caught.value) is error
    if path is not None:
        assert caught.value.path == path
        assert repr(caught.value.value)[:20] in str(caught.value)


def test_a_leg_named_twice_stands_once() -> None:
    assert Model(liu2020("pendulum"), ["leg3", "leg1", "leg3"]).foot_names == ("leg1", "leg3")


def test_unknown_functions() -> None:
    model = model_of("pendulum")
    for ask in (model.casadi, model.evaluator, model.ask):
        with pytest.raises(UnknownNameError, match="did you mean 'forward_dynamics'"):
            ask("forward_dynamic")
        with pytest.raises(UnknownNameError, match=r"^question: got "):
            ask(["energy"])  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [{"stance": None}, {"stance": 4}, {"prescribed": None}, {"prescribed": 1}])
def test_a_list_of_names_is_required(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        Model(liu2020("pendulum"), **arguments)


@pytest.mark.parametrize(
    "pushes",
    [
        lambda: ["torso"],
        lambda: Push("torso"),
        lambda: [Push(None)],  # type: ignore[arg-type]
        lambda: [Push("torso", None, (0.0, 0.0))],  # type: ignore[arg-type]
        lambda: [Push("torso", None, ("x", 0.0, 0.0))],  # type: ignore[arg-type]
        lambda: [Push("torso", None, (np.nan, 0.0, 0.0))],
        lambda: [Push("torso", "joint")],
    ],
)
def test_a_wrong_push(pushes: Any) -> None:
    with pytest.raises(ArgumentError):
        Model(liu2020("pendulum"), pushes=pushes())


@pytest.mark.parametrize("point", [[0.0, 0.0, 0.1], np.array([0.0, 0.0, 0.1])], ids=["list", "array"])
def test_the_point_of_a_push_may_be_any_three_numbers(point: Any) -> None:
    model = Model(liu2020("pendulum"), pushes=[Push("torso", None, point)])
    assert model.layout.pushes[0].point == (0.0, 0.0, 0.1)


# Efforts for an acceleration.


def test_redundant_efforts() -> None:
    """Names must be actuators, and as many as leave one actuator a velocity."""
    model = model_of("liu2018")
    q, v, _ = rest("liu2018")
    given_ = dict.fromkeys(LIU2018_REDUNDANT, 0.0)
    assert model.inverse_dynamics(q, v, v, redundant=given_).shape == (14,)
    with pytest.raises(UnknownNameError, match=r"redundant: got 'leg3\.hx'.*did you mean 'leg3\.h"):
        model.inverse_dynamics(q, v, v, redundant=given_ | {"leg3.hx": 0.0})
    for wrong in ({}, {"leg3.ha": 0.0}, given_ | {"leg1.ha": 0.0}):
        with pytest.raises(ArgumentError, match="6 of the 14 actuators, so that 8 are left to solve for") as caught:
            model.inverse_dynamics(q, v, v, redundant=wrong)
        assert caught.value.value == wrong


def test_redundant_efforts_that_leave_too_few() -> None:
    """Where the actuators left over cannot do it, the error says what is missing and how singular they are."""
    model = model_of("liu2018")
    q, v, _ = rest("liu2018")
    given_ = dict.fromkeys(("tail.ta", "tail.tb", "leg1.ha", "leg1.hb", "leg1.k", "leg2.ha"), 0.0)
    with pytest.raises(UnreachableError, match=r"missing on tail\.ta rate \(condition number inf\)"):
        model.inverse_dynamics(q, v, v, redundant=given_)
    assert np.isfinite(model.allocation(q, v, v, redundant=given_).efforts).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, "x", [0.0, 1.0], None], ids=repr)
def test_wrong_redundant_efforts(wrong: Any) -> None:
    model = model_of("liu2018")
    q, v, _ = rest("liu2018")
    with pytest.raises(TailworkError):
        model.allocation(q, v, v, redundant=dict.fromkeys(LIU2018_REDUNDANT, 0.0) | {"leg3.ha": wrong})


def test_an_acceleration_that_cables_cannot_give() -> None:
    """Six cables cannot give twelve accelerations: the error says which is missed most, in which states."""
    model = model_of("usrt")
    q, v, _ = rest("usrt")
    a = np.zeros((2, 3, 18))
    a[..., 6] = 5.0
    with pytest.raises(
        UnreachableError, match=r"^a: no efforts .* is missing on tail\.\w+ rate .*`allocation`"
    ) as caught:
        model.inverse_dynamics(q, v, a)
    assert (caught.value.argument, caught.value.rows) == ("a", tuple(range(6)))
    assert isinstance(caught.value, StateError)
    allocation = model.allocation(q, v, a)
    assert (allocation.efforts[..., 12:] >= 0).all(), "cables only pull"
    assert not allocation.reached.any()
    with pytest.raises(UnreachableError, match=r"^q: .* is missing on tail\.phi_1 rate"):
        model.static_torques(q)


def test_only_the_states_out_of_reach_are_named() -> None:
    """A reachable acceleration in a batch with one that is not."""
    model = model_of("usrt")
    q, v, tau = rest("usrt")
    tau[12:] = 1.0, 2.0, 3.0, 4.0, 5.0, 6.0
    reachable = model.forward_dynamics(q, v, tau)
    with pytest.raises(UnreachableError, match="state 1 of 3") as caught:
        model.inverse_dynamics(q, v, np.array([reachable, 0 * reachable, reachable]))
    assert caught.value.rows == (1,)
    efforts = model.inverse_dynamics(q, v, reachable)
    np.testing.assert_allclose(model.forward_dynamics(q, v, efforts), reachable, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ["usrt", "flight"])
def test_the_motion_without_efforts_is_reached_without_efforts(name: str) -> None:
    """Also where what moves cannot all be driven: falling freely needs nothing."""
    model = model_of(name)
    q, v, tau = rest(name)
    np.testing.assert_allclose(model.inverse_dynamics(q, v, model.forward_dynamics(q, v, tau)), tau, atol=1e-9)


@pytest.mark.parametrize("name", INVERSE)
def test_inverse_dynamics_of_a_model_with_pushes(name: str) -> None:
    """Where outside forces may act, efforts can be asked for: without a push, those of a model without."""
    found, plain = (inverse_questions(model_of(n))[name][0](*rest(n)) for n in ("pushed", "pendulum"))
    np.testing.assert_allclose(found, plain, rtol=1e-12, atol=1e-12)


# Batches.


@pytest.mark.parametrize("lead", [(0,), (3, 0), (0, 4)], ids=str)
@pytest.mark.parametrize("name", [*QUESTIONS, *INVERSE])
def test_no_states_give_no_answers(name: str, lead: tuple[int, ...]) -> None:
    """An empty batch gives an empty array of the right shape."""
    ask, shape = question(name)
    q, v, tau = rest("pendulum")
    found = ask(np.zeros((*lead, 8)), v, tau)
    assert found.shape == (*lead, *shape) and found.dtype == np.float64
    assert ask(q, np.zeros((*lead, 8)), np.zeros((*lead, 14))).shape in ((*lead, *shape), shape)


@pytest.mark.parametrize("name", [*QUESTIONS, *INVERSE])
def test_leading_dimensions_are_broadcast(name: str) -> None:
    """(5, 1) states with (1, 7) velocities: 5 × 7 answers, each with the bits of a single call."""
    rng = np.random.default_rng(0)
    ask, shape = question(name)
    q0, _, _ = rest("pendulum")
    q = q0 + rng.uniform(-0.02, 0.02, (5, 1, 8))
    v, tau = rng.normal(size=(1, 7, 8)), rng.normal(size=14)
    found = ask(q, v, tau)
    assert found.dtype == np.float64
    if found.shape == (5, 1, *shape):  # a question of q alone
        found = np.broadcast_to(found, (5, 7, *shape))
    assert found.shape == (5, 7, *shape)
    alone = np.array([[ask(q[i, 0], v[0, k], tau) for k in range(7)] for i in range(5)])
    if name in INVERSE:  # by LAPACK
        np.testing.assert_allclose(found, alone, rtol=1e-11, atol=1e-11)
    else:
        assert found.tobytes() == alone.tobytes()


def test_one_state_in_more_dimensions() -> None:
    q, v, tau = rest("pendulum")
    expected = model_of("pendulum").forward_dynamics(q, v, tau)
    found = model_of("pendulum").forward_dynamics(q[None, None], v, tau[None])
    assert found.shape == (1, 1, 8) and np.array_equal(found[0, 0], expected)


def variants(x: Floats) -> dict[str, Any]:
    """The same numbers, laid out in other ways."""
    spaced = np.full((2 * len(x), 3 * x.shape[1]), np.nan)
    spaced[::2, ::3] = x
    frozen = x.copy()
    frozen.setflags(write=False)
    return {
        "strided": spaced[::2, ::3],
        "reversed": x[::-1].copy()[::-1],
        "by columns": np.asfortranarray(x),
        "transposed": x.T.copy().T,
        "frozen": frozen,
        "swapped bytes": x.astype(">f8"),
        "long": x.astype(np.longdouble),
        "lists": x.tolist(),
        "tuples": tuple(map(tuple, x)),
        "objects": x.astype(object),
    }


@pytest.mark.parametrize("layout", variants(np.zeros((1, 1))))
def test_numbers_may_be_laid_out_in_any_way(layout: str) -> None:
    rng = np.random.default_rng(1)
    q = model_of("pendulum").standing() + rng.uniform(-0.02, 0.02, (11, 8))
    v, tau = rng.normal(size=(11, 8)), rng.normal(size=(11, 14))
    expected = model_of("pendulum").forward_dynamics(q, v, tau)
    found = model_of("pendulum").forward_dynamics(*(variants(x)[layout] for x in (q, v, tau)))
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, np.int8, np.uint8, bool])
def test_other_kinds_of_numbers_are_taken_for_what_they_are(kind: type) -> None:
    """Their exact values, and the answer in doubles."""
    rng = np.random.default_rng(2)
    arguments = [rng.uniform(0, 2, (9, size)).astype(kind) for size in (20, 20, 14)]
    found = model_of("flight").forward_dynamics(*arguments)
    assert found.dtype == np.float64
    assert found.tobytes() == model_of("flight").forward_dynamics(*(x.astype(float) for x in arguments)).tobytes()


def test_answers_are_the_callers_own() -> None:
    """No answer shares memory with another or with an argument, and arguments stay as they are."""
    model = model_of("pendulum")
    for count in (1, 8, 11):
        q, v, tau = (np.tile(x, (count, 1)) for x in rest("pendulum"))
        before = [x.copy() for x in (q, v, tau)]
        first = model.path(q, v, tau)
        kept = [x.copy() for x in first]
        second = model.path(q, v, tau)
        for x in second:
            x[...] = 7.0
        assert all(np.array_equal(a, b) for a, b in zip(first, kept, strict=True))
        assert all(np.array_equal(a, b) for a, b in zip((q, v, tau), before, strict=True))
        rates = model.coordinate_rates(q, v)
        assert not np.shares_memory(rates, v)


# Robots with little to them.


def test_a_torso_alone_falls() -> None:
    robot = liu2020(None).without("legs")
    model = Model(robot)
    np.testing.assert_array_equal(model.forward_dynamics(np.zeros(6), np.zeros(6), []), [0, 0, -9.8, 0, 0, 0])
    assert model.foot_forces(np.zeros((2, 6)), np.zeros(6), []).shape == (2, 0, 3)


def test_no_actuators_give_no_efforts() -> None:
    model = Model(liu2020(None).without("legs"))
    assert model.allocation(np.zeros(6), np.zeros(6), np.zeros(6)).efforts.shape == (0,)


def test_nothing_that_moves() -> None:
    with pytest.raises(ArgumentError, match="nothing can move"):
        Model(liu2020(None).without("legs"), torso="fixed")


# Whatever is finite.


def test_efforts_too_large_for_a_number() -> None:
    """Forces of 1e306 N are finite, the tensions for them are not."""
    model = model_of("usrt")
    v = np.zeros(18)
    v[5] = 1e154
    with warnings.catch_warnings(), pytest.raises(StateError):
        warnings.simplefilter("ignore")
        model.allocation(at("usrt", **{"tail_theta_1": 0.1}), v, np.zeros(18))


SPECIAL = [
    0.0,
    -0.0,
    0.25,
    0.4,
    0.5,
    1.0,
    math.pi / 2,
    -math.pi / 2,
    math.pi,
    1e-8,
    1e-160,
    5e-324,
    1e8,
    1e16,
    1e154,
    1e300,
]
ANYTHING = st.one_of(
    st.floats(-0.6, 0.6),
    st.sampled_from(SPECIAL + [-x for x in SPECIAL]),
    st.floats(allow_nan=False, allow_infinity=False),
)


@pytest.mark.parametrize("name", ["pendulum", "usrt", "flight", "bench", "blaberus"])
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_finite_numbers_give_finite_answers_or_an_error_of_ours(name: str, data: st.DataObject) -> None:
    """No NaN, no infinity, no error of numpy's, whatever is asked."""
    model = model_of(name)
    q, v, tau = rest(name)
    near = data.draw(st.booleans())  # near the standing state, or anywhere
    drawn = [data.draw(arrays(float, len(x), elements=ANYTHING, fill=st.just(0.0))) for x in (q, v, tau)]
    state = (q + np.clip(drawn[0], -0.1, 0.1) if near else drawn[0], drawn[1], np.abs(drawn[2]))
    asked = {k: questions(model)[k] for k in ("forward_dynamics", "energy")}
    if name != "blaberus":  # whose larger matrices take long to compile
        modest = max(np.abs(x).max() for x in state) < 1e100
        asked = questions(model) | (inverse_questions(model) if modest else {})
    for what, (ask, _) in asked.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = ask(*state)
            except TailworkError:
                continue
        assert np.isfinite(found).all(), f"{what} is not finite"
