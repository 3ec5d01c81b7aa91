"""A design simulated again, alone, by the adaptive method, and its measures read from that run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tailwork.errors import ArgumentError
from tailwork.simulation import Run
from tailwork.simulation.integrate.balance import TRUSTED, poor_balance
from tailwork.studies.design.evaluate import Evaluator
from tailwork.studies.design.problem import Study
from tailwork.studies.design.variables import design_of
from tailwork.studies.measures import KINDS
from tailwork.studies.perform import measured, perform
from tailwork.studies.possible import CHECKS
from tailwork.studies.scenario import Scenario
from tailwork.typing import Floats

FINER = 8
"""How many times more nodes the designs are looked at again."""
AGREE = 1e-4
"""Measures that differ by less than this share of their size agree."""
RTOL, ATOL = 1e-10, 1e-12


@dataclass(frozen=True)
class Verified:
    """A design's measures at the steps of the search, at finer steps, and from a single adaptive run."""

    design: Scenario
    run: Run
    coarse: dict[str, float]
    fine: dict[str, float]
    alone: dict[str, float]
    balance: float = math.nan  # of energy at the steps of the search; see `Run.energy_balance_error` [1]

    def warnings(self) -> tuple[str, ...]:
        """What speaks against trusting the single run or the steps of the search, in words."""
        coarse = poor_balance(self.balance, TRUSTED)
        return (*self.run.warnings, *([f"At the steps of the search {coarse}"] if coarse else []))

    def disagreements(self) -> dict[str, tuple[float, float]]:
        """Measures of finer steps and of the single run that differ."""
        return {
            name: (value, self.alone[name])
            for name, value in self.fine.items()
            if value != self.alone[name]  # as both may be infinite
            and not abs(value - self.alone[name]) <= AGREE * max(abs(value), abs(self.alone[name]), 1e-6)
        }


@dataclass(frozen=True)
class Alone:
    """A design's single adaptive run and its measures."""

    run: Run
    measures: dict[str, float]


def as_given(study: Study, wanted: Iterable[str]) -> Alone | None:
    """What the robot of a problem does as it is, by the scenario's own motion; None: it cannot, or ends early."""
    try:
        design = design_of(study, {})
    except ArgumentError:  # a sweep that is always varied may be stated beyond what is possible
        return None
    run = simulated(study, design, FINER * study.steps + 1)
    names = dict.fromkeys([*wanted, *CHECKS, *(name for parts in KINDS.values() for name in parts)])
    return None if run.stopped is not None else Alone(run, measured(run, design, names))


def verified(evaluator: Evaluator, values: Floats) -> Verified:
    """Look at a design again."""
    study, names = evaluator.study, evaluator.all_measures
    steps = FINER * study.steps
    coarse, fine = evaluator.alone(values, names), evaluator.alone(values, names, steps)
    design = design_of(study, study.named(values))
    run = simulated(study, design, steps + 1)
    alone = measured(run, design, names)
    known = [name for name in names if not math.isnan(alone[name]) or not math.isnan(fine[name])]
    own = ({name: found[name] for name in known} for found in (coarse, fine, alone))
    return Verified(design, run, *own, balance=fixed_run(evaluator, design).energy_balance_error())


def fixed_run(evaluator: Evaluator, design: Scenario) -> Run:
    """A design's run by the steps of the search."""
    method = "rodas5p" if evaluator.stiff else "rk4"
    return perform(design, method=method, step=design.duration / evaluator.study.steps, samples=2)


def simulated(study: Study, design: Scenario, samples: int) -> Run:
    """A design's run by the adaptive method."""
    run = perform(design, rtol=RTOL, atol=ATOL, samples=samples)
    sweep = math.degrees(float(design.motion.end[1]))
    return run.titled(f"{study.name}: the tail sweeps {sweep:.3g}° in {design.duration:.3g} s")
