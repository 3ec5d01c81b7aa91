"""Biswal & Mohanty: equations, experiments, report."""
