"""Drawings of a robot by matplotlib."""
