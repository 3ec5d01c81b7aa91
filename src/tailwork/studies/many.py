"""Many manoeuvres at once: one motion, thousands of designs, side by side in the lanes of the processor.

Each design gives what it gives alone, by `perform` and `measured`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import TailworkError, UnknownNameError
from tailwork.simulation.asked import varied_numbers, workers
from tailwork.simulation.batch import Batch, simulate_batch
from tailwork.simulation.chunk import Tile
from tailwork.simulation.designs import in_shares, spectral_radii
from tailwork.simulation.events import LegStraight
from tailwork.simulation.integrate.choose import STIFF
from tailwork.simulation.simulate import STUCK_REASON
from tailwork.simulation.system import System
from tailwork.studies.design_groups import design_values, feasible
from tailwork.studies.manoeuvre import ATOL, RTOL, SAMPLES, Manoeuvre, perform
from tailwork.studies.many_control import Ready, prepared
from tailwork.studies.measures import FORMULAS
from tailwork.studies.samples import MOST_ROWS, Design, TileSamples
from tailwork.typing import Floats

EVENTS = (LegStraight(),)
"""Those that end a run."""
AT_ENDS = frozenset(("duration", "pitch", "roll", "yaw"))
"""Measures that need no samples but the first and the last."""


@dataclass(frozen=True)
class Outcomes:
    """What becomes of many designs, one entry each."""

    measures: dict[str, Floats]  # by name, (designs,), in the units of `Measures`; not a number where refused
    reasons: tuple[str, ...]  # "" where the run went to its end, else why it ended early or the design is not possible
    times: Floats  # [s] how long each ran; 0 where refused


def perform_many(
    manoeuvre: Manoeuvre,
    changes: Mapping[str, ArrayLike],
    *,
    measures: Sequence[str] | None = None,
    samples: int = SAMPLES,
    rtol: float = RTOL,
    atol: float = ATOL,
    threads: int | None = None,
    progress: Callable[[int, int], None] = lambda done, all_designs: None,
) -> Outcomes:
    """Perform a manoeuvre with many designs of its robot.

    Args:
        manoeuvre: with the robot that is changed.
        changes: values by path in SI units, as Robot.replace takes them, one for all or one a design.
        measures: names of measures (see `Measures`); None: all.
        samples: how many times of each run the measures see.
        rtol: relative tolerance.
        atol: absolute tolerance.
        threads: how many; as many as there are processors, unless told.
        progress: told (designs done, all designs) now and then.
    """
    asked = list(FORMULAS) if measures is None else list(measures)
    for name in asked:
        if name not in FORMULAS:
            raise UnknownNameError.among("measures", str(name), FORMULAS, "measure")
    values = design_values(manoeuvre.robot, changes)
    count = len(next(iter(values.values())))
    found = {name: np.full(count, np.nan) for name in asked}
    reasons, times = [""] * count, np.zeros(count)
    groups, refused = feasible(manoeuvre.robot, values)
    most, done = workers(threads), len(refused)
    progress(done, count)
    for group in groups:
        with ThreadPoolExecutor(most) as pool:
            ready = prepared(manoeuvre, group, refused, pool)
            methods = [] if ready is None else _methods(ready, pool)
        done += len(group.rows) - (0 if ready is None else len(ready.rows))
        for method, rows in methods:
            assert ready is not None
            before = done
            batch = _simulated(
                ready, rows, method, asked, most, samples=samples, rtol=rtol, atol=atol,
                progress=lambda some, _, before=before: progress(before + some, count),
            )  # fmt: skip
            done += len(rows)
            own = ready.rows[rows]
            times[own] = batch.times
            for k, name in enumerate(asked):
                found[name][own] = batch.measures["all"][:, k]
            for row, reason, end in zip(own.tolist(), batch.reasons, batch.times, strict=True):
                reasons[row] = reason
                if end == 0.0 and reason == STUCK_REASON:
                    _refuse_if_alone(manoeuvre, values, row, refused)
    for row, reason in refused.items():
        reasons[row], times[row] = reason, 0.0
        for name in asked:
            found[name][row] = np.nan
    return Outcomes(found, tuple(reasons), times)


def _methods(ready: Ready, pool: Executor) -> list[tuple[str, np.ndarray]]:
    """The methods that suit the designs, and which designs: as `simulate` chooses for each."""
    system = System(ready.model, ready.laws, ready.motions, EVENTS)
    columns = varied_numbers(system, ready.parameters).columns
    x = system.state(ready.q, np.zeros((len(ready.q), len(ready.model.velocity_names))))
    radii = spectral_radii(system, columns, x, np.zeros(system.held), 0.0, pool)
    stiff = radii * ready.manoeuvre.motion.duration > STIFF
    chosen = (("rodas5p", np.flatnonzero(stiff)), ("dopri5", np.flatnonzero(~stiff)))
    return [(method, rows) for method, rows in chosen if len(rows)]


def _simulated(
    ready: Ready, rows: np.ndarray, method: str, asked: Sequence[str], threads: int, *, samples: int, rtol: float,
    atol: float, progress: Callable[[int, int], None],
) -> Batch:  # fmt: skip
    """Some of the designs, simulated and measured."""
    designs = Design.of(ready.robot, ready.manoeuvre.tail, len(ready.rows)).only(rows)

    def measured(tile: Tile) -> Floats:
        found = np.full((len(tile.states), len(asked)), np.nan)

        def share(here: slice) -> None:
            own = designs.only(slice(tile.first + here.start, tile.first + here.stop))
            seen = TileSamples(ready.manoeuvre, own, tile.part(here))
            for k, name in enumerate(asked):
                found[here, k] = FORMULAS[name](seen)

        tile.system.compiled("expand")  # here, before several threads want it at once
        in_shares(tile.pool, len(tile.states), share, max(1, MOST_ROWS // tile.times.shape[-1]))
        return found

    return simulate_batch(
        ready.model,
        ready.q[rows],
        ready.manoeuvre.motion.duration,
        parameters={name: values[rows] for name, values in ready.parameters.items()},
        control=ready.laws,
        motions=ready.motions,
        measures={"all": measured},
        method=method,
        rtol=rtol,
        atol=atol,
        events=EVENTS,
        samples=2 if AT_ENDS.issuperset(asked) else samples,
        to_end=True,
        threads=threads,
        progress=progress,
    )


def _refuse_if_alone(
    manoeuvre: Manoeuvre, values: Mapping[str, Sequence[object]], row: int, refused: dict[int, str]
) -> None:
    """Whether a design that could not take a single step is one that `perform` refuses."""
    robot = manoeuvre.robot.replace({path: own[row] for path, own in values.items()})
    try:
        perform(dataclasses.replace(manoeuvre, robot=robot), samples=2)
    except TailworkError as error:
        refused[row] = str(error)
