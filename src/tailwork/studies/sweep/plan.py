"""Sweeps: one manoeuvre with many designs of a robot, in chunks that can be done anywhere and in any order.

A design is its number: what is varied follows from it, so that a sweep of any size is never listed.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

from tailwork.control.tail_motion import TailMotion
from tailwork.errors import ArgumentError, UnknownNameError, check_known
from tailwork.robots.tails.tail import Tail
from tailwork.studies.data import json_value, made, source_digest
from tailwork.studies.measures import shown_measures, unit_of
from tailwork.studies.perform import perform_many
from tailwork.studies.scenario import Scenario, scenario_data, scenario_from
from tailwork.studies.sweep.axes import MOST_DIGITS, SweepAxis
from tailwork.typing import Floats

SAMPLINGS = ("grid", "random", "sobol")
CHUNK = 512
"""Designs that are done and kept together."""
MOST_DESIGNS = 2**53
MOST_SOBOL = 2**30
SHORT = {"torso_pitch": "pitch", "torso_roll": "roll", "torso_yaw": "yaw", "peak_torque": "peak_tail_torque"}
"""Short words for measures."""
DESIGN, TIME, REASON, WARNING = "design", "time", "reason", "warning"
"""Columns of results besides what is varied and the measures: number, time simulated [s], why it ended early, what
speaks against trusting it."""

Columns = dict[str, Any]
"""Results by column: arrays of numbers, and the reasons as a list of texts; an entry a design."""


@dataclass(frozen=True)
class Sweep:
    """What is varied, how designs are chosen, and what is measured.

    Designs are all of a grid (the last number varies fastest), or `drawn` many that fill the ranges at random or by a
    scrambled Sobol sequence.
    """

    scenario: Scenario
    varied: tuple[SweepAxis, ...]
    measures: tuple[str, ...]
    sampling: str = "grid"
    drawn: int = 0
    seed: int = 0
    chunk: int = CHUNK

    def __post_init__(self) -> None:
        if not self.varied:
            raise ArgumentError("--vary", "nothing", "at least one number to vary")
        names = [one.path for one in self.varied]
        for name in names:
            if names.count(name) > 1:
                raise ArgumentError("--vary", name, "each path once; list its values, separated by commas")
        check_known("--sample", [self.sampling], SAMPLINGS, "way to sample")
        most = MOST_SOBOL if self.sampling == "sobol" else MOST_DESIGNS
        if not 1 <= self.designs <= most:
            raise ArgumentError("designs", self.designs, f"at least 1 and at most {most:,} designs")
        if self.seed < 0:
            raise ArgumentError("--seed", self.seed, "an integer, not negative")
        if self.chunk < 1:
            raise ArgumentError("--chunk", self.chunk, "at least 1 design a chunk")

    @property
    def designs(self) -> int:
        """How many there are."""
        return math.prod(one.size for one in self.varied) if self.sampling == "grid" else self.drawn

    @property
    def chunks(self) -> int:
        """How many chunks they are done in."""
        return -(-self.designs // self.chunk)

    def numbers(self, chunk: int) -> np.ndarray:
        """Numbers of the designs of a chunk."""
        return np.arange(chunk * self.chunk, min((chunk + 1) * self.chunk, self.designs))

    def values(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """What is varied, by path, for designs of consecutive numbers."""
        if self.sampling == "grid":
            places = np.unravel_index(numbers, [one.size for one in self.varied])
            return {one.path: one.at(place) for one, place in zip(self.varied, places, strict=True)}
        draw = sobol_shares if self.sampling == "sobol" else random_shares
        shares = draw(int(numbers[0]), len(numbers), len(self.varied), self.seed)
        return {one.path: one.drawn(shares[:, k]) for k, one in enumerate(self.varied)}


def random_shares(first: int, count: int, dimensions: int, seed: int) -> Floats:
    """Random points of the unit cube, from a given one on: the same ones however they are asked for."""
    blocks = -(-dimensions // 4)  # the generator makes four numbers at each count
    source = np.random.Philox(key=np.random.SeedSequence(seed).generate_state(2, np.uint64)).advance(first * blocks)
    return np.random.Generator(source).random((count, 4 * blocks))[:, :dimensions]


def sobol_shares(first: int, count: int, dimensions: int, seed: int) -> Floats:
    """Points of a scrambled Sobol sequence in the unit cube, from a given one on."""
    from scipy.stats import qmc  # slow to import, and needed for this alone

    source = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(seed))
    if first:
        return source.fast_forward(first).random(count)
    # The first alone: SciPy warns of a first draw whose count is not a power of two. A prefix of a sequence is what it
    # is, also where it is less balanced than a whole power of two would be.
    return np.concatenate([source.random(1), source.random(count - 1)])


def measures_from_text(text: str | None, motion: TailMotion, tail: Tail | None = None) -> tuple[str, ...]:
    """Measures by their names or short words, separated by commas.

    None: the motion's own rotation and the tail's largest torque (of one with segments, on these) or, where it is
    pulled by cables, tension.
    """
    if text is None:
        limb = None if tail is None else tail.limb
        segments = limb is not None and any(len(limb.moved(name)) > 1 for name in limb.coordinates)
        torque = "peak_segment_torque" if segments else "peak_tail_torque"
        return (motion.axis, "peak_tension" if tail is not None and tail.by_cables else torque)
    names: list[str] = []
    for word in (word.strip() for word in text.split(",")):
        name = SHORT.get(word, word)
        if name not in shown_measures():
            raise UnknownNameError.among("--measure", word, [*shown_measures(), *SHORT], "measure")
        if name in names:
            raise ArgumentError("--measure", word, "each measure once")
        names.append(name)
    return tuple(names)


def sampling_from_text(text: str) -> tuple[str, int]:
    """A way to sample and how many designs it draws: "grid" (0: as many as there are), "random:1000", "sobol:1024"."""
    kind, colon, count = text.partition(":")
    check_known("--sample", [kind], SAMPLINGS, "way to sample (grid, random:N or sobol:N)")
    if kind == "grid":
        if colon:
            raise ArgumentError("--sample", text, "grid alone: the ranges say how many designs there are")
        return kind, 0
    if not count.isdecimal() or len(count) > MOST_DIGITS or int(count) < 1:
        raise ArgumentError("--sample", text, f"how many designs, such as {kind}:1000")
    return kind, int(count)


def as_data(sweep: Sweep) -> dict[str, Any]:
    """A sweep as plain data, which a file holds and another machine understands."""
    return {**scenario_data(sweep.scenario), **json_value(sweep, but=(Scenario,)), "code": source_digest()}


def from_data(data: Mapping[str, Any]) -> Sweep:
    """The sweep that plain data describe."""
    return made(Sweep, {**data, "scenario": scenario_from(data, "plan.json")})


def versions() -> dict[str, str]:
    """What results were made with."""
    try:
        installed = metadata.version("tailwork")
    except metadata.PackageNotFoundError:
        installed = "not installed"
    return {"tailwork": installed, "python": platform.python_version(), "numpy": np.__version__}


def perform_chunk(
    sweep: Sweep, chunk: int, threads: int | None = None, progress: Callable[[int, int], None] = lambda done, all_: None
) -> Columns:
    """Results of a chunk of a sweep."""
    numbers = sweep.numbers(chunk)
    values = sweep.values(numbers)
    outcomes = perform_many(sweep.scenario, values, measures=sweep.measures, threads=threads, progress=progress)
    found = {name: np.asarray(outcomes.measures[name], dtype=float) for name in sweep.measures}
    texts = {REASON: list(outcomes.reasons), WARNING: list(outcomes.warnings) or [""] * len(numbers)}
    return {DESIGN: numbers, **values, **found, TIME: np.asarray(outcomes.times), **texts}


def column_units(sweep: Sweep) -> dict[str, str]:
    """Units of all columns of numbers, by name."""
    varied = {one.path: one.unit for one in sweep.varied}
    return {DESIGN: "1", **varied, **{name: unit_of(name) for name in sweep.measures}, TIME: "s"}
