"""The benchmark compares like with like: other engines give our accelerations and our trajectories."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.command import main
from benchmarks.engines.mujoco_peer import MujocoPeer, rollout
from benchmarks.engines.numpy_peer import NumpyPeer, numpy_batch
from benchmarks.engines.pinocchio_peer import PinocchioPeer
from benchmarks.figures.accuracy import accuracy_against_time
from benchmarks.goals import Goal
from benchmarks.races.designs import designs
from benchmarks.races.evaluation import LIMITS, MUJOCO_LIMITS, EngineTiming, disagreement
from benchmarks.races.peak import ROUNDS, _loop
from benchmarks.races.trajectories import DURATION
from benchmarks.races.work_precision import Point
from benchmarks.robots import ROBOTS, example_state, model_of
from benchmarks.timing import interleaved, ratio, together
from tailwork.model import Model

Peer = Callable[[Model], object]


def acceleration_apart(peer: Peer, name: str) -> float:
    """Relative disagreement of a peer's accelerations with ours."""
    model = model_of(name)
    q, v, tau = example_state(model)
    found = peer(model).acceleration(q, v, tau)  # type: ignore[attr-defined]
    return disagreement(found, model.forward_dynamics(q, v, tau))


@pytest.mark.parametrize("name", ["pendulum", "usrt", "cockroach"])
def test_pinocchio_gives_our_accelerations(name: str) -> None:
    assert acceleration_apart(PinocchioPeer, name) < LIMITS["Pinocchio"]


@pytest.mark.parametrize("name", ROBOTS)
def test_mujoco_gives_our_accelerations(name: str) -> None:
    """As nearly as its soft feet and gears allow, in a state that bends the USRT in space."""
    assert acceleration_apart(lambda model: MujocoPeer(model, "Euler", 1e-5), name) < MUJOCO_LIMITS[name]


@pytest.mark.parametrize("name", ["pendulum", "r3", "usrt"])
def test_numpy_gives_our_accelerations(name: str) -> None:
    assert acceleration_apart(NumpyPeer, name) < LIMITS["NumPy"]


def test_numpy_on_columns_gives_our_accelerations() -> None:
    """For rows that differ, in the order of the rows."""
    model = model_of("pendulum")
    row = np.concatenate(example_state(model))
    rows = row * np.random.default_rng(1).uniform(0.9, 1.1, (1100, len(row)))  # more than one tile
    q, v, tau = np.split(rows, np.cumsum([len(model.coordinate_names), len(model.velocity_names)]), axis=1)
    assert disagreement(numpy_batch(model, rows)(), model.forward_dynamics(q, v, tau)) < 1e-12


def test_drake_gives_our_accelerations() -> None:
    pytest.importorskip("pydrake")
    from benchmarks.engines.drake_peer import DrakePeer

    assert acceleration_apart(DrakePeer, "cockroach") < LIMITS["Drake"]


def test_drake_has_no_pinned_feet() -> None:
    from benchmarks.engines.drake_peer import DrakePeer

    with pytest.raises(ValueError, match="pinned feet"):
        DrakePeer(model_of("pendulum"))


def test_jax_gives_our_accelerations() -> None:
    pytest.importorskip("jax")
    from benchmarks.engines.jax_peer import JaxPeer

    model = model_of("pendulum")
    q, v, tau = example_state(model)
    expected, peer = model.forward_dynamics(q, v, tau), JaxPeer(model)
    assert disagreement(peer.acceleration(q, v, tau), expected) < LIMITS["JAX"]
    rows = np.tile(np.concatenate([q, v, tau]), (8, 1))
    assert disagreement(np.asarray(peer.batch(rows)()), np.tile(expected, (8, 1))) < LIMITS["JAX"]


@pytest.mark.parametrize(
    ("name", "integrator", "step", "gain", "last"),
    [("pendulum", "RK4", 2e-3, 3.5, 2e-6), ("usrt", "implicitfast", 1e-3, 1.9, 2e-3)],
)
def test_mujoco_comes_nearer_to_us_with_shorter_steps(
    name: str, integrator: str, step: float, gain: float, last: float
) -> None:
    """Its error halves with the step for the method of order 1, and is quartered by RK4, whose constraints soften with
    the square of the step; the place it comes to is ours."""
    some = designs(name, 2)
    ours = some.simulated(1, "auto", 1e-10, 1e-12)
    assert ours.finished.all()
    errors = []
    for h in (step, step / 2):
        steps = round(DURATION / h)
        run = rollout(some.models(1), some.q, some.v, some.efforts[:1], steps=steps, step=h, integrator=integrator)
        errors.append(np.abs(run.ends() - np.concatenate([ours.q, ours.v], axis=1)).max())
    assert errors[0] / errors[1] > gain
    assert errors[1] < last


@pytest.mark.parametrize(("name", "tenfold"), [("pendulum", False), ("usrt", False), ("usrt", True)])
def test_no_design_of_the_races_fails(name: str, tenfold: bool) -> None:
    """Every design starts in its own balance, and none of its legs becomes straight."""
    many = designs(name, 48, tenfold)
    own = many.models(12)[-1]  # not one of those that the balance was learnt from
    zero = np.zeros(len(many.v))
    legs = own.allocation(many.q, zero, zero).efforts[:12]
    assert np.abs(many.efforts[11, :12] - legs).max() < 1e-9
    assert many.simulated().reasons == ("",) * 48


def test_ratios_are_of_pairs() -> None:
    """A moment that slows both down leaves their ratio as it is."""
    assert ratio([2.0, 20.0, 2.0], [1.0, 10.0, 1.0]).median == 2.0
    found = ratio([1.0, 2.0, 3.0, 4.0, 5.0], [1.0] * 5)
    assert (found.lower, found.median, found.upper) == (2.0, 3.0, 4.0)


def test_contenders_take_turns() -> None:
    """Each as often as it was asked for, and threads do all that they are given."""
    said: list[str] = []
    times = interleaved({"a": lambda: said.append("a"), "b": lambda: said.append("b")}, {"b": 2}, 3)
    assert "".join(said) == "abbabbabb"
    assert [len(found) for found in times.values()] == [3, 3]
    together([lambda: said.append("c"), lambda: said.append("d")], 5)()
    assert (said.count("c"), said.count("d")) == (5, 5)


def test_the_loop_of_the_peak_counts_what_it_does() -> None:
    """x ← x/2 + 1/2 stays finite however often, so no operation is on infinite or denormal numbers."""
    assert ROUNDS > 1000
    run = _loop(8)
    held = run.__defaults__[0][1]  # type: ignore[index]
    run()
    assert (held == 0.5).all()


def test_goals() -> None:
    assert Goal("a", 2.0, 1.0).met and not Goal("a", 0.5, 1.0).met
    assert Goal("a", 0.5, 1.0, least=False).met and not Goal("a", 2.0, 1.0, least=False).met
    assert not Goal("a", math.nan, 1.0).met and not Goal("a", math.nan, 1.0, least=False).met


def test_a_rival_that_disagrees_is_wrong() -> None:
    assert EngineTiming("pendulum", "X", False, 1.0, 1e-3, 1e-6).wrong
    assert EngineTiming("pendulum", "X", False, 1.0, math.nan, 1e-6).wrong
    assert not EngineTiming("pendulum", "X", False, 1.0, 1e-9, 1e-6).wrong
    assert not EngineTiming("pendulum", "X", False, note="not installed").wrong


def test_names_in_the_figure_do_not_overlap() -> None:
    """One name a curve, in its panel, none over another."""
    points = [
        Point(robot, method, engine, False, 10.0**-k, base * 2.0**k, 10.0 ** -(k + shift))
        for robot in ("pendulum", "usrt")
        for method, engine, base, shift in (
            ("Dormand–Prince", "tailwork", 0.1, 1), ("Dormand–Prince, lanes", "tailwork", 0.03, 1),
            ("Rodas5P", "tailwork", 0.12, 2), ("MuJoCo RK4, rollout", "MuJoCo", 3.0, 0),
            ("SciPy RK45 on Pinocchio", "SciPy", 3.0, 0),
        )
        for k in range(2, 7)
    ]  # fmt: skip
    figure = accuracy_against_time(points)
    for axes in figure.axes:
        boxes = [text.get_window_extent() for text in axes.texts]
        assert len(boxes) == 5
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
        frame = axes.get_window_extent()
        assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 + 1.0 for box in boxes)


def test_a_part_of_the_benchmark_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Trajectories alone: a table, goals, and a file with the machine."""
    path = tmp_path / "part.json"
    assert main(["--only", "trajectories", "--repeats", "1", "--json", str(path)]) == 0
    content = json.loads(path.read_text())
    assert sorted(content) == ["goals", "machine", "trajectories"]
    assert content["trajectories"][0]["peer"] == "SciPy RK45 on Pinocchio"
    assert all(row["difference"] < 1e-6 for row in content["trajectories"])
    assert "What we hold ourselves to" in capsys.readouterr().out


@pytest.mark.parametrize("options", [["--repeats", "0"], ["--json", "nowhere/at/all.json"], ["--only", "nothing"]])
def test_bad_options(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(options)
    except SystemExit as stop:
        code = stop.code
    assert code not in (0, None)
    said = capsys.readouterr().err
    assert options[0] in said or options[1] in said
