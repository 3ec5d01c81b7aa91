"""Only the lab's own page may talk to it, and files are taken up to a size."""

from __future__ import annotations

import http.client
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from viser._gui_api import GuiApi

from tailwork.lab.choice import first_choice
from tailwork.lab.guard import LARGEST_UPLOAD, MOST_UPLOADS, is_allowed
from tailwork.lab.server import open_lab
from tailwork.robots import liu2020

UPGRADE = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
           "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip


@pytest.mark.parametrize(
    ("host", "origin", "listening", "allowed"),
    [
        ("127.0.0.1:8686", None, "127.0.0.1", True),
        ("localhost:8686", "http://localhost:8686", "127.0.0.1", True),
        ("[::1]:8686", "http://[::1]:8686", "::1", True),
        ("127.0.0.1:8686", "http://evil.example", "127.0.0.1", False),
        ("127.0.0.1:8686", "http://127.0.0.1:9999", "127.0.0.1", False),
        ("127.0.0.1:8686", "null", "127.0.0.1", False),
        ("evil.example:8686", "http://evil.example:8686", "127.0.0.1", False),
        ("192.168.1.7:8686", "http://192.168.1.7:8686", "127.0.0.1", False),
        ("192.168.1.7:8686", "http://192.168.1.7:8686", "0.0.0.0", True),
        ("evil.example:8686", None, "0.0.0.0", False),
        ("[broken", None, "127.0.0.1", False),
        (None, None, "127.0.0.1", False),
    ],
)
def test_who_may_ask(host: str | None, origin: str | None, listening: str, allowed: bool) -> None:
    """Names of this machine only, and pages that came from the very same address."""
    assert is_allowed(host, origin, listening) is allowed


def test_the_server_refuses_others() -> None:
    """Pages of others get no page and no socket; the lab's own gets both."""
    with open_lab(first_choice(liu2020("pendulum"), [])) as lab:
        place = lab.address.removeprefix("http://")
        for headers, status in (
            ({}, 200),
            ({"Host": "evil.example"}, 403),
            ({**UPGRADE, "Origin": "http://evil.example"}, 403),
            ({**UPGRADE, "Origin": lab.address}, 101),
        ):
            connection = http.client.HTTPConnection(place, timeout=10)
            connection.request("GET", "/", headers=headers)
            assert connection.getresponse().status == status
            connection.close()


def test_uploads_are_capped() -> None:
    """Files that are too large, or that never end, do not stay in memory."""
    gui: Any = SimpleNamespace(_current_file_upload_states={}, _gui_input_handle_from_uuid={"button": None},
                               _websock_interface=SimpleNamespace(queue_message=lambda message: None))  # fmt: skip

    def start(name: str, size: int) -> None:
        GuiApi._handle_file_transfer_start(gui, 0, SimpleNamespace(  # pyright: ignore[reportArgumentType]
            source_component_uuid="button", transfer_uuid=name, filename=name, mime_type="", part_count=99,
            size_bytes=size))  # fmt: skip

    def part(name: str, number: int, size: int) -> None:
        GuiApi._handle_file_transfer_part(gui, 0, SimpleNamespace(  # pyright: ignore[reportArgumentType]
            source_component_uuid="button", transfer_uuid=name, part_index=number, content=bytes(size)))  # fmt: skip

    start("large", LARGEST_UPLOAD + 1)
    start("x" * 10_000, 10)
    assert gui._current_file_upload_states == {}
    start("lies", 10)
    assert isinstance(gui._current_file_upload_states["lies"]["lock"], type(threading.Lock()))
    for k in range(20):
        part("lies", k, LARGEST_UPLOAD // 8)
        kept = sum(state["transferred_bytes"] for state in gui._current_file_upload_states.values())
        assert kept <= LARGEST_UPLOAD
    assert gui._current_file_upload_states == {}
    for k in range(1000):
        start(f"never goes on {k}", 10)
    assert len(gui._current_file_upload_states) == MOST_UPLOADS
