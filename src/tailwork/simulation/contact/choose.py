"""Which integrator simulates runs on which kind of ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tailwork.control.gait.joint_table import JointTable
from tailwork.simulation.contact.compliant import OnCompliantGround
from tailwork.simulation.contact.ground import CompliantGround, RigidGround
from tailwork.simulation.contact.on_ground import OnGround
from tailwork.simulation.contact.rigid import OnRigidGround
from tailwork.simulation.run import Contact
from tailwork.simulation.system import System


def integrator_on_ground(
    system: System, ground: CompliantGround | RigidGround, begin: float = 0.0,
    contact: Contact | Sequence[Contact] | None = None,
    tables: Mapping[int, Sequence[JointTable]] | None = None,
) -> OnGround:  # fmt: skip
    """Runs of a system on a ground; see `OnGround` for the arguments."""
    own = {} if tables is None else tables
    if isinstance(ground, RigidGround):
        return OnRigidGround(system, ground, begin, contact, own)
    return OnCompliantGround(system, ground, begin, contact, own)
