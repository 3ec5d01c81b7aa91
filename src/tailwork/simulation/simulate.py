"""Simulate a model: choose a method, step, and put together what happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.computed_torque import InverseDynamics
from tailwork.control.context import Law
from tailwork.errors import ControllerError, RobotError, StateError
from tailwork.model import Model
from tailwork.simulation.contact.compliant import simulate_on_ground
from tailwork.simulation.contact.ground import CompliantGround
from tailwork.simulation.events import Event, FootPulls, FootSlips, LegStraight
from tailwork.simulation.integrate.choose import chosen_method
from tailwork.simulation.integrate.compiled import Kernels, Settings, Tableau, as_tableau
from tailwork.simulation.integrate.dense import Piece, Trajectory
from tailwork.simulation.integrate.driver import AT_EVENT, FINISHED, STUCK, TOO_LONG, Steps, integrate
from tailwork.simulation.integrate.tableaus import IMPLICIT_EULER, Rosenbrock, RungeKutta
from tailwork.simulation.record import SampledTrajectory
from tailwork.simulation.run import Contact, Run, Stopped
from tailwork.simulation.system import Motion, System
from tailwork.typing import Floats

LONGEST = 120
"""Characters of a controller's answer that an error shows."""
STUCK_REASON = (
    "no step is small enough, or the given one is too long: the motion comes to where the model ends, such as a "
    "straight leg"
)
STEPS_A_CALL = 20_000
"""Steps between two checks for Ctrl-C: compiled code cannot be interrupted."""

Sampled = Callable[[float, Floats, Floats], ArrayLike]
"""A controller in Python: (time [s], q, v) → efforts, asked at a control rate; its answer is held in between."""


def simulate(
    model: Model,
    state: ArrayLike | tuple[ArrayLike, ArrayLike],
    duration: float,
    *,
    control: Law | Sequence[Law] | Sampled = (),
    tail: Mapping[str, Motion] | None = None,
    method: str = "auto",
    rtol: float = 1e-6,
    atol: float = 1e-8,
    step: float | None = None,
    control_rate: float = 1000.0,
    events: Sequence[Event] = (LegStraight(),),
    samples: int = 201,
    most_steps: int = 1_000_000,
    limits: str = "report",
    ground: CompliantGround | None = None,
    contact: Contact | None = None,
    start_time: float = 0.0,
) -> Run:
    """Simulate from a state for a duration [s].

    Args:
        model: the robot with its stance. Limbs that it prescribes need a motion in `tail`.
        state: q, or (q, v); alone, q starts at rest. Entries of prescribed limbs are taken from their motion.
        duration: of the run [s].
        control: laws (compiled with the robot; their efforts add up), or a function of (t, q, v) that returns efforts,
            sampled and held. Nothing: no efforts at all.
        tail: by prescribed limb: profiles of its coordinates.
        method: "auto", "rk4" (fixed steps), "dopri5", "rodas5p" (stiff), or "implicit-euler" (fixed steps, for
            compliant ground; "auto" is that where there is a ground).
        rtol: relative tolerance, of methods that choose their steps.
        atol: absolute tolerance, likewise.
        step: fixed step [s]; required for rk4, not allowed with "auto". On compliant ground it is chosen if not given,
            and refused if it is too long for the ground.
        control_rate: of a controller in Python [Hz].
        events: what to watch.
        samples: how many times the data holds, evenly spaced; on compliant ground at ends of steps, so that a given
            step or control rate may shift or merge some.
        most_steps: the run ends after this many; on compliant ground, where they are counted beforehand, it is refused.
        limits: what becomes of efforts beyond an actuator's limit: "report" them as events and apply them all the same,
            or "respect" the limit (and report it).
        ground: compliant ground under feet that are free to touch, stick, slip and lift (a model with stance="none").
            Only feet touch it: a robot that falls goes through, which is among the run's events.
        contact: how the feet touch it at the start, such as `final_contact` of another run; without it, all feet start
            at or above the ground.
        start_time: the time at the start [s], which profiles and servos see: to go on from another run, its last.

    Raises:
        ControllerError: a controller in Python answered with something else than efforts; its `run` is the run so far.
    """
    if not isinstance(model, Model):
        raise RobotError("model", type(model).__name__, "a Model, such as Model(robot)")
    check_numbers(duration, rtol, atol, step, control_rate, samples, most_steps)
    if limits not in ("report", "respect"):
        raise RobotError("limits", limits, "'report' or 'respect'")
    if isinstance(start_time, bool) or not isinstance(start_time, Real) or not isfinite(start_time):
        raise RobotError("start_time", start_time, "a finite number [s]")
    sampled, laws = _control(control)
    system = System(model, laws, tail, events, limits == "respect")
    q, v = _start(model, state)
    for law in laws:
        if isinstance(law, InverseDynamics):
            law.check_start(model, q, v)
    x = system.state(q, v)
    if ground is not None or method == IMPLICIT_EULER:
        if not isinstance(ground, CompliantGround):
            raise RobotError("ground", ground, "a CompliantGround, such as CompliantGround(stiffness=2e4, …)")
        for event in events:
            if isinstance(event, (FootPulls, FootSlips)):
                required = "events of other things than pinned feet: what feet do is in the run's `changes`"
                raise RobotError("events", event, required)
        if method not in ("auto", IMPLICIT_EULER):
            raise RobotError("method", method, f"'auto' or '{IMPLICIT_EULER}' on compliant ground")

        def asked(t: float, q: Floats, v: Floats) -> Floats:
            assert sampled is not None
            return _asked(sampled, model, t, q[None], v[None])

        return simulate_on_ground(system, ground, x, contact, duration, step, samples, most_steps,
                             None if sampled is None else asked, control_rate, start_time)  # fmt: skip
    if contact is not None:
        raise RobotError("contact", contact, "none without a ground")
    if system.servos:
        raise RobotError(
            "control", "JointServo", f"a ground: tables of angles are followed by '{IMPLICIT_EULER}' alone"
        )
    held = np.zeros(system.efforts)
    if sampled is not None:
        now = np.array([start_time])
        held = _asked(sampled, model, start_time, *system.full(now, x[None], held[None])[:2])
    chosen, why = chosen_method(system, method, step, x, held, duration, start_time)
    kernels, tableau = compiled_system(system, chosen)
    settings = Settings(rtol, atol, step or 0.0, step or min(1e-4, duration), min(most_steps, STEPS_A_CALL))
    pieces: list[Piece] = []
    happened: list[tuple[float, str]] = []
    below: set[int] = set()  # events that have happened and still hold
    names = system.event_names

    def finished_run(stopped: Stopped | None) -> Run:
        trajectory = Trajectory(system, tuple(pieces), tableau.p)
        return Run(
            model=model,
            record=SampledTrajectory(model, trajectory, samples),
            stopped=stopped,
            events=tuple(sorted(happened)),
            method=chosen.name,
            why_method=why,
        )

    t, ticks, taken, last = start_time, 0, 0, start_time + duration
    while True:
        end = last if sampled is None else min(last, start_time + (ticks + 1) / control_rate)
        steps = Steps(*integrate(kernels, tableau, settings, system.stops, held, x, t, end))
        pieces.append(Piece(steps, held))
        found = zip(steps.event_times, steps.event_numbers, strict=True)
        happened += [(float(at), names[k]) for at, k in found if at <= steps.times[-1] and not (at == t and k in below)]
        t, x = float(steps.times[-1]), steps.states[-1]
        below = system.below(t, x, held)
        taken += len(steps.lengths)
        going_on = steps.status == TOO_LONG and taken < most_steps  # only this call's share of steps is used up
        if not going_on and (steps.status != FINISHED or end >= last):
            break
        more = min(most_steps - taken, STEPS_A_CALL)
        settings = settings._replace(first=step or float(steps.lengths[-1]), most=more)
        ticks += not going_on
        if sampled is not None and not going_on:
            try:
                held = _asked(sampled, model, t, *system.full(np.array([t]), x[None], held[None])[:2])
            except ControllerError as error:
                error.run = finished_run(Stopped(t, "the controller gave no efforts"))
                raise
    return finished_run(_stopped(pieces[-1].steps, names))


def _control(control: Any) -> tuple[Sampled | None, Sequence[Law]]:
    """A controller in Python, or laws."""
    if hasattr(control, "efforts"):
        return None, (control,)
    if callable(control):
        sampled: Any = control
        return sampled, ()
    if isinstance(control, (list, tuple)):
        return None, tuple(control)
    raise RobotError("control", control, "a law, a list of laws, or a function of (t, q, v) that returns efforts")


def check_numbers(
    duration: float, rtol: float, atol: float, step: float | None, control_rate: float, samples: int, most_steps: int
) -> None:
    """Whether the numbers of a simulation are possible."""
    numbers = {"duration": duration, "rtol": rtol, "atol": atol, "control_rate": control_rate}
    for name, value in (numbers | ({} if step is None else {"step": step})).items():
        if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value) or value <= 0:
            raise RobotError(name, value, "a finite number greater than 0")
    if not isinstance(samples, Integral) or samples < 2:
        raise RobotError("samples", samples, "a whole number, at least 2")
    if not isinstance(most_steps, Integral) or most_steps < 1:
        raise RobotError("most_steps", most_steps, "a whole number, at least 1")


def _start(model: Model, state: Any) -> tuple[Floats, Floats]:
    pair = state if isinstance(state, tuple) and len(state) == 2 else (state, np.zeros(len(model.velocity_names)))
    model.energy(*pair)  # checks lengths, numbers and reach
    q, v = (np.asarray(part, dtype=np.float64) for part in pair)
    if q.ndim != 1 or v.ndim != 1:
        raise StateError("state", f"got shapes {q.shape} and {v.shape}; required: one state, q or a tuple (q, v)")
    return q, v


def _asked(controller: Sampled, model: Model, t: float, q: Floats, v: Floats) -> Floats:
    """What a controller in Python answers, checked."""
    answer = controller(t, q[0].copy(), v[0].copy())
    size = len(model.actuator_names)
    try:
        efforts = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        efforts = np.full(0, np.nan)
    if efforts.shape != (size,) or not np.isfinite(efforts).all():
        required = f"required: {size} finite efforts, for {', '.join(model.actuator_names)}"
        said = " ".join(repr(answer).split())
        said = said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
        raise ControllerError(f"the controller returned {said} at t = {t:.6g} s; {required}")
    return efforts


def compiled_system(system: System, method: RungeKutta | Rosenbrock) -> tuple[Kernels, Tableau]:
    """What the compiled steppers need of a system and a method."""
    none = np.zeros(1)
    derivative, constants = system.kernel("derivative")
    watch, watch_constants = system.kernel("events") if system.watched else (derivative, constants)
    linear: tuple[Any, ...] = (0, none, 0, 0)
    if isinstance(method, Rosenbrock):
        factor, factor_constants = system.kernel("linear")
        solve, _ = system.kernel("solve")
        linear = (factor.code.address("scalar"), factor_constants.values, factor.outputs, solve.code.address("scalar"))
    kernels = Kernels(
        derivative.code.address("scalar"),
        constants.values,
        watch.code.address("scalar"),
        watch_constants.values,
        *linear,
    )
    return kernels, as_tableau(method)


def why_ended(status: int, event: int, names: Sequence[str]) -> str:
    """Why a run ended before its time, from its status and the event that stopped it; empty: it did not."""
    if status == AT_EVENT:
        return names[event]
    return {FINISHED: "", STUCK: STUCK_REASON}.get(status, "more steps than allowed")


def _stopped(steps: Steps, names: list[str]) -> Stopped | None:
    said = why_ended(steps.status, steps.event, names)
    return Stopped(float(steps.times[-1]), said) if said else None
