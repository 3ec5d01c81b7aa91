"""What the driver from event to event works on: a run, where it stands, and room for what it writes down."""

from __future__ import annotations

from tailwork.kernels.language import Ints, Reals, Struct
from tailwork.simulation.event_driven.constrained import ContactState
from tailwork.simulation.event_driven.impacts import Touching
from tailwork.simulation.integrate.compiled import LaneKernel, Method

GUARDS = 3
"""Of each contact."""
HEAD = 8
"""Numbers of an event before those of its contacts."""
TOGETHER = 1e-11
"""Share of a step within which guards fall together: the first of them counts, so that a point whose force ends lifts
and does not begin to slip."""
SHORTEST = 1e-13
"""A shorter way to an event is none; steps that would have to be shorter are given up [s]."""
T, H, END, OFF = 0, 1, 2, 3
"""Of the clock: time, step to try next, end of the span [s]; farthest that closed contacts were off before they were
closed again [m]."""
STEPS, REJECTED, EVENTS, SAMPLED, HAPPENED, MOST, STATUS, STOPPED = 0, 1, 2, 3, 4, 5, 6, 7
"""Of the counts: steps and events so far, samples taken, watched quantities that fell below zero, most steps, and how
the run ended."""


class Quadrature(Struct):
    """What is integrated beside the state, by the same weights: impulses of all rows, of points in the inertial frame
    [N s], work on each contact [J], of the joints and of outside forces [J]."""

    size: int
    total: Reals  # until now
    rates: Reals  # (stages, size)
    first: Reals  # rates where the step begins


class Log(Struct):
    """Room for what is written down."""

    events: int  # there is room for
    event_size: int
    rows: Reals  # of events: time [s], contact, what, impact, loss [J], contacts that closed, residual [m/s], steps so
    # far; modes after it; impulses; state before; state after
    happened: Reals  # of watched quantities: time [s], number
    happenings: int
    sample_times: Reals  # [s]
    samples: int
    sample_size: int
    sampled: Reals  # time, state, held, planes, quadrature, forces, modes, x-dot
    steps: int  # there is room for; 0: they are not kept
    step_size: int
    kept: Reals  # of steps: time, length [s], state, stages, modes, directions, forces of the stages


class RunJob(Struct):
    """A run, and where it stands."""

    touching: Touching
    contacts: ContactState
    method: Method
    rtol: float
    atol: float
    longest: float  # step [s]
    most_events: int  # within `window`
    window: float  # [s]
    pause: int  # steps after which it returns
    watched: int
    watch: LaneKernel
    watch_constants: Reals
    stops: Ints
    through: Ints  # by contact: watched quantity below zero while it passes through the ground; −1: none
    lands: Ints  # by contact: what is watched is that it lands; −1: it is not
    clock: Reals
    counts: Ints
    x: Reals
    first: Reals
    new: Reals
    error: Reals
    u: Reals  # (stages, n)
    point: Reals
    quadrature: Quadrature
    log: Log
    least: Reals  # by contact: gap that it may fall to before it touches [m or rad]
    below: Ints  # by watched quantity: whether it is below zero, which has been written down
    values: Reals  # of guards and watched quantities, where a step begins
    values_new: Reals
    probe: Reals
    falling: Reals  # normal velocities where a step begins [m/s]
    falling_new: Reals
    scratch: Reals
    was_free: Ints
    pushed: Reals  # (stages, rows): forces of the stages, in the contacts' frames
    pushed_first: Reals  # (rows,): where the step begins
    impulse: Reals  # of an impact, as the quadrature counts it
