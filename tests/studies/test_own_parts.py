"""Own measures and own tails: put in once, they are everywhere."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from oracles.layout import Array
from small_designs import hurried
from tailwork.algebra.expression import Scalar
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.model import Model
from tailwork.robots import FORWARD_FRAMES, Limb, Motor, Robot, Tail, liu2020
from tailwork.robots.body import bar
from tailwork.robots.limb import Joint, Tip, placed
from tailwork.robots.quantities import Vector, positive, vector
from tailwork.studies import MEASURES, Combined, Measure, Sample, Scenario, add_measure, measured, perform, perform_many
from tailwork.studies.compare import comparison
from tailwork.studies.compare.comparison import Plan, compare
from tailwork.studies.design import Evaluator, Goal, Limit, Study, Variable, best_design
from tailwork.studies.design.answer import DesignOptions, answer_of
from tailwork.studies.design.tables import measure_rows
from tailwork.studies.design.verify import verified
from tailwork.studies.measures import meaning_of, shown_measures, unit_of
from tailwork.studies.motions import TailMotion, coupled, pitch, roll, sweep, yaw
from tailwork.studies.sweep.axes import axis_from_text
from tailwork.studies.sweep.plan import Sweep, as_data, column_units, from_data, measures_from_text, perform_chunk
from tailwork.typing import Floats

# An own measure


def drop(sample: Sample) -> list[Scalar]:
    """How far the torso is below where it stands [mm]."""
    return [(sample.layout.robot.stand[2] - sample.context.coordinate("z")) * 1000.0]


DROP = Measure("drop", "mm", "farthest that the torso sinks", drop, "max")
DROP_RATIO = Combined(
    "drop_ratio", "mm/deg", "that for each degree of turn", ("drop", "turn"), lambda v, _: v["drop"] / v["turn"]
)


@pytest.fixture
def own_measures() -> Iterator[None]:
    """Both, for the time of a test."""
    add_measure(DROP)
    add_measure(DROP_RATIO)
    yield
    for measure in (DROP_RATIO, DROP):
        del MEASURES[measure.name]


def test_an_own_measure_is_everywhere(own_measures: None, tmp_path: Path) -> None:
    """In single runs, among many, in sweeps, comparisons, goals, limits and tables of designs."""
    scenario = Scenario(liu2020("pendulum"), sweep("yaw", 40.0), "straight-down")
    run = perform(scenario)
    found = measured(run, scenario)
    sinks = 1000.0 * (0.4 - run.data["q"].to_numpy()[:, 2])
    assert found["drop"] == pytest.approx(sinks.max(), rel=1e-12) and sinks.max() > 0.1
    assert found["drop_ratio"] == pytest.approx(found["drop"] / found["turn"], rel=1e-14)
    assert shown_measures()[-3:] == ["drop", "drop_ratio", "energy_balance"]
    assert (unit_of("drop"), meaning_of("drop")) == ("mm", "farthest that the torso sinks")

    many = perform_many(scenario, {"tail.mass": [1.0, 0.8]}, measures=["drop", "drop_ratio"])
    assert many.measures["drop"][0] == pytest.approx(found["drop"], rel=1e-9)
    assert many.measures["drop_ratio"][0] == pytest.approx(found["drop_ratio"], rel=1e-9)

    assert measures_from_text("drop,yaw", scenario.motion) == ("drop", "yaw")
    axis = axis_from_text("tail.mass=1.0,0.8", scenario.robot, drawn=False)
    plan = Sweep(scenario, (axis,), ("drop", "yaw"))
    columns = perform_chunk(plan, 0, threads=1)
    assert columns["drop"][0] == pytest.approx(found["drop"], rel=1e-9) and column_units(plan)["drop"] == "mm"
    assert from_data(json.loads(json.dumps(as_data(plan)))) == plan

    table = compare(Plan({"pendulum": liu2020("pendulum")}, (yaw(20),), {}), tmp_path)
    (row,) = csv.DictReader((tmp_path / "measures.csv").read_text().splitlines())
    assert float(row["drop [mm]"]) == pytest.approx(table.results[0].measures["drop"], rel=1e-8)

    variables = (Variable("tail.length", 0.3, 0.6), Variable("tail.mass", 0.5, 1.5))
    most = 0.95 * found["drop"]
    study = Study("own", scenario, variables, (Goal("turn", "most"),), (Limit("drop", most=most),))
    with hurried():
        answer = answer_of(study, {}, settings=DesignOptions(threads=1))
    assert answer.verified.alone["drop"] == pytest.approx(most, rel=1e-3)
    assert "drop_ratio" in answer.verified.alone and answer.verified.disagreements() == {}
    assert answer.best.multipliers[study.limits[0].words] > 0.0
    assert any("drop" in cell for line in measure_rows(answer) for cell in line)


def test_measures_that_cannot_be_added(own_measures: None) -> None:
    """A name twice, a reduction that is none, a part that is none."""
    with pytest.raises(ArgumentError, match="got 'drop'; required: a name that no other measure has"):
        add_measure(DROP)
    with pytest.raises(UnknownNameError, match="reduction: got 'median'"):
        Measure("own", "1", "own", drop, "median")
    with pytest.raises(UnknownNameError, match=r"measures\.own\.of: got 'drip'.*did you mean 'drop'"):
        add_measure(Combined("own", "1", "own", ("drip",), lambda v, _: v["drip"]))
    assert "own" not in MEASURES


def test_a_measure_that_is_gone(own_measures: None) -> None:
    """Without it, its name is unknown, and what else there is says so."""
    scenario = Scenario(liu2020("pendulum"), yaw(20))
    with pytest.raises(UnknownNameError, match="did you mean 'drop'"):
        perform_many(scenario, {"tail.mass": [1.0]}, measures=["drops"])


# An own tail


@dataclass(frozen=True)
class Whip(Tail):
    """Two bars behind each other, each on two hinges with motors, the second bar half as long and heavy."""

    kind: ClassVar[str] = "whip"

    length: Scalar = positive("m")  # of the first bar
    mass: Scalar = positive("kg")  # of the first bar
    mount: Vector = vector("m", (0.0, 0.0, 0.0))  # in the torso frame

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """Hinges about x and z at the mount, and again where the first bar ends."""
        first, second = bar(self.mass, self.length, 1), bar(self.mass * 0.5, self.length * 0.5, 1)
        joints = (
            Joint(name="x1", axis=(1.0, 0.0, 0.0)),
            Joint(name="z1", axis=(0.0, 0.0, 1.0), parent="x1", body=first),
            Joint(name="x2", axis=(1.0, 0.0, 0.0), parent="z1", offset=(0.0, -self.length, 0.0)),
            Joint(name="z2", axis=(0.0, 0.0, 1.0), parent="x2", body=second),
        )
        motors = tuple(Motor(name=joint.name, coordinate=joint.name) for joint in joints)
        limb = Limb(joints=joints, actuators=motors, tip=Tip(joint="z2", point=(0.0, -self.length * 0.5, 0.0)))
        return {name: placed(limb, self.mount, FORWARD_FRAMES[forward])}


WHIP = Whip(length=0.32, mass=0.6, mount=(0.0, -0.25, 0.02))


def whipped() -> Robot:
    """The 2020 quadruped with it."""
    return liu2020("pendulum").with_part("tail", WHIP)


def test_what_an_own_tail_has_by_default() -> None:
    """Totals, copies with other totals, driven coordinates, gains."""
    assert float(WHIP.total_mass()) == pytest.approx(0.9, rel=1e-15)
    assert float(WHIP.total_length()) == pytest.approx(0.48, rel=1e-15)
    other = WHIP.with_totals({"total_mass": 1.8, "total_length": 0.24})
    assert (float(other.length), float(other.mass)) == pytest.approx((0.16, 1.2)) and other.mount == WHIP.mount
    assert WHIP.driven == ("x1", "z1", "x2", "z2") and not WHIP.by_cables and not WHIP.bends
    assert set(WHIP.tracking_gains()) == set(WHIP.driven)
    assert {one.path for one in WHIP.adjustable()} >= {"total_length", "total_mass", "mount.z"}
    inertia = 0.6 * 0.32**2 / 3 + 0.3 * (0.16**2 / 12 + 0.4**2)
    assert WHIP.inertia_about_mount() == pytest.approx(inertia, rel=1e-12)


MOTIONS = [yaw(40), yaw(-60), pitch(50), roll(40), coupled(), coupled(20.0, 5.0, 10.0, -30.0)]


@pytest.mark.parametrize("motion", MOTIONS, ids=lambda motion: motion.name)
def test_its_centre_of_mass_goes_where_the_motion_says(motion: TailMotion) -> None:
    """By the model's own centre of mass, to 1e-9; hinges about the same axis bend alike."""
    model = Model(whipped().without("legs"), "none", prescribed=("tail",), torso="fixed")
    shares = np.linspace(0.0, 1.0, 9)
    alpha, theta = motion.directions(shares)
    found = [WHIP.coordinates(float(a), float(b)) for a, b in zip(alpha, theta, strict=True)]
    q = np.array([[float(one[name.split(".")[1]]) for name in model.coordinate_names] for one in found])
    centers = model.part_momenta(q, 0.0 * q).centers[:, model.part_names.index("tail")]
    away = centers - np.array(WHIP.mount, dtype=float)
    away /= np.linalg.norm(away, axis=-1, keepdims=True)
    wanted = np.stack([-np.sin(alpha) * np.sin(theta), -np.cos(theta), -np.cos(alpha) * np.sin(theta)], axis=-1)
    np.testing.assert_allclose(away, wanted, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(q[:, 0], q[:, 2])
    np.testing.assert_array_equal(q[:, 1], q[:, 3])


def test_directions_that_it_cannot_reach() -> None:
    """Said before anything is simulated; so are motions of a tail that bends about one axis only."""
    with pytest.raises(ArgumentError, match="a bend that this tail can make"):
        roll(90, 90).check_tail(WHIP)

    class Hinge(Whip):
        def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
            limb = super().limbs(name, forward)[name]
            return {
                name: replace(
                    limb, joints=limb.joints[:2], coordinates=("x1", "z1"), actuators=limb.actuators[:1], tip=None
                )
            }

    with pytest.raises(
        ArgumentError,
        match=r"driven joints that pitch it, .*, and others that yaw it, .* or one with own `coordinates`",
    ):
        yaw(20).check_tail(Hinge(length=0.3, mass=0.5))


@pytest.mark.parametrize("drive", ["prescribed", "motors"])
def test_its_measures(drive: str) -> None:
    """All that a tail without cables and segments has; it goes where it shall."""
    scenario = Scenario(whipped(), roll(30), "joint", drive=drive)
    found = measured(perform(scenario), scenario)
    missing = {name for name, value in found.items() if math.isnan(value)}
    assert missing == {
        "curvature_error_mean", "curvature_error_peak", "curvature_error_rms", "peak_tension", "slack",
        "peak_segment_torque", "peak_segment_speed", "motor_load", "joint_speed_load",
    }  # fmt: skip
    assert (found["tail_mass"], found["tail_length"]) == pytest.approx((0.9, 0.48), rel=1e-14)
    assert found["tail_deviation"] < (1e-6 if drive == "prescribed" else 3.0)
    assert found["tail_rotation"] == pytest.approx(
        45.0 * math.sin(math.radians(30.0)), rel=1e-5 if drive == "prescribed" else 0.1
    )
    assert found["energy_balance"] < 1e-6


def test_in_a_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a tail of the paper; a second call takes its runs from the folder, its robot from their files."""
    plan = Plan({"whip": whipped(), "pendulum": liu2020("pendulum")}, (yaw(20),), {}, "constant")
    found = compare(plan, tmp_path)
    assert [result.case.tail for result in found.results] == ["whip", "pendulum"]
    own = found.results[0]
    alone = measured(perform(own.case.scenario), own.case.scenario)
    np.testing.assert_equal(own.measures, alone)
    monkeypatch.setattr(comparison, "perform", None)
    again = compare(plan, tmp_path)
    np.testing.assert_equal(again.results[0].measures, own.measures)


def as_alone(values: dict[str, float], names: list[str]) -> dict[str, float]:
    """What one design does alone."""
    scenario = Scenario(whipped().without("legs").replace(values), yaw(40), "airborne")
    found = measured(perform(scenario), scenario)
    return {name: found[name] for name in names}


def test_in_a_sweep() -> None:
    """Its own numbers and its totals vary; each design is as alone."""
    names = ["yaw", "peak_tail_torque", "tail_mass", "tail_deviation"]
    scenario = Scenario(whipped().without("legs"), yaw(40), "airborne")
    axes = [
        axis_from_text(text, scenario.robot, drawn=False) for text in ("tail.length=0.3,0.36", "tail.total_mass=1.2")
    ]
    columns = perform_chunk(Sweep(scenario, tuple(axes), tuple(names)), 0, threads=1)
    assert list(columns["reason"]) == ["", ""]
    for k, length in enumerate((0.3, 0.36)):
        wanted = as_alone({"tail.length": length, "tail.total_mass": 1.2}, names)
        for name in names:
            assert columns[name][k] == pytest.approx(wanted[name], rel=1e-9, abs=1e-6)


def test_in_a_design() -> None:
    """Searched by its own numbers and its totals, with exact derivatives, and verified."""
    variables = (
        Variable("tail.total_length", 0.3, 0.6), Variable("tail.mass", 0.3, 0.9), Variable("motion.sweep", 30.0, 50.0),
    )  # fmt: skip
    scenario = Scenario(whipped().without("legs"), sweep("yaw", 40.0), "airborne")
    limits = (Limit("peak_tail_torque", most=3.0),)
    study = Study("whip", scenario, variables, (Goal("turn", "most"),), limits, steps=20)
    own = Evaluator(study, threads=1)
    best = best_design(own, starts=1).best
    assert best.converged and best.violation < 1e-6
    found = verified(own, best.design)
    assert found.disagreements() == {}
    assert found.alone["peak_tail_torque"] == pytest.approx(3.0, rel=1e-2)
    design = np.array([0.45, 0.6, 40.0])
    slopes = own.derivatives(design, ["turn"])["turn"]
    assert slopes == pytest.approx(differences(own, design), rel=1e-6)


def differences(own: Evaluator, design: Floats) -> Array:
    """Central differences of the turn, of order four."""
    found = []
    for k, value in enumerate(design):
        h = 1e-3 * value
        moved = np.tile(design, (4, 1))
        moved[:, k] += np.array([1.0, -1.0, 0.5, -0.5]) * h
        x = own.measures(moved, ["turn"])["turn"]
        found.append((4.0 * (x[2] - x[3]) / h - (x[0] - x[1]) / (2.0 * h)) / 3.0)
    return np.array(found)
