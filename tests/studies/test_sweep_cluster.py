"""Sweeps on a Dask cluster of real processes: one is killed, then the scheduler."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tailwork
from small_sweeps import small_sweep
from tailwork.cli import main
from tailwork.studies import cluster
from tailwork.studies.cluster import ClusterError
from tailwork.studies.sweep.folder import SweepFolder, open_folder
from tailwork.studies.sweep.run import sweep_here, sweep_on_cluster

pytest.importorskip("distributed")

SOURCE = Path(tailwork.__file__).parent.parent
VARY = ("tail.length=0.3:0.6:4", "tail.mass=0.5,1,-1")
"""Eight designs that are possible and four that are not."""


def dask(folder: Path, *command: str, path: str = str(SOURCE)) -> subprocess.Popen[bytes]:
    """A process of Dask, which has tailwork from a path."""
    common = ["--scheduler-file", str(folder / "scheduler.json"), "--no-dashboard"]
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{command[0]}", *command[1:], *common],
        env={**os.environ, "PYTHONPATH": path},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def new_worker(folder: Path, path: str = str(SOURCE)) -> subprocess.Popen[bytes]:
    """A worker of one thread that nobody starts again."""
    return dask(folder, "dask_worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(folder), path=path)


@contextlib.contextmanager
def started(folder: Path, workers: int) -> Iterator[tuple[Path, list[subprocess.Popen[bytes]]]]:
    """The file of a scheduler, and its process and those of its workers; more of them may be added to the list."""
    file = folder / "scheduler.json"
    processes = [dask(folder, "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-jupyter")]
    processes += [new_worker(folder) for _ in range(workers)]
    try:
        deadline = time.monotonic() + 60.0
        while not file.exists():
            assert time.monotonic() < deadline and processes[0].poll() is None
            time.sleep(0.02)
        yield file, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def bytes_of(folder: SweepFolder) -> list[bytes]:
    """All parts as they are on disk."""
    return [folder.part(chunk).read_bytes() for chunk in range(folder.sweep.chunks)]


def test_a_worker_and_then_the_scheduler_are_killed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Without a worker the sweep is the same to the last bit; without a scheduler it can be finished here."""
    sweep = small_sweep(*VARY, chunk=1)
    here, there, cut = (open_folder(tmp_path / name, sweep) for name in ("here", "there", "cut"))
    with started(tmp_path, 2) as (file, (scheduler, worker, _)):
        sweep_here(here, set(), 2, lambda count: None)  # while the workers get ready

        def end(process: subprocess.Popen[bytes], done: int) -> None:
            if done >= 3 and process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()

        seen: list[int] = []
        sweep_on_cluster(there, set(), str(file), lambda done: (seen.append(done), end(worker, done))[0])
        assert seen == list(range(1, 13)) and worker.poll() == -signal.SIGKILL
        with pytest.raises(ClusterError, match="scheduler is gone; what was finished is kept"):
            sweep_on_cluster(cut, set(), str(file), lambda done: end(scheduler, done))
    done, damaged = cut.finished()
    assert 3 <= len(done) < 12 and not damaged
    before = {chunk: os.stat(cut.part(chunk)).st_mtime_ns for chunk in done}
    sweep_here(cut, done, 1, lambda count: None)
    assert {chunk: os.stat(cut.part(chunk)).st_mtime_ns for chunk in done} == before
    assert bytes_of(there) == bytes_of(here) == bytes_of(cut)
    reasons = [here.read(chunk)["reason"][0].as_py() for chunk in range(12)]
    assert [bool(reason) for reason in reasons] == [False, False, True] * 4
    assert capfd.readouterr().err == ""


def test_clusters_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One without workers, then with one whose tailwork is broken."""
    folder = open_folder(tmp_path / "out", small_sweep(*VARY))
    with started(tmp_path, 0) as (file, processes):
        monkeypatch.setattr(cluster, "PATIENCE", 0.3)
        with pytest.raises(ClusterError, match="no worker for 0 s; start some"):
            sweep_on_cluster(folder, set(), str(file), lambda done: None)
        monkeypatch.setattr(cluster, "PATIENCE", 60.0)
        broken = tmp_path / "broken" / "tailwork"
        broken.mkdir(parents=True)
        (broken / "__init__.py").write_text("raise ImportError('half installed')")
        processes.append(new_worker(tmp_path, path=str(broken.parent)))
        with pytest.raises(ClusterError, match=r"cannot import tailwork .*half installed"):
            sweep_on_cluster(folder, set(), str(file), lambda done: None)
    assert folder.finished() == (set(), set())


def test_workers_of_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused before anything is done, and by the worker itself."""

    class Client:
        def run(self, function: object, on_error: str) -> dict[str, str]:
            return {"tcp://there:1": "another"}

    with pytest.raises(ClusterError, match=r"worker tcp://there:1 has another version of tailwork; install this one"):
        cluster.check_workers("tcp://here:1", Client())
    with pytest.raises(RuntimeError, match="another version"):
        cluster.on_worker("another", sweep_here)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://127.0.0.1:1", "cluster tcp://127.0.0.1:1: cannot be reached"),
        ("nowhere", "missing port number"),
        ("http://127.0.0.1:1", "unknown address scheme"),
        ("missing.json", "missing.json: no such file"),
        ("wrong.json", "not the file of a Dask scheduler"),
    ],
)
def test_clusters_that_cannot_be_reached(
    address: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """2, soon, and a word on what is wrong; the folder is ready for the same command."""
    monkeypatch.chdir(tmp_path)
    Path("wrong.json").write_text(json.dumps({"id": 1}))
    command = ["sweep", "liu2020", "--tail", "pendulum", "--motion", "yaw:40", "--vary", VARY[0]]
    start = time.monotonic()
    assert main([*command, "--cluster", address]) == 2
    assert time.monotonic() - start < 5.0
    assert said in capsys.readouterr().err
    assert (tmp_path / "sweep" / "plan.json").exists()


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install is said."""

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    folder = open_folder(tmp_path / "out", small_sweep(*VARY))
    with pytest.raises(ClusterError, match=r"pip install 'tailwork\[cluster\]'"):
        sweep_on_cluster(folder, set(), "tcp://127.0.0.1:1", lambda done: None)
