"""Drivers: what they compute in plain Python, for one lane and for many has the same bits; the rest is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tailwork.control import Constant, JointServo, joint_table, trot, walking_start
from tailwork.kernels.language import Ints, Lanes, Reals, Struct, spread, where, width
from tailwork.kernels.translate import driver, drivers_in_python, translated
from tailwork.kernels.translate_expressions import TranslationError
from tailwork.model import Model
from tailwork.robots import biswal, liu2020
from tailwork.simulation import CompliantGround, gradient, sensitivities, simulate, simulate_batch


class Sums(Struct):
    """Arguments of `sums`."""

    n: int
    scale: float
    odd: bool
    rows: Lanes
    out: Lanes
    weights: Reals
    counts: Ints


def pair(x: float, k: int) -> tuple[float, float]:
    """Two numbers from one, and a remainder as Python has it."""
    if k == -1:
        return x * 2.0, 1.0
    return x**2, (x - 1.0) % 0.3


def sums(job: Sums) -> int:
    """A bit of everything that drivers may contain."""
    rows, total = job.rows, 0.0
    for k in range(job.n):
        along = spread(0.0, rows)
        for j in range(k, -1, -1):
            along = along + job.weights[j] * rows[j]
        job.out[k] = where((along > 0.3) | (along != along), along / job.scale, -along)
        for lane in range(width(rows)):
            first, second = pair(rows[k, lane], k - 1)
            total += first - second if first < second and k != 1 else max(first, 0.1) ** 0.3
            if not math.isfinite(total):
                continue
            job.out[k, lane] += math.sqrt(abs(total))
        job.counts[k] += int(total * 10.0) // 3 + (k - 5) % 3
    while True:
        total -= 0.5
        if total < 0.0 or (job.odd and total < 1.0):
            break
    if -0.25 <= total <= 1.0:
        return 1
    return 2 if total < -0.25 else 3


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("odd", [True, False])
def test_compiled_beside_python(lanes: int, odd: bool) -> None:
    """Every operation has the bits that Python and NumPy give."""

    def job() -> Sums:
        chance = np.random.default_rng(4)
        return Sums(n=5, scale=0.3, odd=odd, rows=chance.normal(size=(5, lanes)), out=np.zeros((5, lanes)),
                    weights=chance.normal(size=5), counts=np.zeros(5, np.int64))  # fmt: skip

    compiled, plain = job(), job()
    assert driver(sums, lanes)(compiled) == sums(plain)
    np.testing.assert_array_equal(compiled.out, plain.out)
    np.testing.assert_array_equal(compiled.counts, plain.counts)


def unknown_name(job: Sums) -> int:
    """A name that is not known."""
    return job.n + missing  # noqa: F821 # pyright: ignore[reportUndefinedVariable]


def other_loop(job: Sums) -> int:
    """A loop over something else than a range."""
    total = 0
    for k in (1, 2, 3):
        total += k
    return total


def no_result(job: Sums) -> int:  # pyright: ignore[reportReturnType]
    """It may end without a result."""
    if job.n > 3:
        return 1


def narrowed(job: Sums) -> int:
    """A number that would lose its decimals."""
    total = 0
    total += job.scale
    return total  # pyright: ignore[reportReturnType]


def dictionary(job: Sums) -> int:
    """Something that is no number."""
    return {1: 2}[1]


def in_a_branch(job: Sums) -> float:
    """A name that has a value in one branch alone."""
    if job.odd:
        found = 1.0
    return found


def in_a_loop(job: Sums) -> int:
    """The counter of a loop that may have no turn."""
    for k in range(job.n):
        job.counts[k] = k
    return k


def in_both(job: Sums) -> int:
    """Names that have a value whichever way is taken."""
    if job.n < 0:
        return -1
    elif job.odd:
        first = 3
    else:
        first = 4
    while True:
        last = first + job.n
        if last > 0:
            break
    return first + last


def from_the_end(job: Sums) -> float:
    """An index that counts from the end."""
    return job.weights[-1]


def either(job: Sums) -> int:
    """One of two integers, the first that is not zero."""
    return job.n or 7


def loop_else(job: Sums) -> int:
    """A loop with an else."""
    k = 0
    while k < job.n:
        k += 1
    else:
        k = -1
    return k


def called_between(job: Sums) -> bool:
    """A call that would be made twice."""
    return 0.0 < abs(job.scale) < 1.0


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (from_the_end, "an index counts from the beginning"),
        (either, "`and` and `or` take conditions"),
        (loop_else, "a loop has no else"),
        (called_between, "would be made twice"),
        (unknown_name, "is no number: missing"),
        (other_loop, r"only `for name in range"),
        (no_result, "may end without a result"),
        (narrowed, "float where int is required"),
        (dictionary, "Dict cannot be translated"),
        (in_a_branch, "is first assigned in a branch or a loop, which may not be taken: found"),
        (in_a_loop, "is first assigned in a branch or a loop, which may not be taken: k"),
    ],
)
def test_what_is_not_known_is_refused(function: Callable[[Any], Any], said: str) -> None:
    """With the function and the line."""
    with pytest.raises(TranslationError, match=rf"{function.__name__}, line \d+: .*{said}"):
        translated([function], 4)


def test_names_that_every_branch_assigns() -> None:
    for n, odd in ((2, True), (2, False), (-3, True)):
        job = Sums(n=n, scale=1.0, odd=odd, rows=np.zeros((1, 1)), out=np.zeros((1, 1)), weights=np.zeros(1),
                   counts=np.zeros(1, np.int64))  # fmt: skip
        assert driver(in_both, 1)(job) == in_both(job)


def downwards(job: Sums) -> int:
    """A loop whose step is a variable."""
    total, by = 0, -job.n
    for k in range(20, 0, by):
        total = 100 * total + k
    return total


def test_a_loop_may_count_down_by_a_variable() -> None:
    job = Sums(n=6, scale=1.0, odd=False, rows=np.zeros((1, 1)), out=np.zeros((1, 1)), weights=np.zeros(1),
               counts=np.zeros(1, np.int64))  # fmt: skip
    assert driver(downwards, 1)(job) == downwards(job) == 20140802


def test_threads_pack_a_shared_struct_once() -> None:
    """All get one address, whoever comes first."""
    for _ in range(300):
        job = Sums(n=6, scale=1.0, odd=False, rows=np.zeros((1, 1)), out=np.zeros((1, 1)), weights=np.zeros(1),
                   counts=np.zeros(1, np.int64))  # fmt: skip
        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(lambda _, job=job: job.packed(), range(4)))) == 1


def test_arrays_of_other_types_are_refused() -> None:
    """Numbers of 32 bits, or spread out in memory, would be read wrongly."""
    job = Sums(n=1, scale=1.0, odd=False, rows=np.zeros((1, 1)), out=np.zeros((1, 1)), weights=np.zeros(1, np.float32),
               counts=np.zeros(1, np.int64))  # fmt: skip
    with pytest.raises(TypeError, match="got an array of float32; required: contiguous float64"):
        driver(sums, 1)(job)
    job.weights = np.zeros(4)[::2]
    with pytest.raises(TypeError, match="contiguous"):
        driver(sums, 1)(job)
    with pytest.raises(TypeError, match=r"Sums: wrong or missing: .*scale"):
        Sums(n=1)


@pytest.mark.parametrize("method", ["rk4", "dopri5", "rodas5p"])
def test_runs_in_python(method: str) -> None:
    """A run, a batch of two, a gradient and a sensitivity in plain Python: the same bits as compiled."""
    model = Model(liu2020(tail="pendulum"))
    q, v = model.standing(), np.zeros(len(model.velocity_names))
    v[6] = 2.0
    law = Constant(values=tuple(np.round(model.static_torques(q), 6)))
    how: dict[str, Any] = {"method": method, "control": law, "rtol": 1e-3, "atol": 1e-5}
    how |= {"step": 0.005} if method == "rk4" else {}

    def found() -> list[Any]:
        run = simulate(model, (q, v), 0.01, **how)
        batch = simulate_batch(model, (q, v), 0.01, parameters={"tail.length": [0.4, 0.5]}, threads=1, **how)
        slope = gradient(model, (q, v), 0.01, lambda end: end.coordinate("phi_z"), by=["tail.mass"], **how)
        moved = sensitivities(model, (q, v), 0.01, by=["tail.mass"], samples=3, threads=1, **how)
        return [*run.final_state, batch.q, batch.v, slope.by_q, slope.by_parameter["tail.mass"], moved.q["tail.mass"]]

    compiled = found()
    with drivers_in_python():
        plain = found()
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one, other)


def test_ground_in_python() -> None:
    """A trot on compliant ground, alone and two in a batch, in plain Python: the same bits as compiled."""
    robot = biswal()
    model = Model(robot, stance="none")
    gait = trot(robot, speed=0.15, frequency=2.0, lift=0.03)
    table = joint_table(model, gait)
    ground = CompliantGround(stiffness=2e4, damping=1.0, tangential_stiffness=2e4, tangential_damping=20.0,
                             static_friction=0.1, kinetic_friction=0.05)  # fmt: skip
    how: dict[str, Any] = {"ground": ground, "control": JointServo(table=table, kp=30.0, kd=0.5), "step": 1e-3}

    def found() -> list[Any]:
        start = walking_start(model, gait, table)
        run = simulate(model, start, 0.02, **how)
        batch = simulate_batch(model, start, 0.02, parameters={"torso.mass": [1.0, 1.5]}, threads=1, **how)
        return [*run.final_state, run.data["foot_force"].to_numpy(), batch.q, batch.v]

    compiled = found()
    assert np.abs(compiled[2]).max() > 0.0
    with drivers_in_python():
        plain = found()
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one, other)
