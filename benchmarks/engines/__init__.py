"""Other engines, each set up for speed on the same robot, to be timed beside our own kernels and checked against them.

None of them is needed to use tailwork: a module here is imported only where its engine is installed.
"""
