r"""
Why the stance falls over
=========================

**Objective:** linearise the standing robot and read from its poles how fast errors grow while the legs hold constant
torques, as in Liu & Ben-Tzvi (2020), and how stiff joints must be to stop that. With the tail held, small errors
:math:`x` of the torso follow :math:`\ddot x = Gx`. A spring and a damper in every joint add :math:`-M^{-1}B(kB^Tx +
dB^T\dot x)`, because :math:`B^T` is also what turns motions of the torso into those of joints. A pole with a positive
real part :math:`\lambda` grows as :math:`e^{\lambda t}`.
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork
from tailwork.control import Constant, held
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import INK, VERMILION

model = tailwork.Model(tailwork.robots.liu2020("pendulum").replace({"gravity": 9.81}), prescribed=["tail"])
q, holding = model.standing(), model.static_torques(model.standing())
forward = model.casadi("forward_dynamics")  # the same equations, which CasADi differentiates exactly
jacobian = forward.factory("jacobian", forward.name_in(), ["jac:acceleration:q"])
growing = np.array(jacobian(q, np.zeros(8), holding, np.zeros(2), [], model.parameters()))[:6, :6]  # G [1/s²]
actuation = model.actuation_matrix(q)[:6]
springs = np.linalg.solve(model.mass_matrix(q)[:6, :6], actuation @ actuation.T)  # M⁻¹ B Bᵀ


def poles(stiffness: float, damping: float) -> np.ndarray:
    """Of the torso [1/s], for joints with springs [N m/rad] and dampers [N m s/rad]."""
    below = np.hstack([growing - stiffness * springs, -damping * springs])
    return np.linalg.eigvals(np.vstack([np.eye(12)[6:], below]))


squares, shapes = np.linalg.eig(growing)
bare = np.sqrt(squares.real)  # under constant torques: six poles grow, six decay [1/s]
enough = np.linalg.eigvals(np.linalg.solve(springs, growing)).real.max()  # where the last pole comes to zero
print(f"poles ±{np.sort(bare)[::-1].round(2)} 1/s; joints of {enough:.2f} N m/rad hold the robot")
fastest = shapes[:, bare.argmax()] / shapes[4, bare.argmax()]  # mostly roll
start, still = q + 1e-6 * np.append(fastest, [0.0, 0.0]), {"tail": {"ta": held(0.0), "tb": held(0.0)}}
run = tailwork.simulate(model, start, 0.5, control=Constant(values=holding), motions=still, rtol=1e-11, atol=1e-16)
time, roll = run.data["time"].to_numpy(), run.data["q"].sel(coordinate="phi_y").to_numpy()
plt.rcParams.update(RC)
figure, (plane, growth) = plt.subplots(1, 2, figsize=(7.2, 3.2), layout="constrained")
stiffness = np.linspace(0.0, 100.0, 201)
found = np.array([poles(k, k / 40) for k in stiffness])
drawn = plane.scatter(found.real, found.imag, c=np.repeat(stiffness, 12), s=3, cmap="viridis")
plane.plot([*bare, *-bare], np.zeros(12), "x", color=VERMILION, ms=6, mew=1.5)
plane.set(xlim=(-30, 12), ylim=(-40, 40), xlabel="real part [1/s]", ylabel="imaginary [1/s]", title="x: no springs")
plane.axvline(0.0, color=INK, lw=0.8)
figure.colorbar(drawn, ax=plane, label="stiffness of the joints [N m/rad]", aspect=30)
growth.semilogy(1e3 * time, np.degrees(roll), color=INK, label="simulated")
growth.semilogy(1e3 * time, np.degrees(1e-6 * np.cosh(bare.max() * time)), "--", color=VERMILION, label="its pole")
growth.set(xlabel="time [ms]", ylabel="roll [deg]", title="the fastest of them, without springs")
growth.legend()
plt.show()
# %%
# **What one sees.** Under constant torques half of the poles grow; in 0.3 s an error becomes nine times as large.
# Springs draw them together, dampers to the left. **Try next:** crouch, ``.replace({"stand": (0.0, 0.0, 0.35)})``.
