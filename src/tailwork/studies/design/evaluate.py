"""Designs evaluated, thousands at a time: fixed steps, smooth in every variable, with exact derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from tailwork.errors import ArgumentError
from tailwork.simulation.batch.inputs import initial_states, workers
from tailwork.simulation.batch.kernels import in_shares
from tailwork.simulation.derivatives.rollout import RolloutTangents
from tailwork.simulation.integrate.choose import spectral_radii
from tailwork.simulation.integrate.rollout import Rollout
from tailwork.studies.design.problem import Study, Variable
from tailwork.studies.design.variables import SCALES, checked_variables, design_of, middle
from tailwork.studies.measures import EXTREMES, MEASURES, Combined, Measure, needed
from tailwork.studies.observer import SUMMARISED, Observer, combined, from_samples, from_summary, observer
from tailwork.studies.scenario import parameter_name
from tailwork.typing import Floats

FEW = 64
"""Designs that one thread takes."""
SHARE = 1024
"""Designs that are rolled and judged together: what they need stays in the processor's cache."""
STRAIGHT = 0.985
"""Extension of a leg beyond which its closed form is too near to its end."""
STIFF = 300.0
"""Above this product of spectral radius and duration the stiff method needs fewer operations for the same accuracy."""
STABLE = 2.7
"""Product of spectral radius and step up to which Runge–Kutta 4 is stable."""
SMALL = 1e-30
"""Imaginary step by which derivatives of reductions are taken: they are exact."""
ACCURATE = 1e-3
"""Share of a measure that twice as many steps may change."""
MOST_CHOSEN = 960
"""Steps that are chosen at most."""
ALWAYS = ("most_extension", "least_normal_force")


class Evaluator:
    """A design problem compiled: from designs to measures and their derivatives.

    Args:
        study: the problem; its choices have been made.
        threads: how many; as many as there are processors by default.
        also: measures that will be asked for besides those of the problem.
    """

    def __init__(self, study: Study, threads: int | None = None, also: Sequence[str] = ()) -> None:
        self.study = study
        self.variables: tuple[Variable, ...] = checked_variables(study)
        self.threads = workers(threads)
        self.parameters = [  # which variable, name of a parameter of the problem, what one unit of the first is of it
            (k, name, SCALES.get(variable.name, 1.0))
            for k, variable in enumerate(self.variables)
            for name in parameter_name(study.scenario, variable.name)
        ]
        names = list(dict.fromkeys(name for _, name, _ in self.parameters))
        scenario = design_of(study, middle(self.variables))
        problem = replace(scenario.problem(), events=())
        self.system = problem.system(varied=names, scaled=f"motion.{scenario.tail}.duration")
        self.known = list(dict.fromkeys([*study.measures, *also, *ALWAYS]))
        self._observers: dict[tuple[str, ...], tuple[Observer, Rollout]] = {}
        columns = self.columns(np.array([list(middle(self.variables).values())]))  # of the design in the middle
        x, still = initial_states(self.system, columns, 1), np.zeros(self.system.control_inputs)
        # The time is scaled, so that the duration is counted in.
        radius = spectral_radii(self.system, columns, x, still, 0.0)[0]
        self.stiff = bool(radius > min(STIFF, STABLE * study.steps))
        self.look, self._rollout = self._observed(self.known)
        missing = [name for name in study.measures if not self.look.has(name)]
        if missing:
            required = f"measures that this robot has under the policy '{study.scenario.policy}'; leave these out"
            raise ArgumentError("measures", ", ".join(missing), required)

    def _observed(self, names: Sequence[str]) -> tuple[Observer, Rollout]:
        """What some measures need, compiled."""
        key = tuple(names)
        if key not in self._observers:
            look = observer(self.system, self.study.tail_name, names, along=True)
            self._observers[key] = look, Rollout(self.system, look.kernel, look.parameters, self.stiff)
        return self._observers[key]

    def with_steps(self, steps: int) -> Evaluator:
        """The same with another number of steps, and nothing compiled again."""
        other = copy(self)
        other.study = replace(self.study, steps=steps)
        return other

    def with_enough_steps(self) -> Evaluator:
        """The same with as many steps as it takes, at least those of the problem: at both ends and in the middle of the
        bounds, twice as many change no measure that is asked for by more than ACCURATE of it.

        Raises:
            ArgumentError: so many steps would not do.
        """
        designs, steps = np.stack([self.low, (self.low + self.high) / 2.0, self.high]), self.study.steps
        found = self.measures(designs, self.study.measures, steps)
        while True:
            finer = self.measures(designs, self.study.measures, 2 * steps)
            wrong = [name for name in found if not _settled(found[name], finer[name])]
            if not wrong:
                return self if steps == self.study.steps else self.with_steps(steps)
            if 4 * steps > MOST_CHOSEN:
                required = (
                    f"a motion that {MOST_CHOSEN} steps can follow: {', '.join(wrong)} changes with their number. "
                    "Take a slower or smaller motion, softer gains, or narrower bounds"
                )
                raise ArgumentError("steps", steps, required)
            steps, found = 2 * steps, finer

    @cached_property
    def all_measures(self) -> list[str]:
        """All measures that this robot has and that tables show."""
        shown = [name for name, measure in MEASURES.items() if not measure.hidden]
        look = self.look if set(shown) <= set(self.known) else self._observed([*shown, *ALWAYS])[0]
        return [name for name in shown if look.has(name)]

    @cached_property
    def _pool(self) -> Executor | None:
        return ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    @property
    def low(self) -> Floats:
        """Lower bounds, in the variables' own units."""
        return np.array([variable.low for variable in self.variables])

    @property
    def high(self) -> Floats:
        """Upper bounds, in the variables' own units."""
        return np.array([variable.high for variable in self.variables])

    def columns(self, designs: Floats) -> dict[str, Floats]:
        """Parameters of the problem [SI] in all designs."""
        return {name: designs[:, k] * scale for k, name, scale in self.parameters}

    def durations(self, designs: Floats) -> Floats:
        """How long each design moves [s]."""
        for k, variable in enumerate(self.variables):
            if variable.name == "motion.duration":
                return designs[:, k]
        return np.full(len(designs), self.study.scenario.duration)

    def roll(self, designs: Floats, steps: int | None = None) -> Floats:
        """Quantities of the problem's own measures at all nodes, (designs, steps + 1, quantities), in their units."""
        return self._rolled(self._rollout, True, designs, steps, self._threads(len(designs)))

    def _threads(self, count: int) -> Executor | None:
        """Threads for so many designs."""
        return self._pool if count > FEW else None

    def _rolled(
        self, rolls: Rollout, every: bool, designs: Floats, steps: int | None, pool: Executor | None = None
    ) -> Floats:
        columns = self.columns(designs)
        starts = initial_states(self.system, columns, len(designs), pool)
        return rolls(columns, starts, steps or self.study.steps, every, pool)

    def measures(self, designs: Floats, names: Sequence[str], steps: int | None = None) -> dict[str, Floats]:
        """Measures of designs, by name, (designs,), in the units of `MEASURES`.

        NaN where a leg comes to be all but straight: there the model ends, and what follows means nothing.
        """
        inside = set(names) <= set(self.known)
        observed = self._observed(self.known if inside else [*self.all_measures, *ALWAYS])
        found = {name: np.empty(len(designs)) for name in names}

        def share(here: slice) -> None:
            for name, values in self._measures(observed, designs[here], names, steps).items():
                found[name][here] = values

        in_shares(self._threads(len(designs)), len(designs), share, most=SHARE)
        return found

    def _measures(
        self, observed: tuple[Observer, Rollout], designs: Floats, names: Sequence[str], steps: int | None
    ) -> dict[str, Floats]:
        """Of a share of the designs, on one thread."""
        look, rolls = observed
        wanted, actuator = [*names, "most_extension"], self.study.scenario.actuator
        lasting = self.durations(designs)
        with np.errstate(invalid="ignore"):
            every = any(own.reduction not in SUMMARISED for own in needed(wanted))
            seen = self._rolled(rolls, every, designs, steps)
            if every:
                found = from_samples(wanted, seen, self.times(designs, steps), look.columns, actuator)
            else:
                known = {
                    own.name: from_summary(own, seen[..., look.columns[own.name]], lasting) for own in needed(wanted)
                }
                found = combined(wanted, known, actuator)
            fine = (found["most_extension"] <= STRAIGHT) | (not look.has("most_extension"))
        return {name: np.where(fine, found[name], np.nan) for name in names}

    def extensions(self, designs: Floats) -> Floats:
        """Largest extension of a leg in each design [1]; 0 where there are no feet on the ground."""
        if not self.look.has("most_extension"):
            return np.zeros(len(designs))
        seen = self.roll(designs)
        return np.nanmax(seen[..., self.look.columns["most_extension"]], axis=(1, 2), initial=0.0)

    def alone(self, design: Floats, names: Sequence[str], steps: int | None = None) -> dict[str, float]:
        """Measures of one design, by name, in the units of `MEASURES`."""
        return {name: float(values[0]) for name, values in self.measures(design[None], names, steps).items()}

    def times(self, designs: Floats, steps: int | None = None) -> Floats:
        """When the nodes of `roll` are [s], (designs, steps + 1)."""
        return self.durations(designs)[:, None] * _shares(steps or self.study.steps)

    @cached_property
    def _rollout_tangents(self) -> RolloutTangents:
        names = list(dict.fromkeys(name for _, name, _ in self.parameters))
        directions = np.zeros((len(self.variables), len(names)))
        for k, name, scale in self.parameters:
            directions[k, names.index(name)] = scale
        node = (self.look.graph, self.look.parameters)
        return RolloutTangents(self.system, node, tuple(self.known), self.stiff, directions, names)

    def tangents(self, design: Floats) -> Floats:
        """How the quantities of `roll` change with each variable, (variables, steps + 1, quantities), per its unit."""
        columns = self.columns(design[None])
        return self._rollout_tangents(columns, initial_states(self.system, columns, 1)[0], self.study.steps)

    def linearised(self, design: Floats, nodes: Floats | None = None) -> tuple[Any, Any]:
        """Quantities at the nodes of a design and their times [s], each variable's derivative as a small imaginary
        part: (variables, steps + 1, quantities), (variables, steps + 1). `nodes` are those of `roll`, where known."""
        known = self.roll(design[None]) if nodes is None else nodes
        by_duration = np.array([variable.name == "motion.duration" for variable in self.variables])
        times = self.times(design[None]) + 1j * SMALL * by_duration[:, None] * _shares(self.study.steps)
        return known + 1j * SMALL * self.tangents(design), times

    def derivatives(self, design: Floats, names: Sequence[str]) -> dict[str, Floats]:
        """By measure of the problem: its derivative by every variable, (variables,), in their units."""
        nodes, times = self.linearised(design)
        found = from_samples(list(names), nodes, times, self.look.columns, self.study.scenario.actuator)
        return {
            name: np.broadcast_to(np.imag(values) / SMALL, (len(self.variables),)) for name, values in found.items()
        }

    def rows(self, name: str, nodes: Any, times: Any, whole: bool = False) -> Any:
        """The values whose worst is a measure, (designs, k), in its unit: at every node where it is the worst along the
        path, else one. `whole` asks for the measure itself."""
        measure, actuator = MEASURES[name], self.study.scenario.actuator
        if not whole and isinstance(measure, Combined) and measure.worst:
            worst = MEASURES[measure.worst]
            assert isinstance(worst, Measure)
            others = [own for own in measure.of if own != measure.worst]
            known = {
                own: x[:, None] for own, x in from_samples(others, nodes, times, self.look.columns, actuator).items()
            }
            return combined([name], {**known, worst.name: self._node_rows(worst, nodes)}, actuator)[name]
        if not whole and isinstance(measure, Measure) and measure.reduction in EXTREMES:
            return self._node_rows(measure, nodes)
        return from_samples([name], nodes, times, self.look.columns, actuator)[name][:, None]

    def _node_rows(self, measure: Measure, nodes: Any) -> Any:
        flat = nodes[..., self.look.columns[measure.name]].reshape(len(nodes), -1)
        return np.concatenate([flat, -flat], axis=1) if measure.reduction == "peak" else flat


@cache
def _shares(steps: int) -> Floats:
    """Of the duration, at the nodes of so many steps."""
    return np.linspace(0.0, 1.0, steps + 1)


def _settled(coarse: Floats, fine: Floats) -> bool:
    """Whether measures of some designs agree where there are any; one that only finer steps have is not settled."""
    known = np.isfinite(fine)
    with np.errstate(invalid="ignore"):
        close = np.abs(coarse - fine) <= ACCURATE * np.maximum(np.abs(fine), np.abs(fine[known]).max(initial=0.0))
    return bool((close | ~known).all())
