"""
The cockroach stands
====================

**Objective:** repeat Table 1 of Nelson & Quinn: a cockroach of 36 degrees of freedom stands on its six legs, every
joint a spring about the same posture. How much torque does that take, and how does it depend on the stiffness? Stiff
joints hold the posture and fight each other; soft ones give way until the load is shared. The least torques that
balance the weight, over all ways to share it among the feet, are a quadratic programme: springs can come near.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork.view
from tailwork.control import posed
from tailwork.papers.nelson_quinn.experiments import (
    PAPER_EFFORTS,
    PAPER_ERRORS,
    STIFFNESSES,
    efforts_by_leg,
    simulate_settling,
    standing,
)
from tailwork.studies.compare.ground_stance import least_torques, standing_model
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, INK, ORANGE, VERMILION

model = standing_model(tailwork.robots.blaberus())
table = [standing(stiffness, model=model) for stiffness in STIFFNESSES]  # [dyn cm/rad]
sweep = [standing(stiffness, model=model) for stiffness in np.logspace(3.8, 7.3, 29)]
bound = efforts_by_leg(least_torques(model, posed(model)).torques)  # by leg [(mN cm)²]
front = [row.front_effort for row in table]
print("error [deg]:", [round(row.error, 3) for row in table])
print("effort of both front legs [(mN cm)²]:", [round(effort, 1) for effort in front])
run = simulate_settling(STIFFNESSES[2], duration=0.4)  # by simulation, from the posture of the unloaded springs
apart = np.abs(run.final_state[0] - table[2].stance.q).max()
figure = plt.figure(tailwork.view.picture({"cockroach": run}, "pose", view="125,25"))
plt.show()
# %%
# Arrows are the forces on the feet. Now the torques, over how far the joints give way: stiff on the left, soft on the
# right.
plt.rcParams.update(RC)
curves, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.0), layout="constrained")
errors = [row.error for row in sweep]
left.semilogx(errors, [row.front_effort for row in sweep], color=BLUE, label="both front legs, ours")
left.semilogx([row.error for row in table], front, "o", color=BLUE)
left.semilogx(PAPER_ERRORS, PAPER_EFFORTS, "s", color=ORANGE, label="Table 1 of the paper")
right.semilogx(errors, [row.efforts.sum() for row in sweep], color=INK, label="all six legs")
right.axhline(bound.sum(), color=VERMILION, ls="--", label="least that balances the weight")
for axes in (left, right):
    axes.set(xlabel="how far joints give way, mean [deg]", ylabel="torque effort [(mN cm)²]")
    axes.legend()
plt.show()
# %%
# **What one sees.** Both curves have a bottom: there is a best stiffness. There the springs share the load almost as
# the quadratic programme would, within two per cent, without knowing it. Our masses are estimates from the literature,
# so the numbers are not quite the paper's. And the simulation comes to rest where the balance of forces says.
#
# **Try next:** softer ground, ``standing(1e5, ground_stiffness=1e5)``; ``simulate_walk()`` beside it lets it walk.
