"""The cache of compiled kernels: private, whole, checked, and never needed."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np
import pytest

from tailwork.algebra.expression import Tape
from tailwork.cli.main import main
from tailwork.kernels import cache, native
from tailwork.kernels.cache import CacheWarning
from tailwork.kernels.graph import finished
from tailwork.kernels.kernel import Kernel

posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owner and mode here")


def made(factor: float = 2.0) -> float:
    """A small kernel, made anew and asked: 3 · factor + 1."""
    tape = Tape()
    (x,) = tape.inputs(1, 0)
    kernel = Kernel(finished(tape, [x * factor + 1.0], 1, 0))
    return float(kernel(np.array([[3.0]]), kernel.constants(np.empty(0)))[0, 0])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the cache that is not there yet."""
    chosen = tmp_path / "a" / "cache"
    monkeypatch.setenv("TAILWORK_CACHE", str(chosen))
    return chosen / "objects"


def only_file(place: Path) -> Path:
    """The one file in the cache."""
    (file,) = place.iterdir()
    return file


def mode(path: Path) -> int:
    """Who may do what."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """All object code that LLVM is asked to load from now on."""
    seen: list[bytes] = []
    load = llvm.ObjectFileRef.from_data

    def watched(data: bytes) -> Any:
        seen.append(bytes(data))
        return load(data)

    monkeypatch.setattr(llvm.ObjectFileRef, "from_data", watched)
    return seen


def forbid_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on LLVM makes no code."""

    def refuse(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(llvm.TargetMachine, "emit_object", refuse)


# Where it is.


def test_the_variable_moves_the_cache(place: Path) -> None:
    assert cache.folder() == place.parent
    assert made() == 7.0
    assert only_file(place).suffix == ".o"


@pytest.mark.parametrize("chosen", [None, ""])
def test_without_the_variable_it_is_in_the_users_cache(
    chosen: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty variable is none."""
    monkeypatch.delenv("TAILWORK_CACHE", raising=False)
    if chosen is not None:
        monkeypatch.setenv("TAILWORK_CACHE", chosen)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "tailwork"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder() == tmp_path / ".cache" / "tailwork"


# Whose it is.


@posix
@pytest.mark.parametrize("mask", [0o022, 0o000, 0o077])
def test_the_folder_is_made_for_the_user_alone(place: Path, mask: int) -> None:
    """Mode 0700, and files 0600, whatever the mask."""
    before = os.umask(mask)
    try:
        made()
    finally:
        os.umask(before)
    assert mode(place) == 0o700
    assert mode(only_file(place)) == 0o600


@posix
@pytest.mark.parametrize("open_to", [0o777, 0o770, 0o702, 0o755, 0o701])
def test_a_folder_that_is_open_to_others_is_not_used(place: Path, open_to: int) -> None:
    """What is in it may be anybody's code: nothing is read from it, nothing written, and it is left as it is."""
    place.mkdir(parents=True)
    place.chmod(open_to)
    with pytest.warns(CacheWarning, match="others may use it"):
        assert made() == 7.0
    assert not list(place.iterdir())
    assert mode(place) == open_to


@posix
@pytest.mark.parametrize("open_to", [0o777, 0o755])
def test_the_folder_that_holds_it_may_be_open(place: Path, open_to: int) -> None:
    """A folder that the user names is not changed; the objects have one of their own in it."""
    place.parent.mkdir(parents=True)
    place.parent.chmod(open_to)
    assert made() == 7.0
    assert (mode(place.parent), mode(place)) == (open_to, 0o700)


@posix
def test_a_file_that_others_may_write_to_is_not_used(place: Path, loaded: list[bytes]) -> None:
    made()
    only_file(place).chmod(0o666)
    before = len(loaded)
    assert made() == 7.0
    assert mode(only_file(place)) == 0o600, "made anew"
    assert len(loaded) == before + 1


@posix
def test_a_folder_of_another_user_is_not_used(
    place: Path, monkeypatch: pytest.MonkeyPatch, loaded: list[bytes]
) -> None:
    """Neither read nor written nor changed."""
    made()
    file = only_file(place)
    changed = file.stat().st_mtime_ns
    place.chmod(0o755)
    planted = loaded[-1]
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    monkeypatch.setattr(cache, "read", watched := Watched(cache.read))
    with pytest.warns(CacheWarning, match=r"another user.*TAILWORK_CACHE"):
        assert made() == 7.0
    assert watched.answers == [None]
    assert loaded[-1] == planted, "made anew, and alike"
    with pytest.warns(CacheWarning):
        assert made(5.0) == 16.0
    assert only_file(place) == file and file.stat().st_mtime_ns == changed
    assert mode(place) == 0o755


class Watched:
    """A function that remembers what it answered."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.answers: list[Any] = []

    def __call__(self, *arguments: Any) -> Any:
        self.answers.append(self.function(*arguments))
        return self.answers[-1]


# Where it cannot be.


@pytest.mark.parametrize("inside", ["", "below", "far/below"])
def test_a_file_in_the_place_of_the_folder(inside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning that says what to do; everything works, and the file stays as it was."""
    file = tmp_path / "file"
    file.write_text("mine")
    monkeypatch.setenv("TAILWORK_CACHE", str(file / inside))
    with pytest.warns(CacheWarning, match="Set TAILWORK_CACHE to a folder of your own"):
        assert made() == 7.0
    assert file.read_text() == "mine"


def test_a_name_that_no_folder_can_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAILWORK_CACHE", str(tmp_path / ("x" * 5000)))
    with pytest.warns(CacheWarning):
        assert made() == 7.0


def test_a_full_disk(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the last step of writing fails there is a warning, the answer, and nothing left behind."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(CacheWarning, match="No space left on device"):
        assert made() == 7.0
    assert list(place.iterdir()) == []


def test_a_folder_in_the_place_of_a_file(place: Path) -> None:
    made()
    file = only_file(place)
    file.unlink()
    file.mkdir()
    with pytest.warns(CacheWarning):
        assert made() == 7.0
    assert [path.name for path in place.iterdir()] == [file.name], "no temporary file is left"


def test_a_failed_writing_leaves_the_old_file(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write("k", b"old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cache.write("k", b"new")
    assert cache.read("k") == b"old"
    assert len(list(place.iterdir())) == 1


# What is in it.


def test_what_is_kept_is_loaded_and_not_compiled(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made() == 7.0
    changed = only_file(place).stat().st_mtime_ns
    forbid_compiling(monkeypatch)
    assert made() == 7.0
    assert only_file(place).stat().st_mtime_ns == changed
    with pytest.raises(AssertionError, match="compiled again"):
        made(5.0)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda whole: b"",
    "one byte": lambda whole: whole[:1],
    "magic alone": lambda whole: cache.MAGIC,
    "half a checksum": lambda whole: whole[: len(cache.MAGIC) + 16],
    "head alone": lambda whole: whole[: len(cache.MAGIC) + 32],
    "half": lambda whole: whole[: len(whole) // 2],
    "last byte lost": lambda whole: whole[:-1],
    "a byte more": lambda whole: whole + b"\0",
    "a bit in the code": lambda whole: _flipped(whole, -len(whole) // 4),
    "a bit in the checksum": lambda whole: _flipped(whole, len(cache.MAGIC) + 3),
    "a bit in the magic": lambda whole: _flipped(whole, 2),
    "zeros": lambda whole: bytes(len(whole)),
    "another format": lambda whole: b"tailwork object 0\n" + whole[len(cache.MAGIC) :],
    "the bare object": lambda whole: whole[len(cache.MAGIC) + 32 :],
    "text": lambda whole: b"#!/bin/sh\necho hello\n",
}


def _flipped(whole: bytes, k: int) -> bytes:
    damaged = bytearray(whole)
    damaged[k] ^= 4
    return bytes(damaged)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_never_loaded_and_made_anew(damage: str, place: Path, loaded: list[bytes]) -> None:
    made()
    file = only_file(place)
    whole = file.read_bytes()
    file.write_bytes(DAMAGES[damage](whole))
    assert made() == 7.0
    assert file.read_bytes() == whole, "replaced by what was there"
    assert len(loaded) == 2 and loaded[0] == loaded[1], "only what was just compiled is loaded"
    assert only_file(place) == file


def test_the_file_of_another_kernel_is_never_loaded(place: Path) -> None:
    """A file under a wrong name (copied, renamed) is recognised."""
    made()
    file = only_file(place)
    made(5.0)
    (other,) = set(place.iterdir()) - {file}
    file.write_bytes(other.read_bytes())
    assert made() == 7.0


def test_a_dangling_or_foreign_link_is_replaced(place: Path, tmp_path: Path) -> None:
    """A link in place of a file is exchanged, not followed by the writer."""
    made()
    file = only_file(place)
    whole = file.read_bytes()
    target = tmp_path / "target"
    target.write_text("mine")
    for destination in (target, tmp_path / "nowhere"):
        file.unlink()
        file.symlink_to(destination)
        assert made() == 7.0
        assert file.read_bytes() == whole and not file.is_symlink()
    assert target.read_text() == "mine"


# Several at once.


def test_a_reader_sees_whole_files_only(place: Path) -> None:
    """While a file is written again and again, each reading finds one whole content or another."""
    contents = [bytes([k]) * (400_000 + 50_000 * k) for k in range(4)]
    cache.write("k", contents[0])
    finished_writing = threading.Event()

    def write() -> None:
        try:
            for k in range(60):
                cache.write("k", contents[k % 4])
        finally:
            finished_writing.set()

    writer = threading.Thread(target=write)
    writer.start()
    readings = 0
    while not finished_writing.is_set() or readings == 0:
        assert cache.read("k") in contents
        readings += 1
    writer.join()
    assert [path.name for path in place.iterdir()] == ["k.o"]


def test_the_checksum_is_that_of_the_code(place: Path) -> None:
    cache.write("k", b"code")
    assert only_file(place).read_bytes().startswith(cache.MAGIC)
    assert only_file(place).read_bytes().endswith(b"code")
    assert cache.read("k") == b"code"
    assert cache.read("other") is None
    forged = cache.MAGIC + hashlib.sha256(b"other").digest() + b"code"
    only_file(place).write_bytes(forged)
    assert cache.read("k") is None
    assert list(place.iterdir()) == [], "what is damaged is removed"


WORKER = """
import sys, time
from itertools import count
from pathlib import Path
from tailwork import Model
from tailwork.robots import liu2020
robot = liu2020("pendulum").without("legs")
if sys.argv[1] == "no compiling":
    import llvmlite.binding
    del llvmlite.binding.TargetMachine.emit_object
else:
    Path(sys.argv[1]).touch()
    while not Path(sys.argv[2]).exists():
        time.sleep(0.001)
model = Model(robot)
print(model.forward_dynamics([0.1] * 8, [0.2] * 8, [0.3] * 2).tobytes().hex())
"""


def worker(place: Path, *arguments: object) -> subprocess.Popen[str]:
    """Another process that makes a model, with this cache; a warning ends it."""
    environment = {**os.environ, "TAILWORK_CACHE": str(place.parent), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "error", "-c", WORKER, *(str(a) for a in arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str]) -> str:
    """What a worker printed."""
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output


def test_two_processes_at_once_and_a_third_after_them(place: Path, tmp_path: Path) -> None:
    """Both that compile the same kernel at the same moment succeed; the third compiles nothing; all agree."""
    go, ready = tmp_path / "go", [tmp_path / "ready0", tmp_path / "ready1"]
    both = [worker(place, file, go) for file in ready]
    deadline = time.monotonic() + 60.0
    while not all(file.exists() for file in ready) and time.monotonic() < deadline:
        assert all(process.poll() is None for process in both)
        time.sleep(0.005)
    go.touch()
    first, second = (answer(process) for process in both)
    assert first == second and first.strip()
    file = only_file(place)
    changed = file.stat().st_mtime_ns
    assert answer(worker(place, "no compiling")) == first
    assert only_file(place) == file and file.stat().st_mtime_ns == changed


# What it goes by.


class Asked(Exception):
    """Raised in place of a reading."""


def key_of(monkeypatch: pytest.MonkeyPatch, factor: float = 2.0) -> str:
    """The key under which a kernel is looked for."""

    def stop(key: str) -> bytes | None:
        raise Asked(key)

    with monkeypatch.context() as patch:
        patch.setattr(cache, "read", stop)
        with pytest.raises(Asked) as asked:
            made(factor)
    return str(asked.value)


def test_the_key_goes_by_code_processor_and_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that several machines share, or an update, never gives code made for another."""
    keys = [key_of(monkeypatch), key_of(monkeypatch, 5.0)]
    host = native.machine()
    for machine in (replace(host, cpu="another"), replace(host, features=host.features + ",-x87")):
        with monkeypatch.context() as patch:
            patch.setattr(native, "machine", lambda machine=machine: machine)
            keys.append(key_of(monkeypatch))
    with monkeypatch.context() as patch:
        patch.setattr(llvmlite, "__version__", "99.0")
        keys.append(key_of(monkeypatch))
    with monkeypatch.context() as patch:
        patch.setattr(llvm, "llvm_version_info", (99, 0, 0))
        keys.append(key_of(monkeypatch))
    assert len(set(keys)) == len(keys) == 6
    assert key_of(monkeypatch) == keys[0], "and is the same for the same"
    assert all(len(key) == 64 and set(key) <= set("0123456789abcdef") for key in keys), "safe as the name of a file"


def test_what_was_used_longest_ago_goes_first(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit objects are removed, those that were read or written last stay; `tailwork cache` says so."""
    for k in range(8):
        cache.write(f"{k:064d}", bytes(1000))
        os.utime(cache.folder() / "objects" / f"{k:064d}.o", (k, k))
    assert cache.read(f"{0:064d}") is not None  # used again
    size = cache.cached_objects()[0][1]
    assert cache.shrink(3 * size) == 5
    assert {int(file.stem) for file, _, _ in cache.cached_objects()} == {0, 6, 7}
    monkeypatch.setenv("TAILWORK_CACHE_SIZE", "0")
    monkeypatch.setattr(cache, "_writes", count())
    cache.write("9" * 64, bytes(1000))
    assert cache.cached_objects() == [] and cache.limit() == 0


def test_the_command_shows_and_clears_it(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(2):
        cache.write(f"{k:064d}", bytes(10**5))
    assert main(["cache"]) == 0
    assert "2 compiled objects, 0.2 MB of at most 1000 MB" in capsys.readouterr().out
    assert main(["cache", "--clear"]) == 0
    assert "removed 2 compiled objects" in capsys.readouterr().out and cache.cached_objects() == []


def test_a_quiet_cache_is_quiet(place: Path) -> None:
    """No warning where nothing is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made() == 7.0
        assert made() == 7.0
