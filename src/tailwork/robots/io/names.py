"""Short names for the limbs and joints of a file: FL_hip_joint becomes the joint hip of the limb FL."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence

from tailwork.robots.io.tree import Tree
from tailwork.robots.robot import Robot

TAKEN = {f.name for f in dataclasses.fields(Robot)}
"""Names that no part can have."""


def limb_names(tree: Tree, starts: Sequence[int], tail: int | None = None) -> tuple[dict[int, str], dict[str, str]]:
    """Names of the limbs by their first node, and by joint of the file "limb.joint".

    A limb is called by the words that begin the names of all its joints, else by its first link; a tail is "tail". A
    joint keeps the rest of its name, less a last word "joint".
    """
    limbs: dict[int, str] = {}
    words: dict[int, list[list[str]]] = {}
    for k in starts:
        joints = [joint.name for i in tree.subtree(k) if (joint := tree.nodes[i].joint) is not None]
        words[k] = [name_words(name) for name in joints]
        limbs[k] = "tail" if k == tail else "_".join(_common(words[k])) or path_name(_first_link(tree, k))
    often = Counter(limbs.values())
    for k in starts:
        if often[limbs[k]] > 1:
            limbs[k] = path_name(_first_link(tree, k))
        while limbs[k] in TAKEN or sum(limbs[k] == other for other in limbs.values()) > 1:
            limbs[k] += "_limb"
    found: dict[str, str] = {}
    for k in starts:
        skipped = len(_common(words[k]))
        joints = [joint.name for i in tree.subtree(k) if (joint := tree.nodes[i].joint) is not None]
        short = [_short(w[skipped:]) for w in words[k]]
        if "" in short or len(set(short)) < len(short):
            short = [path_name(name) for name in joints]
        if len(set(short)) < len(short):
            short = [f"{name}_{i + 1}" for i, name in enumerate(short)]
        found |= {name: f"{limbs[k]}.{own}" for name, own in zip(joints, short, strict=True)}
    return limbs, found


def _first_link(tree: Tree, k: int) -> str:
    """The first link of a limb; a joint of several on one body has none."""
    return next(node.frames[0].name for i in tree.subtree(k) if (node := tree.nodes[i]).frames)


def path_name(name: str) -> str:
    """A name that can stand in a path: without dots."""
    return "_".join(name_words(name)) or "limb"


def name_words(name: str) -> list[str]:
    """The words of a name: parts between underscores, dots and the like."""
    return [word for word in re.split(r"[_\-./:\s]+", name) if word]


def _short(words: Sequence[str]) -> str:
    kept = words[:-1] if len(words) > 1 and words[-1].lower() == "joint" else words
    return "_".join(kept)


def _common(names: Sequence[Sequence[str]]) -> list[str]:
    """The words that begin all names, of which each keeps at least one of its own."""
    shortest = min(len(words) - (words[-1:] == ["joint"] and len(words) > 1) for words in names)
    found: list[str] = []
    for k in range(shortest - 1):
        if len({words[k] for words in names}) > 1:
            break
        found.append(names[0][k])
    return found
