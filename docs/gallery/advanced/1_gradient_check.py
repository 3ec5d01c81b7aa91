r"""
A gradient, checked
===================

**Objective:** differentiate a whole simulation by numbers of the robot, and check the adjoint against central
differences. The difference :math:`(f(x+h) - f(x-h))/2h` is wrong by about :math:`h^2 f'''/6`, and by rounding, which
grows as :math:`1/h`: it is best somewhere in between, and never exact. The adjoint goes through the steps backwards,
once for all numbers together, and knows no :math:`h`.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.control import Constant, Tracking, point_to_point
from tailwork.simulation import gradient, simulate_batch
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, GREEN, INK, ORANGE, VERMILION

model = tailwork.Model(tailwork.robots.liu2020("pendulum"))
q = model.standing()
control = [  # the tail swings 40° to the right, the legs hold their torques
    Constant(values=(*model.static_torques(q)[:12], 0.0, 0.0)),
    Tracking(limb="tail", coordinate="ta", profile=point_to_point(0.0, 0.0, 0.2), kp=1000.0, kd=20.0),
    Tracking(limb="tail", coordinate="tb", profile=point_to_point(0.0, 0.7, 0.2), kp=1000.0, kd=20.0),
]
how = {"control": control, "method": "rk4", "step": 1e-3}  # fixed steps: both differentiate the same operations
names = {"tail.length": BLUE, "tail.mass": GREEN, "torso.mass": ORANGE, "legs.thigh_length": VERMILION}
adjoint = gradient(model, q, 0.2, lambda end: end.coordinate("phi_z"), by=list(names), **how)
numbers = dict(zip(model.parameter_names, model.parameters(), strict=True))

steps = np.logspace(-9, -1, 65)  # h as a share of the number
plt.rcParams.update(RC)
figure, axes = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
errors, orders = {}, {}
for name, color in names.items():
    values = numbers[name] * np.concatenate([1.0 + steps, 1.0 - steps])
    above, below = simulate_batch(model, q, 0.2, parameters={name: values}, **how).q[:, 5].reshape(2, -1)
    exact = adjoint.by_parameter[name]
    errors[name] = np.abs((above - below) / (2 * steps * numbers[name]) / exact - 1.0)
    large = (steps > 2e-3) & (steps < 2e-2)
    orders[name] = float(np.polyfit(np.log(steps[large]), np.log(errors[name][large]), 1)[0])
    axes.loglog(steps, errors[name], "-o", ms=2, color=color, label=f"{name}: {exact:+.4f} rad per unit")
    print(f"{name}: {exact:+.10f}, differences agree to {errors[name].min():.0e}, order {orders[name]:.3f}")
axes.loglog(steps[40:], steps[40:] ** 2, ":", color=INK, label="$h^2$")
axes.loglog(steps[:40], 1e-16 / steps[:40], "--", color=INK, label="rounding, $10^{-16}/h$")
axes.set(xlabel="step of the differences, share of the number", ylabel="relative difference", ylim=(1e-13, 1))
axes.legend(ncols=2)
plt.show()
# %%
# **What one sees.** On the right all curves fall with the square of the step, as they must if the adjoint is right,
# down to where rounding takes over. There is no step that suits all numbers; the adjoint needs none.
#
# **Try next:** ``integrand=`` for an integral over the run; ``method="dopri5"``, whose steps move when a number does.
