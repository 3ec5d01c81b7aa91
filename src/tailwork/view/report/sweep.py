"""The report of a sweep: its maps and its tables on one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tailwork.format import capitalised, rounded, with_unit
from tailwork.robots.tails.fit import tail_text
from tailwork.studies.measures import meaning_of, unit_of
from tailwork.studies.motions import motion_text
from tailwork.studies.sweep.folder import PARTS, RESULTS, Results
from tailwork.studies.sweep.tables import Extremes, ended_text, ends, no_value_text, reason_rows, warning_text
from tailwork.typing import Floats
from tailwork.view.figures.sweep import MOST_SHOWN, curves, design_map, measure_label, pair_matrix, varied_label
from tailwork.view.report.page import Drawing, Drawings, Picture, Report, Section, Table, scenario_title

FOLLOWS = 0.5
"""Correlation of ranks from which on a measure is said to follow a number."""
MOST_NAMED = 2
"""Measures that the conclusion names."""
EARLY = (
    "Where a run ended early, measures are those of its time until then and cannot be compared with others: maps are "
    "pale there, points hollow, and tables leave them out."
)


def sweep_report(results: Results) -> Report:
    """The report: maps or curves of all measures, the designs at their ends, and why designs ended early."""
    found = ends(results)
    return Report("Sweep of designs", conclusion(results, found), _figures(results), partial(_sections, results, found))


def conclusion(results: Results, found: Mapping[str, Extremes]) -> str:
    """Between which values each of the first measures lies and for which designs, what it follows, whether these
    designs are possible, and how many ended early."""
    sweep, said = results.sweep, []
    for name in sweep.measures[:MOST_NAMED]:
        values = np.where(results.whole, results.measures[name], np.nan)
        if not np.isfinite(values).any():
            said.append(f"{name.replace('_', ' ')} has no value: {no_value_text(results)}")
            continue
        low, high = (
            f"{with_unit(float(values[k]), unit_of(name), 3)} ({_design(results, k, found[name].wrong.get(k, []))})"
            for k in (int(np.nanargmin(values)), int(np.nanargmax(values)))
        )
        said.append(f"{name.replace('_', ' ')} goes from {low} to {high}{_followed(results, values)}")
    rest = f" {capitalised(ended_text(results))}." if not results.whole.all() else ""
    return f"{capitalised('; '.join(said))}.{rest}"


def _design(results: Results, k: int, wrong: Sequence[str]) -> str:
    """What is varied, of one design, and what is impossible about it."""
    varied = ", ".join(
        f"{one.path} {with_unit(float(column[k]), one.unit, 3)}"
        for one, column in zip(results.sweep.varied, results.values.values(), strict=True)
    )
    return f"{varied}; not possible: {', '.join(wrong)}" if wrong else varied


def _followed(results: Results, values: Floats) -> str:
    """With which of the varied numbers a measure rises or falls most, by the correlation of ranks; empty: one varies,
    or none matters."""
    known = np.isfinite(values)
    ranks = {path: _ranks(column[known]) for path, column in results.values.items() if np.ptp(column[known]) > 0.0}
    if len(ranks) < 2 or np.ptp(values[known]) == 0.0:
        return ""
    own = _ranks(values[known])
    found = {path: float(np.corrcoef(own, rank)[0, 1]) for path, rank in ranks.items()}
    path = max(found, key=lambda path: abs(found[path]))
    if abs(found[path]) < FOLLOWS:
        return ""
    way = "rises" if found[path] > 0.0 else "falls"
    return f" and {way} with {path} most (correlation of ranks {rounded(found[path], 2)})"


def _ranks(x: np.ndarray) -> Floats:
    """Ranks; equal numbers have their mean."""
    _, which, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2.0)[which]


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


def _sections(results: Results, found: Mapping[str, Extremes], drawn: Mapping[str, Picture]) -> list[Section]:
    sweep, first = results.sweep, next(iter(drawn.values()), None)
    sections: list[Section] = []
    opening = Section("", "", [first] if first else [])
    for name in sweep.measures:
        pictures = [drawn[kind] for kind in (f"map-{name}", f"matrix-{name}") if kind in drawn]
        pictures = [picture for picture in pictures if picture is not first]
        own = found[name]
        header = ("", "design", *(varied_label(one) for one in sweep.varied), *own.heads, measure_label(name))
        caption = f"{capitalised(meaning_of(name))}: designs at the ends, of those that ran to their end"
        tables = [Table(header, own.rows, caption, own.note)] if own.rows else []
        text = f"{capitalised(meaning_of(name))} [{unit_of(name)}]."
        if not np.isfinite(results.measures[name]).any():
            text += f" {capitalised(no_value_text(results))}."
        if name == sweep.measures[0] and tables:
            opening = replace(opening, tables=tables)
            if not pictures:
                continue
            tables = []
        sections.append(Section(name.replace("_", " ").capitalize(), text, pictures, tables))
    sections = [opening, Section("How it was done", _summary(results), folded=True), *sections]
    ended = reason_rows(results)
    if ended:
        rows = [[f"{count:,}", str(example), reason] for count, example, reason in ended]
        text = f"{capitalised(ended_text(results))}."
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
    whole = "All" if results.whole.all() else f"{results.whole.sum():,}"
    return (
        f"{sweep.designs:,} designs of the robot {scenario.robot.name}, {how}. Varied: "
        f"{'; '.join(one.text for one in sweep.varied)}. Its tail, unless "
        f"varied: {tail_text(scenario.tail_part)}. It {motion_text(scenario.motion)}. Leg "
        f"policy: {scenario.leg_policy.text(scenario.robot)}. {whole} ran to their end."
    )
