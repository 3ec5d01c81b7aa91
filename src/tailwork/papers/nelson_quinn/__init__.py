"""Nelson & Quinn: a cockroach as a tree of bodies, in quasicoordinates.

`tree` turns a robot into bodies and a state into the paper's coordinates; `quasicoordinates` has the equations of
motion. Start with `tree.tree_of`, `tree.true_state` and `quasicoordinates.forward_dynamics`. `experiments.run_all`
stands and walks, `report.write_report` draws it.
"""
