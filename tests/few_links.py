"""Robots whose tails have few links: the time to compile their equations grows with them."""

from __future__ import annotations

from tailwork.robots import Robot, liu2020


def few_links(tail: str, links: int = 2) -> Robot:
    """The robot of 2020 with a tail by name: of an R3 so many links of each segment, of a USRT so many in all."""
    robot = liu2020(tail)
    return robot if tail == "pendulum" else robot.with_part("tail", robot.part("tail").with_links(links))
