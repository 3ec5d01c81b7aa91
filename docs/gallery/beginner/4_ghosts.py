"""
A motion in one picture
=======================

**Objective:** draw runs as ghosts (moments over each other, older ones paler) and as strips (moments one by one), as
papers print them. The motion is the rolling tail of Liu & Ben-Tzvi (2020), Sect. 5.1: bent down by 40°, the tail rolls
by 45° about its own axis in 0.3 s. A pendulum must move both of its hinges for it; an R3 tail has a motor for it.
"""

import matplotlib.pyplot as plt

import tailwork.view
from tailwork.studies import Scenario, measured, perform, roll

runs, torso = {}, {}
for tail in ("pendulum", "r3"):
    scenario = Scenario(tailwork.robots.liu2020(tail), roll(40), policy="paper")
    runs[tail] = perform(scenario)
    found = measured(runs[tail], scenario)
    torso[tail] = (found["pitch"], found["roll"], found["yaw"])  # [deg], net
figure = plt.figure(tailwork.view.picture(runs, "ghosts", view="rear"))
plt.show()
# %%
# The eye is behind the robot. Lines join the places of the centres of mass. A strip shows the same moments one by one,
# here from above on dark paper; ``times`` chooses them.
plt.figure(tailwork.view.picture(runs, "strip", view="top", times=[0.0, 0.1, 0.2, 0.25, 0.3], dark=True))
plt.show()
# %%
# **What one sees.** From behind, the tail swings clockwise and the torso leans anticlockwise, the more so with the R3
# tail. Both torsos yaw a little, too: a bent tail that rolls also goes sideways.
#
# **Try next:** any view as two angles, ``view="120,10"``; ``forces=True`` in a strip; ``tailwork.view.write_picture``
# for PDF or SVG; ``tailwork.view.write_video`` for a film. On the command line: ``tailwork picture run.nc --kind
# ghosts``.
