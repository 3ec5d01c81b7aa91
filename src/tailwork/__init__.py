"""Whole-body dynamics of legged robots with tails."""
