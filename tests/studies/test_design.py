"""Tail synthesis: the numbers of known problems, gradients, conflicts, verification, tolerances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tailwork.control.context import Context
from tailwork.control.standing import RestTorques
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation.integrate.balance import TRUSTED
from tailwork.studies.compare.airborne import planar_rotation
from tailwork.studies.design import Evaluator, Goal, ImpossibleError, Limit, Study, Variable, best_design
from tailwork.studies.design.multistart import screened
from tailwork.studies.design.optimizer import Program, sides_of
from tailwork.studies.design.uncertainty import tolerance
from tailwork.studies.design.variables import design_of
from tailwork.studies.design.verify import fixed_run, verified
from tailwork.studies.measures import MEASURES, Measure
from tailwork.studies.motions import pitch, sweep
from tailwork.studies.observer import SUMMARISED, from_summary, reduced
from tailwork.studies.perform import measured as measured_of
from tailwork.studies.scenario import ActuatorMass, Scenario

BOUNDS = {
    "tail.length": (0.2, 0.8), "tail.total_mass": (0.2, 1.2), "tail.tip_share": (0.0, 1.0),
    "tail.mount.y": (-0.3, -0.15), "tail.mount.z": (-0.08, 0.08), "motion.sweep": (40.0, 60.0),
    "motion.early": (-3.0, 3.0), "motion.skew": (-6.0, 6.0),
}  # fmt: skip
VARIABLES = tuple(Variable(name, low, high) for name, (low, high) in BOUNDS.items())
LIMITS = (
    Limit("peak_tail_torque", most=6.0), Limit("least_normal_force", least=5.0), Limit("friction_needed", most=0.6),
    Limit("most_extension", most=0.97), Limit("roll", -15.0, 15.0),
)  # fmt: skip
SCENARIO = Scenario(liu2020("pendulum"), sweep("yaw", 40.0), "straight-down")
PROBLEM_A = Study("A", SCENARIO, VARIABLES, (Goal("turn", "most"),), LIMITS)
BASELINE = np.array([0.48, 1.0, 0.0, -0.25, 0.0, 40.0, 0.0, 0.0])
BEST = 20.6798  # [deg], of problem A with 30 steps


@cache
def evaluator() -> Evaluator:
    """Of problem A, compiled once."""
    return Evaluator(PROBLEM_A)


def problem(**changes: object) -> Study:
    """Problem A with something else."""
    return replace(PROBLEM_A, **changes)  # type: ignore[arg-type]


def test_the_baseline_has_its_known_measures() -> None:
    """2020 quadruped, rod of 0.48 m and 1 kg, 40° in 0.3 s: values known to the digits given, at fine steps.

    The known roll is that of 30 steps; fine steps give 12.606665°.
    """
    known = {
        "turn": 9.9360557, "pitch": -2.24861, "peak_tail_torque": 4.28054, "peak_tail_power": 5.6607,
        "least_normal_force": 49.9765, "friction_needed": 0.14042, "most_extension": 0.8915, "tail_energy": 0.8834,
    }  # fmt: skip
    found = evaluator().measures(BASELINE[None], list(known), steps=480)
    for name, value in known.items():
        digits = len(str(value).split(".")[1])
        assert found[name][0] == pytest.approx(value, abs=0.51 * 10.0**-digits), name
    assert evaluator().measures(BASELINE[None], ["roll"], steps=30)["roll"][0] == pytest.approx(12.60664, abs=5.1e-6)


@pytest.mark.measured("design")
def test_the_baseline_has_its_known_gradient(measured: Callable[..., None]) -> None:
    by_unit = evaluator().derivatives(BASELINE, ["turn"])["turn"]
    by_unit = np.radians(by_unit) * np.where([name == "motion.sweep" for name in BOUNDS], np.degrees(1.0), 1.0)
    known = [0.4215120, 0.1119568, 0.2023258, -0.0244815, 0.0067845, 0.2508040, 0.0098130, 0.0018371]
    measured("gradient of the turn by eight variables beside known digits", np.abs(by_unit - known).max(), at_most=6e-8)


def test_problem_a_is_found_from_nearly_every_start() -> None:
    """48 random designs within the limits, a search from each: at least 45 end at the known optimum."""
    own = evaluator()
    screen = screened(own, 256, seed=5)
    starts = screen.designs[screen.violation <= 0.0][:48]
    assert len(starts) == 48
    program = Program(own, PROBLEM_A.goals[0], sides_of(LIMITS), 5.0)
    ends = [program.solve(start) for start in starts]
    hits = [end for end in ends if end.violation < 1e-6 and abs(end.goal / BEST - 1.0) < 1e-4]
    assert len(hits) >= 45
    found = dict(zip(BOUNDS, hits[0].design, strict=True))
    known = {"tail.length": 0.3782, "tail.total_mass": 0.8493, "tail.tip_share": 1.0, "tail.mount.y": -0.3,
             "tail.mount.z": 0.08, "motion.sweep": 60.0, "motion.early": 1.512, "motion.skew": -0.971}  # fmt: skip
    assert found == pytest.approx(known, abs=6e-4)
    prices = hits[0].multipliers
    assert prices["peak_tail_torque ≤ 6 N m"] == pytest.approx(1.693, abs=5e-4)
    assert prices["roll ≤ 15 deg"] == pytest.approx(0.272, abs=5e-4)
    assert prices["least_normal_force ≥ 5 N"] == prices["friction_needed ≤ 0.6"] == 0.0


@pytest.mark.measured("design")
def test_prices_are_what_loosening_a_limit_gives(measured: Callable[..., None]) -> None:
    """The optimum moved by differences of its bounds agrees with the multipliers."""
    start = np.array([0.3782, 0.8493, 1.0, -0.3, 0.08, 60.0, 1.512, -0.971])
    ends = {}
    for shift in (-0.05, 0.0, 0.05):
        limits = (Limit("peak_tail_torque", most=6.0 + shift), *LIMITS[1:])
        ends[shift] = Program(evaluator(), PROBLEM_A.goals[0], sides_of(limits), 5.0).solve(start)
    price = ends[0.0].multipliers["peak_tail_torque ≤ 6 N m"]
    apart = abs((ends[0.05].goal - ends[-0.05].goal) / 0.1 / price - 1.0)
    measured("price of a limit beside the optimum with the limit moved", apart, at_most=1e-3)


@pytest.mark.measured("design")
def test_a_design_is_the_same_by_a_single_adaptive_run(measured: Callable[..., None]) -> None:
    """Fixed steps in lanes and one adaptive run of the design's own robot agree in every measure."""
    rng = np.random.default_rng(3)
    for _ in range(3):
        low, high = np.array(list(BOUNDS.values())).T
        design = low + (high - low) * rng.uniform(0.0, 0.6, len(low))
        found = verified(evaluator(), design)
        assert found.disagreements() == {}
        apart = abs(found.fine["turn"] - found.alone["turn"])
        measured("turn by fixed steps in lanes beside one adaptive run", apart, at_most=1e-6, unit="deg")
        assert found.fine["peak_tail_torque"] == pytest.approx(found.alone["peak_tail_torque"], rel=1e-7)


def test_energy_at_the_steps_of_a_search() -> None:
    """It balances better the more steps there are; where it does not, that is said. The run by these steps is that of
    the search."""
    design = design_of(PROBLEM_A, PROBLEM_A.named(BASELINE))
    runs = [fixed_run(evaluator().with_steps(steps), design) for steps in (4, 30, 60)]
    balances = [run.energy_balance_error() for run in runs]
    turn = evaluator().measures(BASELINE[None], ["turn"])["turn"][0]
    assert measured_of(runs[1], design, ["turn"])["turn"] == pytest.approx(turn, rel=1e-10)
    assert balances[2] < balances[1] / 8.0 < balances[0] / 64.0
    found = verified(evaluator(), BASELINE)
    assert found.balance == balances[1] < TRUSTED and found.warnings() == ()
    (said,) = replace(found, balance=0.03).warnings()
    assert said.startswith("At the steps of the search energy balances to 3.0e-02 only")


@pytest.mark.measured("design")
def test_the_airborne_closed_form_on_random_designs(measured: Callable[..., None]) -> None:
    """Pitch in the air: the body turns as angular momentum says, wherever the hinge is (rad to 1e-8)."""
    study = problem(
        scenario=replace(SCENARIO, motion=sweep("pitch", 40.0), policy="airborne"),
        variables=VARIABLES[:6],
        limits=(Limit("peak_tail_torque", most=100.0),),
    )
    own = Evaluator(study)
    designs = own.low + (own.high - own.low) * np.random.default_rng(2).uniform(size=(8, 6))
    turned = own.measures(designs, ["turn"], steps=960)["turn"]
    for design, turn in zip(designs, turned, strict=True):
        made = design_of(study, dict(zip(BOUNDS, design.tolist(), strict=False)))
        closed = planar_rotation(made.robot, "tail", pitch(np.degrees(made.motion.end[1])))
        assert closed is not None
        apart = abs(np.radians(turn) + closed)
        measured("turn in the air of random designs beside the closed form", apart, at_most=1e-8, unit="rad")


def test_legs_that_push_straight_down() -> None:
    """At rest the torques of the law hold the robot still, and no foot pushes sideways."""
    robot = liu2020("pendulum").replace({"tail.mount.y": -0.4, "tail.mass": 2.0})
    model = Model(robot, prescribed=["tail"])
    q, still = model.standing(), np.zeros(len(model.velocity_names))
    torques = RestTorques(distribution="straight-down", posture=tuple(q.tolist())).efforts(
        Context(model.layout, 0.0, q.tolist(), still.tolist())
    )
    found = model.path(
        q, still, [float(torques[name]) for name in model.actuator_names], prescribed_acceleration=np.zeros(2)
    )
    assert np.abs(found.acceleration).max() < 1e-12
    assert np.abs(found.foot_forces[:, :2]).max() < 1e-12 and found.foot_forces[:, 2].min() > 0.0


def test_goals_and_limits_that_are_the_worst_along_the_path() -> None:
    """Least peak torque for a required turn: at the optimum several nodes share the peak."""
    study = problem(goals=(Goal("peak_tail_torque", "least"),), limits=(*LIMITS[1:], Limit("turn", least=15.0)))
    found = best_design(Evaluator(study)).best
    own = Evaluator(study)
    assert own.measures(found.design[None], ["turn"])["turn"][0] == pytest.approx(15.0, abs=1e-6)
    torque = np.abs(own.roll(found.design[None])[0][:, own.look.columns["peak_tail_torque"]]).max(axis=1)
    assert found.goal == pytest.approx(torque.max(), rel=1e-9)
    assert (torque > 0.9999 * torque.max()).sum() >= 2
    at_six = evaluator().measures(found.design[None], ["turn"])["turn"][0]
    assert at_six < BEST


def test_limits_that_conflict_are_named() -> None:
    with pytest.raises(ImpossibleError, match="cannot hold together") as caught:
        best_design(Evaluator(problem(limits=(*LIMITS, Limit("turn", least=30.0)))))
    assert set(caught.value.conflict) == {"peak_tail_torque ≤ 6 N m", "turn ≥ 30 deg"}
    assert set(caught.value.design) == set(BOUNDS) and "turn" in caught.value.measures


def test_manufacturing_spread() -> None:
    """A small spread moves the goal as the slopes say: sigma² = Σ (slope · spread · value)²."""
    names = ["turn"]
    design = np.array([0.4, 0.6, 0.5, -0.25, 0.04, 50.0, 1.0, 1.0])
    spread = 0.002
    slope = evaluator().derivatives(design, names)["turn"]
    first_order = np.sqrt(((slope * spread * design) ** 2).sum())
    found = tolerance(evaluator(), design, names, spread)
    assert found.deviation["turn"] == pytest.approx(first_order, rel=0.01)
    assert found.low["turn"] < found.mean["turn"] < found.high["turn"]
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        tolerance(evaluator(), design, names, 0.0)


@pytest.mark.parametrize(
    ("study", "said"),
    (
        (lambda: Variable("tail.length", 0.8, 0.2), r"did you mean \[0.2, 0.8\]"),
        (lambda: Variable("tail.length", 0.2, np.inf), "a finite number"),
        (lambda: Goal("speed", "most"), "a known measure"),
        (lambda: Goal("turn", "best"), "'most' or 'least'"),
        (lambda: Limit("turn"), "`least`, `most` or both"),
        (lambda: Limit("turn", 3.0, 2.0), "`least` below `most`"),
        (lambda: replace(SCENARIO, policy="none"), "a known policy"),
        (lambda: replace(SCENARIO, motion=sweep("yaw", 40.0, 0.0)), "greater than 0"),
        (lambda: problem(goals=()), "at least one measure"),
        (lambda: problem(variables=()), "at least one number"),
        (lambda: problem(limits=(LIMITS[0], LIMITS[0])), "each name once"),
        (lambda: problem(steps=2), "from 4 to 1,000"),
        (lambda: Evaluator(problem(variables=(Variable("tail.lenght", 0.2, 0.8),))), "did you mean 'tail.length'"),
        (lambda: Evaluator(problem(variables=(Variable("tail.length", -0.2, 0.8),))), "bounds within which"),
        (lambda: Evaluator(problem(variables=(Variable("tail.length", 0.2, 0.8, "mm"),))), "in the unit m"),
        (lambda: Evaluator(problem(variables=(Variable("motion.sweep", 40.0, 185.0),))), "less than 180°"),
        (
            lambda: Evaluator(problem(variables=(VARIABLES[1], Variable("tail.mass", 0.1, 0.2)))),
            "either mass or total_mass",
        ),
        (lambda: Evaluator(problem(goals=(Goal("peak_tension", "least"),))), "measures that this robot has"),
        (lambda: Evaluator(problem(scenario=replace(SCENARIO, policy="airborne"))), "measures that this robot has"),
    ),
)
def test_impossible_problems_are_explained(study: object, said: str) -> None:
    with pytest.raises((ArgumentError, UnknownNameError), match=said):
        study()  # type: ignore[operator]


def test_masses_of_actuators_count_where_they_are_asked_for() -> None:
    own = Evaluator(problem(scenario=replace(SCENARIO, actuator=ActuatorMass(base=0.1, per_torque=0.05))))
    found = own.measures(BASELINE[None], ["peak_tail_torque", "actuator_mass", "added_mass"])
    motor = 0.1 + 0.05 * found["peak_tail_torque"][0]
    assert found["actuator_mass"][0] == pytest.approx(motor, rel=1e-14)
    assert found["added_mass"][0] == pytest.approx(1.0 + motor, rel=1e-14)
    carried = SCENARIO.robot.replace({"tail.actuator_mass": 0.3})
    scenario = replace(SCENARIO, robot=carried, actuator=ActuatorMass(base=0.1, per_torque=0.05))
    names = ["peak_tail_torque", "actuator_mass", "added_mass", "tail_mass"]
    found = Evaluator(problem(scenario=scenario)).measures(BASELINE[None], names)
    motor = 0.1 + 0.05 * found["peak_tail_torque"][0]
    assert found["added_mass"][0] == pytest.approx(1.0 + motor, rel=1e-14), "once, whatever the robot carries of it"
    assert found["tail_mass"][0] == pytest.approx(1.3, rel=1e-14)
    assert all(measure.unit and measure.meaning for measure in MEASURES.values())


def test_summaries_say_what_the_nodes_say() -> None:
    """Measures by running extremes agree with those from all nodes kept, bit for bit but for sums."""
    own = Evaluator(PROBLEM_A, also=["pitch", "tail_mass", "tail_energy"])
    designs = screened(own, 64).designs
    nodes, found = own.roll(designs), own._rolled(own._rollout, False, designs, None)
    lasting = np.full(len(designs), 0.3)
    times = lasting[:, None] * np.linspace(0.0, 1.0, nodes.shape[1])
    compared = []
    for name, here in own.look.columns.items():
        measure = MEASURES[name]
        assert isinstance(measure, Measure)
        if measure.reduction in SUMMARISED:
            short, whole = from_summary(measure, found[..., here], lasting), reduced(measure, nodes[..., here], times)
            np.testing.assert_allclose(short, whole, rtol=1e-13 if measure.reduction == "integral" else 0.0)
            compared.append(measure.reduction)
    assert set(compared) == set(SUMMARISED)


def test_an_impulse_gives_the_robot_its_velocity() -> None:
    """M v = Jᵀ impulse: the virtual work of the impulse at its point; the path is that of a single run from there."""
    study = problem(scenario=replace(SCENARIO, impulse=(0.4, 0.2, 0.0), impulse_point=(0.0, 0.2, 0.05)))
    own = Evaluator(study)
    design = np.array([0.4, 0.6, 0.5, -0.25, 0.04, 50.0, 1.0, 1.0])
    found = verified(own, design)
    assert found.disagreements() == {}
    model, q, v = found.run.model, found.run.data["q"].to_numpy()[0], found.run.data["v"].to_numpy()[0]
    impulse = np.array([0.4, 0.2, 0.0, *np.cross([0.0, 0.2, 0.05], [0.4, 0.2, 0.0])])
    assert (model.mass_matrix(q) @ v)[:6] == pytest.approx(impulse, abs=1e-13)
    assert found.fine["roll"] != pytest.approx(evaluator().measures(design[None], ["roll"])["roll"][0], abs=0.5)
    for wrong in ((1.0, 2.0), 1.0, (1.0, 2.0, np.inf), "xyz"):
        with pytest.raises(ArgumentError, match=r"^impulse: .*three finite numbers"):
            replace(SCENARIO, impulse=wrong)  # type: ignore[arg-type]


def test_tensions_of_an_r3_are_torques_over_its_pulleys() -> None:
    """T = torque / (joints of the segment · pulley radius); with wider pulleys the cables pull less."""
    robot = liu2020("r3").replace({"tail.links_per_segment": 2})
    variables = (Variable("tail.cable_radius", 0.01, 0.05), Variable("tail.taper", 0.0, 0.5))
    own = Evaluator(
        Study("pulleys", replace(SCENARIO, robot=robot), variables, (Goal("peak_tension", "least"),)),
        also=["peak_tail_torque"],
    )
    design = np.array([0.02, 0.2])
    nodes = own.roll(design[None])[0]
    torque, tension = (nodes[:, own.look.columns[name]] for name in ("peak_tail_torque", "peak_tension"))
    assert tension == pytest.approx(torque[:, 1:] / (2 * 0.02), rel=1e-13)
    assert verified(own, design).disagreements() == {}
    wider = own.measures(np.array([[0.04, 0.2], design]), ["peak_tension"])["peak_tension"]
    assert wider[0] == pytest.approx(wider[1] / 2.0, rel=1e-12)


def test_steps_are_as_many_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """From far too few, as many are chosen that measures are within 1e-3 of what very many find; the usual 30 stay; and
    where no number would do, the message blames the steps."""
    own = Evaluator(replace(PROBLEM_A, steps=4), threads=1)
    chosen = own.with_enough_steps()
    assert 4 < chosen.study.steps < 30 and Evaluator(PROBLEM_A, threads=1).with_enough_steps().study.steps == 30
    middle = (own.low + own.high) / 2.0
    coarse, many = chosen.alone(middle, PROBLEM_A.measures), chosen.alone(middle, PROBLEM_A.measures, 480)
    assert all(coarse[name] == pytest.approx(many[name], rel=2e-3) for name in many)
    monkeypatch.setattr("tailwork.studies.design.evaluate.MOST_CHOSEN", 8)
    with pytest.raises(ArgumentError, match=r"steps: got 4; required: a motion that 8 steps can follow: .*turn"):
        own.with_enough_steps()
