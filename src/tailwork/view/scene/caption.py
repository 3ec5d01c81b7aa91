"""What a scene shows, in words and numbers."""

from __future__ import annotations

import numpy as np

from tailwork.simulation import Run
from tailwork.simulation.pose import TURNS, torso_angles, torso_rates
from tailwork.view.scene.scene import Caption


def caption_of(run: Run, notes: tuple[str, ...] = ()) -> Caption:
    """Robot, motion and measures of a run; notes of what must be known of it."""
    return Caption(
        robot=run.model.robot.name,
        motion=run.title,
        measures=tuple(_measures(run)),
        notes=(*_ended(run), *notes),
    )


def _measures(run: Run) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = [("time simulated", f"{run.duration:.4g} s")]
    if run.model.layout.torso_free:
        angles, rates = torso_angles(run), torso_rates(run)
        net = [np.degrees(angles[name][-1] - angles[name][0]) for name in TURNS]
        peak = [np.degrees(np.abs(rates[name]).max()) for name in TURNS]
        found.append(("torso has turned (pitch, roll, yaw)", ", ".join(_signed(x) for x in net) + " °"))
        found.append(("largest rates", ", ".join(f"{x:.3g}" for x in peak) + " °/s"))
    found += _efforts(run)
    if run.ground is not None:
        found.append(("feet", "none slipped or left the ground" if run.assumption_held() else "some slipped or lifted"))
    elif run.model.foot_names:
        least, friction = run.min_normal_force(), run.friction_needed()
        found.append(("least normal force of a foot", f"{least:.3g} N".replace("-", "−")))
        found.append(("friction needed", "none is enough: a foot would pull" if least <= 0 else f"{friction:.3g}"))
    found.append(("energy balances to", f"{run.energy_balance_error():.1e}".replace("-", "−")))
    return found


def _efforts(run: Run) -> list[tuple[str, str]]:
    """Largest efforts of the limbs without a foot, a unit at a time, imposed ones included."""
    legs = run.model.layout.legs
    largest: dict[str, float] = {}
    for name, units in (("tau", run.model.layout.actuator_units), ("prescribed_effort", None)):
        if name not in run.data:
            continue
        names = run.model.actuator_names if name == "tau" else run.model.prescribed_names
        values = np.abs(run.data[name].to_numpy()).max(axis=0)
        for k, one in enumerate(names):
            if one.partition(".")[0] not in legs:
                unit = "N m" if units is None else units[k]
                largest[unit] = max(largest.get(unit, 0.0), float(values[k]))
    return [(f"largest {'tension' if unit == 'N' else 'torque'} of the tail", f"{value:.3g} {unit}")
            for unit, value in largest.items()]  # fmt: skip


def _ended(run: Run) -> tuple[str, ...]:
    if run.stopped is None:
        return ()
    return (f"stopped at {run.stopped.time * 1e3:.0f} ms: {run.stopped.reason}",)


def _signed(x: float) -> str:
    return f"{round(float(x), 2) + 0.0:+.2f}".replace("-", "−")
