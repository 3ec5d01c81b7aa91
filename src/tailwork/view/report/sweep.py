"""The report of a sweep: its maps and its tables on one page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from tailwork.format import capitalised, with_unit
from tailwork.robots.tails.fit import tail_text
from tailwork.studies.measures import meaning_of, unit_of
from tailwork.studies.motions import motion_text
from tailwork.studies.sweep.axes import LOG, SweepAxis
from tailwork.studies.sweep.folder import PARTS, RESULTS, Results
from tailwork.studies.sweep.tables import extremes, reason_rows, warning_text
from tailwork.view.figures.sweep import MOST_SHOWN, curves, design_map, measure_label, pair_matrix, varied_label
from tailwork.view.report.page import Drawing, Drawings, Picture, Report, Section, Table, scenario_title

MOST_NAMED = 2
"""Measures that the conclusion names."""
NOTHING = "No design has a value: this robot has nothing that it measures."
EARLY = (
    "Where a run ended early, measures are those of its time until then and cannot be compared with others: maps are "
    "pale there, points hollow, and tables leave them out."
)


def sweep_report(results: Results) -> Report:
    """The report: maps or curves of all measures, the designs at their ends, and why designs ended early."""
    return Report("Sweep of designs", conclusion(results), _figures(results), partial(_sections, results))


def conclusion(results: Results) -> str:
    """Between which values each of the first measures lies and for which designs, and how many designs ended early."""
    sweep, said = results.sweep, []
    for name in sweep.measures[:MOST_NAMED]:
        values = np.where(results.whole, results.measures[name], np.nan)
        if not np.isfinite(values).any():
            said.append(f"{name.replace('_', ' ')} has no value: {NOTHING[0].lower()}{NOTHING[1:-1]}")
            continue
        ends = [int(np.nanargmin(values)), int(np.nanargmax(values))]
        low, high = (f"{with_unit(float(values[k]), unit_of(name), 3)} ({_design(results, k)})" for k in ends)
        said.append(f"{name.replace('_', ' ')} goes from {low} to {high}")
    lost = [f"{count:,} {what}" for count, what in
            ((results.early.sum(), "ended early"), (results.refused.sum(), "are not possible")) if count]  # fmt: skip
    rest = f" Of {sweep.designs:,} designs, {' and '.join(lost)}." if lost else ""
    return f"{capitalised('; '.join(said))}.{rest}"


def _design(results: Results, k: int) -> str:
    """What is varied, of one design."""
    return ", ".join(
        f"{one.path} {with_unit(float(column[k]), one.unit, 3)}"
        for one, column in zip(results.sweep.varied, results.values.values(), strict=True)
    )


def _figures(results: Results) -> Drawings:
    sweep, title = results.sweep, scenario_title(results.sweep.scenario)
    paths = [one.path for one in sweep.varied]
    if len(paths) == 1:
        return {"curves": (f"Measures over {paths[0]}.", partial(curves, results, title=title))}
    found: dict[str, Drawing] = {}
    left_out = int((~results.whole).sum())
    for name in sweep.measures:
        used = results.whole if len(paths) > 2 else ~results.refused
        if not np.isfinite(results.measures[name][used]).any():
            continue  # nothing to show
        caption = capitalised(meaning_of(name))
        if len(paths) == 2:
            caption += f" over {paths[0]} and {paths[1]}."
            found[f"map-{name}"] = (caption, partial(design_map, results, name, title=title))
            continue
        caption += (
            ": its mean over each pair of varied numbers, and over each alone its median and where eight of ten "
            "designs are, whatever the other numbers."
        )
        if left_out:
            caption += f" Designs that ended early or are not possible ({left_out:,}) are left out."
        if len(paths) > MOST_SHOWN:
            caption += f" The first {MOST_SHOWN} of {len(paths)} numbers are shown."
        found[f"matrix-{name}"] = (caption, partial(pair_matrix, results, name, title=title))
    return found


def _sections(results: Results, drawn: Mapping[str, Picture]) -> list[Section]:
    sweep, first = results.sweep, next(iter(drawn.values()), None)
    sections = [Section("", "", [first] if first else []), Section("", _summary(results))]
    for name in sweep.measures:
        pictures = [drawn[kind] for kind in (f"map-{name}", f"matrix-{name}") if kind in drawn]
        pictures = [picture for picture in pictures if picture is not first]
        heads, rows = extremes(results, name)
        header = ("", "design", *(varied_label(one) for one in sweep.varied), *heads, measure_label(name))
        tables = [Table(header, rows, "Designs at the ends, of those that ran to their end")] if rows else []
        text = f"{capitalised(meaning_of(name))} [{unit_of(name)}]."
        if not np.isfinite(results.measures[name]).any():
            text += f" {NOTHING}"
        sections.append(Section(name.replace("_", " ").capitalize(), text, pictures, tables))
    ended = reason_rows(results)
    if ended:
        rows = [[f"{count:,}", str(example), reason] for count, example, reason in ended]
        text = f"{results.early.sum():,} designs ended early; {results.refused.sum():,} are not possible."
        text += f" {EARLY}" if results.early.any() else ""
        sections.append(Section("Why designs ended early", text, (), [Table(("designs", "one of them", "note"), rows)],
                                folded=True))  # fmt: skip
    if results.warned:
        sections.append(Section("Warning", f"{warning_text(results)}."))
    names = ", ".join([*results.values, *results.measures])
    text = (
        f"All results are in {RESULTS}, a row a design: design, {names}, time (simulated, in s), reason (why it ended "
        "early), warning (what speaks against trusting it). pandas.read_parquet, polars.read_parquet and DuckDB open "
        f"it; so they do {PARTS}/*.parquet while a sweep goes on. Units stand in the metadata of the columns. "
        "plan.json says what the sweep is."
    )
    return [*sections, Section("The results", text, folded=True)]


def _summary(results: Results) -> str:
    sweep, scenario = results.sweep, results.sweep.scenario
    how = {
        "grid": "all of a grid",
        "random": f"drawn at random (seed {sweep.seed})",
        "sobol": f"of a scrambled Sobol sequence (seed {sweep.seed})",
    }[sweep.sampling]
    return (
        f"{sweep.designs:,} designs of the robot {scenario.robot.name}, {how}. Varied: "
        f"{'; '.join(_range(one) for one in sweep.varied)}. Its tail, unless "
        f"varied: {tail_text(scenario.tail_part)}. Motion of the tail: {motion_text(scenario.motion)}. Leg "
        f"policy: {scenario.leg_policy.text(scenario.robot)}. {results.whole.sum():,} ran to their end, "
        f"{results.early.sum():,} ended early, {results.refused.sum():,} are not possible."
    )


def _range(varied: SweepAxis) -> str:
    unit = "" if varied.unit in ("", "1") else f" {varied.unit}"
    if varied.spacing == "listed":
        return f"{varied.path} of {', '.join(f'{x:g}' for x in varied.values)}{unit}"
    first, last = varied.values
    count = f" in {varied.count} values" if varied.count else ""
    return f"{varied.path} from {first:g} to {last:g}{unit}{count}" + (", logarithmic" if varied.spacing == LOG else "")
