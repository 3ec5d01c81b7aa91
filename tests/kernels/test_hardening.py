"""What compiling and keeping costs is bounded, and no way to end a process harms another."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

import tailwork
from tailwork import progress
from tailwork.errors import RobotError
from tailwork.kernels import kernel
from tailwork.model import compiled as models
from tailwork.robots import liu2020

FORKED = """
import os, sys, threading, time
import numpy as np
import tailwork
import tailwork.simulation  # an import that is under way has a lock of Python's own
from tailwork.kernels import native

def slow(assembly, optimised, real=native._object):
    compiling.set()
    time.sleep(1.0)
    return real(assembly, optimised)

compiling = threading.Event()
native._object = slow
model = tailwork.Model(tailwork.robots.liu2020("pendulum"))
state = np.zeros(len(model.velocity_names))
work = threading.Thread(target=lambda: tailwork.simulate(model, model.standing(), 0.01))
work.start()
compiling.wait()
child = os.fork()
if not child:
    native._object = slow.__defaults__[0]
    model.energy(model.standing(), state)
    tailwork.simulate(model, model.standing(), 0.01)
    os._exit(7)
_, status = os.waitpid(child, 0)
work.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""

SAVING = """
import sys
from tailwork.files import write_whole
print("ready", flush=True)
while True:
    write_whole(sys.argv[1], bytes(30_000_000))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_of_a_process_that_compiles_does_not_hang(tmp_path: Path) -> None:
    """Whoever forks while a thread compiles gets a child that compiles and simulates for itself."""
    found = subprocess.run([sys.executable, "-c", FORKED], env={**os.environ, "TAILWORK_CACHE": str(tmp_path)},
                           timeout=60, check=False)  # fmt: skip
    assert found.returncode == 7


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files always have a name here")
def test_killed_saves_leave_nothing_behind(tmp_path: Path) -> None:
    """A process that is killed while it writes leaves the old file or the new one, and no other."""
    for k in range(3):
        process = subprocess.Popen([sys.executable, "-c", SAVING, tmp_path / "run.nc"], stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline()
        time.sleep(0.05 + 0.013 * k)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert [file.name for file in tmp_path.iterdir()] in ([], ["run.nc"])


def test_kernels_are_freed() -> None:
    """What only caches held is gone; models that are there go on working, with the same code."""
    model = tailwork.Model(liu2020("pendulum"))
    run = tailwork.simulate(model, model.standing(), 0.01)
    other = tailwork.Model(liu2020("pendulum"), ("leg1", "leg3"), attitude="quaternion")  # which no other test has
    own = weakref.ref(other._recipe("points")[0])
    del other
    theirs = weakref.ref(model._recipe("forward_dynamics")[0])
    model.forward_dynamics(model.standing(), np.zeros(len(model.velocity_names)), np.zeros(len(model.actuator_names)))
    tailwork.free_kernels()
    gc.collect()
    assert own() is None and theirs() is not None and not models._kernels
    again = tailwork.simulate(model, model.standing(), 0.01)
    np.testing.assert_array_equal(again.final_state[0], run.final_state[0])


def test_equations_that_are_too_large_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beyond a size nothing is compiled; below it, what will take long says so beforehand."""
    monkeypatch.setattr(kernel, "MOST_OPERATIONS", 1000)
    tailwork.free_kernels()
    with pytest.raises(RobotError, match=r"r3 with [\d,]+ operations'; required: at most 1,000 operations for"):
        tailwork.Model(liu2020("r3"), "none")
    monkeypatch.setattr(progress, "MANY", 100)
    with progress.compiling("a long tail", 123_456):
        assert capsys.readouterr().err == (
            "tailwork: compiling the equations of a long tail, 123,456 operations: up to 40 s (once; kept for later)\n"
        )
