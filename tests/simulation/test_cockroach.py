"""The cockroach of Nelson & Quinn: what its experiments have to show, whatever the numbers that are estimates."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tailwork.control.gait.foot_kinematics import posed
from tailwork.errors import StateError
from tailwork.model import Model
from tailwork.papers.nelson_quinn.experiments import (
    DUTY,
    DYN_CM,
    FREQUENCY,
    G_CM_PER_S,
    PAPER_ERRORS,
    STIFFNESSES,
    Reactions,
    RestPosture,
    body_modes,
    efforts_by_leg,
    insect_ground,
    reactions,
    simulate_settling,
    simulate_walk,
    standing,
    walking_gait,
)
from tailwork.robots import blaberus
from tailwork.studies.compare.ground_stance import LeastTorques, ground_stance, least_torques, standing_model

WEIGHT = 2.6e-3 * 9.81  # N


@cache
def model() -> Model:
    """All feet free, a push on each."""
    return standing_model(blaberus())


@cache
def rows() -> tuple[RestPosture, ...]:
    """Table 1."""
    return tuple(standing(stiffness, model=model()) for stiffness in STIFFNESSES)


@cache
def least() -> LeastTorques:
    """The smallest torques."""
    return least_torques(model(), posed(model()))


# Standing


def test_table_1() -> None:
    """Effort of the front legs to the printed digit; the mean errors of the joints are the paper's, within 5 %."""
    assert [round(row.front_effort, 1) for row in rows()] == [39.6, 30.7, 25.1, 25.3, 26.0, 26.7]
    assert [row.error for row in rows()] == pytest.approx(PAPER_ERRORS, rel=0.05)


def test_effort_has_a_minimum() -> None:
    """U-shape: it falls, then rises, as joints grow softer."""
    effort = np.array([row.front_effort for row in rows()])
    lowest = int(effort.argmin())
    assert 0 < lowest < len(effort) - 1
    assert (np.diff(effort)[:lowest] < 0.0).all() and (np.diff(effort)[lowest:] > 0.0).all()


@pytest.mark.parametrize("row", range(len(STIFFNESSES)))
def test_rest_is_a_balance(row: int) -> None:
    """Feet bear the weight; joints bear what the feet and weight ask of them; left and right are alike."""
    stance = rows()[row].stance
    assert stance.forces.sum(axis=0) == pytest.approx([0.0, 0.0, WEIGHT], abs=1e-10 * WEIGHT)
    zero = np.zeros(36)
    needed = model().generalised_force(stance.q, zero, zero, forces=stance.forces)
    np.testing.assert_allclose(needed[:6], 0.0, atol=1e-12)
    np.testing.assert_allclose(needed[6:], stance.torques, atol=1e-12)
    np.testing.assert_allclose(stance.torques, -STIFFNESSES[row] * DYN_CM * stance.errors, atol=1e-15)
    np.testing.assert_allclose(stance.forces[::2] * [1.0, -1.0, 1.0], stance.forces[1::2], atol=1e-9 * WEIGHT)


def test_stiff_joints_push_straight_down() -> None:
    """Joints of infinite stiffness leave vertical reactions only: the rest falls as 1/stiffness."""
    shares = [standing(stiffness, model=model()).sideways for stiffness in (1e8, 1e9, 1e10, 1e11)]
    assert np.array(shares[:-1]) / shares[1:] == pytest.approx(10.0, rel=0.01)
    assert shares[-1] < 1e-5


@pytest.mark.measured("ground")
def test_dynamic_settling_is_the_static_solve(measured: Callable[..., None]) -> None:
    """The simulation comes to rest where forces balance, with the same forces."""
    run, stance = simulate_settling(STIFFNESSES[2], 0.5), rows()[2].stance
    np.testing.assert_allclose(run.final_state[0], stance.q, atol=1e-9)
    apart = np.abs(run.final_state[0] - stance.q).max()
    measured("cockroach settled by simulation beside the balance [m, rad]", apart, at_most=1e-9)
    np.testing.assert_allclose(run.data["foot_force"].to_numpy()[-1], stance.forces, atol=1e-9)
    np.testing.assert_allclose(run.data["tau"].to_numpy()[-1], stance.torques, atol=1e-9)
    assert run.final_contact.states == ("stick",) * 6


def test_soft_joints_do_not_bear() -> None:
    with pytest.raises(StateError, match="posture"):
        ground_stance(model(), posed(model()), 1e3 * DYN_CM, insect_ground())


# The smallest torques


def test_least_torques() -> None:
    """By leg and in all; they hold the posture."""
    effort = efforts_by_leg(least().torques)
    assert [round(x, 2) for x in effort[::2]] == [12.85, 18.35, 32.71]
    np.testing.assert_allclose(effort[::2], effort[1::2], rtol=1e-9)
    assert round(effort.sum(), 2) == 127.84
    zero = np.zeros(36)
    needed = model().generalised_force(posed(model()), zero, zero, forces=least().forces)
    np.testing.assert_allclose(needed, np.concatenate([np.zeros(6), least().torques]), atol=1e-15)
    assert least().forces.sum(axis=0) == pytest.approx([0.0, 0.0, WEIGHT], abs=1e-12 * WEIGHT)


def test_no_feasible_torque_is_smaller() -> None:
    """Forces that add up to nothing on the torso, at random: |tau|² grows by exactly the square of what they ask."""
    q, zero, chance = posed(model()), np.zeros(36), np.random.default_rng(4)
    feet = [k for k, name in enumerate(model().point_names) if name.endswith(".foot")]
    places = model().points(q)[feet]
    balance = np.zeros((6, 18))  # forces on the feet → force and moment on the whole
    for k, (x, y, z) in enumerate(places):
        balance[:3, 3 * k : 3 * k + 3] = np.eye(3)
        balance[3:, 3 * k : 3 * k + 3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    inner = np.linalg.svd(balance)[2][6:]
    assert np.abs(balance @ inner.T).max() < 1e-14
    smallest = least().torques @ least().torques
    for scale in (1e-6, 1e-4, 1e-2):
        for _ in range(10):
            more = (chance.normal(size=12) * scale * WEIGHT @ inner).reshape(6, 3)
            needed = model().generalised_force(q, zero, zero, forces=least().forces + more)
            np.testing.assert_allclose(needed[:6], 0.0, atol=1e-15)
            change = needed[6:] - least().torques
            assert needed[6:] @ needed[6:] - smallest == pytest.approx(
                change @ change, rel=1e-6, abs=1e-12 * float(smallest)
            )
            assert change @ change > 0.0


def test_soft_joints_come_near_the_least_torques() -> None:
    """The minimum of the effort over stiffness falls to the least as the ground grows stiffer, and never below."""
    wanted = efforts_by_leg(least().torques).sum()
    gaps = []
    for ground in (4e5, 1e6, 1e7, 1e8):
        found = minimize_scalar(
            lambda exponent, ground=ground: standing(10.0**exponent, ground, model()).efforts.sum(),
            bounds=(4.0, 7.5), method="bounded", options={"xatol": 1e-3},
        )  # fmt: skip
        gaps.append(found.fun - wanted)
    assert gaps[1] == pytest.approx(129.0 - 127.84, abs=0.3), "at 1e6 dyn/cm; an independent simulation has 129.2"
    assert (np.diff(gaps) < 0.0).all() and gaps[-1] > 0.0
    assert gaps[-1] < 5e-4 * wanted


# Walking


@cache
def walk() -> Reactions:
    """Eight strides with coarse steps; the last four count."""
    return reactions(simulate_walk(8, step=2e-5), walking_gait(), settling=4)


def test_front_legs_brake_and_hind_legs_drive() -> None:
    """Fig. 4: longitudinal impulses per stance; the middle leg's is less than half of the smaller of the others."""
    rows = ("front", "middle", "hind")
    for impulse in (walk().stance, walk().stride):
        front, middle, hind = (float(impulse[row].mean()) for row in rows)
        assert front < 0.0 < hind
        assert abs(middle) < 0.5 * min(-front, hind)
    in_all = sum(float(walk().stride[row].mean()) for row in rows)
    assert abs(in_all) < 0.05 * walk().stride["hind"].mean(), "in all, a steady walk neither brakes nor drives"


def test_impulses_of_stances() -> None:
    """The mean force over the gait's stance integrates to the impulse of a stance, but for the ends of a sample."""
    found = walk()
    for row in ("front", "middle", "hind"):
        inside = found.force[row][found.share < DUTY, 0].sum() / len(found.share) / FREQUENCY
        assert found.stance[row].mean() == pytest.approx(inside, abs=0.02 * np.abs(found.stride["hind"]).mean())


def test_the_body_rings_on_its_legs() -> None:
    """Joints with more damping damp the six slowest oscillations of the body on a tripod more, in proportion while both
    are light, and their frequencies hardly change: these are what gives the force of a stance its peaks."""
    light, heavy = body_modes(6.0 * DYN_CM), body_modes(12.0 * DYN_CM)
    assert [mode.frequency for mode in heavy] == pytest.approx([mode.frequency for mode in light], rel=2e-3)
    ratios = [more.damping / less.damping for more, less in zip(heavy, light, strict=True)]
    assert all(1.5 < ratio < 2.01 for ratio in ratios), "what is left is the ground's"


def test_momentum_of_the_walk() -> None:
    """Impulses explain the momentum to 0.05 g cm/s; upwards they are the weight's over the stride, within 0.5 %."""
    assert walk().closure < 0.05 * G_CM_PER_S
    assert walk().vertical == pytest.approx(WEIGHT / FREQUENCY, rel=5e-3)


def test_forces_of_the_walk() -> None:
    """Mean forces over a stride integrate to the impulses; feet push up, and in mid-swing not at all."""
    gait = walking_gait()
    up = 0.0
    for row in ("front", "middle", "hind"):
        force = walk().force[row]
        along = force[:, 0].mean() * gait.period
        assert along == pytest.approx(walk().stride[row].mean(), abs=1e-9 * WEIGHT)
        assert force[:, 2].min() >= 0.0
        swing = (walk().share > 0.75) & (walk().share < 0.85)
        assert (force[swing] == 0.0).all()
        up += 2.0 * force[:, 2].mean() * gait.period
    assert up == pytest.approx(walk().vertical, rel=1e-9)
