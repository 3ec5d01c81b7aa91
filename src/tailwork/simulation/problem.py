"""What is simulated: one `Problem` for runs, batches, gradients and sensitivities; `Options` say how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from tailwork.control.context import Law
from tailwork.control.servo import JointServo
from tailwork.errors import ArgumentError, StateError, check_positive, is_finite_number, shown
from tailwork.model import Model
from tailwork.robots.paths import replace as exchange
from tailwork.simulation.contact.ground import CompliantGround, RigidGround
from tailwork.simulation.equations import PrescribedMotion
from tailwork.simulation.events import DEFAULT_EVENTS, Event
from tailwork.simulation.forces import Force, check_forces
from tailwork.simulation.initial import Standing
from tailwork.simulation.run import Contact
from tailwork.simulation.system import System, system_of
from tailwork.typing import Floats

LIMITS = ("report", "respect")
GROUND = "a CompliantGround, such as CompliantGround(stiffness=2e4, …), or a RigidGround(friction=0.6)"
CONTACT = "a Contact, such as final_contact of another run; in a batch also one for each run"
RESOLVED = 1e-12
"""Share of the time at which a run starts that its duration may not fall below: ten thousand times what rounding takes
from it."""

State = ArrayLike | tuple[ArrayLike, ArrayLike] | Standing
"""An initial state: q at rest, (q, v), or equations such as `Standing()`."""


class Controller(Protocol):
    """A controller in Python: (time [s], q, v) → efforts of all actuators, or by name of some of them.

    It is called at a control rate; its efforts are held in between and add to those of the laws. It may carry state: a
    method `reset()`, if it has one, is called before each run.
    """

    def __call__(self, t: float, q: Floats, v: Floats) -> ArrayLike | Mapping[str, float]:
        """Efforts [N m or N]."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """What is simulated: a model, where it starts, for how long, and what acts on it."""

    model: Model  # the robot with its stance; limbs that it prescribes need a motion
    initial: Standing | tuple[Floats, Floats]  # equations, or (q, v) [m, rad], [m/s, rad/s]
    duration: float  # of the run [s]
    control: tuple[Law, ...] = ()  # laws, compiled with the robot; their efforts add up
    controller: Controller | None = None  # in Python; its efforts add to those of the laws
    motions: Mapping[str, PrescribedMotion] = field(default_factory=dict)  # by limb: imposed, or for laws to follow
    forces: tuple[Force, ...] = ()  # from outside, in time
    events: tuple[Event, ...] = DEFAULT_EVENTS  # what to watch
    limits: str = "report"  # efforts beyond an actuator's limit: "report" them, or "respect" the limit as well
    ground: CompliantGround | RigidGround | None = None  # under feet that are free (a model with stance="none")
    contact: Contact | Sequence[Contact] | None = None  # how feet touch it at the start; None: all at or above it
    start_time: float = 0.0  # time of the initial state [s]

    def __post_init__(self) -> None:
        _check_model(self.model)
        check_positive("duration", self.duration)
        if not isinstance(self.limits, str) or self.limits not in LIMITS:
            raise ArgumentError("limits", self.limits, "'report' or 'respect'")
        if not is_finite_number(self.start_time):
            raise ArgumentError("start_time", self.start_time, "a finite number [s]")
        if abs(self.start_time) * RESOLVED > self.duration:
            required = f"at most {self.duration / RESOLVED:.3g} s from 0: later the duration is lost in rounding"
            raise ArgumentError("start_time", self.start_time, required)
        for name in ("duration", "start_time"):
            object.__setattr__(self, name, float(getattr(self, name)))
        listed = isinstance(self.contact, (list, tuple)) and len(self.contact) > 0
        if self.contact is not None and not listed and not isinstance(self.contact, Contact):
            raise ArgumentError("contact", self.contact, CONTACT)
        if self.contact is not None and self.ground is None:
            raise ArgumentError("contact", self.contact, "none without a ground")
        if self.ground is not None and not isinstance(self.ground, (CompliantGround, RigidGround)):
            raise ArgumentError("ground", self.ground, GROUND)

    @property
    def one_contact(self) -> Contact | None:
        """How the feet of a single run touch the ground at the start."""
        if self.contact is None or isinstance(self.contact, Contact):
            return self.contact
        raise ArgumentError("contact", f"{len(self.contact)} of them", CONTACT)

    @property
    def rigid_ground(self) -> RigidGround:
        """The ground of a run that is differentiated by its state."""
        if isinstance(self.ground, RigidGround):
            return self.ground
        raise ArgumentError("ground", self.ground, "a RigidGround: runs on compliant ground are not differentiated")

    def with_numbers(self, values: Mapping[str, float]) -> Problem:
        """The same problem with other numbers [SI], by name as `System` has them; of rigid ground as "ground.…"."""
        of_robot = dict(values)

        def changed(prefix: str, part: Any) -> Any:
            own = {name.removeprefix(prefix): of_robot.pop(name) for name in values if name.startswith(prefix)}
            return part if not own else replace(part, **own) if isinstance(part, JointServo) else exchange(part, own)

        found = replace(
            self, control=tuple(changed(f"control.{k + 1}.", law) for k, law in enumerate(self.control)),
            forces=tuple(changed(f"force.{k + 1}.", force) for k, force in enumerate(self.forces)),
            motions={limb: {name: changed(f"motion.{limb}.{name}.", own) for name, own in motion.items()}
                     if isinstance(motion, Mapping) else changed(f"motion.{limb}.", motion)
                     for limb, motion in self.motions.items()},
        )  # fmt: skip
        if isinstance(self.initial, Standing):
            found = replace(found, initial=changed("initial.", self.initial))
        own = {name.removeprefix("ground."): of_robot.pop(name) for name in values if name.startswith("ground.")}
        if own:
            found = replace(found, ground=self.rigid_ground.with_numbers(own))
        if not of_robot:
            return found
        layout = self.model.layout
        return replace(found, model=Model(
            self.model.robot.replace(of_robot), layout.stance, prescribed=layout.prescribed, torso=layout.torso,
            attitude=layout.attitude, pushes=layout.pushes,
        ))  # fmt: skip

    def system(self, varied: Sequence[str] = (), scaled: str = "") -> System:
        """The compiled equations; see `System` for the arguments."""
        return system_of(
            self.model, self.control, self.motions, self.events, self.limits == "respect", self.forces,
            self.initial if isinstance(self.initial, Standing) else None, self.start_time, varied, scaled,
        )  # fmt: skip


def problem_of(
    model: Model, state: Any, duration: float, *, control: Any = (), motions: Any = None, forces: Any = (),
    **more: Any,
) -> Problem:  # fmt: skip
    """A problem from the arguments of the public functions; `state` may be a batch where the caller takes one."""
    _check_model(model)
    laws, controller = _control(control)
    initial = state if isinstance(state, Standing) else states_of(model, state)
    motions = {} if motions is None else motions
    if not isinstance(more.get("events", ()), (list, tuple)):
        raise ArgumentError("events", more["events"], "a list of events, such as [LegStraight(), FootPulls()]")
    more = {name: tuple(value) if name == "events" else value for name, value in more.items()}
    return Problem(
        model=model, initial=initial, duration=duration, control=laws, controller=controller, motions=motions,
        forces=check_forces(forces), **more,
    )  # fmt: skip


def _check_model(model: Any) -> None:
    if not isinstance(model, Model):
        raise ArgumentError("model", type(model).__name__, "a Model, such as Model(robot)")


def _control(control: Any) -> tuple[tuple[Law, ...], Controller | None]:
    """Laws, and at most one controller in Python; None: nothing acts."""
    if isinstance(control, np.ndarray):
        control = control.tolist()
    given = list(control) if isinstance(control, (list, tuple)) else [] if control is None else [control]
    for one in given:
        if isinstance(one, type):
            known = fields(one) if is_dataclass(one) else ()
            numbers = "…" if any(f.default is MISSING and f.default_factory is MISSING for f in known) else ""
            raise ArgumentError("control", one, f"a law, not its class: write {one.__name__}({numbers})")
    if given and all(map(is_finite_number, given)):
        raise ArgumentError("control", control, "a law; of constant efforts that is Constant(values=…)")
    laws = [one for one in given if hasattr(one, "efforts")]
    others = [one for one in given if not hasattr(one, "efforts")]
    required = "a law, a function of (t, q, v) that returns efforts, or a list of laws and at most one such function"
    if len(others) > 1 or not all(map(callable, others)):
        raise ArgumentError("control", control, required)
    return tuple(laws), cast(Controller, others[0]) if others else None


def _of_legs(model: Model, missing: int) -> str:
    """A hint where a state that lacks so many numbers is that of the same robot with all feet pinned, or with none."""
    angles = sum(len(limb.coordinates) for limb in model.layout.robot.limbs().values() if limb.foot is not None)
    if missing == angles > 0:
        return "; where no foot is pinned, it has the angles of the legs: start from Standing() or posed(model)"
    if missing == -angles < 0:
        return "; of pinned legs it has no angles: start from Standing() or model.standing()"
    return ""


def states_of(model: Model, state: Any) -> tuple[Floats, Floats]:
    """q and v as arrays, checked: one state, or a row a run."""
    pair = state if isinstance(state, tuple) and len(state) == 2 else (state, np.zeros(len(model.velocity_names)))
    rows: list[Floats] = []
    for name, given, wanted in (("q", pair[0], model.coordinate_names), ("v", pair[1], model.velocity_names)):
        try:
            array = np.asarray(given, dtype=np.float64) if not np.iscomplexobj(given) else None
        except (TypeError, ValueError, OverflowError):
            array = None
        if array is None:
            required = f"numbers, {len(wanted)} a state, or equations such as Standing()"
            raise StateError(name, f"got {shown(given)}; required: {required}")
        if array.ndim not in (1, 2) or array.shape[-1] != len(wanted) or not len(array):
            both = array.shape == (len(model.coordinate_names) + len(model.velocity_names),)
            missing = len(wanted) - (array.shape or (0,))[-1]
            remedy = "; of q and v after each other: write (q, v)" if both else _of_legs(model, missing)
            required = f"({len(wanted)},), or (runs, {len(wanted)}){remedy}"
            raise StateError(name, f"got shape {np.shape(given)}; required: {required}")
        if not np.isfinite(array).all():
            bad = np.flatnonzero(~np.isfinite(np.atleast_2d(array)).all(axis=1))
            raise StateError(name, "required: finite numbers", tuple(map(int, bad)))
        rows.append(array)
    return rows[0], rows[1]
