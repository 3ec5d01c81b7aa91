r"""
Would the feet stay?
====================

**Objective:** see from the forces of the ground whether feet that the model pins would really stay. A foot can push,
not pull, and it slips where it needs more friction than there is: :math:`\sqrt{f_x^2 + f_y^2} > \mu f_z`. The model
gives these forces with every state, so the question can be asked after the fact, or watched while a run goes on.
"""

import matplotlib.pyplot as plt

import tailwork.view
from tailwork.studies import Scenario, perform, yaw

robot = tailwork.robots.liu2020("pendulum")
runs, least_force, friction, stays = {}, {}, {}, {}
for angle in (40, 80):
    run = perform(Scenario(robot, yaw(angle), policy="paper"))  # constant leg torques, Liu & Ben-Tzvi 2020, Eq. (85)
    runs[f"tail swings by {angle}°"] = run
    least_force[angle], friction[angle] = run.min_normal_force(), run.friction_needed()
    stays[angle] = run.assumption_held(friction=0.6)
    print(run.summary(), "\n")
figure = plt.figure(tailwork.view.foot_forces(runs))
plt.show()
# %%
# **What one sees.** With 40° every foot keeps nearly all of its load, and even wet ground would hold it. With 80° all
# is well until the last 20 ms. Then one rear leg comes near to being straight, unloads, and asks for more friction than
# floors give: from there on the model describes a robot whose feet are glued down.
#
# **Try next:** ``tailwork.simulate(..., events=[FootSlips(friction=0.6, action="stop")])`` ends a run where a foot
# would slip. ``tailwork ground liu2020 --motion yaw:80`` puts the same motion on compliant ground, where feet do
# slip.
