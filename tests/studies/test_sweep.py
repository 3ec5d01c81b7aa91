"""`tailwork sweep`: which designs there are, what is kept, how a sweep goes on, and what is said of wrong requests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest

from small_sweeps import HEAVY, made_up, quick_many, small_sweep, swept
from tailwork.cli import main
from tailwork.cli.sweep import rate_text
from tailwork.control import Mapped, PiecewiseCubic, Shaped, Sine, held, point_to_point
from tailwork.errors import ArgumentError, FileError
from tailwork.robots import liu2020
from tailwork.simulation import Force, pulse
from tailwork.simulation.integrate.balance import poor_balance
from tailwork.studies.measures import shown_measures
from tailwork.studies.motions import pitch, yaw
from tailwork.studies.perform import measured, perform, perform_many
from tailwork.studies.possible import MARK
from tailwork.studies.scenario import Scenario, scenario_data, scenario_from
from tailwork.studies.sweep import plan as module
from tailwork.studies.sweep.axes import axis_from_text
from tailwork.studies.sweep.folder import open_folder, read_results
from tailwork.studies.sweep.plan import as_data, from_data, measures_from_text, perform_chunk
from tailwork.studies.sweep.tables import ends, reason_rows, warning_text
from tailwork.view.report import page as report_page

GRID = ("tail.length=0.2:0.8:7", "tail.mass=0.2:2:6:log")
COMMAND = ["sweep", "liu2020", "--tail", "pendulum", "--motion", "yaw:40"]
GRID_OPTIONS = [word for text in GRID for word in ("--vary", text)]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Designs that cost nothing, and no pictures."""
    monkeypatch.setattr(module, "perform_many", quick_many())
    monkeypatch.setattr(report_page, "write_report", lambda report, out, *more: out / "report.html")


def all_values(sweep: module.Sweep) -> dict[str, np.ndarray]:
    """What is varied in all designs, chunk after chunk."""
    found = [sweep.values(sweep.numbers(chunk)) for chunk in range(sweep.chunks)]
    return {path: np.concatenate([values[path] for values in found]) for path in found[0]}


def test_designs_of_a_grid() -> None:
    """All pairs, the last number fastest; ends are met exactly and steps are even, or of one ratio."""
    sweep = small_sweep(*GRID, chunk=5)
    assert (sweep.designs, sweep.chunks) == (42, 9)
    values = all_values(sweep)
    lengths, masses = (values[path].reshape(7, 6) for path in ("tail.length", "tail.mass"))
    np.testing.assert_allclose(lengths, np.repeat(np.linspace(0.2, 0.8, 7)[:, None], 6, axis=1), rtol=1e-15)
    np.testing.assert_allclose(masses, np.tile(np.geomspace(0.2, 2.0, 6), (7, 1)), rtol=1e-14)
    for column, first, last in ((lengths, 0.2, 0.8), (masses, 0.2, 2.0)):
        assert column.min() == first and column.max() == last
    listed = all_values(small_sweep("tail.mass=2,0.5,1"))["tail.mass"]
    assert listed.tolist() == [2.0, 0.5, 1.0]


def test_a_grid_is_never_listed() -> None:
    """A chunk in the middle of 10¹⁵ designs is ready at once."""
    paths = ("tail.length", "tail.mass", "torso.mass", "gravity", "legs.thigh_mass")
    sweep = small_sweep(*(f"{path}=1:2:1000" for path in paths))
    assert sweep.designs == 10**15
    values = sweep.values(sweep.numbers(sweep.chunks // 2))
    assert all(len(column) == sweep.chunk and 1.0 <= column.min() <= column.max() <= 2.0 for column in values.values())
    last = sweep.values(sweep.numbers(sweep.chunks - 1))
    assert all(column[-1] == 2.0 for column in last.values())


@pytest.mark.parametrize("sampling", ["random", "sobol"])
@pytest.mark.parametrize("count", [1, 2, 100, 128])
def test_drawn_designs_do_not_depend_on_chunks(sampling: str, count: int) -> None:
    """The same ones in any chunks, within the ranges, others with another seed; and SciPy has nothing to warn of."""
    ranges = ("tail.length=0.2:0.8", "tail.mass=0.2:2:log", "torso.mass=8,13", "gravity=1:9", "legs.thigh_mass=1:2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole, parts, other = (
            all_values(small_sweep(*ranges, sampling=sampling, drawn=count, chunk=chunk, seed=seed))
            for chunk, seed in ((1000, 3), (7, 3), (1000, 4))
        )
    for path, values in whole.items():
        assert np.array_equal(values, parts[path]) and len(values) == count
    assert not np.array_equal(whole["tail.length"], other["tail.length"])
    assert 0.2 <= whole["tail.mass"].min() <= whole["tail.mass"].max() < 2.0
    assert set(whole["torso.mass"]) <= {8.0, 13.0}


def test_drawn_designs_fill_their_ranges() -> None:
    """Each part of a Sobol sequence of 2ᵐ designs has its share; a logarithmic range has as many in each decade."""
    values = all_values(small_sweep("tail.length=0:8", "tail.mass=0.01:1:log", sampling="sobol", drawn=64))
    assert np.bincount(values["tail.length"].astype(int)).tolist() == [8] * 8
    assert (values["tail.mass"] < 0.1).sum() == 32


def test_whole_numbers() -> None:
    """Counts stay whole, on a grid and drawn."""
    robot = liu2020("r3")
    segments = axis_from_text("tail.segments=1:3:3", robot, drawn=False)
    assert segments.at(np.arange(3)).tolist() == [1, 2, 3] and segments.at(np.arange(3)).dtype == np.int64
    drawn = axis_from_text("tail.segments=1:3", robot, drawn=True).drawn(np.array([0.0, 0.33, 0.34, 0.99]))
    assert drawn.tolist() == [1, 1, 2, 3]
    for text in ("tail.segments=1:4:3", "tail.segments=1,2.5", "tail.segments=1:8:4:log"):
        with pytest.raises(ArgumentError, match="integers"):
            axis_from_text(text, robot, drawn=False)


def test_a_sweep_is_plain_data() -> None:
    """Through JSON and back: the same sweep, the same bits."""
    for sweep in (small_sweep(*GRID), small_sweep("tail.mass=0.1:0.3", sampling="sobol", drawn=9, seed=5)):
        assert from_data(json.loads(json.dumps(as_data(sweep)))) == sweep


def test_a_scenario_with_forces_is_plain_data() -> None:
    """Every kind of profile comes back as what it was."""
    swing = Sine(amplitude=3.0, period=0.2)
    forces = (
        Force(x=held(4.0), y=pulse(20.0, 0.05, start=0.1), z=swing),
        Force(limb="tail", joint="tb", point=(0.0, -0.1, 0.0), x=point_to_point(0.0, 2.0, 0.1),
              y=Mapped(inner=swing, coefficients=(1.0, 0.5)), z=PiecewiseCubic(times=(0.0, 0.1), values=(0.0, 2.0))),
        Force(x=Shaped(sweep=2.0, duration=0.1, early=1.0)),
    )  # fmt: skip
    scenario = Scenario(liu2020("pendulum"), yaw(40), kp=30.0, impulse=(0.0, 1.0, 0.0), forces=forces)
    assert scenario_from(json.loads(json.dumps(scenario_data(scenario))), "plan.json") == scenario


def test_measures() -> None:
    """By name or by a short word; by default what the motion is for."""
    assert measures_from_text("torso_yaw,peak_torque,tail_energy", yaw(40)) == (
        "yaw",
        "peak_tail_torque",
        "tail_energy",
    )
    assert measures_from_text(None, pitch(20)) == ("pitch", "peak_tail_torque")
    for text, said in (("torso_yav", "did you mean 'torso_yaw'"), ("yaw,torso_yaw", "once"), ("", "known measure")):
        with pytest.raises(ArgumentError, match=said):
            measures_from_text(text, yaw(40))


def test_results_are_those_of_single_runs() -> None:
    """A chunk in the middle of a sweep is what its designs do alone; one that is not possible has its reason."""
    sweep = small_sweep("tail.length=0.3,0.6", "tail.mass=0.5,-1.0,1.5", measures=("yaw", "peak_tail_torque"), chunk=4)
    columns = perform_chunk(sweep, 1, threads=1)
    assert columns["design"].tolist() == [4, 5] and columns["tail.mass"].tolist() == [-1.0, 1.5]
    assert columns["reason"][0].startswith("tail.mass: got -1.0; required") and columns["reason"][1] == ""
    assert columns["time"].tolist() == [0.0, 0.3] and np.isnan(columns["yaw"][0])
    robot = liu2020("pendulum").replace({"tail.length": 0.6, "tail.mass": 1.5})
    scenario = Scenario(robot, yaw(40))
    alone = measured(perform(scenario), scenario)
    assert columns["yaw"][1] == pytest.approx(alone["yaw"], rel=1e-9)
    assert columns["peak_tail_torque"][1] == pytest.approx(alone["peak_tail_torque"], rel=1e-9)


def test_rows_with_a_warning(tmp_path: Path) -> None:
    """A design whose energy does not balance says so in its row; the report and the terminal can count them."""
    sweep = small_sweep("tail.length=0.4,0.5", measures=("yaw", "energy_balance"))
    columns = perform_chunk(sweep, 0)
    assert columns["warning"] == ["", ""]
    folder = open_folder(tmp_path / "out", sweep)
    folder.write(0, {**columns, "warning": ["", poor_balance(0.3, 1e-5)]})
    folder.gather()
    results = read_results(folder)
    assert list(results.warned) == [1] and results.whole.all()
    assert warning_text(results).startswith("1 designs are not to be trusted: energy balances to 3.0e-01 only")


def test_what_is_kept(tmp_path: Path, quick: None) -> None:
    """Parquet that others read, with units; all results in the order of their numbers; a plan that says what it is."""
    sweep = small_sweep(*GRID, chunk=5)
    _, results = swept(tmp_path / "out", sweep)
    names = sorted(file.name for file in (tmp_path / "out" / "parts").iterdir())
    assert names == [f"part-{k:06d}.parquet" for k in range(9)]
    table = parquet.read_table(tmp_path / "out" / "results.parquet")
    varied, measures = ["tail.length", "tail.mass"], ["yaw", "peak_tail_torque"]
    assert table.column_names == ["design", *varied, *measures, "time", "reason", "warning"]
    assert table["design"].to_pylist() == list(range(42))
    units = {field.name: field.metadata[b"unit"].decode() for field in table.schema if b"unit" in field.metadata}
    assert units == {
        "design": "1",
        "tail.length": "m",
        "tail.mass": "kg",
        "yaw": "deg",
        "peak_tail_torque": "N m",
        "time": "s",
    }
    assert json.loads(table.schema.metadata[b"units"]) == units
    frame = table.to_pandas()
    heavy = (frame["tail.length"] * frame["tail.mass"] > HEAVY).to_numpy()
    assert heavy.any() and np.array_equal(heavy, results.refused) and np.array_equal(heavy, frame["yaw"].isna())
    values = {path: frame[path].to_numpy() for path in ("tail.length", "tail.mass")}
    np.testing.assert_array_equal(frame["yaw"].to_numpy()[~heavy], made_up(values, "yaw")[~heavy])
    assert (results.whole.sum(), results.early.sum(), results.refused.sum()) == (30, 9, 3)
    plan = json.loads((tmp_path / "out" / "plan.json").read_text(encoding="utf-8"))
    assert plan["designs"] == 42 and from_data(plan) == sweep and plan["motion"]["name"] == "yaw40"
    assert not list((tmp_path / "out").rglob("*.tmp"))


def test_tables(tmp_path: Path, quick: None) -> None:
    """The ends of a measure, among designs that ran to their end; reasons that differ in numbers count together."""
    _, results = swept(tmp_path / "out", small_sweep(*GRID, chunk=5))
    found = ends(results)["yaw"]
    rows = found.rows
    assert found.heads == [], "length and mass of a pendulum are varied themselves"
    assert [row[1].endswith(MARK) for row in rows] == [bool(found.wrong[int(row[1].split()[0])]) for row in rows]
    ends_at = [int(row[1].removesuffix(f" {MARK}")) for row in (rows[0], rows[5])]
    design = {path: x[ends_at[:1]] for path, x in results.values.items()}
    checked = perform_many(results.sweep.scenario, design, measures=["least_normal_force"])
    assert checked.measures["least_normal_force"][0] < 0.0 and "a foot would have to pull" in found.note
    assert [row[0] for row in rows] == ["highest", *[""] * 4, "lowest", *[""] * 4]
    values = np.where(results.whole, results.measures["yaw"], np.nan)
    assert ends_at == [
        np.nanargmax(values),
        np.nanargmin(values),
    ]
    assert rows[0][-1] == f"{np.nanmax(values):.4g}" and rows[5][2:4] == ["0.2", "0.2"]
    found = reason_rows(results)
    assert [count for count, _, _ in found] == [5, 4, 3]
    assert [reason.split()[0] for _, _, reason in found] == ["leg3", "leg4", "tail.mass:"]
    assert all(results.texts[results.which[design]] == reason for _, design, reason in found)


def test_going_on_after_an_end_in_the_middle(tmp_path: Path, quick: None) -> None:
    """A real process that is killed: what it finished is neither lost nor done again, and the whole is the same."""
    command = [sys.executable, str(Path(__file__).parents[1] / "small_sweeps.py"), "0.01", *COMMAND, *GRID_OPTIONS]
    out = tmp_path / "out"
    process = subprocess.Popen([*command, "--chunk", "2", "--out", str(out)], stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60.0
        while len(list(out.glob("parts/*.parquet"))) < 3:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    sweep = small_sweep(*GRID, chunk=2)
    kept = open_folder(out, sweep)
    done, damaged = kept.finished()
    assert 3 <= len(done) < sweep.chunks and not damaged
    before = {chunk: os.stat(kept.part(chunk)).st_mtime_ns for chunk in done}
    _, results = swept(out, sweep)
    assert {chunk: os.stat(kept.part(chunk)).st_mtime_ns for chunk in done} == before
    other, undisturbed = swept(tmp_path / "other", sweep)
    for chunk in range(sweep.chunks):
        assert kept.part(chunk).read_bytes() == other.part(chunk).read_bytes()
    np.testing.assert_array_equal(results.measures["yaw"], undisturbed.measures["yaw"])


def test_an_interrupt(tmp_path: Path) -> None:
    """SIGINT: 130, a word on how to go on, and the same command does."""
    command = [sys.executable, str(Path(__file__).parents[1] / "small_sweeps.py"), "0.02", *COMMAND, *GRID_OPTIONS]
    command += ["--chunk", "2", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where tests run in the background
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60.0
        while not list(tmp_path.glob("out/parts/*.parquet")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30.0)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "the same command goes on" in out and "interrupted after" in out
    done, damaged = open_folder(tmp_path / "out", small_sweep(*GRID, chunk=2)).finished()
    assert done and not damaged


def test_damaged_parts(tmp_path: Path, quick: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Cut off, changed in the middle, of another sweep or of another chunk: noticed and done again."""
    sweep, out = small_sweep(*GRID, chunk=5), tmp_path / "out"
    kept, _ = swept(out, sweep)
    other, _ = swept(tmp_path / "other", small_sweep("tail.length=0.2:0.8:7", "tail.mass=0.3:2:6:log", chunk=5))
    whole = {chunk: kept.part(chunk).read_bytes() for chunk in range(9)}
    middle = bytearray(whole[2])
    middle[60] ^= 0xFF  # within the first page of numbers
    kept.part(1).write_bytes(whole[1][:-20])
    kept.part(2).write_bytes(bytes(middle))
    kept.part(3).write_bytes(other.part(3).read_bytes())
    kept.part(4).write_bytes(whole[5])
    kept.part(6).write_bytes(b"")
    (out / "results.parquet").unlink()
    assert kept.finished() == ({0, 5, 7, 8}, {1, 2, 3, 4, 6})
    assert main([*COMMAND, *GRID_OPTIONS, "--chunk", "5", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "damaged, and done again: part-000001.parquet" in said and "20 of them were done before" not in said
    assert {chunk: kept.part(chunk).read_bytes() for chunk in range(9)} == whole
    kept.part(8).unlink()
    with pytest.raises(FileError, match="missing or damaged"):
        kept.gather()
    assert (out / "results.parquet").exists() and not list(out.rglob("*.tmp"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([*GRID_OPTIONS, "--measure", "roll"], "the measures (yaw, peak_tail_torque there, roll here)"),
        ([*GRID_OPTIONS, "--policy", "joint"], "the policy (constant there, joint here)"),
        ([*GRID_OPTIONS, "--motion", "yaw:20"], "the motion (yaw40 there, yaw20 here)"),
        ([*GRID_OPTIONS, "--set", "torso.mass=9"], "the robot"),
        ([*GRID_OPTIONS, "--chunk", "6"], "(--chunk) (512 there, 6 here)"),
        (
            GRID_OPTIONS[:2],
            "what is varied (tail.length=0.2:0.8:7, tail.mass=0.2:2:6:log there, tail.length=0.2:0.8:7 here)",
        ),
    ],
    ids=lambda x: "" if isinstance(x, str) else " ".join(x[len(GRID_OPTIONS) :]),
)
def test_another_sweep_in_the_same_folder(
    options: list[str], said: str, tmp_path: Path, quick: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Refused, with what differs and what to do; what is there stays."""
    out = tmp_path / "out"
    swept(out, small_sweep(*GRID))
    before = {file: file.read_bytes() for file in out.rglob("*.*")}
    command = COMMAND[:-2] if "--motion" in options else COMMAND
    assert main([*command, *options, "--out", str(out)]) == 2
    shown = capsys.readouterr().err
    assert said in shown and "choose another folder by --out" in shown
    assert {file: file.read_bytes() for file in out.rglob("*.*")} == before


def test_folders_that_are_not_ours(tmp_path: Path, quick: None) -> None:
    """A plan that cannot be read, results without a plan, a file in the place of the folder, another version."""
    sweep = small_sweep(*GRID)
    for name, content, said in (
        ("plan.json", "{", "not the plan of a sweep"),
        ("plan.json", "[]", "not the plan of a sweep"),
        ("plan.json", json.dumps({**as_data(sweep), "code": "0"}), "differs in the version of tailwork"),
        ("results.parquet", "mine", "without the plan"),
    ):
        folder = tmp_path / f"{abs(hash(content))}"
        folder.mkdir()
        (folder / name).write_text(content)
        with pytest.raises(FileError, match=said):
            open_folder(folder, sweep)
        assert (folder / name).read_text() == content
    open_folder(tmp_path / "waits", small_sweep("tail.length=0.2:0.8:3"))  # of which nothing is ever done
    assert open_folder(tmp_path / "waits", sweep).finished() == (set(), set())
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileError, match="a file is where a folder should be"):
        open_folder(tmp_path / "file", sweep)


def test_the_command(tmp_path: Path, quick: None, capsys: pytest.CaptureFixture[str]) -> None:
    """What is said of a sweep: how many, the ends of each measure, who ended early and why, where all is."""
    out = tmp_path / "out"
    options = [*COMMAND, *GRID_OPTIONS, "--measure", "torso_yaw,peak_torque", "--out", str(out)]
    assert main(options) == 0
    said = capsys.readouterr()
    assert "error" not in said.err and str(out / "report.html") in said.out and str(out / "results.parquet") in said.out
    assert "42 designs of liu2020-pendulum: yaw40" in said.out and "varied: tail.length from" in said.out
    lines = [line.split() for line in said.out.splitlines()]
    assert ["yaw", "[deg]:"] in [x[:2] for x in lines] and ["peak_tail_torque", "[N", "m]:"] in [x[:3] for x in lines]
    assert sum(line[:1] == ["highest"] for line in lines) == 2 == sum(line[:1] == ["lowest"] for line in lines)
    assert "9 ended early and 3 not possible" in said.out and "tail.mass: got 2; required: less" in said.out
    assert main(options) == 0
    again = capsys.readouterr().out
    assert "42 of them were done before" in again and "a second" not in again


def test_no_design_is_possible(tmp_path: Path, quick: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Said so, with the reasons, which are kept."""
    options = ["--vary", "tail.length=2:3:3", "--vary", "tail.mass=2,3", "--out", str(tmp_path / "out")]
    assert main([*COMMAND, *options]) == 2
    said = capsys.readouterr()
    assert "6 not possible" in said.out
    assert "got 'no design that is possible'; required: at least one" in said.err
    assert parquet.read_table(tmp_path / "out" / "results.parquet").num_rows == 6


def test_another_unit(tmp_path: Path, quick: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Millimetres for metres: asked about before, and why there are no values is said after."""
    options = ["--vary", "tail.length=200:600:3", "--measure", "yaw", "--out", str(tmp_path / "out")]
    main([*COMMAND, *options])
    said = capsys.readouterr().out
    assert "tail.length: all values are more than 100 times the robot's own" in said and "is the unit right?" in said
    assert "yaw: no design ran to its end (3 of 3: " in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--vary", "tail.lenght=1:2:3"], "did you mean 'tail.length'"),
        (["--vary", "tail.mount=1:2:3"], "the path of one number; inside it: tail.mount.x"),
        (["--vary", "legs.knee=1:2:3"], "the path of one number"),
        (["--vary", "tail.length"], "PATH=FROM:TO:COUNT"),
        (["--vary", "tail.length=1:2"], "PATH=FROM:TO:COUNT"),
        (["--vary", "tail.length=1:2:3:4"], "PATH=FROM:TO:COUNT"),
        (["--vary", "tail.length=2:1:3"], "FROM < TO"),
        (["--vary", "tail.length=1:1:3"], "FROM < TO"),
        (["--vary", "tail.length=1:2:0"], "at least 1 (not '0')"),
        (["--vary", "tail.length=1:2:-3"], "at least 1 (not '-3')"),
        (["--vary", "tail.length=1:2:2.5"], "an integer"),
        (["--vary", "tail.length=1:2:1"], "one value: tail.length=1"),
        (["--vary", "tail.length=1:inf:3"], "finite numbers"),
        (["--vary", "tail.length=nan"], "finite numbers"),
        (["--vary", "tail.length=1,x"], "'x' is none"),
        (["--vary", "tail.length=1,1"], "values that differ"),
        (["--vary", "tail.mass=0:1:3:log"], "greater than 0"),
        (["--vary", "tail.mass=1,2", "--vary", "tail.mass=3,4"], "each path once"),
        (["--vary", "tail.mass=1:2", "--sample", "random"], "random:1000"),
        (["--vary", "tail.mass=1:2", "--sample", "sobol:0"], "sobol:1000"),
        (["--vary", "tail.mass=1:2", "--sample", "sobol:9999999999"], "at most 1,073,741,824 designs"),
        (["--vary", "tail.mass=1:2:3", "--sample", "sobol:8"], "--sample says how many"),
        (["--vary", "tail.mass=1:2:3", "--sample", "gird"], "did you mean 'grid'"),
        (["--vary", "tail.mass=1:2:3", "--sample", "grid:4"], "grid alone"),
        (["--vary", "tail.mass=1:2:3", "--seed", "1"], "none for a grid"),
        (["--vary", "tail.mass=1:2", "--sample", "random:3", "--seed", "-1"], "not negative"),
        (["--vary", "tail.mass=1:2:9000000", "--vary", "gravity=1:2:9999999999"], "at most"),
        (["--vary", "tail.mass=1,2", "--measure", "jaw"], "did you mean 'yaw'"),
        (["--vary", "tail.mass=1,2", "--threads", "0"], "--threads: got 0"),
        (["--vary", "tail.mass=1,2", "--chunk", "0"], "--chunk: got 0"),
        (["--vary", "tail.mass=1,2", "--threads", "2", "--cluster", "tcp://here:1"], "none with --cluster"),
        (["--vary", "tail.mass=1,2", "--out", "{file}"], "a file is where a folder should be"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_wrong_commands(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """2, one line on stderr, nothing on stdout, nothing simulated and nothing left behind."""

    def never(*given: Any, **more: Any) -> None:
        raise AssertionError("simulated")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "perform_many", never)
    (tmp_path / "file").write_text("mine")
    assert main([*COMMAND, *(option.replace("{file}", str(tmp_path / "file")) for option in options)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ") and shown.err.count("\n") == 1
    assert said in shown.err
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_robot_without_a_tail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND, "--tail", "none", "--vary", "gravity=1,2", "--out", str(tmp_path / "out")]) == 2
    assert "one tail" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_rate() -> None:
    assert rate_text(0, 100, 1.0) == ""
    assert rate_text(500, 1000, 1.0) == "500 a second, 2 s left"
    assert rate_text(5, 7200, 1.0) == "5 a second, 24 min left"
    assert rate_text(1, 3, 7.0) == "0.14 a second, 21 s left"
    assert rate_text(2000, 20_000_000, 1.0) == "2,000 a second, 2.8 h left"


def test_measures_have_short_words_for_names_that_exist() -> None:
    assert set(module.SHORT.values()) <= set(shown_measures())
