"""The formulations of Liu & Ben-Tzvi (2018, 2020), of Nelson & Quinn and of Biswal & Mohanty, equation by equation in
plain NumPy.

They are written to be read beside the papers, with the misprints put right where a docstring says so, and they share
no code with the engine: what both say is said twice. Start with `liu2020.inverse_dynamics`, `liu2018.mass_matrix`,
`quasicoordinates.mass_matrix` or `biswal.foot_place`.

In Liu & Ben-Tzvi's, q = [p, phi_x, phi_y, phi_z, tail coordinates] and v = [velocity of P, angular velocity, tail
rates], both velocities in the inertial frame. The angular velocity is the true one, not the rate of phi (2018, Eqs. 2,
3; 2020, Eqs. 5, 6 set the two equal, which holds for small angles only). Nelson & Quinn's velocities are q-dot itself,
with the rates of phi; theirs are free trees, without pinned feet.
"""
