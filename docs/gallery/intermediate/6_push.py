r"""
A push, and who recovers
========================

**Objective:** push a standing robot to the side and see which legs bring it back. A push of :math:`p` [N s] on the
torso is over before anything has moved; all it does is to give the robot a velocity, :math:`M \nu = J^T p`, while the
feet stay. Then the legs hold constant torques, or the same with springs and dampers in the joints, or at the feet.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork.view
from tailwork.control import Constant, FootImpedance, JointImpedance, held
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, ORANGE, PURPLE

model = tailwork.Model(tailwork.robots.liu2020("pendulum"), prescribed=["tail"])  # whose tail is held straight
q, angles = model.standing(), model.joint_angles(model.standing())
push = np.array([4.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # to the right, at the torso's centre: no moment [N s]
v = np.append(np.linalg.solve(model.mass_matrix(q)[:6, :6], push), [0.0, 0.0])
holding = [Constant(values=tuple(model.static_torques(q)))]
joints, feet = [], []
for leg in model.foot_names:
    rest = tuple(float(angles[f"{leg}.{hinge}"]) for hinge in ("ha", "hb", "k"))
    joints.append(JointImpedance(leg=leg, rest=rest, stiffness=100.0, damping=4.0))  # N m/rad, N m s/rad
    under = tuple(float(x) for x in np.array(model.robot.feet()[leg].place) - q[:3])
    feet.append(FootImpedance(leg=leg, rest=under, stiffness=1500.0, damping=60.0))  # N/m, N s/m
laws = {"constant torques": [], "springs in the joints": joints, "springs at the feet": feet}
still = {"tail": {"ta": held(0.0), "tb": held(0.0)}}
runs = {name: tailwork.simulate(model, (q, v), 1.0, control=holding + law, motions=still) for name, law in laws.items()}
figure = plt.figure(tailwork.view.picture(runs, "ghosts", view="rear", traces=False))
plt.show()
# %%
# The same over time, with the friction that the feet need.
plt.rcParams.update(RC)
curves, panels = plt.subplots(1, 3, figsize=(7.2, 2.7), layout="constrained")
friction = {name: run.friction_needed() for name, run in runs.items()}
for (name, run), color in zip(runs.items(), (BLUE, PURPLE, ORANGE), strict=True):
    time, force = 1e3 * run.data["time"].to_numpy(), run.data["foot_force"].to_numpy()
    needed = (np.hypot(force[..., 0], force[..., 1]) / force[..., 2]).max(axis=1)
    panels[0].plot(time, 1e3 * run.data["q"].sel(coordinate="x"), color=color, label=name)
    panels[1].plot(time, np.degrees(run.data["q"].sel(coordinate="phi_y")), color=color)
    panels[2].plot(time, needed, color=color)
    print(f"{name}: {run.stopped or 'stands'}")
for axes, label in zip(panels, ("to the right [mm]", "roll [deg]", "friction needed [1]"), strict=True):
    axes.set(xlabel="time [ms]", ylabel=label)
panels[2].set_ylim(0.0, 1.0)
curves.legend(loc="outside lower center", ncols=3)
plt.show()
# %%
# **What one sees.** Under constant torques the robot drifts away, faster and faster, until a leg is straight. Springs
# bring it back; those at the feet let it lean more, and soon want less friction.
#
# **Try next:** half the push, or half the stiffness; how soft may the joints be before the robot falls?
