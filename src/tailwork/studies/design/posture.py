"""How designs stand before they move: each by its own lengths and places, as it would if it were simulated alone."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tailwork.control.laws import FootImpedance, JointImpedance
from tailwork.control.rest_torques import StraightDown
from tailwork.model import Model
from tailwork.simulation.designs import answers
from tailwork.simulation.system import System
from tailwork.typing import Floats


@dataclass(frozen=True, eq=False)
class Standing:
    """What the legs of a compiled problem hold.

    Attributes:
        system: of the problem.
        q: where its compiled design starts.
        pinned: the robot with its feet on the ground, by which angles of legs are found; in the air, that on which it
            stood before.
        pinned_q: that posture of it.
    """

    system: System
    q: Floats
    pinned: Model
    pinned_q: Floats

    def of(self, robot: Mapping[str, Floats], count: int, pool: Executor | None) -> tuple[dict[str, Floats], Floats]:
        """Numbers of the laws and motions of legs that follow from designs, by name, and where the designs start.

        Args:
            robot: by path, numbers in which the designs differ, (designs,).
            count: how many designs.
            pool: threads.
        """
        q, pinned_q = (np.tile(one, (count, 1)) for one in (self.q, self.pinned_q))
        for k, axis in enumerate("xyz"):
            if f"stand.{axis}" in robot:
                q[:, k] = pinned_q[:, k] = robot[f"stand.{axis}"]
        if not self._moves_legs(robot):
            return {}, q
        asked = {"q": pinned_q[:, None]}
        own = {path: values for path, values in robot.items() if not path.startswith("stand.")}
        angles = self._named(answers(self.pinned, "joint_angles", own, asked, pool)["angles"][:, 0])
        places = answers(self.pinned, "points", own, asked, pool)["points"][:, 0]
        found: dict[str, Floats] = {}
        for number, law in enumerate(self.system.laws):
            stem = f"law {number + 1}: "
            if isinstance(law, StraightDown):
                found |= {f"{stem}posture.{k + 1}": q[:, k] for k in range(3)}
            if isinstance(law, JointImpedance):
                joints = self.pinned.layout.limbs[law.leg].joints
                found |= {f"{stem}rest.{k + 1}": angles[f"{law.leg}.{joint.name}"] for k, joint in enumerate(joints)}
            if isinstance(law, FootImpedance):
                rest = places[:, self.pinned.point_names.index(f"{law.leg}.foot")] - pinned_q[:, :3]
                found |= {f"{stem}rest.{axis}": rest[:, k] for k, axis in enumerate("xyz")}
        names = self.system.model.coordinate_names
        for leg in set(self.system.motions) & set(self.pinned.foot_names):  # held in the air as they stood
            for coordinate in self.system.model.layout.limbs[leg].coordinates:
                name = f"{leg}.{coordinate}"
                found[f"{name}: coefficients.1"] = q[:, names.index(name)] = angles[name]
        return found, q

    def _moves_legs(self, robot: Mapping[str, Floats]) -> bool:
        """Whether the designs differ in what legs are, or where they stand."""
        legs = {path.split(".")[0] for path in robot} - {"torso", "gravity"}
        return bool(legs & {"stand", *self._leg_parts})

    @cached_property
    def _leg_parts(self) -> set[str]:
        """Parts of the robot that bring legs."""
        robot = self.system.model.robot
        return {name for name, part in robot.parts.items() if set(part.limbs(name)) & set(self.pinned.foot_names)}

    def _named(self, angles: Floats) -> dict[str, Floats]:
        limbs = self.pinned.layout.limbs
        names = [f"{limb}.{joint.name}" for limb, description in limbs.items() for joint in description.joints]
        return {name: angles[:, k] for k, name in enumerate(names)}
