r"""
A trot on rigid ground
======================

**Objective:** see when feet lift, land and slip in a trot, and how the error of the torso's place after 0.8 s falls
with the step. Touchdowns are located within steps, so it is below a millimetre at every step that is allowed.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.control import JointServo
from tailwork.control.gait.gait import trot
from tailwork.control.gait.joint_table import joint_table, walking_start
from tailwork.robots import PlateTorso, Robot, ThreeHingeLegs
from tailwork.simulation import RigidGround
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, INK, ORANGE

hips = tuple((0.05 * x, 0.19 * y, 0.0) for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1)))
legs = ThreeHingeLegs(thigh_length=0.213, shank_length=0.213, thigh_mass=1.15, shank_mass=0.24, hips=hips, feet=hips)
torso = PlateTorso(mass=7.0, width=0.1, length=0.38)
robot = Robot(name="quadruped", torso=torso, stand=(0.0, 0.0, 0.32), parts={"legs": legs})
model = tailwork.Model(robot, stance="none", attitude="quaternion")
gait = trot(robot, speed=0.5, frequency=2.5, lift=0.08, duty=0.6)
table = joint_table(model, gait)
servo, start = JointServo(table=table, kp=300.0, kd=6.0), walking_start(model, gait, table)

steps = np.array([2e-3, 1e-3, 5e-4, 2.5e-4, 6.25e-5])  # [s]
runs = [tailwork.simulate(model, start, 0.8, control=servo, ground=RigidGround(friction=0.6), step=h) for h in steps]
places = np.array([run.final_state[0][:3] for run in runs])
errors = np.linalg.norm(places[:-1] - places[-1], axis=1)
order = np.polyfit(np.log(steps[:-1]), np.log(errors), 1)[0]
run, speed = runs[1], float(runs[1].final_state[0][1] / 0.8)
print(run.summary())
print(f"{speed:.3f} m/s; errors {errors} m, order {order:.1f}")

plt.rcParams.update(RC)
figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 2.8), layout="constrained", width_ratios=(2, 1))
time, states = run.data["time"].to_numpy(), run.data["contact"].to_numpy()
for k in range(4):
    for state, color in ((1, BLUE), (2, ORANGE)):
        left.fill_between(time, k - 0.35, k + 0.35, where=states[:, k] == state, color=color, step="mid", linewidth=0)
left.set(xlabel="time [s]", yticks=range(4), yticklabels=run.data["foot"].values, title="sticks (blue), slips (orange)")
right.loglog(1e3 * steps[:-1], errors, "o", color=BLUE)
right.loglog(1e3 * steps[:-1], errors[0] * steps[:-1] / steps[0], ":", color=INK, label="as the step")
right.minorticks_off()
right.set(xlabel="step [ms]", ylabel="error of the torso's place [m]", yticks=(1e-4, 1e-3))
right.set_xticks(1e3 * steps[:-1], [f"{step:g}" for step in 1e3 * steps[:-1]])
right.legend()
plt.show()
# %%
# **What one sees.** Diagonal pairs stand in turn; feet slip a little where they land and where they leave.
#
# **Try next:** ``friction=0.3``; a robot with a tail; the same gait on a ``CompliantGround``, with shorter steps.
