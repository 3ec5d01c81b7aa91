"""Numbers and vectors the equations are written in: floats to compute with, or expressions to record."""
