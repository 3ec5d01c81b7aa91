"""A problem as one system x-dot = f(t, x), recorded and compiled.

x = [q, v] without the coordinates and rates of prescribed limbs, which are functions of time. Numbers of the robot, of
the laws, of the motions, of the forces and of the initial state are parameters of all kernels, by name:

    tail.length                  of the robot, by path
    tail.total_mass              of a whole tail; see `tailwork.robots.tails.Tail.totals`
    control.1.kp                 of a law, counted from 1
    motion.tail.tb.duration      of a profile of a limb's coordinate, or motion.tail.duration of a motion of the limb
    force.1.x.size               of an outside force, counted from 1
    initial.impulse.x            of an initial state that is equations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from tailwork.algebra.derivatives import jacobian
from tailwork.algebra.expression import INPUT, Expression, Scalar, Tape, larger, opaque, smaller
from tailwork.algebra.vectors import Array, array
from tailwork.control.context import Context, Law, LimbMotion, no_initial_configuration
from tailwork.control.profiles import Profiles
from tailwork.control.servo import JointServo, followed
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.kernels.graph import Graph, finished
from tailwork.kernels.kernel import Constants, Kernel, keeps_kernels
from tailwork.locks import lock
from tailwork.mechanics.contact import ContactImpedance
from tailwork.mechanics.forward import ForwardSolution, Inputs, forward_dynamics
from tailwork.mechanics.implicit import implicit_step
from tailwork.mechanics.kinematics import contact_motions
from tailwork.mechanics.layout import Layout, check_push
from tailwork.mechanics.observe import net_power, path
from tailwork.mechanics.torso import coordinate_rates
from tailwork.model import Model
from tailwork.model.questions import POSE
from tailwork.model.results import PathValues
from tailwork.progress import announced
from tailwork.robots.paths import numbers, rebuild, structure, total_paths, visited, with_totals
from tailwork.robots.quantities import Described, Kind
from tailwork.simulation.events import Event, always_watched, limited, limited_motions
from tailwork.simulation.forces import Force
from tailwork.simulation.initial import Standing
from tailwork.simulation.integrate.stage import StagePoint, factored_stage, stage_solution
from tailwork.typing import Floats

Motion = Mapping[str, Profiles] | LimbMotion
"""A limb's motion: profiles of its coordinates by name, or equations of the whole limb."""

ALONE = ("derivative", "balanced", "power", "expand", "events", "feet", "step", "ground_events", "initial")
"""Kernels that each have equations of their own."""

RECENT = 8
"""Systems that a model keeps: those of the simulations before."""

_kernels: dict[Any, tuple[Kernel, tuple[str, ...]]] = {}
_made: dict[Any, Any] = {}
keeps_kernels(_kernels.clear)
keeps_kernels(_made.clear)
_compiling = lock()
"""One thread at a time makes kernels: a second one of the same kind would take the place of the first, whose code is in
use by its address."""
_renewing = lock()

Kept = TypeVar("Kept")


@dataclass
class Symbols:
    """The symbols of a system on a tape."""

    tape: Tape
    layout: Layout
    t: Expression
    x: list[Expression]
    q: list[Scalar]
    v: list[Scalar]
    prescribed_acceleration: list[Scalar]
    tau: list[Scalar]
    requested: list[Scalar]  # efforts before limits
    more: list[Expression]
    forces: list[Array]
    context: Context
    scale: Scalar | None  # duration by which the time is scaled [s]; None: it is not
    initial: Any  # the initial state with symbols, if it is equations

    @property
    def inputs(self) -> Inputs:
        """Arguments of the dynamics."""
        return Inputs(self.q, self.v, self.tau, self.prescribed_acceleration, self.forces)


def system_of(
    model: Model, laws: tuple[Law, ...], motions: Mapping[str, Motion], events: tuple[Event, ...],
    respect_limits: bool, forces: tuple[Force, ...], initial: Standing | None, start: float, varied: Sequence[str],
    scaled: str,
) -> System:  # fmt: skip
    """The system of these very parts: arguments as for `System`.

    Descriptions are frozen, so that a system which a model has had of late is taken again.
    """
    moved: list[Any] = []
    if isinstance(motions, Mapping):
        for limb, motion in motions.items():
            own = motion.items() if isinstance(motion, Mapping) else [("", motion)]
            moved += [(limb, name, part) for name, part in own]
    parts = (*laws, *events, *forces, initial, *(part for _, _, part in moved))
    names = tuple((limb, name) for limb, name, _ in moved)
    counts = (len(laws), len(events), len(forces))
    key = (tuple(map(id, parts)), counts, names, respect_limits, start, tuple(varied), scaled)
    recent = model._systems
    found = recent.get(key)
    if found is None:
        system = System(
            model, laws, motions, events, respect_limits, forces=forces, initial=initial, start=start, varied=varied,
            scaled=scaled,
        )  # fmt: skip
        with _renewing:
            if len(recent) >= RECENT:
                del recent[next(iter(recent))]
            found = recent[key] = (system, parts)  # which live as long as their identities are compared
    return found[0]


class System:
    """A model, its laws, motions and outside forces.

    Args:
        model: the robot with its stance.
        laws: whose efforts add up.
        motions: by limb: imposed on prescribed limbs, and for laws to follow on others.
        events: what to watch.
        respect_limits: whether efforts stay within the limits of the actuators.
        forces: from outside.
        initial: the initial state as equations; None: it is given as numbers.
        start: time of the initial state [s].
        varied: names of numbers that will be varied: zeros of the robot among them are no longer structure.
        scaled: name of the number that is the duration: the time then runs from 0 to 1. Empty: it is in seconds.
    """

    def __init__(
        self,
        model: Model,
        laws: Sequence[Law] = (),
        motions: Mapping[str, Motion] | None = None,
        events: Sequence[Event] = (),
        respect_limits: bool = False,
        *,
        forces: Sequence[Force] = (),
        initial: Standing | None = None,
        start: float = 0.0,
        varied: Iterable[str] = (),
        scaled: str = "",
    ) -> None:
        self.model = model
        self.servos = tuple(law for law in laws if isinstance(law, JointServo))
        self.laws = tuple(law.law() if isinstance(law, JointServo) else law for law in laws)
        self.targets = followed(self.servos, model.layout)
        self.watched = (*events, *always_watched(model.layout, events))
        self.respect_limits = respect_limits
        if respect_limits and limited_motions(model.layout):
            required = "'report' where a prescribed limb's motors have limits: its motion is imposed, whatever it needs"
            raise ArgumentError("limits", "respect", required)
        self.forces, self.initial, self.start, self.scaled = tuple(forces), initial, start, scaled
        self.motions = _checked_motions(motions or {}, model.layout)
        layout = model.layout
        for force in self.forces:
            check_push(force.push, layout.limbs, layout.torso, "forces")
        for k, law in enumerate(self.laws):
            if not isinstance(law, Described) or not hasattr(law, "efforts"):
                raise ArgumentError(f"control.{k + 1}", law, "a law: a Described dataclass with a method `efforts`")
        for event in self.watched:
            if not isinstance(event, Event):
                raise ArgumentError("events", event, "events, such as LegStraight() or FootPulls()")
        fixed_q = {k for name in layout.prescribed for k in _range(layout.coordinates[name])}
        fixed_v = {k for name in layout.prescribed for k in _range(layout.rates[name])}
        self.free_q = [k for k in range(len(layout.coordinate_names)) if k not in fixed_q]
        self.free_v = [k for k in range(len(layout.velocity_names)) if k not in fixed_v]
        self.size = len(self.free_q) + len(self.free_v)
        self.efforts = len(layout.actuator_names)
        self.control_inputs = self.efforts + 2 * len(self.targets)
        described: dict[str, Any] = {"": model.robot}
        described |= {f"control.{k + 1}.": law for k, law in enumerate(self.laws)}
        for limb, motion in self.motions.items():
            own = {"": motion} if isinstance(motion, LimbMotion) else {f"{c}.": p for c, p in motion.items()}
            described |= {f"motion.{limb}.{name}": part for name, part in own.items()}
        described |= {f"force.{k + 1}.": force for k, force in enumerate(self.forces)}
        described |= {} if initial is None else {"initial.": initial}
        self._described = described
        self._kept: dict[Any, Any] = {}
        robot, totals, wanted = model._numbers, model._totals, set(varied)
        self.numbers = dict(robot)
        for prefix, part in described.items():
            if prefix:
                self.numbers |= {f"{prefix}{path}": value for path, value in numbers(part).items()}
        self.numbers |= totals
        self.totals = tuple(total for total in totals if total in wanted)
        self.opened = frozenset(name for name in wanted if robot.get(name) == 0.0 and name not in POSE)
        parts = tuple((name, structure(part, zeros=False)) for name, part in described.items() if name)
        self.structure = (
            model.structure, parts, respect_limits, self.totals, tuple(sorted(self.opened)), scaled,
            start if initial is not None else 0.0,
        )  # fmt: skip

    def kinds(self) -> dict[str, Kind]:
        """By name of a number: what is allowed."""
        return self.kept("kinds", self._kinds)

    def _kinds(self) -> dict[str, Kind]:
        found: dict[str, Kind] = {}
        for prefix, part in self._described.items():
            found |= {f"{prefix}{path}": kind for path, _, kind in visited(part)}
        for total, unit in total_paths(self.model.robot).items():
            if unit == "1":
                found[total] = Kind(unit, requirement="from 0 to 1", allowed=lambda x: 0.0 <= x <= 1.0)
            else:
                found[total] = Kind(unit, requirement="greater than 0", allowed=lambda x: x > 0)
        return found

    @property
    def state_inputs(self) -> range:
        """Which inputs of the kernels are the state."""
        return range(1, 1 + self.size)

    def once(self, name: Any, make: Callable[[], Kept], structure: Any = None) -> Kept:
        """What is made once for all systems of this structure: a changed number finds it again."""
        key = (name, self.structure if structure is None else structure)
        if key not in self._kept:  # so that it lives as long as the system, which knows the addresses of its code
            with _compiling:
                if key not in _made:
                    with announced(f"preparing equations of {self.model.robot.name}"):
                        _made[key] = make()
                self._kept[key] = _made[key]
        return self._kept[key]

    @cached_property
    def event_names(self) -> list[str]:
        """A name for each watched quantity."""
        return [name for event in self.watched for name in event.names(self.model.layout)]

    @cached_property
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
        q = len(layout.coordinate_names)
        v = q + len(layout.velocity_names)
        tau = v + len(layout.actuator_names)
        return found[:, :q], found[:, q:v], found[:, v:tau], found[:, tau:]

    @cached_property
    def pushed_model(self) -> Model:
        """The model with the points where outside forces act."""
        if not self.forces:
            return self.model
        layout = self.model.layout
        return Model(
            self.model.robot, layout.stance, prescribed=layout.prescribed, torso=layout.torso, attitude=layout.attitude,
            pushes=[force.push for force in self.forces],
        )  # fmt: skip

    def force_values(self, times: Floats) -> Floats:
        """Outside forces at times [s], (times, forces, 3) [N]."""
        found = [force.values(times) for force in self.forces]
        return np.stack(found, axis=1) if found else np.zeros((len(times), 0, 3))

    def path(self, times: Floats, q: Floats, v: Floats, tau: Floats, prescribed: Floats) -> PathValues:
        """Accelerations, foot forces, powers and so on along a path, outside forces counted in."""
        forces = self.force_values(times).reshape(len(times), -1) if self.forces else None
        found = self.pushed_model.ask("path", q=q, v=v, tau=tau, prescribed_acceleration=prescribed, forces=forces)
        return PathValues(**found)

    def below(self, t: float, x: Floats, held: Floats) -> set[int]:
        """Which watched quantities are below zero."""
        if not self.watched:
            return set()
        kernel, constants = self.kernel("events")
        values = kernel(np.concatenate([[t], x, held])[None], constants)[0]
        return {int(k) for k in np.flatnonzero(np.logical_not(values >= 0.0))}

    def kernel(self, name: str) -> tuple[Kernel, Constants]:
        """A kernel and its constants: one of ALONE, "linear" or "solve"."""
        return self.kept(("constants", name), lambda: self._with_constants(name))

    def _with_constants(self, name: str) -> tuple[Kernel, Constants]:
        kernel, parameters = self.compiled(name)
        return kernel, kernel.constants(np.array([self.numbers[path] for path in parameters]))

    def kept(self, name: Any, make: Callable[[], Kept]) -> Kept:
        """What is made once for this system."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def compiled(self, name: str) -> tuple[Kernel, tuple[str, ...]]:
        """A kernel and the names of its parameters among `numbers`."""
        return self.kept(("kernel", name), lambda: self._compiled(name))

    def _compiled(self, name: str) -> tuple[Kernel, tuple[str, ...]]:
        watched = self.watched if name.endswith("events") else ()
        key = (name, self.structure, watched)
        found = _kernels.get(key)  # those that are there do not wait for one that is being compiled
        if found is None:
            with _compiling:
                if key not in _kernels:
                    for made, (graph, names) in self.graphs(name).items():
                        own = Kernel(graph, self.model.robot.name)
                        _kernels.setdefault((made, self.structure, watched), (own, names))
                found = _kernels[key]
        return found

    def graphs(self, name: str) -> dict[str, tuple[Graph, tuple[str, ...]]]:
        """What a kernel is compiled from, and the names of its parameters; linearisation and solution come together.

        "pushed" is the solution with a load besides.
        """
        if name in ALONE:
            more = 1 + 8 * len(self.model.layout.contact_points) if name in ("step", "ground_events") else 0
            recorded, parameters, count = self.record(more, over="after" if name == "step" else "")
            equations = {
                "derivative": self._derivative, "expand": self._expand, "events": self._events, "feet": self._feet,
                "step": self._step, "ground_events": self._ground_events, "initial": self._initial,
                "balanced": self._balanced, "power": self._power,
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

    def _symbols(self, tape: Tape, count: int, laws: bool = True) -> tuple[dict[str, Any], dict[str, Scalar]]:
        """All descriptions with symbols for their numbers, and these by name; they come after `count` inputs."""
        parameters: dict[str, Scalar] = {}

        def symbol(name: str) -> Scalar:
            return parameters.setdefault(name, tape.record(INPUT, count + len(parameters)))

        def symbols(prefix: str, part: Any) -> Any:
            def exchange(path: str, value: float, kind: Any) -> Scalar:
                # A robot's zeros prune the equations; those of laws and motions come and go with every angle.
                if not prefix and value == 0.0 and path not in POSE and path not in self.opened:
                    return value
                return symbol(f"{prefix}{path}")

            return rebuild(part, exchange)

        own = {prefix: part for prefix, part in self._described.items() if laws or not prefix.startswith("control.")}
        described = {prefix: symbols(prefix, part) for prefix, part in own.items()}
        if self.totals:
            described[""] = with_totals(described[""], {path: symbol(path) for path in self.totals})
        if self.scaled:
            described["duration"] = symbol(self.scaled)
        return described, parameters

    def _layout(self, described: Mapping[str, Any]) -> tuple[Layout, list[Force]]:
        """The layout of the robot with symbols, outside forces among it."""
        forces = [described[f"force.{k + 1}."] for k in range(len(self.forces))]
        return replace(self.model.layout, robot=described[""], pushes=tuple(force.push for force in forces)), forces

    def record_observed(self) -> tuple[Symbols, dict[str, Scalar], int]:
        """Symbols of what is observed along a path, whatever laws there are: the inputs are t, q, v, efforts and
        prescribed accelerations, as `full` gives them."""
        tape, layout = Tape(), self.model.layout
        sizes = [len(layout.coordinate_names), len(layout.velocity_names), self.efforts, len(layout.prescribed_names)]
        count = 1 + sum(sizes)
        described, parameters = self._symbols(tape, count, laws=False)
        layout, forces = self._layout(described)
        starts = [1 + sum(sizes[:k]) for k in range(len(sizes))]
        t = tape.inputs(1, 0)[0]
        q, v, tau, given = (list(tape.inputs(size, start)) for size, start in zip(sizes, starts, strict=True))
        motions = self._described_motions(described)
        followed = {name: motion for name, motion in motions.items() if isinstance(motion, LimbMotion)}
        context = Context(layout, t, q, v, given, tau, tau, motions=followed)
        pushes = [array(force.value(t)) for force in forces]
        return Symbols(tape, layout, t, [], q, v, given, tau, tau, [], pushes, context, None, None), parameters, count

    @property
    def observed(self) -> Any:
        """What equations of `record_observed` follow from: systems that differ in their laws alone share them."""
        parts = tuple(part for part in self.structure[1] if not part[0].startswith("control."))
        return (self.structure[0], parts, *self.structure[3:])

    def record(self, more: int = 0, over: str = "") -> tuple[Symbols, dict[str, Scalar], int]:
        """All symbols on a tape of their own, parameters by name, and how many inputs there are.

        The inputs are t, x, what is held, then `more`; the system's numbers are the parameters. Prescribed limbs
        accelerate as they do at t; or, over a step that is the first of the further inputs, on the mean: from t on
        (`over` = "after"), or with t in its middle ("around"), and then their rates are those at its start.
        """
        tape = Tape()
        count = 1 + self.size + self.control_inputs + more
        described, parameters = self._symbols(tape, count)
        layout, forces = self._layout(described)
        motions = self._described_motions(described)
        s = tape.inputs(1, 0)[0]
        scale = described.get("duration")
        t: Scalar = s if scale is None else opaque(s * scale)
        x = tape.inputs(self.size, 1)
        held = tape.inputs(self.efforts, 1 + self.size)
        aims = tape.inputs(self.control_inputs - self.efforts, 1 + self.size + self.efforts)
        rest = tape.inputs(more, 1 + self.size + self.control_inputs)
        q: list[Scalar] = [0.0] * len(layout.coordinate_names)
        v: list[Scalar] = [0.0] * len(layout.velocity_names)
        given: list[Scalar] = []
        for name in layout.prescribed_accelerations:
            own = _moving(tape, layout, name, motions[name], t, over, rest[0] if over else 0.0)
            places = zip(_range(layout.coordinates[name]), _range(layout.rates[name]), strict=True)
            for (i, k), coordinate in zip(places, layout.limbs[name].coordinates, strict=True):
                q[i], v[k], acceleration = own[coordinate]
                given.append(acceleration)
        for k, number in zip(self.free_q, x, strict=False):
            q[k] = number
        for k, number in zip(self.free_v, x[len(self.free_q) :], strict=True):
            v[k] = number

        def initial() -> list[Scalar]:
            if self.initial is None:
                return no_initial_configuration()
            return described["initial."].configuration(layout, _starts(layout, motions, self.start))

        tau: list[Scalar] = list(held)
        pairs = zip(aims[: len(self.targets)], aims[len(self.targets) :], strict=True)
        followed = {name: motion for name, motion in motions.items() if isinstance(motion, LimbMotion)}
        context = Context(
            layout, t, q, v, given, targets=dict(zip(self.targets, pairs, strict=True)), motions=followed,
            initial=initial,
        )  # fmt: skip
        for k in range(len(self.laws)):
            for actuator, effort in described[f"control.{k + 1}."].efforts(context).items():
                if actuator not in layout.actuator_names:
                    raise UnknownNameError.among("actuator", actuator, layout.actuator_names, "actuator")
                index = layout.actuator_names.index(actuator)
                tau[index] = tau[index] + effort
        requested = list(tau)
        if self.respect_limits:
            for k, limit in limited(layout).values():
                tau[k] = larger(smaller(tau[k], limit), -limit)
        context = replace(context, tau=tau, requested=requested)
        pushes = [array(force.value(t)) for force in forces]
        return (
            Symbols(
                tape, layout, s, x, q, v, given, tau, requested, rest, pushes, context, scale, described.get("initial.")
            ),
            parameters,
            count,
        )

    def _described_motions(self, described: Mapping[str, Any]) -> dict[str, Motion]:
        """Motions by limb, with symbols."""
        found: dict[str, Motion] = {}
        for limb, motion in self.motions.items():
            if isinstance(motion, LimbMotion):
                found[limb] = described[f"motion.{limb}."]
            else:
                found[limb] = {name: described[f"motion.{limb}.{name}."] for name in motion}
        return found

    def _initial(self, r: Symbols) -> list[Scalar]:
        """x at the start, from the equations of the initial state."""
        assert self.initial is not None
        q = r.context.initial()
        v = r.initial.velocity(r.layout, q)
        return [q[k] for k in self.free_q] + [v[k] for k in self.free_v]

    def _derivative(self, r: Symbols) -> list[Scalar]:
        return self.change(r, forward_dynamics(r.layout, r.inputs).acceleration)

    def _balanced(self, r: Symbols) -> list[Scalar]:
        """x-dot, then `_power`."""
        solution = forward_dynamics(r.layout, r.inputs)
        return [*self.change(r, solution.acceleration), *self._power(r, solution)]

    def _power(self, r: Symbols, solution: ForwardSolution | None = None) -> list[Scalar]:
        """The power that changes kinetic and gravitational energy, or where the time is scaled dW/ds."""
        solution = forward_dynamics(r.layout, r.inputs) if solution is None else solution
        power = net_power(r.layout, solution, r.inputs)
        return [power if r.scale is None else power * r.scale]

    def change(self, r: Symbols, acceleration: Sequence[Scalar]) -> list[Scalar]:
        """x-dot, or where the time is scaled dx/ds."""
        rates = coordinate_rates(r.layout, r.q, r.v)
        found = [rates[k] for k in self.free_q] + [acceleration[k] for k in self.free_v]
        return found if r.scale is None else [rate * r.scale for rate in found]

    def _expand(self, r: Symbols) -> list[Scalar]:
        return [*r.q, *r.v, *r.tau, *r.prescribed_acceleration]

    def _events(self, r: Symbols) -> list[Scalar]:
        return self._watched_values(r, r.inputs)

    def _watched_values(self, r: Symbols, inputs: Inputs) -> list[Scalar]:
        found = path(r.layout, inputs)
        return [value for event in self.watched for value in event.values(r.context, found)]

    def _feet(self, r: Symbols) -> list[Scalar]:
        """Of all contact points (see `MovingPoint`), one quantity after the other: places, velocities, rolling
        velocities, radii and factors of friction."""
        seen = contact_motions(r.layout, r.q, r.v).values()
        vectors = [*(p.place for p in seen), *(p.velocity for p in seen), *(p.rolling for p in seen)]
        return [*(x for vector in vectors for x in vector), *(p.radius for p in seen), *(p.friction for p in seen)]

    def _on_ground(self, r: Symbols) -> Inputs:
        """Arguments of the dynamics with the ground under the points: after the step, eight numbers for each."""
        numbers = r.more[1:]
        contacts = {
            name: ContactImpedance(
                array(numbers[k : k + 3]), array(numbers[k + 3 : k + 6]), numbers[k + 6], numbers[k + 7]
            )
            for k, name in zip(range(0, len(numbers), 8), r.layout.contact_points, strict=True)
        }
        return replace(r.inputs, contacts=contacts)

    def _step(self, r: Symbols) -> list[Scalar]:
        """The state after a linearly implicit step, J a of every point, and the mean power of the joints over it."""
        found = implicit_step(r.tape, r.layout, self._on_ground(r), r.more[0])
        new = [found.q[k] for k in self.free_q] + [found.v[k] for k in self.free_v]
        return [*new, *(x for name in r.layout.contact_points for x in found.points[name]), found.power]

    def _ground_events(self, r: Symbols) -> list[Scalar]:
        return self._watched_values(r, self._on_ground(r))

    def _linear(self, r: Symbols, pushed: bool) -> tuple[list[Scalar], Tape, list[Scalar]]:
        """Linearise about (t, x) and factor; and the equations that solve one stage with it."""
        acceleration = self.accelerations(r, r.more[len(self.free_q) :])
        sigma = r.more[-1] if r.scale is None else r.more[-1] / r.scale
        point = StagePoint(r.tape, r.layout, r.context.t, r.x, r.inputs, acceleration, sigma, self.free_q, self.free_v)
        return stage_solution(factored_stage(point), pushed, r.scale)

    def accelerations(self, r: Symbols, free: Sequence[Scalar]) -> list[Scalar]:
        """Of all velocities: those that are free from the rates of x, the others as prescribed."""
        found: list[Scalar] = [0.0] * len(r.v)
        for name in r.layout.prescribed_accelerations:
            for k, value in zip(
                _range(r.layout.rates[name]),
                r.prescribed_acceleration[r.layout.prescribed_accelerations[name]],
                strict=True,
            ):
                found[k] = value
        for k, number in zip(self.free_v, free, strict=False):
            found[k] = number if r.scale is None else number / r.scale
        return found


def _moving(
    tape: Tape, layout: Layout, name: str, motion: Motion, t: Scalar, over: str, step: Scalar
) -> dict[str, tuple[Scalar, Scalar, Scalar]]:
    """By coordinate of a limb: its value, rate and acceleration; see `System.record` for `over`."""

    def rates_at(time: Scalar) -> tuple[list[Scalar], list[Scalar]]:
        if not isinstance(motion, LimbMotion):
            return [p.value(time) for p in motion.values()], [p.rate(time) for p in motion.values()]
        values = list(motion.coordinates(layout, name, time).values())
        return values, [row[0] for row in jacobian(tape, values, [time])]

    values, rates = rates_at(t)
    if not over:
        if isinstance(motion, LimbMotion):
            accelerations = [row[0] for row in jacobian(tape, rates, [t])]
        else:
            accelerations = [p.acceleration(t) for p in motion.values()]
    else:
        before, later = (0.0, step) if over == "after" else (step * 0.5, step * 0.5)
        if over == "around":
            rates, step = rates_at(opaque(t - before))[1], larger(step, 1e-12)  # an impact takes no time
        after = rates_at(opaque(t + later))[1]
        accelerations = [(b - a) / step for a, b in zip(rates, after, strict=True)]
    names = motion.coordinates(layout, name, t) if isinstance(motion, LimbMotion) else motion
    return {name: (a, b, c) for name, a, b, c in zip(names, values, rates, accelerations, strict=True)}


def _starts(layout: Layout, motions: Mapping[str, Motion], start: float) -> dict[str, dict[str, Scalar]]:
    """By limb with a motion: its coordinates at the start."""
    found: dict[str, dict[str, Scalar]] = {}
    for name, motion in motions.items():
        if isinstance(motion, LimbMotion):
            found[name] = dict(motion.coordinates(layout, name, start))
        else:
            found[name] = {coordinate: profile.value(start) for coordinate, profile in motion.items()}
    return found


def _checked_motions(motions: Any, layout: Layout) -> dict[str, Any]:
    required = "profiles by limb and coordinate, such as {'tail': {'ta': …, 'tb': point_to_point(0.0, 0.7, 0.3)}}"
    if not isinstance(motions, Mapping):
        raise ArgumentError("motions", motions, required)
    for limb, motion in motions.items():
        if limb not in layout.prescribed and (limb not in layout.limbs or not isinstance(motion, LimbMotion)):
            raise UnknownNameError.among("motions", str(limb), layout.prescribed, "prescribed limb of the model")
        if isinstance(motion, LimbMotion):
            continue
        if not isinstance(motion, Mapping) or not all(isinstance(profile, Profiles) for profile in motion.values()):
            raise ArgumentError("motions", motion, required)
    for limb in layout.prescribed:
        motion, wanted = motions.get(limb, {}), set(layout.limbs[limb].coordinates)
        if not isinstance(motion, LimbMotion) and set(motion) != wanted:
            required = f"a profile for each coordinate of the prescribed limb {limb}, {sorted(wanted)}"
            raise ArgumentError("motions", sorted(motion), required)
    return {limb: motion if isinstance(motion, LimbMotion) else dict(motion) for limb, motion in motions.items()}


def _range(here: slice) -> range:
    return range(here.start, here.stop)
