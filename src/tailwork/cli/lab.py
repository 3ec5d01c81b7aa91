"""`tailwork lab`: a page on this machine where one tries tails on a robot."""

from __future__ import annotations

import argparse
import threading

from rich.console import Console

from tailwork.cli.inputs import (
    PAPER_ROBOT,
    ROBOT_HELP,
    add_import_options,
    import_options,
    named_robot,
    warn_postures,
)
from tailwork.cli.terminal import show_page, wide_console
from tailwork.errors import ArgumentError, check_known
from tailwork.robots import Robot
from tailwork.robots.tails.fit import NAMED, with_named_tail

HOST, PORT = "127.0.0.1", 8686


def add_lab(command: argparse.ArgumentParser) -> None:
    """The command and its options."""
    command.description = (
        "Opens a page on this machine: choose a robot, one or two tails, their design and a motion; run, "
        "and see both robots move, with plots and measures. Ctrl-C closes the lab."
    )
    command.add_argument("robot", nargs="?", default=PAPER_ROBOT, help=f"{ROBOT_HELP} (default {PAPER_ROBOT})")
    command.add_argument("--tail", metavar="KIND[,KIND]", help=f"one tail or two: own, {', '.join(NAMED)}")
    command.add_argument(
        "--host", default=HOST, help=f"address at which to listen (default {HOST}: nobody but this machine)"
    )
    command.add_argument("--port", type=int, default=PORT, help=f"port (default {PORT}; 0 for any that is free)")
    command.add_argument("--no-browser", action="store_true", help="only print the address")
    add_import_options(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Open the lab until it is interrupted."""
    Console(stderr=True).print("opening the lab", style="dim")  # what it imports takes some seconds
    from tailwork.lab.choice import first_choice  # slow to import, and needed here only
    from tailwork.lab.server import open_lab

    robot, tails = lab_inputs(options)

    console = wide_console()
    with open_lab(first_choice(robot, tails), options.host, options.port) as lab:
        lab.get_ready()
        show_page(console, lab.address, not options.no_browser)
        console.print("the lab is open; Ctrl-C closes it", style="dim")
        try:
            wait()
        except KeyboardInterrupt:
            console.print("closing")
    return 0


def lab_inputs(options: argparse.Namespace) -> tuple[Robot, list[str]]:
    """The robot, and the names of its tails; none: those that the lab starts with."""
    robot = named_robot(options.robot, import_options(options))
    tails = [] if options.tail is None else options.tail.split(",")
    if len(tails) > 2:
        raise ArgumentError("--tail", options.tail, "one tail or two")
    for tail in tails:
        check_known("--tail", [tail], ("own", *NAMED), "tail")
        with_named_tail(robot, tail)
    warn_postures([robot])
    return robot, tails


def wait() -> None:
    """Until Ctrl-C."""
    threading.Event().wait()
