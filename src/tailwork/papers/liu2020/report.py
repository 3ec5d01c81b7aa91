"""Tables and report of Liu & Ben-Tzvi 2020; its figures are those of the comparison of tails."""

from __future__ import annotations

import math
from collections.abc import Mapping

from matplotlib.figure import Figure

from tailwork.format import fixed
from tailwork.papers.liu2020.experiments import (
    MAIN,
    MOST_BEND,
    PAPER_ERRORS,
    PAPER_MORE,
    RATIOS,
    STRAIGHTER,
    VARIANT_NAMES,
    WAVE,
    Liu2020,
    Ratio,
    scenario,
)
from tailwork.papers.report import PaperReport, panels_over_time
from tailwork.studies.compare.comparison import SWEPT, torso_degrees
from tailwork.studies.compare.curvature import segment_curvatures
from tailwork.studies.measures import AXES
from tailwork.studies.motions import motion_text
from tailwork.studies.possible import footnote, impossible, mark, marked
from tailwork.view.draw.style import FAINT
from tailwork.view.figures.runs import BAND, Panel, net_rotation
from tailwork.view.report.comparison import comparison_figures, comparison_sections
from tailwork.view.report.page import Drawings, Picture, Playback, Section, Table
from tailwork.view.scene.colors import GREEN, LINES, looks, mixed, printed

SUMMARY = (
    "The comparative study of Liu & Ben-Tzvi 2020 in the open loop of Eq. 85, with their claims beside ours. Nothing "
    "is tuned to match. What the paper leaves open is listed, with the reading chosen and what others give."
)
RATIO_TEXT = (
    "How much more the torso turns with the R3 tail than with the pendulum at 0.3 s, or when the first of the two runs "
    "ended (×). The paper bends the R3 by the arc of Eq. 86; the exact chain of links is ours. Angles of the torso are "
    "exact, or small as in the paper, whose own reading is so “arc, small angles”."
)
WAVE_TEXT = (
    "The sine of Sect. 5.3 from rest over a quarter of its period, after which the torso falls in the open loop. The "
    "paper states neither the law of the USRT's cables nor its gains. In this section they are pulled by plain PD on "
    "curvature, without a feed-forward; in all others they have one."
)
EARLY = "×"
CROSSOVER = 50.0  # [deg], where the paper sees R3 and pendulum cross in Figs. 10 and 12, from bends 10° apart
COUNTERPARTS = (
    ("Fig. 1", "kinematic configuration of the quadruped (sketch)", "documentation, “Frames and coordinates”"),
    ("Fig. 2", "kinematic parameters of a leg (sketch)", "documentation, “Frames and coordinates”, Angles of a leg"),
    ("Fig. 3", "the pendulum tail (sketch)", "documentation, “Frames and coordinates”, Angles of a tail"),
    ("Fig. 4", "the R3 tail (sketch)", "documentation, “Gears: many joints, few coordinates”"),
    ("Fig. 5", "the USRT (sketch)", "documentation, “Cables and springs”"),
    ("Fig. 6", "a leg on the ground, a rigid bar (sketch)",
     "no sketch; documentation, “Virtual work”, A bar by its ends"),
    ("Table 1", "properties of the models", "robots liu2020: `tailwork show liu2020`"),
    ("Fig. 7", "the three models", "the first frame of every player below"),
    ("Fig. 8", "bend of the centre of mass of an arc (sketch)",
     "documentation, “Gears: many joints, few coordinates”, Which bend looks like which swing"),
    ("Fig. 9", "torso in yaw bending by 40° and 80°", "sections yaw40 and yaw80"),
    ("Fig. 10", "net yaw against the bend", "R3 against pendulum, Fig. 10; Net yaw against the bend"),
    ("Fig. 11", "torso in rolling at 40° and 80°", "sections roll40 and roll80"),
    ("Fig. 12", "net roll against the bend", "R3 against pendulum, Fig. 12; Net roll against the bend"),
    ("Fig. 13", "time-lapse of coupled rolling", "section coupled"),
    ("Fig. 14", "torso in coupled rolling", "section coupled"),
    ("Fig. 15", "torso and curvature in pitch bending", "Rigid against flexible"),
    ("Fig. 16", "curvature errors", "Rigid against flexible"),
)  # fmt: skip


def ratio_row(ratio: Ratio) -> list[str]:
    """A line of the table of ratios: motion, axis, paper, then ours by variant, and the earliest time [s]."""
    cells = []
    for value, time in zip(ratio.ours, ratio.times, strict=True):
        early = "" if math.isclose(time, ratio.motion.duration, abs_tol=1e-9) else f" {EARLY}"
        cells.append(f"{fixed(value, 1, signed=True)} %{early}")
    return [ratio.motion.name, ratio.axis, ratio.paper, *cells, f"{min(ratio.times):.3f}"]


RATIO_HEADER = ("motion", "torso", "paper", *VARIANT_NAMES, "earliest comparison [s]")


def ratio_table(result: Liu2020) -> Table:
    """R3 against pendulum, their centres of mass on the same path."""
    rows, runs = [], []
    for ratio in result.ratios:
        if ratio.reading:
            continue
        motion, *cells = ratio_row(ratio)
        own = [found.measures for tail, found in result.comparison.of(ratio.motion).items() if tail != "usrt"]
        runs += own
        rows.append([next((mark(motion, "", run) for run in own if impossible(run)), motion), *cells])
    return Table(RATIO_HEADER, rows, note=footnote(runs))


def readings_table(result: Liu2020) -> Table:
    """The same in other readings."""
    found = [(ratio.reading, ratio_row(ratio)) for ratio in result.ratios if ratio.reading]
    rows = [[reading, motion, *cells] for reading, (motion, _, _, *cells) in found]
    header = ("read otherwise", "motion", *RATIO_HEADER[3:])
    return Table(header, rows, "The same in other readings of the motion.")


def crossing_table(result: Liu2020) -> Table:
    """Bends at which R3 and pendulum turn the torso equally far."""
    rows = [
        [axis, reading or "as above", f"about {CROSSOVER:.0f}", *(fixed(x, 1) for x in bends)]
        for axis, found in result.crossings.items()
        for reading, bends in found.items()
    ]
    said = f"The bend [°] beyond which the pendulum turns the torso farther than the R3; —: none up to {MOST_BEND}°."
    return Table(("torso", "reading", "paper", *VARIANT_NAMES), rows, said)


def open_table(result: Liu2020) -> Table:
    """What the paper leaves open, and what is done here."""
    falls = {claim.quantity: claim.ours for claim in result.claims}
    upward = [f"{printed(tail)} at {falls[f'§5.3, sine of 20° and 1.2 s, {tail}, up first: until [s]']} s"
              for tail in ("r3", "usrt")]  # fmt: skip
    other = "see the other readings"
    rows = [
        ("hips, mount of the tail", "not stated", "above the feet; at the rear edge of the torso",
         "inferred: with these, Eq. 85 comes out to every printed digit"),
        ("path of the rolling pendulum", "“the same θcom”; “cubic interpolation” “in the joint space”",
         "on the cone of its bend", f"by cubics of its joint angles: {other}"),
        ("law of the R3's bend in yaw", "“the same COM trajectory”", "a cubic of the bend of its centre of mass",
         f"a cubic of beta: {other}"),
        ("how tails follow their motion", "pendulum: PD, “errors less than 0.5 degrees”; R3: not stated",
         "exactly; the sine by PD", ""),
        ("where a run ends", "not stated", "a leg at 0.985 of its length", f"at {STRAIGHTER:g} of it: {other}"),
        ("direction of the sine", "not stated", "down first", f"up first, it falls as well: {', '.join(upward)}"),
        ("how much of the sine", "curves", "a quarter of its period", "the torso falls before a full period"),
        ("sign of a curvature error", "not stated", "found less wanted", ""),
        ("law and gains of the USRT", "not stated", "plain PD, four pairs of gains", "see Rigid against flexible"),
    ]  # fmt: skip
    return Table(("left open", "in the paper", "here", "note"), rows, "What the paper leaves open.")


def wave_table(result: Liu2020) -> Table:
    """Sect. 5.3 beside ours."""
    rigid = result.waves[0]
    errors = {tail: [fixed(x, 2, signed=True) for x in own] for tail, own in PAPER_ERRORS.items()}
    rows = [
        ["paper", "R3", "—", "—", "—", *errors["r3"]],
        ["paper", "USRT", "—", *(fixed(x, n, signed=True) for x, n in zip(PAPER_MORE, (1, 1), strict=True)),
         *errors["usrt"]],
    ]  # fmt: skip
    for wave in result.waves:
        more = ["—", "—"]
        if wave is not rigid:
            degrees, share = abs(rigid.pitch) - abs(wave.pitch), 100.0 * (rigid.pitch / wave.pitch - 1.0)
            more = [fixed(degrees, 1, signed=True), fixed(share, 1, signed=True)]
        rows.append(
            ["ours", printed(wave.label), fixed(wave.pitch, 1), *more, *(fixed(x, 2, signed=True) for x in wave.errors)]
        )
    header = (
        "", "tail", "torso pitch [°]", "R3 more [°]", "R3 more [%]", "mean error, segment 1 [1/m]", "segment 2 [1/m]",
    )  # fmt: skip
    return Table(header, rows, "Gains are kp [N m/rad] and kd [N m s/rad] of the plain PD law.")


def torso_table(result: Liu2020) -> Table:
    """How far the torso turns on its feet and in the air, and what the feet need."""
    rows, needs = [], []
    for motion, _, _ in RATIOS:
        for tail, found in result.comparison.of(motion).items():
            if tail == "usrt":
                continue
            own = found.measures
            needs.append(own)
            feet = fixed(own["least_normal_force"], 0), fixed(own["friction_needed"], 2)
            angles = [fixed(own[axis], 1) for axis in AXES]
            cells = [motion.name, tail, *angles, *(fixed(x, 1) for x in found.airborne), *feet]
            rows.append(marked(cells, ["", *AXES, "", "", "", "least_normal_force", "friction_needed"], own))
    aloft = [f"{axis} in the air [°]" for axis in AXES]
    header = ("motion", "tail", *(f"{axis} [°]" for axis in AXES), *aloft, "least normal force [N]", "friction needed")
    return Table(header, rows, note=footnote(needs))


def sweep_figure(result: Liu2020, axis: str, number: int) -> Figure:
    """Figs. 10 and 12: net rotation against the bend, the R3's by both maps; where the paper sees the two cross."""
    net, early = result.swept[axis]
    ends = dict.fromkeys(net, early)
    figure = net_rotation(SWEPT, net, axis=axis, ends=ends, title=f"2020, Fig. {number}")
    axes = figure.axes[0]
    axes.axvline(CROSSOVER, color=FAINT, linewidth=0.9, gid="crossover")
    axes.annotate("the paper's\ncrossover", (CROSSOVER, 0.98), (4.0, 0.0), xycoords=("data", "axes fraction"),
                  textcoords="offset points", va="top", color=FAINT, fontsize=7)  # fmt: skip
    return figure


def _wave_styles(result: Liu2020) -> dict[str, dict[str, object]]:
    """R3 as always; the USRT paler with lower gains."""
    first, *others = (wave.label for wave in result.waves)
    styles: dict[str, dict[str, object]] = {first: {**looks([first])[first].stroke, "label": printed(first)}}
    for k, label in enumerate(others, start=1):
        color = mixed(GREEN, "#ffffff", 0.75 * (1.0 - k / len(others)))
        styles[label] = {"color": color, "linestyle": LINES[k % len(LINES)], "label": printed(label)}
    return styles


def wave_figures(result: Liu2020) -> tuple[Figure, Figure]:
    """Figs. 15 and 16 with the law of the table: torso pitch and curvatures; errors of these."""
    styles, pitch = _wave_styles(result), {}
    curvature: dict[str, dict[str, tuple]] = {}
    error: dict[str, dict[str, tuple]] = {}
    for wave in result.waves:
        times = wave.run.data["time"].to_numpy()
        pitch[wave.label] = times, torso_degrees(wave.run)[:, 0]
        for segment, wanted, found in segment_curvatures(wave.run, scenario(wave.label.split(",")[0], WAVE)):
            curvature.setdefault(segment, {"desired": (times, wanted)})[wave.label] = times, found
            error.setdefault(segment, {})[wave.label] = times, found - wanted
    bent = [Panel(f"{segment} [1/m]", lines) for segment, lines in curvature.items()]
    off = [Panel(f"{segment} error [1/m]", lines) for segment, lines in error.items()]
    desired = {"desired": {"label": "desired", "zorder": 1.5, **BAND}}
    return (
        panels_over_time([Panel("torso pitch [deg]", pitch), *bent], desired | styles, title="2020, Fig. 15"),
        panels_over_time(off, styles, title="2020, Fig. 16: found less wanted curvature"),
    )


def conclusion(result: Liu2020) -> str:
    """R3 against pendulum beside the paper, from the numbers."""
    by = {(ratio.motion.name, ratio.axis): ratio for ratio in result.ratios if not ratio.reading}
    named = {
        ("yaw40", "yaw"): "in yaw, bent by 40°", ("roll40", "roll"): "in roll, bent by 40°",
        ("roll80", "roll"): "in roll, bent by 80°", ("coupled", "roll"): "in roll in the coupled motion",
    }  # fmt: skip
    said = [
        f"{fixed(by[key].ours[0], 0, signed=True)} % {words} (paper: {by[key].paper})" for key, words in named.items()
    ]
    exact, small = ([fixed(result.crossings[axis][MAIN][k], 1) for axis in ("yaw", "roll")] for k in (0, 1))
    return (
        "By the paper's map of the bend (Eq. 86), the R3 turns the torso further than the pendulum by "
        f"{', '.join(said)}. The two turn it equally far at bends of {exact[0]}° in yaw and "
        f"{exact[1]}° in roll (with the small angles of the paper {small[0]}° and {small[1]}°), where the "
        f"paper sees about {CROSSOVER:.0f}° in both."
    )


def crossing_text(result: Liu2020, axis: str) -> str:
    """Where R3 and pendulum cross, by map and attitude."""
    found = zip(VARIANT_NAMES, result.crossings[axis][MAIN], strict=True)
    said = ", ".join(f"{fixed(bend, 1)}° ({name})" for name, bend in found)
    return f"R3 and pendulum cross at {said}; the paper sees them cross at about {CROSSOVER:.0f}°."


def report(result: Liu2020) -> PaperReport:
    """R3 against pendulum in every reading, then the comparison of all tails."""
    ratios = ratio_table(result)
    compared = "Exact angles, all at the last time that the three runs reach (hollow: before the motion's end)."
    drawings: Drawings = {
        "figure-10": (
            f"Torso yaw against the bend of the tail. {compared} {crossing_text(result, 'yaw')}",
            lambda: sweep_figure(result, "yaw", 10),
        ),
        "figure-12": (
            f"Torso roll against the bend of the rolling tail. {compared} {crossing_text(result, 'roll')}",
            lambda: sweep_figure(result, "roll", 12),
        ),
        "figure-15": (
            "Torso pitch and curvature of each segment while the tail bends down. The USRT's cables are pulled by "
            "plain PD, with the gains of the table.",
            lambda: wave_figures(result)[0],
        ),
        "figure-16": ("Errors of the curvatures, by the same laws.", lambda: wave_figures(result)[1]),
        **comparison_figures(result.comparison),
    }

    def sections(drawn: Mapping[str, Picture]) -> list[Section]:
        return [
            Section("R3 against pendulum", RATIO_TEXT, [drawn["figure-10"], drawn["figure-12"]],
                    [ratios, crossing_table(result), readings_table(result), open_table(result)]),
            Section("Rigid against flexible", WAVE_TEXT, [drawn["figure-15"], drawn["figure-16"]],
                    [wave_table(result)]),
            Section("Torso and feet", "Arc and exact angles; ground reactions are not in the paper.", (),
                    [torso_table(result)]),
            *comparison_sections(result.comparison, drawn),
        ]  # fmt: skip

    first = result.comparison.plan.motions[0]
    runs = {printed(tail): r.run for tail, r in result.comparison.of(first).items()}
    return PaperReport(
        conclusion(result), SUMMARY, drawings, sections, {"Torso rotation with R3 against pendulum": ratios},
        playback=Playback(runs, f"{first.name}: the tail {motion_text(first)}."),
        counterparts=COUNTERPARTS,
    )  # fmt: skip
