"""The page of two comparisons: its table has the numbers of the runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tailwork.cli.demo import demo_plan
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import RigidGround
from tailwork.simulation.pose import run_torso_angles
from tailwork.studies.compare.comparison import Comparison, Plan, compare
from tailwork.studies.motions import roll, yaw
from tailwork.studies.possible import MARK
from tailwork.view.report.demo import demo_report
from tailwork.view.report.overview import RIGID_HEADER, conclusion, overview_table
from tailwork.view.report.page import write_report


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    plan = Plan({"pendulum": liu2020("pendulum")}, (yaw(40), roll(80)), {}, "paper", RigidGround(friction=0.6))
    return compare(plan, tmp_path_factory.mktemp("runs"))


def test_table_has_both_grounds(comparison: Comparison) -> None:
    """Turns about the motion's axis are those of the pinned measures and of the run on rigid ground; in roll80 a foot
    of the robot would have to pull, and on the ground it lifts."""
    first, second = (dict(zip(RIGID_HEADER, row, strict=True)) for row in overview_table(comparison).rows)
    result = comparison.results[0]
    assert result.rigid is not None and (first["motion"], first["tail"]) == ("yaw40", "pendulum")
    turned = run_torso_angles(result.rigid)["yaw"]
    said = [float(str(first[f"{what} [°]"]).replace("−", "-")) for what in ("feet pinned", "at the end", "largest")]
    assert said[0] == pytest.approx(result.measures["yaw"], abs=0.051)
    assert said[1] == pytest.approx(float(turned[-1] - turned[0]) * 57.29578, abs=0.051)
    most = np.abs(turned - turned[0]).max() * 57.29578
    assert abs(said[2]) == pytest.approx(float(most), abs=0.051)
    assert second["friction needed"] == f"∞ {MARK}" and "lifts" in str(second["feet"])
    assert str(second["feet pinned [°]"]).endswith(MARK), "what is impossible is marked"


def test_one_page_with_both_conclusions(comparison: Comparison, tmp_path: Path) -> None:
    """One file with two tables and three players that opens with what came of it, in two sentences at most."""
    text = write_report(demo_report(comparison, comparison), tmp_path).read_text(encoding="utf-8")
    assert text.count("Pinned feet differ most from rigid ground in") == 2 and text.count('data-tailwork="part"') == 3
    said = conclusion(comparison)
    assert said.count(". ") <= 1 and text.index(said) < text.index('data-tailwork="part"')
    assert text.count("How far the torso turns about the motion") == 2


def test_tails_of_the_demo_stay_above_the_ground() -> None:
    """Of the robot that it opens with, along every motion: of joints and tips, the torso where it stands."""
    plan = demo_plan()
    for robot in plan.robots.values():
        model = Model(robot, prescribed=["tail"])
        q = np.tile(model.standing(), (31, 1))
        here = model.layout.coordinates["tail"]
        for motion in plan.motions:
            for k, t in enumerate(np.linspace(0.0, motion.duration, len(q))):
                q[k, here] = list(motion.of(robot.part("tail"), float(t)).values())
            own = [k for k, name in enumerate(model.point_names) if name.startswith("tail.")]
            assert model.points(q)[:, own, 2].min() > 0.1, motion.name


def test_a_tail_below_the_ground_is_marked_on_both_grounds(comparison: Comparison) -> None:
    """In roll80 of the paper the tail starts below the ground: a fault of the motion, not of pinned feet alone."""
    result = comparison.results[1]
    assert result.measures["tail_clearance"] < -0.05
    table = overview_table(comparison)
    row = dict(zip(RIGID_HEADER, table.rows[1], strict=True))
    assert str(row["at the end [°]"]).endswith(MARK) and not str(table.rows[0][3]).endswith(MARK)
    assert "not possible as pinned: a foot would have to pull" in table.note
    depth = f"{-result.measures['tail_clearance']:.2g}"
    assert f"{MARK} not possible: the tail goes {depth} m below the ground." in table.note
