"""Who may talk to the lab: pages that it served itself, to names of this machine, in messages of a sensible size.

Any page that somebody opens in a browser can reach servers of their machine. So requests that name another host (a name
that was bound anew to this address) or that come from another page are refused, and files are taken up to a size.
"""

from __future__ import annotations

import http
import ipaddress
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import websockets.asyncio.server
from viser._gui_api import GuiApi

LARGEST_MESSAGE = 4 * 2**20
"""Bytes of one message from a page; files come in parts that are smaller."""
LARGEST_UPLOAD = 8 * 2**20
"""Bytes of a file, and of all files of a page that are under way."""
MOST_UPLOADS = 16
"""Files of a page that are under way."""
LONGEST_NAME = 1000
ANYWHERE = ("0.0.0.0", "::")
LOCAL = ("localhost", "127.0.0.1", "::1")


def is_allowed(host: str | None, origin: str | None, listening: str) -> bool:
    """Whether a request may be answered.

    Args:
        host: that it names, with a port ("127.0.0.1:8686").
        origin: of the page that it comes from; None: from no page.
        listening: address at which the lab listens.
    """
    try:
        name = urlsplit(f"//{host or ''}").hostname or ""
        from_here = origin is None or urlsplit(origin).netloc == host
    except ValueError:
        return False
    known = {*LOCAL, listening, *([socket.gethostname()] if listening in ANYWHERE else [])}
    return from_here and (name in known or (listening in ANYWHERE and _is_address(name)))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@contextmanager
def guarded(listening: str) -> Iterator[None]:
    """Servers of viser that are started meanwhile refuse what is not allowed."""
    serve: Callable[..., Any] = websockets.asyncio.server.serve

    def guarded_serve(*arguments: Any, process_request: Callable[..., Any], **more: Any) -> Any:
        def checked(connection: Any, request: Any) -> Any:
            if is_allowed(request.headers.get("Host"), request.headers.get("Origin"), listening):
                return process_request(connection, request)
            return connection.respond(http.HTTPStatus.FORBIDDEN, "this lab answers to its own page only\n")

        return serve(*arguments, process_request=checked, **{**more, "max_size": LARGEST_MESSAGE})

    websockets.asyncio.server.serve = guarded_serve  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = serve  # pyright: ignore[reportAttributeAccessIssue]


class _Capped:
    """The ways in which viser takes files, with a limit."""

    start: Any = staticmethod(GuiApi._handle_file_transfer_start)
    part: Any = staticmethod(GuiApi._handle_file_transfer_part)


def _start(self: Any, client_id: Any, message: Any) -> None:
    fits = _under_way(self) + message.size_bytes <= LARGEST_UPLOAD
    named = len(message.filename) + len(message.mime_type) <= LONGEST_NAME
    if fits and named and len(self._current_file_upload_states) < MOST_UPLOADS:
        _Capped.start(self, client_id, message)


def _part(self: Any, client_id: Any, message: Any) -> None:
    if _under_way(self) + len(message.content) > LARGEST_UPLOAD:
        self._current_file_upload_states.pop(message.transfer_uuid, None)
        return
    _Capped.part(self, client_id, message)


def _under_way(gui: Any) -> int:
    return sum(state["transferred_bytes"] for state in gui._current_file_upload_states.values())


GuiApi._handle_file_transfer_start, GuiApi._handle_file_transfer_part = _start, _part
