"""Runge–Kutta methods as data: a method is its tableau; one stepper serves them all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tailwork.typing import Floats

IMPLICIT_EULER = "implicit-euler"
"""The method for compliant ground, which is no tableau: see tailwork.simulation.contact.compliant."""
TIME_STEPPING = "time-stepping"
"""The method for rigid ground with even steps: see tailwork.simulation.contact.rigid."""
EVENT_DRIVEN = "event-driven"
"""The one from event to event, exact to the tolerance: see tailwork.simulation.event_driven."""


@dataclass(frozen=True)
class RungeKutta:
    """An explicit method whose last stage is the derivative at the new point.

    Stage i: k_i = f(t + c_i h, x + h Σ_j a_ij k_j). New point: x + h Σ b_i k_i. Error: h Σ e_i k_i (none: fixed steps).
    Between: x(t + θ h) = x + h Σ_i k_i Σ_j p_ij θ^(j+1).
    """

    name: str
    order: int
    a: tuple[tuple[float, ...], ...]  # below the diagonal, row by row from the second stage
    b: tuple[float, ...]
    e: tuple[float, ...] | None
    p: tuple[tuple[float, ...], ...]

    @cached_property
    def arrays(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """(a, b, c, e, p) as arrays."""
        stages = len(self.b)
        a = np.zeros((stages, stages))
        for i, row in enumerate(self.a):
            a[i + 1, : len(row)] = row
        e = np.array(self.e) if self.e is not None else np.zeros(0)
        return a, np.array(self.b), a.sum(axis=1), e, np.array(self.p)


RK4 = RungeKutta(
    name="rk4",
    order=4,
    # The classical method; a fifth stage at the new point gives the cubic Hermite polynomial between.
    a=((1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
    b=(1 / 6, 1 / 3, 1 / 3, 1 / 6, 0.0),
    e=None,
    p=(
        (1.0, -2.0 + 3 / 6, 1.0 - 2 / 6),
        (0.0, 3 / 3, -2 / 3),
        (0.0, 3 / 3, -2 / 3),
        (0.0, 3 / 6, -2 / 6),
        (0.0, -1.0, 1.0),
    ),
)

DORMAND_PRINCE = RungeKutta(
    name="dopri5",
    order=5,
    # Dormand & Prince 1980, J. Comp. Appl. Math. 6:19; between steps, order 4: Shampine 1986, Math. Comp. 46:135.
    a=(
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    b=(35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0),
    e=(71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
    p=(
        (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
        (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
        (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
        (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
        (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
    ),
)


@dataclass(frozen=True)
class Rosenbrock:
    """A Rosenbrock method in transformed form (see tailwork.simulation.integrate.steps).

    Between: x(t + θ h) = (1 − θ) x + θ (x_new + (1 − θ) (k_1 + θ (k_2 + θ k_3))), k_m = Σ_j dense_mj u_j.
    """

    name: str
    order: int
    gamma: float
    a: tuple[tuple[float, ...], ...]  # below the diagonal, row by row from the second stage
    c_matrix: tuple[tuple[float, ...], ...]  # likewise
    b: tuple[float, ...]
    c: tuple[float, ...]
    d: tuple[float, ...]
    e: tuple[float, ...]
    dense: tuple[tuple[float, ...], ...]

    @cached_property
    def arrays(self) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
        """(a, b, c, e, p, extra) as arrays: p as for Runge–Kutta methods, extra as `rosenbrock_step` wants it."""
        stages = len(self.b)
        a, extra = np.zeros((stages, stages)), np.zeros((stages + 2, stages))
        for i in range(1, stages):
            a[i, :i], extra[i, :i] = self.a[i - 1], self.c_matrix[i - 1]
        extra[stages, 0], extra[stages + 1] = self.gamma, self.d
        b = np.array(self.b)
        k1, k2, k3 = (np.array(row) for row in self.dense)
        p = np.stack([b + k1, k2 - k1, k3 - k2, -k3], axis=1)
        return a, b, np.array(self.c), np.array(self.e), p, extra


RODAS5P = Rosenbrock(
    name="rodas5p",
    order=5,
    # Steinebach 2023, BIT Numerical Mathematics 63:27: 8 stages, L-stable, dense output of order 4; its error is the
    # last stage.
    gamma=0.21193756319429014,
    a=(
        (3.0,),
        (2.849394379747939, 0.45842242204463923),
        (-6.954028509809101, 2.489845061869568, -10.358996098473584),
        (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
        (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946),
        (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1.0),
        (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1.0,
         1.0),
    ),
    c_matrix=(
        (-14.155112264123755,),
        (-17.97296035885952, -2.859693295451294),
        (147.12150275711716, -1.41221402718213, 71.68940251302358),
        (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
        (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
        (30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
         -28.087943162872662),
        (37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
         -54.66780262877968, -9.48861652309627),
    ),
    b=(-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1.0,
       1.0, 1.0),
    c=(0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0),
    d=(0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0.0,
       0.0, 0.0),
    e=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    dense=(
        (25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
         1.1241088310450404, 0.4272876194431874, -0.17202221070155493),
        (-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
         15.98066361424651, -6.789040303419874, -6.710236069923372),
        (11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
         -59.78993625266729, -0.15582684282751913, 4.883087185713722),
    ),
)  # fmt: skip
