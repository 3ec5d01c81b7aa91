"""Efforts within limits, with feet that push and never slip: they do the motion, none are smaller, or none exist."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from tailwork.errors import ArgumentError, InadmissibleError, StateError, UnknownNameError, UnreachableError
from tailwork.model import Model, Push
from tailwork.model.efforts.admissible import Admissible
from tailwork.model.model import LIU2018_REDUNDANT
from tailwork.robots import liu2018, liu2020
from tailwork.typing import Floats

LEGS = tuple(f"leg{k}.{joint}" for k in (1, 2, 3, 4) for joint in ("ha", "hb", "k"))
NAMES = ("x", "y", "z", "pitch", "roll", "yaw", "tail.ta", "tail.tb")


@cache
def model_of(name: str) -> Model:
    """A model, made once."""
    return {
        "pendulum": lambda: Model(liu2020("pendulum")),
        "three feet": lambda: Model(liu2020("pendulum"), ["leg1", "leg3", "leg4"]),
        "prescribed": lambda: Model(liu2020("pendulum"), prescribed=["tail"]),
        "pushed": lambda: Model(liu2020("pendulum"), pushes=[Push("torso")]),
        "flight": lambda: Model(liu2020("pendulum"), "none"),
        "usrt": lambda: Model(liu2020("usrt")),
        "liu2018": lambda: Model(liu2018()),
    }[name]()


def rest(name: str = "pendulum") -> tuple[Model, Floats, Floats]:
    """A model, its standing state and no velocity (or acceleration)."""
    model = model_of(name)
    return model, model.standing(), np.zeros(len(model.velocity_names))


def moving(**accelerations: float) -> Floats:
    """Accelerations of the eight degrees of freedom by name."""
    a = np.zeros(8)
    for name, value in accelerations.items():
        a[NAMES.index(name)] = value
    return a


def all_limited(model: Model, limit: float) -> dict[str, float]:
    return dict.fromkeys(model.actuator_names, limit)


def near_standing(model: Model, rng: np.random.Generator, size: float) -> tuple[Floats, Floats, Floats]:
    """A random state near the standing one, with a random acceleration."""
    q = model.standing() + rng.uniform(-0.02, 0.02, len(model.coordinate_names))
    return q, rng.uniform(-0.3, 0.3, len(model.velocity_names)), size * rng.normal(size=len(model.velocity_names))


def keeps(model: Model, found: Admissible, q: Any, v: Any, friction: float, limit: float, least: float) -> None:
    """All constraints hold, also for the forces that the model finds by itself."""
    forces = model.foot_forces(q, v, found.efforts)
    np.testing.assert_allclose(found.foot_forces, forces, rtol=0, atol=1e-9)
    scale = np.abs(forces).max(initial=1.0)
    assert (np.abs(found.efforts) <= limit * (1 + 1e-8)).all()
    assert (forces[..., 2] >= least - 1e-9 * scale).all()
    if np.isfinite(friction):
        across = np.hypot(forces[..., 0], forces[..., 1])
        assert (across <= friction * forces[..., 2] + 1e-9 * scale * max(friction, 1.0)).all()


def test_at_rest_nothing_is_active_and_the_efforts_are_the_smallest() -> None:
    model, q, zero = rest()
    found = model.admissible_efforts(q, zero, zero, friction=0.6, limits=all_limited(model, 40.0))
    np.testing.assert_allclose(found.efforts, model.static_torques(q), rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.forward_dynamics(q, zero, found.efforts), 0.0, atol=1e-12)
    keeps(model, found, q, zero, 0.6, 40.0, 0.0)
    assert found.active == ()
    assert found.margins.torque == pytest.approx(1 - np.abs(found.efforts).max() / 40.0)
    assert found.margins.normal == pytest.approx(found.foot_forces[:, 2].min())
    across = np.hypot(found.foot_forces[:, 0], found.foot_forces[:, 1])
    assert found.margins.friction == pytest.approx(0.6 - (across / found.foot_forces[:, 2]).max())


CASES = [  # friction, limit, least normal force, size of the acceleration
    (0.3, 100.0, 0.0, 1.0),
    (0.3, 15.0, 0.0, 1.0),
    (0.6, 12.0, 20.0, 1.0),
    (np.inf, 100.0, 0.0, 6.0),
    (0.15, 100.0, 30.0, 0.5),
    (2.0, 12.0, 0.0, 3.0),
]


@pytest.mark.measured("control")
@pytest.mark.parametrize("name", ["pendulum", "liu2018", "three feet"])
@pytest.mark.parametrize(("friction", "limit", "least", "size"), CASES)
def test_efforts_do_the_motion_and_none_are_smaller(
    measured: Callable[..., None], name: str, friction: float, limit: float, least: float, size: float
) -> None:
    """Forward dynamics gives the acceleration back; no step in the null space that keeps the constraints costs less."""
    model, rng = model_of(name), np.random.default_rng(7)
    limit *= 2.0 if name != "pendulum" else 1.0
    names = model.actuator_names
    weights = {key: float(10 ** rng.uniform(-1, 1)) for key in names}
    w, solved, bounded = np.array([weights[key] for key in names]), 0, 0
    for _ in range(12):
        q, v, a = near_standing(model, rng, size)
        asked = {"friction": friction, "limits": all_limited(model, limit), "least_normal": least, "weights": weights}
        try:
            found = model.admissible_efforts(q, v, a, **asked)
        except InadmissibleError as error:
            assert error.blame
            continue
        solved, bounded = solved + 1, bounded + bool(found.active)
        apart = np.abs(model.forward_dynamics(q, v, found.efforts) - a).max()
        measured("accelerations by admissible efforts beside those asked for", apart, at_most=1e-9)
        keeps(model, found, q, v, friction, limit, least)
        actuation = model.actuation_matrix(q)
        if not found.active:
            free = np.linalg.pinv(actuation / np.sqrt(w)) @ model.generalised_force(q, v, a) / np.sqrt(w)
            np.testing.assert_allclose(found.efforts, free, rtol=0, atol=1e-9)
        null = np.linalg.svd(actuation)[2][np.linalg.matrix_rank(actuation) :].T
        cost = w @ found.efforts**2
        # Steps of every size, towards anywhere and towards smaller efforts.
        steps = rng.normal(size=(400, null.shape[1])) - (null.T @ (w * found.efforts)) * rng.uniform(0, 3, (400, 1))
        tried = found.efforts + (steps * 10 ** rng.uniform(-5, 1, (400, 1))) @ null.T
        forces = model.foot_forces(q, v, tried)
        across = np.hypot(forces[..., 0], forces[..., 1])
        good = (np.abs(tried) <= limit).all(axis=1) & (forces[..., 2] >= least).all(axis=1)
        if np.isfinite(friction):
            good &= (across <= friction * forces[..., 2]).all(axis=1)
        assert (tried[good] ** 2 @ w >= cost * (1 - 1e-12)).all()
    print(f"{name}: {solved} of 12 solved, {bounded} of them with active constraints")


def linear_verdict(model: Model, q: Floats, v: Floats, a: Floats, asked: dict[str, Any], reach: float) -> bool:
    """Whether a linear program finds efforts, with polygons of 48 sides for friction cones, `reach` times as large."""
    m = len(model.actuator_names)
    limit, friction = np.array([asked["limits"][name] for name in model.actuator_names]), asked["friction"] * reach
    start = model.foot_forces(q, v, np.zeros(m))
    slope = np.moveaxis(model.foot_forces(q, v, np.eye(m)) - start, 0, -1)  # (feet, 3, efforts)
    turns = np.linspace(0.0, 2 * np.pi, 48, endpoint=False)
    sides = np.column_stack([np.cos(turns), np.sin(turns), np.full(48, -friction)])
    above = [np.vstack([sides, [0.0, 0.0, -1.0]]) @ foot for foot in slope]
    bound = [-np.vstack([sides, [0.0, 0.0, -1.0]]) @ foot for foot in start]
    for part in bound:
        part[-1] -= asked["least_normal"]
    found = linprog(
        np.zeros(m),
        A_ub=np.vstack(above),
        b_ub=np.concatenate(bound),
        A_eq=model.actuation_matrix(q),
        b_eq=model.generalised_force(q, v, a),
        bounds=np.column_stack([-limit, limit]),
    )
    assert found.status in (0, 2), found.message
    return found.status == 0


@pytest.mark.parametrize("name", ["pendulum", "liu2018", "three feet"])
def test_refusals_are_those_of_a_linear_program(name: str) -> None:
    """What polygons inside the cones allow is found; what those around them forbid is refused."""
    model, rng, verdicts = model_of(name), np.random.default_rng(11), []
    for _ in range(40):
        q, v, a = near_standing(model, rng, rng.choice([0.5, 1.0, 3.0]))
        asked = {
            "friction": float(rng.choice([0.1, 0.2, 0.4, 0.8])),
            "limits": all_limited(model, float(rng.choice([10.0, 20.0, 40.0]))),
            "least_normal": float(rng.choice([0.0, 10.0])),
        }
        inside = linear_verdict(model, q, v, a, asked, np.cos(np.pi / 48))
        around = linear_verdict(model, q, v, a, asked, 1.0)
        assert around or not inside
        try:
            model.admissible_efforts(q, v, a, **asked)
            verdicts.append(True)
        except InadmissibleError:
            verdicts.append(False)
        assert inside <= verdicts[-1] <= around
    assert 0 < sum(verdicts) < 40
    print(f"{name}: {sum(verdicts)} of 40 possible")


def test_the_cases_bind() -> None:
    """Each kind of constraint is active somewhere, and then the efforts are not those of least norm."""
    model, q, zero = rest()
    cases: list[tuple[str, Floats, dict[str, Any]]] = [
        ("limit of leg1.k ±7.5 N m", moving(), {"limits": all_limited(model, 7.5), "friction": 0.6}),
        ("normal force of leg4 ≥ 39 N", moving(roll=5.0, pitch=15.0), {"least_normal": 39.0, "friction": 0.6}),
        ("friction of leg3 ≤ 0.002", moving(), {"friction": 0.002}),
    ]
    for name, a, asked in cases:
        found = model.admissible_efforts(q, zero, a, **asked)
        assert name in found.active
        assert name in found.constraints and found.at_bound.shape == (len(found.constraints),)
        assert np.linalg.norm(found.efforts) > np.linalg.norm(model.inverse_dynamics(q, zero, a))
        np.testing.assert_allclose(model.forward_dynamics(q, zero, found.efforts), a, rtol=0, atol=1e-11)
        assert min(abs(margin) for margin in found.margins) < 1e-9


def test_weights_shift_the_load() -> None:
    """Dear actuators do less; equal weights change nothing, whatever they are."""
    model, q, zero = rest()
    a = moving(z=1.0, pitch=2.0)
    plain = model.admissible_efforts(q, zero, a, friction=0.6).efforts
    equal = model.admissible_efforts(q, zero, a, friction=0.6, weights=all_limited(model, 1e4)).efforts
    np.testing.assert_allclose(equal, plain, rtol=0, atol=1e-10)
    knee = model.actuator_names.index("leg1.k")
    assert abs(model.admissible_efforts(q, zero, a, friction=0.6, weights={"leg1.k": 50.0}).efforts[knee]) < abs(
        plain[knee]
    )


def test_friction_to_blame() -> None:
    """Sideways on ice: all feet would slip, and the friction reported is just enough. At least a_x/g is needed."""
    model, q, zero = rest()
    a = moving(x=2.0)
    with pytest.raises(InadmissibleError, match=r"Possible with friction of at least 0\.\d+$") as caught:
        model.admissible_efforts(q, zero, a, friction=0.05)
    error = caught.value
    assert sorted(error.blame) == [f"friction of leg{k} ≤ 0.05" for k in (1, 2, 3, 4)]
    assert error.friction is not None and len(error.remedies) == 1
    model.admissible_efforts(q, zero, a, friction=error.friction)
    with pytest.raises(InadmissibleError):
        model.admissible_efforts(q, zero, a, friction=0.98 * error.friction)
    # Newton: the ratio of the whole ground force is that of no allocation in particular.
    whole = model.foot_forces(q, zero, model.inverse_dynamics(q, zero, a)).sum(axis=0)
    ratio = np.hypot(*whole[:2]) / whole[2]
    assert ratio * (1 - 1e-9) <= error.friction <= 1.02 * ratio


def test_feet_that_cannot_pull_to_blame() -> None:
    """A torso that falls faster than everything does would have to be pulled down, by feet."""
    model, q, zero = rest()
    for friction in (0.6, np.inf):
        with pytest.raises(InadmissibleError, match="Possible if feet could pull") as caught:
            model.admissible_efforts(q, zero, moving(z=-20.0), friction=friction)
        assert caught.value.blame and all(name.startswith("normal force of leg") for name in caught.value.blame)
        assert caught.value.friction is None
    assert model.foot_forces(q, zero, model.inverse_dynamics(q, zero, moving(z=-20.0)))[:, 2].sum() < 0.0


def test_limits_to_blame() -> None:
    """Knees too weak to carry the robot; the factor reported is just enough."""
    model, q, zero = rest()
    with pytest.raises(InadmissibleError, match=r"with limits 1\.49 times as large$") as caught:
        model.admissible_efforts(q, zero, zero, friction=0.6, limits=all_limited(model, 5.0))
    assert sorted(caught.value.blame) == [f"limit of leg{k}.k ±5 N m" for k in (1, 2, 3, 4)]
    model.admissible_efforts(q, zero, zero, friction=0.6, limits=all_limited(model, 5.0 * 1.49))
    with pytest.raises(InadmissibleError):
        model.admissible_efforts(q, zero, zero, friction=0.6, limits=all_limited(model, 5.0 * 1.49 * 0.98))


def test_a_least_normal_force_to_blame() -> None:
    model, q, zero = rest()
    with pytest.raises(InadmissibleError, match="if any normal force of 0 or more were enough") as caught:
        model.admissible_efforts(q, zero, zero, friction=0.6, least_normal=70.0)
    assert any(name.startswith("normal force of leg") and name.endswith("≥ 70 N") for name in caught.value.blame)


def test_no_single_kind_to_blame() -> None:
    """Weak knees on ice, sideways: neither stronger knees nor rubber feet help alone."""
    model, q, zero = rest()
    with pytest.raises(InadmissibleError, match="No single kind of constraint is to blame") as caught:
        model.admissible_efforts(q, zero, moving(x=2.0), friction=0.05, limits=all_limited(model, 2.0))
    assert caught.value.remedies == () and caught.value.blame


def test_an_acceleration_that_no_efforts_give_is_unreachable() -> None:
    """In flight gravity cannot be held; of the USRT tail, twelve angles hang on six cables."""
    for name in ("flight", "usrt"):
        model, q, zero = rest(name)
        with pytest.raises(UnreachableError, match="whatever their size") as caught:
            model.admissible_efforts(q, zero, zero, friction=0.6)
        assert not isinstance(caught.value, InadmissibleError)


def test_without_feet_there_are_limits_only() -> None:
    model, rng = model_of("flight"), np.random.default_rng(2)
    tau = rng.uniform(-3.0, 3.0, len(model.actuator_names))
    q, v = model.standing(), np.zeros(len(model.velocity_names))
    a = model.forward_dynamics(q, v, tau)
    found = model.admissible_efforts(q, v, a, friction=0.6, limits=all_limited(model, 3.0))
    np.testing.assert_allclose(found.efforts, tau, rtol=0, atol=1e-9)
    assert found.foot_forces.shape == (0, 3) and np.isinf(found.margins.normal)
    with pytest.raises(InadmissibleError, match="with limits") as caught:
        model.admissible_efforts(q, v, a, friction=0.6, limits=all_limited(model, 0.5 * np.abs(tau).max()))
    assert caught.value.blame[0].startswith(f"limit of {model.actuator_names[np.abs(tau).argmax()]} ")


def pitch_motion(t: Floats) -> tuple[Floats, Floats, Floats]:
    """q, v and a of the pitch motion of 2018, Sect. 4.2, where phi_x alone turns and so omega = phi-dot."""
    rate, shape = 2 * np.pi / 0.3, moving(**{"pitch": np.pi / 36, "tail.tb": -np.pi / 18})
    swing = np.sin(rate * t)[:, None] * shape
    standing = np.array([0.2, 0.3, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
    return standing + swing, rate * np.cos(rate * t)[:, None] * shape, -(rate**2) * swing


def test_the_2018_pitch_motion_needs_no_pulling_feet() -> None:
    """With the paper's redundant torques of zero feet must pull (180 N). Others need none, but friction of 1.9."""
    model = model_of("liu2018")
    q, v, a = pitch_motion(np.linspace(0.0, 0.3, 61))
    paper = model.allocation(q, v, a, redundant=dict.fromkeys(LIU2018_REDUNDANT, 0.0)).efforts
    assert model.foot_forces(q, v, paper)[..., 2].min() == pytest.approx(-180.0, abs=0.5)
    smallest = model.inverse_dynamics(q, v, a)
    assert model.foot_forces(q, v, smallest)[..., 2].min() == pytest.approx(-14.0, abs=0.5)
    for friction in (1.9, 3.0, np.inf):
        found = model.admissible_efforts(q, v, a, friction=friction)
        np.testing.assert_allclose(model.forward_dynamics(q, v, found.efforts), a, rtol=0, atol=1e-9)
        keeps(model, found, q, v, friction, np.inf, 0.0)
        # Going up and going down are the same state but for the sign of v, and so the same efforts.
        np.testing.assert_allclose(found.efforts[:31], found.efforts[30::-1], rtol=0, atol=1e-8)
    with pytest.raises(InadmissibleError) as caught:
        model.admissible_efforts(q, v, a, friction=1.0)
    assert 45 in caught.value.rows and 15 not in caught.value.rows  # the lower end of the pitch, not the upper one
    with pytest.raises(InadmissibleError, match=r"with friction of at least 1\.89$") as caught:
        model.admissible_efforts(q[45], v[45], a[45], friction=1.0)
    assert {name.split(" of ")[0] for name in caught.value.blame} <= {"friction", "normal force"}
    assert caught.value.blame[0].startswith("friction")


def test_cables_never_push() -> None:
    """Tensions come back not negative, slack ones exactly zero or more; a limit is not exceeded."""
    model, rng = model_of("usrt"), np.random.default_rng(4)
    cables = [k for k, unit in enumerate(model.actuator_units) if unit == "N"]
    legs = Model(liu2020(None))
    stand = np.zeros(len(model.actuator_names))
    stand[:12] = legs.static_torques(legs.standing())
    for _ in range(10):
        q, v, _ = near_standing(model, rng, 0.0)
        tau = stand.copy()
        tau[cables] = np.maximum(rng.uniform(-5.0, 10.0, len(cables)), 0.0)  # some slack
        a = model.forward_dynamics(q, v, tau)
        found = model.admissible_efforts(q, v, a, friction=1.0, limits={"tail.T_1": 12.0})
        assert (found.efforts[cables] >= 0.0).all() and found.efforts[cables[0]] <= 12.0 + 1e-6
        error = np.abs(model.forward_dynamics(q, v, found.efforts) - a).max()
        assert error < 1e-9 * max(1.0, np.abs(a).max())
    # Bent so, no cable can be stood in for by others: one that would have to push has no substitute.
    q, v, _ = near_standing(model, rng, 0.0)
    tau = stand.copy()
    tau[cables] = (5.0, -5.0, 5.0, 5.0, 5.0, 5.0)
    pushed = model.ask("forward_dynamics", q=q, v=v, tau=tau, prescribed_acceleration=(), forces=None)["acceleration"]
    with pytest.raises(InadmissibleError, match="if cables could push") as caught:
        model.admissible_efforts(q, v, pushed, friction=1.0)
    assert caught.value.blame == ("tension of tail.T_2 ≥ 0",)


def test_a_prescribed_tail_and_pushes() -> None:
    """Prescribed accelerations take what they need; a push from the side is held by friction."""
    model, q, zero = rest("prescribed")
    a = moving(**{"tail.tb": 30.0})
    found = model.admissible_efforts(q, zero, a, friction=0.6)
    following = model.path(q, zero, found.efforts, prescribed_acceleration=a[6:])
    np.testing.assert_allclose(following.acceleration, a, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.foot_forces, following.foot_forces, rtol=0, atol=1e-10)
    model, q, zero = rest("pushed")
    for force in ([[30.0, 0.0, 0.0]], [30.0, 0.0, 0.0]):
        found = model.admissible_efforts(q, zero, zero, friction=0.3, forces=force)
        assert found.foot_forces[:, 0].sum() == pytest.approx(-30.0)
        with pytest.raises(InadmissibleError, match="friction"):
            model.admissible_efforts(q, zero, zero, friction=0.1, forces=force)


def test_a_batch_is_its_states() -> None:
    """Leading dimensions broadcast; an error tells which states, by rows of the batch."""
    model, q, zero = rest()
    a = np.array([[moving(x=x, z=z) for z in (0.0, 1.0, -2.0)] for x in (0.0, 1.5)])
    asked = {"friction": 0.2, "limits": all_limited(model, 10.0), "least_normal": 10.0}
    found = model.admissible_efforts(q, zero, a, **asked)
    assert found.efforts.shape == (2, 3, 14) and found.foot_forces.shape == (2, 3, 4, 3)
    assert found.margins.torque.shape == (2, 3) and found.at_bound.shape == (2, 3, len(found.constraints))
    active: set[str] = set()
    for i in range(2):
        for k in range(3):
            one = model.admissible_efforts(q, zero, a[i, k], **asked)
            np.testing.assert_allclose(found.efforts[i, k], one.efforts, rtol=0, atol=1e-9)
            np.testing.assert_allclose(found.foot_forces[i, k], one.foot_forces, rtol=0, atol=1e-9)
            active |= set(one.active)
    assert set(found.active) == active != set()
    a[1, 1] = moving(x=4.0)
    with pytest.raises(InadmissibleError, match=r"state \(1, 1\) of 6") as caught:
        model.admissible_efforts(q, zero, a, **asked)
    assert caught.value.rows == (4,)
    empty = model.admissible_efforts(q, zero, np.zeros((0, 8)), friction=0.6)
    assert empty.efforts.shape == (0, 14) and empty.active == ()


def test_limits_of_the_robot_count() -> None:
    """None: those that actuators have; a given limit stands in for the actuator's own."""
    model, q, zero = rest()
    own = Model(liu2020("pendulum").replace({"legs.torque_limit": 7.5}))
    found = own.admissible_efforts(q, zero, zero, friction=0.6)
    legs = {f"limit of leg{k}.{joint} ±7.5 N m" for k in (1, 2, 3, 4) for joint in ("ha", "hb", "k")}
    assert {name for name in found.constraints if name.startswith("limit")} == legs
    assert found.active == ("limit of leg1.k ±7.5 N m", "limit of leg2.k ±7.5 N m")
    np.testing.assert_array_equal(
        found.efforts, model.admissible_efforts(q, zero, zero, friction=0.6, limits=dict.fromkeys(LEGS, 7.5)).efforts
    )
    over = own.admissible_efforts(q, zero, zero, friction=0.6, limits=dict.fromkeys(LEGS, 30.0))
    np.testing.assert_allclose(over.efforts, model.static_torques(q), rtol=0, atol=1e-12)
    assert not [name for name in model.admissible_efforts(q, zero, zero, friction=0.6).constraints if "limit" in name]


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"friction": 0.0}, ArgumentError, "friction: got 0.0; required: a positive number"),
        ({"friction": -0.1}, ArgumentError, "required: a positive number"),
        ({"friction": np.nan}, ArgumentError, "required: a positive number"),
        ({"friction": "rubber"}, ArgumentError, "required: a positive number"),
        (
            {"least_normal": -1.0},
            ArgumentError,
            "least_normal: got -1.0; required: a finite number that is not neg",
        ),
        ({"least_normal": np.nan}, ArgumentError, "not negative"),
        ({"least_normal": np.inf}, ArgumentError, "not negative"),
        (
            {"weights": {"leg1.k": 0.0}},
            ArgumentError,
            r"weights\.leg1\.k: got 0\.0; required: a finite positive number",
        ),
        ({"weights": {"leg1.k": np.inf}}, ArgumentError, "a finite positive number"),
        ({"weights": {"leg1.knee": 1.0}}, UnknownNameError, "did you mean 'leg1.k'"),
        ({"weights": np.ones(14)}, ArgumentError, "numbers by actuator name"),
        (
            {"limits": {"leg1.k": -3.0}},
            ArgumentError,
            r"limits\.leg1\.k: got -3\.0; required: a finite positive n",
        ),
        ({"limits": {"leg1.k": np.nan}}, ArgumentError, "a finite positive number"),
        ({"limits": {"leg1.k": np.inf}}, ArgumentError, "a finite positive number"),
        ({"limits": {"leg1.k": True}}, ArgumentError, "a finite positive number"),
        ({"limits": {"leg9.k": 3.0}}, UnknownNameError, "a known actuator"),
        ({"limits": 40.0}, ArgumentError, "numbers by actuator name"),
        ({"a": [np.nan] * 8}, StateError, "not a finite number"),
        ({"a": [0.0] * 7}, StateError, "required"),
        ({"q": np.zeros(8)}, StateError, "cannot reach its foot"),
        ({"a": [1e300] * 8}, InadmissibleError, "Possible if feet could pull"),
        ({"a": [1e308] * 8}, StateError, "overflow"),
    ],
)
def test_bad_input(changed: dict[str, Any], kind: type[Exception], message: str) -> None:
    model, q, zero = rest()
    with pytest.raises(kind, match=message):
        model.admissible_efforts(**({"q": q, "v": zero, "a": zero, "friction": 0.6} | changed))


def test_the_error_can_be_sent() -> None:
    """It keeps its message and its data."""
    model, q, zero = rest()
    with pytest.raises(InadmissibleError) as caught:
        model.admissible_efforts(q, zero, [moving(), moving(x=2.0)], friction=0.05)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is InadmissibleError and str(again) == str(caught.value)
    assert again.__dict__ == caught.value.__dict__
    assert again.rows == (1,) and again.argument == "a" and again.blame == caught.value.blame != ()
    assert "state 1 of 2" in str(again)
