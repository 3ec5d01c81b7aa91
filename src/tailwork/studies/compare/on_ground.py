"""A scenario with the robot's feet on compliant or rigid ground, where they may slip and lift, in the place of pinned
feet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tailwork.control.context import Law
from tailwork.control.gait.foot_kinematics import posed
from tailwork.control.standing import HoldPosture, RestTorques
from tailwork.errors import ArgumentError, RobotError
from tailwork.model import Model
from tailwork.simulation import Run, simulate
from tailwork.simulation.contact.compliant import CHOSEN, contact_frequency
from tailwork.simulation.contact.ground import CompliantGround, RigidGround, foot_places
from tailwork.simulation.equations import PrescribedMotion
from tailwork.simulation.run import Contact
from tailwork.simulation.system import System
from tailwork.studies.leg_policies import POLICIES
from tailwork.studies.perform import SAMPLES, perform
from tailwork.studies.scenario import Scenario
from tailwork.typing import Floats

STANDING_POLICIES = tuple(policy for policy in POLICIES if policy != "airborne")
MOST_STEPS = 1_000_000
LEVEL = 1e-9  # [m], how far a foot may be from the flat ground on which it stands


@dataclass(frozen=True)
class GroundStart:
    """A robot that stands on compliant ground, ready to move its tail."""

    model: Model  # with no foot pinned
    q: Floats
    v: Floats
    contact: Contact
    laws: Sequence[Law]
    motions: dict[str, PrescribedMotion]  # of the tail


def ground_start(scenario: Scenario, ground: CompliantGround, forces: Floats) -> GroundStart:
    """The robot pressed into the ground so far that it bears given forces, (feet, 3) [N].

    Feet stand in their places, each as deep as its normal force needs, with its anchor where the tangential one needs
    it. The torso is level and lowered by the mean of the depths, so that the legs keep their angles but for what the
    depths differ. With the forces that pinned feet bear at the first instant, the robot then starts off as the pinned
    one does and the ground does not ring. A foot that would have to pull starts in the air, just above the ground.
    """
    robot, tail, model = scenario.robot, scenario.tail, _free_model(scenario)
    standing = foot_places(robot)
    names = scenario.model.foot_names
    places = np.array([standing[name] for name in names])
    touching = forces[:, 2] > 0.0
    depths = np.where(touching, forces[:, 2], 0.0) / float(ground.stiffness)
    up = np.array([0.0, 0.0, 1.0])
    torso = np.array(robot.stand, dtype=float) - depths.mean() * up
    feet = dict(zip(names, places - depths[:, None] * up, strict=True))
    q, upright = posed(model, torso_place=torso, feet=feet), posed(model)
    for name, angle in scenario.start_shape().items():
        place = model.coordinate_names.index(f"{tail}.{name}")
        q[place] = upright[place] = angle
    anchors = places + forces * (1.0 - up) / float(ground.tangential_stiffness)
    contact = Contact.of_feet(model.layout, touching.tolist(), anchors)
    laws, v = _laws_about(scenario, upright), _start_velocity(scenario, model)
    return GroundStart(model, q, v, contact, laws, scenario.motions(model))


def _start_velocity(scenario: Scenario, model: Model) -> Floats:
    """v of a model with no foot pinned, in which only the tail may move."""
    v = np.zeros(len(model.velocity_names))
    if scenario.starts == "motion":
        v[model.layout.rates[scenario.tail]] = list(scenario.start_rates().values())
    return v


def _free_model(scenario: Scenario) -> Model:
    """The robot with no foot pinned."""
    return Model(scenario.robot, "none", prescribed=scenario.prescribed, attitude=scenario.attitude)


def _laws_about(scenario: Scenario, q: Floats) -> list[Law]:
    """The laws of a scenario, with the posture that its legs rest in."""
    posture = tuple(q.tolist())
    return [replace(law, posture=posture) if isinstance(law, (RestTorques, HoldPosture)) else law
            for law in scenario.laws]  # fmt: skip


def check_standing(scenario: Scenario) -> None:
    """Refuses scenarios without feet on the plane z = 0."""
    if scenario.policy not in STANDING_POLICIES:
        required = f"one of {', '.join(STANDING_POLICIES)}: a robot in the air does not feel the ground"
        raise ArgumentError("policy", scenario.policy, required)
    for name, foot in scenario.robot.feet().items():
        if abs(float(foot.place[2] - foot.radius)) > LEVEL:
            required = "a foot that stands on flat ground: at height 0, or its radius for a ball"
            raise RobotError(f"{name}.foot", foot.place, required)


def perform_on_rigid_ground(scenario: Scenario, ground: RigidGround, *, samples: int = SAMPLES) -> Run:
    """Simulate a scenario on rigid ground, where feet lift, slip and land; it starts as it stands on pinned feet.

    Args:
        scenario: what is done; not "airborne".
        ground: flat.
        samples: how many times the data holds, evenly spaced.
    """
    check_standing(scenario)
    if ground.surface is not None:
        raise ArgumentError(
            "ground", ground, "a RigidGround without a surface: the plane z = 0, on which the feet stand"
        )
    model = _free_model(scenario)
    q = posed(model)
    for name, angle in scenario.start_shape().items():
        q[model.coordinate_names.index(f"{scenario.tail}.{name}")] = angle
    run = simulate(
        model, (q, _start_velocity(scenario, model)), scenario.duration, control=_laws_about(scenario, q),
        motions=scenario.motions(model), events=(), ground=ground, samples=samples,
    )  # fmt: skip
    return run.titled(f"{scenario.text}; on rigid ground of friction {float(ground.friction):g}")


def perform_on_ground(
    scenario: Scenario, ground: CompliantGround, *, pinned: Run | None = None, samples: int = SAMPLES, finer: int = 1
) -> Run:
    """Simulate a scenario with the robot's feet on compliant ground; it starts as `ground_start` says.

    Args:
        scenario: what is done; not "airborne".
        ground: flat.
        pinned: the same on pinned feet, if it has been performed already.
        samples: how many times the data holds, evenly spaced.
        finer: steps are the ones chosen for the ground, or a little shorter so that samples fall on them, divided by
            this.
    """
    check_standing(scenario)
    if not isinstance(ground, CompliantGround) or ground.surface is not None:
        raise ArgumentError(
            "ground", ground, "a CompliantGround without a surface: the plane z = 0, on which the pinned feet stand"
        )
    if samples < 2 or finer < 1:
        raise ArgumentError(
            "samples, finer", (samples, finer), "at least 2 samples, and steps at least as fine as chosen"
        )
    if pinned is None:
        pinned = perform(scenario, samples=2)
    start = ground_start(scenario, ground, pinned.data["foot_force"].to_numpy()[0])
    system = System(start.model, start.laws, start.motions)
    x = system.state(start.q, start.v)
    longest = CHOSEN / contact_frequency(system, ground, x)  # [s]
    interval = scenario.duration / (samples - 1)
    steps = finer * math.ceil(interval / longest)  # between two samples
    if steps * (samples - 1) > MOST_STEPS:
        required = f"softer ground: this one takes {steps * (samples - 1):.2g} steps, and {MOST_STEPS:.0e} are allowed"
        raise ArgumentError("stiffness", ground.stiffness, required)
    run = simulate(
        start.model, (start.q, start.v), scenario.duration, control=start.laws, motions=start.motions, events=(),
        samples=samples, step=interval / steps, max_steps=MOST_STEPS, ground=ground, contact=start.contact,
    )  # fmt: skip
    return run.titled(f"{scenario.text}; on ground of {float(ground.stiffness):g} N/m")
