"""`tailwork sweep` with designs that are simulated: numbers of a whole tail are varied as all others are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet
import pytest

from tailwork.cli import main
from tailwork.robots import liu2020
from tailwork.studies.motions import yaw
from tailwork.studies.perform import measured, perform
from tailwork.studies.scenario import Scenario
from tailwork.view.report import page as report_page


@pytest.mark.parametrize("tail", ["pendulum", "r3"])
def test_numbers_of_a_whole_tail(tail: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each design is what Robot.replace makes of it, performed alone; `--map` is the angle of the motion."""
    monkeypatch.setattr(report_page, "write_report", lambda report, out, *more: out / "report.html")
    masses, names = (0.8, 0.9, 1.0, 1.2, 1.3), ("yaw", "turn", "tail_mass", "peak_tail_torque")
    varied = ["--vary", f"tail.total_mass={','.join(map(str, masses))}", "--vary", "tail.total_length=0.4,0.5"]
    asked = ["--motion", "yaw:30", "--map", "chain", "--measure", ",".join(names), "--out", str(tmp_path)]
    assert main(["sweep", "liu2020", "--tail", tail, *varied, *asked]) == 0
    assert json.loads((tmp_path / "plan.json").read_text())["motion"]["angle"] == "chain"
    rows = pyarrow.parquet.read_table(tmp_path / "results.parquet").to_pylist()
    assert [row["tail.total_mass"] for row in rows[::2]] == list(masses) and not any(row["reason"] for row in rows)
    for row in (rows[0], rows[7]):
        changes = {path: row[path] for path in ("tail.total_mass", "tail.total_length")}
        scenario = Scenario(liu2020(tail).replace(changes), replace(yaw(30), angle="chain"))
        alone = measured(perform(scenario), scenario, names)
        assert {name: row[name] for name in names} == pytest.approx(alone, rel=1e-6)
