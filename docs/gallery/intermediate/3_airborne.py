r"""
Momentum in the air
===================

**Objective:** let a tail turn a robot in free flight, where nothing but momentum counts, and meet the closed form. What
starts without angular momentum has none later. A rigid body and a bar that turn in one plane about a hinge, at a
distance :math:`d` from the body's centre of mass, share it so that the body turns back by

.. math::
   \int \frac{I_t + m_r (l_c^2 + d\,l_c \cos\theta)}{I_b + I_t + m_r (l_c^2 + d^2 + 2 d\,l_c \cos\theta)}\,d\theta,
   \qquad m_r = \frac{m\,m_b}{m + m_b}.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.studies import Scenario, perform, pitch, yaw
from tailwork.studies.compare.airborne import planar_rotation
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, INK, ORANGE, VERMILION

robot = tailwork.robots.liu2020("pendulum")
cases = {  # in yaw a robot with legs does not stay in one plane: they hang below the hinge
    "torso and tail alone, yaw": (robot.without("legs"), yaw(40), "phi_z", "tail.tb", ORANGE),
    "whole robot, pitch": (robot, pitch(40), "phi_x", "tail.ta", BLUE),
}
plt.rcParams.update(RC)
figure, (angles, momenta) = plt.subplots(1, 2, figsize=(7.2, 3.0), layout="constrained")
simulated, closed = {}, {}
for name, (subject, motion, angle, hinge, color) in cases.items():
    run = perform(Scenario(subject, motion, policy="airborne"), rtol=1e-11, atol=1e-13)  # legs keep their shape
    body, tail = (np.degrees(run.data["q"].sel(coordinate=which).to_numpy()) for which in (angle, hinge))
    simulated[name], closed[name] = body[-1], np.degrees(planar_rotation(subject, "tail", motion))
    print(f"{name}: {simulated[name]:.11f}° simulated, {closed[name]:.11f}° closed form")
    angles.plot(tail, body, color=color, label=name)
    for part in np.arange(5.0, 41.0, 5.0):
        formula = planar_rotation(subject, "tail", (yaw if angle == "phi_z" else pitch)(part))
        angles.plot(part, np.degrees(formula), "o", color=color, mfc="white")
time = 1e3 * run.data["time"].to_numpy()
spin = run.data["part_angular_momentum"].sel(axis="x").to_pandas()  # about the centre of mass [N m s]
momenta.plot(time, spin["tail"], color=VERMILION, label="tail")
momenta.plot(time, spin.drop(columns="tail").sum(axis=1), color=BLUE, label="torso and legs")
momenta.plot(time, spin.sum(axis=1), color=INK, ls="--", label="together")
unbalanced = np.abs(spin.sum(axis=1)).max()
angles.set(xlabel="tail against the body [deg]", ylabel="body [deg]", title="line: simulated; circles: closed form")
momenta.set(xlabel="time [ms]", ylabel="angular momentum [N m s]", title="whole robot, about x")
angles.legend()
momenta.legend(loc=(0.33, 0.56))
plt.show()
# %%
# **What one sees.** The angle depends on how far the tail turns, not on how fast: the closed form has no time in it.
# Tail and body exchange momentum and together keep none.
#
# **Try next:** a mass at the tail's end, ``robot.replace({"tail.tip_mass": 0.5})``; a longer tail or a heavier one?
