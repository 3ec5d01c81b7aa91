"""Liu & Ben-Tzvi 2020: a quadruped on its feet with a pendulum, an R3 tail or a USRT, compared.

`torso`, `legs`, `chain` and a module for each tail have the equations, `model` puts them together. Start with
`model.inverse_dynamics`. `experiments.reproduce` runs Sect. 5, `report.write_report` writes what it found.
"""
