"""The comparative study: what is kept, what is made again, and what is left when something goes wrong."""

from __future__ import annotations

import csv
import errno
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tailwork.errors import ArgumentError, FileError
from tailwork.robots import liu2018, liu2020
from tailwork.simulation import Run, load_run
from tailwork.studies.compare import comparison as module
from tailwork.studies.compare.comparison import (
    Case,
    Comparison,
    Plan,
    compare,
    comparison_cases,
    paper_plan,
    sweep_rotations,
)
from tailwork.studies.measures import shown_measures, unit_of
from tailwork.studies.motions import coupled, pitch, roll, yaw
from tailwork.studies.perform import perform
from tailwork.studies.scenario import Scenario

UNITS = {name: unit_of(name) for name in shown_measures()}
PLAN = Plan(
    {tail: liu2020(tail) for tail in ("pendulum", "r3")}, (yaw(20),), {"yaw": (yaw(10), yaw(20))}, "paper"
)  # fmt: skip
RUNS = sorted(
    f"{motion}-{tail}-{policy}"
    for motion in ("yaw10", "yaw20") for tail in ("pendulum", "r3") for policy in ("paper", "airborne")
)  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def never(*given: Any, **more: Any) -> Run:
    """In the place of what must not be called."""
    raise AssertionError(f"simulated: {given}")


def kept(folder: Path) -> list[str]:
    """All files below a folder, eight digits of the digest in the name of a run taken off."""
    found = sorted(re.sub(r"-[0-9a-f]{8}\.nc$", ".nc", name) for name in contents(folder))
    assert all(re.search(r"-[0-9a-f]{8}\.nc$", name) for name in contents(folder) if name.endswith(".nc"))
    return found


def case_named(name: str) -> Case:
    """A case of the small study."""
    return next(case for found in comparison_cases(PLAN) for case in found if case.name.startswith(f"{name}-"))


class Counted:
    """Simulates, and remembers what; before a run it may do something else."""

    def __init__(self, before: Callable[[int], None] = lambda count: None) -> None:
        self.done: list[str] = []
        self.before = before

    def __call__(self, scenario: Scenario, **more: Any) -> Run:
        self.before(len(self.done) + 1)
        self.done.append(f"{scenario.motion.name}-{scenario.robot.name.split('-')[1]}-{scenario.policy}")
        return perform(scenario, **more)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, Path]:
    """The small study, finished; nobody changes it."""
    folder = tmp_path_factory.mktemp("study") / "deep" / "inside"
    return compare(PLAN, folder), folder


@pytest.fixture
def copied(study: tuple[Comparison, Path], tmp_path: Path) -> Path:
    """A copy of its folder, to be changed."""
    for name, content in contents(study[1]).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


# What a study leaves


def test_runs_are_kept(study: tuple[Comparison, Path]) -> None:
    """A file a run, airborne ones too, and nothing besides; each is the run of its result."""
    comparison, folder = study
    assert kept(folder) == ["measures.csv", *(f"runs/{name}.nc" for name in RUNS)]
    assert [r.case.tail for r in comparison.results] == ["pendulum", "r3"]
    assert [r.case.name[:-9] for r in comparison.swept] == ["yaw10-pendulum-paper", "yaw10-r3-paper"]  # yaw20 is above
    for result in (*comparison.results, *comparison.swept):
        assert result.case.name[-8:] == result.case.digest[:8]
        run = load_run(folder / "runs" / f"{result.case.name}.nc")
        assert run.data.attrs["case"] == result.case.digest
        np.testing.assert_array_equal(run.data["q"].to_numpy(), result.run.data["q"].to_numpy())
        (file,) = (folder / "runs").glob(f"{result.case.name[:-9].removesuffix('paper')}airborne-*.nc")
        aloft = load_run(file)
        turned = np.degrees(aloft.data["q"].to_numpy()[-1, 3:6] - aloft.data["q"].to_numpy()[0, 3:6])
        np.testing.assert_allclose(result.airborne, turned, rtol=0, atol=1e-12)


def test_the_table_of_measures(study: tuple[Comparison, Path]) -> None:
    """A line a case; every measure with its unit, nothing where there is none, numbers to nine digits."""
    comparison, folder = study
    rows = list(csv.DictReader((folder / "measures.csv").read_text().splitlines()))
    named = [f"{name} [{unit}]" for name, unit in UNITS.items()]
    airborne = [f"airborne {axis} [deg]" for axis in ("pitch", "roll", "yaw")]
    assert list(rows[0]) == ["motion", "tail", "policy", *named, *airborne, "airborne closed form [deg]", "note"]
    assert {"yaw [deg]", "peak_tail_torque [N m]", "cost [J/deg]", "friction_needed [1]"} < set(named)
    assert [(r["motion"], r["tail"], r["policy"]) for r in rows] == [
        (m, t, "paper") for m in ("yaw20", "yaw10") for t in ("pendulum", "r3")
    ]
    for line, result in zip(rows, (*comparison.results, *comparison.swept), strict=True):
        for name, unit in UNITS.items():
            value, said = result.measures[name], line[f"{name} [{unit}]"]
            assert said == "" if np.isnan(value) else float(said) == pytest.approx(value, rel=1e-8)
        assert (line["airborne closed form [deg]"] != "") == (line["tail"] == "pendulum")


def test_sweeps_take_runs_of_motions(study: tuple[Comparison, Path]) -> None:
    """A bend that is among the motions is not made twice."""
    comparison, _ = study
    for tail, net, aloft, ended in sweep_rotations(comparison, "yaw"):
        found = [comparison.of(yaw(angle))[tail] for angle in (10, 20)]
        assert net == [r.measures["yaw"] for r in found] and aloft == [r.airborne[2] for r in found]
        assert ended == [False, False]
        assert 0 > net[0] > net[1]


def test_a_run_that_ends_early(tmp_path: Path) -> None:
    """What the same motion does in the air is then that until the same time; there is no closed form for it."""
    plan = Plan({"pendulum": PLAN.robots["pendulum"]}, (roll(80), yaw(40, 0.6)), {}, "paper")
    rows = compare(plan, tmp_path).results, csv.DictReader((tmp_path / "measures.csv").read_text().splitlines())
    for result, line in zip(*rows, strict=True):
        assert result.run.stopped is not None
        end = result.run.stopped.time
        assert end < 0.95 * result.case.scenario.motion.duration
        aloft = perform(replace(result.case.scenario, policy="airborne")).trajectory
        assert aloft is not None
        first, last, whole = np.degrees(aloft.full(np.array([0.0, end, aloft.times[-1]]))[0][:, 3:6])
        np.testing.assert_allclose(result.airborne, last - first, rtol=0, atol=1e-5)
        assert np.abs(whole - last).max() > 0.1
        assert np.isnan(result.closed_form) and line["airborne closed form [deg]"] == ""
        assert result.note == line["note"]
        assert result.note.startswith(f"ends at {end:.3f} s: {result.run.stopped.reason}")


# What is made again


def test_a_second_call_simulates_nothing(
    study: tuple[Comparison, Path], copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And leaves the same files and the same numbers."""
    before = contents(copied)
    monkeypatch.setattr(module, "perform", never)
    again = compare(PLAN, copied)
    assert contents(copied) == before
    for old, new in zip(study[0].results, again.results, strict=True):
        np.testing.assert_equal(new.measures, old.measures)
        np.testing.assert_array_equal(new.airborne, old.airborne)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda robots: Plan(robots, PLAN.motions, PLAN.sweeps, "constant"), [r for r in RUNS if "paper" in r]),
        (
            lambda robots: Plan(
                robots | {"r3": robots["r3"].replace({"tail.link_mass": 0.08})}, PLAN.motions, PLAN.sweeps, "paper"
            ),
            [r for r in RUNS if "r3" in r],
        ),
        (lambda robots: Plan(robots, (yaw(30),), PLAN.sweeps, "paper"), ["yaw20-pendulum-paper", "yaw20-r3-paper"]),
        (lambda robots: Plan(robots, (yaw(20),), {}, "paper"), []),
        (lambda robots: Plan(robots, (yaw(20),), {}, "airborne"), ["yaw20-pendulum-airborne", "yaw20-r3-airborne"]),
        (lambda robots: Plan(robots, (replace(yaw(20), angle="chain"),), {}, "paper"), ["all of yaw20"]),
    ],
    ids=["policy", "a robot's number", "motion", "fewer", "airborne", "angle"],
)
def test_only_what_changed_is_made_again(
    change: Callable[[dict[str, Any]], Plan], wanted: list[str], copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs of another policy, robot, motion, angle or number of samples; all others are taken from the folder."""
    counted = Counted()
    monkeypatch.setattr(module, "perform", counted)
    plan = change(dict(PLAN.robots))
    compare(plan, copied)
    names = [name.replace("paper", plan.policy if "paper" in name else "paper") for name in wanted]
    if wanted == ["all of yaw20"]:
        names = [f"yaw20-{tail}-{policy}" for tail in PLAN.robots for policy in ("paper", "airborne")]
    if plan.motions == (yaw(30),):  # yaw20 is now of the sweep alone, with fewer samples
        names += [f"yaw30-{tail}-{policy}" for tail in PLAN.robots for policy in ("paper", "airborne")]
    assert sorted(counted.done) == sorted(names)
    monkeypatch.setattr(module, "perform", never)
    compare(plan, copied)


def test_another_version_makes_runs_again(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run follows from the package, too: with other sources, all are made again, and the old ones are kept."""
    before, names = contents(copied), {case.name for found in comparison_cases(PLAN) for case in found}
    counted = Counted()
    monkeypatch.setattr(module, "perform", counted)
    monkeypatch.setattr(module, "source_digest", lambda: "of another version")
    assert names.isdisjoint(case.name for found in comparison_cases(PLAN) for case in found)
    compare(PLAN, copied)
    assert sorted(counted.done) == RUNS
    after = contents(copied)
    assert len(after) == len(before) + len(RUNS)
    assert all(after[name] == content for name, content in before.items() if name != "measures.csv")


def test_motions_of_another_duration_do_not_clash(tmp_path: Path) -> None:
    """The same bend, faster: files of its own and lines of its own."""
    robots = {"pendulum": PLAN.robots["pendulum"]}
    comparison = compare(Plan(robots, (yaw(20), yaw(20, 0.2)), {}, "paper"), tmp_path)
    named = [f"runs/{m}-pendulum-{p}.nc" for m in ("yaw20", "yaw20in0.2s") for p in ("airborne", "paper")]
    assert kept(tmp_path) == sorted(["measures.csv", *named])
    assert [r.measures["duration"] for r in comparison.results] == pytest.approx([0.3, 0.2], abs=1e-15)


@pytest.mark.parametrize("damage", [lambda b: b[:-5000], lambda b: b"", lambda b: b[:200], lambda b: b"x" * len(b)])
def test_damaged_runs_are_made_again(
    damage: Callable[[bytes], bytes], copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only those; what stands there afterwards is whole."""
    file, whole = copied / "runs" / f"{case_named('yaw10-r3-paper').name}.nc", contents(copied)
    file.write_bytes(damage(file.read_bytes()))
    counted = Counted()
    monkeypatch.setattr(module, "perform", counted)
    compare(PLAN, copied)
    assert counted.done == ["yaw10-r3-paper"]
    assert contents(copied) == whole


# What goes wrong


def test_an_interrupted_study_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finished runs are kept, and only the others are made when it is called again."""

    def third(count: int) -> None:
        if count == 3:
            raise KeyboardInterrupt

    first = Counted(third)
    monkeypatch.setattr(module, "perform", first)
    told: list[tuple[int, int, str]] = []
    with pytest.raises(KeyboardInterrupt):
        compare(PLAN, tmp_path, lambda *what: told.append(what))
    assert told == [(0, 4, "yaw20, pendulum"), (1, 4, "yaw20, r3")]
    assert kept(tmp_path) == [f"runs/{name}.nc" for name in sorted(first.done)]
    assert first.done == ["yaw20-pendulum-paper", "yaw20-pendulum-airborne"]
    second = Counted()
    monkeypatch.setattr(module, "perform", second)
    compare(PLAN, tmp_path, lambda *what: told.append(what))
    assert told[2:] == [(0, 4, "yaw20, pendulum"), (1, 4, "yaw20, r3"), (2, 4, "yaw10, pendulum"),
                        (3, 4, "yaw10, r3"), (4, 4, "")]  # fmt: skip
    assert sorted(first.done + second.done) == RUNS


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, what was done is kept, no half of a file is left; with room again, the study goes on."""
    sync, room = os.fsync, [5]

    def full(file: int) -> None:
        room[0] -= 1
        if room[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(file)

    monkeypatch.setattr(os, "fsync", full)  # two probes of the folders, three runs and a probe before each, a probe
    first = Counted()
    monkeypatch.setattr(module, "perform", first)
    with pytest.raises(FileError, match=r"yaw20-r3-airborne-[0-9a-f]{8}\.nc: No space left on device"):
        compare(PLAN, tmp_path)
    assert kept(tmp_path) == [f"runs/{name}.nc" for name in sorted(first.done[:3])]
    monkeypatch.setattr(os, "fsync", sync)
    second = Counted()
    monkeypatch.setattr(module, "perform", second)
    compare(PLAN, tmp_path)
    assert len(second.done) == 5
    assert kept(tmp_path) == ["measures.csv", *(f"runs/{name}.nc" for name in RUNS)]


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in its place, above it or in the place of its runs, or no permission: said before any simulation."""
    monkeypatch.setattr(module, "perform", never)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "runs").write_text("mine")
    (tmp_path / "closed").mkdir(mode=0o500)
    wrong = ["file", "file/below", "half", "no\0where"] + (["closed", "closed/below"] if os.getuid() else [])
    for name in wrong:
        with pytest.raises(FileError, match=re.escape(name.split("\0")[0])):
            compare(PLAN, tmp_path / name)
    assert (tmp_path / "file").read_text() == (tmp_path / "half" / "runs").read_text() == "mine"


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Plan(PLAN.robots, PLAN.motions, {}, "papers"), "^policy: got 'papers'; required: a known policy"),
        (Plan({}, PLAN.motions, {}), "at least one tail and one motion"),
        (Plan(PLAN.robots, (), {}), "at least one tail and one motion"),
        (Plan(PLAN.robots, (yaw(20), yaw(20)), {}), "motions that differ"),
        (Plan(PLAN.robots, (yaw(20), yaw(95)), {}), "yaw95 of the r3 tail: got '95°'"),
        (Plan(PLAN.robots, (pitch(100),), {}), "pitch100 of the r3 tail: got '100°'"),
        (
            Plan(PLAN.robots, (), {"roll": (roll(90, 90),)}),
            "roll90by90 of the pendulum tail: .*less than 90° to the side",
        ),
        (Plan({"r3": PLAN.robots["r3"]}, (), {"roll": (roll(120),)}), "roll120 of the r3 tail: got '120°'"),
        (Plan(PLAN.robots, (coupled(20.0, -20.0, 0.0, 0.0),), {}), "of the r3 tail: .*straight tail"),
        (Plan({"own": liu2018()}, (yaw(20),), {}, "paper"), "yaw20 of the own tail: got 'paper'; .*Eq. 85 do not bal"),
        (Plan({"own": PLAN.robots["r3"].without("legs")}, (), {"yaw": (yaw(20),)}), "got 'constant'; required: 'airb"),
        (Plan({"a/b": PLAN.robots["r3"]}, (yaw(20),), {}), "tails: got 'a/b'; required: a label"),
        (Plan({"none": liu2020(None)}, (yaw(20),), {}), r"one tail \(this one has 0\)"),
    ],
)
def test_impossible_plans(plan: Plan, said: str, tmp_path: Path) -> None:
    """They are refused before anything is made, even a folder."""
    with pytest.raises(ArgumentError, match=said):
        compare(plan, tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_the_plan_of_the_paper() -> None:
    """Three tails, six motions, two sweeps of eight bends; two of each sweep are among the motions."""
    chosen, swept = comparison_cases(paper_plan())
    assert (len(chosen), len(swept)) == (18, 36)
    names = [case.name for case in (*chosen, *swept)]
    assert len(set(names)) == len(names)
    assert len({case.digest for case in (*chosen, *swept)}) == len(names)
    for case in (*chosen, *swept):
        m = case.scenario
        assert case.name == f"{m.motion.name}-{case.tail}-paper-{case.digest[:8]}"
    assert Case("r3", chosen[0].scenario).digest == Case("other", chosen[0].scenario).digest
