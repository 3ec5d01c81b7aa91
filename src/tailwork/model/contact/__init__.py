"""Rigid contact of a state: the contact problem and its solvers, impacts and forces."""
