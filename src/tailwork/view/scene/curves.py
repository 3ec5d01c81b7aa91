"""What stands beside the picture of a run: curves over time, and a caption with its measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tailwork.format import fixed, minus, rounded
from tailwork.mechanics.compliant.impedance import friction_ratio
from tailwork.simulation import Run
from tailwork.simulation.pose import TURNS, run_torso_angles, torso_rates
from tailwork.typing import Floats
from tailwork.view.scene.colors import FEET, LINES, lit
from tailwork.view.scene.scene import Caption, Curve, Plot, RowIndices

EFFORTS = {"N m": "torques", "N": "tensions"}


def foot_color(feet: Sequence[str], foot: str) -> str:
    """The colour of a foot in every picture."""
    return FEET[feet.index(foot) % len(FEET)]


def plots_of(run: Run, label: str, color: str, rows: RowIndices) -> tuple[Plot, ...]:
    """All plots of a run at some of its samples."""
    found: list[Plot] = []
    if run.model.layout.torso_free:
        for group, values, unit in (("angles", run_torso_angles(run), "°"), ("rates", torso_rates(run), "°/s")):
            for name in TURNS:
                title = name if group == "angles" else f"{name} rate"
                curve = Curve(label, np.degrees(values[name])[rows], color)
                found.append(Plot(title, title, unit, group, (curve,), shared=True))
    return (*found, *_effort_plots(run, color, rows), *_foot_plots(run, rows))


def _efforts(run: Run) -> Iterator[tuple[str, str, Floats, bool]]:
    """Names, units and values over time of all efforts, and whether they impose a motion."""
    units = run.model.layout.actuator_units
    for key, names in (("tau", run.model.actuator_names), ("prescribed_effort", run.model.prescribed_names)):
        if key in run.data:
            values = run.data[key].to_numpy()
            for k, name in enumerate(names):
                yield name, units[k] if key == "tau" else "N m", values[:, k], key != "tau"


def _effort_plots(run: Run, color: str, rows: RowIndices) -> list[Plot]:
    """Efforts of the tails, then of the legs, a plot a unit; what imposes a motion among them."""
    legs = list(run.model.layout.legs)
    curves: dict[tuple[str, str], list[Curve]] = {}
    for name, unit, values, imposed in _efforts(run):
        limb = name.partition(".")[0]
        kind, shade = ("leg", foot_color(legs, limb)) if limb in legs else ("tail", color)
        here = curves.setdefault((kind, unit), [])
        before = sum(1 for curve in here if curve.name.startswith(f"{limb}."))
        shade = lit(shade, min(0.4 * (before // len(LINES)), 0.8))  # when the line styles begin again
        here.append(Curve(name + " (imposed)" * imposed, values[rows], shade, before % len(LINES)))
    found: list[Plot] = []
    for (kind, unit), here in sorted(curves.items(), key=lambda item: item[0][0] == "leg"):
        title = f"{kind} {EFFORTS.get(unit, 'efforts')}"
        found.append(Plot(title, title, unit, "torques", tuple(here)))
    return found


def _foot_plots(run: Run, rows: RowIndices) -> list[Plot]:
    """Normal force, and friction used, of every foot."""
    if "foot_force" not in run.data:
        return []
    force = run.data["foot_force"].to_numpy()[rows]
    feet, points = [str(foot) for foot in run.data["foot"].to_numpy()], list(run.model.layout.contact_points)
    across = friction_ratio(force)
    # Not shown: a foot that would pull, or that hardly touches, where the ratio says nothing.
    across = np.where(np.isfinite(across) & (force[..., 2] > 1e-3 * np.abs(force[..., 2]).max()), across, np.nan)
    shown = [(foot, foot_color(points, foot), points.index(foot) // len(FEET) % len(LINES)) for foot in feet]
    normal, used = (
        tuple(Curve(foot, values[:, k], color, dash) for k, (foot, color, dash) in enumerate(shown))
        for values in (force[..., 2], across)
    )
    return [
        Plot("normal force", "normal force", "N", "feet", normal),
        Plot("friction", "friction needed" if run.ground is None else "friction used", "1", "feet", used),
    ]


def caption_of(run: Run, notes: tuple[str, ...] = ()) -> Caption:
    """Robot, motion and measures of a run; notes of what must be known of it."""
    found: list[tuple[str, str]] = [("time simulated", f"{run.duration:.4g} s")]
    if run.model.layout.torso_free:
        angles, rates = run_torso_angles(run), torso_rates(run)
        net = [np.degrees(angles[name][-1] - angles[name][0]) for name in TURNS]
        peak = [np.degrees(np.abs(rates[name]).max()) for name in TURNS]
        found.append(("torso has turned (pitch, roll, yaw)", ", ".join(fixed(x, 2, signed=True) for x in net) + " °"))
        found.append(("largest rates", ", ".join(f"{x:.3g}" for x in peak) + " °/s"))
    largest: dict[str, float] = {}
    for name, unit, values, _ in _efforts(run):
        if name.partition(".")[0] not in run.model.layout.legs:
            what = f"largest {'tension' if unit == 'N' else f'torque on {_driven(run, name)}'} of the tail [{unit}]"
            largest[what] = max(largest.get(what, 0.0), float(np.abs(values).max()))
    found += [(what, f"{value:.3g}") for what, value in largest.items()]
    if run.ground is not None:
        found.append(("feet", "none slipped or left the ground" if run.assumption_held() else "some slipped or lifted"))
    elif run.model.foot_names:
        least, friction = run.min_normal_force(), run.friction_needed()
        found.append(("least normal force of a foot", f"{rounded(least, 3)} N"))
        found.append(("friction needed", "none is enough: a foot would pull" if least <= 0 else f"{friction:.3g}"))
    found.append(("energy balances to", minus(f"{run.energy_balance_error():.1e}")))
    return Caption(run.model.robot.name, run.title, tuple(found), (*filter(None, [stop_note(run)]), *notes))


def _driven(run: Run, name: str) -> str:
    """What an effort turns: a joint, or a segment whose joints bend alike."""
    limb, _, own = name.partition(".")
    found = run.model.layout.limbs[limb]
    by_actuator = {actuator.name: getattr(actuator, "coordinate", own) for actuator in found.actuators}
    coordinate = by_actuator.get(own, own)
    return "a segment" if coordinate in found.coordinates and len(found.moved(coordinate)) > 1 else "a joint"


def stop_note(run: Run) -> str:
    """When and why a run ended early; empty: it did not."""
    return "" if run.stopped is None else f"stopped at {run.stopped.time * 1e3:.0f} ms: {run.stopped.reason}"
