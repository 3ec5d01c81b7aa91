"""Many runs at once: the same as each alone, whatever the company."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tailwork.control import Constant, Tracking, point_to_point
from tailwork.errors import ArgumentError, StateError
from tailwork.model import Model
from tailwork.robots import liu2020
from tailwork.simulation import Batch, Chunk, LegStraight, simulate, simulate_batch
from tailwork.simulation.batch import batch, kernels

RUNS = 23  # not a multiple of any number of lanes
DURATION = 0.12
RNG = np.random.default_rng(5)
LENGTHS, MASSES = RNG.uniform(0.3, 0.6, RUNS), RNG.uniform(0.5, 1.5, RUNS)
ENDS = RNG.uniform(0.3, 1.2, RUNS)  # of the swing [rad]


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(liu2020("pendulum"))


def control(model: Model, end: float = 0.7, kp: float = 1000.0) -> list[Any]:
    """Constant torques of the legs, and a tail that swings to the side."""
    torques = model.static_torques(model.standing())[:12]
    swing, straight = point_to_point(0.0, end, DURATION), point_to_point(0.0, 0.0, DURATION)
    return [
        Constant(values=(*torques, 0.0, 0.0)),
        Tracking(limb="tail", coordinate="ta", profile=straight, kp=kp, kd=20.0),
        Tracking(limb="tail", coordinate="tb", profile=swing, kp=kp, kd=20.0),
    ]


def states(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Some start too fast: a leg of theirs becomes straight."""
    v = np.random.default_rng(6).uniform(-0.3, 0.3, (RUNS, 8))
    v[::5, 2] = 2.5
    return np.tile(model.standing(), (RUNS, 1)), v


def varied() -> dict[str, np.ndarray]:
    """Designs and control that differ."""
    return {"tail.length": LENGTHS, "tail.mass": MASSES, "control.3.profile.end": ENDS}


def run_batch(model: Model, **changes: Any) -> Batch:
    """The batch of this file."""
    arguments = {"parameters": varied(), "control": control(model)} | changes
    return simulate_batch(model, states(model), DURATION, **arguments)


def alone(model: Model, k: int, **options: Any) -> Any:
    """One of its runs, simulated alone."""
    robot = model.robot.replace({"tail.length": float(LENGTHS[k]), "tail.mass": float(MASSES[k])})
    q, v = states(model)
    laws = control(model, float(ENDS[k]))
    return simulate(Model(robot), (q[k], v[k]), DURATION, control=laws, **options)


@pytest.mark.measured("batches")
@pytest.mark.parametrize("method", [{"method": "dopri5"}, {"method": "rk4", "step": 1e-3}, {"method": "rodas5p"}])
def test_each_run_is_as_if_alone(measured: Callable[..., None], model: Model, method: dict[str, Any]) -> None:
    """To the last bit: the same steps, the same end, for the same reason."""
    found = run_batch(model, **method)
    assert 0 < (~found.finished).sum() < RUNS, "some end early, most do not"
    for k in range(RUNS):
        single = alone(model, k, **method)
        assert single.trajectory is not None
        assert found.reasons[k] == ("" if single.stopped is None else single.stopped.reason)
        np.testing.assert_array_equal(found.q[k], single.final_state[0])
        np.testing.assert_array_equal(found.v[k], single.final_state[1])
        assert found.steps[k] == len(single.trajectory.times) - 1
        assert found.times[k] == single.trajectory.times[-1]
        last = single.trajectory.pieces[-1].steps.states[-1]
        apart = np.abs(np.concatenate([found.q[k], found.v[k]]) - last).max()
        measured(f"runs of a batch beside each alone, {found.method}", apart, at_most=0.0)


def test_company_does_not_matter(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Order, number of runs, threads and tiles leave every bit as it is."""
    whole = run_batch(model)
    order = np.random.default_rng(1).permutation(RUNS)[:17]
    q, v = states(model)
    some = {name: values[order] for name, values in varied().items()}
    monkeypatch.setattr(batch, "TILE", 8)
    monkeypatch.setattr(kernels, "SHARE", 3)
    fewer = simulate_batch(model, (q[order], v[order]), DURATION, parameters=some, control=control(model), threads=3)
    for name in ("q", "v", "times", "steps", "rejected"):
        np.testing.assert_array_equal(getattr(fewer, name), getattr(whole, name)[order])
    assert fewer.reasons == tuple(whole.reasons[k] for k in order)


def test_a_design_that_is_not_possible(model: Model) -> None:
    """It is refused with its reason; its neighbours do not notice."""
    whole = run_batch(model)
    lengths = LENGTHS.copy()
    lengths[[3, 11]] = -0.1, np.nan
    found = run_batch(model, parameters=varied() | {"tail.length": lengths})
    assert found.reasons[3] == "not possible: tail.length: got -0.1; required: a finite number [m], greater than 0"
    assert "got nan" in found.reasons[11] and np.isnan(found.q[3]).all() and found.steps[3] == 0
    others = np.setdiff1d(np.arange(RUNS), [3, 11])
    np.testing.assert_array_equal(found.q[others], whole.q[others])


def test_measures(model: Model) -> None:
    """Are computed from the same samples as a single run holds; after a run's end there is nothing."""
    found = run_batch(
        model,
        samples=31,
        measures={
            "q": lambda chunk: chunk.q,
            "peak": lambda chunk: np.abs(chunk.tau).max(axis=(1, 2)),
            "v": lambda t: t.v,
        },
    )
    for k in (1, 2, 22):
        single = alone(model, k, samples=31)
        assert single.stopped is None
        np.testing.assert_allclose(found.measures["q"][k], single.data["q"].to_numpy(), rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(found.measures["v"][k], single.data["v"].to_numpy(), rtol=0.0, atol=1e-12)
        assert found.measures["peak"][k] == pytest.approx(np.abs(single.data["tau"].to_numpy()).max(), rel=1e-12)
    assert np.isnan(found.measures["q"][0, -1]).all() and np.isfinite(found.measures["q"][0, 0]).all()


def test_samples_to_the_end_of_each_run(model: Model) -> None:
    """They are at the times that a single run holds, also where it ends early; functions of the model are the design's
    own, and other times can be asked for."""

    def seen(chunk: Chunk) -> np.ndarray:
        halves = (chunk.times[:, 1:] + chunk.times[:, :-1]) / 2.0
        energies = chunk.ask("energy", q=chunk.q, v=chunk.v)["energies"]
        again = chunk.again(np.sort(np.concatenate([halves, chunk.times], axis=1), axis=1))
        np.testing.assert_allclose(again.q[:, ::2], chunk.q, rtol=0.0, atol=1e-15)
        return np.concatenate([chunk.times[..., None], energies, chunk.q], axis=2)

    masses = MASSES.copy()
    masses[2] = -1.0
    found = run_batch(
        model, samples=31, to_end=True, measures={"seen": seen}, parameters=varied() | {"tail.mass": masses}
    )
    assert found.reasons[0] and not found.reasons[1]
    assert found.reasons[2] and np.isnan(found.measures["seen"][2, :, 4:]).all()
    for k in (0, 1):
        data = alone(model, k, samples=31).data
        energies = [data[f"{kind}_energy"].to_numpy() for kind in ("kinetic", "gravitational")]
        wanted = np.stack([data["time"].to_numpy(), *energies], axis=1)
        np.testing.assert_allclose(found.measures["seen"][k, :, :3], wanted, rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(found.measures["seen"][k, :, 4:], data["q"].to_numpy(), rtol=0.0, atol=1e-13)


def test_one_state_for_all(model: Model) -> None:
    q = model.standing()
    found = simulate_batch(model, q, DURATION, parameters={"tail.mass": [0.5, 1.0]}, control=control(model))
    assert found.q.shape == (2, 8) and found.finished.all()
    np.testing.assert_array_equal(found.q[1], simulate_batch(model, q, DURATION, control=control(model)).q[0])


def test_progress_is_told(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "TILE", 10)
    told: list[tuple[int, int]] = []
    run_batch(model, progress=lambda done, of: told.append((done, of)))
    assert told == [(10, RUNS), (20, RUNS), (23, RUNS)]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown name": ({"parameters": {"tail.lenght": [1.0]}}, r"parameters: got 'tail.lenght'.*tail.length"),
    "no equation uses it": ({"parameters": {"stand.z": [0.1]}}, r"parameters.stand.z"),
    "two lengths": ({"parameters": {"tail.mass": np.ones(3)}}, r"parameters: got \[3, 23\]"),
    "a table": ({"parameters": {"tail.mass": np.ones((RUNS, 2))}}, r"parameters.tail.mass: got \(23, 2\)"),
    "words": ({"parameters": {"tail.mass": "heavy"}}, r"parameters.tail.mass: got 'heavy'"),
    "no mapping": ({"parameters": [1.0]}, r"parameters: got"),
    "a function": (
        {"control": lambda t, q, v: np.zeros(14)},
        r"control: got.*Python is for `simulate`, not for batches and derivatives",
    ),
    "no threads": ({"threads": 0}, r"threads: got 0"),
    "limits": ({"limits": "ignore"}, r"limits: got 'ignore'"),
    "method": ({"method": "euler"}, r"method: got 'euler'"),
    "measure": ({"measures": {"mean": lambda chunk: 1.0}}, r"measures.mean: got \(\)"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input(model: Model, what: str) -> None:
    changes, message = WRONG[what]
    with pytest.raises(ArgumentError, match=message):
        run_batch(model, **changes)


def test_wrong_states(model: Model) -> None:
    for wrong, message in (
        (np.zeros((2, 7)), "q: got shape"),
        ("standing", r"q: got 'standing'; required: numbers, 8 a state, .*Standing\(\)"),
    ):
        with pytest.raises(StateError, match=message):
            simulate_batch(model, wrong, DURATION)  # type: ignore[arg-type]
    q = np.tile(model.standing(), (3, 1))
    q[1, 2] = np.nan
    with pytest.raises(StateError, match="finite"):
        simulate_batch(model, q, DURATION)


def test_a_leg_out_of_reach_at_the_start(model: Model) -> None:
    """It ends where it starts, and says why; the others go on."""
    q = np.tile(model.standing(), (3, 1))
    q[1, 2] = 0.6
    found = simulate_batch(model, q, DURATION, control=control(model), events=(LegStraight(),))
    assert found.times[1] == 0.0 and found.reasons[1] and found.finished[[0, 2]].all()


def test_the_method_suits_the_numbers_of_the_first_run() -> None:
    """Not those of the model: gains that make a system stiff are seen."""
    model = Model(liu2020("pendulum").without("legs"))
    law = Tracking(limb="tail", coordinate="tb", profile=point_to_point(0.0, 0.0, 0.1), kp=100.0, kd=1.0)
    q = model.standing()
    gains = np.array([1e9, 10.0])
    for order, wanted in ((slice(None), "rodas5p"), (slice(None, None, -1), "dopri5")):
        parameters = {"control.1.kp": gains[order], "control.1.kd": np.sqrt(gains[order])}
        found = simulate_batch(model, q, 1e-3, parameters=parameters, control=law, events=())
        assert found.method == wanted


def test_an_impossible_first_run_does_not_choose_the_method(model: Model) -> None:
    """The method of all is that of the first run that can start; one that cannot has no final state."""
    found = simulate_batch(model, model.standing(), 0.05, parameters={"legs.thigh_length": [0.05, 0.25]})
    alone = simulate_batch(model, model.standing(), 0.05, parameters={"legs.thigh_length": [0.25]})
    assert found.method == alone.method == "dopri5" and found.reasons[0].startswith("not possible")
    np.testing.assert_array_equal(found.q[1], alone.q[0])
    assert np.isnan(found.q[0]).all()


def test_nothing_that_moves_freely() -> None:
    """A fixed torso with prescribed limbs only has nothing to integrate."""
    fixed = Model(liu2020("pendulum").without("legs"), "none", torso="fixed", prescribed=["tail"])
    still = {"tail": {"ta": point_to_point(0.0, 0.0, 0.1), "tb": point_to_point(0.0, 0.5, 0.1)}}
    with pytest.raises(ArgumentError, match="required: something that moves freely"):
        simulate(fixed, np.zeros(2), 0.1, motions=still, method="dopri5")
