"""The experiments of Nelson & Quinn on the cockroach: standing with joints of swept stiffness, and a tripod walk.

The paper's joint angles come from video that is not public; a tripod gait at constant speed stands in for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from tailwork.control.gait.foot_kinematics import posed
from tailwork.control.gait.gait import Gait, tripod
from tailwork.control.gait.joint_table import held_posture, joint_table, walking_start
from tailwork.control.servo import JointServo
from tailwork.format import fixed
from tailwork.model import Model
from tailwork.papers.claims import Claim, silent
from tailwork.robots import blaberus
from tailwork.simulation import simulate
from tailwork.simulation.contact.ground import CompliantGround
from tailwork.simulation.contact.record import robot_weight
from tailwork.simulation.run import Run
from tailwork.studies.compare import ground_stance
from tailwork.studies.compare.comparison import Progress
from tailwork.studies.compare.ground_stance import GroundStance, LeastTorques
from tailwork.typing import Floats

# The paper and the literature count in centimetres, grams and seconds; these turn them into SI.
DYN_PER_CM = 1e-3  # N/m
DYN_CM = 1e-7  # N m, also per rad and, with a second, per rad/s
S_PER_CM = 100.0  # s/m
G_CM_PER_S = 1e-5  # N s
MILLINEWTON_CM = 1e-5  # N m

STIFFNESSES = (1.2e7, 6.6e5, 1.1e5, 4.2e4, 1.8e4, 1.0e4)  # of the joints, dyn cm/rad: give the paper's errors
PAPER_ERRORS = (0.001, 0.015, 0.084, 0.230, 0.525, 0.962)  # Table 1, deg
PAPER_EFFORTS = (41.7, 27.5, 21.0, 21.6, 22.7, 25.1)  # Table 1; taken as (mN cm)² of the two front legs
SWEEP = tuple(np.logspace(3.7, 7.5, 39))  # dyn cm/rad, for the curve

SPEED, FREQUENCY, DUTY, LIFT = 0.12, 4.0, 0.55, 0.0015  # m/s, Hz, share, m: estimates for a slow walk
STANDING_KD = 100.0 * DYN_CM  # per rad/s, of the joints
WALK_KP, WALK_KD = 5e4 * DYN_CM, STANDING_KD  # per rad, between the rows of Table 1 of least effort; per rad/s
WALK_STIFFNESSES = (1.25e4, 5e4, 2e5)  # dyn cm/rad: that of the walk, a quarter of it and four times as much
WALK_DAMPINGS = (2.0, 6.0, 20.0, 100.0, 300.0)  # dyn cm s/rad, that of the walk among them
STRIDES, SETTLING = 20, 8  # walked in all; left out at the start
PAPER_IMPULSES = {"front": -48.1, "middle": -0.4, "hind": 49.8}  # Fig. 4, g cm/s
ROWS = ("front", "middle", "hind")


def insect_ground(stiffness: float = 4e5) -> CompliantGround:
    """CompliantGround for an insect with claws; stiffness in dyn/cm, all constants estimates."""
    return CompliantGround(
        stiffness=stiffness * DYN_PER_CM, damping=0.1 * S_PER_CM, tangential_stiffness=stiffness * DYN_PER_CM,
        tangential_damping=80.0 * DYN_PER_CM, static_friction=2.0, kinetic_friction=1.5,
    )  # fmt: skip


@dataclass(frozen=True)
class RestPosture:
    """The cockroach at rest with joints of one stiffness."""

    stiffness: float  # dyn cm/rad
    stance: GroundStance

    @property
    def error(self) -> float:
        """Mean over all joints of how far they give way [deg]."""
        return float(np.degrees(np.abs(self.stance.errors)).mean())

    @property
    def efforts(self) -> Floats:
        """Sum of squared torques by leg, in the order of the robot's legs [(mN cm)²]."""
        return efforts_by_leg(self.stance.torques)

    @property
    def front_effort(self) -> float:
        """Of the two front legs [(mN cm)²]."""
        return float(self.efforts[:2].sum())

    @property
    def sideways(self) -> float:
        """Largest share of a foot's vertical force that it bears horizontally."""
        forces = self.stance.forces
        return float((np.hypot(forces[:, 0], forces[:, 1]) / forces[:, 2]).max())


def efforts_by_leg(torques: Floats) -> Floats:
    """Sum of squared torques of each leg [(mN cm)²]."""
    return ((torques / MILLINEWTON_CM) ** 2).reshape(-1, 5).sum(axis=1)


def standing(stiffness: float, ground_stiffness: float = 4e5, model: Model | None = None) -> RestPosture:
    """The cockroach at rest; joint stiffness in dyn cm/rad, the ground's in dyn/cm."""
    model = ground_stance.standing_model(blaberus()) if model is None else model
    ground = insect_ground(ground_stiffness)
    return RestPosture(stiffness, ground_stance.ground_stance(model, posed(model), stiffness * DYN_CM, ground))


def simulate_settling(stiffness: float, duration: float = 1.0) -> Run:
    """The same by simulation: from the undeformed posture until it rests."""
    model = Model(blaberus(), "none")
    posture = posed(model)
    servo = JointServo(table=held_posture(model, posture), kp=stiffness * DYN_CM, kd=STANDING_KD)
    contact = ground_stance.standing_contact(model, posture)
    run = simulate(model, posture, duration, ground=insect_ground(), contact=contact, control=servo)
    return run.titled("settling on its legs")


def walking_gait() -> Gait:
    """The tripod gait that stands in for the paper's video."""
    return tripod(blaberus(), speed=SPEED, frequency=FREQUENCY, duty=DUTY, lift=LIFT)


def simulate_walk(
    strides: int = STRIDES, *, step: float | None = None, samples_a_stride: int = 250, kp: float = WALK_KP,
    kd: float = WALK_KD,
) -> Run:  # fmt: skip
    """The cockroach walking from the gait's own speed; kp and kd of the joints in N m/rad and N m s/rad."""
    model, gait = Model(blaberus(), "none"), walking_gait()
    table = joint_table(model, gait)
    run = simulate(
        model, walking_start(model, gait, table), strides * gait.period, ground=insect_ground(),
        control=JointServo(table=table, kp=kp, kd=kd), step=step, samples=strides * samples_a_stride + 1,
    )  # fmt: skip
    return run.titled(f"tripod gait at {SPEED:g} m/s, {strides} strides of {gait.period:g} s")


@dataclass(frozen=True)
class Reactions:
    """Ground reactions of a walk, over the strides after the first few; sides are averaged."""

    share: Floats  # of a leg's stride, from touch-down as the gait wants it
    force: dict[str, Floats]  # by row of legs: (shares, 3), forward, outward, up, mean over strides [N]
    stride: dict[str, Floats]  # by row: longitudinal impulse of all contact in each stride [N s]
    stance: dict[str, Floats]  # by row: the same of each interval in which the gait plans the foot to stand [N s]
    both: Floats  # share of the strides in which feet of both tripods touch, over the same shares
    vertical: float  # impulse of all feet in a stride, mean [N s]
    closure: float  # momentum that impulses do not explain over those strides [N s]


def reactions(run: Run, gait: Gait, settling: int = SETTLING) -> Reactions:
    """Forces over a stride and impulses, from the logged impulses, which leave nothing out."""
    times = run.data["time"].to_numpy()
    each = round(gait.period * (len(times) - 1) / (times[-1] - times[0]))
    strides = (len(times) - 1) // each
    impulse = run.data["foot_impulse"].to_numpy()
    names = list(run.data["foot"].to_numpy())
    start, end = settling * each, strides * each
    mean_force = np.diff(impulse, axis=0) / np.diff(times)[:, None, None]
    force: dict[str, Floats] = {}
    stance: dict[str, Floats] = {}
    stride: dict[str, Floats] = {}
    touches = run.data["contact"].to_numpy()[start:end] != 0
    tripods = [[names.index(leg) for leg, own in zip(gait.legs, gait.phases, strict=True) if own == phase]
               for phase in sorted(set(gait.phases))]  # fmt: skip
    both = np.logical_and.reduce([touches[:, feet].any(axis=1) for feet in tripods]).reshape(-1, each).mean(axis=0)
    for row in ROWS:
        curves, stances, sums = [], [], []
        for side, outward in (("left", 1.0), ("right", -1.0)):
            k = names.index(f"{row}_{side}")
            phase = gait.phases[gait.legs.index(names[k])]
            mean = mean_force[start:end, k].reshape(-1, each, 3).mean(axis=0)
            curves.append(np.roll(mean, -round(phase * each), axis=0) * [1.0, outward, 1.0])
            begins = times[0] + (np.arange(settling, strides - 1) + phase) * gait.period
            ends = np.stack([begins, begins + gait.duty * gait.period])
            stances.append(np.diff(np.interp(ends, times, impulse[:, k, 0]), axis=0)[0])
            sums.append(np.diff(impulse[start : end + 1 : each, k, 0]))
        force[row], stance[row], stride[row] = (np.mean(found, axis=0) for found in (curves, stances, sums))
    total = impulse.sum(axis=1)
    momentum = run.data["linear_momentum"].to_numpy()
    weight = robot_weight(run.model) * (times[end] - times[start])
    gained = momentum[end] - momentum[start] - (total[end] - total[start]) + [0.0, 0.0, weight]
    return Reactions(
        share=(np.arange(each) + 0.5) / each, force=force, stride=stride, stance=stance,
        both=np.mean([np.roll(both, -round(phase * each)) for phase in set(gait.phases)], axis=0),
        vertical=float((total[end, 2] - total[start, 2]) / (strides - settling)),
        closure=float(np.abs(gained).max()),
    )  # fmt: skip


@dataclass(frozen=True)
class Mode:
    """A free oscillation of the body on the three legs of a tripod."""

    coordinate: str  # of the body that moves most
    frequency: float  # [Hz]
    damping: float  # ratio to critical damping [1]


def body_modes(kd: float = WALK_KD, kp: float = WALK_KP) -> tuple[Mode, ...]:
    """The six slowest oscillations of the cockroach about its posture with one tripod on the ground, slowest first.

    Joints are held by servos, kp in N m/rad and kd in N m s/rad; feet stick. M a + D v + K x = 0, with K and D of the
    joints and of the ground at the three feet.
    """
    model, ground, gait = ground_stance.standing_model(blaberus()), insect_ground(), walking_gait()
    posture, none = posed(model), np.zeros(len(model.velocity_names))
    feet = [k for k, name in enumerate(model.layout.legs) if gait.phases[gait.legs.index(name)] == 0.0]
    rows = [3 * foot + axis for foot in feet for axis in range(3)]
    size, count = len(none), 3 * len(model.layout.legs)
    unit = model.generalised_force(np.tile(posture, (count + 1, 1)), none, none, forces=np.eye(count + 1, count))
    jacobian = (unit[-1] - unit[:-1])[rows]
    joints = np.diag([0.0] * 6 + [1.0] * (size - 6))
    stiffness, damping = (
        gain * joints + jacobian.T @ np.diag(values * len(feet)) @ jacobian
        for gain, values in (
            (kp, [ground.tangential_stiffness, ground.tangential_stiffness, ground.stiffness]),
            (kd, [ground.tangential_damping, ground.tangential_damping, 0.0]),
        )
    )
    inverse = np.linalg.inv(model.mass_matrix(posture))
    state = np.block([[np.zeros((size, size)), np.eye(size)], [-inverse @ stiffness, -inverse @ damping]])
    poles, shapes = np.linalg.eig(state)
    above = np.imag(poles) > 0.0
    slowest = [int(k) for k in np.argsort(np.abs(poles)) if above[k]][:6]
    speeds, decays = np.abs(poles), -np.real(poles)
    arm = 0.01  # m, about the half length of the body: by this turns are compared with displacements
    moved = np.abs(shapes[:6]) * np.array([1.0] * 3 + [arm] * 3)[:, None]
    said = ("x", "y", "z", "roll", "pitch", "yaw")
    return tuple(
        Mode(said[int(moved[:, k].argmax())], float(speeds[k]) / (2.0 * np.pi), float(decays[k] / speeds[k]))
        for k in slowest
    )


def halves(found: Reactions, row: str) -> tuple[float, float]:
    """Longitudinal impulse of a row of legs until the middle of its stance in the gait, and after it [N s]."""
    along, before = found.force[row][:, 0], (found.share < DUTY / 2) | (found.share > (1.0 + DUTY) / 2)
    first, second = (float(along[part].sum()) / (len(along) * FREQUENCY) for part in (before, ~before))
    return first, second


def force_peaks(found: Reactions, row: str) -> Floats:
    """When the vertical force of a row of legs is at a maximum of more than a tenth of the largest, in the interval in
    which the gait plans the foot to stand: shares of the stride."""
    force = found.force[row][found.share < DUTY, 2]
    inner = force[1:-1]
    peaks = (inner > force[:-2]) & (inner > force[2:]) & (inner > 0.1 * force.max())
    return found.share[np.flatnonzero(peaks) + 1]


ByGains: TypeAlias = dict[float, dict[float, Reactions]]
"""By stiffness and damping of the joints [dyn cm/rad, dyn cm s/rad]."""


def sign_counts(by_gains: ByGains) -> tuple[int, int, int, int]:
    """With how many pairs of gains front legs brake, hind legs drive, middle legs brake and then drive; of how many."""
    every = [found for by_damping in by_gains.values() for found in by_damping.values()]
    middle = [halves(found, "middle") for found in every]
    front, hind = (np.array([found.stride[row].mean() for found in every]) for row in ("front", "hind"))
    in_turn = sum(first < 0.0 < second for first, second in middle)
    return int((front < 0.0).sum()), int((hind > 0.0).sum()), in_turn, len(every)


@dataclass(frozen=True)
class NelsonQuinn:
    """Runs and numbers of the reproduction."""

    rows: tuple[RestPosture, ...]  # Table 1
    sweep: tuple[RestPosture, ...]  # the same, finer
    stiff_ground: tuple[RestPosture, ...]  # the sweep on ground of 1e6 dyn/cm
    least: LeastTorques
    settled: Run  # as the third row of Table 1, by simulation
    walk: Run
    reactions: Reactions
    damped: dict[float, Reactions]  # the same with other damping of the joints, by its value [dyn cm s/rad]
    modes: tuple[Mode, ...]  # of the body on a tripod
    claims: tuple[Claim, ...]
    stiffened: ByGains = field(default_factory=dict)  # and with other stiffness

    @property
    def by_gains(self) -> ByGains:
        """All of these, the softest joints first."""
        return dict(sorted({WALK_KP / DYN_CM: self.damped, **self.stiffened}.items()))

    @property
    def runs(self) -> dict[str, Run]:
        """Those that are saved, by name."""
        return {"settled": self.settled, "walk": self.walk}


def run_all(progress: Progress = silent) -> NelsonQuinn:
    """Stand and walk."""
    progress(0, 5, "standing, Table 1")
    model = ground_stance.standing_model(blaberus())
    rows = tuple(standing(k, model=model) for k in STIFFNESSES)
    progress(1, 5, "standing, swept")
    sweep = tuple(standing(k, model=model) for k in SWEEP)
    stiff_ground = tuple(standing(k, 1e6, model) for k in SWEEP)
    least = ground_stance.least_torques(model, posed(model))
    progress(2, 5, "settling by simulation")
    rest = simulate_settling(STIFFNESSES[2])
    progress(3, 5, "tripod walk, Fig. 4")
    walk = simulate_walk()
    found = reactions(walk, walking_gait())
    by_gains: ByGains = {}
    for kp in WALK_STIFFNESSES:
        progress(4, 5, f"the same, joints of {kp:g} dyn cm/rad")
        by_gains[kp] = {
            kd: found if (kp * DYN_CM, kd * DYN_CM) == (WALK_KP, WALK_KD)
            else reactions(simulate_walk(kp=kp * DYN_CM, kd=kd * DYN_CM), walking_gait())
            for kd in WALK_DAMPINGS
        }  # fmt: skip
    claims = (
        *_standing_claims(rows[2], sweep, stiff_ground, least, rest),
        *_walking_claims(walk, found),
        *_sign_claims(by_gains),
    )
    damped = by_gains.pop(WALK_KP / DYN_CM)
    return NelsonQuinn(rows, sweep, stiff_ground, least, rest, walk, found, damped, body_modes(), claims, by_gains)


def _standing_claims(
    row: RestPosture, sweep: tuple[RestPosture, ...], stiff_ground: tuple[RestPosture, ...], least: LeastTorques,
    rest: Run,
) -> list[Claim]:  # fmt: skip
    stiffest = standing(1e10)
    smallest = efforts_by_leg(least.torques)
    gap = np.abs(rest.data["q"].to_numpy()[-1] - row.stance.q).max()
    return [
        Claim("horizontal over vertical reaction, joints of 1e10 dyn cm/rad", "0 as stiffness grows without bound",
              f"{stiffest.sideways:.1e}", "Numerical results"),
        *(
            Claim(f"smallest torque effort of all legs, ground of {ground:g} dyn/cm [(mN cm)²]", "a minimum exists",
                  f"{min(row.efforts.sum() for row in swept):.2f}", "swept stiffness")
            for ground, swept in ((4e5, sweep), (1e6, stiff_ground))
        ),
        Claim("least torque effort that holds the posture [(mN cm)²]", "—", f"{smallest.sum():.2f}",
              "quadratic programme: what soft joints come near to"),
        *(
            Claim(f"of it a {row} leg [(mN cm)²]", "—", f"{effort:.2f}")
            for row, effort in zip(ROWS, smallest[::2], strict=True)
        ),
        Claim("posture settled by simulation against the balance [m, rad]", "—", f"{gap:.1e}", "largest difference"),
    ]  # fmt: skip


def _walking_claims(walk: Run, found: Reactions) -> list[Claim]:
    contact, planned = (
        {row: float(own[row].mean()) / G_CM_PER_S for row in ROWS} for own in (found.stride, found.stance)
    )
    claims = [
        Claim(f"Fig. 4, longitudinal impulse of a {row} leg [g cm/s]", f"{PAPER_IMPULSES[row]:+.1f}",
              f"{contact[row]:+.1f}", f"all contact in a stride; in the planned stance alone {planned[row]:+.1f}")
        for row in ROWS
    ]  # fmt: skip
    claims.append(
        Claim("Fig. 4, sum of the three [g cm/s]", f"{sum(PAPER_IMPULSES.values()):+.1f}",
              fixed(sum(contact.values()), 1, signed=True), "0 in a steady walk; in the planned stance alone "
              f"{sum(planned.values()):+.1f}")
    )  # fmt: skip
    wanted = robot_weight(walk.model) / FREQUENCY
    half = walk.data[["q"]].sel(coordinate="x").isel(time=[len(walk.data["time"]) // 2, -1])
    speed = float(half["q"].diff("time")[0] / half["time"].diff("time")[0])
    return [
        *claims,
        Claim("vertical impulse of all feet in a stride over weight times period", "—",
              f"{found.vertical / wanted:.4f}", "1 in a steady walk"),
        Claim("momentum that impulses leave unexplained [g cm/s]", "—", f"{found.closure / G_CM_PER_S:.1e}",
              f"of {wanted / G_CM_PER_S:.0f} a stride"),
        Claim("speed over the second half [cm/s]", "—", f"{100 * speed:.2f}", f"the gait asks for {100 * SPEED:.0f}"),
    ]  # fmt: skip


def _sign_claims(by_gains: ByGains) -> list[Claim]:
    *counts, pairs = sign_counts(by_gains)
    words = {"front legs brake": "“brake”", "hind legs drive": "“accelerate”",
             "middle legs brake, then drive": "“initially decelerating and then accelerating”"}  # fmt: skip
    return [
        Claim(f"Fig. 4, {what}: with how many of {pairs} pairs of gains", said, str(count), "of the joints, see below")
        for (what, said), count in zip(words.items(), counts, strict=True)
    ]
