"""Compliant contact: impedance of the ground, and a step of the linearly implicit Euler method on it."""
