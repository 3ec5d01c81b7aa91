"""Efforts of actuators for a motion: of least norm, or within limits of motors, cables and feet."""
