"""The functions of a model, each compiled when it is first asked for and shared by all models of its structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tailwork.errors import ArgumentError, RobotError, check_known
from tailwork.kernels.kernel import Kernel, keeps_kernels
from tailwork.locks import lock
from tailwork.mechanics.foot_solve import with_dependent
from tailwork.mechanics.layout import Layout, Push, make_layout
from tailwork.model.call import Call, CompiledCall
from tailwork.model.questions import QUESTIONS, argument_names, recorded
from tailwork.robots.paths import rebuild, robot_numbers, structure
from tailwork.robots.robot import Robot
from tailwork.typing import Floats

if TYPE_CHECKING:
    import casadi

_kernels: dict[tuple[Any, ...], tuple[Kernel, tuple[str, ...]]] = {}
"""Kernels of this process by question and structure: a changed number finds its kernel here."""
keeps_kernels(_kernels.clear)
_compiling = lock()


class Structure:
    """What shapes the equations of a model, as a key: its hash is computed once."""

    def __init__(self, content: tuple[Any, ...]) -> None:
        self.content = content
        self._hash = hash(content)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Structure) and self.content == other.content)


class Compiled:
    """Compiled functions of a robot that is driven in some way; see `Model`, which asks them."""

    def __init__(
        self, robot: Robot, stance: str | Sequence[str], prescribed: Sequence[str], torso: str, attitude: str,
        pushes: Sequence[Push],
    ) -> None:  # fmt: skip
        if not isinstance(robot, Robot):
            raise ArgumentError("robot", robot, "a Robot, from tailwork.robots or tailwork.load")
        self.robot, self._numbers = robot, robot_numbers(robot)
        if not all(isinstance(value, float) for value in self._numbers.values()):
            raise RobotError("robot", robot.name, "numbers only; for symbols take the functions of Model.casadi")
        self.layout = with_dependent(make_layout(robot, stance, prescribed, torso, attitude, pushes))
        described = structure((robot.torso, robot.parts, robot.stops, robot.contacts, robot.air))
        driven = (self.layout.drive(), self.layout.riding)
        self.structure = Structure((described, robot.forward, robot.gravity != 0.0, driven))
        self._calls: dict[str, Call] = {}

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Paths of the robot's numbers that are inputs of the compiled forward dynamics."""
        return self._recipe("forward_dynamics")[1]

    def evaluator(self, question: str) -> CompiledCall:
        """One of the model's functions without checks, for inner loops; names as for `casadi`."""
        return CompiledCall(self._call(_known(question)))

    def casadi(self, question: str) -> casadi.Function:
        """One of the model's functions as a casadi.Function, with the design parameters as its last argument.

        Args:
            question: "forward_dynamics", "path", "generalised_force", "mass_matrix", "actuation_matrix", "energy",
                "air_forces", "centroidal_momentum", "centroidal_momentum_matrix", "part_momenta", "center_of_mass",
                "points", "joint_angles", "joint_rates", "frame_jacobians", "frame_drifts", "delassus", "contact_state",
                "contact_change", "impact_rows" or "coordinate_rates".
        """
        from tailwork.kernels.casadi_export import casadi_function  # takes long to import

        graph, names = recorded(self._layout_with, _known(question))
        sizes = {argument: len(argument_names(self.layout, argument)) for argument in QUESTIONS[question].arguments}
        return casadi_function(
            question, graph, sizes | {"parameters": len(names)}, QUESTIONS[question].answers(self.layout)
        )

    def parameters(self) -> Floats:
        """Values of the design parameters in SI units, in the order of `parameter_names`."""
        return np.array([self._numbers[name] for name in self.parameter_names])

    def _layout_with(self, exchange: Any) -> Layout:
        robot = rebuild(self.robot, lambda path, value, kind: exchange(path, value))
        return self.layout.with_robot(robot)

    def _recipe(self, name: str) -> tuple[Kernel, tuple[str, ...]]:
        key = (name, self.structure)
        found = _kernels.get(key)  # those that are there do not wait for one that is being compiled
        if found is not None:
            return found
        with _compiling:
            if key not in _kernels:
                try:
                    graph, parameters = recorded(self._layout_with, name)
                except ZeroDivisionError:
                    required = "every hinge to move some inertia, and springs and cables of some length"
                    raise RobotError("robot", self.robot.name, required) from None
                _kernels[key] = (Kernel(graph, self.robot.name), parameters)
            return _kernels[key]

    def _call(self, name: str) -> Call:
        call = self._calls.get(name)
        if call is None:
            kernel, parameters = self._recipe(name)
            values = np.array([self._numbers[path] for path in parameters])
            call = self._calls[name] = Call(self.layout, name, kernel, kernel.constants(values))
        return call

    def ask(self, question: str, **arguments: ArrayLike | None) -> dict[str, Floats]:
        """A function by name; arguments and answers by name, in SI units. Signs of tensions go unchecked."""
        return self._call(_known(question))(arguments)


def _known(question: str) -> str:
    check_known("question", [question], QUESTIONS, "function")
    return question
