"""Robots: a torso and limbs, described once, in SI units."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tailwork.lazy import lazily
from tailwork.robots.air import Air, Drag, TailDrag, slender_drag
from tailwork.robots.body import Body, bar, point_mass
from tailwork.robots.io.kinds import register
from tailwork.robots.io.load import import_robot, load
from tailwork.robots.legs.dh import DhChain, DhRow, dh_frames, dh_transform
from tailwork.robots.legs.insect import InsectLeg
from tailwork.robots.legs.offset_leg import OffsetLeg
from tailwork.robots.legs.three_hinge import ThreeHingeLegs
from tailwork.robots.limb import FORWARD_FRAMES, Cable, ContactPoint, Foot, Hole, Joint, Limb, Motor, Tip, placed
from tailwork.robots.presets.biswal import biswal
from tailwork.robots.presets.blaberus import blaberus
from tailwork.robots.presets.gecko import gecko
from tailwork.robots.presets.liu2018 import liu2018
from tailwork.robots.presets.liu2020 import liu2020
from tailwork.robots.presets.quadrupeds import a1, anymal_c, go2, solo12, spot
from tailwork.robots.presets.spirit40 import spirit40
from tailwork.robots.presets.tails import cheetah_tail, gecko_tail, spirit_tail
from tailwork.robots.robot import FreeLimb, PlateTorso, Robot, Stops, Torso
from tailwork.robots.shapes import Shape
from tailwork.robots.springs import BendingSpring, JointSpring, PointSpring, StopSpring
from tailwork.robots.tails import (
    R3,
    Articulated,
    Continuum,
    FreeTail,
    Pendulum,
    ReactionWheel,
    Tail,
    TwoLink,
    Usrt,
    pendulum,
    r3,
    tail_name,
    usrt,
)
from tailwork.robots.variable_stiffness import VariableStiffness

if TYPE_CHECKING:
    from tailwork.robots.io.from_tree import Imported

__getattr__ = lazily(__name__, {"io.from_tree": ("Imported",)})

__all__ = [
    "FORWARD_FRAMES", "R3", "Air", "Articulated", "BendingSpring", "Body", "Cable", "ContactPoint", "Continuum",
    "DhChain", "DhRow", "Drag", "Foot", "FreeLimb", "FreeTail", "Hole", "Imported", "InsectLeg", "Joint",
    "JointSpring", "Limb", "Motor", "OffsetLeg", "Pendulum", "PlateTorso", "PointSpring", "ReactionWheel", "Robot",
    "Shape", "StopSpring", "Stops", "Tail", "TailDrag", "ThreeHingeLegs", "Tip", "Torso", "TwoLink", "Usrt",
    "VariableStiffness", "a1", "anymal_c", "bar", "biswal", "blaberus", "cheetah_tail", "dh_frames", "dh_transform",
    "gecko", "gecko_tail", "go2", "import_robot", "liu2018", "liu2020", "load", "pendulum", "placed", "point_mass",
    "presets", "r3", "register", "slender_drag", "solo12", "spirit40", "spirit_tail", "spot", "tail_name", "usrt",
]  # fmt: skip


def presets() -> dict[str, Callable[..., Robot]]:
    """Robots of the papers and real ones, by name; liu2020 takes the name of its tail."""
    papers = {"liu2018": liu2018, "liu2020": liu2020, "biswal": biswal, "blaberus": blaberus}
    real = {"go2": go2, "a1": a1, "anymal_c": anymal_c, "solo12": solo12, "spot": spot, "spirit40": spirit40}
    return papers | real
