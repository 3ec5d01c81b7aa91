"""The lab as a server on this machine: a page with controls and the player, and a session for everyone who opens it."""

from __future__ import annotations

import errno
import json
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from tailwork.errors import RobotError, TailworkError
from tailwork.lab.choice import Choice, TailChoice, carriers, carrying, policy_choices, robot_from_file, tail_choices
from tailwork.lab.experiment import Experiment, performed, to_compile
from tailwork.lab.results import File, playback_file, results_html, robot_file, run_file
from tailwork.lab.tails import Slider, friction_slider, motion_sliders, tail_sliders, torso_slider
from tailwork.robots.io.toml import LARGEST_FILE
from tailwork.robots.robot import Robot
from tailwork.studies.leg_policies import POLICIES
from tailwork.studies.motions import KINDS
from tailwork.view.player import player_assets, player_fragment

LOOPBACK = "127.0.0.1"
LOCAL = (LOOPBACK, "::1", "localhost")  # names of this machine that no other has
LIFT = 0.005  # any height of a mount that is not zero [m]
HEIGHT = 520  # of the player [px]
MOST_SESSIONS = 64  # of more, the oldest is forgotten
PATIENCE = 2.0  # how long what cannot be interrupted is waited for [s]
COMPILING = "a new structure is compiled: some seconds to a minute or two, once"
CHANGED = "changed: what is shown is the run before; press Run"
OCTETS = "application/octet-stream"


@dataclass
class Session:
    """What one page has: its robots, and what was simulated for it last. Nothing of it is shared with others."""

    robots: dict[str, Robot]
    experiment: Experiment | None = None
    presses: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _quick: threading.Lock = field(default_factory=threading.Lock)

    def press(self, choice: Choice) -> Experiment | None:
        """Simulate what is chosen; None: a newer press has taken its place."""
        with self._lock:
            self.presses += 1
            number = self.presses
        with nullcontext() if to_compile(choice) else self._quick:  # what is compiled does not hold up what is quick
            if number != self.presses:
                return None
            experiment = performed(choice, self.experiment)
        with self._lock:
            if number != self.presses:
                return None
            self.experiment = experiment
            return experiment

    def choice(self, data: Mapping[str, Any]) -> Choice:
        """A choice as the page has sent it."""
        return Choice(
            robot=self.robots[data["robot"]],
            tails=tuple(TailChoice(tail["name"], _numbers(tail["design"])) for tail in data["tails"]),
            motion=data["motion"],
            angles=_numbers(data["angles"]),
            policy=data["policy"],
            torso_mass=float(data["torso_mass"]),
        )


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    return {str(name): float(value) for name, value in values.items()}


class Lab:
    """A running lab."""

    def __init__(self, server: ThreadingHTTPServer, handler: type[_Handler], start: Choice) -> None:
        self._server, self._start = server, start
        self.host = str(server.socket.getsockname()[0])  # at which it listens
        handler.lab = self
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._preparing: threading.Thread | None = None
        self._serving = threading.Thread(target=server.serve_forever, args=(0.05,), name="lab server", daemon=True)
        self.sessions: dict[str, Session] = {}  # by the name that their pages have
        self._serving.start()

    @property
    def address(self) -> str:
        """Of its page."""
        shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self._server.server_port}"

    def get_ready(self) -> None:
        """Compile meanwhile what the first to come will ask for: what is chosen at the start, then a mount off zero,
        which is another structure."""
        raised = tuple(replace(tail, design={**tail.design, "mount.z": LIFT}) for tail in self._start.tails)

        def act() -> None:
            for choice in (self._start, replace(self._start, tails=raised)):
                if not self._stopped.is_set():
                    performed(choice)

        self._preparing = threading.Thread(target=act, name="lab preparation", daemon=True)
        self._preparing.start()

    def page(self) -> str:
        """The page for one who comes, with a session of its own."""
        name, robots, start = secrets.token_hex(16), carriers(), self._start
        first = next((label for label, robot in robots.items() if robot == start.robot), start.robot.name)
        robots.setdefault(first, start.robot)
        with self._lock:
            self.sessions[name] = Session(robots)
            while len(self.sessions) > MOST_SESSIONS:
                del self.sessions[next(iter(self.sessions))]
        data = {
            "session": name,
            "robots": {label: offered(robot) for label, robot in robots.items()},
            "motions": {kind: [_slider(one) for one in motion_sliders(kind)] for kind in KINDS},
            "friction": _slider(friction_slider()),
            "policies": "; ".join(f"{label}: {policy.meaning}" for label, policy in POLICIES.items()),
            "choice": {
                "robot": first, "tails": [asdict(tail) for tail in start.tails], "motion": start.motion,
                "angles": dict(start.angles), "policy": start.policy, "torso_mass": start.torso_mass,
            },
        }  # fmt: skip
        text = files("tailwork.lab").joinpath("page.html").read_text(encoding="utf-8")
        start_data = json.dumps(data, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
        return text.replace("<!-- player -->", player_assets()).replace("<!-- start -->", start_data)

    def answer(self, what: str, session: Session, asked: Mapping[str, str], body: bytes) -> dict[str, Any]:
        """What the page is told when it asks for something."""
        if what == "robot":
            robot = robot_from_file(asked["name"], body)
            name = robot.name if robot.name not in carriers() else f"{robot.name} (file)"
            session.robots[name] = robot
            return {"name": name, "robot": offered(robot)}
        data = json.loads(body)
        if what == "results":
            return {} if session.experiment is None else self._results(session.experiment, data)
        choice = session.choice(data["choice"])
        if what == "check":
            new = to_compile(choice)
            return {"compiling": f"{', '.join(new)}: {COMPILING}" if new else "", "changed": CHANGED}
        experiment = session.press(choice)
        if experiment is None:
            return {}
        player = player_fragment([outcome.scene for outcome in experiment.outcomes], height=HEIGHT)
        labels = [outcome.label for outcome in experiment.outcomes]
        return {"player": player, "labels": labels, **self._results(experiment, data)}

    def _results(self, experiment: Experiment, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"results": results_html(experiment, float(data["friction"]))}

    def saved(self, session: Session, asked: Mapping[str, str]) -> File:
        """A file that is saved: a "robot", a "run", or a "page" that plays all runs."""
        if session.experiment is None:
            raise RobotError("save", asked["what"], "a run that is shown; press Run")
        outcomes = session.experiment.outcomes
        one = next((outcome for outcome in outcomes if outcome.label == asked["which"]), outcomes[0])
        if asked["what"] == "page":
            return playback_file(outcomes)
        return robot_file(one) if asked["what"] == "robot" else run_file(one)

    def stop(self) -> None:
        """Send everyone home and close."""
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        for thread in filter(None, (self._serving, self._preparing)):
            thread.join(PATIENCE)


def offered(robot: Robot) -> dict[str, Any]:
    """What the page offers of a robot: tails with their sliders, what its legs can do, the mass of its torso."""
    tails = {name: [_slider(one) for one in tail_sliders(carrying(robot, name))] for name in tail_choices(robot)}
    return {"tails": tails, "policies": policy_choices(robot), "torso": _slider(torso_slider(robot))}


def _slider(slider: Slider) -> dict[str, Any]:
    return {**asdict(slider), "label": slider.label, "whole": slider.whole}


class _Handler(BaseHTTPRequestHandler):
    """Requests of pages. What a page of another site could send is refused."""

    lab: Lab

    def do_GET(self) -> None:
        """The page, or a file that is saved."""
        self._guarded(self._get)

    def do_POST(self) -> None:
        """What a page asks for, as JSON; errors are told in the page, and the lab lives on."""
        self._guarded(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """The terminal stays quiet."""

    def _get(self, path: str, asked: Mapping[str, str]) -> None:
        if path == "/":
            self._send(self.lab.page().encode(), "text/html; charset=utf-8")
        elif path == "/save":
            name, content = self.lab.saved(self.lab.sessions[asked["session"]], asked)
            self._send(content, OCTETS, f"attachment; filename*=UTF-8''{quote(name)}")
        else:
            self.send_error(404)

    def _post(self, path: str, asked: Mapping[str, str]) -> None:
        length = int(self.headers.get("Content-Length", 0))
        if self.headers.get_content_type() not in ("application/json", OCTETS) or length > 2 * LARGEST_FILE:
            self.send_error(400, "too much, or of a kind that no page of the lab sends")
            return
        session, body = self.lab.sessions.get(asked["session"]), self.rfile.read(length)
        try:
            if session is None:
                raise RobotError("session", asked["session"], "one that the lab still knows; open its page again")
            found = self.lab.answer(path.strip("/"), session, asked, body)
        except TailworkError as error:
            found = {"error": "\n".join([str(error), *getattr(error, "__notes__", ())])}
        except Exception as error:
            found = {"error": f"unexpected {type(error).__name__}: {error}"}
        self._send(json.dumps(found, ensure_ascii=False).encode(), "application/json")

    def _guarded(self, act: Callable[[str, Mapping[str, str]], None]) -> None:
        """Do it if the request is for this lab: another site's name that leads to this machine is none of ours."""
        host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        if self.lab.host in LOCAL and host not in LOCAL:
            self.send_error(403)
            return
        url = urlsplit(self.path)
        try:
            act(url.path, {name: values[0] for name, values in parse_qs(url.query).items()})
        except (KeyError, ValueError, TailworkError):
            self.send_error(400)

    def _send(self, content: bytes, kind: str, disposition: str = "inline") -> None:
        self.send_response(200)
        headers = {"Content-Type": kind, "Content-Disposition": disposition, "Content-Length": str(len(content))}
        for name, value in (headers | {"Cache-Control": "no-store"}).items():
            self.send_header(name, value)
        with suppress(ConnectionError):  # the person may have left
            self.end_headers()
            self.wfile.write(content)


@contextmanager
def open_lab(start: Choice, host: str = LOOPBACK, port: int = 0) -> Iterator[Lab]:
    """A lab that is open while the context lasts.

    Args:
        start: what everyone finds chosen.
        host: the address of this machine at which it listens; loopback unless others shall come.
        port: 0 for any that is free.

    Raises:
        RobotError: it cannot listen there.
    """
    if not 0 <= port <= 65535:
        raise RobotError("--port", port, "a port from 1 to 65535, or 0 for any that is free")

    class Handler(_Handler):
        """Of this lab."""

    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        server = type("Server", (ThreadingHTTPServer,), {"address_family": family})((host, port), Handler)
    except socket.gaierror:
        raise RobotError("--host", host, "an address or a name of this machine, such as 127.0.0.1") from None
    except PermissionError:
        raise RobotError("--port", port, "a port that you may use, such as 8080") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            required = "a port that is free: another program has this one; try --port 0 for any"
            raise RobotError("--port", port, required) from None
        raise RobotError("--host", host, f"an address of this machine ({error.strerror})") from None
    lab = Lab(server, Handler, start)
    try:
        yield lab
    finally:
        lab.stop()
