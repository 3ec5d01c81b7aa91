"""Simulation: the equations of motion integrated in compiled code."""

from tailwork.simulation.batch import Batch, simulate_batch
from tailwork.simulation.chunk import Chunk
from tailwork.simulation.contact.ground import CompliantGround, HeightField, RigidGround
from tailwork.simulation.derivatives.gradient import Gradient, Gradients, gradient, gradients
from tailwork.simulation.derivatives.sensitivities import Sensitivities, sensitivities
from tailwork.simulation.event_driven.periodic import PeriodicGait, Stride, periodic_gait, stride
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
from tailwork.simulation.forces import Force, Pulse, pulse
from tailwork.simulation.initial import Standing, Struck
from tailwork.simulation.options import Options
from tailwork.simulation.problem import Controller, Problem
from tailwork.simulation.run import Contact, Run, Stopped, load_run
from tailwork.simulation.simulate import simulate

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
