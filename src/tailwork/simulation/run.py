"""What a simulation leaves: named quantities over time, why it ended, and how far it can be trusted."""

from __future__ import annotations

import io
import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tailwork.errors import (
    ArgumentError,
    FileError,
    StateError,
    TailworkError,
    check_known,
    is_finite_number,
    no_attribute,
)
from tailwork.files import read_bytes, write_whole
from tailwork.format import first_few, fixed
from tailwork.mechanics.compliant.impedance import friction_ratio
from tailwork.mechanics.layout import Layout, Push
from tailwork.model import Model
from tailwork.model.results import PathValues
from tailwork.robots.io.toml import as_text, from_text
from tailwork.robots.robot import Robot
from tailwork.robots.sizes import size_warnings
from tailwork.simulation.contact.ground import CONTACT_NAMES, CompliantGround, RigidGround, ground_from_text
from tailwork.simulation.integrate.balance import POOR_ON_GROUND, TRUSTED, balance_error, poor_balance
from tailwork.simulation.integrate.dense import Trajectory
from tailwork.simulation.pose import continuous_angles, torso_rotations
from tailwork.simulation.record import Arrays, SampledTrajectory, arrays_of, content_digest
from tailwork.simulation.stopping import Stopped
from tailwork.typing import Floats

if TYPE_CHECKING:
    import xarray

TURN, MANY_TURNS = 2.0 * math.pi, 3.0
"""[rad]; a limb that is driven around more often was perhaps asked for degrees."""
TILTED = 45.0
"""From so far on a summary says how far the torso is from upright [deg]."""
CERTAIN = 0.2
"""Cosine of a roll near 90°, below which pitch and yaw are not well defined, so that their most is not looked for."""
FORMAT = 2
"""Of the files of runs. Files without a number and a digest are older and are read all the same."""
MAGIC = b"CDF"
"""What a NetCDF file of this kind begins with."""


@dataclass(frozen=True, eq=False)
class Contact:
    """How feet and other contact points touch the ground: "air", "stick" or "slip", and their anchors."""

    states: tuple[str, ...]  # by point, in the order of `Robot.contact_points`: feet first
    anchors: Floats  # (points, 3), inertial frame [m]; NaN in the air, and on rigid ground

    @classmethod
    def of_feet(cls, layout: Layout, touching: Sequence[bool], places: Floats) -> Contact:
        """Some feet sticking, all else in the air, on flat ground; from the anchors of points, or of the centres of
        balls, (feet, 3) [m]."""
        anchors = np.full((len(layout.contact_points), 3), np.nan)
        states = ["stick" if touches else "air" for touches in touching]
        for k, (_, point) in enumerate(list(layout.contact_points.values())[: len(states)]):
            if touching[k]:
                anchors[k] = places[k] - (0.0, 0.0, float(point.radius))
        return cls((*states, *["air"] * (len(anchors) - len(states))), anchors)


@dataclass(frozen=True, repr=False, eq=False)
class Run:
    """A finished simulation.

    A run can be pickled, for process pools. As from a file, it comes back with its arrays and without its trajectory.
    """

    model: Model  # the robot with its stance
    record: SampledTrajectory | Arrays  # what `data` is made of; arrays alone on ground and from a file
    stopped: Stopped | None  # None: it went to its end
    events: tuple[tuple[float, str], ...]  # (time [s], what happened)
    method: str  # by which it was integrated
    why_method: str  # why that one, in words
    ground: CompliantGround | RigidGround | None = None  # None: feet are pinned or in the air
    changes: tuple[tuple[float, str, str], ...] = ()  # on ground: (time [s], foot, what it starts to do)
    title: str = ""  # what it shows, in words
    trusted: float = TRUSTED  # energy balances that are worse than this are pointed out [1]

    def __repr__(self) -> str:
        return self.summary()

    def __reduce__(self) -> tuple[Any, ...]:
        layout = self.model.layout
        rest = (
            self.stopped, self.events, self.method, self.why_method, self.ground, self.changes, self.title, self.trusted
        )  # fmt: skip
        return _restored, (self.model.robot, _drive(layout), layout.pushes, self._final_arrays(), *rest)

    def _repr_html_(self) -> str:
        """What a notebook shows. Pictures come after simulation, so they are found by name, when one is wanted."""
        return import_module("tailwork.view.player.page").notebook_html(self)

    @property
    def data(self) -> xarray.Dataset:
        """All quantities over `time`, by name and with units; made when it is first read.

        It holds q, v, tau, acceleration, foot_force, extension, power, energies, momenta and points; where there are
        outside forces, outside_force and outside_point. On ground, foot_force is what was applied over the step before
        (at the start: over the first one, as for acceleration, contact and anchor), foot_impulse its sum since the
        start, foot_work what the ground has done to the robot since then, and contact and anchor how the feet touch.
        By "event-driven" they are those of the instant.
        On rigid ground `foot` are all contact points, forces leave impacts out, and impact_time, impact_impulse and
        impact_loss tell of these.
        """
        return self._arrays.dataset

    def __getitem__(self, key: str | tuple[str, str]) -> xarray.DataArray:
        """A quantity of `data` over time, run["tau"], or one row of it by name, run["tau", "tail.ta"], in its unit. A
        coordinate or a velocity has its name alone, run["phi_z"].

        Raises:
            UnknownNameError: there is none; the message offers the nearest names.
        """
        model, known = self.model, list(map(str, self.data))
        for whole, names in (("v", model.velocity_names), ("q", model.coordinate_names)):
            key = (whole, key) if isinstance(key, str) and key not in known and key in names else key
        quantity, *rows = key if isinstance(key, tuple) and key else (key,)
        if not rows and isinstance(quantity, str) and quantity not in known:
            whole = next((whole for whole, names in self._rows().items() if quantity in names), "")
            if whole:
                raise ArgumentError("run", quantity, f"the quantity that it is a row of: run[{whole!r}, {quantity!r}]")
            known += [*model.coordinate_names, *model.velocity_names, *map(str, self.data.coords)]
        check_known("run", [quantity], known, "quantity, coordinate or velocity")
        found = self.data[quantity]
        if not rows:
            return found
        dimension = next((str(name) for name in found.dims[1:] if name in found.coords), None)
        if dimension is None or len(rows) > 1:
            raise ArgumentError(str(quantity), key, f"run[{str(quantity)!r}], or one of its rows by name")
        if quantity == "tau" and rows[0] in model.prescribed_names:
            required = f"an actuator that moves something: the motion of {rows[0]} is prescribed, and what it takes is "
            raise ArgumentError("tau", rows[0], f"{required}run['prescribed_effort', {rows[0]!r}]")
        check_known(str(quantity), rows, list(map(str, found[dimension].to_numpy())), dimension)
        return found.sel({dimension: rows[0]})

    def _rows(self) -> dict[str, tuple[str, ...]]:
        """By quantity: names of its rows that stand for it alone."""
        model = self.model
        efforts = {"tau": model.actuator_names, "prescribed_effort": model.prescribed_names}
        return {**efforts, "foot_force": model.foot_names}

    def __getattr__(self, name: str) -> Any:
        """Only of names that a run does not have: where the quantity is."""
        if name.startswith("_") or name in type(self).__dataclass_fields__:
            raise no_attribute(self, name, ())
        names = (*map(str, self.data), *map(str, self.data.coords))
        raise no_attribute(self, name, (*names, *self.model.coordinate_names, *self.model.velocity_names))

    @property
    def _arrays(self) -> Arrays:
        return self.record if isinstance(self.record, Arrays) else self.record.arrays

    def _final_arrays(self) -> Arrays:
        """The arrays with all that a run without its trajectory needs."""
        own = self._arrays
        return replace(own, attributes={**own.attributes, "energy_balance_error": self.energy_balance_error()})

    @property
    def trajectory(self) -> Trajectory | None:
        """The steps with their dense output; None on ground and from a file."""
        return None if isinstance(self.record, Arrays) else self.record.trajectory

    @property
    def duration(self) -> float:
        """Time simulated [s]."""
        times = self._arrays["time"] if self.trajectory is None else self.trajectory.times
        return float(times[-1] - times[0])

    def titled(self, title: str) -> Run:
        """The same run with words that say what it shows, for captions."""
        if not isinstance(title, str):
            raise ArgumentError("title", title, "text")
        return replace(self, title=title)

    @property
    def final_state(self) -> tuple[Floats, Floats]:
        """(q [m, rad], v [m/s, rad/s]) at the end; from here another simulation can go on."""
        if self.trajectory is not None:
            return self.trajectory.final_state()
        return self._arrays["q"][-1], self._arrays["v"][-1]

    @property
    def final_contact(self) -> Contact:
        """How the feet touch the ground at the end; from here another simulation can go on."""
        if self.ground is None:
            raise StateError("contact", "required: a run on ground")
        states = tuple(CONTACT_NAMES[k] for k in self._arrays["contact"][-1])
        return Contact(states, self._arrays["anchor"][-1])

    def momentum_balance_error(self) -> float:
        """On ground: largest difference between linear momentum and the impulses of ground and weight, as a
        share of the weight's impulse over the run [1]."""
        if self.ground is None:
            raise StateError("momentum", "required: a run on ground")
        return float(self._arrays.attributes["momentum_balance_error"])

    def energy_balance_error(self) -> float:
        """Difference between the kinetic and gravitational energy gained and the work of all other forces, at the end
        of the run or of its fastest step, the larger one, as a share of the energy that moved or was in motion [1].

        The work is integrated with the motion, by the same steps."""
        return self._energy_balance

    @cached_property
    def _energy_balance(self) -> float:
        if self.trajectory is None:
            return float(self._arrays.attributes["energy_balance_error"])
        return balance_error(self.trajectory.system, self.trajectory.moments())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against trusting the run, in words; empty: nothing that is known."""
        if self.ground is None:
            said = poor_balance(self.energy_balance_error(), self.trusted)
        else:
            closed = float(np.nan_to_num(self.momentum_balance_error()))
            said = POOR_ON_GROUND if max(self.energy_balance_error(), closed) > self.trusted else ""
        return tuple(filter(None, (said, self._in_degrees(), *size_warnings(self.model.robot))))

    def _in_degrees(self) -> str:
        """A hint where angles look as if they were given in degrees: the run starts beyond a turn, or a limb is driven
        around several times."""
        model, q = self.model, self.record.states()[1]
        layout, most = model.layout, np.abs(q).max(axis=0)
        turned = [(k, False) for k in range(3, 6) if layout.torso_free and layout.attitude != "quaternion"]
        efforts = zip(model.actuator_names, self._efforts().T, strict=True)
        used = {name.partition(".")[0] for name, own in efforts if own.any()}
        for name, limb in layout.limbs.items():
            hinges = {joint.name for joint in limb.joints if not joint.slides}
            if name in layout.coordinates and getattr(layout.robot.parts.get(name), "points", True):  # wheels spin
                first, driven = layout.coordinates[name].start, name in layout.prescribed or name in used
                turned += [(first + k, driven) for k, c in enumerate(limb.coordinates) if c in hinges]
        for k, driven in turned:
            name, start, far = model.coordinate_names[k], abs(q[0, k]) / TURN, most[k] / TURN
            if start > 1.0:
                return f"{name} starts {start:.3g} turns off, at {start * TURN:.4g} rad: was it meant in degrees?"
            if driven and far > MANY_TURNS:
                return f"{name} is driven around {far:.3g} times, to {far * TURN:.4g} rad: was it meant in degrees?"
        return ""

    def foot_closure_error(self) -> float:
        """Farthest that a pinned foot is from its place [m]."""
        self._pinned("foot_closure_error")
        model, points = self.model, self._arrays["points"]
        worst = 0.0
        for name in model.foot_names:
            foot = model.layout.limbs[name].foot
            assert foot is not None
            found = points[:, model.point_names.index(f"{name}.foot")]
            worst = max(worst, float(np.abs(found - np.array(foot.place, dtype=float)).max()))
        return worst

    def _foot_forces(self) -> Floats:
        """Of pinned feet at the times of the data, (times, feet, 3) [N]."""
        return self.record["foot_force"] if isinstance(self.record, Arrays) else self.record.at_samples.path.foot_forces

    def _efforts(self) -> Floats:
        """tau at the times of the data, (times, actuators) [N m, N]; arrays have none of a robot without actuators."""
        if not isinstance(self.record, Arrays):
            return self.record.trajectory.full(self.record.times)[2]
        return self.record["tau"] if self.model.actuator_names else np.zeros((len(self.record["time"]), 0))

    def min_normal_force(self) -> float:
        """Smallest normal force on a pinned foot [N]; negative: a foot would have had to pull."""
        self._pinned("min_normal_force")
        return float(self._foot_forces()[..., 2].min()) if self.model.foot_names else np.inf

    def friction_needed(self) -> float:
        """Largest ratio of tangential to normal force on a pinned foot [1]; infinite where a foot would pull."""
        self._pinned("friction_needed")
        return float(friction_ratio(self._foot_forces()).max()) if self.model.foot_names else 0.0

    def _pinned(self, measure: str) -> None:
        if self.ground is not None:
            raise StateError(measure, "is of pinned feet; on ground look at `changes` and data['foot_force']")

    def assumption_held(self, friction: float = 1.0) -> bool:
        """Whether the feet would have stayed where they are: none pulls, none needs more friction than this [1]. On
        ground: whether none has slipped or left it."""
        if not is_finite_number(friction) and not (isinstance(friction, float) and friction == np.inf):
            raise ArgumentError("friction", friction, "a number [1]")
        if self.ground is not None:
            legs = self.model.layout.legs
            changed = (state for _, foot, state in self.changes if foot in legs)
            return {*self.final_contact.states[: len(legs)], *changed} == {"stick"}
        return self.min_normal_force() > 0.0 and self.friction_needed() <= friction

    def path(self, times: Floats) -> PathValues:
        """Accelerations, foot forces, powers and so on at any times within the run [s]."""
        if self.trajectory is None:
            reason = "a run on ground or from a file knows only the times in `data`; simulate it again"
            raise StateError("times", reason)
        return self.trajectory.system.path(times, *self.trajectory.full(times))

    def save(self, file: str | os.PathLike[str], more: Mapping[str, str] | None = None) -> None:
        """Write the run as NetCDF, whole or not at all; `load_run` reads it back.

        Args:
            file: its path.
            more: further attributes of the file.
        """
        write_whole(file, self.as_netcdf(more))

    def as_netcdf(self, more: Mapping[str, str] | None = None) -> bytes:
        """What `save` writes."""
        layout, content = self.model.layout, self._final_arrays()
        attributes = {
            "format": FORMAT,
            "title": self.title,
            "trusted": self.trusted,
            "robot_file": as_text(self.model.robot),
            "drive": json.dumps(_drive(layout)),
            "stopped": json.dumps(None if self.stopped is None else [self.stopped.time, self.stopped.reason]),
            "events": json.dumps([list(event) for event in self.events]),
            "method": self.method,
            "why_method": self.why_method,
            "changes": json.dumps([list(change) for change in self.changes]),
            "ground": "" if self.ground is None else self.ground.as_text(),
        }
        # Text as ASCII: not every reader of NetCDF takes more.
        plain = {key: value.encode("unicode_escape").decode() if isinstance(value, str) else value
                 for key, value in {**content.attributes, **attributes, **(more or {})}.items()}  # fmt: skip
        plain["content"] = content_digest(content, plain)
        return bytes(self.data.assign_attrs(plain).to_netcdf(None, engine="scipy"))

    def summary(self) -> str:
        """The run in a few lines."""
        lines = [f"{self.model.robot.name}: {self.duration:.4g} s by {self.method} ({self.why_method})"]
        if self.stopped is not None:
            limp = self.model.foot_names and self.model.actuator_names and not self._efforts().any()
            hint = "; no motor did anything: `control` says what drives the legs" if limp else ""
            lines.append(f"stopped at {self.stopped.time:.4f} s: {self.stopped.reason}{hint}")
        ended = None if self.stopped is None else (self.stopped.time, self.stopped.reason)
        happened: dict[str, list[str]] = {}
        for time, what in self.events:
            if (time, what) != ended:
                happened.setdefault(what, []).append(f"{time:.4f}")
        # What happens at the same times, but for the name that it begins with, is one line.
        alike: dict[tuple[str, ...], list[str]] = {}
        for what, when in happened.items():
            name, _, rest = what.partition(" ")
            alike.setdefault((rest, *when), []).append(name)
        for (rest, *when), names in alike.items():
            others = f" (and {first_few(names[1:])})" if names[1:] else ""
            often = f" {len(when)}×" if len(when) > 1 else ""
            lines.append(f"at {first_few(when, 3)} s: {names[0]} {rest}{others}{often}")
        lines += self._moved()
        lines.append(f"energy balance to {self.energy_balance_error():.1e}")
        if self.ground is not None:
            closed = self.momentum_balance_error()
            lines += [] if np.isnan(closed) else [f"momentum balance to {closed:.1e} of the weight's impulse"]
        lines += [f"warning: {warning}" for warning in self.warnings]
        if self.ground is not None:
            lines += self._touching()
        if self.model.foot_names:
            normal, friction = self.min_normal_force(), self.friction_needed()
            stay = f"the feet stay only where friction is at least {friction:.3g}"
            lines.append(f"smallest normal force {normal:.4g} N: {stay if normal > 0 else 'a foot would have to pull'}")
        return "\n".join(lines)

    def _moved(self) -> list[str]:
        """How far the torso has moved and turned at the end, and the farthest that it was turned."""
        layout = self.model.layout
        if not layout.torso_free:
            return []
        q = self.record.states()[1]
        angles = continuous_angles(layout, q)  # roll, pitch, yaw [rad]
        turned, certain = np.degrees(angles - angles[:, :1]), np.abs(np.cos(angles[0])) > CERTAIN
        told = [f"{name} {fixed(x, 3, signed=True)} m" for name, x in zip("xyz", q[-1, :3] - q[0, :3], strict=True)]
        for name, own in zip(("roll", "pitch", "yaw"), turned.round(2), strict=True):
            most = np.abs(own[certain]).max(initial=0.0)
            more = f" (most {most:.2f}°)" if most > abs(own[-1]) else ""
            told.append(f"{name} {fixed(own[-1], 2, signed=True)}°{more}")
        tilt = float(np.degrees(np.arccos(np.clip(torso_rotations(layout, q[-1:])[0, 2, 2], -1.0, 1.0))))
        said = f", {tilt:.0f}° from upright" if tilt > TILTED else ""
        return [f"torso: {', '.join(told)}{said}"]

    def _touching(self) -> list[str]:
        """By foot on ground, and by other contact points that touched: how its time was spent, when it first slipped or
        left the ground; on rigid ground when it lifts, lands and slips."""
        begin, end = float(self._arrays["time"][0]), float(self._arrays["time"][-1])
        lines = []
        for foot, first in zip(self._arrays["foot"], self._arrays["contact"][0], strict=True):
            phases = [(begin, CONTACT_NAMES[first]), *((time, own) for time, name, own in self.changes if name == foot)]
            spent: dict[str, float] = dict.fromkeys(CONTACT_NAMES, 0.0)
            for (since, own), (until, _) in pairwise([*phases, (end, "")]):
                spent[own] += until - since
            if foot not in self.model.layout.legs and not spent["stick"] + spent["slip"]:
                continue
            whole = sum(spent.values()) or 1.0
            shares = [f"{name} {abs(time) / whole:.0%}" for name, time in spent.items()]
            phrases = _repeated(phases) if isinstance(self.ground, RigidGround) else _firsts(phases)
            lines.append(f"{foot}: " + ", ".join([*shares, *phrases]))
        return lines


def _firsts(phases: Sequence[tuple[float, str]]) -> list[str]:
    """When a foot first slips and leaves the ground, in words; from (time [s], contact) of its phases."""
    firsts: dict[str, str] = {}
    for time, own in phases[1:]:
        if own != "stick":
            firsts.setdefault(own, f"first {'slips' if own == 'slip' else 'leaves the ground'} at {time:.4f} s")
    return list(firsts.values())


def _repeated(phases: Sequence[tuple[float, str]]) -> list[str]:
    """When a point lands, lifts and begins to slip, in words; likewise."""
    found = {
        "lands": [time for (_, before), (time, own) in pairwise(phases) if before == "air" != own],
        "lifts": [time for time, own in phases[1:] if own == "air"],
        "slips": [time for time, own in phases[1:] if own == "slip"],
    }
    said = {verb: first_few([f"{time:.4f}" for time in when], 3) for verb, when in found.items() if when}
    return [f"{verb} {len(found[verb])}× (at {when} s)" for verb, when in said.items()]


def load_run(file: str | os.PathLike[str]) -> Run:
    """A run that `Run.save` has written, with its data, robot and certificates; see `Run.trajectory`."""
    import xarray  # takes long to import

    written = read_bytes(file)
    if not written.startswith(MAGIC):
        raise FileError(file, "not a NetCDF file of a run: it begins otherwise; required: a file that Run.save wrote")
    try:
        with warnings.catch_warnings(), xarray.open_dataset(io.BytesIO(written), engine="scipy") as opened:
            warnings.simplefilter("ignore")  # whatever a damaged file leads to is in the error
            content = arrays_of(opened.load())
    except Exception as error:  # of any kind, wherever damage leads the reader of NetCDF
        raise FileError(file, f"cut short or damaged ({error}); copy it anew, or simulate again") from None
    own = content.attributes
    known = own.get("format", 0)
    if not isinstance(known, (int, np.integer)) or known > FORMAT:
        reason = f"written by a newer tailwork (format {known}; this one reads up to {FORMAT}): update tailwork"
        raise FileError(file, reason)
    if ("content" in own or known == FORMAT) and own.get("content") != content_digest(content, own):
        raise FileError(file, "damaged: its content is not what was written; copy it anew, or simulate again")
    try:
        own = {k: x.encode().decode("unicode_escape") if isinstance(x, str) else x for k, x in own.items()}
        ended, text = json.loads(own["stopped"]), own.get("ground")
        changes = json.loads(own.get("changes", "[]"))
        return _restored(
            from_text(own["robot_file"], file),
            json.loads(own["drive"]),
            (),
            replace(content, attributes=own),
            None if ended is None else Stopped(float(ended[0]), str(ended[1])),
            tuple((float(time), str(what)) for time, what in json.loads(own["events"])),
            own["method"],
            own["why_method"],
            ground_from_text(text) if text else None,
            tuple((float(time), str(foot), str(state)) for time, foot, state in changes),
            str(own.get("title", "")),
            float(own.get("trusted", TRUSTED)),
        )
    except (LookupError, ValueError, TypeError, AttributeError, TailworkError) as error:
        raise FileError(file, f"not a run that tailwork has saved ({error})") from None


def _drive(layout: Layout) -> dict[str, Any]:
    """How the limbs of a model are driven: arguments of Model."""
    drive = {name: list(getattr(layout, name)) for name in ("stance", "prescribed")}
    return drive | {"torso": layout.torso, "attitude": layout.attitude}


def _restored(robot: Robot, drive: Mapping[str, Any], pushes: Sequence[Push], content: Arrays, *rest: Any) -> Run:
    """A run from a file or a pickle."""
    return Run(Model(robot, **drive, pushes=pushes), content, *rest)
