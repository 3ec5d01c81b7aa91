"""Gradients through time stepping on rigid ground: closed forms, differences of the same rounds, batches, bad input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.quadruped import dropped, trotting
from oracles.layout import Array
from pucks import bumpy, incline, puck, tailed
from tailwork.control import JointServo, point_to_point
from tailwork.errors import ArgumentError, StateError
from tailwork.kernels.translate import drivers_in_python
from tailwork.model import Model
from tailwork.robots import ContactPoint, Robot, Torso
from tailwork.robots.robot import FreeLimb
from tailwork.simulation import CompliantGround, Force, RigidGround, gradient, gradients, pulse, sensitivities, simulate
from tailwork.simulation.derivatives import rigid_gradient
from tailwork.simulation.events import When
from tailwork.simulation.integrate.compiled import WIDTH
from tailwork.simulation.problem import problem_of

GROUND = RigidGround(friction=0.6)
NAMES = ("torso.mass", "tail.length", "tail.mass", "legs.shank_length", "control.1.kp", "control.1.kd", "gravity")


def walker() -> tuple[Model, JointServo, Array, Array]:
    """A trot that begins a little above the ground, so that its feet land one after the other."""
    model, servo, q, v = trotting()
    q[2] += 3e-3
    v[:6] += [0.05, 0.0, 0.0, 0.02, 0.03, 0.01]
    return model, servo, q, v


def ahead(end: Any) -> Any:
    """How far it has come, how high and how fast it is, in one number."""
    return end.q[1] + 0.3 * end.q[2] + 0.2 * end.v[1]


def effort(now: Any) -> Any:
    """A number along the way that servos and their targets are in."""
    return now.v[1] * now.v[1] + 1e-3 * now.tau[3] * now.tau[3]


def quotients(values: Array, h: Array | float) -> Array:
    """Derivatives from values at −2 h, −h, h and 2 h, to the fourth order."""
    low, below, above, high = values.reshape(-1, 4).T
    return (8.0 * (above - below) - (high - low)) / (12.0 * h)


STENCIL = np.array([-2.0, -1.0, 1.0, 2.0])


def compared(model: Model, q: Array, v: Array, duration: float, names: tuple[str, ...], **how: Any) -> float:
    """The largest difference between a gradient and difference quotients of the same rounds: by state beside the
    largest derivative, by number beside its own."""
    how = dict[str, Any](ground=GROUND, step=1e-3, by=()) | how
    objective, h = how.pop("objective", ahead), how.pop("h", 2e-6)
    exact = gradient(model, (q, v), duration, objective, **dict[str, Any](how | {"by": names}))
    assert not exact.note
    x = np.concatenate([q, v])
    shifts = (np.eye(len(x))[:, None] * STENCIL[:, None] * h).reshape(-1, len(x))
    moved = gradients(model, ((x + shifts)[:, : len(q)], (x + shifts)[:, len(q) :]), duration, objective, **how)
    by_state = np.concatenate([exact.by_q, exact.by_v])
    errors = [np.abs(quotients(moved.values, h) - by_state).max() / np.abs(by_state).max()]
    parts = {name: how[name] for name in ("control", "motions", "forces") if name in how}
    for name in names:
        if name.startswith("ground."):
            field = name.removeprefix("ground.")
            sides = [{field: getattr(how["ground"], field) + size * 10.0 * h} for size in STENCIL]
            values = [gradient(model, (q, v), duration, objective, **how | {"ground": replace(how["ground"], **side)})
                      for side in sides]  # fmt: skip
            quotient = quotients(np.array([one.value for one in values]), 10.0 * h)[0]
        else:
            number = problem_of(model, (q, v), duration, **parts).system([name]).numbers[name]
            wide = h * max(abs(number), 1.0) * (1.0 if "length" in name else 10.0)
            many = {name: number + STENCIL * wide}
            quotient = quotients(gradients(model, (q, v), duration, objective, parameters=many, **how).values, wide)[0]
        errors.append(abs(quotient / exact.by_parameter[name] - 1.0))
    return float(max(errors))


def test_a_sliding_puck() -> None:
    """x = v t − μ g t²/2 as long as it slides: by v, μ and g; its mass does not matter."""
    model, t = Model(puck(), "none"), 0.1
    v = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    names = ["ground.friction", "gravity", "torso.mass"]
    found = gradient(
        model, (np.zeros(7), v), t, lambda end: end.q[0], ground=RigidGround(friction=0.5), by=names, step=1e-3
    )
    assert found.value == pytest.approx(0.075, rel=1e-12)
    assert found.by_q[0] == 1.0 and found.by_v[0] == pytest.approx(t, rel=1e-12)
    expected = {"ground.friction": -5.0 * t * t, "gravity": -0.25 * t * t, "torso.mass": 0.0}
    assert found.by_parameter == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert "time stepping" in repr(found) and found.note == "one-sided at 0 s (a contact only just touches)"  # by z


def test_a_block_on_four_corners() -> None:
    """Corners share the load of a block in no certain way, which the result says; what they do together is certain, so
    that it slides as the puck does."""
    corners = tuple(ContactPoint(name=f"corner{k}", point=(0.2 * x, 0.3 * y, -0.1))
                    for k, (x, y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))))  # fmt: skip
    torso = Torso(mass=2.0, inertia=(0.05, 0.04, 0.06, 0.0, 0.0, 0.0))
    model = Model(Robot(name="block", torso=torso, parts={}, contacts=corners, gravity=10.0), "none")
    q, v, t = np.zeros(6), np.zeros(6), 0.1
    q[2], v[0] = 0.1, 1.0
    names, ground = ["ground.friction", "gravity"], RigidGround(friction=0.5)
    found = gradient(model, (q, v), t, lambda end: end.q[0], ground=ground, by=names, step=1e-3)
    assert "contacts share a load in no certain way" in found.note and found.by_v[0] == pytest.approx(t, rel=1e-9)
    assert found.by_parameter == pytest.approx({"ground.friction": -5.0 * t * t, "gravity": -0.25 * t * t}, rel=1e-9)


def test_a_bouncing_puck() -> None:
    """From z with the speed u downwards it lands with w = sqrt(u² + 2 g z), and flies on with e w: located touchdowns
    have the derivatives of the closed form."""
    model, t, e, g, z, u = Model(puck(), "none"), 0.6, 0.5, 10.0, 1.0, 0.2
    q, v = np.zeros(7), np.zeros(7)
    q[2], v[2] = z, -u
    names = ["ground.restitution", "ground.friction", "gravity"]
    found = gradient(model, (q, v), t, lambda end: end.q[2], ground=RigidGround(friction=0.5, restitution=e), by=names)
    w = np.sqrt(u * u + 2.0 * g * z)
    left = t - (w - u) / g

    def moves(by_w: float, by_landing: float) -> float:
        return e * left * by_w - (e * w - g * left) * by_landing

    assert found.value == pytest.approx(e * w * left - 0.5 * g * left**2, rel=1e-9)
    assert found.by_q[2] == pytest.approx(moves(g / w, 1.0 / w), rel=1e-9)
    assert found.by_v[2] == pytest.approx(-moves(u / w, (u / w - 1.0) / g), rel=1e-9)
    by_gravity = moves(z / w, (z / w) / g - (w - u) / g**2) - 0.5 * left**2
    assert found.by_parameter["gravity"] == pytest.approx(by_gravity, rel=1e-9)
    assert found.by_parameter["ground.restitution"] == pytest.approx(w * left, rel=1e-9)
    assert found.by_parameter["ground.friction"] == 0.0


@pytest.mark.measured("rigid ground")
def test_a_trot(measured: Callable[..., None]) -> None:
    """Through touchdowns, sticking and slipping, with servos that follow a table: by state, design, control, ground."""
    model, servo, q, v = walker()
    names = (*NAMES, "ground.friction")
    error = compared(model, q, v, 0.1, names, control=servo)
    measured("gradient of a trot beside differences of the same steps", error, at_most=1e-6, unit="1")
    assert compared(model, q, v, 0.05, NAMES[3:6], control=servo, objective=None, integrand=effort) < 1e-6


def test_a_drop_and_a_slide() -> None:
    """A robot that falls askew and bounces; and one that slides on ice, its feet all the time slipping."""
    model, servo, q = dropped(0.05)
    q[3:7] = [0.9994, 0.03, 0.015, 0.01]
    q[3:7] /= np.linalg.norm(q[3:7])
    names = ("torso.mass", "legs.shank_length", "ground.friction", "ground.restitution")
    bouncy, v = RigidGround(friction=0.6, restitution=0.3), np.zeros(len(model.velocity_names))
    # from 2 to 4 µm higher or lower a foot lands in another round, where steps jump: the stencil stays within
    assert compared(model, q, v, 0.14, names, control=servo, ground=bouncy, h=1e-6) < 1e-6
    q[2] -= 0.033
    v[:3] = 1.0, 0.5, -0.05
    assert compared(model, q, v, 0.12, names[:3], control=servo, ground=RigidGround(friction=0.05)) < 1e-6


def test_down_a_slope_and_over_hills() -> None:
    """On a slope of α a puck slides by g (sin α − μ cos α) t²/2; over hills planes turn as points go on."""
    t, angle, mu = 0.2, np.radians(30.0), 0.2
    field, _, down = incline(angle)
    v = np.zeros(7)
    v[:3] = 0.1 * down
    names, ground = ["ground.friction", "gravity"], RigidGround(friction=mu, surface=field)
    found = gradient(Model(puck(), "none"), (np.zeros(7), v), t, lambda end: end.q[0], ground=ground, by=names)
    by_gravity = 0.5 * t * t * down[0] * (np.sin(angle) - mu * np.cos(angle))
    assert found.by_parameter["ground.friction"] == pytest.approx(-5.0 * t * t * down[0] ** 2, rel=1e-9)
    assert found.by_parameter["gravity"] == pytest.approx(by_gravity, rel=1e-9)
    model = small()
    q, v = tumbling(model)
    q[2] += 0.01
    names = ("torso.mass", "tail.limb.springs.1.stiffness", "ground.friction")
    assert compared(model, q, v, 0.12, names, ground=RigidGround(friction=0.3, surface=bumpy())) < 1e-6


def small(**more: Any) -> Model:
    """A foot below a torso, and a tail on a spring whose tip can touch the ground, too."""
    robot = tailed()
    limb = robot.limbs()["tail"]
    joints = (replace(limb.joints[0], range=(-0.6, 0.05)),)
    tip = ContactPoint(name="tip", joint="swing", point=(0.0, -0.3, -0.12))
    whole = robot.with_part("tail", FreeLimb(limb=replace(limb, joints=joints, contacts=(tip,))))
    return Model(whole, "none", **more)


def tumbling(model: Model) -> tuple[Array, Array]:
    """A state in which foot and tip come down soon."""
    q, v = np.zeros(len(model.coordinate_names)), np.zeros(len(model.velocity_names))
    q[2], q[3] = 0.125, -0.05
    v[:6] = 0.3, 0.2, -0.1, 0.4, 0.2, 0.3
    return q, v


def test_a_joint_at_its_stop() -> None:
    """A tail swings against the end of its range; its tip and that stop share a limb; a force pushes."""
    model = small()
    q, v = tumbling(model)
    v[model.velocity_names.index("tail.swing rate")] = 2.0
    push = Force(limb="torso", x=pulse(2.0, 0.05))
    names = ("torso.mass", "force.1.x.size", "tail.limb.springs.1.stiffness", "ground.friction")
    run = simulate(model, (q, v), 0.1, forces=push, ground=GROUND, step=1e-3)
    assert any("comes to its stop" in what for _, what in run.events) and len({name for _, name, _ in run.changes}) == 2
    assert compared(model, q, v, 0.1, names, forces=push) < 1e-6


def test_a_prescribed_tail() -> None:
    """A motion that is imposed moves with the time of a substep, which moves with everything; by what is imposed at the
    start there is no derivative."""
    model = small(prescribed=["tail"])
    q, v = tumbling(model)
    swing = {"tail": {"swing": point_to_point(0.0, -0.4, 0.15)}}
    names = ("torso.mass", "motion.tail.swing.end")
    exact = gradient(model, (q, v), 0.1, ahead, by=names, motions=swing, ground=GROUND, step=1e-3)
    imposed = [names.index(word) for names, word in zip(
        (model.coordinate_names, model.velocity_names), ("tail.swing", "tail.swing rate"), strict=True)]  # fmt: skip
    assert exact.by_q[imposed[0]] == 0.0 and exact.by_v[imposed[1]] == 0.0
    assert compared(model, q, v, 0.1, names, motions=swing) < 1e-6


def test_a_batch_is_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit, whatever its size, order and threads, with designs that differ, however many rounds are kept, and in
    plain Python."""
    model, servo, q, v = walker()
    rng = np.random.default_rng(3)
    count = WIDTH + 3  # some lanes take a second run
    many, masses = np.tile(v, (count, 1)), np.linspace(6.0, 8.0, count)
    many[:, :6] += 0.05 * rng.normal(size=(count, 6))
    how: dict[str, Any] = {"integrand": effort, "by": NAMES, "control": servo, "ground": GROUND, "step": 1e-3}

    def rows(here: Any, duration: float = 0.1, **more: Any) -> Array:
        states = np.tile(q, (count, 1))[here], many[here]
        found = gradients(model, states, duration, ahead, parameters={"torso.mass": masses[here]}, **how, **more)
        return np.column_stack([found.values, found.by_q, found.by_v, *found.by_parameter.values()])

    whole, order = rows(slice(None), threads=2), rng.permutation(count)
    assert np.isfinite(whole).all()
    assert np.array_equal(rows(order, threads=1), whole[order])
    for k in (0, count - 1):
        assert np.array_equal(rows(slice(k, k + 1)), whole[k : k + 1])
    monkeypatch.setattr(rigid_gradient, "ROOM", 30_000)
    assert np.array_equal(rows(slice(None)), whole)
    short = rows(slice(2), 0.008)
    with drivers_in_python():
        assert np.array_equal(rows(slice(2), 0.008), short)


def test_tables_of_each_run() -> None:
    """Runs whose servos follow tables of their own have the gradients that they have alone."""
    model, servo, q, v = walker()
    other = replace(servo, table=replace(servo.table, values=servo.table.values + 0.01))
    how: dict[str, Any] = {"ground": GROUND, "step": 1e-3}
    tables = {"control.1.table": [servo.table, other.table], "torso.mass": [7.0, 7.0]}
    both = gradients(model, (q, v), 0.03, ahead, parameters=tables, control=servo, **how)
    for k, own in enumerate((servo, other)):
        alone = gradient(model, (q, v), 0.03, ahead, by=["torso.mass"], control=own, **how)
        assert np.array_equal(alone.by_q, both.by_q[k])
        assert both.by_parameter["torso.mass"][k] == alone.by_parameter["torso.mass"]


def test_each_run_has_its_own_ground() -> None:
    """A puck that slides on grounds that differ: d x/d μ = −g t²/2 for each, and the value that it has alone."""
    model, t, state, frictions = Model(puck(), "none"), 0.1, (np.zeros(7), np.eye(7)[0]), np.array([0.2, 0.5])
    found = gradients(
        model, state, t, lambda end: end.q[0], ground=GROUND, parameters={"ground.friction": frictions}, step=1e-3
    )
    assert found.by_parameter["ground.friction"] == pytest.approx(-5.0 * t * t, rel=1e-12)
    assert found.values == pytest.approx(t - 5.0 * frictions * t * t, rel=1e-12)
    for k, friction in enumerate(frictions):
        ground = RigidGround(friction=friction)
        assert gradient(model, state, t, lambda end: end.q[0], ground=ground, step=1e-3).value == found.values[k]


def test_where_there_is_only_one_side() -> None:
    """Four feet that land together: what tilts the robot makes one of them the first, whichever way; the height does
    not, and by it the derivative is that of differences. Feet that just touch say so, too."""
    model, servo, q = dropped(0.02)
    how: dict[str, Any] = {"control": servo, "ground": GROUND, "step": 1e-3}
    found = gradient(model, q, 0.1, ahead, **how)
    assert "one-sided at 0.06386 s (contacts close together)" in found.note and found.note in repr(found)
    heights = np.tile(q, (4, 1))
    heights[:, 2] += STENCIL * 1e-6
    moved = quotients(gradients(model, heights, 0.1, ahead, **how).values, 1e-6)[0]
    assert found.by_q[2] == pytest.approx(moved, rel=1e-6)
    model, servo, q, v = trotting()
    found = gradient(model, (q, v), 0.01, ahead, control=servo, ground=GROUND)
    assert found.note == "one-sided at 0 s (a contact only just touches) and 3 times more"


def test_near_to_a_simulation() -> None:
    """What is differentiated is what `simulate` does, but for contacts that settle further."""
    model, servo, q, v = walker()
    how: dict[str, Any] = {"control": servo, "ground": GROUND, "step": 1e-3}
    run = simulate(model, (q, v), 0.3, **how)
    end = run.final_state
    value = gradient(model, (q, v), 0.3, ahead, **how).value
    assert value == pytest.approx(end[0][1] + 0.3 * end[0][2] + 0.2 * end[1][1], abs=2e-6)


def test_near_to_the_exact_motion() -> None:
    """Before a landing the derivative of the steps is nearly that of the motion; after one it is that of the saltation
    matrix, up to what the place of the landing within its step changes."""
    model, ground = small(), RigidGround(friction=0.3)
    q, v = tumbling(model)
    names = [*model.coordinate_names, *model.velocity_names]
    for duration, allowed in ((0.048, 1e-6), (0.058, 1e-3)):  # the tip lands at 0.0494 s, the foot at 0.0604 s
        exact = sensitivities(model, (q, v), duration, start=names, ground=ground, method="event-driven", samples=2)
        wanted = [exact.q[name][0, -1, 1] + 0.3 * exact.q[name][0, -1, 2] + 0.2 * exact.v[name][0, -1, 1]
                  for name in names]  # fmt: skip
        found = gradient(model, (q, v), duration, ahead, ground=ground, step=1e-3)
        assert np.abs(np.concatenate([found.by_q, found.by_v]) - wanted).max() < allowed


def test_an_event_ends_it() -> None:
    """A run that an event ends is differentiated up to there, at a time that does not move, and says so."""
    model, servo, q = dropped(0.02)
    low = When(quantity=lambda now: now.q[2] - (q[2] - 0.01), name="low", action="stop")
    found = gradient(model, q, 0.3, ahead, control=servo, ground=GROUND, events=[low], step=1e-3)
    assert found.time < 0.06 and "low), with a step, whose time does not move" in found.note
    assert found.by_q[2] == pytest.approx(0.3, rel=1e-9) and found.by_v[2] == pytest.approx(0.3 * found.time, rel=1e-9)


def test_what_is_refused() -> None:
    """Compliant ground, other methods, and runs that come to nothing; each says why."""
    model, servo, q = dropped(0.02)
    how: dict[str, Any] = {"control": servo, "by": ["torso.mass"]}
    with pytest.raises(ArgumentError, match="runs on compliant ground are not differentiated"):
        gradient(model, q, 0.1, ahead, ground=CompliantGround.for_robot(model.robot), **how)  # pyright: ignore
    with pytest.raises(ArgumentError, match="event-driven"):
        gradient(model, q, 0.1, ahead, ground=GROUND, method="event-driven", **how)
    with pytest.raises(StateError, match="under the ground"):
        gradient(model, q - np.eye(len(q))[2], 0.1, ahead, ground=GROUND, **how)
    for wrong, said in (
        ("slope_x", r"number of the ground \(ground\.friction, ground\.restitution\)"),
        ("friction", "once"),
    ):
        with pytest.raises(ArgumentError, match=f"^by: got 'ground.{wrong}'; required: .*{said}"):
            gradient(model, q, 0.1, ahead, ground=GROUND, control=servo, by=["ground.friction", f"ground.{wrong}"])
    with pytest.raises(StateError, match=r"duration: got 1000000000.0; required: less than 1e\+06 s"):
        gradient(model, q, 1e9, ahead, ground=GROUND, control=servo)
    found = gradients(model, q, 0.01, ahead, parameters={"torso.mass": [7.0, -1.0]}, control=servo, ground=GROUND)
    assert np.isfinite(found.values[0]) and np.isnan(found.values[1]) and np.isnan(found.by_parameter["torso.mass"][1])
    assert "not possible: torso.mass" in found.notes[1] and "1 with notes" in repr(found)
