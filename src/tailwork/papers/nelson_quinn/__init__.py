"""Nelson & Quinn: equations, experiments, report."""
