"""Pictures and report of a design problem: what they show is what was found."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from small_designs import SECOND, hurried, small_answer, small_problem
from tailwork.design import Evaluator, pareto
from tailwork.design.files import problem_from_text
from tailwork.design.words import asked_measures, design_rows, measure_rows, verified_words
from tailwork.view import design_report, saving, style
from tailwork.view.design import parallel_coordinates, pareto_pairs, scatter_histograms, sobol_shares, tornado
from tailwork.view.design_report import figures, write_report


def bars(figure: Figure, name: str) -> list[Rectangle]:
    """The bars of a name."""
    return [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle) and patch.get_gid() == name]


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
    figure = sobol_shares(answer)
    totals = [bar.get_width() for bar in bars(figure, "with interactions")]
    firsts = [bar.get_width() for bar in bars(figure, "alone")]
    assert totals == sorted(totals) and min(firsts) >= 0.0
    np.testing.assert_array_equal(totals, np.sort(np.clip(answer.indices.total, 0.0, None)))


def test_histograms_of_scatter() -> None:
    """A panel a measure: all of the sample but its ends; limits that are near are lines; what is beyond is marked."""
    answer = small_answer()
    figure = scatter_histograms(answer)
    names = asked_measures(answer.study)
    assert [axes.get_xlabel().split(" [")[0].replace(" ", "_") for axes in figure.axes[: len(names)]] == names
    for axes, name in zip(figure.axes, names, strict=False):
        counted = sum(patch.get_height() for patch in axes.patches if isinstance(patch, Rectangle))
        assert counted == answer.tolerance.histograms[name][1].sum() >= 0.99 * answer.tolerance.count
    limit = [line for line in figure.axes[1].lines if line.get_gid() == "limit"]
    assert [float(np.asarray(line.get_xdata())[0]) for line in limit] == [4.0]
    assert "limit at -15" in figure.axes[2].get_title(loc="left")


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
    screen = answer.found.screen
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
    file = write_report(problem, [answer], tmp_path)
    html = file.read_text()
    titles = re.findall(r"<h2>(.*?)</h2>", html)
    assert titles == [
        "The best design", "What limits it", "Trade-off", "What moves it", "What scatter does", "How it was found",
        "Feet", "Verification", "Beside the literature", "The problem",
    ]  # fmt: skip
    assert "small &lt;problem&gt;" in html and design_report.LISTING not in html
    assert "peak_tail_torque = { most = 4.0 }\nroll = { least = -15.0, most = 12.0 }" in html
    assert not re.search(r"(?:src|href)=[\"'](?:https?:)?//", html)
    assert sorted(path.stem for path in (tmp_path / "figures").glob("*.svg")) == sorted(figures(answer))
    assert html.count("<img ") == len(figures(answer))
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
    assert [row[0] for row in design_rows(answer)] == [variable.name for variable in answer.study.variables]


def test_what_does_not_agree_is_said() -> None:
    """A measure that the single run has otherwise is named, and the answer is called not verified."""
    answer = small_answer()
    assert verified_words(answer).startswith("Verified")
    checked = answer.verified
    alone = {**checked.alone, "roll": checked.alone["roll"] * 1.01}
    other = type(checked)(checked.design, checked.run, checked.coarse, checked.fine, alone)
    wrong = type(answer)(**{**vars(answer), "verified": other})
    assert verified_words(wrong).startswith("NOT verified") and "in roll," in verified_words(wrong)
