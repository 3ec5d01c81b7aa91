"""Files of real robots, of the packages example-robot-data and playground, for tests."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

URDF = {
    "a1": "a1_description/urdf/a1.urdf",
    "anymal_b": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c": "anymal_c_simple_description/urdf/anymal.urdf",
    "b1": "b1_description/urdf/b1.urdf",
    "b1_arm": "b1_description/urdf/b1-z1.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "go1": "go1_description/urdf/go1.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "laikago": "laikago_description/urdf/laikago.urdf",
    "solo": "solo_description/robots/solo.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}
PREFIX = "cmeel.prefix/share/example-robot-data/robots"


def urdf(name: str) -> Path:
    """The URDF of a robot."""
    return Path(str(distribution("example-robot-data").locate_file(f"{PREFIX}/{URDF[name]}")))


MJCF = {"go1": "go1/xmls/go1_mjx_feetonly.xml", "spot": "spot/xmls/spot_mjx_feetonly.xml"}


def mjcf(name: str) -> Path:
    """The MJCF of a robot, as the package playground has it (its code is not imported)."""
    return Path(str(distribution("playground").locate_file(f"mujoco_playground/_src/locomotion/{MJCF[name]}")))
