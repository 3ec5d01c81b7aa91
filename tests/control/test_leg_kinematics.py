"""Legs: where the foot is, and which angles bring it to a place."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oracles.pinocchio_oracle import PinocchioOracle
from tailwork import Model
from tailwork.control.gait.foot_kinematics import (
    foot_angles,
    foot_jacobian,
    foot_path,
    foot_place,
    iterated_angles,
    posed,
    standing_feet,
)
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.mechanics.foot_solve import with_dependent
from tailwork.mechanics.kinematics import point_names, points
from tailwork.mechanics.layout import make_layout
from tailwork.robots import (
    Foot,
    InsectLeg,
    Joint,
    Limb,
    Robot,
    anymal_c,
    bar,
    biswal,
    blaberus,
    liu2018,
    liu2020,
    point_mass,
    spirit40,
)
from tailwork.robots.io.toml import as_text, from_text

ROBOTS: dict[str, Robot] = {
    "liu2018": liu2018(),
    "liu2020": liu2020(tail=None),
    "biswal": biswal(),
    "blaberus": blaberus(),
    "anymal_c": anymal_c(),
    "spirit40": spirit40(),
}
LEGS = {
    f"{name}.{leg}": limb
    for name, robot in ROBOTS.items()
    for leg, limb in robot.limbs().items()
    if limb.foot is not None
}
BLABERUS_HELD = ("gamma", "alpha")
every_leg = pytest.mark.parametrize("leg", LEGS)


@pytest.fixture(scope="module")
def insect() -> Model:
    return Model(blaberus(), "none")


@pytest.fixture(scope="module")
def quadruped() -> Model:
    return Model(biswal(), "none")


def standing_foot(name: str) -> np.ndarray:
    """Where a leg's foot stands, in the torso frame [m]."""
    foot = LEGS[name].foot
    assert foot is not None
    return np.subtract(foot.place, ROBOTS[name.split(".")[0]].stand)


def without_closed_form(limb: Limb) -> Limb:
    return dataclasses.replace(limb, closed_form=None)


def two_bar_leg(**changes: Any) -> Limb:
    """A leg in the plane x = 0: two bars of 0.3 and 0.2 m that hang down from (0, 0, 0.1)."""
    fields: dict[str, Any] = {
        "joints": (
            Joint(name="a", axis=(1.0, 0.0, 0.0), offset=(0.0, 0.0, 0.1), body=bar(1.0, 0.3, 2)),
            Joint(name="b", axis=(1.0, 0.0, 0.0), parent="a", offset=(0.0, 0.0, -0.3), body=bar(1.0, 0.2, 2)),
        ),
        "foot": Foot(joint="b", point=(0.0, 0.0, -0.2), place=(0.0, 0.0, 0.0)),
    }
    return Limb(**fields | changes)


# Where the foot is


@pytest.mark.measured("kinematics")
@pytest.mark.parametrize("name", ROBOTS)
def test_the_foot_is_where_pinocchio_has_it(measured: Callable[..., None], name: str) -> None:
    """And where the engine has it, by the same equations."""
    layout = make_layout(ROBOTS[name], "none", (), "free", "rpy", ())
    q = np.zeros(len(layout.coordinate_names))
    q[6:] = np.random.default_rng(1).uniform(-2.0, 2.0, len(q) - 6)
    places = np.array(points(layout, q.tolist()), dtype=float).reshape(-1, 3)
    oracle = PinocchioOracle(ROBOTS[name])
    oracle.tree.place(oracle._motion(q, np.zeros(len(q))).pin_q)
    for leg in layout.legs:
        found = foot_place(layout.limbs[leg], q[layout.coordinates[leg]])
        np.testing.assert_allclose(found, places[point_names(layout).index(f"{leg}.foot")], rtol=0, atol=1e-15)
        apart = np.abs(found - oracle.tree.point(*oracle.tree.foot(leg))).max()
        measured("feet by leg kinematics beside those of Pinocchio", apart, at_most=1e-15, unit="m")


def test_geared_limbs_and_other_orders_of_coordinates() -> None:
    """Coordinates in another order, or joint angles that are sums of coordinates, move the same foot."""
    angles = np.array([0.4, -0.7])
    place, slopes = foot_place(two_bar_leg(), angles), foot_jacobian(two_bar_leg(), angles)
    swapped = two_bar_leg(coordinates=("b", "a"))
    np.testing.assert_array_equal(foot_place(swapped, angles[::-1]), place)
    np.testing.assert_array_equal(foot_jacobian(swapped, angles[::-1]), slopes[:, ::-1])
    geared = two_bar_leg(coordinates=("u", "w"), gearing=((1.0, 0.5), (0.0, -1.0)))
    turns = np.linalg.solve([[1.0, 0.5], [0.0, -1.0]], angles)
    np.testing.assert_allclose(foot_place(geared, turns), place, rtol=0, atol=1e-16)
    np.testing.assert_allclose(foot_jacobian(geared, turns), slopes @ [[1.0, 0.5], [0.0, -1.0]], rtol=0, atol=1e-16)
    np.testing.assert_allclose(
        foot_place(geared, foot_angles(geared, place, start=turns + 0.1)), place, rtol=0, atol=1e-14
    )


def test_a_batch_is_its_states_one_by_one() -> None:
    limb = LEGS["blaberus.hind_right"]
    q = np.random.default_rng(2).uniform(-1.0, 1.0, (4, 3, 5))
    places, slopes = foot_place(limb, q), foot_jacobian(limb, q)
    assert places.shape == (4, 3, 3) and slopes.shape == (4, 3, 3, 5)
    np.testing.assert_allclose(places[2, 1], foot_place(limb, q[2, 1]), rtol=0, atol=1e-17)
    np.testing.assert_allclose(slopes[2, 1], foot_jacobian(limb, q[2, 1]), rtol=0, atol=1e-17)


@every_leg
def test_the_jacobian_is_the_derivative_of_the_place(leg: str) -> None:
    """Against fourth-order differences of the place."""
    limb, step = LEGS[leg], 1e-3
    q = np.random.default_rng(3).uniform(-1.0, 1.0, len(limb.coordinates))
    moved = [foot_place(limb, q + k * step * np.eye(len(q))).T for k in (-2, -1, 1, 2)]
    differences = (moved[0] - 8.0 * moved[1] + 8.0 * moved[2] - moved[3]) / (12.0 * step)
    scale = np.abs(differences).max()
    np.testing.assert_allclose(foot_jacobian(limb, q), differences, rtol=0, atol=1e-11 * scale)


# The insect's closed form


def insect_leg(side: str, gamma: float, alpha: float) -> Limb:
    part = blaberus().part(f"hind_{side}")
    return dataclasses.replace(part, coxa_gamma=gamma, coxa_alpha=alpha).limbs("leg", "x")["leg"]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(("gamma", "alpha"), [(-25.0, 0.0), (0.0, 0.0), (-25.0, 20.0), (40.0, -35.0)])
def test_angles_of_an_insect_s_leg_come_back(side: str, gamma: float, alpha: float) -> None:
    """Any posture with the coxa as it is held, the knee up and the foot outside of the coxa's root is found again."""
    chance = np.random.default_rng(4)
    limb = insect_leg(side, math.radians(gamma), math.radians(alpha))
    tried = 0
    while tried < 20:
        beta, femur, tibia = np.radians(chance.uniform((-80.0, -30.0, -160.0), (80.0, 120.0, -20.0)))
        outward = 0.75 + 0.95 * math.cos(femur) + 1.30 * math.cos(femur + tibia)  # X [cm]
        if outward > 0.1:
            q = np.array([math.radians(gamma), beta, math.radians(alpha), femur, tibia])
            np.testing.assert_allclose(
                foot_angles(limb, foot_place(limb, q)), q, rtol=0, atol=2e-14 / (1.0 - math.cos(tibia))
            )
            tried += 1


def test_a_standing_insect_has_its_knees_up_and_is_symmetric(insect: Model) -> None:
    """Left and right legs are mirror images: beta turns the other way, all other angles are alike."""
    q = posed(insect)
    angles = {leg: q[insect.layout.coordinates[leg]] for leg in insect.layout.legs}
    for row in ("front", "middle", "hind"):
        left, right = angles[f"{row}_left"], angles[f"{row}_right"]
        np.testing.assert_allclose(right, left * [1.0, -1.0, 1.0, 1.0, 1.0], rtol=0, atol=1e-15)
        gamma, _, alpha, femur, tibia = left
        assert (gamma, alpha) == (pytest.approx(math.radians(-25.0), abs=1e-15), 0.0)
        assert femur > 0.0 > tibia
    assert angles["front_left"][1] < 0.0 < angles["middle_left"][1] < angles["hind_left"][1], "beta turns the leg back"


def test_five_pinned_hinges_ride_in_the_configuration() -> None:
    """Two of their angles are free and three depend on those and on the torso, whatever the closed form holds."""
    layout = with_dependent(make_layout(blaberus(), ["hind_left"], (), "free", "rpy", ()))
    assert list(layout.dependent) == ["hind_left"]
    assert sum(name.startswith("hind_left.") for name in layout.coordinate_names) == 5
    assert sum(name.startswith("hind_left.") for name in layout.velocity_names) == 2


def test_how_the_coxa_is_held_is_optional_in_files() -> None:
    robot = blaberus()
    text = as_text(robot)
    kept = "\n".join(line for line in text.splitlines() if not line.startswith(("coxa_gamma", "coxa_alpha")))
    assert text.count("coxa_gamma") == 6 and "coxa_gamma" not in kept
    assert from_text(kept, "robot.toml") == from_text(text, "robot.toml") == robot
    turned = robot.replace({"hind_left.coxa_gamma": -0.3, "hind_left.coxa_alpha": 0.1})
    part = turned.part("hind_left")
    assert isinstance(part, InsectLeg) and (part.coxa_gamma, part.coxa_alpha) == (-0.3, 0.1)
    with pytest.raises(ArgumentError, match=r"hind_left.coxa_alpha: got 1.6; required: an angle between"):
        robot.replace({"hind_left.coxa_alpha": 1.6})


# Closed form and steps


@every_leg
def test_steps_find_what_the_closed_form_gives(leg: str) -> None:
    """From 0.2 rad away, with the insect's coxa held as its closed form holds it."""
    limb, foot = LEGS[leg], standing_foot(leg)
    expected = foot_angles(limb, foot)
    np.testing.assert_allclose(foot_place(limb, expected), foot, rtol=0, atol=1e-15)
    free = [k for k, name in enumerate(limb.coordinates) if name not in BLABERUS_HELD]
    moves = np.eye(len(limb.coordinates))[:, free]
    chance = np.random.default_rng(5)
    for _ in range(3):
        start = expected + moves @ chance.uniform(-0.2, 0.2, len(free))
        found, missing = iterated_angles(limb, foot, start, moves)
        assert missing < 1e-15
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@every_leg
def test_derivatives_by_the_place_invert_the_jacobian(leg: str) -> None:
    """J · d(angles)/d(place) = 1, by the closed form and by steps; held angles stay."""
    limb, foot = LEGS[leg], standing_foot(leg)
    size = 0.05 * np.linalg.norm(foot - np.array(limb.joints[0].offset))
    places = foot + size * np.random.default_rng(6).uniform(-1.0, 1.0, (5, 3))
    for one in (limb, without_closed_form(limb)):
        path = foot_path(one, foot, places, start=foot_angles(limb, foot))
        assert path.reached.all() and not path.beyond.any()
        np.testing.assert_allclose(foot_place(one, path.values), places, rtol=0, atol=1e-14)
        product = foot_jacobian(one, path.values) @ path.by_place
        np.testing.assert_allclose(product, np.tile(np.eye(3), (5, 1, 1)), rtol=0, atol=1e-12)
    held = [k for k, name in enumerate(limb.coordinates) if name in BLABERUS_HELD]
    assert not foot_path(limb, foot, places).by_place[:, held].any()


def test_a_redundant_leg_changes_as_little_as_it_can() -> None:
    """A small step of the foot: the smallest change of five angles is that of the pseudo-inverse, to second order."""
    limb, foot = LEGS["blaberus.middle_left"], standing_foot("blaberus.middle_left")
    start, free = foot_angles(limb, foot), without_closed_form(limb)
    for size in (1e-5, 1e-6):
        shift = size * np.array([1.0, -1.0, 0.5])
        change = foot_angles(free, foot + shift, start) - start
        smallest = np.linalg.pinv(foot_jacobian(free, start)) @ shift
        np.testing.assert_allclose(foot_place(free, start + change), foot + shift, rtol=0, atol=1e-15)
        assert np.linalg.norm(change - smallest) < 20.0 * np.linalg.norm(smallest) ** 2
        held = foot_angles(limb, foot + shift) - start
        assert np.linalg.norm(change) < 0.9 * np.linalg.norm(held), "the closed form moves three of the five alone"


def test_a_redundant_leg_returns_with_its_foot() -> None:
    """Round a circle and back: the angles depend on the place alone."""
    limb, foot = without_closed_form(LEGS["blaberus.front_left"]), standing_foot("blaberus.front_left")
    turn = np.linspace(0.0, math.tau, 41)[:, None]
    circle = foot + 0.003 * np.hstack([np.cos(turn) - 1.0, np.sin(turn), 0.5 * np.sin(turn)])
    path = foot_path(limb, foot, circle, start=foot_angles(LEGS["blaberus.front_left"], foot))
    assert path.reached.all()
    np.testing.assert_allclose(path.values[-1], path.values[0], rtol=0, atol=1e-13)
    there_and_back = foot_path(limb, foot, circle[::-1], start=path.values[0])
    np.testing.assert_allclose(there_and_back.values[::-1], path.values, rtol=0, atol=1e-12)


def test_a_straight_leg_is_no_dead_point() -> None:
    """From zero angles no small step pulls the foot up along the straight leg; another start finds a way."""
    leg = two_bar_leg()
    found = foot_angles(leg, (0.0, 0.0, -0.2))
    np.testing.assert_allclose(foot_place(leg, found), (0.0, 0.0, -0.2), rtol=0, atol=1e-13)
    for knee in (-1.0, 1.0):
        assert foot_angles(leg, (0.0, 0.0, -0.2), start=(-0.5 * knee, knee))[1] * knee > 0.0, "the start says which way"


def test_the_quoted_posture_of_biswal() -> None:
    """The foot of the posture (−10, −35, 45)° leads back to it, and to (−10, 10, −45)° with the knee the other way."""
    limb, foot = LEGS["biswal.leg1"], np.array([140.0072, 56.5192, -286.5919]) * 1e-3
    angles = np.degrees(foot_angles(limb, foot))
    np.testing.assert_allclose(angles, [-10.0, -35.0, 45.0], rtol=0, atol=2e-5)
    other, _ = iterated_angles(limb, foot, np.radians(angles * [1.0, 0.0, -1.0]))
    np.testing.assert_allclose(np.degrees(other), [-10.0, 10.0, -45.0], rtol=0, atol=2e-5)


# Out of reach


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("distance", [0.013, 0.25])
def test_a_place_too_far_says_by_how_much(closed: bool, distance: float) -> None:
    """Straight down from the hip, the leg of Biswal & Mohanty reaches 270 mm."""
    limb = LEGS["biswal.leg1"] if closed else without_closed_form(LEGS["biswal.leg1"])
    with pytest.raises(ArgumentError, match=f"foot: got .*a place in reach; this one is {distance:.3g} m out of reach"):
        foot_angles(limb, (0.18, 0.1, -0.04 - 0.27 - distance), start=(0.0, 0.1, -0.2))


def test_a_place_too_near_says_by_how_much() -> None:
    """Femur 0.95 and tibia 1.30 cm fold to 0.35 cm."""
    limb = LEGS["blaberus.hind_left"]
    foot = foot_place(limb, [math.radians(-25.0), 0.3, 0.0, 0.4, -math.pi + 1e-7])
    knee = foot_place(limb, [math.radians(-25.0), 0.3, 0.0, 0.4, -math.pi / 2])
    elbow = foot_place(limb, [math.radians(-25.0), 0.3, 0.0, 0.4 + math.pi, -math.pi / 2])
    middle = (knee + elbow) / 2.0  # the hinge of the femur: both postures are opposite about it
    assert np.linalg.norm(foot - middle) == pytest.approx(0.0035, abs=1e-9)
    with pytest.raises(ArgumentError, match=r"this one is 0.002 m too near to the hip"):
        foot_angles(limb, middle + (foot - middle) * (0.15 / 0.35))
    twisted = insect_leg("left", 0.0, math.radians(60.0))
    for leg, place in ((LEGS["biswal.leg1"], (0.18, 0.1, -0.04)), (twisted, (-0.0035, 0.0036, 0.02))):
        with pytest.raises(ArgumentError, match="this one is too near to the axis of the hip"):
            foot_angles(leg, place)


def test_a_flat_leg_reaches_its_plane_only() -> None:
    leg = two_bar_leg()
    place = foot_angles(leg, (0.0, 0.2, -0.2), start=(0.5, -0.5))
    np.testing.assert_allclose(foot_place(leg, place), (0.0, 0.2, -0.2), rtol=0, atol=1e-14)
    with pytest.raises(ArgumentError, match=r"this one is 0.03 m out of reach"):
        foot_angles(leg, (0.03, 0.2, -0.2), start=(0.5, -0.5))
    path = foot_path(leg, (0.0, 0.2, -0.2), np.array([[0.0, 0.21, -0.2], [0.03, 0.2, -0.2]]), start=(0.5, -0.5))
    assert path.reached.tolist() == [True, False]
    assert path.beyond[1] == pytest.approx(0.03, abs=1e-9)


def test_wrong_limbs_places_and_coordinates() -> None:
    leg = two_bar_leg()
    footless = Limb(joints=(Joint(name="a", axis=(1.0, 0.0, 0.0), body=point_mass(1.0, (0.0, 0.0, 1.0))),))
    with pytest.raises(ArgumentError, match=r"limb: got \['a'\]; required: a limb with a foot"):
        foot_place(footless, [0.0])
    for foot in ((0.0, 0.1), (0.0, 0.1, math.nan), "here"):
        with pytest.raises(ArgumentError, match=r"foot.*(three finite numbers|a finite number)"):
            foot_angles(leg, foot)
    for wrong in ([0.0], 0.0, [0.0, math.inf]):
        with pytest.raises(ArgumentError, match=r"coordinates: got .*required: 2 finite numbers \[rad\], for a, b"):
            foot_place(leg, wrong)
        with pytest.raises(ArgumentError, match="coordinates"):
            foot_angles(leg, (0.0, 0.0, -0.2), start=wrong)


# Whole robots


def test_a_posed_robot_stands_on_its_feet(insect: Model, quadruped: Model) -> None:
    for model in (insect, quadruped):
        layout = model.layout
        q = posed(model)
        np.testing.assert_array_equal(q[:6], [*model.robot.stand, 0.0, 0.0, 0.0])
        found = np.array(points(layout, q.tolist()), dtype=float).reshape(-1, 3)
        for leg in layout.legs:
            foot = layout.limbs[leg].foot
            assert foot is not None
            there = found[model.point_names.index(f"{leg}.foot")]
            np.testing.assert_allclose(there, foot.place, rtol=0, atol=2e-16)


def test_other_places_of_torso_and_feet(quadruped: Model) -> None:
    """Only where feet are from the torso counts for the angles; legs may be left out."""
    q = posed(quadruped)
    shift = np.array([0.5, -0.3, 0.2])
    feet = {leg: quadruped.layout.limbs[leg].foot.place + shift for leg in quadruped.layout.legs}  # type: ignore[union-attr]
    moved = posed(quadruped, torso_place=np.array(quadruped.robot.stand) + shift, feet=feet)
    np.testing.assert_allclose(moved[:3], q[:3] + shift, rtol=0, atol=1e-16)
    np.testing.assert_allclose(moved[6:], q[6:], rtol=0, atol=1e-14)
    some = posed(quadruped, legs=["leg2"])
    here = quadruped.layout.coordinates["leg2"]
    np.testing.assert_array_equal(some[here], q[here])
    assert not np.delete(some[6:], range(here.start - 6, here.stop - 6)).any()
    np.testing.assert_array_equal(
        standing_feet(quadruped, feet={"leg1": (0.2, 0.1, 0.0)})["leg1"],
        np.array([0.2, 0.1, 0.0]) - quadruped.robot.stand,
    )


def test_wrong_poses(quadruped: Model) -> None:
    with pytest.raises(ArgumentError, match=r"leg3.foot: got .*a place in reach; this one is 0.0677 m out of reach"):
        posed(quadruped, feet={"leg3": (-0.18, 0.35, 0.0)})
    with pytest.raises(UnknownNameError, match=r"feet: got 'leg9'.*did you mean"):
        posed(quadruped, feet={"leg9": (0.0, 0.0, 0.0)})
    with pytest.raises(UnknownNameError, match=r"legs: got 'tail'; required: a known leg; valid: leg1"):
        posed(quadruped, legs=["tail"])
    with pytest.raises(ArgumentError, match=r"feet.leg1: got \(0.0, 1.0\); required: three finite numbers \[m\]"):
        posed(quadruped, feet={"leg1": (0.0, 1.0)})
    with pytest.raises(ArgumentError, match=r"feet: got .*places by leg"):
        posed(quadruped, feet=[(0.0, 0.0, 0.0)])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="torso_place"):
        posed(quadruped, torso_place=(0.0, 0.0))
    with pytest.raises(ArgumentError, match=r"start: got .*18 finite numbers"):
        posed(quadruped, start=[0.0])
    with pytest.raises(ArgumentError, match=r"model: got 'Robot'; required: a Model"):
        posed(biswal())  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"stance: got .*required: 'none': legs whose feet are pinned"):
        posed(Model(biswal()))
