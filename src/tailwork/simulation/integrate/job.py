"""What the driver of runs is given, and where each of its lanes stands."""

from __future__ import annotations

from tailwork.kernels.language import Ints, Lanes, Reals, Struct
from tailwork.simulation.integrate.compiled import LaneKernel
from tailwork.simulation.integrate.steps import Stepping

NEW, JUMPED = 1, 2
"""Why a lane is fresh: it has taken a run, or the equations of its run have jumped."""


class Runs(Struct):
    """What differs between runs, flat, a row each, and what becomes of them."""

    states: Reals
    control_inputs: Reals
    held: int  # how many control inputs
    derivative: Reals  # parameters of the kernels
    derivative_size: int
    events: Reals
    events_size: int
    linear: Reals
    linear_size: int
    sample_times: Reals  # [s], a row each or one for all
    samples: int  # in a row
    own_samples: int  # 1: each run has its row; 0: one for all
    breaks: Reals  # [s], a row each: where its equations jump, as the time just before and the time itself, in order
    jumps: int  # in a row
    status: Ints
    event: Ints  # that stopped it; −1: none
    ended: Reals  # [s]
    final: Reals  # states
    steps: Ints
    rejected: Ints
    sampled: Reals  # (runs, samples, n); NaN after the end
    power: Reals  # parameters of the kernel of a stiff method that is balanced
    power_size: int
    work: Reals  # done in each run [J]
    fastest: Reals  # (runs, 2 + n): time [s], work so far [J] and state at the end of the fastest step


class StepLog(Struct):
    """Room for the steps and events of a single run."""

    steps: int  # 0: they are not kept
    events: int
    times: Reals  # [s], one more than steps
    states: Reals
    stages: Reals  # (steps, stages, n)
    lengths: Reals  # [s], of the steps that the stages belong to; the last may be cut short by an event
    event_times: Reals  # [s]
    event_numbers: Ints


class Job(Struct):
    """Runs, how they are integrated, and where each lane stands."""

    step: Stepping
    runs: Runs
    kept: StepLog
    rtol: float
    atol: float
    fixed: bool  # whether steps are
    span: Reals  # START, END and FIRST step [s]
    pause: int  # steps after which it returns
    watched: int  # how many quantities
    watch: LaneKernel  # → values that are to stay positive
    stops: Ints  # which of them end a run
    queue: Ints
    run: Ints  # of each lane; −1: none
    sampled: Ints  # samples taken by each lane
    speeds: Reals  # of each lane: square of the greatest so far
    still: int  # numbers of a state that are no velocities
    fresh: Ints  # lanes at the start of a run (NEW), or where its equations have jumped (JUMPED)
    last: Ints  # lanes in the last step of a run, or before a jump
    until: Reals  # where that step of each lane ends [s]
    jumped: Ints  # jumps that are behind each lane
    event_constants: Lanes
    values: Lanes
    values_new: Lanes
    first_new: Lanes  # derivatives at new points
    errors: Lanes  # see `look_at_errors`
    own: Reals  # scratch: constants of one design
    one: Reals  # scratch: inputs of one lane
    probe: Reals  # scratch: values of one lane
    point: Reals  # scratch: a state, and the work
