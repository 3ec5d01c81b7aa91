"""Liu & Ben-Tzvi 2018: a quadruped on its feet with a pendulum tail.

`legs` and `model` have the equations; torso and pendulum, which both papers share, are in `liu2020`. Start with
`model.inverse_dynamics` and `model.mass_matrix`. `experiments.run_all` runs Sect. 4, `report.write_report` draws it.
"""
