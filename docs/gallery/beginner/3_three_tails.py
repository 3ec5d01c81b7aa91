"""
Three tails side by side
========================

**Objective:** let a pendulum, an R3 tail (it rolls, then two geared segments bend) and a USRT (flexible, pulled by
cables) do the same on the same quadruped, and compare what the torso does. "The same" means a bend of 40° to the right
in 0.3 s, as the paper counts it (Liu & Ben-Tzvi 2020, Eq. 86). The legs hold the constant torques of its Eq. (85),
under which the robot stands, but as a pencil stands on its tip.
"""

import matplotlib.pyplot as plt

import tailwork.view
from tailwork.studies import Scenario, measured, perform, yaw

runs, torso = {}, {}
for tail in ("pendulum", "r3", "usrt"):
    scenario = Scenario(tailwork.robots.liu2020(tail), yaw(40), policy="paper")
    runs[tail] = perform(scenario)
    found = measured(runs[tail], scenario)
    torso[tail] = (found["pitch"], found["roll"], found["yaw"])
    print(f"{tail:9s} pitch {found['pitch']:5.1f}°, roll {found['roll']:5.1f}°, yaw {found['yaw']:6.1f}°")

figure = plt.figure(tailwork.view.time_lapse(runs))
plt.show()
# %%
# Seen from above, the tail swings anticlockwise and the torso turns clockwise. It leans to the right as well, because
# that is where the weight of the tail goes. Here is the torso over time.
plt.figure(tailwork.view.torso_response(runs))
plt.show()
# %%
# **What one sees.** All three turn the torso nearly alike: what counts most is how the tail's centre of mass moves.
# The two that curl up do a little more, because Eq. 86 carries their centre of mass farther than 40°; with
# ``replace(yaw(40), angle="chain")`` the difference nearly goes. The growth at the end is the unstable stance's.
#
# **Try next:** ``policy="joint"`` holds the legs by springs, and the torso hardly turns; ``policy="airborne"`` takes
# the ground away. What the legs do decides more than the tail does.
