"""The leg of Biswal & Mohanty: kinematics as corrected, all branches, and joint torques by two descriptions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.layout import Array, relative
from tailwork.errors import ArgumentError, StateError
from tailwork.mechanics import inverse, kinematics
from tailwork.mechanics.layout import make_layout
from tailwork.papers.biswal import leg as paper
from tailwork.papers.biswal.dh_leg import MASSES, joint_torques, reproduce_dh_leg, table_robot
from tailwork.papers.biswal.leg import READINGS, Leg
from tailwork.robots import DhChain, DhRow, Robot, biswal, dh_frames


def preset_robot() -> Robot:
    """The preset with its front left leg alone."""
    legs = biswal().part("legs")
    return replace(biswal(), parts={"legs": replace(legs, hips=legs.hips[:1], feet=legs.feet[:1])})


LEG = Leg()
UNEQUAL = Leg(hip_length=0.05, thigh_length=0.13, shank_length=0.09, hip=(0.2, -0.1, 0.03))
FAR = Leg(hip_length=0.3, thigh_length=0.13, shank_length=0.09)  # cannot reach the hip axis
NEAR = Leg(hip_length=0.01, thigh_length=0.13, shank_length=0.09)
LEGS = {"paper": LEG, "unequal": UNEQUAL, "no hip bar": Leg(hip_length=0.0), "far": FAR, "near": NEAR}
SECOND = {0: -205 / 72, 1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560}  # central differences of order 8
FEET = {  # [mm], by reading and time [s]
    "A": {
        0: (180, 100, -310), 1: (140.2493, 90.7383, -305.2191), 3: (69.8487, 75.9301, -269.0097),
        5: (24.1616, 70.6048, -206.7083),
    },
    "B": {
        0: (140.0072, 56.5192, -286.5919), 1: (102.6341, 49.3181, -278.4398), 3: (35.5301, 43.5714, -236.7898),
        5: (-7.9385, 52.6630, -170.0572),
    },
    "C": {
        0: (180, 100, -310), 1: (171.3030, 90.6053, -309.0297), 3: (154.6161, 72.5289, -301.3705),
        5: (140.0072, 56.5192, -286.5919),
    },
}  # fmt: skip

every_leg = pytest.mark.parametrize("leg", LEGS.values(), ids=LEGS)
turns = st.floats(-math.pi, math.pi)
postures = st.tuples(turns, turns, turns).map(np.array)


def apart(first: Array, second: Array) -> float:
    """Largest difference of two postures, whole turns aside [rad]."""
    return float(np.abs([math.remainder(x, math.tau) for x in first - second]).max())


# Forward kinematics


@pytest.mark.measured("kinematics")
@pytest.mark.parametrize("reading", FEET)
def test_foot_over_the_motion(measured: Callable[..., None], reading: str) -> None:
    """To every digit of the reproduction."""
    times = np.array(list(FEET[reading]), dtype=float)
    apart = np.abs(1e3 * paper.foot_path(LEG, times, reading) - list(FEET[reading].values())).max()
    measured("D-H leg of Biswal & Mohanty, foot beside known places", apart, at_most=0.5001e-4, unit="mm")


def test_readings() -> None:
    """C ends in the posture of Sect. 4, where B begins; all turn at constant rates."""
    assert np.abs(np.degrees(paper.joint_motion(paper.DURATION)) - paper.POSTURE).max() < 1e-14
    assert np.abs(np.degrees(paper.joint_motion(0.0, "B")) - paper.POSTURE).max() < 1e-14
    for reading in READINGS:
        moved = paper.joint_motion([1.0, 3.5], reading)
        assert np.abs(moved[1] - moved[0] - 2.5 * paper.joint_rates(reading)).max() < 1e-15
    with pytest.raises(ArgumentError, match="one of 'A', 'B', 'C'"):
        paper.joint_motion(0.0, "D")


@every_leg
@settings(deadline=None, max_examples=20)
@given(theta=postures)
def test_table_and_closed_forms_agree(leg: Leg, theta: Array) -> None:
    """Eqs. (2)–(5) multiplied are Eq. (7); Eq. (6) times Eq. (7) is Eqs. (8)–(10)."""
    product = np.linalg.multi_dot(paper.link_transforms(leg, theta))
    assert np.abs(product - paper.foot_transform(leg, theta)).max() < 1e-15
    foot = (paper.base_transform(leg) @ product)[:3, 3]
    assert np.abs(foot - paper.foot_place(leg, theta)).max() < 1e-15
    assert paper.foot_place(leg, np.tile(theta, (2, 4, 1))).shape == (2, 4, 3)


def test_the_first_equation_as_corrected() -> None:
    """Rx(alpha) Tx(r) Tz(d) Rz(theta): an offset d goes along the turned z axis, (0, −sin, cos)."""
    transform = paper.link_transform(0.4, 0.2, 0.5, 1.1)
    assert np.abs(transform[:3, 3] - [0.2, -0.5 * math.sin(0.4), 0.5 * math.cos(0.4)]).max() < 1e-16
    assert np.abs(transform[:3, 2] * 0.5 - (transform[:3, 3] - [0.2, 0.0, 0.0])).max() < 1e-16


def test_hanging_straight_down() -> None:
    """The foot is the whole leg below the hip; as Eq. (10) is printed it would be 140 mm higher."""
    assert np.abs(paper.foot_place(LEG, np.zeros(3)) - [0.180, 0.100, -0.310]).max() < 1e-15


# Inverse kinematics


def test_branches_of_the_posture() -> None:
    """Two, because the leg cannot reach this foot across the hip axis."""
    branches = paper.joint_angles(LEG, paper.foot_place(LEG, np.radians(paper.POSTURE)))
    assert np.abs(np.degrees(branches) - [(-10, -35, 45), (-10, 10, -45)]).max() < 1e-12


@every_leg
@settings(deadline=None, max_examples=40)
@given(theta=postures)
def test_every_branch_reaches_the_foot(leg: Leg, theta: Array) -> None:
    """Also where the leg is straight, folded or reaches across; one of them is the posture that the foot came from."""
    foot = paper.foot_place(leg, theta)
    branches = paper.joint_angles(leg, foot)
    assert 1 <= len(branches) <= 4
    assert np.abs(paper.foot_place(leg, branches) - foot).max() < 1e-12
    assert np.abs(branches).max() <= math.pi
    assert paper.shortfall(leg, foot) < 1e-15
    assume(abs(paper.jacobian_determinant(leg, theta)) > 1e-5)
    assert min(apart(branch, theta) for branch in branches) < 1e-11
    pairs = [apart(a, b) for k, a in enumerate(branches) for b in branches[:k]]
    assert min(pairs) > 1e-6


def test_four_branches() -> None:
    """Near the hip axis the leg reaches from both sides: theta_1 differs by half a turn, the knee by its sign."""
    foot = np.add(LEG.hip, [0.05, 0.02, -0.03])
    branches = paper.joint_angles(LEG, foot)
    assert branches.shape == (4, 3)
    assert np.abs(paper.foot_place(LEG, branches) - foot).max() < 1e-15
    assert np.abs(branches[:2, 0] - math.atan2(0.02, 0.03)).max() < 1e-15
    assert np.abs(np.cos(branches[2:, 0] - branches[0, 0]) + 1.0).max() < 1e-15
    assert np.sign(branches[:, 2]).tolist() == [1.0, -1.0, 1.0, -1.0]


@pytest.mark.parametrize(
    "theta",
    [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, math.pi / 2, 0.0), (0.0, 0.0, math.pi)],
    ids=["straight", "straight aside", "straight ahead", "folded"],
)
def test_a_straight_or_folded_knee_bends_neither_way(theta: tuple[float, float, float]) -> None:
    """Both branches of the knee are one, to the root of rounding."""
    foot = paper.foot_place(LEG, theta)
    branches = paper.joint_angles(LEG, foot)
    assert np.abs(paper.foot_place(LEG, branches) - foot).max() < 1e-15
    own = [branch for branch in branches if abs(math.remainder(branch[0] - theta[0], math.tau)) < 1e-9]
    assert own and max(abs(math.sin(branch[2])) for branch in own) < 1e-7


def test_a_foot_on_the_hip_axis_leaves_theta_1_free() -> None:
    foot = np.add(LEG.hip, [0.15, 0.0, 0.0])
    branches = paper.joint_angles(LEG, foot)
    assert branches.shape == (2, 3) and (branches[:, 0] == 0.0).all()
    for turned in (-2.0, 0.0, 1.0, 3.0):
        assert np.abs(paper.foot_place(LEG, np.add(branches, [turned, 0.0, 0.0])) - foot).max() < 1e-15


@pytest.mark.parametrize(
    ("leg", "foot", "missing", "said"),
    [
        (LEG, (0.0, 0.0, -0.32), 0.05, r"\(0.18, 0.1, -0.36\) m is out of reach by 0.05 m: it is 0.25 m from"),
        (LEG, (0.3, 0.0, -0.07), 0.1, "0.3 m from .*, farther than the straight leg; required: 0 to 0.2 m"),
        (FAR, (0.0, 0.0, -0.3), 0.04, "nearer than the folded leg; required: 0.04 to 0.22 m"),
        (FAR, (0.0, 0.0, -0.02), 0.06, "by 0.06 m: it is 0.28 m"),
        (NEAR, (0.0, 0.02, 0.0), 0.01, "0.03 m from the hinge of theta_2 on the other side of the hip axis"),
    ],
)  # fmt: skip
def test_out_of_reach(leg: Leg, foot: tuple[float, float, float], missing: float, said: str) -> None:
    """The error says which place, and how far it is from the nearest one within reach; feet from the hip here."""
    place = np.add(leg.hip, foot)
    assert abs(paper.shortfall(leg, place) - missing) < 1e-15
    with pytest.raises(StateError, match=said) as caught:
        paper.joint_angles(leg, place)
    assert caught.value.argument == "foot"


@every_leg
def test_shortfall_is_the_distance_to_the_workspace(leg: Leg) -> None:
    """No place that the foot reaches is nearer to a point than its shortfall, and some are hardly farther."""
    angles = np.linspace(-np.pi, np.pi, 181)
    grid = np.stack(np.meshgrid(0.0, angles, angles, indexing="ij"), axis=-1).reshape(-1, 3)
    reached = paper.foot_place(leg, grid) - np.array(leg.hip)
    rng = np.random.default_rng(3)
    for point in rng.uniform(-0.5, 0.5, (40, 3)):
        # theta_1 turns places about the hip axis: compare within the half plane of the point, both ways across.
        across = np.array([point[0], 0.0, -np.hypot(point[1], point[2])])
        nearest = min(np.linalg.norm(reached - across * [1, 1, way], axis=1).min() for way in (1, -1))
        missing = paper.shortfall(leg, point + np.array(leg.hip))
        assert missing - 1e-12 <= nearest < missing + 0.005


@pytest.mark.parametrize("foot", [(0.0, 0.0), (math.nan, 0.0, 0.0), ((0.0, 0.0, 0.0),)])
def test_feet_that_are_no_places(foot: object) -> None:
    with pytest.raises(StateError, match="three finite numbers"):
        paper.joint_angles(LEG, foot)


def test_postures_and_legs_that_are_refused() -> None:
    for function in (paper.foot_place, paper.jacobian, paper.foot_transform, paper.link_transforms):
        with pytest.raises(StateError, match=r"required: \(\.\.\., 3\)"):
            function(LEG, np.zeros(4))
    with pytest.raises(ArgumentError, match="greater than 0"):
        Leg(thigh_length=0.0)
    with pytest.raises(StateError, match="required: 3"):
        paper.workspace_samples(LEG, [(0.0, 1.0)], 3)


# Jacobian


@every_leg
@settings(deadline=None, max_examples=30)
@given(theta=postures)
def test_jacobian(leg: Leg, theta: Array) -> None:
    """Against complex steps of the foot, which have no error of their own; its determinant in closed form."""
    found = paper.jacobian(leg, theta)
    steps = np.stack([paper.foot_place(leg, theta + 1e-30j * e).imag / 1e-30 for e in np.eye(3)], axis=-1)
    assert np.abs(found - steps).max() < 1e-15
    assert abs(np.linalg.det(found) - paper.jacobian_determinant(leg, theta)) < 1e-16


def test_singularities() -> None:
    """The determinant vanishes with the knee straight or folded and with the foot on the hip axis, and only there."""
    rng = np.random.default_rng(5)
    for theta_1, theta_2 in rng.uniform(-3.0, 3.0, (20, 2)):
        assert paper.jacobian_determinant(LEG, [theta_1, theta_2, 0.0]) == 0.0
        assert "knee straight" in paper.singularities(LEG, [theta_1, theta_2, 0.0])
        assert "knee folded" in paper.singularities(LEG, [theta_1, theta_2, math.pi])
        assert abs(paper.jacobian_determinant(LEG, [theta_1, theta_2, math.pi])) < 1e-18
    on_axis = paper.joint_angles(LEG, np.add(LEG.hip, [0.15, 0.0, 0.0]))
    for theta in on_axis:
        assert paper.singularities(LEG, theta) == ("foot on the hip axis",)
        assert abs(paper.jacobian_determinant(LEG, theta)) < 1e-18
        assert np.linalg.matrix_rank(paper.jacobian(LEG, theta), tol=1e-15) == 2
    both = Leg(hip_length=0.2)  # straight up to the hip axis
    assert paper.singularities(both, [0.3, math.pi, 0.0]) == ("knee straight", "foot on the hip axis")
    assert paper.singularities(LEG, np.radians(paper.POSTURE)) == ()
    theta = rng.uniform(-3.0, 3.0, (1000, 3))
    regular = np.array([paper.singularities(LEG, row, 1e-3) == () for row in theta])
    assert regular.sum() > 950 and np.abs(paper.jacobian_determinant(LEG, theta[regular])).min() > 1e-9


# Workspace


def test_workspace_of_the_paper() -> None:
    """A disc: thigh and shank are equally long."""
    space = paper.workspace(LEG)
    assert np.abs(1e3 * np.array(space.center) - (180, -110)).max() < 1e-13
    assert (space.inner, space.outer) == (0.0, 0.2)
    (edge,) = space.boundary(361)
    assert np.abs(np.hypot(*(edge - space.center).T) - 0.2).max() < 1e-15
    assert np.abs([paper.shortfall(LEG, (x, 0.1, z)) for x, z in edge]).max() < 1e-15


@every_leg
def test_samples_fill_the_workspace_and_no_more(leg: Leg) -> None:
    full = (-math.pi, math.pi)
    space = paper.workspace(leg)
    feet = paper.workspace_samples(leg, [(0.0, 0.0), full, full], 91)
    assert feet.shape == (91 * 91, 3) and np.abs(feet[:, 1] - leg.hip[1]).max() == 0.0
    assert space.contains(feet[:, [0, 2]]).all()
    for edge in space.boundary(37):
        assert max(np.linalg.norm(feet[:, [0, 2]] - point, axis=1).min() for point in edge) < 1e-2
    assert not space.contains(np.add(space.center, [space.outer + 1e-9, 0.0]))
    assert space.contains(space.center) == (space.inner == 0.0)
    assert len(space.boundary()) == (1 if space.inner == 0.0 else 2)


def test_samples_over_joint_ranges() -> None:
    """All combinations, ends included."""
    ranges = [(-0.2, 0.2), (-0.6, 0.1), (0.0, 0.8)]
    feet = paper.workspace_samples(LEG, ranges, 3)
    assert feet.shape == (27, 3)
    assert np.abs(feet[0] - paper.foot_place(LEG, [-0.2, -0.6, 0.0])).max() == 0.0
    assert np.abs(feet[-1] - paper.foot_place(LEG, [0.2, 0.1, 0.8])).max() == 0.0


# Two descriptions of the leg


def test_the_preset_has_the_lengths_of_the_paper() -> None:
    legs = biswal().part("legs")
    assert (legs.hip_length, legs.thigh_length, legs.shank_length) == (
        LEG.hip_length,
        LEG.thigh_length,
        LEG.shank_length,
    )
    assert legs.hips[0] == LEG.hip
    assert (legs.hip_mass, legs.thigh_mass, legs.shank_mass) == MASSES


@settings(deadline=None, max_examples=20)
@given(theta=postures)
def test_table_preset_and_formulas_are_one_leg(theta: Array) -> None:
    """Foot, hinges and mass matrix: theta_1, theta_2, theta_3 are ha, hb, k, signs included."""
    layouts = [make_layout(robot, "none", (), "fixed", "rpy", ()) for robot in (table_robot(), preset_robot())]
    table, preset = (np.array(kinematics.points(layout, theta), dtype=float).reshape(-1, 3) for layout in layouts)
    assert np.abs(table - preset).max() < 1e-15
    assert np.abs(table[-1] - paper.foot_place(LEG, theta)).max() < 1e-15
    assert np.abs(dh_frames(table_robot().part("leg"), theta)[-1][:3, 3] - table[-1]).max() < 1e-15
    masses = [inverse.mass_matrix(layout, theta).astype(float) for layout in layouts]
    assert relative(masses[0], masses[1]) < 1e-14


def test_the_table_in_classic_parameters_is_the_same_leg() -> None:
    """Each twist and length a row earlier, and no fourth row."""
    theta, modified = np.array([0.3, -0.7, 1.1]), table_robot().part("leg")
    hip, thigh, shank = MASSES
    classic = DhChain(
        convention="classic",
        rows=(
            DhRow(alpha=math.pi / 2, a=0.070, bar_mass=hip),
            DhRow(a=0.100, bar_mass=thigh),
            DhRow(a=0.100, bar_mass=shank),
        ),
        mount=modified.mount,
        rotation=modified.rotation,
        end="foot",
        foot=modified.foot,
    )
    assert np.abs(dh_frames(classic, theta)[-1] - dh_frames(modified, theta)[-1]).max() < 1e-15
    assert classic.limb() == modified.limb()


# Torques


@pytest.mark.parametrize("robot", [table_robot, preset_robot])
@pytest.mark.parametrize(
    ("reading", "expected", "digits"),
    [("C", (-68.5662, -88.5817, 8.3936), 4), ("A", (-61.644, -144.524, -47.577), 3)],
)
def test_torques_at_the_end(
    robot: Callable[[], object], reading: str, expected: tuple[float, ...], digits: int
) -> None:
    """Bars of 0.10, 0.15 and 0.10 kg on a base that is held [N mm], to every digit of the reproduction."""
    found = 1e3 * joint_torques(5.0, reading, robot())
    assert np.abs(found - expected).max() < 0.5001 * 10.0**-digits


@pytest.mark.parametrize("reading", READINGS)
def test_torques_are_the_same_from_table_preset_and_virtual_work(reading: str) -> None:
    """Each bar is as good as a sixth of its mass at both ends and the rest midway; accelerations by differences."""
    times = np.linspace(0.0, 5.0, 11)
    torques = joint_torques(times, reading)
    assert np.abs(torques - joint_torques(times, reading, preset_robot())).max() < 1e-15

    def lumps(theta: Array) -> Array:
        """Places of the point masses [m]: near ends, middles, far ends."""
        first, *others = paper.link_transforms(LEG, theta)
        frames = list(itertools.accumulate(others, np.matmul, initial=paper.base_transform(LEG) @ first))
        ends = np.array(frames)[:, :3, 3]  # hip, hinge of theta_2, knee, foot
        return np.concatenate([ends[:-1], (ends[:-1] + ends[1:]) / 2, ends[1:]])

    masses = np.concatenate([np.array(MASSES) * share for share in (1 / 6, 2 / 3, 1 / 6)])
    rates, h = paper.joint_rates(reading), 0.2
    for time, torque in zip(times, torques, strict=True):
        theta = paper.joint_motion(time, reading)
        slopes = np.stack([lumps(theta + 1e-30j * e).imag / 1e-30 for e in np.eye(3)], axis=-1)
        acceleration = sum(
            w * (lumps(theta + k * h * rates) + (k > 0) * lumps(theta - k * h * rates)) for k, w in SECOND.items()
        )
        loads = masses[:, None] * (acceleration / h**2 + [0.0, 0.0, 9.81])
        assert np.abs(np.einsum("mc,mcj->j", loads, slopes) - torque).max() < 1e-12


def test_the_study() -> None:
    """Its curves end where the tables say, and every claim has a reading or a reason."""
    study = reproduce_dh_leg()
    assert set(study.feet) == set(study.torques) == set(READINGS)
    assert all(path.shape == (len(study.times), 3) for path in (*study.feet.values(), *study.torques.values()))
    assert np.abs(1e3 * study.feet["C"][-1] - FEET["C"][5]).max() < 0.5001e-4
    ours = {claim.quantity: claim.ours for claim in study.claims}
    assert ours["Eq. 10, height of the foot at zero angles [mm]"] == "-310"
    assert ours["Fig. 2, radius of the workspace at theta_1 = 0 [mm]"] == "200"
    assert (ours["Fig. 2, x of its centre [mm]"], ours["Fig. 2, z of its centre [mm]"]) == ("180", "-110")
    assert np.round(1e3 * np.abs(study.torques["C"]).max(axis=0), 1).tolist() == [68.6, 88.6, 8.4]
    assert all(claim.reading for claim in study.claims)
