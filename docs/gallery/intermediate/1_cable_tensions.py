r"""
Cable tensions of the USRT
==========================

**Objective:** bend a flexible tail by its cables and see which of them pull. The USRT of Liu & Ben-Tzvi (2020) has two
segments of universal joints on springs, and three cables end at the tip of each. A cable pulls and never pushes: of the
three, at most two work at a time, chosen by the switching function of Eq. (74). The generalised force of a tension
:math:`T` on a cable of length :math:`l` is :math:`-T\,\partial l/\partial q` (Eqs. 75 and 78, with their signs mended).
"""

import matplotlib.pyplot as plt
import numpy as np

import tailwork.view
from tailwork.studies import Scenario, coupled, perform
from tailwork.view.draw.style import RC
from tailwork.view.scene.colors import BLUE, GREEN, INK, ORANGE

scenario = Scenario(tailwork.robots.liu2020("usrt"), coupled(duration=0.2), policy="constant")  # down, then left
run = perform(scenario)
time = run.data["time"].to_numpy()
tension = run.data["tau"].sel(actuator=[f"tail.T_{k}" for k in range(1, 7)]).to_numpy()  # [N]
at_work = (tension.reshape(-1, 2, 3) > 1e-6).sum(axis=-1)  # how many of a segment's cables pull
print(f"tensions from {tension.min():.0f} to {tension.max():.0f} N; at most {at_work.max()} of three cables pull")

plt.rcParams.update(RC)
figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.0), sharey=True, layout="constrained")
for s, axes in enumerate(panels):
    inset = axes.inset_axes((0.02, 0.62, 0.26, 0.34), aspect="equal", xlim=(-1.7, 1.7), ylim=(-1.7, 1.7))
    inset.add_patch(plt.Circle((0, 0), 1.0, facecolor="#eef1f4", edgecolor=INK, lw=0.8))
    inset.set_axis_off()
    for k, color in enumerate((BLUE, ORANGE, GREEN)):
        axes.plot(1e3 * time, tension[:, 3 * s + k], color=color)
        place = np.radians(120 * (k + 1) - 90)
        inset.plot(0.8 * np.cos(place), 0.8 * np.sin(place), "o", color=color)
        inset.text(1.4 * np.cos(place), 1.4 * np.sin(place), f"$T_{3 * s + k + 1}$", ha="center", va="center")
    axes.set(xlabel="time [ms]", title=f"{('near', 'far')[s]} segment; inset: cables seen from behind")
panels[0].set_ylabel("tension [N]")
plt.show()
# %%
# The tail itself, at five moments:
plt.figure(tailwork.view.picture({"usrt": run}, "ghosts", frames=5, view="20,25"))
plt.show()
# %%
# **What one sees.** The tail starts bent down, held by the lowest far cable, :math:`T_6`; as it goes to the left,
# :math:`T_5` joins in and :math:`T_4` never pulls. The far cables run through the near segment and bend it as well, so
# the near ones only give what is missing; in the end they hold against it, by :math:`T_1` on the right.
#
# **Try next:** ``robot.replace({"tail.bending_stiffness": 5.0})``: what do the springs cost?
