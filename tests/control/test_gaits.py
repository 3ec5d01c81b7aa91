"""Gaits, and the tables of joint angles that follow from them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tailwork import Model
from tailwork.control.gait.foot_kinematics import foot_angles, foot_jacobian, foot_place, posed, standing_feet
from tailwork.control.gait.gait import Gait, _turned, bound, forward_direction, leg_roles, pace, tripod, trot, walk
from tailwork.control.gait.joint_table import SAMPLES, JointTable, held_posture, joint_table, walking_start
from tailwork.control.servo import JointServo
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.mechanics.kinematics import points
from tailwork.robots import Foot, FreeLimb, Joint, Limb, Motor, Robot, Torso, anymal_c, bar, biswal, blaberus, liu2020
from tailwork.simulation import CompliantGround, simulate

COCKROACH = {"speed": 0.12, "frequency": 4.0, "lift": 0.0015}
BISWAL = {"speed": 0.15, "frequency": 2.0, "lift": 0.03}
ODD = Gait(legs=("a", "b", "c"), phases=(0.0, 0.3, 0.85), duty=0.62, frequency=1.7, speed=0.4, lift=0.05)


@pytest.fixture(scope="module")
def insect() -> Model:
    return Model(blaberus(), "none")


@pytest.fixture(scope="module")
def quadruped() -> Model:
    return Model(biswal(), "none")


@pytest.fixture(scope="module")
def real() -> Model:
    return Model(anymal_c(), "none")


def steps_of(who: str, model: Model) -> Gait:
    """A gait of the insect, of the small quadruped or of the real one."""
    if who == "insect":
        return tripod(model.robot, **COCKROACH)
    return trot(model.robot, **(BISWAL if who == "quadruped" else {"speed": 0.3, "frequency": 1.5, "lift": 0.05}))


def gait_of(**changes: Any) -> Gait:
    fields = {"legs": ("a", "b"), "phases": (0.0, 0.5), "duty": 0.5, "frequency": 2.0, "speed": 0.1, "lift": 0.01}
    return Gait(**fields | changes)


def by_phase(gait: Gait) -> list[set[str]]:
    """Legs that step together, in the order in which they begin to stand."""
    return [
        {leg for leg, other in zip(gait.legs, gait.phases, strict=True) if other == phase}
        for phase in sorted(set(gait.phases))
    ]


def wanted(model: Model, gait: Gait, leg: str, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places and velocities of a foot in the torso frame."""
    offset, rate = gait.offset(leg, times)
    axes = np.stack([forward_direction(model.robot), [0.0, 0.0, 1.0]])
    return standing_feet(model)[leg] + offset @ axes, rate @ axes


def columns(table: JointTable, leg: str) -> list[int]:
    return [k for k, name in enumerate(table.coordinates) if name.startswith(f"{leg}.")]


# Paths


def test_a_stance_foot_rests_on_the_ground() -> None:
    """Seen from the ground, to rounding: neither place nor height changes, and mid-stance is where it should be."""
    for leg, phase in zip(ODD.legs, ODD.phases, strict=True):
        times = (np.linspace(1e-9, ODD.duty - 1e-9, 50) + phase + 2.0) * ODD.period
        assert ODD.in_stance(leg, times).all()
        (forward, up), (rate, rising) = (x.T for x in ODD.offset(leg, times))
        over_ground = forward + ODD.speed * times
        np.testing.assert_allclose(over_ground, over_ground[0], rtol=0, atol=1e-15)
        assert not up.any() and not rising.any()
        np.testing.assert_array_equal(rate, -ODD.speed)
        np.testing.assert_allclose(ODD.offset(leg, (phase + ODD.duty / 2) * ODD.period)[0], 0.0, rtol=0, atol=1e-16)


def test_a_swinging_foot_steps_one_stride_and_rises_by_the_lift() -> None:
    for leg, phase in zip(ODD.legs, ODD.phases, strict=True):
        begin, end = (phase + ODD.duty) * ODD.period, (phase + 1.0) * ODD.period
        assert not ODD.in_stance(leg, np.linspace(begin + 1e-9, end - 1e-9, 50)).any()
        (left, _), (landed, _), (middle, height) = (ODD.offset(leg, t)[0] for t in (begin, end, (begin + end) / 2))
        assert landed - left + ODD.speed * (end - begin) == pytest.approx(ODD.stride, abs=1e-15)
        assert landed - left == pytest.approx(ODD.step_length, abs=1e-15)
        assert middle == pytest.approx(0.0, abs=1e-15)
        assert height == pytest.approx(ODD.lift, abs=1e-16)
        ups = ODD.offset(leg, np.linspace(begin, end, 1001))[0][:, 1]
        assert (ups >= 0.0).all() and ups.max() == pytest.approx(ODD.lift, abs=1e-16)


@pytest.mark.parametrize("leg", ODD.legs)
def test_paths_and_their_rates_have_no_jumps(leg: str) -> None:
    """Rates are the derivatives of the places; both are continuous where the foot leaves and meets the ground."""
    phase, h = ODD.phases[ODD.legs.index(leg)], 1e-5
    times = np.linspace(0.0, ODD.period, 997)
    clear = np.abs(ODD.share(leg, times)[:, None] - [0.0, ODD.duty, 1.0]).min(axis=1) > 2 * h * ODD.frequency
    differences = (ODD.offset(leg, times + h)[0] - ODD.offset(leg, times - h)[0]) / (2.0 * h)
    np.testing.assert_allclose(differences[clear], ODD.offset(leg, times)[1][clear], rtol=0, atol=1e-7)
    for at in (phase, phase + ODD.duty):
        t = at * ODD.period
        for before, after in zip(ODD.offset(leg, t - 1e-12), ODD.offset(leg, t + 1e-12), strict=True):
            np.testing.assert_allclose(before, after, rtol=0, atol=1e-9)
        np.testing.assert_allclose(ODD.offset(leg, t)[1], [-ODD.speed, 0.0], rtol=0, atol=1e-9)


def test_paths_repeat_and_share_their_shape() -> None:
    times = np.linspace(0.0, ODD.period, 31)
    for leg, phase in zip(ODD.legs, ODD.phases, strict=True):
        here = ODD.offset(leg, times + phase * ODD.period)
        for there in (ODD.offset("a", times), ODD.offset(leg, times + (phase + 3.0) * ODD.period)):
            np.testing.assert_allclose(here, there, rtol=0, atol=1e-13)


def test_strides_in_numbers() -> None:
    gait = tripod(blaberus(), **COCKROACH)
    assert (gait.period, gait.stride) == (0.25, pytest.approx(0.03, abs=1e-17))
    assert gait.step_length == pytest.approx(0.0165, abs=1e-17)


def test_standing_on_the_spot_and_walking_backward() -> None:
    still = gait_of(speed=0.0)
    assert not still.offset("a", np.linspace(0.0, 1.0, 50))[0][:, 0].any()
    forward, backward = (gait_of(speed=speed).offset("b", np.linspace(0.0, 1.0, 50)) for speed in (0.1, -0.1))
    for ahead, back in zip(forward, backward, strict=True):
        np.testing.assert_array_equal(back, ahead * [-1.0, 1.0])


def test_a_stance_begins_at_its_phase_whatever_the_rounding() -> None:
    for phase in np.arange(0.0, 1.0, 0.05):
        for frequency in (0.3, 1.7, 4.0, 7.0):
            gait = gait_of(phases=(float(phase), 0.0), frequency=frequency)
            begins = (phase + np.arange(4)) / frequency
            assert gait.in_stance("a", begins).all()
            assert (gait.share("a", begins) < 1e-12).all()


# Presets


def test_roles_of_legs() -> None:
    """Rows from the front, left 0 and right 1; x forward and y left, or y forward and x right."""
    assert leg_roles(blaberus()) == {
        "front_left": (0, 0), "front_right": (0, 1), "middle_left": (1, 0), "middle_right": (1, 1),
        "hind_left": (2, 0), "hind_right": (2, 1),
    }  # fmt: skip
    assert leg_roles(biswal()) == {"leg1": (0, 0), "leg2": (0, 1), "leg3": (1, 0), "leg4": (1, 1)}
    assert leg_roles(liu2020("r3")) == {"leg1": (0, 1), "leg2": (0, 0), "leg3": (1, 0), "leg4": (1, 1)}


def test_a_tripod_is_two_sets_of_three_in_turn() -> None:
    gait = tripod(blaberus(), **COCKROACH)
    first, second = by_phase(gait)
    assert first == {"front_left", "middle_right", "hind_left"}
    assert second == {"front_right", "middle_left", "hind_right"}
    assert set(gait.phases) == {0.0, 0.5} and gait.duty == 0.55


@pytest.mark.parametrize("robot", [biswal(), liu2020("pendulum"), anymal_c()], ids=lambda robot: robot.name)
def test_gaits_of_quadrupeds(robot: Robot) -> None:
    named = {role: leg for leg, role in leg_roles(robot).items()}
    fl, fr, hl, hr = named[0, 0], named[0, 1], named[1, 0], named[1, 1]
    assert by_phase(trot(robot, **BISWAL)) == [{fl, hr}, {fr, hl}], "diagonal pairs"
    assert by_phase(pace(robot, **BISWAL)) == [{fl, hl}, {fr, hr}], "pairs of a side"
    assert by_phase(bound(robot, **BISWAL)) == [{fl, fr}, {hl, hr}], "front, then hind"
    walking = walk(robot, **BISWAL)
    assert by_phase(walking) == [{hl}, {fl}, {hr}, {fr}], "lateral sequence"
    assert sorted(walking.phases) == [0.0, 0.25, 0.5, 0.75]


def test_an_insect_walks_in_waves_from_behind() -> None:
    gait = walk(blaberus(), **COCKROACH)
    order = ["hind_left", "middle_left", "front_left", "hind_right", "middle_right", "front_right"]
    assert by_phase(gait) == [{leg} for leg in order]
    assert sorted(gait.phases) == [k / 6 for k in range(6)]


@pytest.mark.parametrize(
    ("gait", "fewest", "most"),
    [
        (tripod(blaberus(), **COCKROACH), 3, 6),
        (walk(blaberus(), **COCKROACH), 4, 5),
        (trot(biswal(), **BISWAL), 2, 2),
        (pace(biswal(), **BISWAL), 2, 2),
        (bound(biswal(), **BISWAL), 0, 2),
        (walk(biswal(), **BISWAL), 3, 3),
        (ODD, 1, 3),
    ],
)
def test_feet_on_the_ground(gait: Gait, fewest: int, most: int) -> None:
    """On average duty · legs; never fewer or more than the gait promises."""
    times = (np.arange(6000) + 0.5) / 6000 * gait.period
    count = np.sum([gait.in_stance(leg, times) for leg in gait.legs], axis=0)
    assert count.mean() == pytest.approx(gait.duty * len(gait.legs), abs=1e-12)
    assert (count.min(), count.max()) == (fewest, most)


def test_duty_of_a_preset_can_be_changed() -> None:
    assert trot(biswal(), duty=0.6, **BISWAL).duty == 0.6
    assert {make(biswal(), **BISWAL).duty for make in (trot, pace)} == {0.5}
    assert (walk(biswal(), **BISWAL).duty, bound(biswal(), **BISWAL).duty) == (0.75, 0.4)


# Tables


@pytest.mark.parametrize("who", ["insect", "quadruped", "real"])
def test_tables_put_the_feet_on_their_paths(who: str, request: pytest.FixtureRequest) -> None:
    """By the engine's own kinematics: at the samples to rounding, in between to a hundred-thousandth of the step."""
    model: Model = request.getfixturevalue(who)
    gait = steps_of(who, model)
    table = joint_table(model, gait)
    q = posed(model)
    where = [model.coordinate_names.index(name) for name in table.coordinates]
    for t, tolerance in ((7 / SAMPLES, 1e-15), (83 / SAMPLES, 1e-15), (0.123, 1e-5 * gait.step_length)):
        q[where] = table.at(t * gait.period)[0]
        places = np.array(points(model.layout, q.tolist()), dtype=float).reshape(-1, 3)
        for leg in gait.legs:
            place = places[model.point_names.index(f"{leg}.foot")] - model.robot.stand
            expected = wanted(model, gait, leg, np.array(t * gait.period))[0]
            np.testing.assert_allclose(place, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("who", ["insect", "quadruped", "real"])
def test_tables_between_the_samples(who: str, request: pytest.FixtureRequest) -> None:
    """Rates are exact at the samples. In between, halving the interval divides errors of angles by sixteen."""
    model: Model = request.getfixturevalue(who)
    gait = steps_of(who, model)
    times = (np.arange(4 * SAMPLES) + 0.37) / (4 * SAMPLES) * gait.period
    exact = {leg: foot_angles_along(model, gait, leg, times) for leg in gait.legs}
    errors = []
    for samples in (SAMPLES, 2 * SAMPLES):
        table = joint_table(model, gait, samples=samples)
        values = table.at(times)[0]
        errors.append(max(np.abs(values[:, columns(table, leg)] - exact[leg]).max() for leg in gait.legs))
        knots = np.arange(samples) / samples * gait.period
        for leg in gait.legs:
            limb, here = model.layout.limbs[leg], columns(table, leg)
            at, rates = (x[:, here] for x in table.at(knots))
            speeds = np.einsum("txc,tc->tx", foot_jacobian(limb, at), rates)
            np.testing.assert_allclose(speeds, wanted(model, gait, leg, knots)[1], rtol=0, atol=1e-12)
    print(f"{who}: largest error of an angle {errors[0]:.1e} rad with {SAMPLES} samples, {errors[1]:.1e} with twice")
    assert errors[0] < 5e-5
    assert errors[0] / errors[1] > 12.0


def foot_angles_along(model: Model, gait: Gait, leg: str, times: np.ndarray) -> np.ndarray:
    places = wanted(model, gait, leg, times)[0]
    return np.array([foot_angles(model.layout.limbs[leg], place) for place in places])


def test_mirrored_legs_have_mirrored_angles_half_a_stride_later(insect: Model) -> None:
    gait = tripod(insect.robot, **COCKROACH)
    table = joint_table(insect, gait)
    mirror = np.array([1.0, -1.0, 1.0, 1.0, 1.0])  # beta turns about the leg's own upward axis
    for row in ("front", "middle", "hind"):
        for ours in (table.values, table.slopes):
            left, right = ours[:, columns(table, f"{row}_left")], ours[:, columns(table, f"{row}_right")]
            np.testing.assert_allclose(np.roll(right, SAMPLES // 2, axis=0), left * mirror, rtol=0, atol=1e-10)


def test_the_coxa_is_held(insect: Model) -> None:
    table = joint_table(insect, tripod(insect.robot, **COCKROACH))
    for name, values, slopes in zip(table.coordinates, table.values.T, table.slopes.T, strict=True):
        if name.endswith(("gamma", "alpha")):
            np.testing.assert_allclose(values, math.radians(-25.0) if "gamma" in name else 0.0, rtol=0, atol=1e-16)
            assert not slopes.any()
        else:
            assert np.ptp(values) > 0.1


def test_other_feet_and_heights(quadruped: Model) -> None:
    """A table knows the way from the torso to the feet only."""
    gait = Gait(legs=("leg2",), phases=(0.0,), duty=0.5, frequency=2.0, speed=0.0, lift=0.0)
    feet = {"leg2": (0.20, -0.12, 0.01)}
    table = joint_table(quadruped, gait, samples=4, torso_place=(0.01, 0.0, 0.25), feet=feet)
    assert table.coordinates == tuple(quadruped.coordinate_names[6:]), "legs that the gait leaves out stand"
    found = foot_place(quadruped.layout.limbs["leg2"], table.values[:, 3:6])
    np.testing.assert_allclose(found, np.tile([0.19, -0.12, -0.24], (4, 1)), rtol=0, atol=1e-15)
    assert not table.slopes.any()


def biped() -> Robot:
    """Two flat legs of two hinges one beside the other, without a closed form."""

    def leg(x: float) -> FreeLimb:
        joints = (
            Joint(name="hip", axis=(1.0, 0.0, 0.0), offset=(x, 0.0, 0.0), body=bar(0.2, 0.3, 2)),
            Joint(name="knee", axis=(1.0, 0.0, 0.0), parent="hip", offset=(0.0, 0.0, -0.3), body=bar(0.2, 0.3, 2)),
        )
        foot = Foot(joint="knee", point=(0.0, 0.0, -0.3), place=(x, 0.0, 0.0))
        motors = (Motor(name="hip", coordinate="hip"),)
        return FreeLimb(limb=Limb(joints=joints, actuators=motors, foot=foot))

    torso = Torso(mass=1.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0))
    return Robot(name="biped", torso=torso, stand=(0.0, 0.0, 0.5), parts={"left": leg(-0.1), "right": leg(0.1)})


def test_legs_without_a_closed_form() -> None:
    """Solved by steps: the start says which way the knees bend; only what motors drive is held."""
    model = Model(biped(), "none", torso="fixed")
    gait = Gait(legs=("left", "right"), phases=(0.0, 0.5), duty=0.6, frequency=1.0, speed=0.2, lift=0.05)
    times = np.linspace(0.0, 1.0, 24, endpoint=False)
    for sign in (1.0, -1.0):
        start = sign * np.array([0.5, -1.0, 0.5, -1.0])
        q = posed(model, start=start)
        np.testing.assert_allclose(q[:2], q[2:], rtol=0, atol=1e-12)
        assert q[1] * sign < 0.0
        table = joint_table(model, gait, samples=24, start=start)
        for leg in gait.legs:
            at, rates = (x[:, columns(table, leg)] for x in table.at(times))
            limb, (places, speeds) = model.layout.limbs[leg], wanted(model, gait, leg, times)
            np.testing.assert_allclose(foot_place(limb, at), places, rtol=0, atol=1e-12)
            np.testing.assert_allclose(
                np.einsum("txc,tc->tx", foot_jacobian(limb, at), rates), speeds, rtol=0, atol=1e-10
            )
            assert (at[:, 1] * sign < 0.0).all()
    assert held_posture(model, q).coordinates == ("left.hip", "right.hip")
    with pytest.raises(ArgumentError, match=r"left.foot: got .*this one is 0.\d+ m out of reach"):
        joint_table(model, gait, torso_place=(0.0, 0.0, 0.7))
    with pytest.raises(ArgumentError, match=r"torso: got 'fixed'"):
        walking_start(model, gait, table)


def test_a_held_posture(insect: Model) -> None:
    q = posed(insect)
    table = held_posture(insect, q)
    assert table.coordinates == insect.coordinate_names[6:]
    values, rates = table.at(np.array([[0.0, 0.3], [17.0, -2.2]]))
    np.testing.assert_array_equal(values, np.broadcast_to(q[6:], (2, 2, 30)))
    assert not rates.any()
    with pytest.raises(ArgumentError, match=r"q: got \(3,\); required: one state of 36 coordinates"):
        held_posture(insect, q[:3])


def test_the_cubics_of_a_table() -> None:
    """Through its samples with their rates; in between a cubic, which Hermite interpolation gives exactly; periodic."""
    polynomial = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.7])
    knots = np.array([0.0, 0.5])
    table = JointTable(("a",), 1.0, polynomial(knots)[:, None], polynomial.deriv()(knots)[:, None])
    times = np.linspace(0.0, 0.5, 11)
    values, rates = table.at(times)
    np.testing.assert_allclose(values[:, 0], polynomial(times), rtol=0, atol=1e-15)
    np.testing.assert_allclose(rates[:, 0], polynomial.deriv()(times), rtol=0, atol=1e-14)
    for shift in (-3.0, 5.0):
        for here, there in zip(table.at(times), table.at(times + shift), strict=True):
            np.testing.assert_allclose(here, there, rtol=0, atol=1e-13)
    end, begin = table.at(1.0 - 1e-13), table.at(0.0)
    np.testing.assert_allclose(np.stack(end), np.stack(begin), rtol=0, atol=1e-11)
    assert begin[0].shape == (1,)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 1.0


@pytest.mark.parametrize("who", ["insect", "quadruped"])
def test_a_robot_that_already_walks(who: str, request: pytest.FixtureRequest) -> None:
    """The torso moves forward at the gait's speed; feet in stance rest over the ground, the others do not."""
    model: Model = request.getfixturevalue(who)
    gait = tripod(model.robot, **COCKROACH) if who == "insect" else trot(model.robot, **BISWAL)
    q, v = walking_start(model, gait, joint_table(model, gait))
    np.testing.assert_array_equal(q[:6], [*model.robot.stand, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(v[:6], [gait.speed, 0.0, 0.0, 0.0, 0.0, 0.0])
    stance = 0
    for leg in gait.legs:
        limb, at, of = model.layout.limbs[leg], model.layout.coordinates[leg], model.layout.rates[leg]
        speed = v[:3] + foot_jacobian(limb, q[at]) @ v[of]
        if gait.in_stance(leg, 0.0):
            np.testing.assert_allclose(speed, 0.0, rtol=0, atol=1e-13)
            assert model.robot.stand[2] + foot_place(limb, q[at])[2] == pytest.approx(0.0, abs=1e-15)
            stance += 1
    assert stance == {"insect": 6, "quadruped": 2}[who], "a tripod begins with all feet on the ground"


def test_legs_that_a_gait_leaves_out_stand(quadruped: Model) -> None:
    gait = Gait(legs=("leg1",), phases=(0.25,), duty=0.5, frequency=2.0, speed=0.1, lift=0.02)
    lower = (0.01, 0.0, 0.25)
    table = joint_table(quadruped, gait, torso_place=lower)
    q, v = walking_start(quadruped, gait, table, torso_place=lower)
    here = quadruped.layout.coordinates["leg1"]
    np.testing.assert_array_equal(q[6:], table.at(0.0)[0])
    expected = posed(quadruped, torso_place=lower)
    np.testing.assert_array_equal(
        np.delete(q, range(*here.indices(len(q)))), np.delete(expected, range(*here.indices(len(q))))
    )
    assert not v[9:].any()


# Errors


@pytest.mark.parametrize(
    ("changes", "path", "said"),
    [
        ({"duty": 0.0}, "duty", "above 0 and below 1"),
        ({"duty": 1.0}, "duty", "above 0 and below 1"),
        ({"duty": math.nan}, "duty", "a finite number"),
        ({"frequency": 0.0}, "frequency", r"\[Hz\], greater than 0"),
        ({"frequency": -2.0}, "frequency", "greater than 0"),
        ({"lift": -0.01}, "lift", "not negative"),
        ({"speed": math.inf}, "speed", r"a finite number \[m/s\]"),
        ({"speed": "fast"}, "speed", "write a plain number"),
        ({"legs": ("a", "a")}, "legs", "each named once"),
        ({"legs": (), "phases": ()}, "legs", "at least one leg"),
        ({"legs": "ab"}, "legs", "a list"),
        ({"phases": (0.0,)}, "phases", "one a leg, 2"),
        ({"phases": (0.0, 1.0)}, "phases.2", "at least 0 and below 1"),
        ({"phases": (-0.1, 0.5)}, "phases.1", "at least 0 and below 1"),
    ],
)
def test_impossible_gaits(changes: dict[str, Any], path: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said) as caught:
        gait_of(**changes)
    assert caught.value.path == path


def test_symbols_are_no_gait() -> None:
    casadi = pytest.importorskip("casadi")
    with pytest.raises(ArgumentError, match="numbers only, no symbols"):
        gait_of(speed=casadi.SX.sym("speed"))


def test_unknown_legs(quadruped: Model) -> None:
    for ask in (gait_of().share, gait_of().in_stance, gait_of().offset):
        with pytest.raises(UnknownNameError, match="leg: got 'c'; required: a known leg of the gait; valid: a, b"):
            ask("c", 0.0)
    with pytest.raises(UnknownNameError, match=r"gait.legs: got 'a'.*valid: leg1, leg2, leg3, leg4"):
        joint_table(quadruped, gait_of())


@pytest.mark.parametrize(
    ("make", "robot", "said"),
    [
        (tripod, biswal(), "6 legs in pairs for a tripod gait; its legs are leg1, leg2, leg3, leg4"),
        (trot, blaberus(), "4 legs in pairs for a trot"),
        (pace, blaberus(), "4 legs in pairs for a pace"),
        (bound, blaberus(), "4 legs in pairs for a bound"),
        (walk, biped(), "four legs or more in pairs for a walk; its legs are left, right"),
        (walk, liu2020("pendulum").without("legs"), "legs in pairs, a left and a right one; its legs are none"),
        (walk, blaberus().without("hind_left"), "legs in pairs, a left and a right one"),
        (walk, blaberus().replace({"hind_left.hip.y": 0.0}), "legs in pairs, a left and a right one"),
        (walk, blaberus().replace({"hind_left.hip.x": 0.0025}), "legs of a side one behind the other"),
        (walk, "blaberus", "a Robot, from tailwork.robots"),
    ],
)
def test_robots_that_cannot_step_so(make: Any, robot: Any, said: str) -> None:
    with pytest.raises(ArgumentError, match=said) as caught:
        make(robot, **COCKROACH)
    assert caught.value.path == "robot"


def test_a_path_out_of_reach_says_where_and_by_how_much(insect: Model) -> None:
    """The furthest place of the path, in stance or in swing."""
    robot = insect.robot
    fast = tripod(robot, speed=0.24, frequency=4.0, lift=0.0015)
    with pytest.raises(ArgumentError) as caught:
        joint_table(insect, fast)
    said = str(caught.value)
    assert caught.value.path == "front_left.foot"
    assert "(in swing) this one is 0.00" in said and "m out of reach" in said and "less speed" in said
    share = float(said.split(" of its stride")[0].split()[-1])
    place = wanted(insect, fast, "front_left", np.array(share * fast.period))[0]
    np.testing.assert_allclose(caught.value.value, place, rtol=0, atol=3e-5)
    missing = float(said.split("this one is ")[1].split()[0])
    form = insect.layout.limbs["front_left"].closed_form
    assert form is not None
    assert missing == pytest.approx((form.extension(caught.value.value) - 1.0) * 0.0140, abs=1e-5), "of femur + tibia"
    long = Gait(legs=("hind_left",), phases=(0.0,), duty=0.95, frequency=4.0, speed=0.2, lift=0.0)
    with pytest.raises(ArgumentError, match=r"hind_left.foot: .*at 0.900 of its stride \(in stance\).*out of reach"):
        joint_table(insect, long, samples=10)
    high = Gait(legs=("hind_left",), phases=(0.3,), duty=0.5, frequency=4.0, speed=0.0, lift=0.002)
    with pytest.raises(
        ArgumentError, match=r"at 0.750 of its stride \(in swing\) this one is .* too near .* less lift"
    ):
        joint_table(insect, high, feet={"hind_left": (-0.0035, 0.0135, 0.0)})  # above it ends the coxa


def test_wrong_tables(quadruped: Model) -> None:
    gait = trot(quadruped.robot, **BISWAL)
    for samples in (3, 10.5, True):
        with pytest.raises(ArgumentError, match=r"samples: got .*an integer, 4 or more"):
            joint_table(quadruped, gait, samples=samples)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="gait: got 'trot'; required: a Gait"):
        joint_table(quadruped, "trot")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="stance: got"):
        joint_table(Model(biswal()), gait)
    good: dict[str, Any] = {
        "coordinates": ("a", "b"),
        "period": 1.0,
        "values": np.zeros((3, 2)),
        "slopes": np.zeros((3, 2)),
    }
    for changes, path in (
        ({"coordinates": ()}, "coordinates"),
        ({"coordinates": ("a", "a")}, "coordinates"),
        ({"period": 0.0}, "period"),
        ({"period": math.inf}, "period"),
        ({"values": np.zeros(3)}, "values"),
        ({"values": np.zeros((0, 2))}, "values"),
        ({"values": np.zeros((3, 3))}, "values"),
        ({"values": np.full((3, 2), math.nan)}, "values"),
        ({"slopes": np.zeros((4, 2))}, "slopes"),
    ):
        with pytest.raises(ArgumentError) as caught:
            JointTable(**good | changes)
        assert caught.value.path == path
    with pytest.raises(UnknownNameError, match=r"table.coordinates: got 'a'"):
        walking_start(quadruped, gait, JointTable(**good))


# Turns, and walks that end


@pytest.mark.parametrize("strides", [None, 4])
@pytest.mark.parametrize("turn", [0.0, -0.7, 2.0])
def test_feet_rest_on_the_ground_while_the_torso_walks_a_circle(turn: float, strides: int | None) -> None:
    """Seen from the ground a foot in stance does not move; its rate is that of its place; a walk with an end begins and
    ends in the same posture at rest."""
    gait = replace(ODD, turn=turn)
    middle = (0.1, 0.08, -0.2)
    times = np.linspace(0.0, 2.0 * gait.period if strides is None else 5.0 * gait.period, 4001)
    passed, pace = (times, np.ones_like(times)) if strides is None else gait._progress(times, strides)
    for leg in gait.legs:
        place, rate = gait.foot(leg, times, middle, strides)
        h = 1e-8  # accelerations jump where a foot leaves the ground
        around = [gait.foot(leg, times[1:-1] + way, middle, strides)[0] for way in (h, -h)]
        np.testing.assert_allclose((around[0] - around[1]) / (2.0 * h), rate[1:-1], rtol=0, atol=2e-6)
        on_ground = gait._seen(np.zeros(2), passed) + _turned(place[:, :2], gait.turn * passed)
        stance = (place[:, 2] == middle[2]) & (np.roll(place[:, 2], 1) == middle[2])
        assert stance.mean() > 0.3
        assert np.abs(np.diff(on_ground, axis=0)[stance[1:]]).max() < 1e-12
        if strides is not None:
            np.testing.assert_allclose(place[[0, -1]], [middle, middle], rtol=0, atol=1e-12)
            np.testing.assert_allclose(rate[[0, -1]], 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.diff(passed), pace[1:] * np.diff(times), rtol=0, atol=1e-5)


def test_a_straight_walk_is_the_usual_one() -> None:
    times = np.linspace(0.0, 2.0 * ODD.period, 501)
    for leg in ODD.legs:
        (place, rate), (offset, moved) = ODD.foot(leg, times, (0.1, 0.08, -0.2)), ODD.offset(leg, times)
        np.testing.assert_allclose(place[:, ::2] - [0.1, -0.2], offset, rtol=0, atol=1e-15)
        np.testing.assert_allclose(rate[:, ::2], moved, rtol=0, atol=1e-14)
        assert not (place[:, 1] - 0.08).any()


def test_degrees_for_radians() -> None:
    """No foot stays on the ground while the torso turns by half a turn."""
    with pytest.raises(ArgumentError, match=r"turn: got 30.0; required: at most 12.6 rad/s.*is it in degrees"):
        trot(liu2020(), speed=0.15, frequency=2.0, turn=30.0)


def test_a_quadruped_turns_stops_and_says_what_it_missed() -> None:
    """On compliant ground: a trot of 0.4 rad/s turns the torso about so; one of four strides leaves it standing, turned
    as planned; servos that are too soft for the speed that was asked say so in the summary."""
    robot = biswal()
    model = Model(robot, "none")
    ground = CompliantGround(stiffness=2e4, damping=1.0, tangential_stiffness=2e4, tangential_damping=20.0,
                             static_friction=0.8, kinetic_friction=0.6)  # fmt: skip
    gait = trot(robot, speed=0.15, frequency=2.0, lift=0.03, turn=0.4)
    table = joint_table(model, gait)
    run = simulate(model, walking_start(model, gait, table), 1.0, ground=ground,
                   control=JointServo(table=table, kp=30.0, kd=0.5))  # fmt: skip
    assert run.final_state[0][5] == pytest.approx(0.4, rel=0.2) and "asked to" not in run.summary()
    stopping = JointServo(table=joint_table(model, gait, strides=3), kp=30.0, kd=0.5)
    q, v = simulate(model, posed(model), 1.9, ground=ground, control=stopping).final_state
    assert q[5] == pytest.approx(0.4 * 2.0 * gait.period, rel=0.2) and np.abs(v).max() < 0.05
    soft = simulate(model, walking_start(model, gait, table), 1.0, ground=ground,
                    control=JointServo(table=table, kp=1.0, kd=0.5))  # fmt: skip
    assert "asked to walk at 0.15 m/s, did so at" in soft.summary()
    with pytest.raises(ArgumentError, match="strides: got 1; required: an integer, 2 or more, or None"):
        joint_table(model, gait, strides=1)


def test_a_table_of_so_many_strides_starts_and_stays_at_rest(quadruped: Model) -> None:
    """Its start is the robot that stands; after its last stride it holds that posture, for longer than most runs, or as
    long as is said; then it begins anew."""
    gait = trot(quadruped.robot, turn=0.5)
    table = joint_table(quadruped, gait, strides=4)
    q, v = walking_start(quadruped, gait, table)
    np.testing.assert_allclose(q, posed(quadruped), atol=1e-12)
    assert not v.any()
    moving = walking_start(quadruped, gait, joint_table(quadruped, gait))[1]
    assert moving[5] == 0.5 and np.linalg.norm(moving[:2]) == pytest.approx(gait.speed)
    end = 4.0 * gait.period
    values, rates = table.at(np.linspace(end, end + 59.0, 500))
    np.testing.assert_allclose(values, np.tile(table.values[0], (500, 1)), atol=1e-12)
    assert not rates.any() and table.period >= end + 60.0
    assert np.abs(table.at(end - 0.5 * gait.period)[1]).max() > 0.1
    short = joint_table(quadruped, gait, strides=4, stand=0.1)
    assert short.period == pytest.approx(5.0 * gait.period) and np.array_equal(
        short.values, table.values[: 5 * SAMPLES]
    )
    with pytest.raises(ArgumentError, match="stand: got 0; required: a finite number greater than 0"):
        joint_table(quadruped, gait, strides=4, stand=0)


def test_unknown_numbers_of_a_gait() -> None:
    """They are refused by name, with those that there are."""
    with pytest.raises(UnknownNameError, match=r"velocity: got 'velocity'; required: a known number of a trot; did "
                                               r"you mean 'speed'\?"):  # fmt: skip
        trot(biswal(), velocity=0.5)  # type: ignore[call-arg]
    with pytest.raises(UnknownNameError, match="did you mean 'speed'"):
        walk(biswal(), sped=0.5)  # type: ignore[call-arg]
