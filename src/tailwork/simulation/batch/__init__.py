"""Many runs side by side: inputs, chunks of runs in lanes, and results."""
