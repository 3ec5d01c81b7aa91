"""The equations of a problem, recorded on a tape: what its kernels are compiled from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tailwork.algebra.derivatives import jacobian
from tailwork.algebra.expression import CONSTANT, INPUT, Expression, Scalar, Tape, larger, opaque, smaller
from tailwork.algebra.vectors import Array, array
from tailwork.control.context import Context, Law, LimbMotion, no_initial_configuration
from tailwork.control.profiles import Profiles
from tailwork.errors import UnknownNameError
from tailwork.kernels.graph import Graph, finished
from tailwork.mechanics.compliant.impedance import ContactImpedance
from tailwork.mechanics.compliant.step import implicit_step
from tailwork.mechanics.forward import ForwardSolution, Inputs, forward_dynamics
from tailwork.mechanics.kinematics import contact_motions
from tailwork.mechanics.layout import Layout
from tailwork.mechanics.observe import net_power, path
from tailwork.mechanics.torso import coordinate_rates
from tailwork.model import Model
from tailwork.model.questions import POSE
from tailwork.robots.paths import rebuild, with_totals
from tailwork.simulation.events import Event, limited
from tailwork.simulation.forces import Force
from tailwork.simulation.initial import Standing
from tailwork.simulation.integrate.stage import StagePoint, factored_stage, stage_solution

PrescribedMotion = Mapping[str, Profiles] | LimbMotion
"""A limb's motion: profiles of its coordinates by name, or equations of the whole limb."""

ALONE = ("derivative", "balanced", "power", "expand", "events", "feet", "step", "ground_events", "initial")
"""Kernels that each have equations of their own."""


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


class Equations:
    """The parts of a problem, and their equations with symbols for all numbers; see `tailwork.simulation.system`."""

    model: Model
    laws: tuple[Law, ...]
    targets: tuple[str, ...]  # coordinates that servos follow
    watched: tuple[Event, ...]
    respect_limits: bool  # whether efforts stay within the limits of the actuators
    forces: tuple[Force, ...]
    initial: Standing | None  # state as equations; None: it is given as numbers
    start: float  # time of the initial state [s]
    scaled: str  # name of the number that is the duration; empty: the time is in seconds
    motions: dict[str, Any]  # by limb
    free_q: list[int]  # coordinates that are integrated
    free_v: list[int]  # likewise velocities
    size: int  # numbers of a state
    efforts: int  # of a controller
    control_inputs: int  # efforts, and what servos follow
    totals: tuple[str, ...]  # numbers of whole tails that vary
    opened: frozenset[str]  # zeros of the robot that are no structure, because they vary
    structure: tuple[Any, ...]  # what differs between systems of other equations
    _described: dict[str, Any]  # all parts, by the prefix of their numbers

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
            places = zip(range_of(layout.coordinates[name]), range_of(layout.rates[name]), strict=True)
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

    def _described_motions(self, described: Mapping[str, Any]) -> dict[str, PrescribedMotion]:
        """Motions by limb, with symbols."""
        found: dict[str, PrescribedMotion] = {}
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
        v = r.initial.velocity(r.layout, q, self._start_rates(r) if self.initial.in_motion else {})
        return [q[k] for k in self.free_q] + [v[k] for k in self.free_v]

    def _start_rates(self, r: Symbols) -> dict[str, dict[str, Scalar]]:
        """By limb that is free and has a motion: the rates of its coordinates at the start."""
        time = opaque(r.tape.record(CONSTANT, float(self.start)))
        found: dict[str, dict[str, Scalar]] = {}
        for name, motion in r.context.motions.items():
            if name not in r.layout.prescribed:
                own = motion.coordinates(r.layout, name, time)
                rates = (row[0] for row in jacobian(r.tape, list(own.values()), [time]))
                found[name] = dict(zip(own, rates, strict=True))
        return found

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
                range_of(r.layout.rates[name]),
                r.prescribed_acceleration[r.layout.prescribed_accelerations[name]],
                strict=True,
            ):
                found[k] = value
        for k, number in zip(self.free_v, free, strict=False):
            found[k] = number if r.scale is None else number / r.scale
        return found


def _moving(
    tape: Tape, layout: Layout, name: str, motion: PrescribedMotion, t: Scalar, over: str, step: Scalar
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


def _starts(layout: Layout, motions: Mapping[str, PrescribedMotion], start: float) -> dict[str, dict[str, Scalar]]:
    """By limb with a motion: its coordinates at the start."""
    found: dict[str, dict[str, Scalar]] = {}
    for name, motion in motions.items():
        if isinstance(motion, LimbMotion):
            found[name] = dict(motion.coordinates(layout, name, start))
        else:
            found[name] = {coordinate: profile.value(start) for coordinate, profile in motion.items()}
    return found


def range_of(here: slice) -> range:
    """The numbers of a slice."""
    return range(here.start, here.stop)
