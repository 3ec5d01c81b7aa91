"""The vector-Jacobian product of a round on rigid ground, as kernels; see `derivatives.rigid_vjp_stepping`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate

from tailwork.algebra.expression import Expression, Tape
from tailwork.algebra.vectors import array
from tailwork.kernels.graph import cut, finished, split
from tailwork.kernels.kernel import Kernel
from tailwork.kernels.vjp import replayed
from tailwork.kernels.vjp import vjp as vjp_graph
from tailwork.mechanics.rigid.step import RoundEnd
from tailwork.model.contact.gauss_seidel import contact_sizes, solver_rows
from tailwork.simulation.contact.rigid_kernels import known_rows, recorded_round, state_of
from tailwork.simulation.derivatives.products import Products, vjp_of
from tailwork.simulation.system import System


@dataclass(frozen=True)
class RoundProducts:
    """A round pulled back in two parts. Between them, weights of contact velocities follow from those of impulses."""

    first: Kernel  # [inputs of a round, weights] → what `first_rows` lists, then what it hands over
    products: Products  # whose main part takes [handed over, weights of contact velocities and frictions] → derivatives


def weight_rows(system: System) -> dict[str, int]:
    """What a round leaves to the next or to the end, by name: how many rows."""
    return {"x": system.size, "ahead": len(system.free_v), "step": 1, "left": 1, "q": len(system.free_q)}


def first_rows(system: System) -> dict[str, int]:
    """Of the first part: weights of impulses, the contacts' records, their gaps and their speeds."""
    sizes = contact_sizes(system.model.layout)
    return {"impulses": sum(sizes), "records": solver_rows(system.model.layout), "gap": len(sizes), "speed": len(sizes)}


def input_rows(system: System, field: bool) -> dict[str, int]:
    """Inputs of a round, by name: how many rows; `field`: the ground is a height field."""
    targets, rows = 2 * len(system.targets), sum(contact_sizes(system.model.layout))
    known = known_rows(system, field)
    late = {"pushes": rows, "w": 6, "left": 1, "tries": 1}
    return {"t": 1, "x": system.size, "efforts": system.efforts, "targets": targets, **known, **late}


def starts(rows: dict[str, int], first: int = 0) -> dict[str, int]:
    """Where rows by name begin."""
    return dict(zip(rows, accumulate(rows.values(), initial=first), strict=False))


BY = ("t", "x", "targets", "step", "friction", "restitution", "ahead", "planes", "left")
"""Inputs that a round is differentiated by, in this order."""


def round_vjp(system: System, field: bool) -> RoundProducts:
    """Compiled once for all systems of this structure."""
    return system.once(("round vjp", field), lambda: _made(system, field))


def places_vjp(system: System) -> Products:
    """Places of the contact points, by t and x."""

    def make() -> Products:
        graph, names = system.graphs("feet")["feet"]
        places = graph.outputs[: 3 * len(system.model.layout.contact_points)]
        return vjp_of((replace(graph, outputs=places), names), [0, *system.state_inputs])

    return system.once("places vjp", make)


def _made(system: System, field: bool) -> RoundProducts:
    one = recorded_round(system, field)
    rows, problem = input_rows(system, field), one.found.problem
    assert sum(rows.values()) == one.count
    at = starts(rows)
    pushes, w = one.end.impulses, problem.torso_response(one.end.impulses)
    end = one.finished(RoundEnd(pushes, w, one.end.left, one.end.tries))
    state = [
        *state_of(system, end.middle, end.v), *(end.ahead[k] for k in system.free_v), *end.clock[:2],
        *(end.q[k] for k in system.free_q),
    ]  # fmt: skip
    velocities = [problem.velocity(i, array(free), pushes, w) for i, free in enumerate(one.found.free)]
    contacts = [*(u for velocity in velocities for u in velocity), *one.given.friction]
    seen = [
        *one.records,
        *(touch.gap for touch in problem.contacts),
        *(touch.velocity[-1] for touch in problem.contacts),
    ]
    names, tape = one.parameters, one.symbols.tape
    prelude, main = split(finished(tape, [*state, *contacts, *seen], one.count, len(names)))
    by = [at[name] + k for name in BY for k in range(rows[name])]
    weights, late = len(state), len(contacts)
    by_pushes = range(at["pushes"], at["pushes"] + rows["pushes"])
    whole = vjp_graph(main, by, weighted=weights + late)
    early = vjp_graph(main, by_pushes, values=True, weighted=weights)
    both, count = Tape(), one.count + weights
    places = replayed(early, both, late)
    before = [Expression(both, places[k]) for k in early.outputs]
    pushed, shown = before[: len(by_pushes)], before[-len(seen) :]
    places = replayed(whole, both, 0)
    after = [Expression(both, places[k]) for k in whole.outputs]
    halves = cut(both, [*pushed, *shown], after, count, count + late, main.parameters)
    name = system.model.robot.name
    kernels = Kernel(prelude, name), Kernel(halves.second, name), Kernel(vjp_graph(prelude), name)
    return RoundProducts(Kernel(halves.first, name), Products(*kernels, names, main.parameters, len(by), halves.handed))
