"""Simulation: the equations of motion integrated in compiled code."""
