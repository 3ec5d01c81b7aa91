"""Derivatives of the equations of motion."""
