"""Figures and reports of Liu & Ben-Tzvi 2018 and 2020."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from tailwork.format import fixed
from tailwork.papers.claims import Claim
from tailwork.papers.liu2018.experiments import Liu2018, compensation, desired_states
from tailwork.papers.liu2020.experiments import VARIANT_NAMES, Liu2020, ratio_row, wave_claims
from tailwork.simulation import Run
from tailwork.studies.compare.comparison import Comparison
from tailwork.view.draw.picture import time_lapse
from tailwork.view.figures.runs import Panel, series
from tailwork.view.report.comparison import comparison_sections, figures
from tailwork.view.report.page import Playback, Section, Table, drawn_pictures, page, write_page

CLAIM_HEADER = ("quantity", "paper", "ours", "note")
ANGLE_NAMES = {"phi_x": "pitch", "phi_y": "roll", "phi_z": "yaw", "tail.ta": "tail pitch", "tail.tb": "tail yaw"}


def claim_table(claims: Sequence[Claim]) -> Table:
    """Paper and ours side by side."""
    return Table(CLAIM_HEADER, [(c.quantity, c.paper, c.ours, c.reading) for c in claims])


def figure_6(run: Run) -> Figure:
    """2018, Fig. 6: place, attitude and tail under the given torques."""
    times = run.data["time"].to_numpy()
    q = run.data["q"]
    panels = [
        Panel(f"{axis} [mm]", {"ours": (times, 1e3 * (q.sel(coordinate=axis).to_numpy() - start))})
        for axis, start in zip("xyz", run.model.robot.stand, strict=True)
    ]
    panels += [
        Panel(f"{said} [deg]", {"ours": (times, np.degrees(q.sel(coordinate=name).to_numpy()))})
        for name, said in ANGLE_NAMES.items()
    ]
    return series(panels, columns=4, title="2018, Fig. 6: torques given")


def figure_8(result: Liu2018) -> Figure:
    """2018, Fig. 8: with control, without, and the desired motion."""
    runs = {"open loop": result.open_loop, "with feedback": result.controlled}
    times = result.controlled.data["time"].to_numpy()
    names = result.controlled.model.coordinate_names
    wanted = np.degrees(desired_states(result.controlled.model, times)[0])
    panels = []
    for name, said in ANGLE_NAMES.items():
        lines = {"desired": (times, wanted[:, names.index(name)])}
        for label, run in runs.items():
            angle = np.degrees(run.data["q"].sel(coordinate=name).to_numpy())
            lines[label] = (run.data["time"].to_numpy(), angle)
        panels.append(Panel(f"{said} [deg]", lines))
    return series(panels, title="2018, Fig. 8: the pitch motion of Sect. 4.2 from rest")


def figure_9(result: Liu2018) -> Figure:
    """2018, Fig. 9: torques of the inverse model, and what feedback adds."""
    times = result.controlled.data["time"].to_numpy()
    runs = {"feed-forward with feedback": result.controlled, "computed torque": result.computed}
    required = np.abs(result.required).max(axis=-1)
    added = {label: (times[1:], compensation(run, result.required)[1:]) for label, run in runs.items()}
    panels = [
        Panel("largest torque [N m]", {"required": (times, required)}),
        Panel("largest compensation [N m]", added, log=True),
    ]
    return series(panels, columns=2, title="2018, Fig. 9: required and compensation torque")


def write_liu2018(result: Liu2018, folder: Path, progress: Callable[[str], None] = lambda what: None) -> Path:
    """Figures and report; the report's path."""
    drawings: dict[str, tuple[str, Callable[[], Figure]]] = {
        "figure-6": ("Motion under the torques of Sect. 4.1.", lambda: figure_6(result.forward)),
        "timelapse": (
            "The same run as pictures.",
            lambda: time_lapse({"pendulum": result.forward}, title="2018, Sect. 4.1"),
        ),
        "figure-8": ("The pitch motion from rest, with and without feedback.", lambda: figure_8(result)),
        "figure-9": ("Torques that the inverse model asks for, and what feedback adds.", lambda: figure_9(result)),
    }
    drawn = drawn_pictures(drawings, folder, progress)
    played = {"pendulum": result.forward.titled("torques of Sect. 4.1")}
    summary = (
        "The quadruped of Liu & Ben-Tzvi 2018 with its pendulum tail. Numbers of the paper stand beside ours, with the "
        "reading chosen where the paper leaves one open. Leg policy: the torques that the paper gives."
    )
    sections = [
        Section("Paper and ours", "", (), [claim_table(result.claims)]),
        Section("Figures", "", list(drawn.values()), (), Playback(played, "The torques of Sect. 4.1, to be played.")),
    ]
    write_page(folder / "report.html", page("Liu & Ben-Tzvi 2018, reproduced", summary, sections))
    return folder / "report.html"


def write_liu2020(
    result: Liu2020,
    comparison: Comparison,
    folder: Path,
    progress: Callable[[str], None] = lambda what: None,
    processes: int = 1,
) -> Path:
    """Figures and report; the report's path. For `processes` see tailwork.view.report.page.build_report."""
    header = ("motion", "torso", "paper", *VARIANT_NAMES)
    ratios = Table(header, [ratio_row(ratio) for ratio in result.ratios])
    aloft = {(r.case.manoeuvre.motion.name, r.case.tail): r.airborne for r in (*comparison.results, *comparison.swept)}
    rows = []
    for (motion, tail, angles), (_, _, force, friction) in zip(result.angles, result.reactions, strict=True):
        beside = ", ".join(fixed(x, 1) for x in aloft[motion, tail])
        rows.append([motion, tail, *(fixed(x, 1) for x in angles), beside, fixed(force, 0), fixed(friction, 2)])
    turned = Table(
        (
            "motion", "tail", "pitch [°]", "roll [°]", "yaw [°]", "airborne pitch, roll, yaw [°]",
            "least normal force [N]", "friction needed",
        ),
        rows,
    )  # fmt: skip
    sections = [
        Section("Paper and ours", "", (), [claim_table((*result.claims, *wave_claims(result.waves)))]),
        Section(
            "R3 against pendulum",
            "How much more the torso turns with the R3 tail than with the pendulum at 0.3 s, or when the first of the "
            "two runs ended. The map from the centre of mass to the tail is the paper's arc or the exact chain of "
            "links; angles are exact or small as in the paper.",
            (),
            [ratios],
        ),
        Section("Torso and feet", "Arc and exact angles; ground reactions are not in the paper.", (), [turned]),
        *comparison_sections(comparison, drawn_pictures(figures(comparison), folder, progress, processes)),
    ]  # fmt: skip
    summary = (
        "The comparative study of Liu & Ben-Tzvi 2020 in the open loop of Eq. 85, with their claims beside ours. "
        "Nothing is tuned to match: where the paper leaves something open, each reading is shown."
    )
    write_page(folder / "report.html", page("Liu & Ben-Tzvi 2020, reproduced", summary, sections))
    return folder / "report.html"
