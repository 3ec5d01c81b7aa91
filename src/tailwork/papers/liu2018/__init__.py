"""Liu & Ben-Tzvi 2018: equations, experiments, report."""
