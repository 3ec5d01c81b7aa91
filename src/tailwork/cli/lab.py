"""`tailwork lab`: a page on this machine where one tries tails on a robot."""

from __future__ import annotations

import argparse
import threading
from typing import Any

from tailwork.cli.terminal import show_page, wide_console

HOST, PORT = "127.0.0.1", 8686


def add_lab(commands: Any, what: str) -> None:
    """The command and its options."""
    command = commands.add_parser(
        "lab",
        help=what,
        description="Opens a page on this machine: choose a robot, one or two tails, their design and a motion; run, "
        "and see both robots move, with plots and measures. Ctrl-C closes the lab.",
    )
    command.add_argument(
        "--host", default=HOST, help=f"address at which to listen (default {HOST}: nobody but this machine)"
    )
    command.add_argument("--port", type=int, default=PORT, help=f"port (default {PORT}; 0 for any that is free)")
    command.add_argument("--no-browser", action="store_true", help="only print the address")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Open the lab until it is interrupted."""
    from tailwork.lab.choice import first_choice  # slow to import, and needed here only
    from tailwork.lab.server import open_lab

    console = wide_console()
    with open_lab(first_choice(), options.host, options.port) as lab:
        lab.get_ready()
        show_page(console, lab.address, not options.no_browser)
        console.print("the lab is open; Ctrl-C closes it", style="dim")
        try:
            wait()
        except KeyboardInterrupt:
            console.print("closing")
    return 0


def wait() -> None:
    """Until Ctrl-C."""
    threading.Event().wait()
