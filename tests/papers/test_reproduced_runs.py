"""Numbers of both papers that take simulation: what a correct model gives, each to the digits it is stated with."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from oracles.layout import Array
from pages import bare
from tailwork.control import Constant, TailMotion, TailTracking
from tailwork.papers import PAPERS
from tailwork.papers.claims import Claim
from tailwork.papers.liu2018.experiments import Liu2018, compensation, desired_states, errors, run_all
from tailwork.papers.liu2020 import experiments as study
from tailwork.papers.liu2020.report import ratio_row
from tailwork.simulation import LegStraight, Run
from tailwork.simulation.options import Options
from tailwork.simulation.simulate import run_of
from tailwork.studies.compare.comparison import last_common, torso_angles
from tailwork.studies.measures import AXES
from tailwork.studies.motions import coupled, roll, yaw
from tailwork.studies.perform import perform
from tailwork.view.draw.style import save
from tailwork.view.report import page as saving

TENTH, HUNDREDTH = 0.05 + 1e-9, 0.005 + 1e-9  # half of the last printed digit


@cache
def paper_run(tail: str, motion: TailMotion, angle: str = "arc") -> Run:
    """A motion with the constant leg torques of Eq. 85."""
    return perform(study.scenario(tail, motion, angle), samples=61)


def turned(run: Run) -> Array:
    """Net pitch, roll and yaw of the torso [deg]."""
    return torso_angles(run)[-1] - torso_angles(run)[0]


# Liu & Ben-Tzvi 2020


@pytest.mark.parametrize(
    ("motion", "tail", "angles"),
    [
        (yaw(40), "pendulum", [-2.3, 12.6, -10.0]),
        (yaw(40), "r3", [-3.3, 13.3, -11.6]),
        (yaw(80), "pendulum", [-6.8, 20.0, -19.9]),
        (yaw(80), "r3", [-7.4, 21.2, -20.0]),
        (roll(40), "pendulum", [-1.8, -17.6, 5.8]),
        (roll(40), "r3", [-5.1, -20.3, 6.3]),
        (coupled(), "pendulum", [1.9, -23.1, 11.4]),
        (coupled(), "r3", [0.05, -31.2, 13.2]),
    ],
    ids=lambda x: x.name if isinstance(x, TailMotion) else None,
)
@pytest.mark.measured("papers")
def test_torso_angles_at_the_end(
    measured: Callable[..., None], motion: TailMotion, tail: str, angles: list[float]
) -> None:
    """Pitch, roll and yaw after 0.3 s, the tail by the arc of Eq. 86, attitude exact [deg]."""
    run = paper_run(tail, motion)
    assert run.stopped is None and run.duration == pytest.approx(0.3, abs=1e-15)
    for found, printed in zip(turned(run), angles, strict=True):
        digit = HUNDREDTH if printed == 0.05 else TENTH
        measured("2020, torso after eight motions beside known digits", abs(found - printed), at_most=digit, unit="deg")


@pytest.mark.parametrize(
    ("motion", "axis", "arc", "chain"),
    [
        (yaw(40), "yaw", 16.1, 1.7),
        (yaw(50), "yaw", 12.8, -0.4),
        (yaw(80), "yaw", 0.3, -8.6),
        (roll(40), "roll", 15.6, 5.3),
        (roll(50), "roll", 0.6, -3.5),
        (coupled(), "roll", 35.1, 18.2),
    ],
    ids=lambda x: x.name if isinstance(x, TailMotion) else None,
)
def test_r3_against_pendulum(motion: TailMotion, axis: str, arc: float, chain: float) -> None:
    """How much more the torso turns with the R3 tail, in both readings of its shape [%]."""
    k = AXES.index(axis)
    for angle, more in (("arc", arc), ("chain", chain)):
        time, one, other = last_common(paper_run("pendulum", motion), paper_run("r3", motion, angle))
        assert time == pytest.approx(0.3, abs=1e-15)
        assert 100.0 * (other[k] / one[k] - 1.0) == pytest.approx(more, abs=TENTH)


@pytest.mark.parametrize("tail", ["pendulum", "usrt"])
def test_a_sweep_is_compiled_once(tail: str) -> None:
    """Motions that differ in their name and numbers alone share their kernels."""
    one, other = (study.scenario(tail, motion).problem().system() for motion in (yaw(10), yaw(80)))
    assert one.compiled("derivative")[0] is other.compiled("derivative")[0]


def test_a_leg_that_straightens() -> None:
    """Rolling the tail bent by 80° straightens a leg; at 0.282 s R3 turns the torso by 48.5 % less."""
    one, other = (paper_run(tail, roll(80)) for tail in ("pendulum", "r3"))
    for run in (one, other):
        assert run.stopped is not None and run.stopped.reason == "leg4 nearly straight (extension 0.985)"
        assert run.duration == pytest.approx(run.stopped.time, abs=1e-12)
    assert last_common(one, other)[0] == one.duration < other.duration < 0.3
    found = []
    for tail in ("pendulum", "r3"):
        problem = study.scenario(tail, roll(80)).problem()
        run = run_of(replace(problem, duration=0.282, events=(LegStraight(extension=0.9999),)), Options(rtol=1e-9))
        assert run.stopped is None
        found.append(turned(run)[1])
    assert 100.0 * (found[1] / found[0] - 1.0) == pytest.approx(-48.5, abs=TENTH)


@pytest.mark.parametrize("motion", [yaw(40), roll(40), coupled()], ids=lambda motion: motion.name)
@pytest.mark.parametrize("tail", ["pendulum", "r3"])
def test_ground_reactions(tail: str, motion: TailMotion) -> None:
    """Feet press with at least 44 to 50 N and need friction of 0.09 to 0.33: they stay."""
    run = paper_run(tail, motion)
    assert 44 <= round(run.min_normal_force()) <= 50
    assert 0.09 <= round(run.friction_needed(), 2) <= 0.33


@pytest.mark.parametrize("tail", ["pendulum", "r3"])
def test_ground_reactions_of_a_large_yaw(tail: str) -> None:
    """At the end a foot presses with 15 to 20 N only and would slip; until 0.25 s friction of 0.21 is enough."""
    run = paper_run(tail, yaw(80))
    assert 15 <= round(run.min_normal_force()) <= 20
    assert 1.9 <= round(run.friction_needed(), 1) <= 2.7
    early = run.data["foot_force"].sel(time=slice(0.0, 0.2501)).to_numpy()
    assert (np.hypot(early[..., 0], early[..., 1]) / early[..., 2]).max() < 0.21


@cache
def waves() -> tuple[study.Wave, ...]:
    """A quarter of the sine of Sect. 5.3: R3, then the USRT with each pair of gains."""
    return tuple(study._wave(*case) for case in study._wave_cases())


def test_the_sine() -> None:
    """R3 pitches the torso by −12.3°, the USRT by less, whatever its gains; R3 bends too far, the USRT too little."""
    rigid, *soft = waves()
    assert rigid.pitch == pytest.approx(-12.3, abs=TENTH)
    assert all(error > 0 for error in rigid.errors)
    assert len(soft) == len(study.GAINS) == 4
    pitches = [wave.pitch for wave in soft]
    assert 0 > pitches[0] > pitches[1] > pitches[2] > pitches[3] > rigid.pitch
    for wave in soft:
        assert len(wave.errors) == 2 and all(error < 0 for error in wave.errors)


def test_the_cables_of_the_sine() -> None:
    """They are pulled by plain PD with the gains of the case, as the paper has it: no stiffness is fed forward."""
    found = []
    for _, tail, gains in study._wave_cases()[1:]:
        legs, law = study.wave_problem(tail, gains).control
        assert isinstance(legs, Constant) and isinstance(law, TailTracking) and not law.feedforward
        found.append((*law.kp, *law.kd))
    assert found == list(study.GAINS)


def test_plain_tracking_knows_no_springs() -> None:
    """Without feedforward the tensions are those for a tail without springs; with it they are not."""
    wave = study.scenario("usrt", study.WAVE)
    law = TailTracking.of("tail", wave.tail_part)
    tensions = []
    for stiffness, own in ((None, replace(law, feedforward=False)), (0.0, law), (None, law)):
        robot = wave.robot if stiffness is None else wave.robot.replace({"tail.bending_stiffness": stiffness})
        system = replace(wave.with_robot(robot).problem(), control=(own,)).system()
        x = np.random.default_rng(3).uniform(-0.1, 0.1, (5, system.size))
        tau = system.full(np.linspace(0.05, 0.3, 5), x, np.zeros((5, system.control_inputs)))[2]
        tensions.append(tau[:, -6:])
    plain, springless, ahead = tensions
    np.testing.assert_allclose(plain, springless, rtol=0, atol=1e-12 * np.abs(plain).max())
    assert np.abs(plain).max() > 1.0 and np.abs(ahead - plain).max(axis=1).min() > 0.1


def test_the_sine_ends_with_the_torso_falling() -> None:
    """In the open loop no tail gets through a full period."""
    for claim in study._fall_claims():
        assert re.match(r"until 0\.\d\d s: leg\d nearly straight", claim.ours)


def test_claims_of_2020() -> None:
    """Paper and ours stand in each; torques and poles are those that follow from the printed numbers."""
    claims = study._stance_claims()
    checked_claims((*claims, *study.wave_claims(waves())))
    found = {claim.quantity: claim.ours for claim in claims}
    assert found["Eq. 85, torques of legs 1 and 3 [N m]"] == "0.0000, 1.6304, 7.7018, 0.0000, 1.9012, 7.1603"
    assert found["growth of the open-loop torso [1/s]"] == "roll 9.55, pitch 8.14, yaw 6.31"
    assert "all twelve agree" in claims[0].reading


def test_a_row_of_ratios() -> None:
    """A comparison at an earlier time says so."""
    ratio = study.Ratio(roll(80), "roll", "−41.4 %", (-48.5, -47.04, 0.06, 1.0), (0.282, 0.3, 0.3, 0.3))
    assert ratio_row(ratio) == ["roll80", "roll", "−41.4 %", "-48.5 % (0.282 s)", "-47.0 %", "+0.1 %", "+1.0 %"]


# Liu & Ben-Tzvi 2018


@cache
def liu2018_study() -> Liu2018:
    """All experiments of the paper."""
    return run_all()


def checked_claims(claims: tuple[Claim, ...]) -> None:
    """Each claim says what it is about, what the paper has and what is found here; none is told twice."""
    for claim in claims:
        assert claim.quantity.strip() and claim.paper.strip() and claim.ours.strip()
        assert "nan" not in claim.ours
    assert len({claim.quantity for claim in claims}) == len(claims)


def test_figure_6() -> None:
    """Sect. 4.1 at 0.3 s, and until when the model holds."""
    run = liu2018_study().forward
    assert run.trajectory is not None
    q = run.trajectory.full(np.array([0.3]))[0][0]
    np.testing.assert_allclose(1e3 * (q[:3] - [0.2, 0.3, 0.4]), [12.0, 44.3, 2.1], rtol=0, atol=TENTH)
    np.testing.assert_allclose(np.degrees(q[3:6]), [-1.0, -6.8, 12.3], rtol=0, atol=TENTH)
    np.testing.assert_allclose(np.degrees(q[6:8]), [1.4, -30.9], rtol=0, atol=TENTH)
    assert run.stopped is not None
    assert run.stopped.time == pytest.approx(0.407, abs=5e-4)
    assert re.fullmatch(r"leg\d nearly straight \(extension 0\.9999\)", run.stopped.reason)
    assert run.data["extension"].to_numpy().max() == pytest.approx(0.9999, abs=1e-9)


def test_inverse_then_forward() -> None:
    """From the desired velocity the motion is tracked; from rest it is 10.3° off at 50 ms and fails before 150 ms."""
    found = liu2018_study()
    assert found.matched.stopped is None
    assert np.abs(errors(found.matched)[-1]).max() < 3e-7
    assert desired_states(found.matched.model, np.zeros(1))[1][0, 3] == pytest.approx(1.83, abs=HUNDREDTH)
    assert found.open_loop.trajectory is not None and found.open_loop.stopped is not None
    q = found.open_loop.trajectory.full(np.array([0.05]))[0]
    off = np.degrees(q - desired_states(found.open_loop.model, np.array([0.05]))[0])[0, 3:]
    assert np.abs(off).max() == pytest.approx(10.3, abs=TENTH)
    assert found.open_loop.stopped.time < 0.150


def test_the_feet_of_2018_would_pull() -> None:
    """With tau_p = 0 the pitch motion needs feet that pull with 180 N, at a quarter of the samples and more."""
    force = liu2018_study().matched.data["foot_force"].sel(axis="z").to_numpy()
    assert force.min() == pytest.approx(-180.0, abs=0.5)
    assert (force < 0).mean() > 0.25
    assert not liu2018_study().matched.assumption_held()


def test_compensation_dies_away() -> None:
    """Feedback takes the start's error away: over 200 N m at 50 ms, a few at 0.3 s, and less later."""
    found = liu2018_study()
    for run in (found.controlled, found.computed):
        assert run.stopped is None
        times, torque = run.data["time"].to_numpy(), compensation(run, found.required)
        early, later, late = (float(np.interp(t, times, torque)) for t in (0.05, 0.3, 0.6))
        assert 200.0 < early < 260.0
        assert early / 20 > later > late


def test_claims_of_2018() -> None:
    """Paper and ours stand in each; numbers are those above."""
    claims = liu2018_study().claims
    checked_claims(claims)
    found = {claim.quantity: claim.ours for claim in claims}
    assert found["Fig. 6, torso moved at 0.3 s [mm]"] == "12.0, 44.3, 2.1"
    assert found["Fig. 6, torso turned at 0.3 s [°]"] == "-1.0, -6.8, 12.3"
    assert found["Fig. 6, tail at 0.3 s [°]"] == "1.4, -30.9"
    assert found["model valid until"].startswith("0.407 s: ")
    assert found["§4.2, least normal force [N]"] == "-180"
    assert found["J_tau,a, condition number along the motion"] == "102–117"


def test_the_report_of_2018(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One page that needs nothing else, with every claim and five figures; only files that it shows are drawn: time."""

    def shown_only(figure: Figure, folder: Path, name: str, kinds: tuple[str, ...]) -> dict[str, Path]:
        return save(figure, folder, name, ["svg" if "svg" in kinds else "png"])

    monkeypatch.setattr(saving, "save", shown_only)
    page = PAPERS["liu2018"].write_report(liu2018_study(), tmp_path).read_text(encoding="utf-8")
    for claim in liu2018_study().claims:
        assert f"{escape(claim.paper)}</td>" in page and f"{escape(claim.ours)}</td>" in page
    assert sorted({file.stem for file in (tmp_path / "figures").iterdir()}) == [
        "compensation", "figure-6", "figure-8", "figure-9", "timelapse",
    ]  # fmt: skip
    assert page.count("<img ") == page.count('src="data:image/') == 5
    assert "torques of Sect. 4.1" in page and bare(page)


def test_two_formulations_of_2018() -> None:
    """2018, Fig. 6: with every joint a coordinate and multipliers on the feet, torso and tail move as by the engine."""
    found = liu2018_study()
    early = found.forward.data["time"].to_numpy() <= 0.3
    ours = found.forward.data["q"].to_numpy()[early]
    np.testing.assert_allclose(found.second[early], ours, rtol=0, atol=1e-9)  # the engine's run is at rtol 1e-9
    assert found.third is not None
    np.testing.assert_allclose(found.third[early], ours, rtol=0, atol=2e-4)  # MuJoCo's pinned feet give way


def test_torques_of_2018() -> None:
    """2018, Fig. 9: with tau_p = 0 a motor needs over 700 N m; all motors together do the same with less than 50."""
    found, model = liu2018_study(), liu2018_study().controlled.model
    assert np.abs(found.required).max() > 700.0 > 50.0 > np.abs(found.least).max()
    times = found.controlled.data["time"].to_numpy()
    q, v, a = desired_states(model, times)
    np.testing.assert_allclose(model.forward_dynamics(q, v, found.least), a, rtol=0, atol=1e-9 * np.abs(a).max())
