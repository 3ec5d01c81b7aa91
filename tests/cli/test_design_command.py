"""`tailwork design`: worked problems, answers that are kept and gone on with, what is said and what is refused."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import tailwork
from small_designs import SECOND, hurried, small_answer, small_problem
from tailwork.cli import main
from tailwork.cli.design import print_choices, print_front
from tailwork.cli.terminal import COMPILED, progress_bar
from tailwork.errors import ArgumentError, FileError
from tailwork.robots import biswal, liu2020
from tailwork.robots.io.toml import parsed
from tailwork.simulation.pose import run_torso_angles
from tailwork.studies.design import Evaluator
from tailwork.studies.design.answer import Answer, DesignOptions, answer_of, sorted_answers
from tailwork.studies.design.data import answer_data, answer_from
from tailwork.studies.design.example import EXAMPLE, example_for, with_robot_table
from tailwork.studies.design.files import load_problem, problem_from_text, robot_from
from tailwork.studies.design.folder import AnswerFolder, design_cases, open_kept
from tailwork.studies.design.text import price_words, repeat_code, robust_words
from tailwork.studies.design.uncertainty import Robust, scatter_sizes
from tailwork.studies.design.variables import checked_variables

PROBLEMS = sorted((Path(__file__).parents[2] / "problems").glob("*.toml"))
CHOICES = '[choices]\n"torso.mass" = [12.0, 20.0]'


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pictures, which take their time."""
    report = pytest.importorskip("tailwork.view.report.design")
    monkeypatch.setattr(report, "write_design_report", lambda problem, answers, folder, tell: folder / "report.html")


def written(folder: Path, text: str) -> str:
    """The path of a problem file."""
    file = folder / "own.toml"
    file.write_text(text)
    return str(file)


@pytest.mark.parametrize("file", PROBLEMS, ids=lambda file: file.stem)
def test_worked_problems_can_be_judged(file: Path) -> None:
    """All that they ask for exists, for the design in the middle of the bounds and others near it."""
    assert file.read_text().startswith("# ")
    study = load_problem(file).study
    evaluator = Evaluator(study)
    shares = 0.5 + 0.1 * np.random.default_rng(0).uniform(-1.0, 1.0, (4, len(study.variables)))
    designs = evaluator.low + (evaluator.high - evaluator.low) * shares
    found = evaluator.measures(designs, study.measures)
    assert all(np.isfinite(values).all() for values in found.values())
    assert all(np.ptp(found[goal.measure]) > 0.0 for goal in study.goals)


def test_five_problems_are_there() -> None:
    assert {"most-yaw", "least-mass", "pareto", "righting"} <= {file.stem for file in PROBLEMS}


def test_problem_a_from_its_file(tmp_path: Path, unseen: None, capsys: pytest.CaptureFixture[str]) -> None:
    """What is printed and kept of the best design; the second time nothing is done again."""
    file = next(file for file in PROBLEMS if file.stem == "most-yaw")
    command = ["design", str(file), "--out", str(tmp_path)]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "1.69 deg more turn for each N m of peak tail torque allowed" in said
    assert re.search(r"0\.27\d deg more turn for each deg of roll allowed", said)
    assert re.search(r"turn +20\.666 +deg +9\.936 +goal: most", said)
    assert re.search(r"roll +15 +deg +≥ −15, ≤ 15 +12\.61 +active", said)
    assert "Verified: finer steps and a single run by the adaptive method agree" in " ".join(said.split())
    prose = " ".join(said.split())
    assert "closed form, the same sweep turns the body by 7.679 deg; here 20.67 deg, 2.69 times that" in prose
    assert "All feet push" in said and "warning" not in said
    assert (tmp_path / "problem.toml").read_text() == file.read_text()
    robot = tailwork.load(tmp_path / "robots" / "best.toml")
    assert robot.part("tail").length == pytest.approx(0.3774, abs=1e-4)
    assert tailwork.load_run(tmp_path / "runs" / "best.nc").duration == pytest.approx(0.3, rel=1e-12)
    kept = tmp_path / "answers" / "best.json"
    assert json.loads(kept.read_text())["best"]["goal"] == pytest.approx(20.66597, abs=1e-4)
    before = kept.stat().st_mtime_ns
    assert main([*command, "--threads", "1"]) == 0
    again = capsys.readouterr().out
    assert "1 of 1 done before" in again and again[again.index("best design") :] == said[said.index("best design") :]
    assert kept.stat().st_mtime_ns == before
    (case,) = design_cases(load_problem(file).study, DesignOptions())
    found = AnswerFolder(tmp_path).read(case)
    assert isinstance(found, Answer)
    names: dict[str, Any] = {}
    exec(repeat_code(found, tmp_path / "runs" / "best.nc", tmp_path / "problem.toml"), names)
    turned = [np.degrees(run_torso_angles(names[run])["yaw"][-1]) for run in ("kept", "again")]
    np.testing.assert_allclose(turned, -20.66597, atol=1e-4)


def test_progress_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A line a stage, beside the output, and one for every tenth of steps that are alike; interrupted, what is kept is
    said."""
    told = io.StringIO()
    console = Console(file=told, width=80)
    with pytest.raises(KeyboardInterrupt), progress_bar(console, "all is kept", every=1) as tell:
        for what in ("screening", *(f"polishing {k} of 24" for k in range(1, 25)), "verifying"):
            tell(0, 2, what)
        tell(1, 2, "screening")
        raise KeyboardInterrupt
    assert capsys.readouterr().err.splitlines() == [
        "0 of 2: screening", "0 of 2: polishing 1 of 24", "0 of 2: polishing 10 of 24", "0 of 2: polishing 20 of 24",
        "0 of 2: verifying", "1 of 2: screening",
    ]  # fmt: skip
    assert [line for line in told.getvalue().splitlines() if line] == ["1 of 2 finished; all is kept"]


def test_that_a_new_kind_is_compiled_is_said_once() -> None:
    """Until the first thing is done."""
    told = io.StringIO()
    with progress_bar(Console(file=told, width=120, force_terminal=True), "") as tell:
        for done, what in enumerate(("first", "second")):
            tell(done, 2, what)
            time.sleep(0.15)  # it is drawn now and then
    assert f"first {COMPILED}" in told.getvalue() and "second" in told.getvalue()
    assert f"second {COMPILED}" not in told.getvalue()


def test_heads_of_tables_are_whole() -> None:
    """In a narrow terminal, too: they are wrapped between words, and no number is cut."""
    told = io.StringIO()
    answer = small_answer(SECOND)
    print_choices(Console(file=told, width=40), [replace(answer, choice={"tail.links_per_segment": 4})], [])
    print_front(Console(file=told, width=30), answer)
    shown = told.getvalue()
    assert "…" not in shown
    assert all(word in shown.split() for word in ("torque", "[deg]", "[deg/(N", "roll", "agrees", "choice"))


def test_the_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It states a problem, and nothing is written over."""
    file = tmp_path / "mine.toml"
    assert main(["design", "--example", str(file)]) == 0
    assert file.read_text() == EXAMPLE and load_problem(file).study.name == "most turn"
    more = r"^# (?=\[actuator|\[robust|base|per_|spread|chance|impulse|k[pd] )"
    uncommented = problem_from_text(re.sub(more, "", EXAMPLE, flags=re.MULTILINE), file)
    assert uncommented.robust == Robust(spread=0.02, chance=0.95)
    scenario = uncommented.study.scenario
    assert scenario.impulse == (0.0, 5.0, 0.0) and scenario.impulse_point == (0.0, 0.0, 0.05)
    assert (scenario.kp, scenario.kd) == liu2020("usrt").part("tail").tracking_gains()["bend"]
    file.write_text("mine")
    assert main(["design", "--example", str(file)]) == 2
    assert "is there already" in capsys.readouterr().err and file.read_text() == "mine"


def test_the_example_for_another_robot(tmp_path: Path) -> None:
    """Bounds and limits go with its size and weight; of the 2020 robot they are those of the example. All of it can be
    judged: nothing is out of the variables' ranges."""
    biswal().save(tmp_path / "small.toml")
    for tail in ("pendulum", "r3"):
        file = tmp_path / f"{tail}.toml"
        assert main(["design", "--example", str(file), "--robot", str(tmp_path / "small.toml"), "--tail", tail]) == 0
        study = load_problem(file).study
        assert study.robot == biswal().with_tail(tail)
        bounds = {variable.name: (variable.low, variable.high) for variable in checked_variables(study)}
        assert bounds["tail.total_mass"] == pytest.approx((0.2 / 6.0, 0.2), abs=1e-3)
        assert bounds["tail.mount.x"] == pytest.approx((-0.18 - 0.05 * 0.72, -0.18 + 0.1 * 0.72), abs=1e-3)
        assert ("tail.tip_share" in bounds) == (tail == "pendulum")
        limits = {limit.measure: limit for limit in study.limits}
        assert limits["peak_tail_torque"].most == pytest.approx(6.0 / 6.0 * 0.72, abs=0.01)
    table = {"preset": "liu2020", "tail": "pendulum"}
    own, usual = (parsed("x", text) for text in (example_for(liu2020(), table), EXAMPLE))
    assert own["limits"] == usual["limits"] and own["robot"] == usual["robot"]


def test_another_robot_in_the_place_of_a_problems(tmp_path: Path) -> None:
    """Only the table [robot] changes; sizes are those of the options, files are found from the problem's folder."""
    biswal().save(tmp_path / "small.toml")
    text = small_problem()
    table = {"file": "small.toml", "tail": "r3", "tail_mass": 0.3, "tail_length": 0.5}
    changed = with_robot_table(text, table, "problem.toml")
    assert parsed("x", changed) == {**parsed("x", text), "robot": table}
    robot = robot_from(table, tmp_path)
    tail = robot.part("tail")
    assert (tail.kind, float(tail.total_mass()), float(tail.total_length())) == ("r3", *map(pytest.approx, (0.3, 0.5)))
    longer = text.replace("change = {", "unused = {").replace(
        "[variables]", '[robot.change]\n"torso.mass" = 13.0\n\n[variables]'
    )
    assert parsed("x", with_robot_table(longer, table, "x"))["robot"] == table
    with pytest.raises(ArgumentError, match=r"a table \[robot\] in the file"):
        with_robot_table('name = "x"\nrobot = { preset = "liu2020" }\n', table, "x")
    for wrong, said in (({"tail_mass": "heavy"}, "robot.tail_mass: got 'heavy'"), ({"tail": "r4"}, "robot.tail"),
                        ({"as_published": True}, "they are other numbers")):  # fmt: skip
        with pytest.raises(ArgumentError, match=said):
            robot_from({**table, **wrong}, tmp_path)


def test_answers_are_read_back_as_they_were() -> None:
    """Every number of an answer with a front, to the last bit."""
    answer = small_answer(SECOND)
    data, runs = answer_data(answer)
    again = answer_from(json.loads(json.dumps(data, allow_nan=False)), answer.study, runs)
    assert answer_data(again)[0] == data
    assert again.front is not None and answer.front is not None
    np.testing.assert_array_equal(again.front.designs, answer.front.designs)
    assert again.verified.design == answer.verified.design and again.active == answer.active
    assert list(runs) == ["best", "given", *(f"point-{k + 1:02d}" for k in answer.front.samples)]


def test_a_front_goes_on_where_it_was(tmp_path: Path) -> None:
    """Points that were polished before an interruption are not polished again; the front is the same."""
    problem = problem_from_text(small_problem(SECOND), "own.toml")
    (case,) = design_cases(problem.study, DesignOptions(threads=1))
    kept = open_kept(tmp_path, problem.text)
    polished: list[str] = []

    def tell(what: str) -> None:
        polished.extend(re.findall(r"polishing \d+ of \d+", what))
        if len(polished) == 4:
            raise KeyboardInterrupt

    with hurried(), pytest.raises(KeyboardInterrupt):
        kept.do(case, tell)
    assert kept.read(case) is None
    assert {file.name for file in (tmp_path / "answers").iterdir()} == {"best.partial.json", "files.json"}
    with hurried():
        kept.do(case, lambda what: polished.extend(re.findall(r"polishing \d+ of \d+", what)))
    count = len(polished) - 1
    assert polished[4:] == [f"polishing {k} of {count}" for k in range(4, count + 1)]
    assert {file.name for file in (tmp_path / "answers").iterdir()} == {"best.json", "files.json"}
    found = kept.read(case)
    assert isinstance(found, Answer) and answer_data(found)[0] == answer_data(small_answer(SECOND))[0]


def test_a_kill(tmp_path: Path, unseen: None, capsys: pytest.CaptureFixture[str]) -> None:
    """SIGKILL after the first of two choices: the other one is done, that one is not touched again."""
    file, out = written(tmp_path, small_problem(more=CHOICES)), tmp_path / "out"
    command = ["design", file, "--out", str(out)]
    script = str(Path(__file__).parents[1] / "small_designs.py")
    process = subprocess.Popen([sys.executable, script, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = out / "answers" / "01-mass-12-0.json"
    try:
        deadline = time.monotonic() + 120.0
        while not first.exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30.0)
    finally:
        process.kill()
    assert process.returncode == -signal.SIGKILL
    before = os.stat(first).st_mtime_ns
    assert main(command) == 0
    said = capsys.readouterr().out
    assert re.search(r"[12] of 2 done before", said) and os.stat(first).st_mtime_ns == before
    heads = [line.split()[3] for line in said.splitlines() if line.startswith("torso.mass = ")]
    assert heads == sorted(heads, key=lambda x: -float(x)) and len(heads) == 2


def test_what_is_damaged_or_of_another_problem_is_done_again(tmp_path: Path) -> None:
    """Cut off, of other limits, of another version, without its run."""
    problem = problem_from_text(small_problem(), "own.toml")
    (case,) = design_cases(problem.study, DesignOptions(threads=1))
    kept = open_kept(tmp_path, problem.text)
    kept.do(case, lambda what: None)
    found = kept.read(case)
    assert isinstance(found, Answer)
    whole = (kept.path / case.answer_file).read_text()
    (other,) = design_cases(
        problem_from_text(small_problem(limits="friction_needed = { most = 0.5 }"), "o").study, DesignOptions()
    )
    assert kept.read(other) is None
    assert kept.read(replace(case, settings=DesignOptions(starts=5))) is None
    assert isinstance(kept.read(replace(case, settings=DesignOptions(threads=2))), Answer)
    for text in (whole[:-30], whole.replace(case.digest, "0" * 64), whole.replace('"tolerance"', '"x"'), "[]"):
        (kept.path / case.answer_file).write_text(text)
        assert kept.read(case) is None
    (kept.path / case.answer_file).write_text(whole)
    kept.run_file(case, "best").write_bytes(b"CDF")
    assert kept.read(case) is None


def test_folders_that_are_not_ours(tmp_path: Path) -> None:
    """A problem file of somebody else is not written over; ours, and what came of it, goes with the next problem."""
    (tmp_path / "problem.toml").write_text("mine")
    with pytest.raises(FileError, match="another file of that name"):
        open_kept(tmp_path, "text")
    assert (tmp_path / "problem.toml").read_text() == "mine"
    assert open_kept(tmp_path, "mine") == AnswerFolder(tmp_path)
    ours = tmp_path / "ours"
    kept = open_kept(ours, "one")
    for name in ("report.html", "notes.html"):
        (ours / name).write_text("text")
    kept.note(ours / "report.html")
    assert open_kept(ours, "one") == open_kept(ours, "other") and (ours / "problem.toml").read_text() == "other"
    assert (ours / "notes.html").exists() and not (ours / "report.html").exists()


def test_impossible_problems(tmp_path: Path, unseen: None, capsys: pytest.CaptureFixture[str]) -> None:
    """2; which limits conflict and the design that comes nearest; the same when it is asked again."""
    file = written(tmp_path, small_problem(limits="turn = { least = 15.0 }\nfriction_needed = { most = 0.9 }"))
    command = ["design", file, "--out", str(tmp_path / "out")]
    assert main(command) == 2
    said = capsys.readouterr()
    assert "turn ≥ 15 deg" in said.err and "cannot hold together" in said.err and "friction_needed" not in said.err
    assert "The least violated design has" in said.err and "tail.length = " in said.err
    assert main(command) == 2
    again = capsys.readouterr()
    assert said.err.endswith(again.err) and "1 of 1 done before" in again.out


def test_a_variable_that_does_nothing() -> None:
    """Named; also where there are several goals."""
    for goals in ("", SECOND):
        text = small_problem(goals).replace("[goals]", '"legs.hips.1.x" = [0.1, 0.2]\n[goals]')
        text = text.replace('turn = "most"', 'tail_mass = "least"').replace('"motion.early" = [-3.0, 3.0]', "")
        text = re.sub(r"(?s)\[limits\].*", "", text).replace(SECOND, 'tail_length = "most"')
        study = problem_from_text(text, "own.toml").study
        with pytest.raises(ArgumentError, match=r"variables\.\S+: .*none of tail_mass.* depends on it; leave it out"):
            answer_of(study, {})


def test_limits_that_hold_for_what_is_made() -> None:
    """A sample finds about half beyond a limit without margins; with margins for 95 %, one in twenty.

    Roll at the end is one number. The torque is as large at two moments, of which that which scatters more is beyond by
    one in twenty: both together by at least as many, and at most twice as many. (The slope of the peak itself is
    between those of the two moments: margins by it let the first be beyond in 7 %.)
    """
    problem = problem_from_text(small_problem(more="[robust]\nspread = 0.01\nchance = 0.95"), "own.toml")
    safe = answer_of(problem.study, {}, settings=DesignOptions(1, robust=problem.robust))
    bold = small_answer()
    torque, roll = "peak_tail_torque ≤ 4 N m", "roll ≤ 12 deg"
    assert set(safe.active) == set(bold.active) == {torque, roll}
    assert safe.margins is not None and safe.unguarded is not None and bold.margins is None
    assert safe.unguarded.goal == bold.best.goal > safe.best.goal
    assert bold.tolerance.violated[roll] == pytest.approx(0.5, abs=0.02)
    assert safe.tolerance.violated[roll] == pytest.approx(0.05, abs=0.003)
    assert 0.05 < safe.tolerance.violated[torque] < 0.1
    own, design = Evaluator(problem.study), np.array(list(safe.values.values()))
    made = design + 0.01 * scatter_sizes(own, design) * np.random.default_rng(0).normal(size=(2**15, len(design)))
    moments = own.rows("peak_tail_torque", own.roll(made), own.durations(made)) > 4.0
    assert moments.mean(axis=0).max() == pytest.approx(0.05, abs=0.004)
    assert safe.verified.fine["roll"] + safe.margins[roll] == pytest.approx(12.0, abs=1e-3)
    assert safe.verified.fine["peak_tail_torque"] + safe.margins[torque] == pytest.approx(4.0, abs=1e-3)
    assert "That is more than asked for" not in robust_words(safe) and robust_words(bold) == ""
    more = {**safe.tolerance.violated, torque: 0.073}
    assert "That is more than asked for" in robust_words(
        replace(safe, tolerance=replace(safe.tolerance, violated=more))
    )


def test_prices_say_what_a_looser_limit_gives() -> None:
    """In the units of goal and limit, the dearest first."""
    answer = small_answer()
    prices = price_words(answer)
    assert prices and all(re.fullmatch(r"[\d.]+ deg more turn for each .+ allowed", price) for price in prices)
    worse = replace(answer, best=replace(answer.best, goal=answer.best.goal - 1.0))
    assert sorted_answers([worse, answer]) == [answer, worse]


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("", [], "required: a table [robot]"),
        (small_problem(more="[robust]\nchance = 1.0"), [], "a chance from 0.5 to less than 1"),
        (small_problem(more="[robust]\nspred = 1.0"), [], "did you mean 'spread'"),
        (small_problem(SECOND, more="[robust]"), [], "one goal: fronts are found without margins"),
        (small_problem(more="[robust]"), ["--spread", "0.1"], "none beside [robust]"),
        (small_problem(), ["--spread", "2"], "--spread: got 2.0; required: a share"),
        (small_problem(), ["--starts", "0"], "starts: got 0"),
        (small_problem(), ["--threads", "0"], "threads: got 0"),
        (small_problem(), ["--threads", "1", "--cluster", "tcp://here:1"], "none with --cluster"),
        (small_problem(), ["--example"], "no problem file beside it"),
        (small_problem("jaw = 'most'"), [], "did you mean 'yaw'"),
        (small_problem(more='[choices]\n"tail.lenght" = [1.0]'), [], "a path in the robot"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_wrong_commands(
    text: str, options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """2, one line on stderr, nothing on stdout, nothing left behind."""
    monkeypatch.chdir(tmp_path)
    assert main(["design", written(tmp_path, text), *options]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("error: ") and shown.err.count("\n") == 1 and said in shown.err
    assert [file.name for file in tmp_path.iterdir()] == ["own.toml"]


def test_bounds_of_a_sweep_in_radians_get_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is done."""

    def never(*given: Any, **more: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(AnswerFolder, "do", never)
    (tmp_path / "problem.toml").write_text(EXAMPLE.replace("from = 40.0, to = 60.0", "from = 0.7, to = 1.05"))
    assert main(["design", str(tmp_path / "problem.toml"), "--out", str(tmp_path / "out")]) == 130
    said = "the upper bound of motion.sweep is 1.05°; angles are in degrees here: 1.05 rad are 60.2°"
    assert said in capsys.readouterr().err


def test_no_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["design"]) == 2
    assert "a problem file, or --example to write one" in capsys.readouterr().err


def test_choices_here_and_on_a_cluster(tmp_path: Path, unseen: None, capsys: pytest.CaptureFixture[str]) -> None:
    """One choice is impossible, which is said; the other is answered. On a cluster, the same to the last bit."""
    text = small_problem(limits="turn = { least = 9.0 }", more='[choices]\n"torso.mass" = [12.0, 60.0]')
    file = written(tmp_path, text)
    assert main(["design", file, "--out", str(tmp_path / "here")]) == 0
    said = capsys.readouterr().out
    assert re.search(r"torso\.mass = 60\.0: limits: no design was found", said)
    assert "best design with torso.mass = 12.0" in said
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, protocol="tcp", dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        assert main(["design", file, "--out", str(tmp_path / "there"), "--cluster", address]) == 0
    for case in design_cases(load_problem(file).study, DesignOptions()):
        here, there = ((tmp_path / name / case.answer_file).read_bytes() for name in ("here", "there"))
        assert here == there
