"""
The trot
========

**Objective:** let the D-H quadruped of Biswal & Mohanty trot over compliant ground. A gait gives the paths of the feet,
inverse kinematics the joint angles, and a servo in every joint follows them; the ground pushes back where a foot is in
it, and holds it by friction until it slips. Masses, gains and ground are estimates: the paper prints none.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork.view
from tailwork.control import JointServo, joint_table, trot, walking_start
from tailwork.simulation import CompliantGround
from tailwork.view.figures.walking import leg_names

robot, place = tailwork.robots.biswal(), (0.0, 0.0, 0.27)  # of the torso above mid-stance, before it sinks in [m]
model = tailwork.Model(robot, stance="none")
gait = trot(robot, speed=0.15, frequency=2.0, lift=0.03)  # m/s, Hz, m
table = joint_table(model, gait, torso_place=place)
ground = CompliantGround(stiffness=2e4, damping=1.0, tangential_stiffness=2e4, tangential_damping=20.0,
                static_friction=0.8, kinetic_friction=0.6)  # fmt: skip
start = walking_start(model, gait, table, torso_place=place)
run = tailwork.simulate(
    model, start, 4.0, ground=ground, control=JointServo(table=table, kp=30.0, kd=0.5), samples=1601
)

late = run.data.sel(time=slice(2.0, None))  # the first strides settle
x, z = (late["q"].sel(coordinate=name).to_numpy() for name in ("x", "z"))
speed = (x[-1] - x[0]) / float(late["time"][-1] - late["time"][0])
height, ripple = float(z.mean()), float(np.ptp(z))
closure = run.momentum_balance_error()
print(f"speed {speed:.3f} m/s, height {height:.3f} m (within {1e3 * ripple:.1f} mm), momentum closes to {closure:.0e}")
figure = plt.figure(tailwork.view.stride_pictures(run, gait, views=("three-quarter",), frames=8))
plt.show()
# %%
# A stride, and below when each foot sticks and slips; thin bars are the stances that the gait asks for.
plt.figure(tailwork.view.footfall(run, window=(3.0, 4.0), gait=gait, names=leg_names(robot)))
plt.show()
# %%
# **What one sees.** Diagonal pairs of legs carry the robot in turn. The trot is an open loop: nothing watches the
# torso, and still it keeps its speed. What the robot gained in momentum is what ground and weight gave it.
#
# **Try next:** ``walk``, ``pace`` and ``bound`` in place of ``trot``; half the friction; a ``HeightField`` as the
# surface.
