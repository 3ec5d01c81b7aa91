r"""
Stiff: why the USRT wants another method
========================================

**Objective:** see what stiffness is. The springs, dampers and cables of the USRT answer within some thirty
microseconds, though its motion takes 300 ms. An explicit method must follow the fastest answer or explode: its steps
stay below about :math:`3.3/\rho`, with :math:`\rho` the largest eigenvalue of the linearised motion, whatever tolerance
one asks for. An implicit method follows what really moves. ``method="auto"`` looks at :math:`\rho` and chooses.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.simulation.integrate.choose import spectral_radii
from tailwork.studies import Scenario, perform, yaw
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, INK, VERMILION

# Constant leg torques, cables that bend the tail.
scenario = Scenario(tailwork.robots.liu2020("usrt"), yaw(40), policy="constant")
tolerances = np.logspace(-3, -9, 7)
runs = {
    (method, tolerance): perform(scenario, method=method, rtol=tolerance, atol=0.01 * tolerance, samples=2)
    for method in ("dopri5", "rodas5p")
    for tolerance in tolerances
}
exact = np.concatenate(runs["dopri5", tolerances[-1]].final_state)
plt.rcParams.update(RC)
figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.2), layout="constrained")
counts, errors = {}, {}
for method, color in (("dopri5", BLUE), ("rodas5p", VERMILION)):
    own = [runs[method, tolerance] for tolerance in tolerances]
    counts[method] = [len(run.trajectory.times) - 1 for run in own]
    errors[method] = [np.abs(np.concatenate(run.final_state) - exact).max() for run in own]
    times = own[2].trajectory.times
    left.semilogy(1e3 * times[:-1], 1e6 * np.diff(times), color=color, lw=0.9, label=method)
    right.loglog(tolerances, counts[method], "-o", color=color)
    print(f"{method}: {counts[method]} steps")
steps = runs["dopri5", tolerances[2]].trajectory.pieces[0].steps
system, some = runs["dopri5", tolerances[2]].trajectory.system, slice(None, -1, 60)
limit = 3.3 / spectral_radii(system, {}, steps.states[some], np.zeros(system.control_inputs), 0.0)  # [s]
left.semilogy(1e3 * steps.times[some], 1e6 * limit, "--", color=INK, label=r"$3.3/\rho$")
share = float(np.median(np.interp(steps.times[some], steps.times[1:], steps.lengths) / limit))
left.set(xlabel="time [ms]", ylabel="length of a step [µs]", title="relative tolerance 1e-5")
right.set(xlabel="relative tolerance", ylabel="steps for 300 ms")
right.invert_xaxis()
left.legend()
plt.show()
# %%
# **What one sees.** The steps of dopri5 lie on the dashed line: thousands of them, however little is asked.
# **Try next:** ``tail.bending_damping`` of 0.1.
