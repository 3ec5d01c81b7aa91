"""Every script of the gallery runs, leaves its pictures, and comes to the numbers that it should.

Numbers are those of the papers, of closed forms, of a second way to compute them, or orders of convergence; where there
are none such, what the script has always printed.
"""

from __future__ import annotations

import ast
import math
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from tailwork.papers.biswal import leg as biswal
from tailwork.studies import Scenario, measured, perform, yaw
from tailwork.studies.leg_policies import EQUATION_85

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
LEVELS = ("beginner", "intermediate", "advanced")
SCRIPTS = {f"{level}/{path.stem}": path for level in LEVELS for path in sorted((GALLERY / level).glob("*.py"))}
MOST_LINES = 59
SECTIONS = ("**Objective:**", "**What one sees.**", "**Try next:**")

Left = dict[str, Any]
"""What a script leaves: its variables, by name."""
FACTS: dict[str, Callable[[Left], None]] = {}
"""By script: what must hold of them."""


def facts(script: str) -> Callable[[Callable[[Left], None]], Callable[[Left], None]]:
    """Marks a function as the facts of a script."""

    def kept(check: Callable[[Left], None]) -> Callable[[Left], None]:
        assert script not in FACTS, f"{script} has facts already"
        FACTS[script] = check
        return check

    return kept


def test_every_script_has_facts() -> None:
    """No script is without facts, and no facts are without a script; at least a dozen, on three levels."""
    assert sorted(FACTS) == sorted(SCRIPTS)
    assert len(SCRIPTS) >= 14 and {name.split("/")[0] for name in SCRIPTS} == set(LEVELS)
    assert all((GALLERY / level / "GALLERY_HEADER.rst").is_file() for level in LEVELS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_is_short_and_says_what_it_shows(script: str) -> None:
    """Under sixty lines; a title, underlined, an objective, what one sees and what to try next."""
    text = SCRIPTS[script].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    title, line = (ast.get_docstring(ast.parse(text)) or "").splitlines()[:2]
    assert title and line == "=" * len(title)
    words = " ".join(text.replace("\n# ", " ").split())
    assert all(section in words for section in SECTIONS)


@pytest.mark.filterwarnings("ignore:.*non-interactive")
@pytest.mark.parametrize("script", SCRIPTS)
def test_script(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs anywhere, leaves nothing behind but figures, and its results hold."""
    monkeypatch.chdir(tmp_path)
    pyplot.switch_backend("Agg")
    with matplotlib.rc_context():
        left = runpy.run_path(str(SCRIPTS[script]))
        figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
        pyplot.close("all")
    assert isinstance(left["figure"], Figure) and left["figure"] in figures
    assert not list(tmp_path.iterdir())
    FACTS[script](left)


# Beginner


@facts("beginner/1_robot_from_toml")
def _(left: Left) -> None:
    """The file comes back the same; the feet bear 13.5 kg, level; the torques hold; the tail ends 60° up."""
    assert left["same"]
    forces, model = left["foot_forces"], left["model"]
    assert_allclose(forces.sum(axis=0), [0.0, 0.0, 13.5 * 9.81], atol=1e-11)
    places = np.array([foot.place for foot in model.robot.feet().values()])
    about = model.center_of_mass(left["q"])
    assert_allclose(np.cross(places - about, forces).sum(axis=0), 0.0, atol=1e-11)
    assert_allclose(model.forward_dynamics(left["q"], np.zeros(8), left["torques"]), 0.0, atol=1e-10)
    assert left["torques"][12] == pytest.approx(-9.81 * (0.5 * 0.35 + 0.2 * 0.7), rel=1e-12)  # bar and tip of the tail
    assert_allclose(left["run"].data["q"].sel(coordinate="tail.ta")[-1], math.radians(-60), atol=1e-9)


@facts("beginner/2_equation_85")
def _(left: Left) -> None:
    """All digits of Eq. (85), two more as they should be, and the engine's to rounding."""
    assert_array_equal(np.round(left["torques"], 2) + 0.0, EQUATION_85)
    assert_array_equal(left["printed"], EQUATION_85)
    assert_allclose(left["torques"][[1, 2, 7, 8]], [1.6304, 7.7018, 1.9012, 7.1603], atol=5e-5)
    assert left["difference"] < 1e-12


@facts("beginner/3_three_tails")
def _(left: Left) -> None:
    """Net pitch, roll and yaw of the torso as reproduced from the paper, and all further digits that are certain."""
    torso = left["torso"]
    assert_allclose(np.round(torso["pendulum"], 1), [-2.3, 12.6, -10.0], atol=1e-12)
    assert_allclose(np.round(torso["r3"], 1), [-3.3, 13.3, -11.6], atol=1e-12)
    assert_allclose(torso["pendulum"], [-2.256162, 12.636170, -9.985571], atol=2e-6)
    assert_allclose(torso["r3"], [-3.342788, 13.313546, -11.590788], atol=2e-6)
    assert_allclose(torso["usrt"], [-2.447221, 13.862147, -12.803584], atol=2e-6)


@facts("beginner/4_ghosts")
def _(left: Left) -> None:
    """Net pitch, roll and yaw of the torso as reproduced from the paper, and all further digits that are certain."""
    assert_allclose(np.round(left["torso"]["pendulum"], 1), [-1.8, -17.6, 5.8], atol=1e-12)
    assert_allclose(np.round(left["torso"]["r3"], 1), [-5.1, -20.3, 6.3], atol=1e-12)
    assert_allclose(left["torso"]["pendulum"], [-1.801184, -17.553320, 5.790561], atol=2e-6)
    assert_allclose(left["torso"]["r3"], [-5.056820, -20.286813, 6.293816], atol=2e-6)


@facts("beginner/5_foot_forces")
def _(left: Left) -> None:
    """Least forces of 44 to 50 N and 15 to 20 N, friction of 0.09 to 0.31 and 1.9 to 2.7, as reproduced."""
    assert left["stays"] == {40: True, 80: False}
    assert left["least_force"] == pytest.approx({40: 50.06949, 80: 19.82062}, abs=2e-5)
    assert left["friction"] == pytest.approx({40: 0.1439946, 80: 1.920331}, rel=2e-6)


@facts("beginner/6_leg_workspace")
def _(left: Left) -> None:
    """The posture's foot to 0.1 µm, both branches, the disc, all three readings, and the table's own last frame."""
    leg = left["leg"]
    assert_allclose(1e3 * left["foot"], [140.0072, 56.5192, -286.5919], atol=5e-5)
    assert_allclose(left["branches"], [[-10, -35, 45], [-10, 10, -45]], atol=1e-12)
    assert_allclose(
        [*left["space"].center, left["space"].inner, left["space"].outer], [0.18, -0.11, 0.0, 0.2], atol=1e-15
    )
    ends = {"A": (24.1616, 70.6048, -206.7083), "B": (-7.9385, 52.6630, -170.0572), "C": (140.0072, 56.5192, -286.5919)}
    for reading, end in ends.items():
        assert_allclose(1e3 * left["paths"][reading][-1], end, atol=5e-5)
    for theta in left["branches"]:
        assert_allclose(left["joints"](theta)[-1], 1e3 * left["foot"], atol=1e-12)
    some = left["bends"][::20, ::10]
    by_matrix = 1e3 * np.abs(np.linalg.det(biswal.jacobian(leg, some)))
    assert_allclose(left["volumes"][::20, ::10], by_matrix, atol=1e-14)


@facts("beginner/7_trot")
def _(left: Left) -> None:
    """0.150 m/s at a height of 0.267 ± 0.003 m, as reproduced; momentum is what impulses gave."""
    assert left["speed"] == pytest.approx(0.150, abs=1e-3)
    assert left["height"] == pytest.approx(0.267, abs=5e-4) and left["ripple"] < 0.006
    assert left["closure"] < 1e-5
    assert left["run"].stopped is None and len(left["run"].data["time"]) == 1601


@facts("beginner/8_drop")
def _(left: Left) -> None:
    """It lands after sqrt(2 h/g); impulse and loss go as the speed and its square; then it stands."""
    for height, time in left["touch"].items():
        assert time == pytest.approx((2.0 * height / 9.8) ** 0.5, abs=1e-9)
    assert left["impulse"][0.08] == pytest.approx(5.745010, abs=1e-5)
    assert left["impulse"][0.16] == pytest.approx(left["impulse"][0.04] * 2.0, rel=1e-4)
    assert left["loss"][0.16] == pytest.approx(left["loss"][0.08] * 2.0, rel=1e-4)
    assert left["runs"][0.16].final_contact.states == ("stick",) * 4


# Intermediate


@facts("beginner/9_fall")
def _(left: Left) -> None:
    """After the smaller push it stands on its feet again; after the larger one it lies on its hips, at rest."""
    legs = [*left["robot"].feet()]
    assert left["carried"] == {150.0: legs, 200.0: [f"{leg}.hip" for leg in legs]}
    fallen = left["runs"]["200 N"]
    assert fallen.stopped is None and float(fallen.data["kinetic_energy"][-1]) < 1e-20
    weight = float(left["robot"].mass()) * float(left["robot"].gravity)
    assert float(fallen.data["foot_force"].sel(axis="z").sum("foot")[-1]) == pytest.approx(weight, rel=1e-9)
    assert fallen.energy_balance_error() < 1e-3 and (fallen.data["impact_loss"].to_numpy() > -1e-12).all()


@facts("intermediate/1_cable_tensions")
def _(left: Left) -> None:
    """No cable pushes, never do three of a segment pull, the far right one is slack throughout, and energy balances."""
    tension = left["tension"]
    assert tension.min() == 0.0 and left["at_work"].max() == 2
    assert tension[:, 3].max() < 1e-9
    assert left["run"].energy_balance_error() < 1e-9
    assert_allclose(
        tension[:, [0, 1, 2, 4, 5]].max(axis=0), [214.6930, 205.2789, 232.6311, 359.7639, 269.9951], atol=1e-3
    )


@facts("intermediate/2_feed_forward")
def _(left: Left) -> None:
    """From the right speed 3e-7° at 0.2 s; from rest 10.3° at 50 ms and an end before 150 ms; a closed form else."""
    errors, added, runs = left["errors"], left["added"], left["runs"]
    matched, rest, feedback, computed = runs
    assert runs[matched].stopped is None and errors[matched][-1] < 3e-7
    times = {name: run.data["time"].to_numpy() for name, run in runs.items()}
    assert np.interp(0.05, times[rest], errors[rest]) == pytest.approx(10.3436, abs=2e-4)
    assert runs[rest].stopped is not None and runs[rest].stopped.time < 0.15
    assert_allclose(errors[computed][1:], left["expected"][1:], rtol=1e-5)
    assert left["speed"][3] == pytest.approx(math.pi**2 / 5.4, rel=1e-12)  # 1.83 rad/s
    at = [0.05, 0.3, 0.6]
    assert_allclose(np.interp(at, times[feedback], added[feedback]), [224.41346, 2.320907, 1.876948], rtol=1e-5)
    assert_allclose(np.interp(at, times[computed], added[computed]), [247.79912, 4.772232, 0.030839], rtol=1e-4)
    assert max(added[matched].max(), added[rest].max()) < 1e-9


@facts("intermediate/3_airborne")
def _(left: Left) -> None:
    """The closed form of the torso alone to twelve digits, and simulation and closed form alike."""
    yawed, pitched = left["cases"]
    assert left["closed"][yawed] == pytest.approx(-8.623935476445, abs=1e-12)
    assert left["simulated"][yawed] == pytest.approx(left["closed"][yawed], abs=1e-10)
    assert left["simulated"][pitched] == pytest.approx(left["closed"][pitched], abs=1e-10)
    assert left["unbalanced"] < 1e-10


@facts("intermediate/4_sweep_map")
def _(left: Left) -> None:
    """A design is what it is alone; longer and heavier tails turn more and want more; 10° take nearly one inertia."""
    turn, torque, whole = left["turn"], left["torque"], left["whole"]
    assert (~whole).sum() == 176
    row, column = 20, 9
    design = {"tail.length": left["lengths"][column], "tail.mass": left["masses"][row]}
    alone = Scenario(left["tailwork"].robots.liu2020("pendulum").replace(design), yaw(40), policy="constant")
    found = measured(perform(alone, samples=61), alone)
    assert turn[row, column] == pytest.approx(-found["yaw"], abs=1e-12)
    assert torque[row, column] == pytest.approx(found["peak_tail_torque"], abs=1e-12)
    for values, axis in ((turn, 0), (turn, 1), (torque, 0), (torque, 1)):
        growth = np.diff(values, axis=axis)
        assert (growth[np.isfinite(growth)] > 0.0).all()
    assert left["inertia"].max() / left["inertia"].min() == pytest.approx(1.163, abs=2e-3)


@facts("intermediate/5_poles")
def _(left: Left) -> None:
    """Roll 9.55, pitch 8.14, yaw 6.31 1/s, as reproduced; a simulation grows as the fastest; springs hold just so."""
    bare, poles, enough = np.sort(left["bare"])[::-1], left["poles"], left["enough"]
    assert_allclose(bare[[0, 1, 3]], [9.55, 8.14, 6.31], atol=5e-3)
    assert_allclose(np.sort(poles(0.0, 0.0).real), np.sort([*bare, *-bare]), atol=1e-6)
    assert_allclose(left["roll"], 1e-6 * np.cosh(bare[0] * left["time"]), rtol=1e-8)
    assert enough == pytest.approx(34.641969, abs=1e-5)
    assert poles(1.001 * enough, enough / 40).real.max() < 0.0 < poles(0.999 * enough, enough / 40).real.max()


@facts("intermediate/6_push")
def _(left: Left) -> None:
    """The push gives half of p · v as energy; constant torques fall, springs come back and need the same friction."""
    model, runs, push, v = left["model"], left["runs"], left["push"], left["v"]
    assert model.energy(left["q"], v).kinetic == pytest.approx(0.5 * push @ v[:6], rel=1e-12)
    falls, joints, feet = runs
    assert runs[falls].stopped is not None and runs[falls].stopped.time == pytest.approx(0.436648, abs=2e-5)
    for name, worst in ((joints, 0.309533), (feet, 0.303134)):
        away = np.abs(runs[name].data["q"].sel(coordinate="x").to_numpy())
        assert runs[name].stopped is None and away[-1] < 0.2 * away.max()
        assert left["friction"][name] == pytest.approx(worst, abs=1e-5)


@facts("intermediate/7_cockroach")
def _(left: Left) -> None:
    """Efforts of the front legs as reproduced, a best stiffness in between, the least torques just below it."""
    assert_allclose(left["front"], [39.6, 30.7, 25.1, 25.3, 26.0, 26.7], atol=0.05)
    assert_allclose([row.error for row in left["table"]], [0.001, 0.015, 0.087, 0.227, 0.532, 0.964], atol=5e-4)
    assert_allclose(left["bound"][::2], [12.85, 18.35, 32.71], atol=5e-3)
    assert left["bound"].sum() == pytest.approx(127.84, abs=5e-3)
    efforts = np.array([row.efforts.sum() for row in left["sweep"]])
    least = int(efforts.argmin())
    assert (
        0 < least < len(efforts) - 1
        and (np.diff(efforts[: least + 1]) < 0).all()
        and (np.diff(efforts[least:]) > 0).all()
    )
    assert 1.0 < efforts[least] / left["bound"].sum() < 1.02
    assert left["apart"] < 1e-10  # simulated and balanced [m, rad]


@facts("intermediate/8_rigid_trot")
def _(left: Left) -> None:
    """It trots at 0.55 m/s; the error is below a millimetre and falls faster than the step."""
    assert left["speed"] == pytest.approx(0.554, abs=2e-3)
    assert left["errors"].max() < 1e-3 and left["order"] > 1.0


@facts("intermediate/9_hop")
def _(left: Left) -> None:
    """Touchdown and loss are those of a free fall; lift-off is where the swing of a damped spring lifts the foot."""
    body, foot, k, g, c = left["M"], left["m"], left["k"], left["g"], 8.0
    assert left["landed"][0] == pytest.approx(math.sqrt(2.0 * left["drop"] / g), abs=1e-9)
    assert left["loss"] == pytest.approx(foot * g * left["drop"], abs=1e-9)
    decay, sag = c / (2.0 * body), body * g / k
    swing = math.sqrt(k / body - decay**2)

    def pull(t: float) -> float:  # of the spring and damper on the foot, less its weight
        a, b = sag, (decay * sag - left["speed"]) / swing
        cosine, sine, size = math.cos(swing * t), math.sin(swing * t), math.exp(-decay * t)
        y = size * (a * cosine + b * sine) - sag
        rate = size * ((b * swing - decay * a) * cosine - (a * swing + decay * b) * sine)
        return k * y + c * rate - foot * g

    low, high = 0.1, 0.16
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if pull(middle) < 0.0 else (low, middle)
    assert left["stance"] == pytest.approx(low, abs=1e-8)
    assert {state for _, _, state in left["run"].changes} == {"stick", "air"}


# Advanced


@facts("advanced/1_gradient_check")
def _(left: Left) -> None:
    """Differences come to the adjoint with the square of their step, down to rounding."""
    for name, errors in left["errors"].items():
        assert left["orders"][name] == pytest.approx(2.0, abs=0.01)
        assert errors.min() < 1e-9
    known = {"tail.length": -0.3134510804, "tail.mass": -0.0694813679, "torso.mass": 0.0054815527}
    known["legs.thigh_length"] = 0.2466169220
    assert left["adjoint"].by_parameter == pytest.approx(known, abs=2e-10)


@facts("advanced/2_work_precision")
def _(left: Left) -> None:
    """Methods have their orders; errors and energies come down to rounding."""
    assert left["orders"] == pytest.approx({"rk4": 4.0, "dopri5": 5.0, "rodas5p": 5.0}, abs=0.15)
    assert all(error < 1e-11 for error in left["least"].values())
    assert all(change < 1e-13 for change in left["drift"].values())


@facts("advanced/3_stiff")
def _(left: Left) -> None:
    """Explicit steps are at the edge of stability, 3.3 over the spectral radius, whatever is asked; both agree."""
    assert left["share"] == pytest.approx(1.0, abs=0.02)
    explicit, implicit = (np.array(left["counts"][method]) for method in ("dopri5", "rodas5p"))
    assert np.ptp(explicit[:4]) < 0.03 * explicit[0] and explicit[0] > 60 * implicit[0]
    assert left["errors"]["rodas5p"][-1] < 1e-9


@facts("advanced/4_two_formulations")
def _(left: Left) -> None:
    """Two derivations, one acceleration."""
    insect, pendulum, r3, usrt = left["apart"].values()
    assert max(insect) < 1e-13 and max(pendulum) < 1e-13 and max(r3) < 1e-13 and max(usrt) < 2e-12


@facts("advanced/5_small_design")
def _(left: Left) -> None:
    """All searches end where both limits meet, and the price of torque is what more torque gives."""
    assert left["found"].optima[0].times == 4
    assert left["turn"] == pytest.approx(9.647400, abs=2e-6)
    assert_allclose(left["design"], [0.3571191, 0.4331973], atol=2e-6)
    at = left["evaluator"].measures(left["design"][None], ["peak_tail_torque", "roll", "turn"])
    assert_allclose([values[0] for values in at.values()], [4.0, 12.0, left["turn"]], atol=1e-8)
    assert left["prices"]["peak_tail_torque ≤ 4 N m"] == pytest.approx(left["gain"], rel=1e-5)
    assert left["prices"]["peak_tail_torque ≤ 4 N m"] == pytest.approx(1.326631, abs=2e-5)


@facts("advanced/6_small_angles")
def _(left: Left) -> None:
    """Exact rates keep the energy to rounding, the papers' do not, and lose the more the larger the angles are."""
    exact, small = left["changes"]["rpy"], left["changes"]["rpy-small-angle"]
    assert exact.max() < 5e-12
    assert (np.diff(small) > 0.0).all() and small[0] > 1e-2
    assert small[-1] == pytest.approx(0.10433758, abs=1e-7)


@facts("advanced/7_soft_ground")
def _(left: Left) -> None:
    """Stiff ground comes to pinned feet as one over its stiffness."""
    assert left["fall"].place_slope == pytest.approx(-1.0, abs=0.02)
    assert left["fall"].attitude_slope == pytest.approx(-1.0, abs=0.02)
    assert left["fall"].place[-1] < 3e-6


@facts("advanced/8_variable_stiffness")
def _(left: Left) -> None:
    """A switched tail gives way as the soft one and follows as the stiff one does; energy balances in all three, with
    the work of the switch."""
    soft, stiff, switched = (np.array(list(left["found"][name].values())) for name in ("soft", "stiff", "switched"))
    assert soft[0] > 3.0 * stiff[0] and switched[0] == pytest.approx(soft[0], rel=1e-4)
    assert (stiff[2:4] < [0.8 * soft[2], 0.6 * soft[3]]).all()
    assert_allclose(switched[2:4], stiff[2:4], rtol=0.02)
    assert all(run.stopped is None and run.energy_balance_error() < 1e-5 for run in left["runs"].values())


@facts("advanced/9_compass")
def _(left: Left) -> None:
    """Period, step and multipliers are those of the walker's own equations; the period goes with the root of 1/g."""
    gait = left["gait"]
    assert gait.period == pytest.approx(0.73434639, abs=1e-8)
    assert np.linalg.norm(gait.displacement) == pytest.approx(0.53544542, abs=1e-8)
    assert_allclose(
        sorted(left["own"], key=lambda z: z.imag), [-0.199726 - 0.544476j, -0.199726 + 0.544476j], atol=1e-6
    )
    assert gait.period_by["gravity"] == pytest.approx(-gait.period / (2.0 * 9.81), rel=1e-6)
