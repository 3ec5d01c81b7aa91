"""Biswal & Mohanty: the leg of a quadruped by Denavit–Hartenberg parameters, and a trot.

`leg` has the equations; start with `leg.foot_place` and `leg.joint_angles`. `dh_leg` has the leg as a robot and its
torques; `experiments.run_all` adds a trot, `report.write_report` draws it all.
"""
