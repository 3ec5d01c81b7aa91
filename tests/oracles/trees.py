"""Random robots: a torso with one limb that branches at will."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from oracles.layout import Array
from tailwork.robots.body import Body
from tailwork.robots.limb import IDENTITY, Joint, Limb, Motor
from tailwork.robots.quantities import Matrix, Symmetric, Vector
from tailwork.robots.robot import FreeLimb, Robot, Torso
from tailwork.robots.springs import JointSpring


def random_tree(rng: np.random.Generator, bodies: int, geared: bool = False, sliders: bool = False) -> Robot:
    """A robot of a torso and `bodies` further bodies of about 1 kg and 0.3 m, on joints of one to three hinges.

    Hinge axes are any unit vectors, or axes of the frame; half of the frames are turned. Joints are listed parents
    first but not branch by branch, and coordinates in any order. Some hinges have rotors, springs and dampers. With
    `geared`, half as many coordinates move all joints together; with `sliders`, about every other joint is one.
    """
    joints: list[Joint] = []
    carriers: list[str | None] = [None]
    for k in range(bodies):
        parent = carriers[rng.integers(len(carriers))]
        axes = _axes(rng, hinges=int(rng.integers(1, 4)))
        for hinge, axis in enumerate(axes):
            name = f"hinge_{k + 1}_{hinge + 1}"
            joints.append(
                Joint(
                    name=name,
                    axis=_vector(axis),
                    parent=parent,
                    offset=_vector(rng.uniform(-0.3, 0.3, 3)) if hinge == 0 else (0.0, 0.0, 0.0),
                    rotation=_rotation(rng) if hinge == 0 else IDENTITY,
                    body=_body(rng) if hinge == len(axes) - 1 else None,
                    armature=rng.choice([0.0, 0.02]),
                )
            )
            parent = name
        carriers.append(parent)
    if sliders:
        joints = [replace(joint, motion=str(rng.choice(["hinge", "slider"]))) for joint in joints]
    return Robot(
        name=f"tree-{bodies}",
        torso=_torso(rng),
        parts={"tree": FreeLimb(limb=_limb(rng, joints, geared))},
    )


def _limb(rng: np.random.Generator, joints: list[Joint], geared: bool) -> Limb:
    names = [joint.name for joint in joints]
    coordinates = [names[k] for k in rng.permutation(len(names))]
    gearing = None
    if geared:
        coordinates = [f"gear_{k + 1}" for k in range((len(names) + 1) // 2)]
        gearing = tuple(tuple(row) for row in rng.normal(size=(len(names), len(coordinates))))
    sprung = [name for name in names if rng.random() < 0.3]
    return Limb(
        joints=tuple(joints),
        coordinates=tuple(coordinates),
        gearing=gearing,
        actuators=tuple(Motor(name=name, coordinate=name, ratio=rng.uniform(0.5, 2.0)) for name in coordinates),
        springs=tuple(
            JointSpring(
                joint=name, stiffness=rng.uniform(0, 20), rest=rng.uniform(-0.5, 0.5), damping=rng.uniform(0, 1)
            )
            for name in sprung
        ),
    )


def _torso(rng: np.random.Generator) -> Torso:
    body = _body(rng)
    return Torso(mass=body.mass, com=body.com, inertia=body.inertia)


def _body(rng: np.random.Generator) -> Body:
    return Body(mass=rng.uniform(0.5, 2.0), com=_vector(rng.uniform(-0.2, 0.2, 3)), inertia=_inertia(rng))


def _inertia(rng: np.random.Generator) -> Symmetric:
    """The inertia of a cloud of points: a body can have it."""
    spread = rng.normal(size=(3, 3)) * 0.05
    moments = spread @ spread.T
    tensor = np.trace(moments) * np.eye(3) - moments
    xx, yy, zz = (float(x) for x in np.diag(tensor))
    return (xx, yy, zz, float(tensor[0, 1]), float(tensor[0, 2]), float(tensor[1, 2]))


def _axes(rng: np.random.Generator, hinges: int) -> list[Array]:
    """Unit vectors that are far from dependent: hinges without a body between them must not work alike."""
    while True:
        rows = [np.eye(3)[rng.integers(3)] if rng.random() < 0.4 else rng.normal(size=3) for _ in range(hinges)]
        axes = np.array([rng.choice([-1, 1]) * row / np.linalg.norm(row) for row in rows])
        if np.linalg.svd(axes, compute_uv=False).min() > 0.5:
            return list(axes)


def _rotation(rng: np.random.Generator) -> Matrix:
    if rng.random() < 0.5:
        return IDENTITY
    x, y, z = (_vector(row) for row in Rotation.random(rng=rng).as_matrix())
    return (x, y, z)


def _vector(values: Array) -> Vector:
    x, y, z = (float(value) for value in values)
    return (x, y, z)
