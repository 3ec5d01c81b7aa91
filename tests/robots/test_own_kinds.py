"""Parts of one's own: known to files by a decorator or an installed package; in runs, pictures and processes."""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tailwork
from tailwork.errors import RobotError, TailworkError, UnknownNameError
from tailwork.robots import Pendulum, liu2020, register
from tailwork.robots.io import kinds
from tailwork.robots.tails.fit import named_tail
from tailwork.view.scene import scene_of

MODULE = '''
"""A leg and a tail that tailwork does not know."""
from dataclasses import dataclass
from typing import ClassVar

from tailwork.robots import Body, Foot, Joint, Limb, Motor, Tail, Tip, bar, placed, FORWARD_FRAMES, register
from tailwork.robots.quantities import Described, Vector, positive, vector

open(r"{mark}", "a").write("imported ")


@register
@dataclass(frozen=True, kw_only=True)
class Stilt(Described):
    """A leg of one bar on a hinge across."""

    kind: ClassVar[str] = "{stilt}"
    length: float = positive("m")
    mass: float = positive("kg", 0.5)
    hip: Vector = vector("m")

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        x, y, _ = self.hip
        limb = Limb(
            joints=(Joint(name="swing", axis=(1.0, 0.0, 0.0), body=bar(self.mass, self.length, 2)),),
            actuators=(Motor(name="swing", coordinate="swing"),),
            foot=Foot(joint="swing", point=(0.0, 0.0, -self.length), place=(x, y, 0.0)),
        )
        return {{name: placed(limb, self.hip, FORWARD_FRAMES[forward])}}


@dataclass(frozen=True, kw_only=True)
class Stick(Tail):
    """A bar on a universal joint."""

    kind: ClassVar[str] = "{stick}"
    length: float = positive("m", 0.4)
    mount: Vector = vector("m", (0.0, -0.25, 0.0))

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        joints = (
            Joint(name="ta", axis=(1.0, 0.0, 0.0)),
            Joint(name="tb", axis=(0.0, 0.0, 1.0), parent="ta", body=bar(0.5, self.length, 1)),
        )
        limb = Limb(
            joints=joints,
            actuators=tuple(Motor(name=joint.name, coordinate=joint.name) for joint in joints),
            tip=Tip(joint="tb", point=(0.0, -self.length, 0.0)),
        )
        return {{name: self.on_torso(limb, forward)}}
'''


@pytest.fixture
def package(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with both kinds, to be imported; kinds are called after the test, so that they differ."""
    name = f"own_{request.node.name.partition('[')[0][-40:]}"
    text = MODULE.format(mark=tmp_path / "mark", stilt=f"{name}_stilt", stick=f"{name}_stick")
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def on_stilts(name: str) -> tailwork.Robot:
    """A robot with parts of own kinds."""
    own = importlib.import_module(name)
    robot = liu2020(None).without("legs").with_part("tail", own.Stick(length=0.3))
    for k, hip in enumerate([(0.1, 0.2, 0.0), (-0.1, 0.2, 0.0), (0.0, -0.2, 0.0)]):
        robot = robot.with_part(f"leg{k}", own.Stilt(length=0.4, hip=hip))
    return robot


def seen_in_another_process(robot: tailwork.Robot) -> tuple[float, str, list[str]]:
    """What a worker finds: mass, kind of the tail, coordinates."""
    layout = tailwork.Model(robot, stance="none").layout
    return float(robot.mass()), type(robot.part("tail")).kind, list(layout.coordinate_names)


def offer(folder: Path, name: str, kind: str, value: str) -> None:
    """An installed package, as far as Python knows: its metadata."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[tailwork.parts]\n{kind} = {value}\n", encoding="utf-8")


def write_robot(file: Path, kind: str, more: str = "") -> None:
    """A file of a robot that has a tail of a kind."""
    torso = '[torso]\nkind = "plate"\nmass = 1.0\nwidth = 0.1\nlength = 0.2\n'
    file.write_text(f'name = "x"\n{torso}[tail]\nkind = "{kind}"\n{more}', encoding="utf-8")


def test_own_kinds_save_load_run_and_are_drawn(package: str, tmp_path: Path) -> None:
    """Also in a file of a run, which holds the robot."""
    robot = on_stilts(package)
    robot.save(tmp_path / "robot.toml")
    assert tailwork.load(tmp_path / "robot.toml") == robot
    text = (tmp_path / "robot.toml").read_text(encoding="utf-8")
    assert f'[tail]\nkind = "{package}_stick"\nmodule = "{package}"\n' in text
    model = tailwork.Model(robot, stance="none")
    run = tailwork.simulate(model, model.standing(), 0.02)
    assert len(scene_of(run).solids) > 4
    run.save(tmp_path / "run.nc")
    assert tailwork.load_run(tmp_path / "run.nc").model.robot == robot


def test_own_kinds_travel_to_processes(package: str) -> None:
    """A worker that starts from nothing finds the class by its module."""
    robot = on_stilts(package)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        there = pool.submit(seen_in_another_process, robot).result()
    assert there == seen_in_another_process(robot)


def test_a_file_says_where_an_unknown_kind_comes_from_and_imports_nothing(package: str, tmp_path: Path) -> None:
    """The module is named, never imported: another process that reads the file leaves no mark."""
    on_stilts(package).save(tmp_path / "robot.toml")
    (tmp_path / "mark").unlink()
    start = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import tailwork;"
    code = f"{start} tailwork.load({str(tmp_path / 'robot.toml')!r})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode != 0
    assert f"it comes from {package}: import that first" in found.stderr
    assert not (tmp_path / "mark").exists()
    again = subprocess.run(
        [sys.executable, "-c", code.replace("import tailwork;", f"import tailwork, {package};")], check=False
    )
    assert again.returncode == 0


def test_commands_know_what_installed_packages_offer(package: str, tmp_path: Path) -> None:
    """A package with entry points of the group "tailwork.parts" is imported when a file, or --tail, names its kind."""
    on_stilts(package).save(tmp_path / "robot.toml")
    offer(tmp_path, "stilts", f"{package}_stilt", f"{package}:Stilt\n{package}_stick = {package}:Stick")
    (tmp_path / "mark").unlink()
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['tailwork', 'show', "
        f"{str(tmp_path / 'robot.toml')!r}]; from tailwork.cli import main; sys.exit(main())"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert (tmp_path / "mark").read_text() == "imported "


def test_an_installed_tail_can_be_named(package: str, tmp_path: Path) -> None:
    offer(tmp_path, "sticks", f"{package}_stick", f"{package}:Stick")
    assert package not in sys.modules
    assert type(named_tail(f"{package}_stick")).__name__ == "Stick"


@pytest.mark.parametrize(
    ("value", "said"), [("no_such_module:Stick", "No module named"), ("{package}:Stilt", "offers .*Stilt of the kind")]
)
def test_what_is_offered_wrongly_is_said(package: str, tmp_path: Path, value: str, said: str) -> None:
    offer(tmp_path, "sticks", f"{package}_stick", value.format(package=package))
    write_robot(tmp_path / "robot.toml", f"{package}_stick")
    with pytest.raises(RobotError, match=said):
        tailwork.load(tmp_path / "robot.toml")


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ('module = "__main__"\n', "defined in a script"),
        ('module = "os; import this"\n', "the name of the Python module"),
        ("module = 3\n", "the name of the Python module"),
        ('module = "numpy"\n', "is imported, but has it no more"),
        ("", "a known kind"),
    ],
)
def test_files_with_unknown_kinds_are_refused_clearly(tmp_path: Path, module: str, said: str) -> None:
    write_robot(tmp_path / "robot.toml", "wand", module)
    with pytest.raises(TailworkError, match=said):
        tailwork.load(tmp_path / "robot.toml")


def test_a_module_is_no_field_of_the_library(tmp_path: Path) -> None:
    write_robot(tmp_path / "robot.toml", "r3", 'module = "x"\n')
    with pytest.raises(UnknownNameError, match=r"tail\.module"):
        tailwork.load(tmp_path / "robot.toml")


def test_only_parts_with_a_kind_of_their_own_are_registered(package: str) -> None:
    own = importlib.import_module(package)
    with pytest.raises(RobotError, match="limbs"):
        register(int)  # type: ignore[type-var]
    with pytest.raises(RobotError, match="kind: ClassVar"):
        register(type("Nameless", (own.Stilt,), {}))
    with pytest.raises(RobotError, match="no other class has"):
        register(type("Pretender", (own.Stilt,), {"kind": "r3"}))
    with pytest.raises(RobotError, match="no other class has"):
        register(type("Pretender", (own.Stilt,), {"kind": own.Stick.kind}))
    before = kinds.part_kinds()
    again = importlib.reload(own)
    assert register(again.Stilt) is again.Stilt
    assert len(kinds.part_kinds()) == len(before), "a module that is run again"
    assert np.isfinite(float(on_stilts(package).mass()))


def test_two_classes_of_a_kind_are_told_apart_by_their_module() -> None:
    """Where two modules have a kind of the same name, a file gets the one that it came from; without it, it asks."""
    names = ("first_of_two", "second_of_two")
    made = [type("Twin", (Pendulum,), {"kind": "twin_of_two", "__module__": name}) for name in names]
    for name, cls in zip(names, made, strict=True):
        assert kinds.part_kind("tail", "twin_of_two", name) is cls
    with pytest.raises(RobotError, match=r"first_of_two.*second_of_two"):
        kinds.part_kind("tail", "twin_of_two", None)
    del made, cls
    gc.collect()  # classes are known as long as they live
