"""The controls of one person's page, and what is chosen with them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from viser import GuiApi

from tailwork.lab.choice import NO_TAIL, Choice, TailChoice, carriers, carrying, policy_choices, tail_choices
from tailwork.lab.page import SPEEDS
from tailwork.lab.tails import Slider, friction_slider, motion_sliders, tail_sliders, torso_slider
from tailwork.robots.io.load import OTHERS
from tailwork.robots.robot import Robot
from tailwork.studies.leg_policies import POLICIES
from tailwork.studies.motions import KINDS

POLICY_HINT = "; ".join(f"{name}: {policy.meaning}" for name, policy in POLICIES.items())


class SliderGroup:
    """Sliders in a container that can give way to others."""

    def __init__(self, gui: GuiApi, container: Any, changed: Callable[[], None]) -> None:
        self._gui, self._container, self._changed = gui, container, changed
        self._handles: dict[str, Any] = {}

    def show(self, sliders: Sequence[Slider], values: Mapping[str, float] | None = None) -> None:
        """These sliders, in the place of those before."""
        for handle in self._handles.values():
            handle.remove()
        with self._container:
            self._handles = {slider.name: self._made(slider, values or {}) for slider in sliders}

    def values(self) -> dict[str, float]:
        """By name: where they stand."""
        return {name: handle.value for name, handle in self._handles.items()}

    def _made(self, slider: Slider, values: Mapping[str, float]) -> Any:
        kind = int if slider.whole else float
        value = min(max(values.get(slider.name, slider.value), slider.low), slider.high)
        handle = self._gui.add_slider(
            slider.label, min=kind(slider.low), max=kind(slider.high), step=kind(slider.step),
            initial_value=kind(value), hint=slider.hint or None,
        )  # fmt: skip
        handle.on_update(lambda event: self._changed())
        return handle


class TailControls:
    """One tail: which, and its design."""

    def __init__(self, gui: GuiApi, title: str, more: Sequence[str], whole: Any, changed: Callable[[], None]) -> None:
        self._more, self._whole, self._changed = tuple(more), whole, changed
        self._robot: Robot | None = None
        folder = gui.add_folder(title)
        with folder:
            self._which: Any = gui.add_dropdown("tail", (NO_TAIL,))
        self._which.on_update(lambda event: None if event.client is None else self._chosen())
        self._sliders = SliderGroup(gui, folder, changed)

    def offer(self, robot: Robot, tail: TailChoice | None) -> None:
        """The tails of a robot; one of them chosen, else the one that was chosen before, else none or the first."""
        self._robot = robot
        options = (*self._more, *tail_choices(robot))
        wanted = tail.name if tail is not None else self._which.value
        self._which.options = options
        self._which.value = wanted if wanted in options else options[0]
        self._offer_sliders({} if tail is None else tail.design)

    def choice(self) -> TailChoice | None:
        """What is chosen; None for no tail."""
        return None if self._which.value == NO_TAIL else TailChoice(self._which.value, self._sliders.values())

    def _chosen(self) -> None:
        with self._whole:
            self._offer_sliders({})
        self._changed()

    def _offer_sliders(self, design: Mapping[str, float]) -> None:
        assert self._robot is not None
        name = self._which.value
        if name == NO_TAIL:
            self._sliders.show(())
        else:
            self._sliders.show(tail_sliders(carrying(self._robot, name)), design)


class Controls:
    """All controls. `changed` is called when another choice is made; the handles of buttons are there to listen to."""

    def __init__(self, gui: GuiApi, start: Choice, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._whole = threading.RLock()  # a choice is read as a whole, never while one control follows another
        self._robots = carriers()
        first = next((name for name, robot in self._robots.items() if robot == start.robot), start.robot.name)
        self._robots.setdefault(first, start.robot)
        self.message = gui.add_html("")
        self.run = gui.add_button("Run", color="green", hint="simulate this choice")
        with gui.add_folder("Playback"):
            self.play = gui.add_button("Pause")
            self.time = gui.add_slider("time [ms]", min=0.0, max=300.0, step=0.1, initial_value=0.0)
            self.speed: Any = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1/10")
        with gui.add_folder("Robot") as robot_folder:
            self._robot: Any = gui.add_dropdown("robot", tuple(self._robots), initial_value=first)
            self.upload = gui.add_upload_button(
                "Load a robot file", mime_type=",".join((".toml", *OTHERS)), hint="TOML, URDF or MJCF"
            )
        self._torso = SliderGroup(gui, robot_folder, changed)
        self._tails = (
            TailControls(gui, "First tail", (), self._whole, changed),
            TailControls(gui, "Second tail", (NO_TAIL,), self._whole, changed),
        )
        with gui.add_folder("Motion") as motion_folder:
            self._policy: Any = gui.add_dropdown("legs", policy_choices(start.robot), hint=POLICY_HINT)
            self._motion: Any = gui.add_dropdown("motion of the tail", tuple(KINDS), initial_value=start.motion)
        self._angles = SliderGroup(gui, motion_folder, changed)
        with gui.add_folder("Show"):
            friction = friction_slider()
            self.friction = gui.add_slider(
                friction.label, friction.low, friction.high, friction.step, friction.value, hint=friction.hint
            )
            self.forces = gui.add_checkbox("forces on the feet", True)
            self.traces = gui.add_checkbox("centres of mass", True)
            self.shadows = gui.add_checkbox("shadows", False)
            self.dark = gui.add_checkbox("dark", False)
            self.view = gui.add_button("Look from the start again")
        with gui.add_folder("Save what is shown"):
            self.which: Any = gui.add_dropdown("of", ("…",))
            self.save_robot = gui.add_button("Robot (TOML)")
            self.save_run = gui.add_button("Run (NetCDF)")
            self.save_page = gui.add_button("Playback page (HTML), all")
        self._offer_robot(start)
        self._motion.value = start.motion
        self._angles.show(motion_sliders(start.motion), start.angles)
        self._robot.on_update(lambda event: None if event.client is None else self._other_robot())
        self._motion.on_update(lambda event: None if event.client is None else self._other_motion())
        self._policy.on_update(lambda event: None if event.client is None else changed())

    def choice(self) -> Choice:
        """What is chosen now."""
        with self._whole:
            return Choice(
                robot=self._robots[self._robot.value],
                tails=tuple(tail for tail in (group.choice() for group in self._tails) if tail is not None),
                motion=self._motion.value,
                angles=self._angles.values(),
                policy=self._policy.value,
                torso_mass=self._torso.values()["torso mass"],
            )

    def add_robot(self, robot: Robot) -> None:
        """Offer another robot, and choose it with its own tail."""
        name = robot.name if robot.name not in carriers() else f"{robot.name} (file)"
        with self._whole:
            self._robots[name] = robot
            self._robot.options = tuple(self._robots)
            self._robot.value = name
            self._other_robot()

    def _other_robot(self) -> None:
        with self._whole:
            robot = self._robots[self._robot.value]
            first = tail_choices(robot)[0]
            policy = self._policy.value if self._policy.value in policy_choices(robot) else "constant"
            self._offer_robot(Choice(robot, (TailChoice(first),), policy=policy), keep_second=True)
        self._changed()

    def _offer_robot(self, choice: Choice, *, keep_second: bool = False) -> None:
        robot = choice.robot
        mass = {} if choice.torso_mass is None else {"torso mass": choice.torso_mass}
        self._torso.show((torso_slider(robot),), mass)
        second = None if keep_second else (*choice.tails, TailChoice(NO_TAIL))[1]
        for group, tail in zip(self._tails, (choice.tails[0], second), strict=True):
            group.offer(robot, tail)
        self._policy.options = policy_choices(robot)
        self._policy.value = choice.policy

    def _other_motion(self) -> None:
        with self._whole:
            self._angles.show(motion_sliders(self._motion.value))
        self._changed()

    def offer_saving(self, labels: Sequence[str]) -> None:
        """The tails whose robot and run can be saved."""
        before = self.which.value
        self.which.options = tuple(labels)
        self.which.value = before if before in labels else labels[0]
