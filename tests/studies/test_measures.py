"""Measures of a scenario, each found again in another way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.layout import Array
from tailwork.control import CurvatureTracking, held
from tailwork.control.tail_motion import TailTracking
from tailwork.robots import liu2020
from tailwork.robots.tails.bend_angles import arc_angle, chain_direction, link_weights
from tailwork.simulation import Run, load_run
from tailwork.simulation.system import System
from tailwork.studies.leg_policies import EQUATION_85
from tailwork.studies.measures import meaning_of, shown_measures, unit_of
from tailwork.studies.motions import coupled, pitch, roll, yaw
from tailwork.studies.perform import measured, perform
from tailwork.studies.scenario import Scenario

SCENARIOS = {
    "pendulum": Scenario(liu2020("pendulum"), yaw(40), "constant"),
    "r3": Scenario(liu2020("r3"), roll(40), "constant"),
    "antagonists": Scenario(liu2020("pendulum"), roll(40), "constant"),
    "pendulum by motors": Scenario(liu2020("pendulum"), coupled(), "paper", drive="motors"),
    "r3 by motors": Scenario(liu2020("r3"), pitch(20, period=1.2), "paper"),
    "usrt": Scenario(liu2020("usrt"), pitch(20, period=1.2), "paper"),
    "airborne": Scenario(liu2020("pendulum"), yaw(40), "airborne"),
    "ends early": Scenario(liu2020("r3"), roll(80), "paper"),
}
ALL = pytest.mark.parametrize("name", SCENARIOS)
STANDING = pytest.mark.parametrize("name", [name for name in SCENARIOS if name != "airborne"])


@cache
def run_of(name: str) -> Run:
    """The run of a scenario, only looked at."""
    return perform(SCENARIOS[name])


@cache
def measures_of(name: str) -> dict[str, float]:
    """Its measures."""
    return measured(run_of(name), SCENARIOS[name])


def values(name: str, quantity: str, **chosen: Any) -> Array:
    """Something of a run over time."""
    return run_of(name).data[quantity].sel(chosen).to_numpy()


def columns(name: str, quantity: str, dim: str, limb: str) -> Array:
    """What belongs to a limb, (times, columns)."""
    found = [str(x) for x in run_of(name).data[dim].to_numpy() if str(x).split(".")[0] == limb]
    return values(name, quantity, **{dim: found})


def angle_rates(phi: Array, omega: Array) -> Array:
    """phi-dot for R = Rz Ry Rx: omega is phi_x-dot about Rz Ry x, phi_y-dot about Rz y and phi_z-dot about z."""
    (_, cy, cz), (_, sy, sz) = np.cos(phi).T, np.sin(phi).T
    zero, one = np.zeros_like(cy), np.ones_like(cy)
    about = np.stack([[cz * cy, -sz, zero], [sz * cy, cz, zero], [-sy, zero, one]])
    return np.linalg.solve(np.moveaxis(about, -1, 0), omega[..., None])[..., 0]


def seen_from_mount(name: str) -> Array:
    """Where the tail's centre of mass is seen from its mount over time, bent down or up by how much [rad].

    Link by link, for tails that bend in the vertical plane; a base at the mount does not change where it is seen.
    """
    tail, q = SCENARIOS[name].tail_part, values(name, "q")
    names = list(run_of(name).model.coordinate_names)
    found = {n.split(".")[1]: q[:, names.index(n)] for n in names if n.startswith("tail.")}
    if "phi_1" in found:
        bends = [found[f"phi_{i}"] for i in range(1, tail.links + 1)]
    else:
        bends = [found[f"beta_{s}"] for s in range(1, tail.segments + 1) for _ in range(tail.links_per_segment)]
    angles = np.cumsum(bends, axis=0)
    over = (np.arange(len(bends))[::-1] * tail.link_length + tail.link_com)[:, None]
    return np.arctan2((over * np.sin(angles)).sum(axis=0), (over * np.cos(angles)).sum(axis=0))


def integral(name: str, rate: Callable[[Array], Array]) -> Array:
    """Of a function of time over a run, step by step: what is imposed may jump at its end."""
    trajectory = run_of(name).trajectory
    assert trajectory is not None
    nodes, weights = np.polynomial.legendre.leggauss(8)
    t0, h = trajectory.times[:-1], np.diff(trajectory.times)
    found = rate((t0[:, None] + h[:, None] * (nodes + 1.0) / 2.0).ravel())
    return np.einsum("s,n,sn...->...", h / 2, weights, found.reshape(len(h), len(nodes), *found.shape[1:]))


# The torso


@ALL
def test_net_rotation_and_peak_rates(name: str) -> None:
    """Net angles are those of the trajectory's ends; peak rates those of the same angles, differentiated."""
    run, found = run_of(name), measures_of(name)
    assert run.trajectory is not None
    times = run.data["time"].to_numpy()
    ends = np.degrees(run.trajectory.full(times[[0, -1]])[0][:, 3:6])
    np.testing.assert_allclose([found["pitch"], found["roll"], found["yaw"]], ends[1] - ends[0], rtol=0, atol=1e-12)
    assert found["duration"] == pytest.approx(times[-1], abs=1e-15)
    h, inner = 1e-5, times[1:-1]
    before, after = (run.trajectory.full(t)[0][:, 3:6] for t in (inner - h, inner + h))
    rates = np.degrees(np.abs((after - before) / (2 * h)).max(axis=0))
    found_rates = np.degrees(angle_rates(values(name, "q")[:, 3:6], values(name, "v")[:, 3:6]))
    peaks = [found["peak_pitch_rate"], found["peak_roll_rate"], found["peak_yaw_rate"]]
    np.testing.assert_allclose(peaks, np.abs(found_rates).max(axis=0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(peaks, np.maximum(rates, np.abs(found_rates[[0, -1]]).max(axis=0)), rtol=0, atol=1e-4)


def test_peak_rates_are_not_those_of_omega() -> None:
    """Where the torso turns far about several axes, these differ."""
    found, omega = measures_of("ends early"), np.degrees(values("ends early", "v")[:, 3:6])
    assert abs(found["peak_pitch_rate"] - np.abs(omega[:, 0]).max()) > 1.0


@ALL
def test_effectiveness(name: str) -> None:
    """Rotation about the motion's own axis, a degree that the tail's centre of mass is carried."""
    found = measures_of(name)
    turned = abs(found[SCENARIOS[name].motion.axis])
    assert found["effectiveness"] == pytest.approx(turned / found["tail_rotation"], rel=1e-14)
    assert found["cost"] == pytest.approx(found["tail_energy"] / turned, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("pendulum", 40.0),
        ("antagonists", 45.0 * math.sin(math.radians(40.0))),  # along a circle of latitude
        ("airborne", 40.0),
    ],
)
def test_an_imposed_pendulum_points_where_it_should(name: str, way: float) -> None:
    """Its centre of mass goes all of the way of the motion, and never another."""
    found = measures_of(name)
    assert found["tail_rotation"] == pytest.approx(way, rel=2e-6)
    assert math.radians(found["tail_deviation"]) < 1e-9


def test_the_way_of_an_imposed_r3() -> None:
    """By the arc its centre of mass is not quite where it should be, and the way that counts is its own; by the chain
    it is, its base being at the mount."""
    tail, found = SCENARIOS["r3"].tail_part, measures_of("r3")
    weights = [float(w) for w in link_weights([1.0] * 12, tail.link_length, tail.link_com)]
    seen = float(chain_direction(arc_angle(math.radians(40.0)) / 12, weights))
    assert found["tail_rotation"] == pytest.approx(45.0 * math.sin(seen), rel=2e-6)
    assert found["tail_deviation"] == pytest.approx(abs(math.degrees(seen) - 40.0), abs=1e-7)
    assert found["tail_deviation"] > 0.5
    chain = replace(SCENARIOS["r3"], motion=replace(roll(40), angle="chain"))
    exact = measured(perform(chain), chain)
    assert exact["tail_rotation"] == pytest.approx(45.0 * math.sin(math.radians(40.0)), rel=2e-6)
    assert math.radians(exact["tail_deviation"]) < 1e-9


@pytest.mark.parametrize("name", ["r3 by motors", "usrt"])
def test_the_way_of_a_driven_tail(name: str) -> None:
    """What counts is where its centre of mass really went, link by link, not where it should have gone."""
    seen, found = seen_from_mount(name), measures_of(name)
    wanted = np.radians(20.0) * np.sin(2 * np.pi * values(name, "time") / 1.2)
    assert math.radians(found["tail_rotation"]) == pytest.approx(np.abs(np.diff(seen)).sum(), abs=1e-9)
    assert math.radians(found["tail_deviation"]) == pytest.approx(np.abs(seen - wanted).max(), abs=1e-9)
    assert found["tail_deviation"] > 0.1


# Impulse and momentum


@STANDING
def test_impulse_of_the_tail(name: str) -> None:
    """What torso and legs gain in angular momentum that neither the ground nor gravity has given them."""
    run = run_of(name)
    start, weight = values(name, "q")[0, :3], np.array([0.0, 0.0, -9.8])
    own = [k for k, part in enumerate(run.model.part_names) if part != "tail"]
    feet = [run.model.layout.limbs[foot].foot for foot in run.model.foot_names]
    arms = np.array([foot.place for foot in feet if foot is not None], dtype=float) - start

    def moment(times: Array) -> Array:
        """Of the ground and of gravity on torso and legs."""
        assert run.trajectory is not None
        parts = run.model.part_momenta(*run.trajectory.full(times)[:2])
        weights = np.cross(parts.centers[:, own] - start, parts.masses[:, own, None] * weight)
        return np.cross(arms, run.path(times).foot_forces).sum(axis=-2) + weights.sum(axis=-2)

    def about_start(k: int) -> Array:
        """Angular momentum of torso and legs about where P was."""
        found = run.model.part_momenta(values(name, "q")[k], values(name, "v")[k])
        place = found.masses @ found.centers / found.masses.sum()
        speed = found.linear.sum(axis=0) / found.masses.sum()
        orbital = np.cross(found.centers[own] - place, found.masses[own, None] * speed)
        return (found.angular[own] + orbital + np.cross(place - start, found.linear[own])).sum(axis=0)

    wanted = about_start(-1) - about_start(0) - integral(name, moment)
    found = measures_of(name)
    np.testing.assert_allclose(
        [found["impulse_pitch"], found["impulse_roll"], found["impulse_yaw"]], wanted, rtol=0, atol=5e-6
    )


@ALL
def test_momentum_budget(name: str) -> None:
    """Torso, legs and tail together have the angular momentum of the whole; the measures are their largest."""
    spin, names = values(name, "part_angular_momentum"), list(run_of(name).model.part_names)
    np.testing.assert_allclose(spin.sum(axis=1), values(name, "angular_momentum"), rtol=0, atol=1e-12)
    found = measures_of(name)
    assert names[0] == "torso" and sorted(names[1:]) == ["leg1", "leg2", "leg3", "leg4", "tail"]
    legs = spin[:, [names.index(f"leg{i}") for i in (1, 2, 3, 4)]].sum(axis=1)
    for measure, group in (
        (found["torso_momentum"], spin[:, 0]), (found["legs_momentum"], legs),
        (found["tail_momentum"], spin[:, names.index("tail")]),
    ):  # fmt: skip
        assert measure == pytest.approx(math.sqrt((group**2).sum(axis=-1).max()), rel=1e-14)


# Torque, power and energy


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name != "usrt"])
def test_torque_and_power_of_the_tail(name: str) -> None:
    """Torques on its coordinates, by motors or imposed; power is torque times rate, energy the integral of its size,
    each actuator for itself."""
    found = measures_of(name)
    if SCENARIOS[name].imposed:
        torque = columns(name, "prescribed_effort", "prescribed", "tail")
    else:
        torque = columns(name, "tau", "actuator", "tail")
        if "r3" in name:
            torque = torque * np.array([1.0, 6 * 0.025, 6 * 0.025])  # six pulleys a segment
    powers = torque * columns(name, "v", "velocity", "tail")
    assert found["peak_tail_torque"] == pytest.approx(np.abs(torque).max(), rel=1e-12)
    assert found["peak_tail_power"] == pytest.approx(np.abs(powers.sum(axis=-1)).max(), rel=1e-9)
    energies = np.trapezoid(np.abs(powers), values(name, "time"), axis=0)
    assert found["tail_energy"] == pytest.approx(energies.sum(), rel=1e-9)


def test_antagonists_do_not_cancel() -> None:
    """A motor that brakes while another drives costs energy, too: the work is more than that of both together."""
    found = measures_of("antagonists")
    powers = columns("antagonists", "prescribed_effort", "prescribed", "tail")
    powers = powers * columns("antagonists", "v", "velocity", "tail")
    assert powers.shape == (301, 2)
    assert (powers[:, 0] * powers[:, 1] < 0).mean() > 0.5
    time = values("antagonists", "time")
    each, together = (float(np.trapezoid(p, time)) for p in (np.abs(powers).sum(axis=1), np.abs(powers.sum(axis=1))))
    assert found["tail_energy"] == pytest.approx(each, rel=1e-14)
    assert each > 1.05 * together
    assert found["peak_tail_power"] == pytest.approx(np.abs(powers.sum(axis=1)).max(), rel=1e-14)


@STANDING
def test_torques_of_the_legs(name: str) -> None:
    """The largest of twelve."""
    torques = np.hstack([columns(name, "tau", "actuator", f"leg{i}") for i in (1, 2, 3, 4)])
    assert torques.shape[1] == 12
    assert measures_of(name)["peak_leg_torque"] == np.abs(torques).max()
    if SCENARIOS[name].policy == "paper":
        np.testing.assert_allclose(torques, np.tile(EQUATION_85, (len(torques), 1)), rtol=0, atol=1e-14)


@ALL
def test_energy_balance(name: str) -> None:
    """The work of tail and legs, less what dampers take, is what the energies gain."""
    energy = sum(values(name, f"{kind}_energy") for kind in ("kinetic", "gravitational", "elastic"))

    def rate(times: Array) -> Array:
        path = run_of(name).path(times)
        return path.powers.sum(axis=-1) - path.dissipation

    assert float(energy[-1] - energy[0]) == pytest.approx(float(integral(name, rate)), abs=1e-7)
    assert measures_of(name)["energy_balance"] < 1e-7


# Feet


@STANDING
def test_feet(name: str) -> None:
    """Least normal force and friction needed, from the forces."""
    force, found = values(name, "foot_force"), measures_of(name)
    assert found["least_normal_force"] == force[..., 2].min()
    if found["least_normal_force"] > 0:
        ratio = np.sqrt(force[..., 0] ** 2 + force[..., 1] ** 2) / force[..., 2]
        assert found["friction_needed"] == pytest.approx(ratio.max(), rel=1e-13)
    else:
        assert found["friction_needed"] == math.inf


def test_what_is_not_there() -> None:
    """A pendulum has no curvature, cables and segments, a robot in the air no leg torques and no feet on the ground;
    these motors have no limits."""
    aloft = measures_of("airborne")
    missing = {name for name, value in aloft.items() if math.isnan(value)}
    assert missing == {
        "curvature_error_mean", "curvature_error_peak", "curvature_error_rms", "peak_tension", "slack",
        "peak_leg_torque", "least_normal_force", "friction_needed", "most_extension", "peak_segment_torque",
        "peak_segment_speed", "motor_load", "joint_speed_load", "tail_clearance",
    }  # fmt: skip
    assert math.isnan(measures_of("usrt")["peak_tail_torque"])
    assert shown_measures() == list(aloft)
    assert all(unit_of(name) and meaning_of(name) for name in aloft)


# Curvature and cables


@pytest.mark.parametrize(("name", "joints", "link"), [("r3 by motors", 12, 0.04), ("usrt", 6, 0.08)])
def test_curvature_error(name: str, joints: int, link: float) -> None:
    """Found less wanted, with the bend of a segment over its length; bending down is positive."""
    time, q = values(name, "time"), values(name, "q")
    names = list(run_of(name).model.coordinate_names)
    theta = np.radians(20.0) * np.sin(2 * np.pi * time / 1.2)
    wanted = np.array([arc_angle(float(x)) for x in theta]) / joints / link
    if name == "usrt":
        each = q[:, [names.index(f"tail.phi_{i}") for i in range(1, 7)]]
        errors = [each[:, s].sum(axis=-1) / 0.24 - wanted for s in (slice(0, 3), slice(3, 6))]
    else:
        errors = [q[:, names.index(f"tail.beta_{s}")] / link - wanted for s in (1, 2)]
    means = [np.trapezoid(error, time) / time[-1] for error in errors]
    found, tail = measures_of(name), SCENARIOS[name].tail_part
    for k in range(0, len(time), 50):
        here = {n.split(".")[1]: float(x) for n, x in zip(names, q[k], strict=True) if n.startswith("tail.")}
        should = tail.curvatures(SCENARIOS[name].motion.of(tail, float(time[k])), 0.0)
        seen = np.array(tail.curvatures(here, 0.0), dtype=float) - np.array(should, dtype=float)
        np.testing.assert_allclose(seen, [error[k] for error in errors], rtol=0, atol=1e-9)
    assert found["curvature_error_mean"] == pytest.approx(max(means, key=abs), abs=1e-9)
    assert found["curvature_error_peak"] == pytest.approx(np.abs(errors).max(), abs=1e-9)
    squares = [np.trapezoid(error**2, time) / time[-1] for error in errors]
    assert found["curvature_error_rms"] == pytest.approx(math.sqrt(np.mean(squares)), abs=1e-9)


def test_an_imposed_bend_has_no_error() -> None:
    """But for the accuracy of its series."""
    found = measures_of("r3")
    assert abs(found["curvature_error_mean"]) < 1e-9 and found["curvature_error_peak"] < 1e-8


def test_cables() -> None:
    """Tensions are six, none pushes; slack is the share of the time without tension, the mean over the cables."""
    tensions, found = columns("usrt", "tau", "actuator", "tail"), measures_of("usrt")
    assert tensions.shape == (301, 6)
    assert tensions.min() >= 0.0
    assert found["peak_tension"] == tensions.max() > 1.0
    share = np.trapezoid((tensions < 1e-6).mean(axis=1), values("usrt", "time")) / 0.3
    assert found["slack"] == pytest.approx(share, rel=1e-14)
    assert 0.0 < found["slack"] < 1.0
    law: Any = SCENARIOS["usrt"].laws[-1]
    assert (law.coordinates, law.kp, law.kd) == (("bend",), (60.0,), (3.0,))


def test_what_is_fed_forward_to_cables_is_the_tails_own_stiffness() -> None:
    """At one time, without damping: the tensions are those that hold the same bends with that stiffness."""
    scenario, t = SCENARIOS["usrt"], 0.1
    tail = scenario.tail_part
    assert tail.bending_stiffness > 0.0
    wanted = {name: float(x) for name, x in scenario.motion.of(tail, t).items()}
    bends = [held(sum(wanted[f"phi_{i}"] for i in joints)) for joints in (range(1, 4), range(4, 7))]
    still = (held(0.0), held(0.0))
    law = CurvatureTracking(
        limb="tail", pitch=tuple(bends), yaw=still, kp=60.0, kd=0.0, stiffness=tail.bending_stiffness
    )
    q = scenario.model.standing()
    found = []
    for own, motions in ((law, {}), (TailTracking.of("tail", tail, kd=0.0), {"tail": scenario.motion})):
        system = System(scenario.model, [own], motions)
        x = system.state(q, np.zeros(len(scenario.model.velocity_names)))
        found.append(system.full(np.array([t]), x[None], np.zeros((1, system.control_inputs)))[2][0])
    assert found[0].max() > 1.0
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-9)


# Runs that end early, and runs from files


def test_a_run_that_ends_early() -> None:
    """Its measures are those until then."""
    run, found = run_of("ends early"), measures_of("ends early")
    assert run.stopped is not None and run.stopped.reason.startswith("leg")
    assert found["duration"] == pytest.approx(run.stopped.time, abs=1e-12)
    assert 0.27 < found["duration"] < 0.3
    assert all(math.isfinite(x) for x in (found["effectiveness"], found["impulse_pitch"], found["tail_energy"]))


@ALL
def test_measures_of_a_loaded_run(name: str, tmp_path: Path) -> None:
    """The same to the last digit."""
    run_of(name).save(tmp_path / "run.nc")
    loaded = measured(load_run(tmp_path / "run.nc"), SCENARIOS[name])
    np.testing.assert_equal(loaded, measures_of(name))
