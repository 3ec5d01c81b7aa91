r"""
An erratum, seen in the energy
==============================

**Objective:** find an error of a formula by a conservation law. Liu & Ben-Tzvi set the angular velocity equal to the
rates of the three angles, :math:`\omega = \dot\varphi` (2018, Eqs. 2, 3; 2020, Eqs. 5, 6). Exact is :math:`\omega =
E(\varphi)\,\dot\varphi`, and for small angles both agree. A robot that moves without torques must keep its energy. So
it does with the exact rates; with the others, which tailwork has as an option, the energy changes.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, VERMILION

robot = tailwork.robots.liu2018()
models = {attitude: tailwork.Model(robot, attitude=attitude) for attitude in ("rpy", "rpy-small-angle")}
v = np.array([0.1, -0.2, 0.1, 0.5, -0.8, 0.6, 1.0, -1.5])  # m/s, rad/s


def energy(attitude: str, degrees: float) -> tuple[np.ndarray, np.ndarray]:
    """Times [ms] and the change of the energy [J] over 50 ms, starting with each angle of the torso this large."""
    model = models[attitude]
    q = model.standing()
    q[3:6] = np.radians(degrees)
    run = tailwork.simulate(model, (q, v), 0.05, method="rk4", step=1e-4, samples=51)
    found = model.energy(run.data["q"].to_numpy(), run.data["v"].to_numpy()).total
    return 1e3 * run.data["time"].to_numpy(), found - found[0]


plt.rcParams.update(RC)
figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.1), layout="constrained")
tilts, changes = np.logspace(-1, 1, 9), {}
for attitude, label, color in (("rpy", "exact", BLUE), ("rpy-small-angle", "rates of the angles", VERMILION)):
    for tilt, style in ((10.0, "-"), (5.0, "--"), (1.0, ":")):
        left.plot(*energy(attitude, tilt), style, color=color, label=f"{label}, from {tilt:g}°")
    changes[attitude] = np.array([np.abs(energy(attitude, tilt)[1]).max() for tilt in tilts])
    right.loglog(tilts, changes[attitude], "-o", color=color)
    print(f"{label}: the energy changes by up to {changes[attitude].max():.1e} J")
left.set(xlabel="time [ms]", ylabel="change of the energy [J]")
right.set(xlabel="pitch, roll and yaw at the start [deg]", ylabel="largest change in 50 ms [J]")
figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
plt.show()
# %%
# **What one sees.** Rounding and nothing else is lost with the exact rates, at any angle. With the rates of the
# angles a tenth of a joule is lost in 50 ms, and even a robot that starts level loses some, because it does not stay
# level.
#
# **Try next:** ``attitude="quaternion"``, which has no singular attitude; ``Scenario(...,
# attitude="rpy-small-angle")`` for how much this changes the paper's own results (a percent or two).
