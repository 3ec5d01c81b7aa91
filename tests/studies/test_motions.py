"""Tail motions: every tail carries its centre of mass where the motion says; what cannot be done or read is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from oracles.layout import Array
from tailwork.errors import ArgumentError, TailworkError, UnknownNameError
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.robots.tails import R3, Pendulum, Usrt
from tailwork.robots.tails.bend_angles import arc_angle, arc_direction, chain_angle, chain_direction, link_weights
from tailwork.simulation.system import System
from tailwork.studies.motions import TailMotion, coupled, motion_from_text, pitch, roll, yaw

TIMES = np.array([0.0, 0.03, 0.11, 0.15, 0.2, 0.29, 0.3, 0.4])  # [s]; all motions here take 0.3 s
TAUS = np.minimum(TIMES / 0.3, 1.0)
SHARES = TAUS * TAUS * (3.0 - 2.0 * TAUS)
PLANAR = [yaw(40), yaw(-75), pitch(60), pitch(-20)]
SPATIAL = [roll(40), roll(70, 90.0), roll(70), roll(-30), coupled(), coupled(35.0, 10.0, 15.0, 60.0)]
NAMES = [motion.name for motion in PLANAR + SPATIAL]


@cache
def held_torso(tail: str) -> Model:
    """A tail on a torso that does not move."""
    return Model(liu2020(tail).without("legs"), "none", prescribed=("tail",), torso="fixed")


def found_direction(tail: str, coordinates: dict[str, Array]) -> Array:
    """Unit vectors from the mount to the centre of mass of the tail, by the model, (times, 3)."""
    model = held_torso(tail)
    q = np.stack([coordinates[name.split(".")[1]] for name in model.coordinate_names], axis=-1)
    centers = model.part_momenta(q, 0.0 * q).centers[:, model.part_names.index("tail")]
    away = centers - np.array(model.robot.part("tail").mount, dtype=float)  # R3's base lies in its mount
    return away / np.linalg.norm(away, axis=-1, keepdims=True)


def pointing(alpha: Array, theta: Array) -> Array:
    """Ry(alpha) Rx(theta) [0, −1, 0]: what alpha and theta mean."""
    return np.stack([-np.sin(alpha) * np.sin(theta), -np.cos(theta), -np.cos(alpha) * np.sin(theta)], axis=-1)


def wanted_direction(motion: TailMotion) -> Array:
    """Unit vectors that a motion asks for at TIMES, from its two ends alone."""
    first, second = (a + (b - a) * SHARES for a, b in zip(motion.start, motion.end, strict=True))
    if motion.space == "polar":
        return pointing(first, second)
    # Rx(ta) Rz(tb) [0, −1, 0]
    return np.stack([np.sin(second), -np.cos(first) * np.cos(second), -np.sin(first) * np.cos(second)], axis=-1)


def over_time(tail: Any, motion: TailMotion, angle: str) -> dict[str, Array]:
    """A tail's coordinates at TIMES."""
    own = replace(motion, angle=angle)
    found = [own.of(tail, float(t)) for t in TIMES]
    return {name: np.array([float(one[name]) for one in found]) for name in found[0]}


def imposed(tail: str, motion: TailMotion, times: Array) -> tuple[Array, Array, Array]:
    """Coordinates, rates and accelerations of a tail whose motion is imposed, as runs have them, a row a time."""
    model = held_torso(tail)
    system = System(model, motions={"tail": motion})
    q, v, _, a = system.full(times, np.zeros((len(times), 0)), np.zeros((len(times), system.control_inputs)))
    return q, v, a


def arc_seen(angle: float) -> float:
    """Where the centre of mass of a uniform arc is seen from its start, by quadrature [rad]."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    s = (nodes + 1.0) / 2.0
    along, across = (float((f(angle * s) * (1.0 - s)) @ weights) for f in (np.cos, np.sin))
    return math.atan2(across, along)


# Where the centre of mass goes


@pytest.mark.parametrize("motion", PLANAR + SPATIAL, ids=NAMES)
@pytest.mark.parametrize(("tail", "angle"), [("pendulum", "arc"), ("pendulum", "chain"), ("r3", "chain")])
def test_the_centre_of_mass_goes_where_the_motion_says(tail: str, angle: str, motion: TailMotion) -> None:
    """At every moment, by the model's own centre of mass."""
    coordinates = over_time(liu2020(tail).part("tail"), motion, angle)
    found = found_direction(tail, coordinates)
    np.testing.assert_allclose(found, wanted_direction(motion), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found, pointing(*motion.directions(SHARES)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("motion", PLANAR, ids=NAMES[: len(PLANAR)])
def test_the_usrt_in_a_plane(motion: TailMotion) -> None:
    """An evenly bent USRT has its centre of mass where the motion says, as long as it stays in one plane."""
    coordinates = over_time(liu2020("usrt").part("tail"), motion, "chain")
    np.testing.assert_allclose(found_direction("usrt", coordinates), wanted_direction(motion), rtol=0, atol=1e-9)


@pytest.mark.parametrize("motion", PLANAR + SPATIAL, ids=NAMES)
def test_the_arc(motion: TailMotion) -> None:
    """2020, Eq. 86: all joints together bend by the angle of the arc whose centre of mass is seen where it shall be."""
    tail = liu2020("r3").part("tail")
    coordinates = over_time(tail, motion, "arc")
    np.testing.assert_array_equal(coordinates["beta_1"], coordinates["beta_2"])
    theta = np.array([math.copysign(arc_seen(12.0 * b), b) for b in coordinates["beta_1"]])
    np.testing.assert_allclose(pointing(coordinates["alpha"], theta), wanted_direction(motion), rtol=0, atol=1e-9)


def test_equation_86() -> None:
    """tan(theta) = (a − sin a)/(1 − cos a), also where both vanish; the inverse leads back."""
    angles = np.array([1e-9, 1e-4, 0.1, 0.999, 1.001, 2.0, 4.0, 6.0])
    np.testing.assert_allclose(arc_direction(angles), [arc_seen(float(a)) for a in angles], rtol=1e-13)
    np.testing.assert_allclose(arc_direction(angles[2:]), np.arctan2(
        angles[2:] - np.sin(angles[2:]), 1.0 - np.cos(angles[2:])
    ), rtol=1e-13)  # fmt: skip
    np.testing.assert_array_equal(arc_direction(-angles), -arc_direction(angles))
    np.testing.assert_allclose(
        arc_direction([arc_angle(math.radians(x)) for x in (-80, 0, 40)]), np.radians([-80, 0, 40])
    )
    assert arc_direction(np.array(1e-6)) == pytest.approx(1e-6 / 3, rel=1e-13)


def test_the_chain() -> None:
    """An evenly bent chain, link by link; a chain of one link is a pendulum."""
    bend, links, length, com = 0.13, 7, 0.05, 0.03
    joint, places = np.zeros(2), []
    for k in range(1, links + 1):
        along = np.array([math.cos(k * bend), math.sin(k * bend)])
        places.append(joint + com * along)
        joint = joint + length * along
    across, ahead = np.mean(places, axis=0)[::-1]
    weights = link_weights([1.0] * links, length, com)
    assert chain_direction(bend, weights) == pytest.approx(math.atan2(across, ahead), rel=1e-14)
    theta = np.radians([-60.0, 0.0, 20.0, 85.0])
    for masses in ([1.0] * 12, [1.0 - 0.05 * k for k in range(12)]):
        weights = link_weights(masses, 0.04, 0.0327)
        np.testing.assert_allclose(chain_direction([chain_angle(x, weights) for x in theta], weights), theta)
    np.testing.assert_allclose([chain_angle(x, link_weights([1.0], 0.3, 0.1)) for x in theta], theta, rtol=1e-14)


def test_many_links_make_an_arc() -> None:
    """The two maps agree as links become many."""
    theta = math.radians(30.0)
    off = [abs(n * chain_angle(theta, link_weights([1.0] * n, 1.0, 0.5)) - arc_angle(theta)) for n in (200, 400)]
    assert off[1] < 1e-2
    assert off[0] / off[1] == pytest.approx(2.0, rel=5e-3)


def test_pendulum_angles_of_the_conventions() -> None:
    """tb = −asin(sin alpha sin theta), ta = atan2(cos alpha sin theta, cos theta)."""
    tail, motion = liu2020("pendulum").part("tail"), roll(40, 60.0)
    found = over_time(tail, motion, "arc")
    alpha, theta = np.radians(60.0) * SHARES, np.radians(40.0)
    np.testing.assert_allclose(found["tb"], -np.arcsin(np.sin(alpha) * math.sin(theta)), rtol=0, atol=1e-15)
    np.testing.assert_allclose(found["ta"], np.arctan2(np.cos(alpha) * math.sin(theta), math.cos(theta)), atol=1e-15)


@pytest.mark.parametrize(
    ("axis", "alpha", "bent"),
    [("yaw", -90.0, (0.0, 0.4)), ("yaw", 90.0, (0.0, -0.4)), ("pitch", 0.0, (0.4, 0.0)), ("pitch", 180.0, (-0.4, 0.0))],
)
def test_a_universal_joint_in_one_plane(axis: str, alpha: float, bent: tuple[float, float]) -> None:
    """One of its angles is the bend, the other exactly zero: the same direction as by the closed form in space."""
    tail, roll = liu2020("pendulum").part("tail"), math.radians(alpha)
    motion = TailMotion(name="own", axis=axis, start=(roll, 0.0), end=(roll, 0.4))
    found = motion.of(tail, 0.3)
    assert (found["ta"], found["tb"]) == bent
    for t in TIMES.tolist():
        wanted = tail.coordinates(*motion.direction(t))
        for name, value in motion.of(tail, t).items():
            assert float(value) == pytest.approx(float(wanted[name]), abs=1e-15)


def test_which_way_is_which() -> None:
    """Yaw goes to the right, pitch down, a roll from down to the left; coupled up and to the left."""
    for motion, way in ((yaw(90), [1, 0, 0]), (pitch(90), [0, 0, -1]), (roll(90, 90.0), [-1, 0, 0])):
        np.testing.assert_allclose(wanted_direction(motion)[-1], way, atol=1e-15)
    start, end = wanted_direction(coupled())[[0, -1]]
    assert start[2] < end[2] == 0.0
    assert end[0] == pytest.approx(-math.sin(math.radians(50.0)))
    assert [m.axis for m in (yaw(4), pitch(4), roll(4), coupled())] == ["yaw", "pitch", "roll", "roll"]


# Over time


@pytest.mark.parametrize("motion", PLANAR + SPATIAL, ids=NAMES)
@pytest.mark.parametrize("tail", ["pendulum", "r3", "usrt"])
def test_from_rest_to_rest(tail: str, motion: TailMotion) -> None:
    """At the start and from the end on nothing moves; rates and accelerations are those of the values."""
    part, names = liu2020(tail).part("tail"), [n.split(".")[1] for n in held_torso(tail).coordinate_names]
    start, end = (motion.of(part, t) for t in (0.0, 0.3))
    h, t = 1e-4, 0.1
    q, v, a = imposed(tail, motion, np.array([0.0, 0.3, 0.31, 2.0, t - h, t, t + h]))
    np.testing.assert_allclose(q[0], [float(start[name]) for name in names], rtol=0, atol=1e-9)
    np.testing.assert_allclose(q[1], [float(end[name]) for name in names], rtol=0, atol=1e-9)
    assert not v[:4].any(), "rates are exactly zero"
    np.testing.assert_array_equal(q[1:4], np.tile(q[1], (3, 1)))
    np.testing.assert_allclose(v[5], (q[6] - q[4]) / (2 * h), rtol=0, atol=1e-5)
    np.testing.assert_allclose(a[5], (v[6] - v[4]) / (2 * h), rtol=0, atol=1e-3)


def test_the_sine() -> None:
    """It swings about the straight tail: down by all of the angle at a quarter, up at three quarters."""
    motion = pitch(20, period=1.2)
    times = np.array([0.0, 0.1, 0.3, 0.6, 0.9])
    q, v, _ = imposed("pendulum", motion, times)
    np.testing.assert_allclose(np.degrees(q[:, 0]), [0.0, 10.0, 20.0, 0.0, -20.0], rtol=0, atol=1e-9)
    assert v[0, 0] == pytest.approx(math.radians(20.0) * 2.0 * math.pi / 1.2, rel=1e-9)


@pytest.mark.parametrize(("links", "segments", "sizes"), [(6, 2, [3, 3]), (7, 3, [2, 2, 3]), (4, 4, [1, 1, 1, 1])])
def test_segments_of_a_usrt(links: int, segments: int, sizes: list[int]) -> None:
    """Each segment bends by what its joints bend together."""
    tail = replace(Usrt(), links=links, segments=segments)
    assert tail.segment_sizes() == sizes
    end, here = yaw(30).of(tail, 0.3), yaw(30).of(tail, 0.2)
    assert float(end["theta_1"]) * links == pytest.approx(arc_angle(math.radians(30.0)), abs=1e-9)
    assert all(float(here[f"phi_{i + 1}"]) == pytest.approx(0.0, abs=1e-15) for i in range(links))
    for size, curvature in zip(sizes, tail.curvatures(here, -math.pi / 2), strict=True):
        bend = float(curvature) * size * tail.link_length
        assert bend == pytest.approx(size * float(here["theta_1"]), abs=1e-9)


# What a tail cannot do


@pytest.mark.parametrize(
    ("tail", "motion", "angle", "said"),
    [
        (R3(), yaw(95), "arc", "95°'; required: a bend of the centre of mass of at most 87°: by Eq. 86"),
        (R3(), yaw(87.01), "arc", "at most 87°"),
        (R3(), yaw(-90), "arc", "at most 87°"),
        (R3(), pitch(-120), "arc", "120°'; required: a bend"),
        (R3(), roll(130), "chain", "130°'; required: a bend of the centre of mass below .*before it rolls up"),
        (Usrt(), yaw(95), "arc", "at most 87°"),
        (Pendulum(length=1.0, mass=1.0), yaw(95), "arc", "95°'; required: less than 90° to the side"),
        (Pendulum(length=1.0, mass=1.0), yaw(-90), "arc", "less than 90° to the side: a universal joint is singular"),
        (Pendulum(length=1.0, mass=1.0), roll(90, 90), "arc", "less than 90° to the side"),
        (Pendulum(length=1.0, mass=1.0), coupled(yaw_to=-90.0), "arc", "less than 90° to the side"),
        (Pendulum(length=1.0, mass=1.0), pitch(180), "arc", "less than 90° to the side"),
        (R3(), coupled(20.0, -20.0, 0.0, 0.0), "arc", "straight tail"),
        (R3(), coupled(0.0, 0.0, 0.0, -50.0), "chain", "straight tail"),
        (R3(), coupled(20.0, -15.0, 0.0, 0.0), "arc", "straight tail"),
        (Usrt(), coupled(20.0, -20.0, 0.0, 0.0), "arc", "straight tail"),
        (R3(), yaw(40), "spline", "a known angle"),
    ],
)
def test_impossible_motions(tail: Any, motion: TailMotion, angle: str, said: str) -> None:
    """A motion that a tail cannot make is refused with the reason."""
    with pytest.raises(ArgumentError, match=said):
        replace(motion, angle=angle).check_tail(tail)


def test_close_to_the_straight_tail() -> None:
    """A bend of one degree that turns from down to up within a moment: its centre of mass still goes there."""
    motion = coupled(20.0, -20.0, 1.0, 1.0)
    motion.check_tail(R3())
    found = found_direction("r3", over_time(liu2020("r3").part("tail"), motion, "chain"))
    np.testing.assert_allclose(found, wanted_direction(motion), rtol=0, atol=1e-9)


@pytest.mark.parametrize("tail", [R3(), Usrt()], ids=["r3", "usrt"])
def test_as_far_as_the_arc_goes(tail: Any) -> None:
    """A bend by 87° is still made; all joints together then turn by nearly a circle."""
    yaw(87).check_tail(tail)
    found = yaw(87).of(tail, 0.3)
    bent = 12 * float(found["beta_1"]) if "beta_1" in found else 6 * float(found["theta_1"])
    assert arc_seen(bent) == pytest.approx(math.radians(87.0), abs=1e-9)
    assert 5.0 < bent < 2.0 * math.pi


def test_a_pendulum_goes_where_others_cannot() -> None:
    """Through its straight pose, and down by more than 90°."""
    tail = Pendulum(length=1.0, mass=1.0)
    for motion, t, angle in ((coupled(20.0, -20.0, 0.0, 0.0), 0.15, 0.0), (pitch(120), 0.3, 120.0)):
        motion.check_tail(tail)
        assert math.degrees(float(motion.of(tail, t)["ta"])) == pytest.approx(angle, abs=1e-9)


# As text


@pytest.mark.parametrize(
    ("text", "motion"),
    [
        ("yaw:40", yaw(40)),
        ("yaw:-7.5,duration=0.2", yaw(-7.5, 0.2)),
        ("pitch:20", pitch(20)),
        ("pitch:20,period=1.2", pitch(20, period=1.2)),
        ("pitch:2e1,period=1.2,duration=0.6", pitch(20, 0.6, 1.2)),
        ("roll:40", roll(40)),
        ("roll:40,angle=30", roll(40, 30.0)),
        ("roll:40,angle=-30,duration=1", roll(40, -30.0, 1.0)),
        ("coupled", coupled()),
        ("coupled:", coupled()),
        ("coupled:yaw_to=50", coupled(yaw_to=50.0)),
        ("coupled:pitch_from=1,pitch_to=2,yaw_from=3,yaw_to=4,duration=5", coupled(1.0, 2.0, 3.0, 4.0, 5.0)),
    ],
)
def test_motions_as_text(text: str, motion: TailMotion) -> None:
    """What one writes is what one gets."""
    assert motion_from_text(text) == motion


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "motion: got ''; required: a known kind of motion"),
        ("jaw:40", "motion: got 'jaw'.*did you mean 'yaw'"),
        ("YAW:40", "motion: got 'YAW'; required: a known kind"),
        ("40", "motion: got '40'; required: a known kind"),
        ("yaw", "motion: got 'yaw'; required: an angle in degrees, such as yaw:40"),
        ("pitch:", "motion: got 'pitch:'; required: an angle in degrees"),
        ("yaw:duration=0.2", "an angle in degrees"),
        ("roll:angle=30", "an angle in degrees, such as roll:40"),
        ("yaw:forty", "motion yaw:forty: got 'forty'; required: a number"),
        ("yaw:40°", "got '40°'; required: a number"),
        ("yaw:40,duration=", "got ''; required: a number"),
        ("yaw:40,duration=soon", "got 'soon'; required: a number"),
        ("yaw:40,durations=1", "got 'durations'.*did you mean 'duration'"),
        ("yaw:40,50", "got '50'; required: a known word, with = and a number"),
        ("yaw:40,period=1.2", "got 'period'; required: a known word"),
        ("coupled:40", "got '40'; required: a known word"),
        ("yaw:40,duration=1,duration=2", "got 'duration'; required: each word once"),
        ("roll:40,angle=30,angle=30", "got 'angle'; required: each word once"),
        ("coupled:yaw_to=1,yaw_from=2,yaw_to=3", "got 'yaw_to'; required: each word once"),
        ("yaw:nan", "yaw: got nan; required: a finite angle"),
        ("pitch:inf", "pitch: got inf; required: a finite angle"),
        ("roll:nan", "^bend: got nan; required: a finite angle"),
        ("pitch:20,period=0", "period \\[s\\] greater than 0"),
        ("roll:40,angle=nan", "^angle: got nan; required: a finite angle"),
        ("coupled:yaw_to=nan", "coupled: got nan; required: a finite angle"),
        ("yaw:0", "yaw: got 0.0; required: an angle other than 0"),
        ("pitch:0", "pitch: got 0.0; required: an angle other than 0"),
        ("roll:0", "bend: got 0.0; required: an angle other than 0"),
        ("roll:40,angle=0", "angle: got 0.0; required: an angle other than 0"),
        ("yaw:40,duration=0", "duration: got 0.0; required: .*greater than 0"),
        ("roll:40,duration=-0.3", "duration: got -0.3; required: .*greater than 0"),
        ("coupled:duration=nan", "duration: got nan; required: .*greater than 0"),
        ("pitch:20,period=-1", "period: got -1.0; required: a finite number .*not negative"),
        ("pitch:20,period=nan", "period: got nan; required: a finite number"),
    ],
)
def test_wrong_text(text: str, said: str) -> None:
    """Text that is no motion is refused with what is wrong."""
    with pytest.raises(ArgumentError, match=said):
        motion_from_text(text)


@pytest.mark.parametrize(
    ("motion", "name"),
    [
        (yaw(40), "yaw40"),
        (yaw(20, 0.2), "yaw20in0.2s"),
        (yaw(-7.5, 1.0), "yaw-7.5in1s"),
        (pitch(20), "pitch20"),
        (pitch(20, period=1.2), "pitch20sine"),
        (pitch(20, period=0.6), "pitch20sine0.6s"),
        (pitch(20, 0.6, 1.2), "pitch20sinein0.6s"),
        (pitch(20, 0.5, 0.6), "pitch20sine0.6sin0.5s"),
        (roll(40), "roll40"),
        (roll(40, 90.0), "roll40by90"),
        (roll(40, duration=0.5), "roll40in0.5s"),
        (roll(40, 30.0, 0.5), "roll40by30in0.5s"),
        (coupled(), "coupled"),
        (coupled(duration=0.4), "coupledin0.4s"),
        (coupled(yaw_to=50.0), "coupled20to0and0to50"),
        (coupled(1.0, 2.0, 3.0, 4.0, 5.0), "coupled1to2and3to4in5s"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_names(motion: TailMotion, name: str) -> None:
    """All that is unusual about a motion is in its name, so motions that differ have names that differ."""
    assert motion.name == name


def test_wrong_motions() -> None:
    """Motions put together by hand are checked, too."""
    good: dict[str, Any] = {"name": "own", "axis": "pitch", "start": (0.0, 0.0), "end": (0.0, 0.5)}
    TailMotion(**good)
    with pytest.raises(UnknownNameError, match="profile: got 'square'"):
        TailMotion(**good, profile="square")
    with pytest.raises(UnknownNameError, match="space: got 'world'"):
        TailMotion(**good, space="world")
    with pytest.raises(ArgumentError, match=r"^period: got -1\.0; required: .*not negative"):
        TailMotion(**good, profile="sine", period=-1.0)
    for wrong in ({"profile": "sine"}, {"period": 1.0}):
        with pytest.raises(ArgumentError, match=r"^period: .*greater than 0 with a sine, none with a cubic"):
            TailMotion(**good, **wrong)
    with pytest.raises(TailworkError, match="end"):
        TailMotion(**(good | {"end": (0.0, math.nan)}))
    with pytest.raises(UnknownNameError, match="axis: got 'x'"):
        TailMotion(**(good | {"axis": "x"}))
    for alpha, axis in ((0.0, "pitch"), (math.pi / 2, "yaw"), (-math.pi / 2, "yaw")):
        TailMotion(name="own", axis=axis, start=(alpha, 0.1), end=(alpha, 0.5))
    for alpha in (0.5, math.radians(89.0), -math.pi / 4, 1e-6):
        with pytest.raises(ArgumentError, match=r"^start: got .*; required: a bend in the vertical or horizontal pl"):
            TailMotion(name="own", axis="yaw", start=(alpha, 0.0), end=(alpha, 0.5))
    for alpha, axis in ((0.0, "yaw"), (math.pi / 2, "pitch")):
        with pytest.raises(ArgumentError, match="alpha of 0 or 180° for pitch, of ±90° for yaw"):
            TailMotion(name="own", axis=axis, start=(alpha, 0.0), end=(alpha, 0.5))
    TailMotion(name="own", axis="roll", start=(0.5, 0.1), end=(0.5, 0.2), space="joints")
    for wrong_angle in (True, "40", None):
        with pytest.raises(ArgumentError, match=r"yaw: got .*a finite angle"):
            yaw(wrong_angle)  # type: ignore[arg-type]
