"""What a simulation leaves: named quantities over time, why it ended, and how far it can be trusted."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from tailwork.errors import FileError, StateError, TailworkError
from tailwork.files import read_bytes, write_whole
from tailwork.mechanics.contact import friction_ratio
from tailwork.mechanics.layout import Layout, Push
from tailwork.model import Model
from tailwork.model.results import PathValues
from tailwork.robots.io.toml import as_text, from_text
from tailwork.robots.robot import Robot, listed
from tailwork.simulation.contact.ground import CONTACT_NAMES, CompliantGround, RigidGround, ground_from_text
from tailwork.simulation.integrate.dense import Trajectory
from tailwork.simulation.record import Arrays, SampledTrajectory, arrays_of
from tailwork.simulation.system import System
from tailwork.typing import Floats

if TYPE_CHECKING:
    import xarray

FORMAT = 2
"""Of the files of runs. Files without a number and a digest are older and are read all the same."""
MAGIC = b"CDF"
"""What a NetCDF file of this kind begins with."""
TRUSTED = 0.02
"""Balances by fixed steps that are worse than this are pointed out."""
POOR_ON_GROUND = "these balances are poor; take a shorter step, or a slower or softer controller"
PER_TOLERANCE, BEST = 1000.0, 1e-6
"""Energy balances by steps that are chosen are pointed out where they are worse than so many times the relative
tolerance, and than this. The robots of the papers keep below ten times within 10 s, and below a hundred within 100 s.
"""


@dataclass(frozen=True)
class Stopped:
    """Why and when a run ended before its time."""

    time: float  # when [s]
    reason: str  # in words


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
            return (said,) if said else ()
        closed = float(np.nan_to_num(self.momentum_balance_error()))
        poor = max(self.energy_balance_error(), closed) > self.trusted
        return (POOR_ON_GROUND,) if poor else ()

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
        if self.ground is not None:
            legs = self.model.layout.legs
            changed = (state for _, foot, state in self.changes if foot in legs)
            return {*self.final_contact.states[: len(legs)], *changed} == {"stick"}
        return self.min_normal_force() > 0.0 and self.friction_needed() <= friction

    def path(self, times: Floats) -> PathValues:
        """Accelerations, foot forces, powers and so on at any times within the run [s]."""
        if self.trajectory is None:
            raise StateError(
                "times", "a run on ground or from a file knows only the times in `data`; simulate it again"
            )
        return self.trajectory.system.path(times, *self.trajectory.full(times))

    def save(self, file: str | os.PathLike[str], more: Mapping[str, str] | None = None) -> None:
        """Write the run as NetCDF, whole or not at all; `load_run` reads it back.

        Args:
            file: its path.
            more: further attributes of the file.
        """
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
        plain["content"] = _digest(content, plain)
        write_whole(file, bytes(self.data.assign_attrs(plain).to_netcdf(None, engine="scipy")))

    def summary(self) -> str:
        """The run in a few lines."""
        lines = [f"{self.model.robot.name}: {self.duration:.4g} s by {self.method} ({self.why_method})"]
        if self.stopped is not None:
            lines.append(f"stopped at {self.stopped.time:.4f} s: {self.stopped.reason}")
        ended = None if self.stopped is None else (self.stopped.time, self.stopped.reason)
        lines += [f"at {time:.4f} s: {what}" for time, what in self.events if (time, what) != ended]
        lines.append(f"energy balance to {self.energy_balance_error():.1e}")
        if self.ground is not None:
            closed = self.momentum_balance_error()
            lines += [] if np.isnan(closed) else [f"momentum balance to {closed:.1e} of the weight's impulse"]
        lines += [f"warning: {warning}" for warning in self.warnings]
        if self.ground is not None:
            lines += self._touching()
        if self.model.foot_names:
            normal, friction = self.min_normal_force(), self.friction_needed()
            stay = f"the feet would stay where friction is at least {friction:.3g}"
            lines.append(f"smallest normal force {normal:.4g} N: {stay if normal > 0 else 'a foot would have to pull'}")
        return "\n".join(lines)

    def _touching(self) -> list[str]:
        """By foot on ground, and by other contact points that touched: how its time was spent, when it first slipped or
        left the ground; on rigid ground when it lifts, lands and slips."""
        times, states = self._arrays["time"], self._arrays["contact"]
        lines = []
        for k, foot in enumerate(self._arrays["foot"]):
            spent: dict[str, float] = {name: 0.0 for name in CONTACT_NAMES}
            firsts: dict[str, str] = {}
            since, before = float(times[0]), CONTACT_NAMES[states[0, k]]
            for time, name, state in self.changes:
                if name != foot:
                    continue
                spent[before] += time - since
                since, before = time, state
                if state != "stick" and state not in firsts:
                    firsts[state] = f"first {'slips' if state == 'slip' else 'leaves the ground'} at {time:.4f} s"
            if isinstance(self.ground, RigidGround):
                firsts = self._phases(str(foot), CONTACT_NAMES[states[0, k]])
            spent[before] += float(times[-1]) - since
            if foot not in self.model.layout.legs and not spent["stick"] + spent["slip"]:
                continue
            whole = sum(spent.values()) or 1.0
            shares = [f"{name} {time / whole:.0%}" for name, time in spent.items()]
            lines.append(f"{foot}: " + ", ".join([*shares, *firsts.values()]))
        return lines

    def _phases(self, foot: str, before: str) -> dict[str, str]:
        """When a point lands, lifts and begins to slip, in words."""
        found: dict[str, list[float]] = {"lands": [], "lifts": [], "slips": []}
        for time, name, state in self.changes:
            if name == foot:
                found["lands"] += [time] if before == "air" and state != "air" else []
                found["lifts"] += [time] if state == "air" else []
                found["slips"] += [time] if state == "slip" else []
                before = state
        said = {verb: listed([f"{time:.4f}" for time in when], 3) for verb, when in found.items() if when}
        return {verb: f"{verb} {len(found[verb])}× (at {when} s)" for verb, when in said.items()}


def balance_error(system: System, moments: Floats) -> float:
    """How well the energy of a run balances [1]; infinite where that cannot be evaluated.

    Args:
        system: what was simulated.
        moments: time [s], work so far [J] and state, a row each.
    """
    if not np.isfinite(moments).all():
        return math.inf
    q, v, _, _ = system.full(moments[:, 0], moments[:, 2:], np.zeros((len(moments), system.control_inputs)))
    try:
        energy = system.model.energy(q, v)
    except StateError:
        return math.inf
    return float(unbalanced(np.stack([energy.kinetic, energy.gravitational], axis=-1), moments[:, 1]))


def unbalanced(energies: Floats, work: Floats) -> Floats:
    """Largest difference between energy gained and work done, as a share of the energy that moved or was in motion.

    Args:
        energies: kinetic and gravitational energy over time, (…, times, 2) [J].
        work: done until then by all other forces, those of springs and dampers among them, (…, times) [J].
    """
    parts = np.concatenate([energies, work[..., None]], axis=-1)
    moved = np.maximum(np.ptp(parts, axis=-2).max(axis=-1), energies[..., 0].max(axis=-1))
    # Where next to nothing moves, rounding is judged against a millionth of the energy that is there.
    moved = np.maximum(moved, 1e-6 * np.abs(parts).max(axis=(-2, -1)))
    total = energies.sum(axis=-1)
    return np.abs(total - total[..., :1] - work).max(axis=-1) / np.maximum(moved, 1e-300)


def trusted_balance(rtol: float, step: float | None) -> float:
    """The energy balance that can be expected of steps chosen by a relative tolerance [1], or of fixed ones."""
    return TRUSTED if step is not None else min(max(PER_TOLERANCE * rtol, BEST), TRUSTED)


def poor_balance(error: float, trusted: float) -> str:
    """What there is to say of an energy balance [1]; empty: nothing, or it is not known."""
    if math.isnan(error) or error <= trusted:
        return ""
    return (
        f"energy balances to {error:.1e} only, {trusted:.0e} was expected: do not trust these numbers; ask for a "
        "smaller rtol or step, or look where the motion comes near to what the model cannot do"
    )


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
    if ("content" in own or known == FORMAT) and own.get("content") != _digest(content, own):
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


def _digest(content: Arrays, attributes: Mapping[str, Any]) -> str:
    """Of all that a run's file says: names, dimensions, units and values of its variables, whichever way a file keeps
    them, and every attribute but this one."""
    found = hashlib.sha256()
    for name, (dims, values, own) in sorted({**content.variables, **content.coordinates}.items()):
        said = {key: _canonical(value) for key, value in own.items()}
        found.update(json.dumps([name, dims, np.shape(values), said], sort_keys=True).encode())
        numbers = np.asarray(values).dtype.kind in "fiub"
        kept = np.ascontiguousarray(values, dtype="<f8").tobytes() if numbers else json.dumps(list(map(str, values)))
        found.update(kept if isinstance(kept, bytes) else kept.encode())
    said = {key: _canonical(value) for key, value in attributes.items() if key != "content"}
    found.update(json.dumps(said, sort_keys=True).encode())
    return found.hexdigest()


def _canonical(value: Any) -> str:
    """An attribute as text, the same before it is written and after it is read."""
    return value if isinstance(value, str) else repr(np.asarray(value, dtype=np.float64).tolist())
