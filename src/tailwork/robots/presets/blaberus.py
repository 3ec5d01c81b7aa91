"""The cockroach Blaberus discoidalis of Nelson & Quinn: 36 degrees of freedom, six legs of five hinges.

The paper's own numbers are not public. Masses and lengths marked "estimate" were chosen to agree with the literature:
mass 2.6 g, 5.3 × 2.3 × 0.8 cm (Othayoth et al.); hind coxa + femur 0.07 g, tibia + tarsus 0.01 g (Kram et al. 1997).
"""

from __future__ import annotations

from tailwork.robots.body import ellipsoid_inertia
from tailwork.robots.legs.insect import InsectLeg
from tailwork.robots.robot import Robot, Torso

GRAM, CM = 1e-3, 1e-2

# All estimates; g and cm; x forward, y left, z up, from the body's centre of mass.
#          masses: coxa, femur, tibia | lengths: coxa, femur, tibia | hip | foot in mid-stance
LEGS = {
    "front": ((0.025, 0.013, 0.005), (0.60, 0.65, 0.75), (0.95, 0.25, -0.25), (1.75, 1.15)),
    "middle": ((0.033, 0.018, 0.007), (0.70, 0.80, 1.00), (0.25, 0.32, -0.25), (0.15, 1.75)),
    "hind": ((0.045, 0.025, 0.010), (0.75, 0.95, 1.30), (-0.35, 0.36, -0.25), (-1.75, 1.55)),
}
TOTAL_MASS = 2.6  # g, Othayoth et al.
SEMI_AXES = (2.0, 0.9, 0.4)  # cm, estimate: body as an ellipsoid
HEIGHT = 0.80  # cm, estimate: of the centre of mass when standing


def blaberus() -> Robot:
    """The cockroach of Nelson & Quinn in SI units: x forward, y left, z up. Masses and lengths are estimates."""
    body_mass = TOTAL_MASS - 2 * sum(sum(masses) for masses, _, _, _ in LEGS.values())
    return Robot(
        name="blaberus",
        forward="x",
        gravity=9.81,
        stand=(0.0, 0.0, HEIGHT * CM),
        torso=Torso(
            mass=body_mass * GRAM,
            inertia=ellipsoid_inertia(body_mass * GRAM, *(axis * CM for axis in SEMI_AXES)),
        ),
        parts={
            f"{place}_{side}": _leg(place, side) for place in LEGS for side in ("left", "right")
        },
    )  # fmt: skip


def _leg(place: str, side: str) -> InsectLeg:
    (coxa, femur, tibia), (coxa_length, femur_length, tibia_length), hip, foot = LEGS[place]
    sign = 1.0 if side == "left" else -1.0
    return InsectLeg(
        side=side,
        hip=(hip[0] * CM, sign * hip[1] * CM, hip[2] * CM),
        foot=(foot[0] * CM, sign * foot[1] * CM, 0.0),
        coxa_mass=coxa * GRAM,
        femur_mass=femur * GRAM,
        tibia_mass=tibia * GRAM,
        coxa_length=coxa_length * CM,
        femur_length=femur_length * CM,
        tibia_length=tibia_length * CM,
        coxa_height=0.15 * CM,  # estimate
        coxa_width=0.10 * CM,  # estimate
        rod_radius=0.04 * CM,  # estimate
    )
