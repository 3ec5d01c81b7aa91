"""The experiments of Liu & Ben-Tzvi 2018, Sect. 4, and their numbers beside ours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tailwork.control import ComputedTorque, Constant, Driven, FeedForward, PiecewiseCubic, Sine, held
from tailwork.control.profiles import Profiles
from tailwork.control.standing import StandingAngles
from tailwork.errors import InadmissibleError
from tailwork.model import Model
from tailwork.model.model import LIU2018_REDUNDANT
from tailwork.papers.claims import Claim, silent
from tailwork.papers.liu2018.second_engine import by_mujoco, with_multipliers
from tailwork.robots import liu2018
from tailwork.simulation import LegStraight, Run, simulate
from tailwork.simulation.equations import PrescribedMotion
from tailwork.simulation.initial import Standing
from tailwork.studies.compare.comparison import Progress
from tailwork.studies.possible import MARK
from tailwork.typing import Floats

STEP = 1e-4  # [s], of ODE4 in the paper
GAINS = ((400.0, 40.0), (100.0, 20.0))  # [1/s²], [1/s], of the feedback; the paper does not state them
LAWS = {"feed-forward": FeedForward, "computed torque": ComputedTorque}
PERIOD = 0.3  # [s]
PERIODS = 7  # with feedback
KNOTS = 31  # of the curve through the tail's motion
EARLY = 0.05  # [s], when the run from rest is looked at
FRICTIONS = (0.6, 1.5, 2.0)  # of the ground, for torques of all motors
TORQUES = {"leg1.k": 15.0, "leg2.k": 15.0, "leg3.k": 20.5, "leg4.k": 20.5, "tail.ta": -7.7}  # [N m], Sect. 4.1
SWING_TORQUE, SWING_FREQUENCY = -10.0, 31.4  # of the sine on tb [N m], [rad/s], Sect. 4.1
SWING = Sine(amplitude=SWING_TORQUE, period=2 * math.pi / SWING_FREQUENCY)


@dataclass(frozen=True)
class Liu2018:
    """Runs and numbers of the reproduction."""

    forward: Run  # Sect. 4.1, Fig. 6
    second: Floats  # (times of `forward`, coordinates): the same by a tree with multipliers [m, rad]
    third: Floats | None  # the same by MuJoCo; None: it is not installed
    matched: Run  # Sect. 4.2, open loop from the desired velocity
    open_loop: Run  # from rest, as the paper states
    controlled: dict[tuple[str, float], Run]  # from rest with feedback, by law and kp; Figs. 8 and 9 have the first
    aloft: Floats  # pitch, roll and yaw of the robot in the air, its tail as in `forward` until 0.3 s [deg]
    claims: tuple[Claim, ...]

    @property
    def runs(self) -> dict[str, Run]:
        """Those that are saved, by name."""
        feedback = {f"{law.replace(' ', '-')}-{kp:g}": run for (law, kp), run in self.controlled.items()}
        return {"forward": self.forward, "matched": self.matched, "open_loop": self.open_loop, **feedback}


def desired() -> dict[str, Profiles]:
    """The pitch motion of Sect. 4.2, by coordinate."""
    still = {"x": 0.2, "y": 0.3, "z": 0.4, "phi_y": 0.0, "phi_z": 0.0, "tail.ta": 0.0}
    motion: dict[str, Profiles] = {name: held(value) for name, value in still.items()}
    motion["phi_x"] = Sine(amplitude=math.pi / 36, period=PERIOD)
    motion["tail.tb"] = Sine(amplitude=math.pi / 18, period=PERIOD, phase=math.pi)
    return motion


def desired_states(model: Model, times: Floats) -> tuple[Floats, Floats, Floats]:
    """q, v and a of the pitch motion, in which the torso turns about x alone, so that omega is phi-dot."""
    profiles = [desired()[name] for name in model.coordinate_names]
    q, v, a = (
        np.array([[float(getattr(profile, what)(t)) for profile in profiles] for t in times])
        for what in ("value", "rate", "acceleration")
    )
    return q, v, a


def run_all(progress: Progress = silent) -> Liu2018:
    """Run all experiments."""
    model = Model(liu2018())
    motion = desired()
    law: dict[str, Any] = {
        "coordinates": tuple(motion), "profiles": tuple(motion.values()), "redundant": LIU2018_REDUNDANT,
        "redundant_efforts": (0.0,) * len(LIU2018_REDUNDANT),
    }  # fmt: skip
    q, v, _ = (x[0] for x in desired_states(model, np.zeros(1)))
    progress(0, 5, "forward model, Fig. 6")
    constant = Constant(values=tuple(TORQUES.get(name, 0.0) for name in model.actuator_names))
    driven = [constant, Driven(actuator="tail.tb", profile=SWING)]
    forward = simulate(model, q, 0.5, control=driven, rtol=1e-9, atol=1e-11, events=(LegStraight(extension=0.9999),))
    progress(1, 5, "inverse, then forward, Fig. 8")
    ahead = FeedForward(**law)
    matched = simulate(model, (q, v), 0.2, control=ahead, method="rk4", step=STEP)
    open_loop = simulate(model, q, 0.2, control=ahead, method="rk4", step=STEP)
    progress(2, 5, "with feedback, Figs. 8 and 9")
    controlled = {
        (name, kp): simulate(
            model, q, PERIODS * PERIOD, control=made(**law, kp=kp, kd=kd), samples=round(PERIODS * PERIOD * 1e3) + 1
        )
        for kp, kd in GAINS
        for name, made in LAWS.items()
    }
    progress(3, 5, "Fig. 6 by a second formulation")
    swing = ("tail.tb", SWING_TORQUE, SWING_FREQUENCY)
    second, third = (
        by(liu2018(), TORQUES, swing, forward.data["time"].to_numpy()) for by in (with_multipliers, by_mujoco)
    )
    assert second is not None
    progress(4, 5, "admissible torques")
    claims = (
        *_forward_claims(forward, second, third),
        *_tracking_claims(matched, open_loop),
        *_compensation_claims(controlled),
        *_allocation_claims(model),
    )
    return Liu2018(forward, second, third, matched, open_loop, controlled, airborne_turn(forward, 0.3), claims)


def errors(run: Run) -> Floats:
    """How far each angle is from the desired one over time [deg]."""
    times = run.data["time"].to_numpy()
    return np.degrees(run.data["q"].to_numpy() - desired_states(run.model, times)[0])[:, 3:]


def required_torques(model: Model, times: Floats) -> Floats:
    """Torques of the inverse model at the desired state, tau_p = 0, (times, actuators) [N m]."""
    return model.allocation(*desired_states(model, times), redundant=dict.fromkeys(LIU2018_REDUNDANT, 0.0)).efforts


def least_torques(model: Model, times: Floats) -> Floats:
    """The same by all motors, smallest torques [N m]."""
    return model.inverse_dynamics(*desired_states(model, times))


def compensation(run: Run) -> Floats:
    """Largest compensation torque over time [N m]: of a run's torques less those of `required_torques`."""
    required = required_torques(run.model, run.data["time"].to_numpy())
    return np.abs(run.data["tau"].to_numpy() - required).max(axis=-1)


def compensation_by_period(run: Run) -> list[float]:
    """The largest of each whole period of the motion [N m]; NaN from the one in which the run ends."""
    times, found = run.data["time"].to_numpy(), compensation(run)
    ends = PERIOD * np.arange(PERIODS + 1)
    return [
        float(found[(times >= start) & (times <= end)].max()) if end <= run.duration + 1e-9 else math.nan
        for start, end in pairwise(ends)
    ]


def airborne_turn(run: Run, time: float) -> Floats:
    """Pitch, roll and yaw of the same robot in the air while its tail moves as in a run until a time [s]: [deg]."""
    assert run.trajectory is not None
    times = np.linspace(0.0, time, KNOTS)
    tail = run.model.layout.coordinates["tail"]
    angles = run.trajectory.full(times)[0][:, tail]
    ends = run.trajectory.full(times[[0, -1]])[1][:, run.model.layout.rates["tail"]]
    legs = run.model.foot_names
    model = Model(run.model.robot, "none", prescribed=["tail", *legs])
    motions: dict[str, PrescribedMotion] = {name: StandingAngles() for name in legs}
    motions["tail"] = {
        name: PiecewiseCubic(
            times=tuple(times), values=tuple(angles[:, k]), start_rate=float(ends[0, k]), end_rate=float(ends[1, k])
        )
        for k, name in enumerate(run.model.layout.limbs["tail"].coordinates)
    }
    aloft = simulate(model, Standing(), time, motions=motions, rtol=1e-9, atol=1e-11)
    return np.degrees(aloft.final_state[0][3:6])


def _forward_claims(run: Run, second: Floats, third: Floats | None) -> list[Claim]:
    assert run.stopped is not None
    others = {
        "MuJoCo": (third, "RK4, 0.1 ms; its pinned feet give way a little"),
        "a tree with multipliers": (second, "by tailwork, too: all joints as coordinates, feet held by multipliers"),
    }
    return [
        *(
            Claim(f"Fig. 6, largest difference of {name} from ours until 0.3 s [m, rad]",
                  "of Adams: noticeable, z above all", f"{apart(run, q):.1e}", said)
            for name, (q, said) in others.items()
            if q is not None
        ),
        Claim("Fig. 6, model valid until [s]", "—", f"{run.stopped.time:.3f}",
              f"{run.stopped.reason}; our runs otherwise end at 0.985"),
    ]  # fmt: skip


def apart(run: Run, q: Floats, time: float = 0.3) -> float:
    """Largest difference of other coordinates from a run's until a time [m, rad]."""
    early = run.data["time"].to_numpy() <= time
    return float(np.abs(q - run.data["q"].to_numpy())[early].max())


def off_early(run: Run) -> dict[str, tuple[float, float]]:
    """Desired and found pitch of the torso and yaw of the tail at 50 ms of a run [deg]."""
    assert run.trajectory is not None
    time = np.array([EARLY])
    wanted, found = desired_states(run.model, time)[0][0], run.trajectory.full(time)[0][0]
    names = run.model.coordinate_names
    return {
        said: (math.degrees(wanted[names.index(name)]), math.degrees(found[names.index(name)]))
        for said, name in (("pitch", "phi_x"), ("tail's yaw", "tail.tb"))
    }


def _tracking_claims(matched: Run, open_loop: Run) -> list[Claim]:
    stopped = open_loop.stopped
    ended = "goes on" if stopped is None else f"{stopped.time:.3f}"
    why = "" if stopped is None else f"; {stopped.reason}"
    start = float(desired_states(matched.model, np.zeros(1))[1][0, 3])
    deviates = "deviates within 0.2 s"
    from_rest = f"where the run starts is all that differs: the desired motion has {start:.2f} rad/s there"
    return [
        Claim("§4.2, inverse then forward, largest error at 0.2 s [°]", deviates,
              f"{np.abs(errors(matched))[-1].max():.1e}", "from the desired velocity; RK4, 0.1 ms"),
        *(
            Claim(f"§4.2, from rest, {name} off at 50 ms [°]", deviates, f"{found - wanted:+.1f}",
                  f"wanted {wanted:+.1f}, found {found:+.1f}; {from_rest}")
            for name, (wanted, found) in off_early(open_loop).items()
        ),
        Claim("§4.2, from rest, ends at [s]", deviates, ended, f"off at once; the paper's after “a short period”{why}"),
    ]  # fmt: skip


def _compensation_claims(controlled: dict[tuple[str, float], Run]) -> list[Claim]:
    claims = []
    for (law, kp), run in controlled.items():
        first, *_, last = compensation_by_period(run)
        ours = f"{last:.2g}" if run.stopped is None else f"ends at {run.stopped.time:.2f} s"
        failed = "" if run.stopped is None else f"; {run.stopped.reason}"
        claims.append(
            Claim(f"Fig. 9, compensation in period {PERIODS} [N m], {law} ({kp:g}, {dict(GAINS)[kp]:g})",
                  "approaches zero", ours, f"{first:.0f} in period 1{failed}; gains not stated in the paper")
        )  # fmt: skip
    return claims


def _allocation_claims(model: Model) -> list[Claim]:
    times = np.linspace(0.0, PERIOD, 301)
    q, v, a = desired_states(model, times)
    condition = model.allocation(q, v, a, redundant=dict.fromkeys(LIU2018_REDUNDANT, 0.0)).condition
    shares = {"tau_p = 0": required_torques(model, times), "all 14 motors": least_torques(model, times)}
    claims = [Claim("J_tau,a, condition number along the motion", "close to singular",
                    f"{condition.min():.0f}–{condition.max():.0f}")]  # fmt: skip
    for name, torques in shares.items():
        most, normal = np.abs(torques), model.foot_forces(q, v, torques)[..., 2]
        actuator = model.actuator_names[int(most.max(axis=0).argmax())]
        claims += [
            Claim(f"§4.2, largest torque, {name} [N m]", "curves, Fig. 9" if name == "tau_p = 0" else "—",
                  f"{most.max():.0f}", actuator),
            Claim(f"§4.2, least normal force, {name} [N]", "—", f"{normal.min():.0f} {MARK}",
                  f"{(normal < 0).mean():.0%} of the foot samples pull"),
        ]  # fmt: skip
    for friction in FRICTIONS:
        count, blame = 0, "every foot pushes and none slips"
        try:
            model.admissible_efforts(q, v, a, friction=friction)
        except InadmissibleError as error:
            count, blame = len(error.rows), f"blamed first: {error.blame[0]}"
        claims.append(
            Claim(f"§4.2, impossible moments of {len(q)}, whatever the torques, friction {friction:g}", "—", str(count),
                  blame)
        )  # fmt: skip
    return claims
