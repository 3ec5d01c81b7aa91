"""The formulations of Liu & Ben-Tzvi (2018, 2020), equation by equation in plain NumPy.

They are written to be read beside the papers, with the misprints put right where a docstring says so, and they share
no code with the engine: what both say is said twice. Start with `liu2020.inverse_dynamics` or `liu2018.mass_matrix`.

Everywhere q = [p, phi_x, phi_y, phi_z, tail coordinates] and v = [velocity of P, angular velocity, tail rates], both
velocities in the inertial frame. The angular velocity is the true one, not the rate of phi (2018, Eqs. 2, 3; 2020,
Eqs. 5, 6 set the two equal, which holds for small angles only).
"""

from tailwork.formulations import liu2018, liu2020

__all__ = ["liu2018", "liu2020"]
