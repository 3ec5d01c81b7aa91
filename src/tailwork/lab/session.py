"""One person in the lab: what they have chosen, what is simulated for them, and what they see."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from viser import ClientHandle

from tailwork.errors import TailworkError
from tailwork.lab.charts import Charts
from tailwork.lab.choice import Choice, robot_from_file
from tailwork.lab.controls import Controls
from tailwork.lab.experiment import Experiment, Outcome, performed, to_compile
from tailwork.lab.page import SPEEDS, Clock, add_results, keep_dark, message_html, page_settings, prepare, set_dark
from tailwork.lab.results import File, playback_file, results_html, robot_file, run_file
from tailwork.lab.stage import LabStage, eye_for
from tailwork.typing import Floats
from tailwork.view.scene import still_scene

FRAME = 1 / 30  # between two poses that are sent [s]
PATIENCE = 2.0  # how long what cannot be interrupted is waited for [s]
SLIDER_STEP = 0.1  # between two positions of the time slider that are sent [s]
COMPILING = "a new structure is compiled: some seconds to a minute or two, once"
CHANGED = "changed: what is shown is the run before; press Run"


class Session:
    """What one person sees and does; nothing of it is shared with others."""

    def __init__(self, client: ClientHandle, start: Choice) -> None:
        self.client = client
        self.experiment: Experiment | None = None  # what is shown
        self.message = ""  # what the page says
        self.took = float("nan")  # from the last press of run until the robot moves [s]
        self._lock = threading.RLock()
        self._quick = threading.Lock()  # runs that need nothing compiled, one at a time
        self._closed = threading.Event()
        self._presses = 0
        self._workers: list[threading.Thread] = []
        self._eye: tuple[Floats, float] | None = None  # where the camera was put, and for which shape of the window
        prepare(client)
        self.stage = LabStage(client.scene)
        self.controls = Controls(client.gui, start, self._changed)
        self._clock = Clock(speed=SPEEDS[self.controls.speed.value])
        side = add_results(client)
        with side:
            self._results = client.gui.add_html("")
        self._charts = Charts(client.gui, side)
        self._listen()
        self._player = threading.Thread(target=self._play, name="lab playback", daemon=True)
        self._player.start()
        self._workers.append(threading.Thread(target=self._ask, name="lab question", daemon=True))
        self._workers[0].start()
        self.press()

    # What the person does

    def _listen(self) -> None:
        """Every control does something. A value that we have set ourselves is no deed of the person's."""
        controls = self.controls
        controls.run.on_click(lambda event: self.press())
        controls.play.on_click(lambda event: self.play(not self._clock.playing))
        controls.time.on_update(lambda event: None if event.client is None else self.seek(controls.time.value / 1e3))
        controls.speed.on_update(lambda event: self._speed())
        controls.upload.on_upload(lambda event: self._guarded(self._load))
        controls.friction.on_update(lambda event: self._tabulate())
        controls.forces.on_update(lambda event: self._restage())
        controls.traces.on_update(lambda event: self._restage())
        controls.shadows.on_update(lambda event: self.stage.shade(controls.shadows.value))
        controls.dark.on_update(lambda event: self._darken(event.client is not None))
        controls.view.on_click(lambda event: self._look())
        controls.save_robot.on_click(lambda event: self._save(lambda one, all_: robot_file(one)))
        controls.save_run.on_click(lambda event: self._save(lambda one, all_: run_file(one)))
        controls.save_page.on_click(lambda event: self._save(lambda one, all_: playback_file(all_)))
        self.client.camera.on_update(lambda camera: self._fit())

    def press(self) -> None:
        """Simulate what is chosen; a press while another is being simulated takes its place."""
        pressed = time.perf_counter()
        with self._lock:
            if self._closed.is_set():
                return
            self._presses += 1
            details = (self._presses, self.controls.choice(), pressed)
            worker = threading.Thread(target=self._work, args=details, name="lab run", daemon=True)
            self._workers = [one for one in self._workers if one.is_alive()] + [worker]
            worker.start()

    def _work(self, number: int, choice: Choice, pressed: float) -> None:
        """Simulate, and show it if nothing newer is wanted by then."""

        def wanted() -> bool:
            return number == self._presses

        def act() -> None:
            new = to_compile(choice)
            if new:
                self._say("busy", f"{'' if self.experiment else 'getting ready… '}{', '.join(new)}: {COMPILING}")
                self._show_standing(choice)
            with nullcontext() if new else self._quick:  # what is compiled for long does not hold up what is quick
                if not wanted():
                    return
                experiment = performed(choice, self.experiment)
            with self._lock:
                if wanted():
                    self._show(experiment)
                    self.took = time.perf_counter() - pressed
                    took = f"{self.took * 1e3:.0f} ms" if self.took < 10.0 else f"{self.took:.0f} s"
                    self._say("done", f"simulated and shown in {took}")

        self._guarded(act, wanted)

    def _guarded(self, act: Callable[[], Any], wanted: Callable[[], bool] = lambda: True) -> None:
        """Do something; what goes wrong is shown in the page, and the lab lives on."""
        try:
            act()
        except TailworkError as error:
            if wanted():
                self._say("error", "\n".join([str(error), *getattr(error, "__notes__", ())]))
        except Exception as error:
            if wanted() and not self._closed.is_set():
                self._say("error", f"unexpected {type(error).__name__}: {error}")

    def _changed(self) -> None:
        """Another choice: say at once if it is not possible, or if it will take longer."""

        def act() -> None:
            new = to_compile(self.controls.choice())
            self._say("note", f"{CHANGED}. {', '.join(new)}: {COMPILING}" if new else CHANGED)

        self._guarded(act)

    def _load(self) -> None:
        file = self.controls.upload.value
        robot = robot_from_file(file.name, file.content)
        with self._lock:
            self.controls.add_robot(robot)

    def _save(self, make: Callable[[Outcome, tuple[Outcome, ...]], File]) -> None:
        def act() -> None:
            if self.experiment is not None:
                outcomes = self.experiment.outcomes
                one = next((o for o in outcomes if o.label == self.controls.which.value), outcomes[0])
                self.client.send_file_download(*make(one, outcomes), save_immediately=True)

        self._guarded(act)

    # What the person sees

    def _say(self, kind: str, text: str) -> None:
        with self._lock:
            self.message = text
            self.controls.message.content = message_html(kind, text)

    def _show(self, experiment: Experiment) -> None:
        self.experiment = experiment
        scenes = [outcome.scene for outcome in experiment.outcomes]
        with self.client.atomic():
            self._clock.restart(max(scene.duration for scene in scenes))
            self.play(True)
            self._restage()
            self.controls.time.max = round(1e3 * self._clock.duration, 1)
            self._charts.show(scenes)
            self._tabulate()
            self.controls.offer_saving([outcome.label for outcome in experiment.outcomes])
        if self._eye is None or self._unmoved():
            self._look()
        self.client.flush()

    def _show_standing(self, choice: Choice) -> None:
        """The robots as they stand, while the first runs are being compiled."""
        with self._lock:
            if self.experiment is None:
                scenes = [still_scene(one.robot, label) for label, one in choice.scenarios.items()]
                self.stage.show(scenes, forces=False, traces=False)
                self._look()
                self.client.flush()

    def _restage(self) -> None:
        with self._lock:
            if self.experiment is not None:
                scenes = [outcome.scene for outcome in self.experiment.outcomes]
                self.stage.show(scenes, forces=self.controls.forces.value, traces=self.controls.traces.value)
                self.stage.pose(self._clock.now())

    def _tabulate(self) -> None:
        with self._lock:
            if self.experiment is not None:
                self._results.content = results_html(self.experiment, self.controls.friction.value)

    def _ask(self) -> None:
        """What suits the browser."""
        self.controls.dark.value, self.controls.shadows.value = page_settings(self.client)

    def _darken(self, chosen: bool) -> None:
        dark = self.controls.dark.value
        set_dark(self.client, dark)
        self.stage.darken(dark)
        if chosen:
            keep_dark(self.client, dark)

    def _look(self) -> None:
        """Put the camera where all is seen."""
        with self._lock:
            camera, (lower, upper) = self.client.camera, self.stage.extent
            if not (upper - lower).any():  # nothing is there yet
                return
            radius = float(np.linalg.norm(upper - lower)) / 2.0
            position, look_at = eye_for((lower + upper) / 2.0, radius, camera.aspect, camera.fov, self.stage.forward)
            self._eye = position, camera.aspect
            camera.position = position
            camera.look_at = look_at

    def _unmoved(self) -> bool:
        """Whether the camera is still where it was put."""
        return self._eye is not None and bool(np.allclose(self.client.camera.position, self._eye[0], atol=1e-3))

    def _fit(self) -> None:
        """Look again where the window has another shape, unless the person has chosen a view."""
        with self._lock:
            if self._eye is not None and abs(self.client.camera.aspect - self._eye[1]) > 0.01 and self._unmoved():
                self._look()

    def play(self, playing: bool) -> None:
        """Play, or pause."""
        with self._lock:
            self._clock.play(playing)
            self.controls.play.label = "Pause" if playing else "Play"

    def seek(self, seconds: float) -> None:
        """Pause at a time of the runs [s]."""
        with self._lock:
            self.play(False)
            self._clock.seek(seconds)
            self.stage.pose(self._clock.now())

    def _speed(self) -> None:
        with self._lock:
            self._clock.go(SPEEDS[self.controls.speed.value])

    def _play(self) -> None:
        """Moves the robots until the person leaves."""
        sent = 0.0
        while not self._closed.wait(FRAME):
            with self._lock:
                if self.experiment is None or not self._clock.playing or self._quick.locked():
                    continue  # while a run is made that will be there at once, all that one has goes to it
                now = self._clock.now()
                with self.client.atomic():
                    self.stage.pose(now)
                    if time.monotonic() - sent > SLIDER_STEP:
                        sent = time.monotonic()
                        self.controls.time.value = round(1e3 * now, 1)

    def close(self) -> None:
        """The person has left: stop what goes on for them, and wait for it, but not for what is being compiled."""
        with self._lock:
            self._closed.set()
            self._presses += 1
        for thread in (self._player, *self._workers):
            thread.join(PATIENCE)
