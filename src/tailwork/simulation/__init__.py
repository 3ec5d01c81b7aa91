"""Simulation: the equations of motion integrated in compiled code."""

from typing import TYPE_CHECKING

from tailwork.control.profiles import Pulse, pulse
from tailwork.lazy import lazily
from tailwork.simulation.contact.ground import CompliantGround, HeightField, RigidGround
from tailwork.simulation.events import (
    Event,
    FootNearHip,
    FootPulls,
    FootSlips,
    JointRange,
    JointSpeed,
    Lands,
    LegFolded,
    LegStraight,
    PassesThrough,
    When,
)
from tailwork.simulation.forces import Force
from tailwork.simulation.initial import Standing, Struck
from tailwork.simulation.options import Options
from tailwork.simulation.problem import Controller, Problem
from tailwork.simulation.run import Contact, Run, load_run
from tailwork.simulation.simulate import simulate
from tailwork.simulation.stopping import Stopped

if TYPE_CHECKING:
    from tailwork.simulation.batch.batch import Batch, simulate_batch
    from tailwork.simulation.batch.chunk import Chunk
    from tailwork.simulation.derivatives.gradient import Gradient, Gradients, gradient, gradients
    from tailwork.simulation.derivatives.sensitivities import Sensitivities, sensitivities
    from tailwork.simulation.event_driven.periodic import PeriodicGait, periodic_gait
    from tailwork.simulation.event_driven.strides import Stride, stride

__getattr__ = lazily(
    __name__,
    {
        "batch.batch": ("Batch", "simulate_batch"),
        "batch.chunk": ("Chunk",),
        "derivatives.gradient": ("Gradient", "Gradients", "gradient", "gradients"),
        "derivatives.sensitivities": ("Sensitivities", "sensitivities"),
        "event_driven.periodic": ("PeriodicGait", "periodic_gait"),
        "event_driven.strides": ("Stride", "stride"),
    },
)

__all__ = [
    "Batch",
    "Chunk",
    "CompliantGround",
    "Contact",
    "Controller",
    "Event",
    "FootNearHip",
    "FootPulls",
    "FootSlips",
    "Force",
    "Gradient",
    "Gradients",
    "HeightField",
    "JointRange",
    "JointSpeed",
    "Lands",
    "LegFolded",
    "LegStraight",
    "Options",
    "PassesThrough",
    "PeriodicGait",
    "Problem",
    "Pulse",
    "RigidGround",
    "Run",
    "Sensitivities",
    "Standing",
    "Stopped",
    "Stride",
    "Struck",
    "When",
    "gradient",
    "gradients",
    "load_run",
    "periodic_gait",
    "pulse",
    "sensitivities",
    "simulate",
    "simulate_batch",
    "stride",
]
