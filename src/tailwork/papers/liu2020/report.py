"""Tables and report of Liu & Ben-Tzvi 2020; its figures are those of the comparison of tails."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

from matplotlib.figure import Figure

from tailwork.format import fixed
from tailwork.papers.liu2020.experiments import VARIANT_NAMES, WAVE, Liu2020, Ratio, scenario
from tailwork.papers.report import PaperReport
from tailwork.studies.compare.comparison import SWEPT, sweep_rotations, torso_angles
from tailwork.studies.compare.curvature import segment_curvatures
from tailwork.studies.measures import AXES
from tailwork.studies.motions import motion_text
from tailwork.view.draw.style import FAINT
from tailwork.view.figures.runs import Panel, curvature_tracking, net_rotation, series
from tailwork.view.report.comparison import comparison_figures, comparison_sections
from tailwork.view.report.page import Drawings, Picture, Playback, Section, Table

SUMMARY = (
    "The comparative study of Liu & Ben-Tzvi 2020 in the open loop of Eq. 85, with their claims beside ours. "
    "Nothing is tuned to match: where the paper leaves something open, each reading is shown."
)
RATIO_TEXT = (
    "How much more the torso turns with the R3 tail than with the pendulum at 0.3 s, or when the first of the "
    "two runs ended. The bend of the tail's centre of mass is that of the paper's arc or of the exact chain of "
    "links; angles of the torso are exact or small as in the paper."
)


WAVE_TEXT = (
    "The sine of Sect. 5.3 from rest over a quarter of its period, after which the torso falls in the open loop. The "
    "paper states neither the law of the USRT's cables nor its gains; a plain PD law on curvature is drawn, as in the "
    "table above."
)
CROSSOVER = 50.0  # [deg], where the paper sees R3 and pendulum cross in Figs. 10 and 12
COUNTERPARTS = (
    ("Fig. 1", "kinematic configuration of the quadruped (sketch)", "documentation: Mechanics, the robot"),
    ("Fig. 2", "kinematic parameters of a leg (sketch)", "documentation: Mechanics, stance"),
    ("Fig. 3", "the pendulum tail (sketch)", "documentation: Mechanics, limbs"),
    ("Fig. 4", "the R3 tail (sketch)", "documentation: Mechanics, gearing"),
    ("Fig. 5", "the USRT (sketch)", "documentation: Mechanics, cables"),
    ("Fig. 6", "a leg on the ground, a rigid bar (sketch)", "documentation: Mechanics, virtual work"),
    ("Table 1", "properties of the models", "robots liu2020: `tailwork show liu2020`"),
    ("Fig. 7", "the three models", "the first frame of every player below"),
    ("Fig. 8", "bend of the centre of mass of an arc (sketch)", "documentation: Mechanics, gearing"),
    ("Fig. 9", "torso in yaw bending by 40° and 80°", "sections yaw40 and yaw80"),
    ("Fig. 10", "net yaw against the bend", "Fig. 10, both maps; Net yaw against the bend"),
    ("Fig. 11", "torso in rolling at 40° and 80°", "sections roll40 and roll80"),
    ("Fig. 12", "net roll against the bend", "Fig. 12, both maps; Net roll against the bend"),
    ("Fig. 13", "time-lapse of coupled rolling", "section coupled"),
    ("Fig. 14", "torso in coupled rolling", "section coupled"),
    ("Fig. 15", "torso and curvature in pitch bending", "Rigid against flexible"),
    ("Fig. 16", "curvature errors", "Rigid against flexible"),
)


def ratio_row(ratio: Ratio) -> list[str]:
    """A line of the table of ratios: motion, axis, paper, then ours by variant."""
    cells = []
    for value, time in zip(ratio.ours, ratio.times, strict=True):
        early = "" if math.isclose(time, ratio.motion.duration, abs_tol=1e-9) else f" ({time:.3f} s)"
        cells.append(f"{value:+.1f} %{early}")
    return [ratio.motion.name, ratio.axis, ratio.paper, *cells]


def torso_table(result: Liu2020) -> Table:
    """How far the torso turns on its feet and in the air, and what the feet need."""
    results = (*result.comparison.results, *result.comparison.swept)
    aloft = {(r.case.scenario.motion.name, r.case.tail): r.airborne for r in results}
    rows = []
    for motion, tail, run in result.runs:
        angles = [fixed(x, 1) for x in torso_angles(run)[-1] - torso_angles(run)[0]]
        feet = fixed(run.min_normal_force(), 0), fixed(run.friction_needed(), 2)
        rows.append([motion, tail, *angles, ", ".join(fixed(x, 1) for x in aloft[motion, tail]), *feet])
    header = (
        "motion", "tail", "pitch [°]", "roll [°]", "yaw [°]", "airborne pitch, roll, yaw [°]",
        "least normal force [N]", "friction needed",
    )  # fmt: skip
    return Table(header, rows)


def swept(result: Liu2020, axis: str) -> dict[str, tuple[list[float], list[bool]]]:
    """By tail and map: net rotation over the bends of a sweep [deg], and whether each run ended early."""
    rows = {tail: (net, early) for tail, net, _, early in sweep_rotations(result.comparison, axis)}
    runs, k = result.chain[axis], AXES.index(axis)
    turned = [float((torso_angles(run)[-1] - torso_angles(run)[0])[k]) for run in runs]
    return {
        "pendulum": rows["pendulum"], "r3, arc of Eq. 86": rows["r3"],
        "r3, exact chain": (turned, [run.stopped is not None for run in runs]),
    }  # fmt: skip


def sweep_figure(result: Liu2020, axis: str, number: int) -> Figure:
    """Figs. 10 and 12: net rotation against the bend, the R3's by both maps; where the paper sees the two cross."""
    rows = swept(result, axis)
    net = {label: turned for label, (turned, _) in rows.items()}
    ends = {label: early for label, (_, early) in rows.items()}
    figure = net_rotation(SWEPT, net, axis=axis, ends=ends, title=f"2020, Fig. {number}")
    axes = figure.axes[0]
    axes.axvline(CROSSOVER, color=FAINT, linewidth=0.9, gid="crossover")
    axes.annotate("the paper's\ncrossover", (CROSSOVER, 0.98), (4.0, 0.0), xycoords=("data", "axes fraction"),
                  textcoords="offset points", va="top", color=FAINT, fontsize=7)  # fmt: skip
    return figure


def crossing_text(result: Liu2020, axis: str) -> str:
    """Where the R3 stops to turn the torso farther than the pendulum, by each map, between the bends by straight lines;
    runs that ended early are left out."""
    (pendulum, early), *maps = swept(result, axis).values()
    said = []
    for (turned, stopped), name in zip(maps, ("the arc of Eq. 86", "the exact chain of links"), strict=True):
        rows = zip(SWEPT, pendulum, turned, early, stopped, strict=True)
        pairs = [(bend, abs(b) - abs(a)) for bend, a, b, *ended in rows if not any(ended)]
        places = [a + (b - a) * f / (f - g) for (a, f), (b, g) in pairwise(pairs) if f > 0.0 >= g]
        found = f"at {places[0]:.0f}°" if places else f"nowhere up to {pairs[-1][0]}°"
        said.append(f"{found} by {name}")
    return f"R3 and pendulum cross {', '.join(said)}; the paper sees them cross at {CROSSOVER:.0f}°."


def wave_figures(result: Liu2020) -> tuple[Figure, Figure]:
    """Figs. 15 and 16 with the law of the table above: torso pitch; curvatures and their errors."""
    shown = {wave.label: wave for wave in (result.waves[0], *result.waves[1:][:: len(result.waves) - 2 or 1])}
    pitch = {label: (wave.run.data["time"].to_numpy(), torso_angles(wave.run)[:, 0]) for label, wave in shown.items()}
    times, desired, actual = {}, {}, {}
    for label, wave in shown.items():
        for segment, wanted, found in segment_curvatures(wave.run, scenario(label.split(",")[0], WAVE)):
            name = f"{label}, {segment}"
            times[name], desired[name], actual[name] = wave.run.data["time"].to_numpy(), wanted, found
    return (
        series([Panel("torso pitch [deg]", pitch)], columns=1, title="2020, Fig. 15: a quarter period from rest"),
        curvature_tracking(times, desired, actual, title="2020, Figs. 15 and 16: curvatures"),
    )


def conclusion(result: Liu2020) -> str:
    """R3 against pendulum beside the paper, from the numbers."""
    by = {(ratio.motion.name, ratio.axis): ratio for ratio in result.ratios}
    named = [("yaw40", "yaw"), ("roll40", "roll"), ("roll80", "roll"), ("coupled", "roll")]
    said = [f"{axis} in {name} {fixed(by[name, axis].ours[0], 0, signed=True)} % (paper: {by[name, axis].paper})"
            for name, axis in named if (name, axis) in by]  # fmt: skip
    return f"R3 against pendulum, by the paper's own map of the bend: {', '.join(said)}. {crossing_text(result, 'yaw')}"


def report(result: Liu2020) -> PaperReport:
    """R3 against pendulum in every reading, then the comparison of all tails."""
    ratios = Table(("motion", "torso", "paper", *VARIANT_NAMES), [ratio_row(ratio) for ratio in result.ratios])
    feet = "Arc and exact angles; ground reactions are not in the paper."
    drawings: Drawings = {
        "figure-10": (
            f"Torso yaw against the bend of the tail. {crossing_text(result, 'yaw')}",
            lambda: sweep_figure(result, "yaw", 10),
        ),
        "figure-12": (
            f"Torso roll against the bend of the rolling tail. {crossing_text(result, 'roll')}",
            lambda: sweep_figure(result, "roll", 12),
        ),
        "figure-15": (
            "Torso pitch while the tail bends down. The USRT's cables are pulled by plain PD, with the lowest and the "
            "highest gains of the table.",
            lambda: wave_figures(result)[0],
        ),
        "figure-16": ("Curvature of each segment, and its error.", lambda: wave_figures(result)[1]),
        **comparison_figures(result.comparison),
    }

    def sections(drawn: Mapping[str, Picture]) -> list[Section]:
        return [
            Section("R3 against pendulum", RATIO_TEXT, [drawn["figure-10"], drawn["figure-12"]], [ratios]),
            Section("Rigid against flexible", WAVE_TEXT, [drawn["figure-15"], drawn["figure-16"]]),
            Section("Torso and feet", feet, (), [torso_table(result)]),
            *comparison_sections(result.comparison, drawn),
        ]

    first = result.comparison.plan.motions[0]
    runs = {tail: r.run for tail, r in result.comparison.of(first).items()}
    return PaperReport(
        conclusion(result), SUMMARY, drawings, sections, {"Torso rotation with R3 against pendulum": ratios},
        playback=Playback(runs, f"{first.name}: {motion_text(first)}, to be played."), counterparts=COUNTERPARTS,
    )  # fmt: skip
