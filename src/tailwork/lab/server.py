"""The lab as a server on this machine: a session for everyone who opens its page."""

from __future__ import annotations

import contextlib
import errno
import io
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from viser import ClientHandle, ViserServer

from tailwork.errors import ArgumentError
from tailwork.lab.choice import Choice
from tailwork.lab.experiment import performed
from tailwork.lab.guard import guarded
from tailwork.lab.page import TITLE
from tailwork.lab.session import PATIENCE, Session

LOOPBACK = "127.0.0.1"
LIFT = 0.005  # any height of a mount that is not zero [m]


class Lab:
    """A running lab."""

    def __init__(self, server: ViserServer, start: Choice) -> None:
        self._server, self._start = server, start
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._sessions: dict[int, Session] = {}
        self._preparing: threading.Thread | None = None
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        server.on_client_connect(self._enter)
        server.on_client_disconnect(self._leave)

    @property
    def address(self) -> str:
        """Of its page."""
        host = self._server.get_host()
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
        return f"http://{shown}:{self._server.get_port()}"

    @property
    def sessions(self) -> list[Session]:
        """Of all who are here, in the order of their coming."""
        with self._lock:
            return [self._sessions[number] for number in sorted(self._sessions)]

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

    def _enter(self, client: ClientHandle) -> None:
        session = Session(client, self._start)
        with self._lock:
            self._sessions[client.client_id] = session
        if self._stopped.is_set() or client.client_id not in self._server.get_clients():  # gone before all was there
            self._leave(client)

    def _leave(self, client: ClientHandle) -> None:
        with self._lock:
            session = self._sessions.pop(client.client_id, None)
        if session is not None:
            session.close()

    def stop(self) -> None:
        """Send everyone home and close."""
        self._stopped.set()
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            session.close()
        with contextlib.redirect_stdout(io.StringIO()):  # the server says that it has stopped
            self._server.stop()
        if self._preparing is not None:
            self._preparing.join(PATIENCE)


@contextmanager
def open_lab(start: Choice, host: str = LOOPBACK, port: int = 0) -> Iterator[Lab]:
    """A lab that is open while the context lasts.

    Args:
        start: what everyone finds chosen.
        host: the address of this machine at which it listens; loopback unless others shall come.
        port: 0 for any that is free.

    Raises:
        ArgumentError: it cannot listen there.
    """
    _require_free(host, port)
    warnings.filterwarnings("ignore", "Queued a .* on a closed connection")  # what was on its way to one who has left
    with contextlib.redirect_stdout(io.StringIO()), guarded(host):  # the server says more than one wants to know
        server = ViserServer(host=host, port=port, label=TITLE, verbose=False)
    lab = Lab(server, start)
    try:
        if port and server.get_port() != port:  # taken in the meantime; the server has gone to another one
            raise _taken(port)
        yield lab
    finally:
        lab.stop()


def _require_free(host: str, port: int) -> None:
    if not 0 <= port <= 65535:
        raise ArgumentError("--port", port, "a port from 1 to 65535, or 0 for any that is free")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, port), family=family).close()
    except socket.gaierror:
        raise ArgumentError("--host", host, "an address or a name of this machine, such as 127.0.0.1") from None
    except PermissionError:
        raise ArgumentError("--port", port, "a port that you may use, such as 8080") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise _taken(port) from None
        raise ArgumentError("--host", host, f"an address of this machine ({error.strerror})") from None


def _taken(port: int) -> ArgumentError:
    return ArgumentError("--port", port, "a port that is free: another program has this one; try --port 0 for any")
