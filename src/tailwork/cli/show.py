"""`tailwork robots`: the presets; `tailwork show`: a robot at a glance."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tailwork.cli.inputs import add_robot, robot_of
from tailwork.cli.terminal import plain_table, print_whole, wide_console
from tailwork.control.posture import posture_warnings
from tailwork.errors import StateError
from tailwork.format import fixed, minus
from tailwork.model import Model
from tailwork.model.summary import StandingSummary, pinnable, standing
from tailwork.robots import Robot, Tail, presets
from tailwork.robots.tails.fit import tail_text

TORSO = 6
"""Coordinates of the torso, which come first."""


def add_robots(command: argparse.ArgumentParser) -> None:
    """The command."""
    command.set_defaults(run=run_robots)


def run_robots(options: argparse.Namespace) -> int:
    """Print a table of the presets."""
    table = plain_table("Presets", "name", "mass [kg]", "limbs", "joints")
    table.add_column("what it is")
    for name, make in presets().items():
        robot = make()
        limbs = robot.limbs()
        summary = " ".join((inspect.getdoc(make) or "").split("\n\n")[0].split())
        joints = sum(len(limb.joints) for limb in limbs.values())
        table.add_row(name, f"{robot.mass():.4g}", str(len(limbs)), str(joints), summary)
    Console().print(table)
    return 0


def add_show(command: argparse.ArgumentParser) -> None:
    """The command and its options."""
    add_robot(command)
    command.set_defaults(run=run_show)


def run_show(options: argparse.Namespace) -> int:
    """Print bodies, coordinates, actuators and the state of rest."""
    robot = robot_of(options)
    console = wide_console()
    legs = pinnable(robot)
    model = Model(robot, legs or "none")
    feet = f"{len(legs)} feet pinned" if legs else "no foot pinned"
    freedom = f"{len(model.velocity_names)} degrees of freedom"
    headline = f"{robot.mass():.4g} kg, {freedom}, {feet}, g {float(robot.gravity):.4g} m/s²"
    console.rule(Text.assemble((robot.name, "bold"), f"  {headline}"), align="left", style="dim")
    console.print(_bodies(robot))
    for name, part in robot.parts.items():
        if isinstance(part, Tail):
            place = ", ".join(f"{x:.3g}" for x in robot.limbs()[name].joints[0].offset)
            console.print(f"\n{name}: {tail_text(part)}, mounted at ({minus(place)}) m")
    if not legs:
        console.print(
            f"\ncoordinates  {_shortened(model.coordinate_names)}\nactuators    {_shortened(model.actuator_names)}"
        )
        text = "No limb has a foot: the robot flies."
        if robot.feet():
            text = "No leg has a closed form (three hinges, the last two parallel): no foot is pinned here. "
            text += "A Model pins legs of three or more hinges by their names: Model(robot, stance=[…])."
        console.print(f"\n{text}\n", style="dim")
        return 0
    x, y, z = (float(value) for value in robot.stand)
    console.print(f"\nStanding with the torso upright at x {x:.3f}, y {y:.3f}, z {z:.3f} m")
    warnings = posture_warnings(robot)
    for text in warnings:
        console.print(f"warning: {text}", style="yellow", soft_wrap=True)
    try:
        rest = standing(model)
    except StateError:
        if not warnings:
            raise
        return 0  # a posture that cannot be: there is no more to say of it
    for note in _notes(model, rest):
        console.print(note, style="yellow")
    tables = [_legs(model, rest), *([_others(model, rest)] if len(model.coordinate_names) > TORSO else [])]
    for table in tables:
        console.print()
        print_whole(console, table)
    console.print(f"\n{_conditions(model, rest)}\n")
    return 0


def _bodies(robot: Robot) -> Table:
    table = plain_table("Bodies", "limb", "joints", "bodies", "mass [kg]")
    table.add_column("hinges", overflow="fold")
    masses = robot.masses()
    table.add_row("torso", "", "1", f"{masses['torso']:.4g}", "")
    for name, limb in robot.limbs().items():
        bodies = sum(joint.body is not None for joint in limb.joints)
        hinges = [joint.name for joint in limb.joints]
        table.add_row(name, str(len(hinges)), str(bodies), f"{masses[name]:.4g}", _shortened(hinges, 6))
    return table


def _legs(model: Model, rest: StandingSummary) -> Table:
    """Stance legs: posture, static torques and foot forces, a row each."""
    joints = [joint.name for joint in model.layout.limbs[model.foot_names[0]].joints]
    table = plain_table(
        "Joint angles [°], smallest torques (minimum norm) [N m], ground forces [N]", "leg",
        *joints, *(f"torque {joint}" for joint in joints), "force x", "y", "z",
    )  # fmt: skip
    efforts = dict(zip(model.actuator_names, rest.allocation.efforts, strict=True))
    for name, force in zip(model.foot_names, rest.foot_forces, strict=True):
        angles = [fixed(float(np.degrees(rest.angles[f"{name}.{joint}"])), 1) for joint in joints]
        torques = [fixed(efforts[f"{name}.{joint}"], 3) for joint in joints]
        table.add_row(name, *angles, *torques, *(fixed(x, 2) for x in force))
    return table


def _others(model: Model, rest: StandingSummary) -> Table:
    """The limbs with coordinates of their own, with their actuators."""
    table = plain_table("Other limbs", "coordinate", "value")
    table.add_column("actuator")
    table.add_column("effort", justify="right")
    stance = tuple(f"{name}." for name in model.foot_names)
    coordinates = [
        (name, f"{fixed(np.degrees(value), 1)}°")
        for name, value in zip(model.coordinate_names[TORSO:], rest.q[TORSO:], strict=True)
    ]
    actuators = [
        (name, f"{fixed(effort, 3)} {unit}")
        for name, unit, effort in zip(model.actuator_names, model.actuator_units, rest.allocation.efforts, strict=True)
        if not name.startswith(stance)
    ]
    for left, right in zip_longest(coordinates, actuators, fillvalue=("", "")):
        table.add_row(*left, *right)
    return table


def _notes(model: Model, rest: StandingSummary) -> list[str]:
    """What is not as one would expect of a robot that stands."""
    notes = []
    if not rest.held:
        column = int(np.abs(rest.allocation.residual).argmax())
        name, missing = model.velocity_names[column].removesuffix(" rate"), rest.allocation.residual[column]
        unit = "N" if column < 3 else "N m"
        notes.append(
            f"The actuators cannot hold this posture: {missing:.3g} {unit} is missing on {name}; it will move."
        )
    feet = [limb.foot.place[2] for name in model.foot_names if (limb := model.layout.limbs[name]).foot is not None]
    if rest.q[2] <= max(feet):
        notes.append("The torso is not above the feet: is `stand`, the place of the torso when standing, set?")
    return notes


def _conditions(model: Model, rest: StandingSummary) -> str:
    actuation = float(rest.allocation.condition)
    text = f"condition numbers: mass matrix {rest.mass_condition:.3g}, actuation {actuation:.3g}"
    if rest.chosen_condition is not None and model.robot.name == "liu2018":
        chosen = "singular here" if rest.chosen_condition > 1e12 else f"{rest.chosen_condition:.3g}"
        text += f", the eight actuators of the 2018 paper {chosen}"
    return text


def _shortened(names: Sequence[str], most: int = 10) -> str:
    if len(names) <= most:
        return " ".join(names)
    return " ".join([*names[: most - 2], "…", names[-1]])
