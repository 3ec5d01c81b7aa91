r"""
A drop
======

**Objective:** let a quadruped fall on rigid ground and read what the impact did. Its joints hold their posture by
springs and dampers. From a height :math:`h` it lands after :math:`\sqrt{2h/g}`; what the ground then gives in no time
at all is computed from the masses of all its bodies; the gains of the legs have no part in it.
"""

import matplotlib.pyplot as plt

import tailwork
from tailwork.control import JointServo, held_posture, posed
from tailwork.simulation import RigidGround
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, GREEN, INK, VERMILION

model = tailwork.Model(tailwork.robots.liu2020("pendulum"), stance="none", attitude="quaternion")
standing = posed(model)
servo = JointServo(table=held_posture(model, standing), kp=300.0, kd=8.0)  # [N m/rad, N m s/rad]
runs = {}
for height in (0.04, 0.08, 0.16):  # [m]
    q = standing.copy()
    q[2] += height
    runs[height] = tailwork.simulate(model, q, 0.6, control=servo, ground=RigidGround(friction=0.6), samples=601)
touch = {height: float(run.data["impact_time"][0]) for height, run in runs.items()}
impulse = {height: float(run.data["impact_impulse"][0, :, 2].sum()) for height, run in runs.items()}
loss = {height: float(run.data["impact_loss"][0]) for height, run in runs.items()}
for height in runs:
    print(f"{height:.2f} m: lands at {touch[height]:.6f} s, {impulse[height]:.4f} N s, {loss[height]:.4f} J lost")
print(runs[0.08].summary())

plt.rcParams.update(RC)
figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.0), layout="constrained")
for (height, run), color in zip(runs.items(), (BLUE, GREEN, VERMILION), strict=True):
    time, force = run.data["time"], run.data["foot_force"].sel(axis="z").sum("foot")
    left.plot(time, run.data["q"].sel(coordinate="z"), color=color, label=f"{height:.2f} m")
    right.plot(time, force, color=color)
right.axhline(float(model.robot.mass()) * model.robot.gravity, color=INK, linestyle=":", label="weight")
left.set(xlabel="time [s]", ylabel="height of the torso [m]")
right.set(xlabel="time [s]", ylabel="sum of normal forces [N]", ylim=(0.0, 1500.0))
left.legend(title="dropped from")
right.legend()
plt.show()
# %%
# **What one sees.** Impulse and loss at the touch grow with the speed and its square. Then the legs push back, and the
# torso comes to rest a little below where it stood: the springs of the joints carry the weight.
#
# **Try next:** ``RigidGround(friction=0.6, restitution=0.3)``, or ``friction=0.1``, where the feet slide apart.
