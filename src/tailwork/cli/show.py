"""`tailwork show`: a robot at a glance."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.columns import Columns
from rich.console import Console
from rich.table import Table

from tailwork.cli.choose import add_choice, chosen_robot
from tailwork.model import Model
from tailwork.model.summary import Standing, limb_masses, pinnable, standing, total_mass
from tailwork.robots import Robot


def add_show(commands: Any) -> None:
    """The command and its options."""
    command = commands.add_parser("show", help="print a summary of a robot")
    add_choice(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print bodies, coordinates, actuators and the state of rest."""
    robot = chosen_robot(options)
    console = Console(highlight=False)
    legs = pinnable(robot)
    model = Model(robot, legs or "none")
    size = len(model.velocity_names)
    feet = f"{len(legs)} feet pinned" if legs else "no foot pinned"
    console.rule(f"[bold]{robot.name}[/]  {total_mass(robot):.4g} kg, {size} degrees of freedom, {feet}", align="left")
    console.print(_bodies(robot))
    if not legs:
        console.print(f"coordinates: {_wrapped(model.coordinate_names)}")
        console.print("[dim]No leg has a closed form to pin its foot: it flies, and no torques hold it at rest.[/]")
        return 0
    rest = standing(model)
    console.print(Columns([_coordinates(model, rest), _actuators(model, rest), _feet(model, rest)], padding=(0, 4)))
    console.print(_conditions(model, rest))
    console.print()
    return 0


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))


def _bodies(robot: Robot) -> Table:
    table = _table("Bodies")
    table.add_column("limb", style="bold")
    for column in ("joints", "bodies", "mass [kg]"):
        table.add_column(column, justify="right")
    table.add_column("hinges")
    table.add_row("torso", "", "1", f"{float(robot.torso.body().mass):.4g}", "")
    masses = limb_masses(robot)
    for name, limb in robot.limbs().items():
        bodies = sum(joint.body is not None for joint in limb.joints)
        hinges = [joint.name for joint in limb.joints]
        table.add_row(name, str(len(hinges)), str(bodies), f"{masses[name]:.4g}", _wrapped(hinges))
    return table


def _coordinates(model: Model, rest: Standing) -> Table:
    table = _table("Standing at")
    table.add_column("coordinate", style="bold")
    table.add_column("", justify="right")
    for name, value in zip(model.coordinate_names, rest.q, strict=True):
        table.add_row(name, f"{value:.3f} m" if name in ("x", "y", "z") else f"{np.degrees(value):.1f}°")
    for name in model.foot_names:
        for joint in model.layout.limbs[name].joints:
            table.add_row(f"[dim]{name}.{joint.name}[/]", f"[dim]{np.degrees(rest.angles[f'{name}.{joint.name}']):.1f}°[/]")
    return table


def _actuators(model: Model, rest: Standing) -> Table:
    table = _table("Static torques")
    table.add_column("actuator", style="bold")
    table.add_column("effort", justify="right")
    for name, unit, effort in zip(model.actuator_names, model.actuator_units, rest.allocation.efforts, strict=True):
        table.add_row(name, f"{_tidy(effort):.3f} {unit}")
    return table


def _feet(model: Model, rest: Standing) -> Table:
    table = _table("Foot forces [N]")
    table.add_column("foot", style="bold")
    for axis in "xyz":
        table.add_column(axis, justify="right")
    for name, force in zip(model.foot_names, rest.foot_forces, strict=True):
        table.add_row(name, *(f"{_tidy(x):.2f}" for x in force))
    return table


def _conditions(model: Model, rest: Standing) -> str:
    lines = [
        f"condition numbers: mass matrix {rest.mass_condition:.3g}, actuation {float(rest.allocation.condition):.3g}"
    ]
    if rest.chosen_condition is not None:
        said = "singular" if rest.chosen_condition > 1e12 else f"{rest.chosen_condition:.3g}"
        lines[0] += f", the eight actuators of the 2018 paper {said}"
    if not rest.held:
        column = int(np.abs(rest.allocation.residual).argmax())
        lines.append(
            f"[dim]The actuators cannot hold this posture exactly: {rest.allocation.residual[column]:.3g} is missing on "
            f"{model.velocity_names[column].removesuffix(' rate')}; a sprung tail sags to where its springs hold it.[/]"
        )
    return "\n".join(lines)


def _tidy(x: float) -> float:
    """No minus sign on what is only rounding."""
    return 0.0 if abs(x) < 5e-4 else float(x)


def _wrapped(names: Any, most: int = 8) -> str:
    listed = list(names)
    if len(listed) <= most:
        return " ".join(listed)
    return " ".join([*listed[: most - 2], "…", listed[-1]])
