"""
Holding torques
===============

Which torques hold the robot.
"""

import matplotlib.pyplot as plt

import tailwork

model = tailwork.Model(tailwork.robots.liu2020(tail="pendulum"))
tau = model.static_torques(model.standing())
plt.bar(model.actuator_names, tau)
