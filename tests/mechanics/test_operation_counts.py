"""How many operations the compiled equations take for one state; the counts are kept in the repository."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quadruped import everywhere, model_of, quadruped
from benchmarks.races.synthesis import MEASURED
from tailwork.control import JointServo, held_posture, posed
from tailwork.kernels.graph import split
from tailwork.mechanics.layout import Layout, make_layout
from tailwork.model import Model
from tailwork.model.questions import recorded
from tailwork.robots import blaberus, go2, liu2020
from tailwork.robots.paths import rebuild
from tailwork.robots.robot import Robot
from tailwork.simulation.contact.rigid_kernels import rigid_kernels
from tailwork.simulation.system import System
from tailwork.studies.design.evaluate import Evaluator
from tailwork.studies.design.example import EXAMPLE
from tailwork.studies.design.files import study_from_text

FILE = Path(__file__).parents[1] / "data" / "operation_counts.json"
UPDATE = "python -m tests.mechanics.test_operation_counts"
GROWTH = 0.02
PATH_SHARE = {"pendulum": 0.22, "r3": 0.13, "usrt": 0.12, "blaberus": 0.015, "go2": 0.2}
"""How much more `path` may take than `forward_dynamics`: foot forces, extensions and powers are little more."""

ROBOTS: dict[str, tuple[Callable[[], Robot], str]] = {
    "pendulum": (lambda: liu2020("pendulum"), "all"),
    "r3": (lambda: liu2020("r3"), "all"),
    "usrt": (lambda: liu2020("usrt"), "all"),
    "blaberus": (blaberus, "none"),
    "go2": (go2, "all"),
}
QUESTIONS = ("forward_dynamics", "path")
COUNTED = [*((question, name) for question in QUESTIONS for name in ROBOTS), ("step", "blaberus"),
           ("search", "derivative"), ("search", "node"), ("round", "4 points"), ("round", "13 points")]  # fmt: skip
STEP_SHARE = 1.9
"""How much more a linearly implicit step on compliant ground may take than the forward dynamics of the same tree."""


def count(question: str, name: str) -> int:
    """Operations that one state costs: those of the graph's main part, which is what a Kernel counts."""
    make, stance = ROBOTS[name]
    robot = make()
    layout = make_layout(robot, stance, (), "free", "rpy", ())

    def with_symbols(exchange: Callable[[str, float], Any]) -> Layout:
        return dataclasses.replace(layout, robot=rebuild(robot, lambda path, value, kind: exchange(path, value)))

    graph, _ = recorded(with_symbols, question)
    return split(graph)[1].flops


def step_count() -> int:
    """Operations of a step of the cockroach on compliant ground, its joints held by a servo."""
    model = Model(blaberus(), "none")
    servo = JointServo(table=held_posture(model, posed(model)), kp=1.0, kd=1.0)
    return split(System(model, [servo]).graphs("step")["step"][0])[1].flops


def round_counts() -> dict[str, int]:
    """Operations of a round on rigid ground, sweeps left out, of a quadruped with four feet and with 13 points."""
    robots = quadruped(), everywhere(quadruped())
    kernels = {len(robot.contact_points()): rigid_kernels(System(model_of(robot), []), False) for robot in robots}
    return {f"{points} points": own.touch.flops + own.move.flops for points, own in kernels.items()}


@cache
def search() -> dict[str, Counter[str]]:
    """Operations of the search that the benchmark measures, of a step's stage and of a node with its 15 measures."""
    evaluator = Evaluator(study_from_text(EXAMPLE, "problem.toml"), threads=1, also=MEASURED)
    graphs = {"derivative": evaluator.system.graphs("derivative")["derivative"][0], "node": evaluator.look.graph}
    return {name: split(graph)[1].operations for name, graph in graphs.items()}


def counts() -> dict[str, dict[str, int]]:
    """Those of all robots."""
    asked = {question: {name: count(question, name) for name in ROBOTS} for question in QUESTIONS}
    searched = {name: sum(operations.values()) for name, operations in search().items()}
    return asked | {"step": {"blaberus": step_count()}, "search": searched, "round": round_counts()}


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, int]]:
    """The counts now."""
    return counts()


@pytest.mark.parametrize(("question", "name"), COUNTED)
def test_operations_do_not_grow(question: str, name: str, found: dict[str, dict[str, int]]) -> None:
    """None grows by more than 2 % over what is kept in the repository."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))[question][name]
    now = found[question][name]
    assert now <= kept * (1 + GROWTH), (
        f"{question} of {name} takes {now} operations, {now / kept - 1:.1%} more than the {kept} that are kept. "
        f"If that is worth it, run `{UPDATE}` and say why in the commit."
    )


@pytest.mark.parametrize(("question", "name"), COUNTED)
def test_kept_counts_are_not_stale(question: str, name: str, found: dict[str, dict[str, int]]) -> None:
    """Nor are they far above what is needed, or growth would go unseen."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))[question][name]
    now = found[question][name]
    assert now >= kept * (1 - GROWTH), (
        f"{question} of {name} takes only {now} operations, {1 - now / kept:.1%} fewer than the {kept} that are kept: "
        f"run `{UPDATE}`."
    )


@pytest.mark.parametrize("name", ROBOTS)
def test_a_path_costs_little_more_than_its_acceleration(name: str, found: dict[str, dict[str, int]]) -> None:
    """Foot forces, extensions, powers and dissipation beside the acceleration."""
    share = found["path"][name] / found["forward_dynamics"][name] - 1
    print(f"{name}: path takes {share:.1%} more operations than forward_dynamics")
    assert share < PATH_SHARE[name]


def test_a_step_on_the_ground_costs_as_the_forward_dynamics_do(found: dict[str, dict[str, int]]) -> None:
    """It is solved limb by limb, too: no matrix of all velocities is formed or factored."""
    assert found["step"]["blaberus"] < STEP_SHARE * found["forward_dynamics"]["blaberus"]


def test_a_further_contact_point_costs_less_than_an_eighth_of_a_round(found: dict[str, dict[str, int]]) -> None:
    """Contacts meet in six numbers of the torso, so that what a point costs does not grow with how many there are."""
    few, many = found["round"]["4 points"], found["round"]["13 points"]
    assert (many - few) / 9 < few / 8


@pytest.mark.parametrize("name", ["derivative", "node"])
def test_a_search_knows_that_a_sweep_stays_in_its_plane(name: str) -> None:
    """A pendulum that sweeps to the side turns about one axis: beside the torso's three, one angle has a sine, and none
    comes from an arctangent."""
    operations = search()[name]
    assert operations["sin"] == operations["cos"] == 4
    assert operations["atan2"] == 0


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(counts(), indent=2) + "\n", encoding="utf-8")
    print(FILE.read_text(encoding="utf-8"), end="")
