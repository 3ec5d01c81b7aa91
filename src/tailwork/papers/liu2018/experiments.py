"""The experiments of Liu & Ben-Tzvi 2018, Sect. 4, and their numbers beside ours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailwork.control import ComputedTorque, Constant, Driven, FeedForward, PiecewiseCubic, Sine, held
from tailwork.control.profiles import Profiles
from tailwork.control.standing import StandingAngles
from tailwork.errors import InadmissibleError
from tailwork.model import Model
from tailwork.model.model import LIU2018_REDUNDANT
from tailwork.papers.claims import Claim, listed, silent
from tailwork.papers.liu2018.second_engine import by_mujoco, with_multipliers
from tailwork.robots import liu2018
from tailwork.simulation import LegStraight, Run, simulate
from tailwork.simulation.initial import Standing
from tailwork.simulation.system import Motion, System
from tailwork.studies.compare.comparison import Progress
from tailwork.typing import Floats

STEP = 1e-4  # [s], of ODE4 in the paper
KP, KD = 400.0, 40.0  # [1/s²], [1/s], of the feedback; the paper does not state them
PERIOD = 0.3  # [s]
KNOTS = 31  # of the curve through the tail's motion
MOMENTS = (0.05, 0.3, 0.6)  # [s]
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
    controlled: Run  # feed-forward with feedback, Figs. 8 and 9
    computed: Run  # computed torque
    required: Floats  # (times of `controlled`, actuators): torques of the inverse model [N m]
    least: Floats  # the same by all motors, smallest torques [N m]
    claims: tuple[Claim, ...]

    @property
    def runs(self) -> dict[str, Run]:
        """Those that are saved, by name."""
        names = ("forward", "matched", "open_loop", "controlled", "computed")
        return {name: getattr(self, name) for name in names}


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
    progress(2, 5, "feed-forward with feedback, Figs. 8 and 9")
    controlled = simulate(model, q, 0.7, control=FeedForward(**law, kp=KP, kd=KD), samples=701)
    computed = simulate(model, q, 0.7, control=ComputedTorque(**law, kp=KP, kd=KD), samples=701)
    times = controlled.data["time"].to_numpy()
    system = System(model, [ahead])
    required = system.full(times, np.zeros((len(times), system.size)), np.zeros((len(times), system.control_inputs)))[2]
    progress(3, 5, "Fig. 6 by a second formulation")
    swing = ("tail.tb", SWING_TORQUE, SWING_FREQUENCY)
    second, third = (
        by(liu2018(), TORQUES, swing, forward.data["time"].to_numpy()) for by in (with_multipliers, by_mujoco)
    )
    assert second is not None
    progress(4, 5, "admissible torques")
    least = model.inverse_dynamics(*desired_states(model, times))
    claims = (
        *_forward_claims(forward, second, third, airborne_turn(forward, 0.3)),
        *_tracking_claims(model, matched, open_loop),
        *_compensation_claims(controlled, computed, required),
        *_allocation_claims(model, required, least),
    )
    return Liu2018(forward, second, third, matched, open_loop, controlled, computed, required, least, claims)


def errors(run: Run) -> Floats:
    """How far each angle is from the desired one over time [deg]."""
    times = run.data["time"].to_numpy()
    return np.degrees(run.data["q"].to_numpy() - desired_states(run.model, times)[0])[:, 3:]


def compensation(run: Run, required: Floats) -> Floats:
    """Largest compensation torque over time [N m]: what feedback adds to the inverse model."""
    return np.abs(run.data["tau"].to_numpy() - required).max(axis=-1)


def airborne_turn(run: Run, time: float) -> Floats:
    """Pitch, roll and yaw of the same robot in the air while its tail moves as in a run until a time [s]: [deg]."""
    assert run.trajectory is not None
    times = np.linspace(0.0, time, KNOTS)
    tail = run.model.layout.coordinates["tail"]
    angles = run.trajectory.full(times)[0][:, tail]
    ends = run.trajectory.full(times[[0, -1]])[1][:, run.model.layout.rates["tail"]]
    legs = run.model.foot_names
    model = Model(run.model.robot, "none", prescribed=["tail", *legs])
    motions: dict[str, Motion] = {name: StandingAngles() for name in legs}
    motions["tail"] = {
        name: PiecewiseCubic(
            times=tuple(times), values=tuple(angles[:, k]), start_rate=float(ends[0, k]), end_rate=float(ends[1, k])
        )
        for k, name in enumerate(run.model.layout.limbs["tail"].coordinates)
    }
    aloft = simulate(model, Standing(), time, motions=motions, rtol=1e-9, atol=1e-11)
    return np.degrees(aloft.final_state[0][3:6])


def _forward_claims(run: Run, second: Floats, third: Floats | None, aloft: Floats) -> list[Claim]:
    assert run.trajectory is not None
    q = run.trajectory.full(np.array([0.3]))[0][0]
    place, angles = (q[:3] - np.array(run.model.robot.stand)) * 1e3, np.degrees(q[3:])
    ended = "" if run.stopped is None else f"{run.stopped.time:.3f} s: {run.stopped.reason}"
    moved, turned, tail = (listed(x, ".1f") for x in (place, angles[:3], angles[3:]))
    until = run.data["time"].to_numpy() <= 0.3
    apart, soft = (math.nan if x is None else float(np.abs(x - run.data["q"].to_numpy())[until].max())
                   for x in (second, third))  # fmt: skip
    beside = "" if math.isnan(soft) else f"; MuJoCo, whose pinned feet give way, is {soft:.0e} apart"
    return [
        Claim("Fig. 6, torso moved at 0.3 s [mm]", "curves", moved, "hips placed symmetrically, knees forward"),
        Claim("Fig. 6, torso turned at 0.3 s [°]", "curves", turned, "pitch, roll, yaw"),
        Claim("the same tail motion in the air [°]", "—", listed(aloft, ".1f"), "the legs keep their shape"),
        Claim("Fig. 6, tail at 0.3 s [°]", "curves", tail, "point mass at the tip"),
        Claim("Fig. 6, two formulations apart until 0.3 s [m, rad]", "noticeable, z above all", f"{apart:.1e}",
              f"all joints as coordinates, feet held by multipliers{beside}; the paper: Adams and Simulink"),
        Claim("model valid until", "—", ended, "extension 0.9999; our runs otherwise end at 0.985"),
    ]  # fmt: skip


def _tracking_claims(model: Model, matched: Run, open_loop: Run) -> list[Claim]:
    off = np.abs(errors(open_loop)).max(axis=-1)
    early = float(np.interp(0.05, open_loop.data["time"].to_numpy(), off))
    stopped = open_loop.stopped
    ended = "goes on" if stopped is None else f"ends at {stopped.time:.3f} s: {stopped.reason}"
    start = float(desired_states(model, np.zeros(1))[1][0, 3])
    force = matched.data["foot_force"].to_numpy()[..., 2]
    deviates, last = "deviates before 0.2 s", f"{np.abs(errors(matched))[-1].max():.1e}"
    from_rest = f"the desired motion starts at {start:.2f} rad/s; only where the run starts differs from the line above"
    pulling = f"{(force < 0).mean():.0%} of the foot samples pull, with tau_p = 0"
    return [
        Claim("§4.2, inverse then forward, error at 0.2 s [°]", deviates, last,
              "starting with the desired velocity; RK4, 0.1 ms"),
        Claim("§4.2, the same from rest, error at 50 ms [°]", deviates, f"{early:.1f}", from_rest),
        Claim("§4.2, from rest, open loop", deviates, ended),
        Claim("§4.2, least normal force [N]", "—", f"{force.min():.0f}", pulling),
    ]  # fmt: skip


def _compensation_claims(controlled: Run, computed: Run, required: Floats) -> list[Claim]:
    times = controlled.data["time"].to_numpy()
    runs = {"feed-forward with feedback": (controlled, "desired"), "computed torque": (computed, "present")}
    claims = []
    for name, (run, state) in runs.items():
        quantity = f"Fig. 9, compensation at {listed(MOMENTS, 'g')} s [N m], {name}"
        ours = listed(np.interp(MOMENTS, times, compensation(run, required)), ".3g")
        reading = f"gains ({KP:g}, {KD:g}), not stated in the paper; inverse dynamics at the {state} state"
        claims.append(Claim(quantity, "approaches zero", ours, reading))
    return claims


def _allocation_claims(model: Model, required: Floats, least: Floats) -> list[Claim]:
    q, v, a = desired_states(model, np.linspace(0.0, PERIOD, 301))
    condition = model.allocation(q, v, a, redundant=dict.fromkeys(LIU2018_REDUNDANT, 0.0)).condition
    said = "at every moment, with feet that push"
    try:
        model.admissible_efforts(q, v, a, friction=0.6)
    except InadmissibleError as error:
        said = f"not at {len(error.rows)} of {len(q)} moments; blamed first: {error.blame[0]}"
    span = f"{condition.min():.0f}–{condition.max():.0f}"
    most, few = (np.abs(torques) for torques in (required, least))
    actuator = model.actuator_names[int(most.max(axis=0).argmax())]
    return [
        Claim("J_tau,a, condition number along the motion", "close to singular", span),
        Claim("Fig. 9, largest required torque [N m]", "curves", f"{most.max():.0f} ({actuator})",
              f"tau_p = 0: the abductions of two legs oppose each other; {few.max():.0f} N m is the most that any "
              "motor needs if all 14 share the work"),
        Claim("§4.2 by all 14 motors, friction 0.6", "—", said, "smallest admissible torques, not tau_p = 0"),
    ]  # fmt: skip
