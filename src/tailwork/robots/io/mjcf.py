"""MJCF files as a tree of bodies, through a model that MuJoCo compiles: defaults, includes, degrees and inertias of
shapes are its work. What has no part in a tree of hinges and sliders is refused by name, or left out with a note."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tailwork.errors import FileError, RobotError, UnknownNameError
from tailwork.robots.io.tree import HERE, FileShape, Inertial, Node, Pose, Tendon, Tree, TreeJoint, exact
from tailwork.robots.io.xml import read_xml
from tailwork.typing import Floats

DEEPEST = 1024
"""Elements within elements: a body within each that carries it."""
UNLIMITED = 1e6  # N: efforts with this limit or a larger one have none
WHOLE = 2.0  # sizes of MuJoCo are half lengths
NO_COLOR = (0.5, 0.5, 0.5)  # of shapes that have no other


def read_mjcf(path: str | os.PathLike[str], base: str | None = None) -> Tree:
    """The tree of an MJCF: of the body `base`, or of the heaviest that has a free joint.

    Raises:
        FileError: `mujoco` is not installed, or the file is none that it compiles.
        RobotError: it has what a tree of hinges and sliders cannot hold.
    """
    read_xml(path, "mujoco", "an MJCF", DEEPEST)
    try:
        import mujoco
    except ImportError:
        raise FileError(path, "an MJCF needs MuJoCo: pip install 'tailwork[mjcf]'") from None
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model = _without_missing(mujoco, os.fspath(path), notes).compile()
        except (ValueError, TypeError) as error:
            raise FileError(path, f"MuJoCo: {' '.join(str(error).split())}") from None
    notes += [f"MuJoCo: {warning.message}" for warning in said]
    tree = Tree(Path(path).stem, notes=notes)
    _Reader(mujoco, model, tree, base).read()
    return tree


def _without_missing(mujoco: Any, path: str, notes: list[str]) -> Any:
    """The specification of a file, less meshes, heights and textures whose files are missing, where they only draw."""
    spec = mujoco.MjSpec.from_file(path)

    def missing(items: Any, folder: str) -> list[Any]:
        places = [os.path.join(os.path.dirname(path), folder or ""), os.path.dirname(path), ""]
        there = [any(os.path.exists(os.path.join(place, item.file)) for place in places) for item in items]
        return [item for item, found in zip(items, there, strict=True) if item.file and not found]

    meshes = missing(spec.meshes, spec.meshdir)
    names = {mesh.name or Path(mesh.file).stem for mesh in meshes}
    grounds = missing(spec.hfields, spec.meshdir)
    heights = {ground.name or Path(ground.file).stem for ground in grounds}
    for geom in list(spec.geoms) if meshes or grounds else []:
        if geom.meshname in names or geom.hfieldname in heights:
            body = geom.parent
            if body.name != "world" and not body.explicitinertial:
                raise RobotError(f"body {body.name}", geom.meshname, "the file of this mesh: its mass comes from it")
            spec.delete(geom)
    textures = missing(spec.textures, spec.texturedir)
    for item in (*meshes, *grounds, *textures):
        spec.delete(item)
    if meshes:
        notes.append(f"{len(meshes)} meshes not found, which only draw: left out")
    return spec


class _Reader:
    """Walks the bodies of a compiled model and fills a tree."""

    def __init__(self, mujoco: Any, model: Any, tree: Tree, base: str | None) -> None:
        self.mj, self.m, self.tree = mujoco, model, tree
        self.base = self._base(base)
        self.at: dict[int, tuple[int, Pose]] = {}  # by body: the node that has it, and its pose there
        self.joints: dict[int, str] = {}  # by number: the name of a joint of the tree

    def _base(self, name: str | None) -> int:
        m, kinds = self.m, self.mj.mjtJoint
        free = [int(m.jnt_bodyid[j]) for j in range(m.njnt) if m.jnt_type[j] == kinds.mjJNT_FREE]
        tops = [b for b in range(1, m.nbody) if m.body_parentid[b] == 0]
        if name is not None:
            names = [m.body(b).name for b in range(1, m.nbody)]
            if name not in names:
                raise UnknownNameError.among("base", name, names, "body of the file")
            found = m.body(name).id
        elif not tops:
            raise RobotError("base", None, "at least one body besides the world")
        else:
            found = max(free or tops, key=lambda b: m.body_subtreemass[b])
        if found not in free:
            first, count = int(m.body_jntadr[found]), int(m.body_jntnum[found])
            joints = [m.joint(j).name or "without a name" for j in range(first, first + count)]
            how = f"moves by {', '.join(joints)} alone" if joints else "is fixed"
            self.tree.notes.append(f"{m.body(found).name or 'the base'} {how} in the file; here it is free to move")
        others = [m.body(b).name or "without a name" for b in tops if b != found and m.body_subtreemass[b] > 0.0]
        if others:
            self.tree.notes.append(f"other bodies of the scene left out: {', '.join(others[:20])}")
        return found

    def read(self) -> None:
        """Fills the tree."""
        m, tree = self.m, self.tree
        tree.nodes.append(Node(-1, None))
        self._fix(self.base, 0, HERE)
        for b in range(1, m.nbody):
            parent = int(m.body_parentid[b])
            if b == self.base or parent not in self.at:
                continue
            k, pose = self.at[parent]
            pose = pose @ Pose(m.body_pos[b].copy(), quaternion_rotation(m.body_quat[b]))
            first, count = int(m.body_jntadr[b]), int(m.body_jntnum[b])
            anchor = np.zeros(3)
            for j in range(first, first + count):
                # A node for each joint, on its anchor, in the axes of the body; the last one has the body.
                own = m.jnt_pos[j].copy()
                at = Pose(own - anchor, np.eye(3)) if j > first else Pose(pose.point(own), pose.turn)
                tree.nodes.append(Node(k, self._joint(j, at)))
                k, anchor = len(tree.nodes) - 1, own
            self._fix(b, k, Pose(-anchor, np.eye(3)) if count else pose)
        self._equalities()
        self._actuators()
        self._tendons()
        self._scene()
        for k in range(m.nkey):
            posture = {name: float(m.key_qpos[k][m.jnt_qposadr[j]]) for j, name in self.joints.items()}
            tree.postures[m.key(k).name or f"key{k}"] = posture

    def _fix(self, b: int, k: int, pose: Pose) -> None:
        m, name = self.m, self.m.body(b).name or f"body{b}"
        self.at[b] = (k, pose)
        axes = quaternion_rotation(m.body_iquat[b])
        inertial = Inertial(float(m.body_mass[b]), m.body_ipos[b].copy(), axes @ np.diag(m.body_inertia[b]) @ axes.T)
        self.tree.nodes[k].fix(name, pose, inertial, self._shapes(b, name))
        taken = {frame.name for node in self.tree.nodes for frame in node.frames}
        for s in range(m.nsite):
            if m.site_bodyid[s] == b and m.site(s).name not in ("", *taken):
                place = pose @ Pose(m.site_pos[s].copy(), quaternion_rotation(m.site_quat[s]))
                self.tree.nodes[k].fix(m.site(s).name, place, Inertial(), ())
        if m.body_gravcomp[b]:
            self.tree.notes.append(f"gravity compensation of {name} left out")

    def _shapes(self, b: int, name: str) -> list[FileShape]:
        m, kinds, found = self.m, self.mj.mjtGeom, []
        for g in range(m.ngeom):
            if m.geom_bodyid[g] != b:
                continue
            x, y, z = (float(value) for value in m.geom_size[g])
            sizes = {
                kinds.mjGEOM_SPHERE: ("sphere", (x,)), kinds.mjGEOM_CAPSULE: ("capsule", (x, WHOLE * y)),
                kinds.mjGEOM_CYLINDER: ("cylinder", (x, WHOLE * y)),
                kinds.mjGEOM_BOX: ("box", (WHOLE * x, WHOLE * y, WHOLE * z)), kinds.mjGEOM_MESH: ("mesh", ()),
            }  # fmt: skip
            if int(m.geom_type[g]) not in sizes:
                continue
            kind, size = sizes[int(m.geom_type[g])]
            role = "collision" if m.geom_contype[g] or m.geom_conaffinity[g] else "visual"
            pose = Pose(m.geom_pos[g].copy(), quaternion_rotation(m.geom_quat[g]))
            file = m.mesh(int(m.geom_dataid[g])).name if kind == "mesh" else ""
            color = tuple(float(c) for c in np.clip(m.geom_rgba[g][:3], 0.0, 1.0))
            shown = None if color == NO_COLOR else color
            triangles = self._triangles(int(m.geom_dataid[g])) if kind == "mesh" else None
            found.append(FileShape(role, kind, size, pose, name, shown, file, triangles=triangles))
        return found

    def _triangles(self, mesh: int) -> Floats:
        m = self.m
        vertices, faces = int(m.mesh_vertadr[mesh]), int(m.mesh_faceadr[mesh])
        numbers = m.mesh_face[faces : faces + int(m.mesh_facenum[mesh])]
        return m.mesh_vert[vertices : vertices + int(m.mesh_vertnum[mesh])].astype(float)[numbers]

    def _joint(self, j: int, pose: Pose) -> TreeJoint:
        m, kind = self.m, self.mj.mjtJoint(int(self.m.jnt_type[j]))
        name = m.joint(j).name or f"{m.body(int(m.jnt_bodyid[j])).name or 'body'}_joint{j}"
        motion = {"mjJNT_HINGE": "hinge", "mjJNT_SLIDE": "slider"}.get(kind.name)
        if motion is None:
            instead = "three hinges about crossing axes in place of a ball joint; a free joint only on the base"
            raise RobotError(f"joint {name}", kind.name.removeprefix("mjJNT_").lower(), instead)
        at, d = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        if m.qpos0[at]:
            raise RobotError(f"joint {name}", float(m.qpos0[at]), "no `ref`: zero is where the bodies are written")
        for what, values in (("stiffness", m.jnt_stiffnesspoly[j]), ("damping", m.dof_dampingpoly[d])):
            if np.any(values):
                required = f"a plain {what}: polynomials are not known"
                raise RobotError(f"joint {name}", np.ravel(values).tolist(), required)
        span = (float(m.jnt_range[j][0]), float(m.jnt_range[j][1])) if m.jnt_limited[j] else None
        effort = float(np.abs(m.jnt_actfrcrange[j]).max()) if m.jnt_actfrclimited[j] else 0.0
        self.joints[j] = name
        return TreeJoint(
            name, motion, m.jnt_axis[j].copy(), pose, span, effort=effort, damping=float(m.dof_damping[d]),
            friction=float(m.dof_frictionloss[d]), armature=float(m.dof_armature[d]),
            stiffness=float(m.jnt_stiffness[j]), rest=float(m.qpos_spring[at]), driven=m.nu == 0,
        )  # fmt: skip

    def _change(self, j: int, **changes: Any) -> None:
        for node in self.tree.nodes:
            if node.joint is not None and node.joint.name == self.joints[j]:
                node.joint = replace(node.joint, **changes)

    def _of(self, j: int) -> TreeJoint:
        return next(joint for joint in self.tree.joints() if joint.name == self.joints[j])

    def _equalities(self) -> None:
        m = self.m
        for e in range(m.neq):
            kind = self.mj.mjtEq(int(m.eq_type[e])).name.removeprefix("mjEQ_").lower()
            name = f"equality {m.equality(e).name or e + 1}"
            if not m.eq_active0[e]:
                self.tree.notes.append(f"{name} ({kind}) is not active: left out")
                continue
            one, two, poly = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e][:5]
            if kind != "joint":
                instead = "no closed loops of bodies: take it out of the file, or hold the two bodies by a PointSpring"
                if kind == "tendon":
                    instead = "joints that follow each other: write it as equalities of joints"
                raise RobotError(name, kind, instead)
            if one not in self.joints and two not in self.joints:
                continue
            if one not in self.joints or two not in self.joints or np.any(poly[2:]):
                raise RobotError(name, poly.tolist(), "a joint that follows another in proportion, both of the robot")
            self._change(one, follows=(self.joints[two], float(poly[1]), float(poly[0])))

    def _actuators(self) -> None:
        m, notes = self.m, self.tree.notes
        if m.nu == 0:
            notes.append("no actuators in the file: a motor on every joint")
        servos = 0
        for a in range(m.nu):
            j = int(m.actuator_trnid[a, 0])
            kind = self.mj.mjtTrn(int(m.actuator_trntype[a])).name.removeprefix("mjTRN_").lower()
            if kind == "tendon":
                continue
            if kind not in ("joint", "jointinparent") or j not in self.joints:
                notes.append(f"actuator {m.actuator(a).name or a + 1} works on a {kind}: left out")
                continue
            gear = abs(float(m.actuator_gear[a, 0]))
            known = [limit] if (limit := self._of(j).effort) else []
            if m.actuator_forcelimited[a]:
                known.append(float(np.abs(m.actuator_forcerange[a]).max()) * gear)
            elif m.actuator_ctrllimited[a] and m.actuator_biastype[a] == self.mj.mjtBias.mjBIAS_NONE:
                gain = abs(float(m.actuator_gainprm[a, 0]))
                known.append(float(np.abs(m.actuator_ctrlrange[a]).max()) * gain * gear)
            changes: dict[str, Any] = {"driven": True, "effort": min(known, default=0.0)}
            for what in ("armature", "damping"):  # of the actuator's own, as the joint feels it
                own = getattr(m, f"actuator_{what}", None)
                if own is not None and np.any(own[a]):
                    changes[what] = getattr(self._of(j), what) + float(np.ravel(own[a])[0]) * gear**2
            self._change(j, **changes)
            servos += int(m.actuator_biastype[a] != self.mj.mjtBias.mjBIAS_NONE)
        if servos:
            notes.append(f"gains of {servos} servos left out: motors here take torques, and laws of control have gains")

    def _tendons(self) -> None:
        """Tendons through sites and sums of joints, with their springs and actuators; of others a note."""
        m, notes, wraps = self.m, self.tree.notes, self.mj.mjtWrap
        pulled = {int(m.actuator_trnid[a, 0]): a for a in range(m.nu)
                  if m.actuator_trntype[a] == self.mj.mjtTrn.mjTRN_TENDON}  # fmt: skip
        frames = {frame.name for node in self.tree.nodes for frame in node.frames}
        for t in range(m.ntendon):
            first, count = int(m.tendon_adr[t]), int(m.tendon_num[t])
            kinds = {int(kind) for kind in m.wrap_type[first : first + count]}
            objects = [int(k) for k in m.wrap_objid[first : first + count]]
            name, fields = m.tendon(t).name or f"tendon{t + 1}", {}
            if kinds == {int(wraps.mjWRAP_SITE)} and all(m.site(k).name in frames for k in objects):
                fields["points"] = tuple(m.site(k).name for k in objects)
            elif kinds == {int(wraps.mjWRAP_JOINT)} and all(k in self.joints for k in objects):
                weights = m.wrap_prm[first : first + count]
                fields["weights"] = {self.joints[k]: float(w) for k, w in zip(objects, weights, strict=True)}
            else:
                notes.append(f"tendon {name} left out: required are sites of the robot with names, or its joints")
                continue
            lower, upper = (float(x) for x in m.tendon_lengthspring[t])
            plain = not np.any(m.tendon_stiffnesspoly[t]) and lower == upper and not fields.get("weights")
            if m.tendon_stiffness[t] and plain:
                fields |= {"stiffness": float(m.tendon_stiffness[t]), "rest": lower}
            elif m.tendon_stiffness[t]:
                notes.append(f"the spring of tendon {name} is none of constant stiffness between points: left out")
            more = (("damping", m.tendon_damping), ("friction", m.tendon_frictionloss), ("limits", m.tendon_limited))
            if felt := [what for what, values in more if values[t]]:
                notes.append(f"{' and '.join(felt)} of tendon {name} left out")
            if t in pulled:
                a = pulled[t]
                top = float(np.abs(m.actuator_ctrlrange[a]).max()) if m.actuator_ctrllimited[a] else 0.0
                fields |= {
                    "actuator": m.actuator(a).name or name, "limit": top if top < UNLIMITED else 0.0,
                    "gain": float(m.actuator_gainprm[a, 0] * m.actuator_gear[a, 0]),
                }  # fmt: skip
            self.tree.tendons.append(Tendon(name, **fields))

    def _scene(self) -> None:
        """What of the scene acts on a robot, beyond its joints."""
        m, notes = self.m, self.tree.notes
        gravity = m.opt.gravity
        on = not m.opt.disableflags & self.mj.mjtDisableBit.mjDSBL_GRAVITY
        if (on and np.any(gravity[:2])) or gravity[2] > 0.0:
            notes.append(f"gravity is {gravity.tolist()} m/s² in the file: taken as {abs(gravity[2]):g} m/s² downwards")
        self.tree.gravity = abs(float(gravity[2])) if on else 0.0
        if m.opt.density or m.opt.viscosity:
            notes.append("forces of the medium (density, viscosity) left out")
        for j in range(m.njnt):
            d = int(m.jnt_dofadr[j])
            all_felt = (("armature", m.dof_armature), ("damping", m.dof_damping), ("friction", m.dof_frictionloss))
            felt = [f"{what} {values[d]:g}" for what, values in all_felt if values[d]]
            if int(m.jnt_bodyid[j]) == self.base and felt:
                notes.append(f"the free joint of the base has {', '.join(felt)}, of defaults of the file: left out")


def quaternion_rotation(quaternion: Floats) -> Floats:
    """The rotation of a quaternion w, x, y, z."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    return exact(np.array([
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]))  # fmt: skip
