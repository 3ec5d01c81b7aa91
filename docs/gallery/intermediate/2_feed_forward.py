r"""
Feed-forward and a wrong start
==============================

**Objective:** repeat the control experiment of Liu & Ben-Tzvi (2018), Sect. 4.2. The torso is to pitch by 5° and the
tail to swing by 10°, as sines of 0.3 s. The inverse model gives the torques (Eq. 41, six of them zero), the forward
model takes them. The paper sees the motion deviate before 0.2 s and adds feedback. What goes wrong is the start: the
sines begin at full speed, :math:`\dot\varphi_x(0) = 1.83` rad/s, and the simulation at rest.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.control import ComputedTorque, FeedForward
from tailwork.model import LIU2018_REDUNDANT as REDUNDANT
from tailwork.papers.liu2018.experiments import desired, desired_states
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, GREEN, INK, PURPLE, VERMILION

model = tailwork.Model(tailwork.robots.liu2018())
wanted = desired()  # by coordinate: sines of pitch and of the tail's swing, everything else held
names, profiles, zeros = tuple(wanted), tuple(wanted.values()), 6 * (0.0,)
law = {"coordinates": names, "profiles": profiles, "redundant": REDUNDANT, "redundant_efforts": zeros}
at_rest, speed, _ = (found[0] for found in desired_states(model, np.zeros(1)))
fixed, tight = {"method": "rk4", "step": 1e-4}, {"rtol": 1e-10, "atol": 1e-13}
cases = (
    ("torques alone, at the right speed", BLUE, (at_rest, speed), 0.2, FeedForward(**law), fixed),
    ("torques alone, from rest", VERMILION, at_rest, 0.2, FeedForward(**law), fixed),
    ("with feedback, from rest", GREEN, at_rest, 0.7, FeedForward(**law, kp=400.0, kd=40.0), tight),
    ("computed torque, from rest", PURPLE, at_rest, 0.7, ComputedTorque(**law, kp=400.0, kd=40.0), tight),
)
plt.rcParams.update(RC)
figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.4), layout="constrained")
runs, errors, added = {}, {}, {}
for name, color, start, duration, control, how in cases:
    runs[name] = run = tailwork.simulate(model, start, duration, control=control, **how, samples=701)
    time = run.data["time"].to_numpy()
    motion = desired_states(model, time)
    required = model.allocation(*motion, redundant=dict.fromkeys(REDUNDANT, 0.0)).efforts
    errors[name] = np.degrees(np.abs(run.data["q"].to_numpy() - motion[0])[:, 3:]).max(axis=1)  # worst angle [deg]
    added[name] = np.abs(run.data["tau"].to_numpy() - required).max(axis=1)  # by feedback [N m]
    left.semilogy(1e3 * time[1:], errors[name][1:], color=color, label=name)
    right.semilogy(1e3 * time, np.where(added[name] > 1e-6, added[name], np.nan), color=color)
expected = np.degrees(-speed[-1] * time * np.exp(-20.0 * time))  # of e'' + 40 e' + 400 e = 0, for the tail
left.semilogy(1e3 * time[1:], expected[1:], ":", color=INK, label="computed torque, closed form")
for axes, label in ((left, "largest error [deg]"), (right, "added torque [N m]")):
    axes.set(xlabel="time [ms]", ylabel=label)
figure.legend(loc="outside lower center", ncols=2)
plt.show()
# %%
# **What one sees.** On the left the worst angle, on the right what feedback adds to the inverse model. Between blue
# and red only the start differs. With computed torque the error follows a linear equation, the dotted curve. Feedback
# that takes the inverse model where the robot should be, not where it is, comes back to about a degree.
#
# **Try next:** other gains; ``model.admissible_efforts`` for feet that must push: it says when they cannot.
