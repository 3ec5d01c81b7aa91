r"""
Accuracy and its price
======================

**Objective:** see how the error of a simulation falls with its number of steps :math:`n`. A method of order :math:`p`
has an error that falls as :math:`n^{-p}`, where steps are small enough. The robot lets go: without any torques it sinks
on its pinned feet while its tail swings. Its energy must stay what it is, which tells of errors without knowing the
answer; and for the answer itself a run of very small steps stands in.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, GREEN, VERMILION

model = tailwork.Model(tailwork.robots.liu2020("pendulum"))
start = model.standing(), np.array([0.2, -0.3, 0.0, 0.5, -0.4, 0.6, 4.0, -5.0])  # m/s, rad/s


def run(**how: object) -> tuple[int, np.ndarray, float]:
    """Number of steps, the last state, and which share of the energy was lost or won."""
    found = tailwork.simulate(model, start, 0.15, samples=2, **how)
    energy = model.energy(found.data["q"].to_numpy(), found.data["v"].to_numpy()).total
    return len(found.trajectory.times) - 1, np.concatenate(found.final_state), abs(energy[1] / energy[0] - 1.0)


exact = run(method="dopri5", step=1e-4)[1]
counts, tolerances = np.unique(np.logspace(0.8, 2.6, 13).astype(int)), np.logspace(-4, -12, 9)
orders, least, drift = {}, {}, {}
plt.rcParams.update(RC)
figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.4), layout="constrained")
for method, color in (("rk4", BLUE), ("dopri5", GREEN), ("rodas5p", VERMILION)):
    fixed = [run(method=method, step=0.15 / count) for count in counts]
    chosen = [] if method == "rk4" else [run(method=method, rtol=tol, atol=0.01 * tol) for tol in tolerances]
    steps, errors = counts, np.array([np.abs(state - exact).max() for _, state, _ in fixed])
    fit = (errors > 1e-11) & (steps > 20)  # small enough for the order to show, large enough against rounding
    orders[method] = -float(np.polyfit(np.log(steps[fit]), np.log(errors[fit]), 1)[0])
    least[method], drift[method] = float(errors.min()), min(lost for *_, lost in fixed)
    panels[0].loglog(steps, errors, "-o", color=color, ms=3, label=f"{method}, fixed steps: order {orders[method]:.2f}")
    panels[1].loglog(steps, [max(lost, 1e-16) for *_, lost in fixed], "-o", color=color, ms=3)
    for count, state, lost in chosen:
        panels[0].loglog(count, np.abs(state - exact).max(), "s", color=color, ms=4, mfc="white")
        panels[1].loglog(count, max(lost, 1e-16), "s", color=color, ms=4, mfc="white")
for axes, label in zip(panels, ("error of the last state", "relative change of the energy"), strict=True):
    axes.set(xlabel="steps", ylabel=label)
print(", ".join(f"{method} of order {order:.2f}" for method, order in orders.items()))
figure.legend(loc="outside lower center", ncols=3)
plt.show()
# %%
# **What one sees.** Lines are fixed steps and fall with the order of their method. Squares are steps that the method
# chose itself, for tolerances from 1e-4 to 1e-12. A step of rodas5p costs several of the others': it pays where a robot
# is stiff. **Try next:** a longer run, where the choice of steps pays.
