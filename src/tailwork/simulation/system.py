"""A model with its control: one system x-dot = f(t, x), recorded and compiled.

x = [q, v] without the coordinates and rates of prescribed limbs, which are functions of time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from tailwork.algebra.expression import INPUT, Expression, Scalar, Tape, larger, smaller
from tailwork.algebra.vectors import array
from tailwork.control.context import Law, Moment
from tailwork.control.profiles import Profiles
from tailwork.control.servo import JointServo, followed
from tailwork.errors import RobotError, UnknownNameError
from tailwork.kernels.graph import Graph, finished
from tailwork.kernels.kernel import Constants, Kernel
from tailwork.mechanics.contact_impedance import ContactImpedance
from tailwork.mechanics.forward import Inputs, forward_dynamics
from tailwork.mechanics.implicit import implicit_step
from tailwork.mechanics.kinematics import feet
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import path
from tailwork.mechanics.torso import coordinate_rates
from tailwork.model import Model
from tailwork.model.questions import POSE
from tailwork.robots.paths import numbers, rebuild, structure
from tailwork.robots.quantities import Described, Kind
from tailwork.simulation.events import BeyondLimit, CablePushes, Event, cables, limited, limited_motions
from tailwork.simulation.integrate.stage import Point, factored_stage, stage_solution
from tailwork.typing import Floats

Motion = Mapping[str, Profiles]
"""Profiles of a prescribed limb's coordinates, by name."""

ALONE = ("derivative", "expand", "events", "feet", "step", "soft_events")
"""Kernels that each have equations of their own."""

_kernels: dict[Any, tuple[Kernel, tuple[str, ...]]] = {}
_made: dict[Any, Any] = {}
_compiling = RLock()
"""One thread at a time makes kernels: a second one of the same kind would take the place of the first, whose code is in
use by its address."""

Kept = TypeVar("Kept")


@dataclass
class Recorded:
    """The symbols of a system on a tape."""

    tape: Tape
    layout: Layout
    t: Expression
    x: list[Expression]
    q: list[Scalar]
    v: list[Scalar]
    given: list[Scalar]
    tau: list[Scalar]
    asked: list[Scalar]  # efforts before limits
    more: list[Expression]


class System:
    """A model, its laws and its prescribed motions."""

    def __init__(
        self,
        model: Model,
        laws: Sequence[Law] = (),
        motions: Mapping[str, Motion] | None = None,
        events: Sequence[Event] = (),
        respect_limits: bool = False,
    ) -> None:
        self.model = model
        self.servos = tuple(law for law in laws if isinstance(law, JointServo))
        self.laws = tuple(law.law() if isinstance(law, JointServo) else law for law in laws)
        self.targets = followed(self.servos, model.layout)
        self.watched = (*events, *_always_watched(model.layout))
        self.respect_limits = respect_limits
        if respect_limits and limited_motions(model.layout):
            required = "'report' where a prescribed limb's motors have limits: its motion is imposed, whatever it needs"
            raise RobotError("limits", "respect", required)
        self.motions = _checked_motions(motions or {})
        layout = model.layout
        for limb in self.motions:
            if limb not in layout.prescribed:
                raise UnknownNameError.among("tail", limb, layout.prescribed, "prescribed limb of the model")
        for k, law in enumerate(self.laws):
            if not isinstance(law, Described) or not hasattr(law, "efforts"):
                raise RobotError(f"control.{k + 1}", law, "a law: a Described dataclass with a method `efforts`")
        for event in self.watched:
            if not isinstance(event, Event):
                raise RobotError("events", event, "events, such as LegStraight() or FootPulls()")
        for limb in layout.prescribed:
            given, wanted = set(self.motions.get(limb, {})), set(layout.limbs[limb].coordinates)
            if given != wanted:
                required = f"a profile for each coordinate of the prescribed limb {limb}, {sorted(wanted)}"
                raise RobotError("tail", sorted(given), required)
        fixed_q = {k for name in layout.prescribed for k in _range(layout.coordinates[name])}
        fixed_v = {k for name in layout.prescribed for k in _range(layout.rates[name])}
        self.free_q = [k for k in range(len(layout.coordinate_names)) if k not in fixed_q]
        self.free_v = [k for k in range(len(layout.velocity_names)) if k not in fixed_v]
        self.size = len(self.free_q) + len(self.free_v)
        self.efforts = len(layout.actuator_names)
        self.held = self.efforts + 2 * len(self.targets)
        described = {"robot": model.robot} | {f"law {k + 1}": law for k, law in enumerate(self.laws)}
        profiles = {f"{limb}.{c}": p for limb, motion in self.motions.items() for c, p in motion.items()}
        self._described: dict[str, Any] = described | profiles
        self.numbers = {
            f"{name}: {path}": value for name, part in self._described.items() for path, value in numbers(part).items()
        }
        parts = tuple((name, structure(part, zeros=False)) for name, part in self._described.items() if name != "robot")
        self.structure = (model.structure, parts, respect_limits)

    @property
    def fixed(self) -> set[str]:
        """Numbers that are no parameters of the kernels: zeros of the robot, which are structure, and its place."""
        robot = {name: value for name, value in self.numbers.items() if name.startswith("robot: ")}
        return {name for name, value in robot.items() if value == 0.0 or name.removeprefix("robot: ") in POSE}

    def kinds(self) -> dict[str, Kind]:
        """By name of a number: what is allowed."""
        found: dict[str, Kind] = {}
        for name, part in self._described.items():

            def visit(path: str, value: float, kind: Kind, name: str = name) -> float:
                found[f"{name}: {path}"] = kind
                return value

            rebuild(part, visit)
        return found

    @property
    def state_inputs(self) -> range:
        """Which inputs of the kernels are the state."""
        return range(1, 1 + self.size)

    def once(self, name: Any, make: Callable[[], Kept]) -> Kept:
        """What is made once for all systems of this structure: a changed number finds it again."""
        if (name, self.structure) not in _made:
            with _compiling:
                if (name, self.structure) not in _made:
                    _made[name, self.structure] = make()
        return _made[name, self.structure]

    @property
    def event_names(self) -> list[str]:
        """A name for each watched quantity."""
        return [name for event in self.watched for name in event.names(self.model.layout)]

    @property
    def stops(self) -> np.ndarray:
        """Which of them end a run."""
        flags = [event.action == "stop" for event in self.watched for _ in event.names(self.model.layout)]
        return np.array(flags, dtype=np.bool_)

    def state(self, q: Floats, v: Floats) -> Floats:
        """x from full coordinates and velocities."""
        return np.concatenate([q[..., self.free_q], v[..., self.free_v]], axis=-1)

    def full(self, times: Floats, x: Floats, held: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """(q, v, tau, prescribed accelerations) at (n,) times from (n, …) states and held efforts."""
        kernel, constants = self.kernel("expand")
        found = kernel(np.concatenate([times[:, None], x, held], axis=1), constants)
        layout = self.model.layout
        sizes = [len(layout.coordinate_names), len(layout.velocity_names), len(layout.actuator_names)]
        q, v, tau, given = np.split(found, np.cumsum(sizes), axis=1)
        return q, v, tau, given

    def below(self, t: float, x: Floats, held: Floats) -> set[int]:
        """Which watched quantities are below zero."""
        if not self.watched:
            return set()
        kernel, constants = self.kernel("events")
        values = kernel(np.concatenate([[t], x, held])[None], constants)[0]
        return {int(k) for k in np.flatnonzero(np.logical_not(values >= 0.0))}

    def kernel(self, name: str) -> tuple[Kernel, Constants]:
        """A kernel and its constants: one of ALONE, "linear" or "solve"."""
        kernel, parameters = self.compiled(name)
        return kernel, kernel.constants(np.array([self.numbers[path] for path in parameters]))

    def compiled(self, name: str) -> tuple[Kernel, tuple[str, ...]]:
        """A kernel and the names of its parameters among `numbers`."""
        watched = self.watched if name.endswith("events") else ()
        key = (name, self.structure, watched)
        if key not in _kernels:  # those that are there do not wait for one that is being compiled
            with _compiling:
                if key not in _kernels:
                    for made, (graph, names) in self.graphs(name).items():
                        _kernels.setdefault((made, self.structure, watched), (Kernel(graph), names))
        return _kernels[key]

    def graphs(self, name: str) -> dict[str, tuple[Graph, tuple[str, ...]]]:
        """What a kernel is compiled from, and the names of its parameters; linearisation and solution come together.

        "pushed" is the solution with a load besides.
        """
        if name in ALONE:
            more = 1 + 8 * len(self.model.layout.legs) if name in ("step", "soft_events") else 0
            recorded, parameters, count = self.record(more, over_step=name == "step")
            equations = {
                "derivative": self._derivative, "expand": self._expand, "events": self._events, "feet": self._feet,
                "step": self._step, "soft_events": self._soft_events,
            }  # fmt: skip
            outputs = equations[name](recorded)
            return {name: (finished(recorded.tape, outputs, count, len(parameters)), tuple(parameters))}
        recorded, parameters, count = self.record(self.size + 1)
        held, solve_tape, solve_outputs = self._linear(recorded, pushed=name == "pushed")
        linear = finished(recorded.tape, held, count, len(parameters))
        right = self.size + 1 + (len(self.free_v) if name == "pushed" else 0)
        solve = finished(solve_tape, solve_outputs, len(held) + right, 0)
        return (
            {"pushed": (solve, ())}
            if name == "pushed"
            else {"linear": (linear, tuple(parameters)), "solve": (solve, ())}
        )

    def record(self, more: int = 0, over_step: bool = False) -> tuple[Recorded, dict[str, Scalar], int]:
        """All symbols on a tape of their own, parameters by name, and how many inputs there are.

        The inputs are t, x, what is held, then `more`; the system's numbers are the parameters. Prescribed limbs
        accelerate as they do at t or, `over_step`, on the mean over a step, the first of the further inputs.
        """
        tape = Tape()
        count = 1 + self.size + self.held + more
        parameters: dict[str, Scalar] = {}

        def symbols(name: str, part: Any) -> Any:
            def exchange(path: str, value: float, kind: Any) -> Scalar:
                # A robot's zeros prune the equations; those of laws and motions come and go with every angle.
                if name == "robot" and (value == 0.0 or path in POSE):
                    return value
                return parameters.setdefault(f"{name}: {path}", tape.record(INPUT, count + len(parameters)))

            return rebuild(part, exchange)

        described = {name: symbols(name, part) for name, part in self._described.items()}
        layout = self.model.layout.with_robot(described["robot"])
        t = tape.inputs(1, 0)[0]
        x = tape.inputs(self.size, 1)
        held = tape.inputs(self.efforts, 1 + self.size)
        aims = tape.inputs(self.held - self.efforts, 1 + self.size + self.efforts)
        rest = tape.inputs(more, 1 + self.size + self.held)
        q: list[Scalar] = [0.0] * len(layout.coordinate_names)
        v: list[Scalar] = [0.0] * len(layout.velocity_names)
        given: list[Scalar] = []
        for name, here in layout.prescribed_accelerations.items():
            places = zip(_range(layout.coordinates[name]), _range(layout.rates[name]), strict=True)
            for (i, k), coordinate in zip(places, layout.limbs[name].coordinates, strict=True):
                profile = described[f"{name}.{coordinate}"]
                q[i], v[k] = profile.value(t), profile.rate(t)
                mean = (profile.rate(t + rest[0]) - profile.rate(t)) / rest[0] if over_step else None
                given.append(profile.acceleration(t) if mean is None else mean)
            assert here.stop == len(given)
        for k, symbol in zip(self.free_q, x, strict=False):
            q[k] = symbol
        for k, symbol in zip(self.free_v, x[len(self.free_q) :], strict=True):
            v[k] = symbol
        tau: list[Scalar] = list(held)
        pairs = zip(aims[: len(self.targets)], aims[len(self.targets) :], strict=True)
        moment = Moment(layout, t, q, v, given, targets=dict(zip(self.targets, pairs, strict=True)))
        for name, law in described.items():
            if name.startswith("law "):
                for actuator, effort in law.efforts(moment).items():
                    if actuator not in layout.actuator_names:
                        raise UnknownNameError.among("actuator", actuator, layout.actuator_names, "actuator")
                    k = layout.actuator_names.index(actuator)
                    tau[k] = tau[k] + effort
        asked = list(tau)
        if self.respect_limits:
            for k, limit in limited(layout).values():
                tau[k] = larger(smaller(tau[k], limit), -limit)
        return Recorded(tape, layout, t, x, q, v, given, tau, asked, rest), parameters, count

    def _derivative(self, r: Recorded) -> list[Scalar]:
        rates = coordinate_rates(r.layout, r.q, r.v)
        acceleration = forward_dynamics(r.layout, Inputs(r.q, r.v, r.tau, r.given)).acceleration
        return [rates[k] for k in self.free_q] + [acceleration[k] for k in self.free_v]

    def _expand(self, r: Recorded) -> list[Scalar]:
        return [*r.q, *r.v, *r.tau, *r.given]

    def _events(self, r: Recorded) -> list[Scalar]:
        return self._watched_values(r, Inputs(r.q, r.v, r.tau, r.given))

    def _watched_values(self, r: Recorded, inputs: Inputs) -> list[Scalar]:
        found = path(r.layout, inputs)
        moment = Moment(r.layout, r.t, r.q, r.v, r.given, r.tau, r.asked)
        return [value for event in self.watched for value in event.values(moment, found)]

    def _feet(self, r: Recorded) -> list[Scalar]:
        """Places of all feet, then their velocities, inertial frame."""
        seen = feet(r.layout, r.q, r.v)
        return [x for place, _ in seen.values() for x in place] + [x for _, velocity in seen.values() for x in velocity]

    def _on_ground(self, r: Recorded) -> Inputs:
        """Arguments of the dynamics with the ground under the feet: after the step, eight numbers for each."""
        numbers = r.more[1:]
        contacts = {
            name: ContactImpedance(
                array(numbers[k : k + 3]), array(numbers[k + 3 : k + 6]), numbers[k + 6], numbers[k + 7]
            )
            for k, name in zip(range(0, len(numbers), 8), r.layout.legs, strict=True)
        }
        return Inputs(r.q, r.v, r.tau, r.given, contacts=contacts)

    def _step(self, r: Recorded) -> list[Scalar]:
        """The state after a linearly implicit step, J a of every foot, and the mean power of the joints over it."""
        found = implicit_step(r.tape, r.layout, self._on_ground(r), r.more[0])
        new = [found.q[k] for k in self.free_q] + [found.v[k] for k in self.free_v]
        return [*new, *(x for name in r.layout.legs for x in found.feet[name]), found.power]

    def _soft_events(self, r: Recorded) -> list[Scalar]:
        return self._watched_values(r, self._on_ground(r))

    def _linear(self, r: Recorded, pushed: bool) -> tuple[list[Scalar], Tape, list[Scalar]]:
        """Linearise about (t, x) and factor; and the equations that solve one stage with it."""
        acceleration = self.accelerations(r, r.more[len(self.free_q) :])
        inputs = Inputs(r.q, r.v, r.tau, r.given)
        point = Point(r.tape, r.layout, r.t, r.x, inputs, acceleration, r.more[-1], self.free_q, self.free_v)
        return stage_solution(factored_stage(point), pushed)

    def accelerations(self, r: Recorded, free: Sequence[Scalar]) -> list[Scalar]:
        """Of all velocities: those that are free as given, the others as prescribed."""
        found: list[Scalar] = [0.0] * len(r.v)
        for name in r.layout.prescribed_accelerations:
            for k, value in zip(
                _range(r.layout.rates[name]), r.given[r.layout.prescribed_accelerations[name]], strict=True
            ):
                found[k] = value
        for k, symbol in zip(self.free_v, free, strict=False):
            found[k] = symbol
        return found


def _always_watched(layout: Layout) -> list[Event]:
    """What no run leaves unwatched."""
    pulls: list[Event] = [CablePushes()] if cables(layout) else []
    return [*pulls, BeyondLimit()] if limited(layout) or limited_motions(layout) else pulls


def _checked_motions(motions: Any) -> dict[str, dict[str, Profiles]]:
    required = "profiles by limb and coordinate, such as {'tail': {'ta': …, 'tb': point_to_point(0.0, 0.7, 0.3)}}"
    if not isinstance(motions, Mapping):
        raise RobotError("tail", motions, required)
    for motion in motions.values():
        if not isinstance(motion, Mapping) or not all(isinstance(profile, Profiles) for profile in motion.values()):
            raise RobotError("tail", motion, required)
    return {limb: dict(motion) for limb, motion in motions.items()}


def _range(here: slice) -> range:
    return range(here.start, here.stop)
