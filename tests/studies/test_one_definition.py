"""One definition: a design gives the same numbers alone, among many, in a sweep, in a search and verified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from few_links import few_links
from tailwork.studies.design import Evaluator, Goal, Study, Variable
from tailwork.studies.design.verify import ATOL, FINER, RTOL, verified
from tailwork.studies.leg_policies import POLICIES
from tailwork.studies.measures import shown_measures
from tailwork.studies.motions import coupled, pitch, roll, sweep
from tailwork.studies.perform import measured, perform, perform_many
from tailwork.studies.scenario import ActuatorMass, Scenario
from tailwork.studies.sweep.axes import axis_from_text
from tailwork.studies.sweep.plan import Sweep, perform_chunk

TAILS = ("pendulum", "r3", "usrt")
STEPS = 60
MOTIONS = (sweep("yaw", 30.0, early=0.5), pitch(15), roll(30), coupled(10.0, 0.0, 0.0, -15.0))
CASES = [(tail, policy) for tail in TAILS for policy in POLICIES]
STIFF = ("constant", "straight-down-joint")
"""Policies with which the USRT is as stiff as that of the paper; with others it is softer, and needs no stiff method,
whose equations take longest to compile."""
LENGTH, MASS = 0.46, 1.05
VARIABLES = (Variable("tail.total_length", 0.4, 0.5), Variable("tail.total_mass", 0.9, 1.1))
ALL = pytest.mark.parametrize(("tail", "policy"), CASES, ids=[f"{tail}-{policy}" for tail, policy in CASES])


def scenario_of(tail: str, policy: str) -> Scenario:
    """Each policy with one of the motions."""
    motion = MOTIONS[(list(POLICIES).index(policy) + TAILS.index(tail)) % len(MOTIONS)]
    robot = few_links(tail)
    scenario = Scenario(robot, motion, policy, actuator=ActuatorMass(0.1, 0.02, 0.01))
    if tail == "usrt" and policy not in STIFF:
        scenario = replace(scenario, robot=robot.replace({"tail.bending_damping": 0.3}), kd=1.0)
    return scenario


def designed(scenario: Scenario) -> Scenario:
    """The scenario with the design that all ways are asked for."""
    return scenario.with_robot(scenario.robot.replace({"tail.total_length": LENGTH, "tail.total_mass": MASS}))


@dataclass(frozen=True)
class Alone:
    """Measures of the one design: by fixed steps and by steps that are chosen."""

    fixed: dict[str, float]
    chosen: dict[str, float]


@cache
def evaluator(tail: str, policy: str) -> Evaluator:
    """The search over designs, compiled once."""
    study = Study("one", scenario_of(tail, policy), VARIABLES, (Goal("turn", "most"),), steps=STEPS)
    return Evaluator(study, threads=1, also=shown_measures()[:-1])


@cache
def fixed_steps(tail: str, policy: str) -> dict[str, object]:
    """Options by which a single run takes the steps of the search."""
    method = "rodas5p" if evaluator(tail, policy).stiff else "rk4"
    return {"method": method, "step": 0.3 / STEPS, "samples": STEPS + 1}


@cache
def alone(tail: str, policy: str) -> Alone:
    """By `perform` and `measured`."""
    own = designed(scenario_of(tail, policy))
    fixed = perform(own, **fixed_steps(tail, policy))  # type: ignore[arg-type]
    chosen = perform(own)
    assert fixed.stopped is None and chosen.stopped is None
    return Alone(measured(fixed, own), measured(chosen, own))


def assert_same(found: dict[str, float], wanted: dict[str, float]) -> None:
    """To 1e-10, relative, or absolute where a value is rounding."""
    for name, value in found.items():
        assert value == pytest.approx(wanted[name], rel=1e-10, abs=1e-10, nan_ok=True), name


@ALL
def test_among_many(tail: str, policy: str) -> None:
    """`perform_many`, by the same fixed steps: every measure of the design, between two others."""
    changes = {"tail.total_length": [0.42, LENGTH, 0.48], "tail.total_mass": [1.0, MASS, 0.95]}
    found = perform_many(scenario_of(tail, policy), changes, threads=1, **fixed_steps(tail, policy))  # type: ignore
    assert found.reasons == ("", "", "")
    assert_same({name: float(own[1]) for name, own in found.measures.items()}, alone(tail, policy).fixed)


@ALL
def test_in_a_sweep(tail: str, policy: str) -> None:
    """A chunk of a sweep, by steps that each design chooses."""
    scenario, measures = scenario_of(tail, policy), tuple(shown_measures())
    axes = (f"tail.total_length={LENGTH},0.48", f"tail.total_mass={MASS},1.0")
    varied = tuple(axis_from_text(text, scenario.robot, drawn=False) for text in axes)
    columns = perform_chunk(Sweep(scenario, varied, measures), 0, threads=1)
    assert_same({name: float(columns[name][0]) for name in measures}, alone(tail, policy).chosen)


@ALL
def test_in_a_search(tail: str, policy: str) -> None:
    """Fixed steps in lanes, every measure that the robot has; those that it has not are NaN alone."""
    own = evaluator(tail, policy)
    found = own.measures(np.array([[LENGTH, MASS], [0.45, 1.0]]), own.all_measures)
    assert_same({name: float(values[0]) for name, values in found.items()}, alone(tail, policy).fixed)
    for name in set(shown_measures()) - set(own.all_measures) - {"energy_balance"}:
        assert np.isnan(alone(tail, policy).fixed[name])


@ALL
def test_in_its_verification(tail: str, policy: str) -> None:
    """The design looked at again: at its own steps as in the search, alone as by `perform`, and both agree."""
    own = evaluator(tail, policy)
    found = verified(own, np.array([LENGTH, MASS]))
    assert_same(found.coarse, alone(tail, policy).fixed)
    design = designed(scenario_of(tail, policy))
    run = perform(design, rtol=RTOL, atol=ATOL, samples=FINER * STEPS + 1)
    assert_same(found.alone, measured(run, design))
    assert found.disagreements() == {}
