"""What an answer of tail synthesis may claim: within the model, at true optima, with feet and postures of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_design import BASELINE, SCENARIO, VARIABLES, evaluator, problem

from small_designs import SECOND, small_answer
from tailwork.errors import ArgumentError, FileError
from tailwork.robots import R3, liu2020
from tailwork.studies.data import json_value, made
from tailwork.studies.design import Evaluator, Goal, Limit, Study, Variable, best_design, solve
from tailwork.studies.design.answer import DesignOptions, choices
from tailwork.studies.design.folder import AnswerFolder, design_cases, open_kept
from tailwork.studies.design.multistart import screened
from tailwork.studies.design.optimizer import MODEL_END, Program, sides_of
from tailwork.studies.design.pareto import ALLOWED
from tailwork.studies.design.uncertainty import scatter_sizes, swings, tolerance
from tailwork.studies.design.variables import design_of
from tailwork.studies.design.verify import FINER, verified
from tailwork.studies.measures import MEASURES, Measure
from tailwork.studies.observer import reduced
from tailwork.studies.scenario import ActuatorMass


def test_a_search_without_limits_stays_where_legs_are_bent() -> None:
    """Where legs come to be straight the model ends, and what is computed there is no turn at all."""
    wide = tuple(replace(v, high=80.0) if v.name == "motion.sweep" else v for v in VARIABLES)
    found = best_design(Evaluator(problem(limits=(), variables=wide)), starts=2)
    assert found.best.converged and 30.0 < found.best.goal < 45.0
    measured = Evaluator(problem(limits=(), variables=wide)).measures(found.best.design[None], ["most_extension"])
    assert measured["most_extension"][0] == pytest.approx(MODEL_END.bound, abs=1e-6)
    assert found.best.multipliers[MODEL_END.words] > 0.0


def test_a_design_that_straightens_a_leg_has_no_measure_at_all() -> None:
    """Nor one that goes on to where nothing can be evaluated; not even those that are the design's own, as its mass."""
    own, names = evaluator(), ("turn", "peak_leg_torque", "peak_tail_speed", "tail_mass", "most_extension")
    designs = own.low + (own.high - own.low) * np.random.default_rng(1).uniform(size=(512, len(own.variables)))
    found = own.measures(designs, names)
    ended = np.isnan(found["most_extension"])
    assert 0 < ended.sum() < len(designs)
    assert np.isnan(own.roll(designs[ended])).any(axis=(1, 2)).any()
    for name in names:
        np.testing.assert_array_equal(np.isnan(found[name]), ended)


def test_a_design_that_is_no_optimum_is_not_called_one() -> None:
    own = evaluator()
    program = Program(own, own.study.goals[0], sides_of(own.study.limits), 5.0)
    assert not program.at(BASELINE).converged and program.at(BASELINE).violation == 0.0
    assert program.at(BASELINE).goal == pytest.approx(9.936, abs=1e-3)
    assert program.solve(BASELINE).converged


LEGS = [
    (policy, name, low, high)
    for policy in ("straight-down", "straight-down-joint", "straight-down-foot")
    for name, low, high in (("stand.z", 0.36, 0.4), ("legs.hips.1.x", 0.12, 0.18), ("legs.feet.1.x", 0.1, 0.2))
] + [("straight-down-joint", "legs.thigh_length", 0.22, 0.26), ("airborne", "legs.thigh_length", 0.22, 0.26)]


@pytest.mark.parametrize(("policy", "name", "low", "high"), LEGS)
def test_every_design_stands_as_its_own_robot_does(policy: str, name: str, low: float, high: float) -> None:
    """Lengths, hips, feet and heights that vary: the design among many moves as its robot does alone."""
    variables = (Variable(name, low, high), Variable("tail.length", 0.3, 0.5))
    own = Evaluator(Study("legs", replace(SCENARIO, policy=policy), variables, (Goal("turn", "most"),)), 1)
    one, other = (verified(own, np.array([low + share * (high - low), 0.4])) for share in (0.15, 0.9))
    assert not one.disagreements() and not other.disagreements()
    assert one.alone["turn"] != pytest.approx(other.alone["turn"], rel=1e-5)  # the variable does something


def test_a_foot_that_pulls_needs_infinite_friction() -> None:
    own = Evaluator(problem(limits=()))
    found = own.measures(screened(own, 8192).designs, ["friction_needed", "least_normal_force"])
    judged = ~np.isnan(found["least_normal_force"])
    pulls = found["least_normal_force"][judged] <= 0.0
    assert pulls.any()
    np.testing.assert_array_equal(np.isinf(found["friction_needed"][judged]), pulls)
    assert (found["friction_needed"][judged] >= 0.0).all()


def test_designs_that_cannot_be_judged_keep_no_limit() -> None:
    """A sample of which a sixth straightens a leg: those count as beyond the limit on just that."""
    wide = tuple(replace(v, high=80.0) if v.name == "motion.sweep" else v for v in VARIABLES)
    own = Evaluator(problem(limits=(Limit("most_extension", most=0.97),), variables=wide))
    best = best_design(own, starts=1).best.design
    found = tolerance(own, best, ["turn"], 0.1)
    assert 0.6 < found.judged < 0.9
    assert 1.0 - found.judged < found.violated["most_extension ≤ 0.97"] < 0.5
    assert all(np.isfinite(x["turn"]) for x in (found.mean, found.deviation, found.low, found.high))


def test_scatter_is_continuous_where_a_value_is_zero() -> None:
    own = evaluator()
    nothing, little = BASELINE.copy(), BASELINE.copy()
    little[4] = 1e-12
    np.testing.assert_allclose(scatter_sizes(own, nothing), scatter_sizes(own, little), atol=1e-11)
    assert scatter_sizes(own, nothing)[4] == pytest.approx(0.1 * 0.16)


def test_swings_are_sorted_by_how_far_the_goal_moves() -> None:
    """Also where both moves make it worse."""
    own, here = evaluator(), evaluator().measures(BASELINE[None], ["turn"])["turn"][0]
    reaches = [np.ptp([swing.at_low, swing.at_high, here]) for swing in swings(own, BASELINE, "turn")]
    assert reaches == sorted(reaches, reverse=True) and reaches[0] > 0.0


def test_the_mean_of_a_curvature_error_is_over_time() -> None:
    """An error that grows from 0 to 1 has the root mean square 1/√3, to second order in the steps."""
    measure = MEASURES["curvature_error_rms"]
    assert isinstance(measure, Measure)
    for steps in (30, 240):
        grows = np.linspace(0.0, 1.0, steps + 1)
        value = reduced(measure, np.stack([grows, grows], axis=-1)[None], 0.3 * grows[None])[0]
        assert value == pytest.approx(np.sqrt(1.0 / 3.0 + 1.0 / (6.0 * steps**2)), rel=1e-12)


def test_points_of_a_front_keep_their_limits_at_finer_steps() -> None:
    answer = small_answer(SECOND)
    assert answer.front is not None and answer.front.excess <= ALLOWED
    turns = answer.front.measures["turn"]
    assert turns.max() <= answer.best.goal * (1.0 + 1e-6)  # none does better than the best design


def test_the_mass_of_an_r3_counts_its_base() -> None:
    robot = liu2020("r3")
    variables = (Variable("tail.total_mass", 0.8, 1.2), Variable("tail.base_mass", 0.05, 0.3))
    scenario = replace(SCENARIO, robot=robot, policy="straight-down-joint")
    study = Study("base", scenario, variables, (Goal("turn", "most"),))
    for total, base in ((0.9, 0.06), (1.1, 0.29)):
        tail = design_of(study, {"tail.total_mass": total, "tail.base_mass": base}).robot.part("tail")
        assert isinstance(tail, R3) and float(tail.base_mass) == base
        assert float(tail.base_mass) + 12 * float(tail.link_mass) == pytest.approx(total, rel=1e-14)
    with pytest.raises(ArgumentError, match="from which it follows"):
        design_of(study, {"tail.total_mass": 0.9, "tail.link_inertia.xx": 1e-4})


def test_tails_of_two_kinds_share_their_length_and_mass() -> None:
    """A choice of the kind of tail beside numbers that every kind has."""
    variables = (Variable("tail.total_mass", 0.8, 1.2), Variable("tail.total_length", 0.4, 0.6))
    study = Study(
        "kinds",
        SCENARIO,
        variables,
        (Goal("turn", "most"),),
        choices={"tail": ["pendulum", "r3"]},
    )
    found = [(choice["tail"], Evaluator(own, 1)) for choice, own in choices(study)]
    assert [name for name, _ in found] == ["pendulum", "r3"]
    for _, own in found:
        measured = own.measures(np.array([[1.0, 0.5]]), ["tail_mass", "tail_length"])
        assert measured["tail_mass"][0] == pytest.approx(1.0, rel=1e-12)
        assert measured["tail_length"][0] == pytest.approx(0.5, rel=1e-12)


def test_the_robot_as_given_is_that_of_the_file() -> None:
    """Not one to which a choice has been applied."""
    study = problem(choices={"torso.mass": [12.0, 20.0]})
    assert [float(case.given.robot.torso.mass) for case in design_cases(study, DesignOptions())] == [12.0, 12.0]
    assert [float(case.study.robot.torso.mass) for case in design_cases(study, DesignOptions())] == [12.0, 20.0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"choices": {"tail.length": [0.3, 0.4]}}, "choose it or vary it"),
        ({"choices": {"torso.mass": [12.0, 12.0]}}, "each value once"),
        ({"choices": {"torso.mass": []}}, "at least one value"),
        ({"seed": -1}, "an integer from 0"),
        ({"seed": "x"}, "an integer from 0"),
        ({"name": "a\x1b[31m"}, "printable"),
        ({"goals": (lambda: Goal(["turn"], "most"),)}, "measure"),  # type: ignore[arg-type]
        ({"scenario": (lambda: replace(SCENARIO, actuator=ActuatorMass(base=-1.0)))}, "not negative"),
        ({"scenario": (lambda: ActuatorMass(base="x"))}, "a finite number"),  # type: ignore[arg-type]
        ({"scenario": (lambda: ActuatorMass(base=10**400))}, "a finite number"),
    ],
)
def test_impossible_statements_are_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        problem(**{name: _made(value) for name, value in changes.items()})


def _made(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(_made(one) for one in value)
    return value() if callable(value) else value


def test_what_is_no_problem_is_refused() -> None:
    with pytest.raises(ArgumentError, match="`load_study` reads one"):
        solve("problem.toml")  # type: ignore[arg-type]


def test_numbers_may_be_numpys() -> None:
    assert Variable("tail.length", np.int64(1), np.float32(2.0)).high == 2.0  # type: ignore[arg-type]


def test_a_screen_in_which_nothing_can_be_judged_says_so() -> None:
    """Such as lengths in millimetres: every design of the screen ends with a straight leg."""
    far = tuple(replace(v, low=200.0, high=800.0) if v.name == "tail.length" else v for v in VARIABLES)
    with pytest.raises(ArgumentError, match="bounds nearer to the robot as it is given"):
        best_design(Evaluator(problem(variables=far)))


def test_infinite_numbers_are_kept() -> None:
    kept = json_value({"a": float("inf"), "b": float("-inf"), "c": float("nan"), "d": 1.0, "e": "inf-like"})
    back = made(dict[str, float], kept)
    assert back["a"] == np.inf and back["b"] == -np.inf and np.isnan(back["c"]) and back["d"] == 1.0
    assert back["e"] == "inf-like"


def test_a_folder_forgets_another_problem_and_keeps_what_was_changed(tmp_path: Path) -> None:
    folder = tmp_path / "design"
    kept = open_kept(folder, "first")
    for name in ("robots/best.toml", "runs/best.nc"):
        (folder / name).write_text("ours")
    kept.note(folder / "robots/best.toml", folder / "runs/best.nc")
    (folder / "robots/best.toml").write_text("changed by hand")
    (folder / "notes.txt").write_text("not ours")
    open_kept(folder, "second")
    assert (folder / "problem.toml").read_text() == "second"
    assert not (folder / "runs/best.nc").exists()
    assert (folder / "robots/best.toml").read_text() == "changed by hand"
    assert (folder / "notes.txt").exists()


def test_a_problem_file_of_the_users_own_is_never_overwritten(tmp_path: Path) -> None:
    """Also where the answers were put beside it."""
    (tmp_path / "problem.toml").write_text("mine")
    open_kept(tmp_path, "mine")
    with pytest.raises(FileError, match="another file of that name"):
        open_kept(tmp_path, "another")
    assert (tmp_path / "problem.toml").read_text() == "mine"
    (tmp_path / "folder" / "problem.toml").mkdir(parents=True)
    with pytest.raises(FileError):
        open_kept(tmp_path / "folder", "mine")
    assert not AnswerFolder(tmp_path / "folder").is_ours(tmp_path / "folder" / "problem.toml")


def test_finer_steps_are_within_what_a_run_may_have() -> None:
    with pytest.raises(ArgumentError, match="an integer from 4"):
        problem(steps=1001)
    assert problem(steps=1000).steps * FINER <= 10_000
