"""A design simulated again, alone, by the adaptive method, and its measures read from that run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tailwork.design.evaluate import Evaluator, prepared
from tailwork.design.measures import MEASURES
from tailwork.design.problem import Study
from tailwork.design.variables import Design, design_of
from tailwork.kernels.kernel import Floats
from tailwork.simulation import Run, simulate
from tailwork.simulation.pose import torso_angles, torso_rates

FINER = 8
"""How many times more nodes the designs are looked at again."""
AGREE = 1e-4
"""Measures that differ by less than this share of their size agree."""
RTOL, ATOL = 1e-10, 1e-12


@dataclass(frozen=True)
class Verified:
    """A design's measures at the steps of the search, at finer steps, and from a single adaptive run."""

    design: Design
    run: Run
    coarse: dict[str, float]
    fine: dict[str, float]
    alone: dict[str, float]

    def disagreements(self) -> dict[str, tuple[float, float]]:
        """Measures of finer steps and of the single run that differ."""
        return {
            name: (value, self.alone[name])
            for name, value in self.fine.items()
            if not abs(value - self.alone[name]) <= AGREE * max(abs(value), abs(self.alone[name]), 1e-6)
        }


def verified(evaluator: Evaluator, values: Floats) -> Verified:
    """Look at a design again."""
    study = evaluator.study
    names = [name for name, measure in MEASURES.items() if _has(evaluator, measure.quantity)]
    steps = FINER * study.steps
    coarse = {name: float(x[0]) for name, x in evaluator.measures(values[None], names).items()}
    fine = {name: float(x[0]) for name, x in evaluator.measures(values[None], names, steps).items()}
    design = design_of(study, dict(zip((v.name for v in evaluator.variables), values.tolist(), strict=True)))
    run = simulated(study, design, steps + 1)
    return Verified(design, run, coarse, fine, measured_alone(study, design, run, fine))


def _has(evaluator: Evaluator, quantity: str) -> bool:
    here = evaluator.nodes.columns.get(quantity)
    return here is None or here.stop > here.start


def simulated(study: Study, design: Design, samples: int) -> Run:
    """A design's run by the adaptive method."""
    ready = prepared(study, design)
    q = np.zeros(len(ready.system.model.coordinate_names))
    q[ready.system.free_q] = ready.start[: len(ready.system.free_q)]
    run = simulate(
        ready.system.model, q, design.duration, control=ready.system.laws, tail=ready.system.motions, rtol=RTOL,
        atol=ATOL, samples=samples,
    )  # fmt: skip
    return run.titled(f"{study.name}: the tail sweeps {design.sweep:.3g}° in {design.duration:.3g} s")


def measured_alone(study: Study, design: Design, run: Run, wanted: Mapping[str, float]) -> dict[str, float]:
    """The measures that are wanted, from the data of a run."""
    data, tail = run.data, study.tail_name
    angles = {name: np.degrees(values) for name, values in torso_angles(run).items()}
    rates = {name: np.degrees(values) for name, values in torso_rates(run).items()}
    torque = np.abs(data["prescribed_effort"].to_numpy()[:, _own(run.model.prescribed_names, tail)])
    sources = (*run.model.actuator_names, *run.model.prescribed_names)
    power = data["power"].to_numpy()[:, _own(sources, tail)].sum(axis=1)
    speed = np.degrees(data["v"].to_numpy()[:, run.model.layout.rates[tail]])
    limb = run.model.layout.limbs[tail]
    mass = sum(float(joint.body.mass) for joint in limb.joints if joint.body is not None)
    places = {name: data["points"].sel(point=f"{tail}.{name}").to_numpy()[0] for name in (limb.joints[0].name, "tip")}
    carried = (
        study.actuator.base + study.actuator.per_torque * torque.max() + study.actuator.per_power * np.abs(power).max()
    )
    against = -np.sign(design.sweep)
    found = {f"peak_{name}": np.abs(values).max() for name, values in angles.items()}
    found |= {name: values[-1] - values[0] for name, values in angles.items()}
    found |= {f"peak_{name}_rate": np.abs(values).max() for name, values in rates.items()}
    found |= {
        "turn": against * found[study.scenario.axis],
        "peak_tail_torque": torque.max(),
        "peak_tail_speed": np.abs(speed).max(),
        "peak_tail_power": np.abs(power).max(),
        "tail_energy": np.trapezoid(np.abs(power), data["time"].to_numpy()),
        "tail_mass": mass,
        "tail_length": np.linalg.norm(places["tip"] - places[limb.joints[0].name]),
        "actuator_mass": carried,
        "added_mass": mass + carried,
    }
    if run.model.foot_names:
        force = data["foot_force"].to_numpy()
        found |= {
            "least_normal_force": force[..., 2].min(),
            "friction_needed": (np.hypot(force[..., 0], force[..., 1]) / force[..., 2]).max(),
            "most_extension": data["extension"].to_numpy().max(),
            "peak_leg_torque": np.abs(data["tau"].to_numpy()).max(),
        }
    return {name: float(found[name]) for name in wanted}


def _own(names: tuple[str, ...], limb: str) -> list[int]:
    return [k for k, name in enumerate(names) if name.startswith(f"{limb}.")]
