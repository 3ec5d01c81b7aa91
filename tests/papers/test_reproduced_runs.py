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
from tailwork.papers.liu2018.experiments import (
    GAINS,
    PERIOD,
    Liu2018,
    compensation,
    compensation_by_period,
    desired_states,
    errors,
    least_torques,
    off_early,
    required_torques,
    run_all,
)
from tailwork.papers.liu2018.report import figure_6, figure_9
from tailwork.papers.liu2020 import experiments as study
from tailwork.papers.liu2020.report import ratio_row
from tailwork.papers.report import claim_table
from tailwork.simulation import LegStraight, Run
from tailwork.simulation.options import Options
from tailwork.simulation.simulate import run_of
from tailwork.studies.compare.comparison import last_common, torso_degrees
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
    return torso_degrees(run)[-1] - torso_degrees(run)[0]


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


@pytest.mark.parametrize(
    ("reading", "motion", "axis", "arc", "chain"),
    [
        (study.BY_JOINTS, roll(40), "roll", 22.5, 11.7),
        (study.BY_JOINTS, roll(50), "roll", 5.1, 0.9),
        (study.BY_BETA, yaw(40), "yaw", 16.7, 2.1),
    ],
    ids=lambda x: x.name if isinstance(x, TailMotion) else None,
)
def test_other_readings(reading: str, motion: TailMotion, axis: str, arc: float, chain: float) -> None:
    """The pendulum rolled by cubics of its joint angles, the R3 bent by a cubic of beta: they start and end where the
    usual motion does, and the ratios change by some points [%]."""
    pair = study.PAIRS[reading](motion)
    for angle, more in (("arc", arc), ("chain", chain)):
        usual = study.same_center(motion)(angle)
        for tail, own, other in zip(("pendulum", "r3"), usual, pair(angle), strict=True):
            part = study.scenario(tail, motion).tail_part
            for t in (0.0, 0.3):
                wanted, found = (own.of(part, t), other.of(part, t))
                np.testing.assert_allclose(list(found.values()), list(wanted.values()), atol=1e-12)
        time, one, two = study.compared(pair, axis, (angle, "rpy"))
        assert time == pytest.approx(0.3, abs=1e-15)
        assert 100.0 * (two / one - 1.0) == pytest.approx(more, abs=TENTH)


@pytest.mark.parametrize(
    ("axis", "bends"), [("yaw", (80.5, 78.6, 48.1, 47.7)), ("roll", (50.4, 51.5, 46.1, 47.1))]
)  # fmt: skip
def test_where_r3_and_pendulum_cross(axis: str, bends: tuple[float, ...]) -> None:
    """Bends at which both turn the torso equally far [deg], by map of the bend and attitude: there they do."""
    k = AXES.index(axis)
    for variant, bend in zip(study.VARIANTS, bends, strict=True):
        found = study.crossing(axis, study.MAIN, variant)
        assert found == pytest.approx(bend, abs=TENTH)
        motion = {"yaw": yaw, "roll": roll}[axis](found)
        both = zip(("pendulum", "r3"), study.same_center(motion)(variant[0]), strict=True)
        ends = [turned(study.performed(tail, own, variant[1]))[k] for tail, own in both]
        assert ends[0] == pytest.approx(ends[1], rel=1e-3)


def test_no_crossing() -> None:
    """By a cubic of beta and the arc, the R3 turns the torso farther in yaw at every bend up to 85°."""
    assert np.isnan(study.crossing("yaw", study.BY_BETA, ("arc", "rpy")))


def test_swept_bends() -> None:
    """Figs. 10 and 12 compare all tails at one time: of roll, where a run ends early, before the end of the motion."""
    found, early = study.swept("roll")
    assert list(early) == [bend > 50 for bend in study.SWEPT]
    time, one, other = last_common(paper_run("pendulum", roll(40)), paper_run("r3", roll(40)))
    assert time == pytest.approx(0.3, abs=1e-15)
    at = list(study.SWEPT).index(40)
    assert found["pendulum"][at] == pytest.approx(one[1], rel=1e-6)
    assert found["r3, arc of Eq. 86"][at] == pytest.approx(other[1], rel=1e-6)


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
    """In the open loop no tail gets through a full period, whether it bends down first or up."""
    claims = study._fall_claims()
    assert len(claims) == 4
    for claim in claims:
        assert 0.3 < float(claim.ours) < 0.4 and re.search(r"leg\d nearly straight", claim.reading)


def test_claims_of_2020() -> None:
    """Paper and ours stand in each; torques and poles are those that follow from the printed numbers."""
    claims = study._stance_claims()
    checked_claims(tuple(claims))
    found = {claim.quantity: claim.ours for claim in claims}
    torques = [found[f"Eq. 85, {joint} [N m]"] for joint in ("leg1.hb", "leg1.k", "leg3.hb", "leg3.k")]
    assert torques == ["1.6304", "7.7018", "1.9012", "7.1603"]
    growth = [found[f"growth of the open-loop torso in {axis} [1/s]"] for axis in ("roll", "pitch", "yaw")]
    assert growth == ["9.55", "8.14", "6.31"]
    assert "all twelve agree" in claims[0].reading


def test_a_row_of_ratios() -> None:
    """A comparison at an earlier time says so."""
    ratio = study.Ratio(roll(80), "", "roll", "−41.4 %", (-48.5, -47.04, 0.06, 1.0), (0.282, 0.3, 0.3, 0.3))
    assert ratio_row(ratio) == ["roll80", "roll", "−41.4 %", "−48.5 % ×", "−47.0 %", "+0.1 %", "+1.0 %", "0.282"]


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
    """From the desired velocity the motion is tracked; from rest, 50 ms later, the torso's pitch is 5.1° off and the
    tail's yaw 10.3°, both to the wrong side, and the run fails before 150 ms."""
    found = liu2018_study()
    assert found.matched.stopped is None
    assert np.abs(errors(found.matched)[-1]).max() < 3e-7
    assert desired_states(found.matched.model, np.zeros(1))[1][0, 3] == pytest.approx(1.83, abs=HUNDREDTH)
    assert found.open_loop.stopped is not None and found.open_loop.stopped.time < 0.150
    off = off_early(found.open_loop)
    for name, apart in (("pitch", -5.1), ("tail's yaw", 10.3)):
        wanted, ours = off[name]
        assert ours - wanted == pytest.approx(apart, abs=TENTH) and ours * wanted < 0.0
    at = float(np.interp(0.05, found.open_loop.data["time"].to_numpy(), errors(found.open_loop)[:, 0]))
    assert at == pytest.approx(-5.1, abs=TENTH)


def test_the_feet_of_2018_would_pull() -> None:
    """With tau_p = 0 the pitch motion needs feet that pull with 180 N, at a quarter of the samples and more."""
    force = liu2018_study().matched.data["foot_force"].sel(axis="z").to_numpy()
    assert force.min() == pytest.approx(-180.0, abs=0.5)
    assert (force < 0).mean() > 0.25
    assert not liu2018_study().matched.assumption_held()


def test_the_feet_of_the_least_torques() -> None:
    """All motors sharing, at least 14 N are still pulled; other torques of theirs let every foot push with 3 N."""
    model, times = liu2018_study().forward.model, np.linspace(0.0, PERIOD, 301)
    q, v, a = desired_states(model, times)
    normal = model.foot_forces(q, v, least_torques(model, times))[..., 2]
    assert normal.min() == pytest.approx(-14.0, abs=0.5) and 0.05 < (normal < 0.0).mean() < 0.07
    found = model.admissible_efforts(q, v, a, friction=float("inf"), least_normal=3.0)
    assert found.foot_forces[..., 2].min() > 2.9


def test_compensation_dies_away() -> None:
    """Feedback takes the start's error away, from over 500 N m in the first period: with the first gains and with
    computed torque to less than a thousandth in the seventh; the feed-forward law with the second gains fails."""
    found = liu2018_study()
    assert {kp for _, kp in found.controlled} == {kp for kp, _ in GAINS}
    for (law, kp), run in found.controlled.items():
        first, second, *_, last = compensation_by_period(run)
        assert first == pytest.approx(compensation(run)[0]) and first > 500.0 and second > 4.0
        if law == "feed-forward" and kp == 100.0:
            assert run.stopped is not None and run.stopped.time == pytest.approx(0.712, abs=5e-4) and np.isnan(last)
        else:
            assert run.stopped is None and last < 1e-3 * first


def test_compensation_is_beyond_the_desired_state() -> None:
    """What is subtracted are the torques of the open loop, which has no feedback."""
    run = liu2018_study().matched
    np.testing.assert_allclose(compensation(run), 0.0, atol=1e-9)


def test_claims_of_2018() -> None:
    """Paper and ours stand in each; numbers are those above."""
    claims = liu2018_study().claims
    checked_claims(claims)
    found = {claim.quantity: claim.ours for claim in claims}
    assert found["Fig. 6, model valid until [s]"] == "0.407"
    assert found["§4.2, from rest, pitch off at 50 ms [°]"] == "-5.1"
    assert found["§4.2, from rest, tail's yaw off at 50 ms [°]"] == "+10.3"
    assert found["§4.2, least normal force, tau_p = 0 [N]"] == "-180 †"
    assert found["§4.2, least normal force, all 14 motors [N]"] == "-14 †"
    assert found["J_tau,a, condition number along the motion"] == "102–117"
    impossible = [claim.ours for claim in claims if claim.quantity.startswith("§4.2, impossible moments")]
    assert impossible == ["81", "31", "0"]


def test_the_report_of_2018(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One page that needs nothing else, with every claim and five figures; only files that it shows are drawn: time."""

    def shown_only(figure: Figure, folder: Path, name: str, kinds: tuple[str, ...]) -> dict[str, Path]:
        return save(figure, folder, name, ["svg" if "svg" in kinds else "png"])

    monkeypatch.setattr(saving, "save", shown_only)
    page = PAPERS["liu2018"].write_report(liu2018_study(), tmp_path).read_text(encoding="utf-8")
    for _, paper, ours, _ in claim_table(liu2018_study().claims).rows:
        assert f"{escape(str(paper))}</td>" in page and f"{escape(str(ours))}</td>" in page
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
    model, times = liu2018_study().forward.model, np.linspace(0.0, PERIOD, 301)
    required, least = required_torques(model, times), least_torques(model, times)
    assert np.abs(required).max() > 700.0 > 50.0 > np.abs(least).max()
    q, v, a = desired_states(model, times)
    for torques in (required, least):
        np.testing.assert_allclose(model.forward_dynamics(q, v, torques), a, rtol=0, atol=1e-9 * np.abs(a).max())


def test_every_motor_is_drawn() -> None:
    """Fig. 9 has a panel for each of the 14; Fig. 6 shows how far other engines are off, apart from the motion."""
    found = liu2018_study()
    panels = figure_9(found).axes
    assert [axes.get_ylabel() for axes in panels] == [f"{name} [N m]" for name in found.forward.model.actuator_names]
    assert found.third is not None
    off = figure_6(found.forward, {"MuJoCo": found.third}).axes[8:]
    assert [axes.get_ylabel() for axes in off] == ["off: places [mm]", "off: angles [deg]"]
    assert all(axes.get_yscale() == "log" for axes in off)
