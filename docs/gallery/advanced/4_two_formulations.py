r"""
Two formulations, one acceleration
==================================

**Objective:** derive the same motion twice. tailwork assembles the equations by virtual work, limb by limb. The papers'
own formulations are there, too, in plain NumPy, and share no code with it: Liu & Ben-Tzvi (2020), Eqs. (3)–(84), for
quadrupeds on their feet, and Nelson & Quinn, Eqs. (1)–(50), Lagrange's equations in quasicoordinates for trees of
bodies. Both must give the accelerations of any state, here of random ones, to rounding.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import tailwork
from tailwork.papers.liu2020 import model as liu2020
from tailwork.papers.nelson_quinn import body_tree, quasicoordinates
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, GREEN, PURPLE, VERMILION

rng = np.random.default_rng(1)
apart = {"cockroach, quasicoordinates": []}  # largest difference as a share of the largest acceleration
insect = tailwork.Model(tailwork.robots.blaberus(), stance="none")
tree, standing = body_tree.tree_of(insect.robot), tailwork.control.posed(insect)
for _ in range(20):
    q, v, torques = standing + rng.uniform(-0.5, 0.5, 36), rng.uniform(-5.0, 5.0, 36), rng.uniform(-1e-4, 1e-4, 30)
    turn = Rotation.from_euler("ZYX", q[5:2:-1]).as_matrix()
    state = quasicoordinates.quasi_state(tree, position=q[:3], rotation=turn, angles=q[6:], velocity=v[:3],
                                         omega=turn.T @ v[3:6], rates=v[6:])  # fmt: skip
    theirs = quasicoordinates.forward_dynamics(tree, state, torques)
    theirs[3:6] = turn @ theirs[3:6]  # theirs is in the frame of the body
    ours = insect.forward_dynamics(q, v, torques)
    apart["cockroach, quasicoordinates"].append(np.abs(ours - theirs).max() / np.abs(ours).max())
for tail in ("pendulum", "r3", "usrt"):
    robot = tailwork.robots.liu2020(tail)
    model, found = tailwork.Model(robot), apart.setdefault(f"{tail}, Liu & Ben-Tzvi", [])
    for _ in range(10):
        q = model.standing() + rng.uniform(-0.05, 0.05, len(model.coordinate_names))
        v, tau = rng.uniform(-1.0, 1.0, len(q)), rng.uniform(0.0, 5.0, len(model.actuator_names))
        force = liu2020.actuation_matrix(robot, q) @ tau - liu2020.bias(robot, q, v)
        theirs = np.linalg.solve(liu2020.mass_matrix(robot, q), force)  # Eqs. (79)–(83)
        found.append(np.abs(model.forward_dynamics(q, v, tau) - theirs).max() / np.abs(theirs).max())
matrix = insect.mass_matrix(standing)
matrix /= np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
plt.rcParams.update(RC)
figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.5), layout="constrained", width_ratios=(1, 1.2))
drawn = left.imshow(np.log10(np.maximum(np.abs(matrix), 1e-6)), cmap="Greys", vmin=-5)
figure.colorbar(drawn, ax=left, label="log10 of the entries, diagonal scaled to 1", aspect=30)
for row, ((name, shares), color) in enumerate(zip(apart.items(), (PURPLE, BLUE, VERMILION, GREEN), strict=True)):
    right.semilogx(shares, row + rng.uniform(-0.2, 0.2, len(shares)), "o", color=color, alpha=0.6)
    print(f"{name}: {max(shares):.0e}")
right.set(yticks=range(4), yticklabels=[name.replace(", ", "\n") for name in apart], xlabel="relative difference")
left.set(title="mass matrix of the cockroach", xticks=[])
left.set_yticks([2.5, *range(8, 36, 5)], ["torso", *(f"leg {k}" for k in range(1, 7))])
left.grid(visible=False)
plt.show()
# %%
# **What one sees.** Both ways agree to rounding. Legs meet only in the torso: most of the mass matrix is zero.
# **Try next:** ``liu2020.forward_dynamics``, with its matrix as differences (Eq. 84). Why does the USRT lose digits?
