"""Sweeps: one scenario with many designs of a robot."""
