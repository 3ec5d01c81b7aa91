"""
A small design problem
======================

**Objective:** find the tail that turns a standing quadruped the most, with a motor of 4 N m and a torso that may lean
by 12° at most. Two numbers may change, the length of the tail and the mass at its tip, so the whole problem fits on a
map. The answer comes with prices: how much a little more torque, or a little more lean, would give.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.studies import Scenario
from tailwork.studies.design import Evaluator, Goal, Limit, SearchResult, Study, Variable, best_design
from tailwork.studies.motions import sweep
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, INK, VERMILION

robot = tailwork.robots.liu2020("pendulum").replace({"tail.mass": 0.4, "tail.tip_mass": 0.4})


def solved(torque: float, starts: int) -> tuple[Evaluator, SearchResult]:
    """The problem with a motor of this torque [N m], and what searches from some starts have found."""
    study = Study(
        name="most turn",
        scenario=Scenario(robot, sweep("yaw", 40.0), policy="straight-down"),  # to the right in 0.3 s
        variables=(Variable("tail.length", 0.2, 0.8), Variable("tail.tip_mass", 0.05, 1.2)),  # [m], [kg]
        goals=(Goal("turn", "most"),),
        limits=(Limit("peak_tail_torque", most=torque), Limit("roll", most=12.0)),
    )
    evaluator = Evaluator(study)
    return evaluator, best_design(evaluator, starts=starts)


evaluator, found = solved(4.0, 4)
turn, design, prices = found.best.goal, found.best.design, found.best.multipliers
gain = (solved(4.01, 1)[1].best.goal - solved(3.99, 1)[1].best.goal) / 0.02  # what the price of a N m should be [deg]
print(f"{turn:.4f}° by {design.round(4)}, found {found.optima[0].times} times of 4; prices: {prices}")

lengths, tips = np.linspace(0.2, 0.8, 61), np.linspace(0.05, 1.2, 61)
grid = np.stack(np.meshgrid(lengths, tips), axis=-1).reshape(-1, 2)
maps = {name: x.reshape(61, 61) for name, x in evaluator.measures(grid, ["turn", "peak_tail_torque", "roll"]).items()}
plt.rcParams.update(RC)
figure, axes = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
drawn = axes.contourf(lengths, tips, maps["turn"], 60, cmap="viridis")
worst = np.maximum(maps["peak_tail_torque"] / 4.0, maps["roll"] / 12.0)
axes.contourf(lengths, tips, worst, [1.0, worst[np.isfinite(worst)].max()], colors="white", alpha=0.55)
for name, bound, color, label in (("peak_tail_torque", 4.0, VERMILION, "4 N m"), ("roll", 12.0, BLUE, "12° of lean")):
    axes.contour(lengths, tips, maps[name], [bound], colors=color, linewidths=2.0)
    axes.plot([], [], color=color, label=label)
axes.plot(*design, "*", color=INK, ms=13, mec="white", label=f"best: {turn:.2f}°")
axes.set(xlabel="length of the tail [m]", ylabel="mass at its tip [kg]")
axes.legend()
figure.colorbar(drawn, label="turn of the torso [deg]", aspect=30, ticks=range(0, 25, 5))
plt.show()
# %%
# **What one sees.** Pale designs break a limit; in the white corner a leg is straight. At the best design both meet.
# **Try next:** a third variable, ``Variable("motion.early", -3, 3)``; ``tailwork design --example own.toml``.
