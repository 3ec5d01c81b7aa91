"""Tails of a robot and of animals, with their sources. What is estimated says so."""

from __future__ import annotations

import math

from tailwork.robots.air import TailDrag
from tailwork.robots.body import Body
from tailwork.robots.limb import Joint, Limb, Motor, Tip
from tailwork.robots.quantities import Vector
from tailwork.robots.tails.free import FreeTail
from tailwork.robots.tails.pendulum import Pendulum
from tailwork.robots.tails.two_link import TwoLink

HERE: Vector = (0.0, 0.0, 0.0)


def cheetah_tail(mount: Vector = HERE) -> TwoLink:
    """A cheetah's tail in two links, furry, at a mount in the torso frame [m].

    Masses and lengths as in the models of A. Patel's group (Univ. of Cape Town): 0.4 and 0.2 kg, 0.38 m each; radius
    with fur 25.5 mm and C_d 1.1 from "Quasi-steady state aerodynamics of the cheetah tail" (Patel, Boje, Fisher, Louis
    & Lane, Biology Open 5, 2016). Both joints are taken as driven.
    """
    return TwoLink(
        first_length=0.38, second_length=0.38, first_mass=0.4, second_mass=0.2, mount=mount,
        drag=TailDrag(radius=0.0255, coefficient=1.1),
    )  # fmt: skip


def spirit_tail(mount: Vector = HERE) -> FreeTail:
    """The tail of Ghost Robotics' Spirit 40 at Carnegie Mellon, at a mount in the torso frame [m].

    It stands on the back, rolls, then pitches, and has nearly all its mass at the tip: 0.2764 kg at 0.8816 m, motors of
    35 N m (Yang, Norby, Yim & Johnson, IROS 2023, arXiv:2303.04781; inertias from the model spirit_tail of their
    Quad-SDK). In the tail's axes it points backward; its mount turns it by 90°, so that it points up.
    """
    length, mass, tip_mass = 0.8816, 1e-3, 0.2764
    total = mass + tip_mass
    across = 1e-4 + 2.764e-4 + mass * tip_mass / total * length**2  # of the rod's own mass at the joint, and the tip
    rod = Body(mass=mass, inertia=(1e-4, 1e-4, 1e-4, 0.0, 0.0, 0.0))
    tipped = Body(
        mass=total, com=(0.0, -length * tip_mass / total, 0.0), inertia=(across, 3.764e-4, across, 0.0, 0.0, 0.0)
    )
    joints = (
        Joint(name="roll", axis=(0.0, 0.0, 1.0), offset=mount, body=rod, range=(-1.57, 1.57)),
        Joint(name="pitch", axis=(-1.0, 0.0, 0.0), parent="roll", body=tipped, range=(-1.57, 1.57)),
    )
    limb = Limb(
        joints=joints,
        actuators=tuple(Motor(name=joint.name, coordinate=joint.name, limit=35.0) for joint in joints),
        tip=Tip(joint="pitch", point=(0.0, -length, 0.0)),
    )
    return FreeTail(shape=limb, mount_rotation=(0.0, math.pi / 2.0, 0.0))


def gecko_tail(mount: Vector = HERE) -> Pendulum:
    """The tail of a flat-tailed house gecko as a bar: 1.2 × 0.29 g, 54 mm, at a mount in the torso frame [m].

    Hemidactylus platyurus, as in models of its righting (Jusufi, Kawano, Libby & Full, Bioinspir. Biomim. 5, 2010).
    That the mass is spread evenly is an estimate.
    """
    return Pendulum(length=0.054, mass=1.2 * 0.29e-3, mount=mount)
