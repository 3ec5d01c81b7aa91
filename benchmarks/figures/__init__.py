"""The figures of the benchmark."""
