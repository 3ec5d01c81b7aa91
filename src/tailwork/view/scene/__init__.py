"""Runs as scenes: what every picture, page and video is made from. Imports no library that draws."""

from tailwork.view.scene.build import scene_of, scenes_of, still_scene
from tailwork.view.scene.scene import (
    Ball,
    Bar,
    Box,
    Caption,
    ContactPhases,
    Curve,
    ForceArrow,
    Marker,
    Plot,
    Scene,
    SceneFrame,
    Solid,
    Surface,
    Terrain,
    Thread,
)

__all__ = [
    "Ball",
    "Bar",
    "Box",
    "Caption",
    "ContactPhases",
    "Curve",
    "ForceArrow",
    "Marker",
    "Plot",
    "Scene",
    "SceneFrame",
    "Solid",
    "Surface",
    "Terrain",
    "Thread",
    "scene_of",
    "scenes_of",
    "still_scene",
]
