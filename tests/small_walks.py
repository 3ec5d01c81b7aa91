"""The studies of walking robots, with fewer strides and samples: what their pictures and reports are tried on."""

from __future__ import annotations

from functools import cache

from tailwork.control.gait.foot_kinematics import posed
from tailwork.papers.biswal import dh_leg
from tailwork.papers.biswal import experiments as biswal
from tailwork.papers.claims import Claim
from tailwork.papers.nelson_quinn import experiments as nelson_quinn
from tailwork.robots import blaberus
from tailwork.studies.compare.ground_stance import least_torques, standing_model


@cache
def small_nelson_quinn() -> nelson_quinn.NelsonQuinn:
    """All rows of Table 1, a coarse sweep, three strides of which the first is left out."""
    model = standing_model(blaberus())
    walk = nelson_quinn.simulate_walk(3, samples_a_stride=100)
    found = nelson_quinn.reactions(walk, nelson_quinn.walking_gait(), settling=1)
    return nelson_quinn.NelsonQuinn(
        rows=tuple(nelson_quinn.standing(k, model=model) for k in nelson_quinn.STIFFNESSES),
        sweep=tuple(nelson_quinn.standing(k, model=model) for k in nelson_quinn.SWEEP[::8]),
        stiff_ground=tuple(nelson_quinn.standing(k, 1e6, model) for k in nelson_quinn.SWEEP[::8]),
        least=least_torques(model, posed(model)),
        settled=nelson_quinn.simulate_settling(nelson_quinn.STIFFNESSES[2], duration=0.01),
        walk=walk,
        reactions=found,
        damped={6.0: found},
        modes=nelson_quinn.body_modes(),
        claims=(Claim("a number", "1", "2", "read so"),),
    )


@cache
def small_biswal() -> biswal.Biswal:
    """The whole leg; six strides of the trot."""
    return biswal.Biswal(
        leg=dh_leg.reproduce_dh_leg(),
        trot=biswal.measure_trot(biswal.simulate_trot(6, samples_a_stride=100)),
        claims=(Claim("a number", "1", "2", "read so"),),
    )
