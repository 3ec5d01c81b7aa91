"""Studies: questions answered by many runs."""
