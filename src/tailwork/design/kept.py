"""The folder of a design problem: what is finished is kept as it comes, and is not done again.

    design/problem.toml          the problem, as it was given
    design/answers/best.json     a finished choice, all of its numbers
    design/robots/best.toml      its best design as a robot
    design/runs/best.nc          its verifying run, and others
    design/pareto.csv            the trade-off between several goals

A file of answers is written last, as a whole: one that is there is finished. It bears the digest of its problem and of
the code; those of another problem or another version are done again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tailwork.design.answer import Answer, Settings, answer_of, chosen
from tailwork.design.data import BEST, answer_data, answer_from, partial_from, plain
from tailwork.design.pareto import Partial
from tailwork.design.problem import Study
from tailwork.design.search import ImpossibleError, Progress
from tailwork.errors import FileError
from tailwork.robots.files import as_text
from tailwork.simulation import Run, load_run
from tailwork.studies.comparison import DRAWING, source_digest
from tailwork.writing import ready_folder, write_whole

ANSWERS, ROBOTS, RUNS, PROBLEM = "answers", "robots", "runs", "problem.toml"


@dataclass(frozen=True)
class Case:
    """A problem whose choices have been made, and how it is solved."""

    name: str  # of its files
    choice: dict[str, Any]
    study: Study
    settings: Settings

    @property
    def digest(self) -> str:
        """Says whether what is kept is of this very problem, solved by this very code."""
        study = {**plain(replace(self.study, choices={})), "robot": as_text(self.study.robot)}
        told = {"code": source_digest(DRAWING), "study": study, "settings": plain(replace(self.settings, threads=None))}
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True)
class Bundle:
    """What a finished case leaves, as it travels between machines: plain data, a robot as text, files of runs."""

    data: dict[str, Any]
    robot: str  # empty: there is no design
    runs: dict[str, bytes]


def cases(study: Study, settings: Settings) -> list[Case]:
    """All cases of a problem."""
    found = []
    for k, (choice, own) in enumerate(chosen(study)):
        words = "-".join(f"{path.split('.')[-1]}-{value}" for path, value in choice.items())
        slug = re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-")
        found.append(Case(f"{k + 1:02d}-{slug}" if choice else BEST, choice, own, settings))
    return found


def solved(
    case: Case, digest: str, tell: Progress = lambda what: None, before: Partial | None = None, keep: Any = None
) -> Bundle:
    """A case solved; that it is impossible is a result, too.

    Args:
        case: which.
        digest: of the case, which its files will bear.
        tell: told what is done next.
        before: what of a front was finished before.
        keep: told of each point of a front that is finished.
    """
    try:
        answer = answer_of(case.study, case.choice, tell, case.settings, before, keep or (lambda partial: None))
    except ImpossibleError as error:
        return Bundle({"digest": digest, "impossible": plain(error.__dict__)}, "", {})
    data, runs = answer_data(answer)
    with tempfile.TemporaryDirectory() as folder:
        files = {name: _content(run, Path(folder) / f"{name}.nc", digest) for name, run in runs.items()}
    return Bundle({"digest": digest, "runs": sorted(runs), **data}, as_text(answer.robot), files)


def _content(run: Run, file: Path, digest: str) -> bytes:
    run.save(file, {"problem": digest})
    return file.read_bytes()


@dataclass(frozen=True)
class Kept:
    """Where answers are kept."""

    path: Path

    def answer_file(self, case: Case) -> Path:
        """The file of a case."""
        return self.path / ANSWERS / f"{case.name}.json"

    def run_file(self, case: Case, name: str) -> Path:
        """The file of a run of a case."""
        return self.path / RUNS / (f"{name}.nc" if case.name == BEST else f"{case.name}-{name}.nc")

    def write(self, case: Case, bundle: Bundle) -> None:
        """Keep what a case has left."""
        for name, content in bundle.runs.items():
            write_whole(self.run_file(case, name), content)
        if bundle.robot:
            write_whole(self.path / ROBOTS / f"{case.name}.toml", bundle.robot)
        write_whole(self.answer_file(case), json.dumps(bundle.data, indent=1, ensure_ascii=False) + "\n")
        with contextlib.suppress(OSError):
            os.remove(self._partial_file(case))

    def read(self, case: Case) -> Answer | ImpossibleError | None:
        """What was found for a case; None: it is not finished, or is damaged, or of another problem or version."""
        data = _data(self.answer_file(case), case.digest)
        if data is None:
            return None
        try:
            if "impossible" in data:
                return ImpossibleError(**data["impossible"])
            runs = {name: load_run(self.run_file(case, name)) for name in data["runs"]}
            if any(run.data.attrs.get("problem") != data["digest"] for run in runs.values()):
                return None
            return answer_from(data, case.study, runs)
        except (FileError, KeyError, TypeError, ValueError, IndexError):  # damaged
            return None

    def do(self, case: Case, tell: Progress) -> None:
        """Solve a case here; each point of its front is kept as it comes."""
        digest = case.digest
        before = _data(self._partial_file(case), digest)
        partial = None
        if before is not None:
            with contextlib.suppress(KeyError, TypeError, ValueError):  # damaged: begun again
                partial = partial_from(before, len(case.study.variables), len(case.study.goals))

        def keep(partial: Partial) -> None:
            write_whole(self._partial_file(case), json.dumps({"digest": digest, **plain(partial)}) + "\n")

        self.write(case, solved(case, digest, tell, partial, keep))

    def _partial_file(self, case: Case) -> Path:
        return self.path / ANSWERS / f"{case.name}.partial.json"


def open_kept(path: Path, problem: str) -> Kept:
    """A folder made ready for the answers to a problem, which is given as text.

    Raises:
        FileError: it cannot be used, or has a problem file that is not a copy of ours.
    """
    copy = path / PROBLEM
    if copy.exists() and not (path / ANSWERS).exists() and copy.read_bytes() != problem.encode():
        raise FileError(copy, "another file of that name is there; choose another folder by --out")
    for folder in (path, path / ANSWERS, path / ROBOTS, path / RUNS):
        ready_folder(folder)
    write_whole(copy, problem)
    return Kept(path)


def _data(file: Path, digest: str) -> Mapping[str, Any] | None:
    """What a file holds, if it is of the same problem."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) and data.get("digest") == digest else None
