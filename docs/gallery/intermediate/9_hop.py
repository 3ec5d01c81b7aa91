r"""
Hopping on a spring, from event to event
========================================

**Objective:** drop a body on a leg that is a spring, and find the instants of touchdown and lift-off exactly. The foot
of mass m comes to rest at once and loses :math:`\tfrac12 m v^2`; then the body swings on its spring until the spring
can lift the foot.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.robots import Body, Foot, FreeLimb, Joint, JointSpring, Limb, Robot, Torso
from tailwork.simulation import RigidGround
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, ORANGE

M, m, k, rest, drop, g = 10.0, 0.5, 6000.0, 0.5, 0.2, 9.81
leg = Limb(
    joints=(Joint(name="l", motion="slider", axis=(0.0, 0.0, -1.0), body=Body(mass=m)),),
    springs=(JointSpring(joint="l", stiffness=k, rest=rest, damping=8.0),),
    foot=Foot(joint="l", point=(0.0, 0.0, 0.0), place=(0.0, 0.0, 0.0)),
)
torso = Torso(mass=M, inertia=(0.5, 0.5, 0.5, 0.0, 0.0, 0.0))
model = tailwork.Model(Robot(name="hopper", torso=torso, parts={"leg": FreeLimb(limb=leg)}, gravity=g), stance="none")
start = np.array([0.0, 0.0, rest + drop, 0.0, 0.0, 0.0, rest])
ground = RigidGround(friction=0.8)
run = tailwork.simulate(model, start, 2.0, ground=ground, method="event-driven", rtol=1e-9, atol=1e-9, samples=801)
print(run.summary())

landed, lifted = ([t for t, _, state in run.changes if state == name] for name in ("stick", "air"))
speed = np.sqrt(2.0 * g * drop)  # at the first touchdown
loss = float(run.data["impact_loss"][0])
stance = lifted[0] - landed[0]
print(f"touchdown at {landed[0]:.9f} s, by free fall {np.sqrt(2 * drop / g):.9f} s")
print(f"loss {loss:.9f} J, ½ m v² = {m * g * drop:.9f} J")
print(f"stance {1e3 * stance:.4f} ms, half a swing of the spring {1e3 * np.pi * np.sqrt(M / k):.4f} ms")

plt.rcParams.update(RC)
figure, (above, below) = plt.subplots(2, 1, figsize=(7.2, 4.2), sharex=True, layout="constrained")
time, height = run.data["time"].to_numpy(), run.data["q"].sel(coordinate="z").to_numpy()
foot = run.data["points"].sel(point="leg.foot", axis="z").to_numpy()
above.plot(time, height, color=BLUE, label="torso")
above.plot(time, foot, color=ORANGE, label="foot")
above.set_ylabel("height [m]")
above.legend()
below.plot(time, run.data["foot_force"].sel(axis="z").to_numpy()[:, 0], color=BLUE)
below.set(xlabel="time [s]", ylabel="force of the ground [N]")
plt.show()
# %%
# **What one sees.** The force begins at the spring's, not at zero: the impact has stopped the foot. It ends at zero,
# when the spring pulls with the foot's weight. Each hop is lower by what the foot and the damper have lost.
#
# **Try next:** a lighter foot; ``restitution=0.5``; the same by time stepping (leave the method out).
