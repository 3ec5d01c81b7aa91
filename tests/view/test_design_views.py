"""Pictures and report of a design problem: what they show is what was found."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from small_designs import SECOND, hurried, small_answer, small_problem
from tailwork.studies.design import Evaluator, pareto
from tailwork.studies.design.answer import Answer
from tailwork.studies.design.files import problem_from_text
from tailwork.studies.design.optimizer import MODEL_END
from tailwork.studies.design.tables import (
    design_rows,
    front_header,
    front_rows,
    indices_rows,
    measure_caption,
    measure_rows,
    optima_header,
    optima_rows,
)
from tailwork.studies.design.text import (
    airborne_words,
    best_name,
    edge_words,
    feet_words,
    front_words,
    headline,
    optima_words,
    price_words,
    problem_words,
    rounded,
    scenario_words,
    swing_words,
    tolerance_words,
    turn_words,
    verified_words,
    warnings,
)
from tailwork.view.draw import style
from tailwork.view.figures.design import (
    parallel_coordinates,
    pareto_pairs,
    scatter_histograms,
    sobol_chart,
    tail_motion,
    tornado,
)
from tailwork.view.report import design as design_report
from tailwork.view.report import page as saving
from tailwork.view.report.design import design_figures, listed_points, write_design_report


def bars(figure: Figure, name: str) -> list[Rectangle]:
    """The bars of a name."""
    return [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle) and patch.get_gid() == name]


def with_fine(answer: Answer, **measures: float) -> Answer:
    """The answer with other measures of its best design, which is verified all the same."""
    other = {**answer.verified.fine, **measures}
    return replace(answer, verified=replace(answer.verified, fine=other, alone=other))


def test_a_tornado_shows_each_swing() -> None:
    """A bar from the goal of the best design to that of each moved variable, the largest on top."""
    answer = small_answer()
    figure = tornado(answer, title="a title")
    best = answer.verified.coarse["turn"]
    for row, swing in enumerate(reversed(answer.swings)):
        drawn = bars(figure, swing.variable)
        ends = {float(bar.get_x() + bar.get_width()) for bar in drawn}
        wanted = {end for end in (swing.at_low, swing.at_high) if end != pytest.approx(best, rel=1e-9)}
        assert sorted(ends) == pytest.approx(sorted(wanted), rel=1e-12)
        assert all(bar.get_x() == best and row - 0.5 < bar.get_y() < row + 0.5 for bar in drawn)
    assert figure.axes[0].get_xlabel() == "turn [deg]"
    assert figure.axes[0].get_yticklabels()[-1].get_text().startswith(answer.swings[0].variable)


def test_sobol_indices_as_bars() -> None:
    """Total indices increase upwards; each alone lies within; none is negative."""
    answer = small_answer()
    figure = sobol_chart(answer)
    totals = [bar.get_width() for bar in bars(figure, "with interactions")]
    firsts = [bar.get_width() for bar in bars(figure, "alone")]
    assert totals == sorted(totals) and min(firsts) >= 0.0
    np.testing.assert_array_equal(totals, np.sort(np.clip(answer.indices.total, 0.0, None)))


def test_histograms_of_scatter() -> None:
    """A panel a measure: all of the sample but its ends; limits that are near are lines; what is beyond is marked."""
    answer = small_answer()
    figure = scatter_histograms(answer)
    names = answer.study.measures
    assert [axes.get_xlabel().split(" [")[0].replace(" ", "_") for axes in figure.axes[: len(names)]] == names
    for axes, name in zip(figure.axes, names, strict=False):
        counted = sum(patch.get_height() for patch in axes.patches if isinstance(patch, Rectangle))
        assert counted == answer.tolerance.histograms[name][1].sum() >= 0.99 * answer.tolerance.count
    limit = [line for line in figure.axes[1].lines if line.get_gid() == "limit"]
    assert [float(np.asarray(line.get_xdata())[0]) for line in limit] == [4.0]
    assert [text.get_text() for text in figure.axes[2].texts] == ["← limit −15"]


def test_the_motion_of_the_tail() -> None:
    """From rest to the sweep, as the problem has it and as the best design does; its numbers are in the caption."""
    answer = small_answer()
    figure = tail_motion(answer)
    design = answer.verified.design
    for line, name in zip(figure.axes[0].lines[1:], ("as given", "best design"), strict=True):
        angles = np.asarray(line.get_ydata())
        assert line.get_label() == name and angles[0] == 0.0 and angles[-1] == pytest.approx(40.0, rel=1e-12)
    for line in figure.axes[1].lines[1:]:
        assert np.asarray(line.get_ydata())[[0, -1]] == pytest.approx([0.0, 0.0], abs=1e-9)
    middle = np.asarray(figure.axes[0].lines[2].get_ydata())[60]  # 3 s² − 2 s³ + s² (1 − s)² early at s = 1/2
    assert middle == pytest.approx(40.0 * (0.5 + design.motion.early / 16.0), rel=1e-12)
    assert f"early {rounded(design.motion.early)}, skew 0" in design_figures(answer)["motion"][0]


def test_fronts_in_pairs_of_goals() -> None:
    """Each design in its place; those to be played have rings with their numbers."""
    answer = small_answer(SECOND)
    assert answer.front is not None
    figure = pareto_pairs(answer.study, answer.front)
    (points,) = (one for one in figure.axes[0].collections if isinstance(one, PathCollection))
    wanted = np.column_stack([answer.front.measures["peak_tail_torque"], answer.front.measures["turn"]])
    np.testing.assert_array_equal(np.asarray(points.get_offsets()), wanted)
    assert (np.diff(wanted, axis=0) > 0.0).all()  # more of the one is more of the other
    rings = [line for line in figure.axes[0].lines if line.get_gid() == "sample"]
    assert len(rings) == len(answer.front.samples)
    assert {text.get_text() for text in figure.axes[0].texts} == {str(k + 1) for k in answer.front.samples}


def test_the_front_ends_at_the_best_design() -> None:
    """The first goal's best is an end of the front; rates are prices: there, that of the torque."""
    alone, both = small_answer(), small_answer(SECOND)
    assert both.front is not None and both.front.agree == (True,) * len(both.front.designs)
    assert both.front.measures["turn"][-1] == pytest.approx(alone.best.goal, rel=1e-3)
    price = next(price for words, price in alone.active.items() if words.startswith("peak_tail_torque"))
    assert both.front.rates["peak_tail_torque"][-1] == pytest.approx(price, rel=0.02)
    rates = both.front.rates["peak_tail_torque"]
    assert (rates[np.isfinite(rates)] > 0.0).all() and both.front.excess < 0.01


def test_a_front_without_the_evolutionary_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the best of the screen, polished: nearly as far as the other one, at its own torques."""
    monkeypatch.setattr(pareto, "find_spec", lambda name: None)
    known = small_answer(SECOND)
    assert known.front is not None
    with hurried():
        found = pareto.front(Evaluator(known.study, 1))
    assert found.method == "screen" and found.polished > 0 and all(found.agree)
    torque, turn = known.front.measures["peak_tail_torque"], known.front.measures["turn"]
    inside = (found.measures["peak_tail_torque"] > torque[0]) & (found.measures["peak_tail_torque"] < torque[-1])
    between = np.interp(found.measures["peak_tail_torque"][inside], torque, turn)
    assert inside.any() and (found.measures["turn"][inside] > 0.95 * between).all()


def test_designs_as_lines() -> None:
    """A line a design over shares of all ranges, coloured by the first goal; the best one on top."""
    answer = small_answer()
    screen = answer.search.screen
    best = (answer.best.design, answer.verified.fine)
    within = np.flatnonzero(screen.violation <= 0.0)[:9]
    designs, some = screen.designs[within], {name: values[within] for name, values in screen.measures.items()}
    figure = parallel_coordinates(answer.study, designs, some, best=best)
    (lines,) = (one for one in figure.axes[0].collections if isinstance(one, LineCollection))
    low = np.array([variable.low for variable in answer.study.variables])
    high = np.array([variable.high for variable in answer.study.variables])
    order = np.argsort(some["turn"])
    for segment, k in zip(lines.get_segments(), order, strict=True):
        np.testing.assert_allclose(np.asarray(segment)[:3, 1], (designs[k] - low) / (high - low), rtol=1e-12)
    (top,) = (line for line in figure.axes[0].lines if line.get_gid() == "best")
    assert np.asarray(top.get_ydata())[-1] == 1.0


def test_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything on one page that asks the network for nothing, the problem as it was written, and the front as CSV."""
    monkeypatch.setattr(saving, "save", lambda figure, folder, name, kinds: style.save(figure, folder, name, ("svg",)))
    problem, answer = problem_from_text(small_problem(SECOND), "own.toml"), small_answer(SECOND)
    file = write_design_report(problem, [answer], tmp_path)
    html = file.read_text()
    titles = re.findall(r"<h2>(.*?)</h2>", html)
    assert titles == [
        "How it was done", "The design best in turn", "What limits it", "Trade-off", "What moves it",
        "What scatter does", "How it was found", "Feet", "Verification", "Beside the literature", "To run it again",
        "The problem",
    ]  # fmt: skip
    assert "<h1>Small &lt;problem&gt;</h1>" in html
    assert html.count('<pre class="listing"') == 2, "the code and the problem, with their lines as they are"
    assert f"load_run(&#x27;{tmp_path / 'runs' / 'best.nc'}&#x27;)" in html and "colour is the third" not in html
    assert "peak_tail_torque = { most = 4.0 }\nroll = { least = -15.0, most = 12.0 }" in html
    assert not re.search(r"(?:src|href)=[\"'](?:https?:)?//", html)
    assert sorted(path.stem for path in (tmp_path / "figures").glob("*.svg")) == sorted(design_figures(answer))
    assert html.count("<img ") == len(design_figures(answer))
    with open(tmp_path / "pareto.csv", encoding="utf-8") as text:
        head, *rows = csv.reader(text)
    assert answer.front is not None and len(rows) == len(answer.front.designs)
    assert head[:2] == ["point", "turn [deg]"] and head[-4:-1] == [
        "tail.length [m]",
        "tail.tip_mass [kg]",
        "motion.early",
    ]
    assert float(rows[-1][1]) == pytest.approx(float(answer.front.measures["turn"][-1]), rel=1e-8)


def test_tables_name_what_is_active() -> None:
    """Limits that hold the goal back are marked, with what the robot does as it is given beside them."""
    answer = small_answer()
    rows = {row[0]: row for row in measure_rows(answer)}
    assert rows["peak tail torque"][-1] == "active" and rows["peak tail torque"][3] == "≤ 4"
    assert rows["turn"][-1] == "goal: most" and all(row[4] != "—" for row in rows.values())
    assert rows["roll"][3] == "≥ −15, ≤ 12"
    *rows, mass, length = design_rows(answer)
    assert [row[0] for row in rows] == [variable.name for variable in answer.study.variables]
    tail = answer.robot.part("tail")
    assert mass[:2] == ["tail.total_mass", f"{tail.total_mass():.5g}"] and mass[-1] == "follows"
    assert length[:2] == ["tail.total_length", f"{tail.total_length():.5g}"]


def test_what_the_robot_breaks_as_it_is_given() -> None:
    """It is named, and marked in the table; nothing is where all limits hold."""
    answer = small_answer()
    assert answer.given is not None
    far = replace(answer, given=replace(answer.given, measures={**answer.given.measures, "roll": 13.25}))
    near = replace(answer, given=replace(answer.given, measures={**answer.given.measures, "roll": 12.0}))
    assert "which breaks" in headline(far) and "roll ≤ 12 deg: 13.2" in headline(far)
    assert "roll" not in headline(near)
    cells = {row[0]: row[4] for row in measure_rows(far)}
    assert cells["roll"] == "13.25 ×" and measure_caption(far) == "×: beyond a limit"
    assert "does not come to the end" in headline(replace(answer, given=None))


def test_of_two_kinds_of_torque_the_larger_is_marked() -> None:
    """A limit on all torques of a tail of joints and segments is of the larger ones: only that row has its marks."""
    torques = {"peak_tail_torque": 4.0, "peak_joint_torque": 0.4, "peak_segment_torque": 4.0}
    answer = with_fine(small_answer(), **torques)
    assert answer.given is not None
    given = {**answer.given.measures, **{name: 1.5 * value for name, value in torques.items()}}
    rows = {row[0]: row for row in measure_rows(replace(answer, given=replace(answer.given, measures=given)))}
    joint, segment = rows["peak joint torque"], rows["peak segment torque"]
    assert "peak tail torque" not in rows and joint[3] == segment[3] == "≤ 4"
    assert (joint[4], joint[-1]) == ("0.6", "") and (segment[4], segment[-1]) == ("6 ×", "active")


def test_feet_that_pull_are_pointed_out() -> None:
    """The model pins them; where they push, the friction that they need is said; in the air there are none."""
    answer = with_fine(small_answer(), least_normal_force=46.61, friction_needed=0.3067)
    assert feet_words(answer).startswith("All feet push, each by at least 46.6 N") and "0.307" in feet_words(answer)
    assert warnings(answer) == []
    pulled = with_fine(answer, least_normal_force=-3.2, friction_needed=math.inf)
    assert "pulls at the ground, by 3.2 N" in feet_words(pulled) and warnings(pulled) == [feet_words(pulled)]
    fine = {name: value for name, value in answer.verified.fine.items() if name != "least_normal_force"}
    assert feet_words(replace(answer, verified=replace(answer.verified, fine=fine))) == ""


def test_a_torso_that_swings_back_is_pointed_out() -> None:
    """Where the turn at the end is small against the peak before."""
    answer = small_answer()
    assert turn_words(answer) == ""
    for turn in (-1.5, 3.9):
        assert "did you mean peak_yaw?" in turn_words(with_fine(answer, turn=turn, peak_yaw=12.0))
    assert turn_words(with_fine(answer, turn=4.1, peak_yaw=12.0)) == ""


def test_searches_that_have_not_converged_are_named() -> None:
    """In the table of ends, and beside the answer where it is the best one."""
    answer = small_answer()
    assert answer.best.converged and "not converged" not in optima_words(answer)
    loose = replace(answer.best, residual=1.0, why="Iteration limit reached")
    ends = replace(answer.search, optima=(replace(answer.search.optima[0], solved=loose, times=4),))
    other = replace(answer, best=loose, search=ends)
    assert optima_rows(other)[0][-1] == "not converged: iteration limit reached"
    assert "1 end; it has not converged" in optima_words(other)
    assert any("has not converged: iteration limit reached" in text for text in warnings(other))
    assert "at the search's steps" in optima_header(answer.study)[2]


def test_prices_of_the_models_own_end() -> None:
    """In hundredths of leg extension, beside those of the limits."""
    answer = small_answer()
    best = replace(answer.best, multipliers={**answer.best.multipliers, MODEL_END.words: 83.5})
    (said,) = set(price_words(replace(answer, best=best))) - set(price_words(answer))
    assert said == ("0.835 deg more turn for each 0.01 of leg extension: the model ends at 0.98, legs all but straight")


def test_bounds_beyond_which_there_is_nothing() -> None:
    """A mass of nothing is no bound that could be moved; one of a gram is."""
    answer = small_answer()
    lightest = replace(answer.best, bound_multipliers={"tail.tip_mass": 2.0})
    for low, said in ((0.0, "at its lower bound, which is all there is"), (0.001, "2 deg more turn for each kg less")):
        variables = tuple(
            replace(one, low=low) if one.name == "tail.tip_mass" else one for one in answer.study.variables
        )
        design = np.where([one.name == "tail.tip_mass" for one in variables], low, answer.best.design)
        at_edge = replace(
            answer, study=replace(answer.study, variables=variables), best=replace(lightest, design=design)
        )
        assert said in edge_words(at_edge, "tail.tip_mass", "kg")


def test_what_scatter_does_in_words() -> None:
    """What cannot be judged, and that margins are to be had where many are beyond a limit."""
    answer = small_answer()
    assert "[robust]" in tolerance_words(answer) and "cannot be judged" not in tolerance_words(answer)
    few = {side: 0.01 for side in answer.tolerance.violated}
    other = replace(answer, tolerance=replace(answer.tolerance, judged=0.97, violated=few))
    assert "3 % of these designs cannot be judged: a leg" in tolerance_words(other)
    assert "[robust]" not in tolerance_words(other)


def test_problems_in_words() -> None:
    """What varies has its bounds; an impulse has its unit, and is no airborne sweep; a name is not said twice."""
    answer = small_answer()
    study = answer.study
    assert scenario_words(study).startswith(
        "the tail (pendulum of 0.8 kg and 0.48 m, unless varied) sweeps to the right by 40 deg, in 0.3 s; the legs: con"
    )
    free = problem_from_text(small_problem().replace("[goals]", '"motion.sweep" = [40.0, 60.0]\n[goals]'), "own.toml")
    assert "by 40 to 60 deg (free), in 0.3 s" in scenario_words(free.study)
    pushed = replace(study, scenario=replace(study.scenario, impulse=(0.0, -2.0, 0.0), impulse_point=(0.0, 0.0, 0.05)))
    assert "an impulse of (0, −2, 0) N s on the torso at (0, 0, 0.05) m" in scenario_words(pushed)
    assert "In the air" in airborne_words(answer) and airborne_words(replace(answer, study=pushed)) == ""
    assert "for tails of many links there is none in closed form" in airborne_words(replace(answer, airborne=None))
    assert problem_words(replace(study, name="Most turn")).startswith("most turn; the tail")
    assert problem_words(study).startswith("small <problem>: most turn; ")
    assert "limits are not kept" in swing_words(answer)


def test_tables_of_a_front() -> None:
    """Rates have units; goals that all but agree do not conflict; a long front is listed in part."""
    answer = small_answer(SECOND)
    assert answer.front is not None and best_name(answer.study) == "best in turn"
    assert front_header(answer.study) == [
        "point", "turn [deg]", "peak tail torque [N m]", "turn for peak tail torque [deg/(N m)]", "agrees",
    ]  # fmt: skip
    none = replace(answer.front, rates={name: 0.0 * rates for name, rates in answer.front.rates.items()})
    assert {row[3] for row in front_rows(answer.study, none)} == {"—"}
    assert "do not conflict" not in front_words(answer.study, answer.front)
    alike = {name: 1.0 + 1e-3 * values / np.abs(values).max() for name, values in answer.front.measures.items()}
    assert front_words(answer.study, replace(answer.front, measures=alike)).startswith("These goals do not conflict")
    points = listed_points(48, [0, 24, 47])
    assert {0, 24, 47} <= set(points) and points == sorted(points) and len(points) <= design_report.MOST_POINTS


def test_tables_of_indices() -> None:
    """The largest first; with interactions no less than alone, but for the sample's error."""
    rows = indices_rows(small_answer())
    totals = [float(row[2]) for row in rows]
    assert totals == sorted(totals, reverse=True)
    assert all(float(row[1].replace("−", "-")) <= total + 0.05 for row, total in zip(rows, totals, strict=True))


def test_what_does_not_agree_is_said() -> None:
    """A measure that the single run has otherwise is named, and the answer is called not verified."""
    answer = small_answer()
    assert verified_words(answer).startswith("Verified")
    checked = answer.verified
    alone = {**checked.alone, "roll": checked.alone["roll"] * 1.01}
    other = type(checked)(checked.design, checked.run, checked.coarse, checked.fine, alone)
    wrong = type(answer)(**{**vars(answer), "verified": other})
    assert verified_words(wrong).startswith("NOT verified") and "in roll," in verified_words(wrong)
