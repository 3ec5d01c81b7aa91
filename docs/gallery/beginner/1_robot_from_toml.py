"""
A robot from a file
===================

**Objective:** describe a robot in a TOML file, load it, ask what holds it up, and see it move. All numbers are in SI
units; x points right, y forward, z up, and the tail leaves the torso towards −y.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

import tailwork.view
from tailwork.studies import Scenario, perform, pitch

ROBOT = """
name = "runner"
gravity = 9.81
stand = [0.0, 0.0, 0.38]  # the torso's place
[torso]
kind = "plate"
mass = 8.0
width = 0.24
length = 0.6
[tail]
kind = "pendulum"  # or "r3", "usrt"
length = 0.7
mass = 0.5
tip_mass = 0.2
mount = [0.0, -0.3, 0.03]
[legs]
kind = "three_hinge_legs"
thigh_length = 0.24
shank_length = 0.26
thigh_mass = 0.8
shank_mass = 0.4
hips = [[0.12, 0.28, 0.0], [-0.12, 0.28, 0.0], [-0.12, -0.28, 0.0], [0.12, -0.28, 0.0]]
feet = [[0.14, 0.26, 0.0], [-0.14, 0.26, 0.0], [-0.14, -0.30, 0.0], [0.14, -0.30, 0.0]]
"""
with TemporaryDirectory() as folder:
    file = Path(folder) / "runner.toml"
    file.write_text(ROBOT)
    robot = tailwork.load(file)
    robot.save(file)  # now with every field there is
    same = tailwork.load(file) == robot
# %%
# A model answers for one state or for many: here, what holds the robot at rest, and what the ground gives to each foot.
model = tailwork.Model(robot)
q = model.standing()
torques = model.static_torques(q)
foot_forces = model.foot_forces(q, [0.0] * len(model.velocity_names), torques)
print(f"same after saving: {same}; feet bear {foot_forces[:, 2].round(2)} N")
run = perform(Scenario(robot, pitch(-60), policy="joint"))  # the tail swings up by 60° in 0.3 s
figure = plt.figure(tailwork.view.picture({"runner": run}, "ghosts"))
plt.show()
# %%
# **What one sees.** The tail at six moments, older ones paler. **Try next:** put six entries into ``hips`` and
# ``feet``.
