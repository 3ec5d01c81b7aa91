"""Nelson & Quinn: a cockroach as a tree of bodies, in quasicoordinates.

`body_tree` turns a robot into bodies, `quasicoordinates` has the equations. Start with `body_tree.tree_of`,
`quasicoordinates.true_state` and `quasicoordinates.forward_dynamics`. `experiments.run_all` stands and walks,
`report.write_report` draws it.
"""
