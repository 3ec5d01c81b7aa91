"""Messages that name what was likely meant: another argument, another place, another model."""

from __future__ import annotations

import copy
import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest

import tailwork
from tailwork.algebra import larger
from tailwork.control import HoldPosture, JointServo, RestTorques, Tracking, held, held_posture, posed
from tailwork.errors import ArgumentError, ControllerError, FileError, TailworkError, UnreachableError
from tailwork.model import Model
from tailwork.robots import biswal, pendulum
from tailwork.simulation import Run, Standing, gradient, simulate, simulate_batch

LEGS = (RestTorques(), HoldPosture(at="joint", stiffness=20.0, damping=0.5))


@cache
def pinned() -> Model:
    """A quadruped that stands, with a tail."""
    return Model(biswal().with_tail("pendulum"))


@cache
def free() -> Model:
    """The same with no foot pinned."""
    return Model(pinned().robot, stance="none")


@cache
def stood() -> Run:
    """A short stand."""
    return simulate(pinned(), Standing(), 0.01, control=LEGS, samples=3)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("controller", "control"), ("controls", "control"), ("policy", "control"), ("force", "forces"),
     ("push", "forces"), ("friction", "ground"), ("dt", "step"), ("timestep", "step"), ("integrator", "method"),
     ("motion", "motions"), ("tol", "rtol"), ("limit", "limits"), ("maxsteps", "max_steps")],
)  # fmt: skip
def test_arguments_of_simulate_by_other_names(name: str, meant: str) -> None:
    """Offered are arguments and options alike, and what other libraries call them."""
    more: dict[str, Any] = {name: 1.0}
    for call in (simulate, simulate_batch):
        with pytest.raises(ArgumentError, match=rf"^{name}: got .*known argument; did you mean.*'{meant}'"):
            call(pinned(), Standing(), 0.01, **more)


def test_controllers_that_cannot_be_called() -> None:
    """Before the run begins, in the words of the library; what takes anything is fine."""
    for wrong in (lambda q, v: {}, lambda: {}, lambda t, q, v, more: {}):
        with pytest.raises(ControllerError, match=r"a controller of \(t, q, v\): time \[s\], configuration"):
            simulate(pinned(), Standing(), 0.01, control=[*LEGS, wrong])  # type: ignore[list-item]
    run = simulate(pinned(), Standing(), 0.002, control=[*LEGS, lambda *given: {}], samples=2)
    assert run.stopped is None


def test_no_control_and_what_is_no_law() -> None:
    """None is no control; the class of a law, and an array of efforts, are told how to be written."""
    nothing, none = (simulate(free(), posed(free()), 0.01, control=c, samples=2) for c in ((), None))
    np.testing.assert_array_equal(nothing.data["q"].to_numpy(), none.data["q"].to_numpy())
    for given in (RestTorques, [RestTorques]):
        with pytest.raises(ArgumentError, match=r"a law, not its class: write RestTorques\(\)$"):
            simulate(pinned(), Standing(), 0.01, control=given)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"write Tracking\(…\)$"):
        simulate(pinned(), Standing(), 0.01, control=Tracking)  # type: ignore[arg-type]
    for efforts in (np.zeros(14), [0.0] * 14):
        with pytest.raises(ArgumentError, match=r"of constant efforts that is Constant\(values=…\)$"):
            simulate(pinned(), Standing(), 0.01, control=efforts)  # type: ignore[arg-type]


def test_laws_of_legs_on_a_model_that_pins_them() -> None:
    """Servos and tracking of a leg want a model whose feet are free, and say so."""
    servo = JointServo.for_robot(free().robot, held_posture(free(), posed(free())))
    follow = Tracking(limb="leg1", coordinate="hip", profile=held(0.0), kp=1.0, kd=0.1)
    coordinate = pinned().layout.limbs["leg1"].coordinates[0]
    follow = Tracking(limb="leg1", coordinate=coordinate, profile=held(0.0), kp=1.0, kd=0.1)
    for law in (servo, follow):
        with pytest.raises(ArgumentError, match=r"this model pins the foot of leg1\. Take one .*stance='none'"):
            simulate(pinned(), Standing(), 0.01, control=law)
    with pytest.raises(ArgumentError, match=r"a Robot first, then a table; of a Model it is model\.robot"):
        JointServo.for_robot(free(), servo.table)  # type: ignore[arg-type]


def test_statics_of_a_model_that_pins_no_foot() -> None:
    """No torques hold it, and it has no foot forces: told with the model that has."""
    q, v, tau = posed(free()), np.zeros(len(free().velocity_names)), np.zeros(len(free().actuator_names))
    with pytest.raises(UnreachableError, match=r"This model pins no foot; one that stands is Model\(robot\)"):
        free().static_torques(q)
    with pytest.raises(ArgumentError, match=r"a model with pinned feet\. This model pins no foot"):
        free().foot_forces(q, v, tau)


@pytest.mark.parametrize(
    ("name", "said"),
    [("q", r"it is an item: run\['q'\]"), ("time", r"run\['time'\]"), ("t", "did you mean 'time'"),
     ("yaw", "did you mean 'phi_z'"), ("torques", "did you mean 'tau'"), ("durration", "did you mean 'duration'")],
)  # fmt: skip
def test_quantities_of_a_run_asked_for_as_attributes(name: str, said: str) -> None:
    """An AttributeError, as everywhere, that says where the quantity is."""
    with pytest.raises(AttributeError, match=rf"a Run has no attribute '{name}'; .*{said}"):
        getattr(stood(), name)
    assert not hasattr(stood(), "_repr_nothing_")


def test_rows_of_quantities() -> None:
    """The torque of an actuator is a row of tau; that of a prescribed tail has a quantity of its own."""
    name = pinned().actuator_names[0]
    with pytest.raises(ArgumentError, match=rf"a row of: run\['tau', '{name}'\]"):
        stood()[name]
    model = Model(pinned().robot, prescribed=["tail"])
    motions = {"tail": {"ta": held(0.0), "tb": held(0.0)}}
    run = simulate(model, Standing(), 0.002, control=LEGS, motions=motions, samples=2)
    with pytest.raises(ArgumentError, match=r"prescribed, and what it takes is run\['prescribed_effort', 'tail.ta'\]"):
        run["tau", "tail.ta"]
    assert run["prescribed_effort", "tail.ta"].shape == (2,)


def test_attributes_of_a_batch() -> None:
    """Likewise; and batches and runs still travel and are copied."""
    batch = simulate_batch(pinned(), Standing(), 0.005, parameters={"tail.length": [0.2, 0.3]}, control=LEGS)
    for name, said in (("save", r"batch\.data\.to_netcdf"), ("phi_z", r"batch\['phi_z'\]"), ("t", "'times'")):
        with pytest.raises(AttributeError, match=said):
            getattr(batch, name)
    again = pickle.loads(pickle.dumps(batch))
    np.testing.assert_array_equal(copy.copy(again).q, batch.q)
    assert pickle.loads(pickle.dumps(stood())).duration == copy.copy(stood()).duration


def test_names_that_live_in_another_package() -> None:
    """Where they are is in the error; private names are only missing."""
    for owner, name, home in (
        (tailwork, "RigidGround", "simulation"), (tailwork, "Force", "simulation"),
        (tailwork.control, "yaw", "studies"), (tailwork.simulation, "JointServo", "control"),
        (tailwork.robots, "joint_table", "control"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=rf"it is tailwork\.{home}\.{name}$"):
            getattr(owner, name)
    for name in ("nothing_like_it", "_RigidGround"):
        with pytest.raises(AttributeError, match=rf"'tailwork' has no attribute '{name}'$"):
            getattr(tailwork, name)


def test_tails_by_name_of_a_size() -> None:
    """As the options of commands: total mass and length; of a tail that is described in full, in proportion."""
    robot = biswal()
    tail = robot.with_tail("pendulum", length=0.4, mass=0.2).part("tail")
    assert (tail.total_length(), tail.total_mass()) == pytest.approx((0.4, 0.2), rel=1e-14)
    usual = robot.with_tail("pendulum").part("tail")
    longer = robot.with_tail("pendulum", length=0.4).part("tail")
    assert longer.total_mass() == pytest.approx(usual.total_mass(), rel=1e-14)
    own = robot.with_tail(pendulum(length=0.3, mass=0.1), length=0.6).part("tail")
    assert (own.total_length(), own.total_mass()) == pytest.approx((0.6, 0.1), rel=1e-14)
    with pytest.raises(ArgumentError, match="no length for a tail that says none"):
        robot.with_tail("reaction_wheel", length=0.4)


def test_a_run_is_no_robot() -> None:
    """Its name says so before it is opened."""
    with pytest.raises(FileError, match=r"a run, not a robot: tailwork\.load_run reads it, `tailwork view` plays it"):
        tailwork.load("push.nc")


def test_gradients_offer_the_same_arguments() -> None:
    """One list of names for all that simulate."""
    with pytest.raises(TailworkError, match="did you mean 'control'"):
        gradient(pinned(), Standing(), 0.01, lambda end: end.coordinate("phi_z"), by=["tail.length"], controller=LEGS)  # type: ignore[call-arg]


def test_what_an_objective_can_be_written_with() -> None:
    """NumPy's functions of angles and abs, with their derivatives; what branches is told what stands for it."""
    start = (pinned().standing(), np.r_[np.zeros(5), -0.3, np.zeros(2)])  # turning to the right

    def taken(objective: Any) -> Any:
        return gradient(pinned(), start, 0.01, objective, by=["tail.length"])

    yaw = taken(lambda end: end.coordinate("phi_z"))
    assert yaw.value < 0.0
    for objective, factor in (
        (lambda end: np.degrees(end.coordinate("phi_z")), 180.0 / np.pi),
        (lambda end: np.rad2deg(end.coordinate("phi_z")), 180.0 / np.pi),
        (lambda end: abs(end.coordinate("phi_z")), -1.0),
        (lambda end: larger(end.coordinate("phi_z"), -end.coordinate("phi_z")), -1.0),
        (lambda end: np.hypot(end.coordinate("phi_z"), 0.0), -1.0),
    ):
        found = taken(objective)
        assert found.value == pytest.approx(factor * yaw.value, rel=1e-12)
        assert found.by_parameter["tail.length"] == pytest.approx(factor * yaw.by_parameter["tail.length"], rel=1e-9)
    for wrong in (lambda end: max(end.coordinate("phi_z"), 0.0), lambda end: float(end.coordinate("phi_z")),
                  lambda end: 1.0 if end.coordinate("phi_z") > 0.0 else 0.0):  # fmt: skip
        with pytest.raises(ArgumentError, match=r"larger, smaller, step of tailwork\.algebra stand for"):
            taken(wrong)


def test_a_controller_in_python_where_derivatives_are_asked_for() -> None:
    """It is refused for what it is."""

    def controller(t: float, q: Any, v: Any) -> dict[str, float]:
        return {}

    with pytest.raises(
        ArgumentError, match="a controller in Python is for `simulate`, not for batches and derivatives"
    ):
        gradient(pinned(), Standing(), 0.01, lambda end: end.coordinate("phi_z"), by=["tail.length"],
                 control=[*LEGS, controller])  # fmt: skip


def test_numbers_of_a_tail_that_is_not_there() -> None:
    """What puts one on is named, and no number of the torso offered in its place."""
    with pytest.raises(
        ArgumentError, match=r"^tail\.mass: got 0\.5; required: a robot with a tail.*--tail of a command"
    ):
        biswal().replace({"tail.mass": 0.5})
