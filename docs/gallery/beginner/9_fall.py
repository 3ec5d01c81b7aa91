r"""
A robot that falls and lies
===========================

**Objective:** push a standing robot over, and let it lie. Beside its feet, its hips, knees and the tip of its tail can
touch the rigid ground. Servos hold the joints all the time. A push to the left of 150 N for 0.15 s only makes it rock;
200 N are too much.
"""

from dataclasses import replace

import matplotlib.pyplot as plt

import tailwork.view
from tailwork.control import JointServo
from tailwork.control.gait.foot_kinematics import posed
from tailwork.control.gait.joint_table import held_posture
from tailwork.robots import ContactPoint, FreeTail
from tailwork.simulation import Force, RigidGround, pulse
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import ORANGE, PURPLE

robot, joints = tailwork.robots.go2(), {"hip": ("thigh", 0.06), "knee": ("calf", 0.02)}  # radii [m]
balls = [ContactPoint(name=name, joint=joint, point=(0.0, 0.0, 0.0), radius=r) for name, (joint, r) in joints.items()]
for leg in robot.feet():
    robot = robot.replace({f"{leg}.limb": replace(robot.part(leg).limb, contacts=tuple(balls))})
tail = tailwork.robots.pendulum(length=0.4, mass=1.0).limbs("tail")["tail"]
tip = ContactPoint(name="tip", joint=tail.tip.joint, point=tail.tip.point)
robot = robot.with_tail(FreeTail(shape=replace(tail, contacts=(tip,))))
model = tailwork.Model(robot, stance="none", attitude="quaternion")
standing = posed(model)
servo = JointServo.for_robot(robot, held_posture(model, standing))
ground, runs, carried = RigidGround(friction=0.6), {}, {}
for force in (150.0, 200.0):  # [N]
    push = Force(limb="torso", point=(0.0, 0.0, 0.0), y=pulse(force, 0.15))
    run = tailwork.simulate(model, standing, 2.0, ground=ground, control=servo, forces=push, samples=401)
    touching = zip(robot.contact_points(), run.final_contact.states, strict=True)
    carried[force] = [name for name, state in touching if state != "air"]
    print(f"{run.summary()}\nin the end it is carried by {', '.join(carried[force])}\n")
    runs[f"{force:.0f} N"] = run
figure = plt.figure(tailwork.view.picture(runs, "strip", view="rear"))
plt.show()
# %%
# What is left of the motion: kinetic energy, which the contacts take away.
plt.rcParams.update(RC)
curves, axes = plt.subplots(figsize=(7.2, 2.6), layout="constrained")
for (label, run), color in zip(runs.items(), (PURPLE, ORANGE), strict=True):
    axes.semilogy(run.data["time"], run.data["kinetic_energy"] + 1e-12, color=color, label=label)
axes.set(xlabel="time [s]", ylabel="kinetic energy [J]", ylim=(1e-12, 1e3))
axes.legend()
plt.show()
# %%
# **What one sees.** The larger push tips the robot over its left feet. Its hips strike the ground one by one, and it
# lies on its back: impacts take energy in an instant, friction and servos take the rest, to rounding.
#
# **Try next:** ``friction=0.2``; a push at another point of the torso; ``run.save("fall.nc")`` and ``tailwork view``.
