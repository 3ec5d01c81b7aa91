r"""
A walker without motors, and how stable it is
=============================================

**Objective:** find the gait of the compass walker of Goswami, Thuilot & Espiau (1998) on a slope of 3° by Newton's
method on its return map, with derivatives through the impact, and read its Floquet multipliers.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.robots import Body, Foot, FreeLimb, Joint, Limb, Robot, Torso
from tailwork.simulation import HeightField, PassesThrough, RigidGround, periodic_gait
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, INK

leg = Limb(
    joints=(Joint(name="h", axis=(1.0, 0.0, 0.0), body=Body(mass=5.0, com=(0.0, 0.0, -0.5))),),
    foot=Foot(joint="h", point=(0.0, 0.0, -1.0), place=(0.0, 0.0, 0.0)),
)
torso = Torso(mass=10.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
robot = Robot(name="compass", torso=torso, parts={"left": FreeLimb(limb=leg), "right": FreeLimb(limb=leg)})
model = tailwork.Model(robot, stance="none", attitude="quaternion")
fall = np.tan(np.radians(3.0))
slope = HeightField.sampled(lambda x, y: -fall * y, (-5.0, 5.0), (-5.0, 25.0), 5.0)
ground = RigidGround(friction=5.0, surface=slope)


def scuffs(leg, other):  # a foot touches only when it is ahead of the other: scuffing in mid-swing is left out
    return PassesThrough(point=leg, quantity=lambda c: sum(c.q[c.layout.coordinates[leg]])
                         - sum(c.q[c.layout.coordinates[other]]) - 0.05)  # fmt: skip


events = [scuffs("left", "right"), scuffs("right", "left")]
stance, swing, rate, swing_rate = 0.22, -0.3247, -1.09, -0.38  # a guess [rad], [rad/s]
q = np.array([0.0, -np.sin(stance), np.cos(stance), 1.0, 0.0, 0.0, 0.0, stance, swing])
v = np.array([0.0, -np.cos(stance) * rate, -np.sin(stance) * rate, 0.0, 0.0, 0.0, rate, swing_rate])
gait = periodic_gait(model, (q, v), ground=ground, until="right", swap={"left": "right"}, events=events, by=["gravity"])
print(gait.summary())
own = gait.multipliers[np.abs(gait.multipliers.imag) > 0.1]
print(f"multipliers in the plane {own}; period by gravity {gait.period_by['gravity']:.6f} s per m/s²")
run = tailwork.simulate(model, gait.start, 4.0, ground=ground, events=events, method="event-driven", rtol=1e-9)

plt.rcParams.update(RC)
figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.2), layout="constrained")
angles, rates = run.data["q"].to_numpy()[:, 7:], run.data["v"].to_numpy()[:, 6:]
left.plot(angles, rates, label=["left leg", "right leg"])
left.set(xlabel="angle [rad]", ylabel="rate [rad/s]")
left.legend()
right.add_patch(plt.Circle((0.0, 0.0), 1.0, fill=False, color=INK))
right.plot(gait.multipliers.real, gait.multipliers.imag, "o", color=BLUE)
right.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal", title="multipliers", xlabel="real", ylabel="imaginary")
plt.show()
# %%
# **What one sees.** In its plane the walker is stable; sideways it falls (a multiplier of 11 is off the picture).
#
# **Try next:** ``state_by``, how the gait changes with a number; other masses; a steeper slope.
