"""Simulate a model: choose a method, step, and put together what happened."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.computed_torque import InverseDynamics
from tailwork.control.context import Law
from tailwork.control.laws import Tracking
from tailwork.errors import ArgumentError, ControllerError, StateError, is_finite_number
from tailwork.model import Model
from tailwork.simulation.contact.ground import CompliantGround, RigidGround
from tailwork.simulation.equations import PrescribedMotion
from tailwork.simulation.events import DEFAULT_EVENTS, ROUNDING, Event, check_not_rigid
from tailwork.simulation.forces import Force, breaks_of
from tailwork.simulation.initial import Standing
from tailwork.simulation.integrate.balance import trusted_balance
from tailwork.simulation.integrate.choose import chosen_method
from tailwork.simulation.integrate.compiled import Settings
from tailwork.simulation.integrate.dense import Piece, Trajectory
from tailwork.simulation.integrate.integrator import Integrator, SingleRuns, Start, Steps
from tailwork.simulation.integrate.tableaus import EVENT_DRIVEN, IMPLICIT_EULER, TIME_STEPPING
from tailwork.simulation.options import OptionArguments, Options, options_of
from tailwork.simulation.problem import GROUND, Controller, Problem, State, problem_of
from tailwork.simulation.record import SampledTrajectory
from tailwork.simulation.run import MANY_TURNS, TURN, Contact, Run
from tailwork.simulation.stopping import FINISHED, TOO_LONG, Stopped, why_stopped
from tailwork.simulation.system import System
from tailwork.typing import Floats

LONGEST = 120
"""Characters of a controller's answer that an error shows."""


def simulate(
    model: Model,
    state: State,
    duration: float,
    *,
    control: Law | Controller | Sequence[Law | Controller] = (),
    motions: Mapping[str, PrescribedMotion] | None = None,
    forces: Force | Sequence[Force] = (),
    events: Sequence[Event] = DEFAULT_EVENTS,
    limits: str = "report",
    ground: CompliantGround | RigidGround | None = None,
    contact: Contact | None = None,
    start_time: float = 0.0,
    **options: Unpack[OptionArguments],
) -> Run:
    """Simulate from a state for a duration [s].

    The arguments are those of a `Problem`, with these differences: `state` is its initial state, q alone at rest,
    (q, v) or equations such as `Standing()` (entries of prescribed limbs are taken from their motion); `control` may
    hold laws and one controller in Python. On ground feet and other contact points touch: bodies without any go
    through, which is among the run's events. Keyword arguments beyond these are fields of `Options`.

    Raises:
        ControllerError: a controller in Python answered with something else than efforts; its `run` is the run so far.
    """
    how = options_of(options)
    problem = problem_of(
        model, state, duration, control=control, motions=motions, forces=forces, events=events, limits=limits,
        ground=ground, contact=contact, start_time=start_time,
    )  # fmt: skip
    return run_of(problem, how)


def run_of(problem: Problem, options: Options) -> Run:
    """The run of a problem."""
    model, controller, start = problem.model, problem.controller, problem.start_time
    system = problem.system()
    x = initial_state(problem, system)
    for law in system.laws:
        if isinstance(law, InverseDynamics):
            q, v, _, _ = system.full(np.array([start]), x[None], np.zeros((1, system.control_inputs)))
            law.check_start(model, q[0], v[0])
    asking = None if controller is None else _Asking(controller, system)
    if options.method == EVENT_DRIVEN:
        from tailwork.simulation.event_driven.runs import simulate_events  # slow to import

        last = start + problem.duration
        efforts = None if asking is None else asking.efforts
        return simulate_events(
            system, problem.ground, x, problem.one_contact, start, last, _ends(problem, options, last), efforts, options
        )
    check_not_rigid(problem.events)
    if problem.ground is not None or options.method in (IMPLICIT_EULER, TIME_STEPPING):
        return _on_ground(problem, options, system, x, asking)
    if system.servos:
        raise ArgumentError(
            "control", "JointServo", "a ground, such as ground=RigidGround(friction=0.6): servos work there alone"
        )
    held = np.zeros(system.control_inputs) if asking is None else asking.first(start, x)
    method, why = chosen_method(system, options.method, options.step, x, held, problem.duration, start)
    step = options.step
    length, most = step or min(1e-4, problem.duration), options.max_steps
    settings = Settings(options.rtol, options.atol, step or 0.0, length, most)
    integrator = Integrator(system, method, settings, problem.duration)
    single = SingleRuns.kept(integrator, Start(x[None].copy(), held[None].copy(), {}))
    pieces: list[Piece] = []
    happened: list[tuple[float, str]] = []
    below: set[int] = set()  # events that have happened and still hold
    names = system.event_names

    def finished_run(stopped: Stopped | None) -> Run:
        trajectory = Trajectory(system, tuple(pieces), method.arrays[4])
        return Run(
            model=model,
            record=SampledTrajectory(model, trajectory, options.samples),
            stopped=stopped,
            events=tuple(sorted(happened)),
            method=method.name,
            why_method=why,
            trusted=trusted_balance(options.rtol, options.step),
        )

    t, last = start, start + problem.duration
    pieces_left = _ends(problem, options, last)
    end, following, asks = next(pieces_left)
    while True:
        steps = single.piece(x, held, t, end, length, most)
        pieces.append(Piece(steps, held))
        found = zip(steps.event_times, steps.event_numbers, strict=True)
        happened += [(float(at), names[k]) for at, k in found if at <= steps.times[-1] and not (at == t and k in below)]
        t, x = float(steps.times[-1]), steps.states[-1]
        below = system.below(t, x, held)
        most -= len(steps.lengths)
        if steps.status != FINISHED or end == last:
            break
        if most == 0:
            pieces[-1] = Piece(steps._replace(status=TOO_LONG), held)
            break
        length = step or float(steps.lengths[-1])
        t = following
        if asking is not None and asks:
            try:
                held = asking(t, x, held)
            except ControllerError as error:
                error.run = finished_run(Stopped(t, "the controller gave no efforts"))
                raise
        end, following, asks = next(pieces_left)
    single.give_back()
    return finished_run(_stopped(pieces[-1].steps, names, problem))


def _ends(problem: Problem, options: Options, last: float) -> Iterator[tuple[float, float, bool]]:
    """The pieces of a run: where each ends [s], where the next one starts, and whether a controller is asked there.

    A piece ends just before a force jumps, so that no step looks across.
    """
    start, rate = problem.start_time, options.control_rate
    most = 0.25 / float(np.spacing(max(abs(start), abs(last))))
    if problem.controller is not None and rate > most:
        raise ArgumentError("control_rate", rate, f"at most {most:.3g} Hz, what can be told apart at {last:g} s")
    often = options.max_steps / (last - start)
    if problem.controller is not None and rate > often:
        required = f"at most {often:.3g} Hz: a run has at most {options.max_steps:,} steps (max_steps)"
        raise ArgumentError("control_rate", rate, f"{required}, and this controller is asked more often")
    breaks = breaks_of(problem.forces, start, last)[0].tolist()
    ticks, begun = count(1), start
    tick = start + next(ticks) / rate if problem.controller is not None else last
    while True:
        before, jump = breaks[0] if breaks else (last, last)
        end = min(jump, tick, last)
        if end >= last:
            yield last, last, False
            return
        jumping, asks = end == jump, end == tick
        breaks = breaks[1:] if jumping else breaks
        tick = start + next(ticks) / rate if asks else tick
        before = before if jumping else end
        if before > begun:  # a jump may follow within rounding of a tick
            yield before, end, asks
        begun = end


def initial_state(problem: Problem, system: System) -> Floats:
    """x at the start of one run, checked."""
    model = problem.model
    if isinstance(problem.initial, Standing):
        kernel, constants = system.kernel("initial")
        x = kernel(np.zeros((1, kernel.inputs)), constants)[0]
        q, v, _, _ = system.full(np.array([problem.start_time]), x[None], np.zeros((1, system.control_inputs)))
        model.energy(q[0], v[0])  # checks reach
        return x
    q, v = problem.initial
    if q.ndim != 1 or v.ndim != 1:
        two = "; [q, v] is a list of two states: write (q, v)" if q.shape[0] == 2 else ""
        raise StateError("state", f"got shapes {q.shape} and {v.shape}; required: one state, q or a tuple (q, v){two}")
    model.energy(q, v)  # checks reach
    return system.state(q, v)


def _on_ground(problem: Problem, options: Options, system: System, x: Floats, asking: _Asking | None) -> Run:
    """The run of a problem on compliant or rigid ground."""
    if problem.ground is None:
        raise ArgumentError("ground", problem.ground, GROUND)
    from tailwork.simulation.contact.choose import integrator_on_ground
    from tailwork.simulation.contact.on_ground import simulate_on_ground  # slow to import

    integrator = integrator_on_ground(system, problem.ground, problem.start_time)
    if options.method not in ("auto", integrator.method):
        raise ArgumentError("method", options.method, f"'auto' or '{integrator.method}' on this ground")
    return simulate_on_ground(
        integrator, x, problem.one_contact, problem.duration, options.step, options.samples, options.max_steps,
        None if asking is None else asking.efforts, options.control_rate,
    )  # fmt: skip


class _Asking:
    """A controller in Python, and what it answers, checked and copied."""

    def __init__(self, controller: Controller, system: System) -> None:
        self.controller, self.system, self.model = controller, system, system.model
        self.last: tuple[float, Floats] | None = None  # when it answered last, and what
        try:
            inspect.signature(controller).bind(0.0, 0.0, 0.0)
        except TypeError as error:
            required = "a controller of (t, q, v): time [s], configuration, generalized velocity"
            raise ControllerError(f"got a function that cannot be called so ({error}); required: {required}") from None
        except ValueError:  # of a function that does not say what it takes
            pass
        reset = getattr(controller, "reset", None)
        if callable(reset):
            reset()

    def first(self, t: float, x: Floats) -> Floats:
        """The inputs at the start."""
        return self(t, x, np.zeros(self.system.control_inputs))

    def __call__(self, t: float, x: Floats, held: Floats) -> Floats:
        """The inputs from a time on."""
        q, v, _, _ = self.system.full(np.array([t]), x[None], held[None])
        found = np.zeros(self.system.control_inputs)
        found[: self.system.efforts] = self.efforts(t, q[0], v[0])
        return found

    def efforts(self, t: float, q: Floats, v: Floats) -> Floats:
        """Efforts of all actuators."""
        answer: Any = self.controller(t, q.copy(), v.copy())
        names = self.model.actuator_names
        if isinstance(answer, Mapping):
            answer = self._named(answer, t)
        try:
            plain = np.asarray(answer)
            real = plain.dtype.kind in "fiu" or all(map(is_finite_number, plain.flat))
            efforts = np.array(answer, dtype=np.float64) if real else np.full(0, np.nan)
        except (TypeError, ValueError, OverflowError):
            efforts = np.full(0, np.nan)
        if efforts.shape != (len(names),) or not np.isfinite(efforts).all():
            required = f"required: {len(names)} finite efforts, for {', '.join(names)}, or some of them by name"
            raise ControllerError(f"the controller returned {_short(answer)} at t = {t:.6g} s; {required}")
        self._check_stiffnesses(t, efforts)
        return efforts

    def _check_stiffnesses(self, t: float, efforts: Floats) -> None:
        """Stiffnesses stay in their range and change no faster than they can."""
        before, self.last = self.last, (t, efforts)
        for k, actuator in self.model.layout.stiffnesses.items():
            name, value = self.model.actuator_names[k], float(efforts[k] + actuator.nominal)
            low, high = actuator.range or (0.0, np.inf)
            if not low - ROUNDING * value <= value <= high * (1.0 + ROUNDING):
                said = f"the controller set the stiffness {name} to {value:.6g} {actuator.unit} at t = {t:.6g} s"
                raise ControllerError(f"{said}; required: within its range, {low:g} to {high:g}")
            if before is not None and before[0] < t and actuator.rate_limit:
                rate = abs(float(efforts[k] - before[1][k])) / (t - before[0])
                if rate > actuator.rate_limit * (1.0 + ROUNDING):
                    said = f"the controller changed the stiffness {name} by {rate:.6g} {actuator.unit} a second"
                    raise ControllerError(f"{said} at t = {t:.6g} s; required: at most {actuator.rate_limit:g}")

    def _named(self, answer: Mapping[Any, Any], t: float) -> ArrayLike:
        """Efforts by name as an array; those that are not named are zero."""
        names = self.model.actuator_names
        for name in answer:
            if name not in names:
                said = f"the controller returned an effort for {name!r} at t = {t:.6g} s; required: names of actuators"
                raise ControllerError(f"{said}, {', '.join(names)}")
        return [answer.get(name, 0.0) for name in names]


def _short(answer: Any) -> str:
    said = " ".join(repr(answer).split())
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"


def _stopped(steps: Steps, names: list[str], problem: Problem) -> Stopped | None:
    said = why_stopped(steps.status, steps.event, names)
    if said and (turned := _far_around(problem)):
        said = f"{said}; {turned}"
    return Stopped(float(steps.times[-1]), said) if said else None


def _far_around(problem: Problem) -> str:
    """A hint where a law leads a hinge around several times by the end of the run."""
    layout, end = problem.model.layout, problem.start_time + problem.duration
    for law in problem.control:
        if not isinstance(law, Tracking) or any(joint.slides for joint in layout.limbs[law.limb].joints):
            continue
        far = abs(float(law.profile.value(end)))
        if far > MANY_TURNS * TURN:
            said = f"{law.limb}.{law.coordinate} is to go around {far / TURN:.3g} times, to {far:.4g} rad"
            return f"{said}: was it meant in degrees?"
    return ""
