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
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from tailwork.control.context import Law, LimbMotion
from tailwork.control.profiles import Profiles
from tailwork.control.servo import JointServo, followed
from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.kernels.kernel import Constants, Kernel, keeps_kernels
from tailwork.locks import lock
from tailwork.mechanics.layout import Layout, check_push
from tailwork.model import Model
from tailwork.model.questions import POSE
from tailwork.model.results import PathValues
from tailwork.progress import announced
from tailwork.robots.paths import check_totals, robot_numbers, structure, total_paths, visited
from tailwork.robots.quantities import Described, Kind
from tailwork.simulation.equations import Equations, PrescribedMotion, range_of
from tailwork.simulation.events import Event, always_watched, limited_motions
from tailwork.simulation.forces import Force
from tailwork.simulation.initial import Standing
from tailwork.typing import Floats

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

_Kept = TypeVar("_Kept")

MOTIONS = "profiles by limb and coordinate, such as {'tail': {'ta': …, 'tb': point_to_point(0.0, 0.7, 0.3)}}"
"""What motions are to be."""


def system_of(
    model: Model, laws: tuple[Law, ...], motions: Mapping[str, PrescribedMotion], events: tuple[Event, ...],
    respect_limits: bool, forces: tuple[Force, ...], initial: Standing | None, start: float, varied: Sequence[str],
    scaled: str,
) -> System:  # fmt: skip
    """The system of these very parts: arguments as for `System`.

    Descriptions are frozen, so that a system which a model has had of late is taken again.
    """
    moved: list[Any] = []
    if not isinstance(motions, Mapping):
        raise ArgumentError("motions", motions, MOTIONS)
    for limb, motion in motions.items():
        own = motion.items() if isinstance(motion, Mapping) else [("", motion)]
        moved += [(limb, name, part) for name, part in own]
    parts = (*laws, *events, *forces, initial, *(part for _, _, part in moved))
    names = (*motions, *((limb, name) for limb, name, _ in moved))
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


class System(Equations):
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
        motions: Mapping[str, PrescribedMotion] | None = None,
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
        fixed_q = {k for name in layout.prescribed for k in range_of(layout.coordinates[name])}
        fixed_v = {k for name in layout.prescribed for k in range_of(layout.rates[name])}
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
                self.numbers |= {f"{prefix}{path}": value for path, value in robot_numbers(part).items()}
        self.numbers |= totals
        self.totals = tuple(total for total in totals if total in wanted)
        check_totals(model.robot, self.totals, {name: robot[name] for name in wanted if name in robot})
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

    def once(self, name: Any, make: Callable[[], _Kept], structure: Any = None) -> _Kept:
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

    def kept(self, name: Any, make: Callable[[], _Kept]) -> _Kept:
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


def _checked_motions(motions: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    for limb, motion in motions.items():
        if limb not in layout.prescribed and (limb not in layout.limbs or not isinstance(motion, LimbMotion)):
            raise UnknownNameError.among("motions", str(limb), layout.prescribed, "prescribed limb of the model")
        if isinstance(motion, LimbMotion):
            continue
        if not isinstance(motion, Mapping) or not all(isinstance(profile, Profiles) for profile in motion.values()):
            raise ArgumentError("motions", motion, MOTIONS)
    for limb in layout.prescribed:
        motion, wanted = motions.get(limb, {}), set(layout.limbs[limb].coordinates)
        if not isinstance(motion, LimbMotion) and set(motion) != wanted:
            required = f"a profile for each coordinate of the prescribed limb {limb}, {sorted(wanted)}"
            raise ArgumentError("motions", sorted(motion), required)
    return {limb: motion if isinstance(motion, LimbMotion) else dict(motion) for limb, motion in motions.items()}
