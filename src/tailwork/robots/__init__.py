"""Robots: a torso and limbs, described once, in SI units."""

from tailwork.robots.presets.biswal import biswal
from tailwork.robots.presets.blaberus import blaberus
from tailwork.robots.presets.liu2018 import liu2018
from tailwork.robots.presets.liu2020 import liu2020
from tailwork.robots.tails import pendulum, r3, usrt

__all__ = ["biswal", "blaberus", "liu2018", "liu2020", "pendulum", "r3", "usrt"]
