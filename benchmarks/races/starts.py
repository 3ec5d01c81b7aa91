"""How long a first result takes, from the start of the process: with empty and with filled caches."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from time import perf_counter

HEAD = """
import tailwork
from tailwork.control import Constant, posed
from tailwork.simulation import CompliantGround
model = tailwork.Model(tailwork.robots.liu2020("pendulum"))
q = model.standing()
law = Constant(values=tuple(model.static_torques(q)))
"""
FIRST = {
    "import tailwork": "import tailwork; tailwork.Model, tailwork.load",
    "simulate": f"{HEAD}tailwork.simulate(model, q, 0.3, control=law)",
    "simulate_batch": f"{HEAD}tailwork.simulate_batch(model, q, 0.3, control=law, parameters={{'tail.mass': [1, 2]}})",
    "gradient": f"{HEAD}tailwork.gradient(model, q, 0.3, lambda end: end.coordinate('phi_z'), control=law)",
    "simulate on ground": f"""{HEAD}
ground = CompliantGround(stiffness=2e4, damping=1.0, tangential_stiffness=2e4, tangential_damping=20.0,
                         static_friction=0.8, kinetic_friction=0.6)
free = tailwork.Model(model.robot, stance="none")
tailwork.simulate(free, posed(free), 0.05, ground=ground)
""",
}  # fmt: skip
"""By what is asked for first: a program."""
MOST = {
    ("import tailwork", "warm"): 0.25, ("simulate", "cold"): 2.5, ("simulate", "warm"): 0.6,
    ("simulate_batch", "cold"): 3.0, ("gradient", "cold"): 3.0, ("simulate on ground", "cold"): 3.0,
}  # fmt: skip
"""Most seconds that we allow ourselves."""


@dataclass(frozen=True)
class FirstResult:
    """Seconds from the start of a process to its end, the best of some; Python's own start is counted in."""

    asked: str
    cold: float  # nothing cached
    warm: float  # compiled by an earlier process
    python: float  # a process that does nothing


def first_results(repeats: int) -> list[FirstResult]:
    """Time each program in processes of its own."""
    found = []
    for asked, program in FIRST.items():
        times: list[tuple[float, float, float]] = []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                times.append((_seconds(program, cache), _seconds(program, cache), _seconds("pass", cache)))
        found.append(FirstResult(asked, *(min(row[k] for row in times) for k in range(3))))
    return found


def _seconds(program: str, cache: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = perf_counter()
    subprocess.run([sys.executable, "-c", program], env=environment | {"TAILWORK_CACHE": cache}, check=True,
                   capture_output=True)  # fmt: skip
    return perf_counter() - start
