"""Rigid contact: points that touch the ground, joints at their stops, and the impulses between."""
