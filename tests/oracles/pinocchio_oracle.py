"""Accelerations and foot forces from Pinocchio's mass matrix, bias and Jacobians by one dense solve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from oracles.layout import Array, Layout, PointForce, joint_matrix, skew
from oracles.pinocchio_forces import cable_force, drag_forces, spring_energy, spring_force
from oracles.pinocchio_tree import PinocchioTree
from tailwork.robots.limb import Motor
from tailwork.robots.robot import Robot

CLOSURE = 1e-9
"""Farthest that a closed form may put a foot from its place [m] before it is called wrong."""


@dataclass(frozen=True)
class Motion:
    """A state of the tree in Pinocchio's coordinates, and the maps to them."""

    pin_q: Array
    pin_v: Array
    tree_v: Array
    to_pin: Array  # Pinocchio's velocity = to_pin · velocity of the tree
    extra: Array  # Pinocchio's acceleration = to_pin · acceleration of the tree + extra
    feet: Array  # velocity of the pinned feet = feet · velocity of the tree
    to_tree: Array  # velocity of the tree = to_tree · v


@dataclass(frozen=True)
class Solution:
    """What the dense solve gives."""

    tree_a: Array  # [vdot, omegadot, coordinates, coordinates of the pinned legs]
    foot_forces: Array  # of the ground on the pinned feet, inertial frame [N]
    pin_q: Array
    pin_v: Array
    pin_a: Array


class PinocchioOracle:
    """The dynamics of a described robot by Pinocchio, for one stance.

    Gears are a reduced basis of the tree; pinned feet are constraints with multipliers. Every call starts anew.
    """

    def __init__(self, robot: Robot, stance: tuple[str, ...] = (), torso: str = "free") -> None:
        self.robot = robot
        self.layout = Layout(robot, stance, torso)
        self.tree = PinocchioTree(self.layout)

    def accelerations(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, forces: Iterable[PointForce] = ()
    ) -> tuple[Array, Array]:
        """[vdot, omegadot, coordinate accelerations] and the forces of the ground on the pinned feet [N].

        vdot is the acceleration of P, both are in the inertial frame; feet are rows in the order of the robot.
        """
        solution = self.solve(q, v, tau, forces)
        return solution.tree_a[: self.layout.size], solution.foot_forces

    def solve(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, forces: Iterable[PointForce] = ()) -> Solution:
        """Accelerations of the whole tree and foot forces from the KKT system of M, bias and foot Jacobians."""
        motion = self._motion(q, v)
        acting = self._acting(motion, tau, forces)
        mass, bias = self._mass_and_bias(motion)
        n, rows = self.layout.tree_size, 3 * len(self.layout.pinned)
        matrix = np.block([[mass, -motion.feet.T], [motion.feet, np.zeros((rows, rows))]])
        right = np.concatenate([acting - bias, -self._foot_bias(motion)])
        # Unknowns in units of like size: those of an insect are many orders of magnitude apart.
        scale = 1.0 / np.sqrt(np.abs(matrix).max(axis=1))
        answer = scale * np.linalg.solve(matrix * np.outer(scale, scale), scale * right)
        pin_a = motion.to_pin @ answer[:n] + motion.extra
        return Solution(answer[:n], answer[n:].reshape(-1, 3), motion.pin_q, motion.pin_v, pin_a)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix for v, pinned legs eliminated by their null space."""
        motion = self._motion(q, np.zeros(self.layout.size))
        return motion.to_tree.T @ self._mass_and_bias(motion)[0] @ motion.to_tree

    def bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Velocity and gravity terms h: mass_matrix · a + h = generalised_forces. Springs are not in it."""
        motion = self._motion(q, v)
        mass, bias = self._mass_and_bias(motion)
        size = self.layout.size
        resting = np.zeros(self.layout.tree_size)  # acceleration of the tree where a = 0
        resting[size:] = -np.linalg.solve(motion.feet[:, size:], self._foot_bias(motion))
        return motion.to_tree.T @ (bias + mass @ resting)

    def generalised_forces(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, forces: Iterable[PointForce] = ()
    ) -> Array:
        """Efforts, springs, dampers and point forces as generalised forces on v, pinned legs eliminated."""
        motion = self._motion(q, v)
        return motion.to_tree.T @ self._acting(motion, tau, forces)

    def energy(self, q: ArrayLike, v: ArrayLike) -> tuple[float, float]:
        """Kinetic energy, armatures included, and gravitational potential, zero at z = 0 [J]."""
        motion = self._motion(q, v)
        mass, _ = self._mass_and_bias(motion)
        height = float(self.center_of_mass(q)[2])
        return 0.5 * float(motion.tree_v @ mass @ motion.tree_v), self.robot.gravity * self.mass() * height

    def spring_energy(self, q: ArrayLike) -> float:
        """Energy of all springs [J]."""
        pin_q = self._motion(q, np.zeros(self.layout.size)).pin_q
        limbs = self.layout.limbs.items()
        return sum(spring_energy(self.tree, name, spring, pin_q) for name, limb in limbs for spring in limb.springs)

    def mass(self) -> float:
        """Mass of the robot, a fixed torso included [kg]."""
        return sum(body.mass for _, body in self.tree.bodies)

    def center_of_mass(self, q: ArrayLike) -> Array:
        """Centre of mass of the robot, a fixed torso included, in the inertial frame [m]."""
        self._motion(q, np.zeros(self.layout.size))
        return sum(body.mass * self.tree.point(k, body.lever) for k, body in self.tree.bodies) / self.mass()

    def momentum(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Linear momentum [kg m/s] and angular momentum about the centre of mass [kg m^2/s], without rotors."""
        center = self.center_of_mass(q)
        motion = self._motion(q, v)
        self.tree.move(motion.pin_q, motion.pin_v, motion.extra)
        linear, angular = np.zeros(3), np.zeros(3)
        for k, body in self.tree.bodies:
            twist, turn = self.tree.data.v[k], self.tree.rotation(k)
            push = body.mass * turn @ (twist.linear + np.cross(twist.angular, body.lever))
            linear += push
            angular += np.cross(self.tree.point(k, body.lever) - center, push) + turn @ body.inertia @ twist.angular
        return linear, angular

    def foot_places(self, pin_q: Array) -> Array:
        """Places of the pinned feet [m] for coordinates of Pinocchio, rows in the order of the robot."""
        self.tree.place(pin_q)
        return np.array([self.tree.point(*self.tree.foot(name)) for name in self.layout.pinned]).reshape(-1, 3)

    def _posture(self, q: ArrayLike) -> Array:
        """Pinocchio's coordinates; the angles of pinned legs by the closed form, checked, then polished by Newton."""
        layout, tree = self.layout, self.tree
        q = np.asarray(q, float)
        pin_q = pin.neutral(tree.model)
        if layout.base:
            p, turn = layout.torso_pose(q)
            pin_q[:7] = np.concatenate([p, pin.Quaternion(turn).normalized().coeffs()])
        for name, limb in layout.limbs.items():
            pinned = name in layout.pinned
            angles = layout.closed_form_angles(name, q) if pinned else joint_matrix(limb) @ q[layout.slices[name]]
            pin_q[tree.positions(name)] = angles
        for step in range(2):
            tree.place(pin_q)
            for name in layout.pinned:
                miss = tree.point(*tree.foot(name)) - np.array(layout.limbs[name].foot.place)
                if step == 0 and np.linalg.norm(miss) > CLOSURE:
                    raise ValueError(f"the closed form puts the foot of {name} {np.linalg.norm(miss):.3g} m off")
                jacobian = tree.jacobian(*tree.foot(name))[:, tree.velocities(name)]
                pin_q[tree.positions(name)] -= np.linalg.solve(jacobian, miss)
        return pin_q

    def _motion(self, q: ArrayLike, v: ArrayLike) -> Motion:
        """The state, with the tree put into it."""
        layout, tree = self.layout, self.tree
        pin_q = self._posture(q)
        tree.place(pin_q)
        to_pin = np.zeros((tree.model.nv, layout.tree_size))
        if layout.base:
            to_pin[:3, :3] = to_pin[3:6, 3:6] = layout.torso_pose(q)[1].T  # the free-flyer moves in its own frame
        for name, limb in layout.limbs.items():
            to_pin[tree.velocities(name), layout.slices[name]] = joint_matrix(limb)
        jacobians = [tree.jacobian(*tree.foot(name)) @ to_pin for name in layout.pinned]
        feet = np.vstack([np.zeros((0, layout.tree_size)), *jacobians])
        to_tree = np.eye(layout.tree_size)[:, : layout.size]
        to_tree[layout.size :] = -np.linalg.solve(feet[:, layout.size :], feet[:, : layout.size])
        tree_v = to_tree @ np.asarray(v, float)
        pin_v = to_pin @ tree_v
        extra = np.zeros(tree.model.nv)
        if layout.base:
            extra[:3] = -skew(pin_v[3:6]) @ pin_v[:3]  # from its frame, which turns
        return Motion(pin_q, pin_v, tree_v, to_pin, extra, feet, to_tree)

    def _mass_and_bias(self, motion: Motion) -> tuple[Array, Array]:
        """Mass matrix and bias, with gravity, for the velocity of the tree."""
        model, data = self.tree.model, self.tree.data
        upper = np.triu(pin.crba(model, data, motion.pin_q))
        mass = upper + np.triu(upper, 1).T
        bias = pin.nonLinearEffects(model, data, motion.pin_q, motion.pin_v) + mass @ motion.extra
        return motion.to_pin.T @ mass @ motion.to_pin, motion.to_pin.T @ bias

    def _foot_bias(self, motion: Motion) -> Array:
        """Accelerations of the pinned feet where the tree has none [m/s^2], stacked."""
        self.tree.move(motion.pin_q, motion.pin_v, motion.extra)
        rows = [self.tree.acceleration(*self.tree.foot(name)) for name in self.layout.pinned]
        return np.concatenate([np.zeros(0), *rows])

    def _acting(self, motion: Motion, tau: ArrayLike, forces: Iterable[PointForce]) -> Array:
        """Generalised forces of efforts, springs and point forces on the velocity of the tree."""
        layout, tree = self.layout, self.tree
        on_joints, on_tree = drag_forces(tree, motion.pin_v), np.zeros(layout.tree_size)
        for (name, actuator), effort in zip(layout.efforts, np.asarray(tau, float), strict=True):
            if isinstance(actuator, Motor):
                on_tree[layout.coordinate(name, actuator.coordinate)] += actuator.ratio * effort
            else:
                on_joints += cable_force(tree, name, actuator, effort)
        for name, limb in layout.limbs.items():
            for spring in limb.springs:
                on_joints += spring_force(tree, name, spring, motion.pin_q, motion.pin_v)
        for name, joint, point, force in forces:
            on_joints += tree.jacobian(tree.id(name, joint), point).T @ np.asarray(force, float)
        return on_tree + motion.to_pin.T @ on_joints
