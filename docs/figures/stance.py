"""The loop of a stance leg: from the ground over torso, hip and knee to the foot."""

from __future__ import annotations

import numpy as np
import sketch
from matplotlib.figure import Figure

TILT = 9.0  # of the torso [deg]


def draw() -> Figure:
    """Seen from the right: y to the right, z up."""
    figure, (axes,) = sketch.sheet(6.4, 3.5)
    turn = np.radians(TILT)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    p = np.array([0.62, 0.44])
    hip = p + rotation @ np.array([0.27, 0.0])
    foot = np.array([0.94, 0.0])
    knee = _knee(hip, foot, 0.27)
    corners = [p + rotation @ np.array(c) for c in ((-0.3, -0.03), (0.3, -0.03), (0.3, 0.03), (-0.3, 0.03))]
    sketch.ground(axes, -0.12, 1.4, 0.0, 0.05)
    sketch.plate(axes, corners)
    sketch.bar(axes, [hip, knee], 6.0, sketch.LIGHT)
    sketch.bar(axes, [knee, foot], 5.0, sketch.LIGHT)
    s = np.zeros(2)
    sketch.named_arrow(axes, s, p, "$p$", side=0.035)
    sketch.named_arrow(axes, s, foot, "$d$", side=0.03, share=0.4)
    sketch.named_arrow(axes, p, hip, "$a$", side=0.06, share=0.45)
    sketch.named_arrow(axes, hip, knee, "$b$", side=0.035)
    sketch.named_arrow(axes, knee, foot, "$c$", side=0.035)
    sketch.arrow(axes, p, foot, sketch.FAINT, width=1.3, linestyle="--")
    sketch.text(axes, sketch.beside(0.55 * p + 0.45 * foot, -0.035, -0.02), "$e$", sketch.FAINT)
    sketch.named_arrow(
        axes, foot, sketch.beside(foot, -0.17, 0.11), "$v_e$", sketch.AXES["z"], side=0.04, share=0.9, width=1.8
    )
    for point in (hip, knee, foot):
        sketch.hinge(axes, point, 0.013)
    sketch.hinge(axes, p, 0.01, sketch.BODY_EDGE)
    for name, point, right, up in (
        ("S", s, -0.035, 0.03), ("P", p, -0.03, 0.065), ("H", hip, 0.01, 0.055), ("K", knee, 0.04, 0.0),
        ("F", foot, 0.05, 0.03),
    ):  # fmt: skip
        sketch.text(axes, sketch.beside(point, right, up), name)
    sketch.frame(axes, s, {"y": (0.16, 0.0), "z": (0.0, 0.16)}, {"y": "", "z": "$z_S$"}, 1.2)
    sketch.text(axes, (0.16, -0.028), "$y_S$", sketch.AXES["y"])
    sketch.window(axes, (-0.13, 1.41), (-0.06, 0.62))
    return figure


def _knee(hip: np.ndarray, foot: np.ndarray, length: float) -> np.ndarray:
    """Where two bars of a length meet, in front."""
    middle, along = (hip + foot) / 2, foot - hip
    across = np.array([-along[1], along[0]]) / np.linalg.norm(along)
    return middle + across * np.sqrt(length**2 - along @ along / 4)
