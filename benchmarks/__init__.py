"""The benchmark: tailwork beside other engines, in one run."""
