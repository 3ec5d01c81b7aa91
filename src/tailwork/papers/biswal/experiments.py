"""The quadruped of Biswal & Mohanty: its leg (see tailwork.papers.biswal.dh_leg), and a trot over compliant ground.

The paper speaks of a trot, but none of its figures shows one; masses, gains and ground are estimates, all stated here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailwork.control.gait.gait import Gait, trot
from tailwork.control.gait.joint_table import joint_table, walking_start
from tailwork.control.servo import JointServo
from tailwork.model import Model
from tailwork.papers.biswal.dh_leg import DhLeg, reproduce_dh_leg
from tailwork.papers.claims import Claim, silent
from tailwork.robots import biswal
from tailwork.simulation import simulate
from tailwork.simulation.contact.ground import CompliantGround
from tailwork.simulation.contact.record import robot_weight
from tailwork.simulation.pose import run_torso_angles
from tailwork.simulation.run import Run
from tailwork.studies.compare.comparison import Progress

STANDING = (0.0, 0.0, 0.27)  # of P above mid-stance [m]; loaded, the robot sinks a few millimetres
SPEED, FREQUENCY, LIFT = 0.15, 2.0, 0.03  # m/s, Hz, m
KP, KD = 30.0, 0.5  # N m/rad, N m s/rad
STRIDES, SETTLING = 12, 4  # trotted in all; left out at the start
GROUND = CompliantGround(
    stiffness=2e4, damping=1.0, tangential_stiffness=2e4, tangential_damping=20.0, static_friction=0.8,
    kinetic_friction=0.6,
)  # fmt: skip


@dataclass(frozen=True)
class Trot:
    """A trot and what it amounts to, over the strides after the first few."""

    run: Run
    speed: float  # [m/s]
    heights: tuple[float, float, float]  # of P: lowest, mean, highest [m]
    ranges: dict[str, float]  # of pitch, roll and yaw [deg]
    torques: dict[str, float]  # largest by joint of a leg: ha, hb, k [N m]
    vertical: float  # vertical impulse of the ground over the weight's
    closure: float  # momentum that impulses do not explain, as a share of the weight's impulse


@dataclass(frozen=True)
class Biswal:
    """Everything of the reproduction."""

    leg: DhLeg
    trot: Trot
    claims: tuple[Claim, ...]

    @property
    def runs(self) -> dict[str, Run]:
        """Those that are saved, by name."""
        return {"trot": self.trot.run}


def trot_gait() -> Gait:
    """Diagonal pairs in turn, half a stride each."""
    return trot(biswal(), speed=SPEED, frequency=FREQUENCY, lift=LIFT)


def simulate_trot(strides: int = STRIDES, samples_a_stride: int = 200) -> Run:
    """The quadruped trotting from the gait's own speed."""
    model, gait = Model(biswal(), "none"), trot_gait()
    table = joint_table(model, gait, torso_place=STANDING)
    run = simulate(
        model, walking_start(model, gait, table, torso_place=STANDING), strides * gait.period, ground=GROUND,
        control=JointServo(table=table, kp=KP, kd=KD), samples=strides * samples_a_stride + 1,
    )  # fmt: skip
    return run.titled(f"trot at {SPEED:g} m/s, {strides} strides of {gait.period:g} s")


def measure_trot(run: Run) -> Trot:
    """Speed, height, turning and torques of a trot."""
    late = run.data["time"].to_numpy() >= SETTLING / FREQUENCY
    times, q = run.data["time"].to_numpy()[late], run.data["q"].to_numpy()[late]
    height = q[:, 2]
    tau = np.abs(run.data["tau"].to_numpy()[late])
    names = run.model.actuator_names
    impulse = run.data["foot_impulse"].sel(axis="z").sum("foot").to_numpy()[late]
    return Trot(
        run=run,
        speed=float((q[-1, 0] - q[0, 0]) / (times[-1] - times[0])),
        heights=(float(height.min()), float(height.mean()), float(height.max())),
        ranges={name: float(np.degrees(np.ptp(angle[late]))) for name, angle in run_torso_angles(run).items()},
        torques={
            joint: float(tau[:, [k for k, name in enumerate(names) if name.endswith(f".{joint}")]].max())
            for joint in ("ha", "hb", "k")
        },
        vertical=float((impulse[-1] - impulse[0]) / (robot_weight(run.model) * (times[-1] - times[0]))),
        closure=run.momentum_balance_error(),
    )


def run_all(progress: Progress = silent) -> Biswal:
    """Leg and trot."""
    progress(0, 2, "torques, Figs. 4–6")
    leg = reproduce_dh_leg()
    progress(1, 2, "trot")
    trot = measure_trot(simulate_trot())
    said = f"{biswal().mass():.1f} kg, kp {KP:g}, kd {KD:g}, {FREQUENCY:g} Hz, lift {1e3 * LIFT:.0f} mm: estimates"
    heights = zip(("lowest", "mean", "highest"), trot.heights, strict=True)
    claims = (
        *leg.claims,
        Claim("trot: speed [m/s]", "—", f"{trot.speed:.3f}", f"the gait asks for {SPEED:g}; {said}"),
        *(
            Claim(f"trot: {which} height of P [m]", "—", f"{x:.3f}", f"{STANDING[2]:g} unloaded")
            for which, x in heights
        ),
        *(Claim(f"trot: range of {axis} [°]", "—", f"{trot.ranges[axis]:.1f}") for axis in ("roll", "pitch")),
        *(
            Claim(f"trot: largest torque of {name} [N m]", "—", f"{value:.2f}", "servo, all legs")
            for name, value in trot.torques.items()
        ),
        Claim("trot: vertical impulse over weight's", "—", f"{trot.vertical:.4f}", "1 in a steady trot"),
        Claim("trot: momentum unexplained by impulses", "—", f"{trot.closure:.0e}", "share of the weight's impulse"),
    )
    return Biswal(leg, trot, claims)
