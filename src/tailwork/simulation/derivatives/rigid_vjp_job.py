"""Rounds on rigid ground and their derivatives as the driver takes them; see `derivatives.rigid_vjp_stepping`."""

from __future__ import annotations

from tailwork.kernels.language import Ints, Lanes, Reals, Struct
from tailwork.simulation.contact.rigid_stepping import RigidJob
from tailwork.simulation.integrate.compiled import LaneKernel

TOGETHER, EDGE, BARELY, SHARED = 0, 1, 2, 3
"""Where derivatives are those of one side only: contacts that close together; sticking that is about to slip, or
slipping about to stick; contacts that only just bear load or are about to. And: load shared in no certain way."""
KINDS = 4
KEPT, TASK = 0, 1
"""Of `now`: how many rounds are kept, and what is to be done next, one of …"""
BEGIN, KEEP, TURN, PULL, END = 0, 1, 2, 3, 4
STEP_OVER, RUN_OVER = 1, 2
"""What ends with a round."""


class LaneProduct(Struct):
    """Kernels of a graph's vjp (see `derivatives.products`), and its numbers for the designs in the lanes."""

    handing: LaneKernel
    main: LaneKernel
    design: LaneKernel
    handed: int  # numbers that the part of the graph that depends on the design alone hands over; −1: there is no graph
    numbers: Reals  # of the design, a row a run
    numbers_size: int
    by_numbers: Reals  # out, a row a run: derivatives by them
    own: Reals  # scratch
    passed: Reals  # scratch: what is handed over, and then derivatives by it
    constants: Lanes
    by_handed: Lanes  # added up
    inputs: Lanes
    outputs: Lanes


class RoundPlaces(Struct):
    """Where things are: in the inputs of a round, among its weights, and in what comes of its two parts."""

    n: int
    n_q: int
    known: int  # inputs: [t, x, efforts, targets]
    targets: int  # the first of them
    target_count: int
    step: int
    hit: int
    nominal: int
    last: int  # impulses of the round before
    planes: int  # the ground under each point
    plane_count: int  # of these rows: none on level ground
    pushes: int  # its own impulses
    left: int
    tries: int
    inputs: int  # how many
    size: int  # of what is kept of a round
    slips: int  # of what is kept: after the inputs
    state: int  # of what is kept, with an integrand: at the end of a nominal step
    weights: int  # inputs of the first part, after those of the round: x, …
    w_step: int
    w_left: int
    w_q: int
    records: int  # what comes of the first part
    gap: int
    speed: int
    handed: int
    late: int  # after what it hands over: weights of velocities of contacts and of frictions
    by_x: int  # what comes of the second part; t is the first
    by_targets: int
    by_step: int
    by_friction: int  # and restitution
    by_ahead: int
    by_planes: int
    by_left: int
    by_handed: int


class RoundsJob(Struct):
    """Runs on rigid ground, as many as there are lanes, their rounds, and room for the derivatives."""

    forward: RigidJob
    at: RoundPlaces
    first: LaneKernel
    first_constants: Lanes
    rounds: LaneProduct  # whose main part is the second one
    places: LaneProduct  # of the points, on a height field
    objective: LaneProduct
    integrand: LaneProduct
    room: int  # rounds that can be kept
    now: Ints  # KEPT, TASK
    kept: Lanes  # (room × size)
    steps: Ints  # (room, lanes): number of the nominal step; −1: the run has ended
    ends: Ints  # (room, lanes): what ends with the round
    run: Ints  # of each lane; −1: none
    inputs: Lanes  # inputs of the first part
    outputs: Lanes  # what comes of it, and the inputs of the second part
    pulled: Lanes  # what comes of that
    weight: Lanes  # of x, ahead, step, left
    by_end: Lanes  # derivatives of the objective by the last state
    by_ground: Lanes  # by friction and restitution, added up
    by_state: Lanes  # scratch: of the integrand
    busy: Lanes  # (1,): 1 where a lane is at work
    counted: Lanes  # (1,): 1 where a number of a state is counted in, …
    count: Ints  # … after so many nominal steps
    bends: Reals  # scratch: of the ground
    matrix: Reals  # scratch (rows, rows)
    mobility: Reals  # scratch (rows, rows)
    y: Reals  # scratch (rows)
    push: Reals  # scratch (rows): impulses of contacts that bear load
    place: Ints  # scratch (contacts): its first row among those that bear load; −1: it does not
    across: Reals  # scratch (6 × points): e, shares of u and Λ, friction, largest mobility
    values: Reals  # out, a row a run
    by_start: Reals
    by_friction: Reals  # and restitution
    sided: Reals  # (KINDS × 2): how often, and when first [s]
