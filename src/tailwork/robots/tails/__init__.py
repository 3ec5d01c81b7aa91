"""Tails. A tail is data: a dataclass of dimensions that builds a limb. Calling the class describes a tail."""

from tailwork.robots.tails.articulated import Articulated
from tailwork.robots.tails.continuum import Continuum
from tailwork.robots.tails.free import FreeTail
from tailwork.robots.tails.pendulum import Pendulum
from tailwork.robots.tails.r3 import R3
from tailwork.robots.tails.reaction_wheel import ReactionWheel
from tailwork.robots.tails.tail import Adjustable, Tail, tail_name
from tailwork.robots.tails.two_link import TwoLink
from tailwork.robots.tails.usrt import Usrt

pendulum, r3, usrt = Pendulum, R3, Usrt

__all__ = [
    "R3", "Adjustable", "Articulated", "Continuum", "FreeTail", "Pendulum", "ReactionWheel", "Tail", "TwoLink", "Usrt",
    "pendulum", "r3", "tail_name", "usrt",
]  # fmt: skip
