"""Liu & Ben-Tzvi 2020: equations, experiments, report."""
