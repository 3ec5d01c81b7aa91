"""`python -m benchmarks.readme`: the README's section on speed from the results that `make bench` has written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "engine.json"
BEGIN, END = "<!-- speed begins (written by python -m benchmarks.readme) -->", "<!-- speed ends -->"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def times(ratio: Mapping[str, float] | None) -> str:
    """How many times, from a ratio with its quartiles."""
    if ratio is None:
        return "—"
    median = ratio["median"]
    return f"{median:.0f}×" if median >= 10.0 else f"{median:.1f}×"


def seconds(value: float) -> str:
    """Seconds as one reads them."""
    return f"{value:.2f} s"


def section(found: Mapping[str, Any]) -> str:
    """The text between the marks."""
    evaluations = [
        (
            s["robot"], str(s["velocities"]), str(s["operations"]), f"{s['loop']:.0f}", f"{s['lanes']:.0f}",
            *(f"{s[key]:.0f}×" if s[key] else "—" for key in ("ratio_loop", "ratio_lanes")),
        )
        for s in found["forward_dynamics"]
    ]  # fmt: skip
    calls = [
        (
            r["workload"], r["call"], f"{r['ours']:.2f}", f"{r['compiled']:.2f}", str(r["steps"]), f"{r['error']:.0e}",
            f"{r['theirs']:.1f}" if r["theirs"] else "—", times(r["pairs"]),
        )
        for r in found["calls"]
    ]  # fmt: skip
    runs = [
        (r["name"], f"{r['ours']:.2f}", r["peer"], f"{r['theirs']:.1f}", f"{r['difference']:.0e}", f"{r['ratio']:.0f}×")
        for r in found["trajectories"]
    ]
    starts = [(r["asked"], seconds(r["cold"]), seconds(r["warm"])) for r in found["starts"]]
    designs = [
        (
            f"{r['robot']}, {r['workload']}{', springs tenfold' if 'tenfold' in r['varied'] else ''}",
            f"{r['rate']:,.0f}", f"{r['steps']:.0f}", f"{r['error']:.0e}", r["peer"], f"{r['peer_rate']:,.0f}",
            f"{r['peer_error']:.0e}", times(r["ratio"]), times(r["equal"]),
        )
        for r in found["designs"]
    ]  # fmt: skip
    gradients = "; ".join(
        f"{r['robot']}, {r['parameters']} numbers: {r['ratio']['median']:.1f} runs, or "
        f"{r['lane_ratio']['median']:.0f} runs of a batch"
        for r in found["gradients"]
    )
    shares = "; ".join(
        f"{s['robot']} {s['share_of_peak']:.0%} on one thread, {s['share_of_peak_threads']:.0%} on two"
        for s in found["forward_dynamics"] if s["robot"] in ("pendulum", "usrt")
    )  # fmt: skip
    walk, trots, synthesis = found["walking"], found["trots"], found["synthesis"]
    missed = [goal for goal in found["goals"] if not goal["met"]]
    said = f"{len(found['goals']) - len(missed)} of {len(found['goals'])} goals that the benchmark sets itself are met"
    for goal in missed:
        said += f"; {goal['what']}: {goal['value']:.3g} where {goal['bound']:g} was wanted"
    parts = [
        "One evaluation of the forward dynamics in nanoseconds, and how many times as long Pinocchio takes (net of its "
        "Python call):",
        table(("robot", "degrees of freedom", "operations", "compiled loop", "batch, one core", "Pinocchio / loop",
               "Pinocchio / batch"), evaluations),
        "What a user's call takes, in milliseconds: 0.3 s at the default tolerance, beside SciPy's RK45 on the "
        "constraint dynamics of Pinocchio. The PD swing is the example above; the error is that of the last state:",
        table(("workload", "call", "time", "of it compiled", "steps", "error", "SciPy on Pinocchio", "times faster"),
              calls),
        "The compiled integrators alone, in milliseconds, with how far the last states are apart:",
        table(("ours", "time", "beside", "time", "difference", "times faster"), runs),
        "From the start of a process to its first result, with the imports:",
        table(("first result", "empty cache", "filled cache"), starts),
        "Different designs (masses and lengths varied), 0.3 s each by `simulate_batch` on two threads, beside the "
        "threaded rollout of MuJoCo with a dense Jacobian; the last column is at a tolerance so loose that our error "
        "is just below MuJoCo's:",
        table(("robot", "designs a second", "steps", "error", "beside", "designs a second", "error", "times as many",
               "at equal error"), designs),
        f"The price of a gradient by all numbers of a design: {gradients}. Batches of forward dynamics run at these "
        f"shares of the machine's peak: {shares}.",
        f"A search judges {synthesis['rate']:,.0f} designs a second by {synthesis['measures']} measures. A simulated "
        f"second of the 36-DOF cockroach walking on compliant ground takes {walk['ours']:.2f} s on one core, in steps "
        f"of {walk['step'] * 1e6:.1f} µs; MuJoCo's own contact simulation of the same model with the same step takes "
        f"{walk['ratio']:.1f} times as long. {trots['runs']:,} trots of 2 s in a batch on one core take "
        f"{trots['together'] * 1e3:.1f} ms each, alone {trots['alone'] * 1e3:.1f} ms.",
        f"{said[0].upper()}{said[1:]}.",
    ]  # fmt: skip
    return "\n\n".join(part if part.startswith("|") else fill(part, 120, break_on_hyphens=False) for part in parts)


def with_section(readme: str, found: Mapping[str, Any]) -> str:
    """A README with its section written anew."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{section(found)}\n\n{END}{after}"


if __name__ == "__main__":
    file = ROOT / "README.md"
    file.write_text(with_section(file.read_text(), json.loads(RESULTS.read_text())))
