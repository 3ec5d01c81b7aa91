"""Videos of runs."""
