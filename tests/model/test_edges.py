"""Edges of the engine: layouts of arrays, unusual limbs, travelling objects, names that look like markup."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from tailwork import Model
from tailwork.algebra.expression import Tape
from tailwork.cli import main
from tailwork.errors import ArgumentError, StateError, UnreachableError
from tailwork.kernels.graph import finished
from tailwork.kernels.kernel import Kernel
from tailwork.model import LIU2018_REDUNDANT
from tailwork.model.questions import QUESTIONS, argument_names
from tailwork.robots import Body, FreeLimb, Joint, Limb, ThreeHingeLegs, blaberus, liu2018, liu2020, usrt
from tailwork.robots.quantities import Described


@pytest.mark.parametrize("question", QUESTIONS)
def test_columns_may_lie_side_by_side(question: str) -> None:
    """A batch in Fortran order, or cut out of a larger array, gives the bits of the same batch in C order."""
    model = Model(liu2020("pendulum"), "none" if "normals" in QUESTIONS[question].arguments else "all")
    rng = np.random.default_rng(0)
    sizes = {name: len(argument_names(model.layout, name)) for name in QUESTIONS[question].arguments}
    plain = {name: rng.uniform(-0.02, 0.02, (5, sizes[name])) for name in QUESTIONS[question].arguments}
    plain["q"] += model.standing()
    expected = model.ask(question, **plain)
    for changed in (
        np.asfortranarray,
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: np.flip(np.flip(x, 0).copy(), 0),
    ):
        found = model.ask(question, **{name: changed(x) for name, x in plain.items()})
        assert all(np.array_equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize("make", [liu2018, lambda: liu2020("r3"), lambda: liu2020("usrt"), blaberus])
def test_robots_can_be_copied_and_sent(make: Any) -> None:
    robot = make()
    assert copy.deepcopy(robot) == robot == pickle.loads(pickle.dumps(robot))


def test_errors_can_be_sent() -> None:
    """They keep their message and their data."""
    for ask in (lambda: liu2020("usrt").replace({"tail.lenght": 1.0}), lambda: Model(liu2020()).bias([0.0], [0.0])):
        with pytest.raises((ArgumentError, StateError)) as caught:
            ask()
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value) and str(again) == str(caught.value)
        assert again.__dict__ == caught.value.__dict__


def test_a_small_limb_without_actuators_is_not_held() -> None:
    """However small its weight beside the robot's: it would fall at g/length."""
    antenna = Limb(joints=(Joint(name="hinge", axis=(1.0, 0.0, 0.0), body=Body(mass=1e-6, com=(0.0, 0.01, 0.0))),))
    model = Model(liu2020().with_part("antenna", FreeLimb(limb=antenna)))
    with pytest.raises(UnreachableError, match=r"missing on antenna\.hinge rate"):
        model.static_torques(model.standing())


def test_a_hinge_that_moves_nothing_is_refused() -> None:
    still = Limb(joints=(Joint(name="hinge", axis=(1.0, 0.0, 0.0), body=Body(mass=1.0)),))
    with pytest.raises(ArgumentError, match="every hinge to move some inertia"):
        Model(liu2020().with_part("still", FreeLimb(limb=still)))


@dataclass(frozen=True, kw_only=True)
class OddLegs(Described):
    """The 2020 legs with something changed in each limb."""

    kind: ClassVar[str] = "odd"
    plain: ThreeHingeLegs
    change: str

    def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
        """The changed limbs."""
        changes: dict[str, Any] = {}
        for key, limb in self.plain.limbs(name, forward).items():
            assert limb.foot is not None
            if self.change == "geared":
                gearing = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 1.0))
                change = {"gearing": gearing, "coordinates": ("ha", "hb", "k")}
            elif self.change == "foot":
                change = {"foot": dataclasses.replace(limb.foot, joint="hb")}
            else:
                toe = Joint(name="toe", axis=(1.0, 0.0, 0.0), parent="k", body=Body(mass=0.1, com=(0.0, 0.0, -0.1)))
                change = {"joints": (*limb.joints, toe), "coordinates": ()}
            changes[key] = dataclasses.replace(limb, **change)
        return changes


@pytest.mark.parametrize("change", ["geared", "foot", "toe"])
def test_only_hinges_in_a_row_can_be_pinned(change: str) -> None:
    """Anything else is refused in stance, and flies."""
    plain = liu2020().part("legs")
    robot = liu2020().with_part("legs", OddLegs(plain=plain, change=change))
    with pytest.raises(ArgumentError, match="hinges in a row, not geared, with its foot on the last body"):
        Model(robot)
    model = Model(robot, "none")
    assert np.isfinite(model.forward_dynamics(*_rest(model))).all()


def _rest(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q = model.standing()
    q[6:] = 0.2
    return q, np.zeros(len(model.velocity_names)), np.zeros(len(model.actuator_names))


def test_classes_of_one_name_are_not_confused() -> None:
    """A part's class written anew has equations of its own."""

    def tail_class(direction: float) -> type:
        @dataclass(frozen=True)
        class Tail(Described):
            kind: ClassVar[str] = "own"

            def limbs(self, name: str, forward: str = "y") -> dict[str, Limb]:
                body = Body(mass=1.0, com=(direction, 0.0, 0.0))
                return {name: Limb(joints=(Joint(name="hinge", axis=(0.0, 0.0, 1.0), body=body),))}

        return Tail

    found = []
    for direction in (0.1, -0.1):
        model = Model(liu2020(None).with_part("tail", tail_class(direction)()))
        found.append(model.center_of_mass(model.standing())[0])
    assert found[0] == pytest.approx(-found[1]) and abs(found[0]) > 1e-3


def test_a_call_keeps_its_code_alive() -> None:
    """A bound call outlives the kernel it came from."""
    tape = Tape()
    (x,) = tape.inputs(1, 0)
    kernel = Kernel(finished(tape, [x * x], 1, 0))
    inputs, outputs = np.array([3.0]), np.zeros(1)
    run = kernel.single(inputs, kernel.constants(np.zeros(0)), outputs)
    del kernel
    gc.collect()
    run()
    assert outputs[0] == 9.0


def test_chosen_actuators_beside_a_prescribed_tail() -> None:
    """The tail takes what it needs; the paper's six leg actuators hold the torso."""
    model = Model(liu2018(), prescribed=["tail"])
    q, zero = model.standing(), np.zeros(8)
    efforts = model.inverse_dynamics(q, zero, zero, redundant=dict.fromkeys(LIU2018_REDUNDANT, 0.0))
    assert np.abs(model.forward_dynamics(q, zero, efforts, prescribed_acceleration=np.zeros(2))).max() < 1e-9


@pytest.mark.parametrize(("links", "segments", "ends"), [(5, 2, (2, 5)), (7, 3, (2, 4, 7)), (3, 3, (1, 2, 3))])
def test_links_need_not_divide_evenly(links: int, segments: int, ends: tuple[int, ...]) -> None:
    """Cables of a segment end at its last link."""
    limb = usrt(links=links, segments=segments).limbs("tail")["tail"]
    last = [int(cable.route[-1].joint.removeprefix("theta_")) for cable in limb.actuators[::3]]
    assert tuple(last) == ends


def test_axes_are_made_exactly_unit() -> None:
    joint = Joint(name="hinge", axis=(0.5773502692, 0.5773502692, 0.5773502692), body=Body(mass=1.0))
    assert abs(np.linalg.norm(joint.axis) - 1.0) < 3e-16


def test_names_that_look_like_markup(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """They are shown as they are."""
    file = tmp_path / "robot.toml"
    robot = liu2020()
    named = dataclasses.replace(
        robot, name="a[/]b[red]", parts={"legs": robot.part("legs"), "t[/]": robot.part("tail")}
    )
    named.save(file)
    assert main(["show", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "a[/]b[red]" in shown and "t[/].ta" in shown
    assert main(["show", "x[/]"]) == 2
    assert "x[/]" in capsys.readouterr().err
