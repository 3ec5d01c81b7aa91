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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tailwork.errors import FileError
from tailwork.files import is_there, read_bytes, ready_folder, write_whole
from tailwork.robots.io.toml import as_text
from tailwork.simulation import load_run
from tailwork.studies.cluster import do_on_cluster
from tailwork.studies.data import digest, json_value, made, source_digest
from tailwork.studies.design.answer import Answer, DesignOptions, answer_of, choices
from tailwork.studies.design.data import BEST, answer_data, answer_from, partial_from
from tailwork.studies.design.multistart import ImpossibleError, Tell
from tailwork.studies.design.pareto import Partial
from tailwork.studies.design.problem import Study
from tailwork.studies.design.variables import checked_variables
from tailwork.studies.scenario import Scenario, scenario_data

ANSWERS, ROBOTS, RUNS, PROBLEM, NOTED = "answers", "robots", "runs", "problem.toml", "files.json"


@dataclass(frozen=True)
class DesignCase:
    """A problem whose choices have been made, and how it is solved."""

    name: str  # of its files
    choice: dict[str, Any]
    study: Study
    settings: DesignOptions
    given: Study  # before its choices were made

    @property
    def answer_file(self) -> str:
        """Of all its numbers, in the folder of answers."""
        return f"{ANSWERS}/{self.name}.json"

    @property
    def partial_file(self) -> str:
        """Of a front under way."""
        return f"{ANSWERS}/{self.name}.partial.json"

    def run_file(self, name: str) -> str:
        """Of one of its runs."""
        return f"{RUNS}/{name}.nc" if self.name == BEST else f"{RUNS}/{self.name}-{name}.nc"

    @property
    def digest(self) -> str:
        """Says whether what is kept is of this very problem, solved by this very code."""
        return digest({
            "code": source_digest(), "study": json_value(replace(self.study, choices={}), but=(Scenario,)),
            "scenario": scenario_data(self.study.scenario), "given": as_text(self.given.robot),
            "settings": json_value(replace(self.settings, threads=None)),
        })  # fmt: skip


Bundle = dict[str, str | bytes]
"""What a finished case leaves, as it travels between machines: files by name, that of the answer last."""


def design_cases(study: Study, settings: DesignOptions) -> list[DesignCase]:
    """All cases of a problem; each is checked before any is solved."""
    found = []
    for k, (choice, own) in enumerate(choices(study)):
        checked_variables(own)
        words = "-".join(f"{path.split('.')[-1]}-{value}" for path, value in choice.items())
        slug = re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-")
        found.append(DesignCase(f"{k + 1:02d}-{slug}" if choice else BEST, choice, own, settings, study))
    return found


def solve_case(
    case: DesignCase, digest: str, tell: Tell = lambda what: None, before: Partial | None = None,
    keep: Callable[[Partial], None] = lambda partial: None,
) -> Bundle:  # fmt: skip
    """A case solved; that it is impossible is a result, too. Its files will bear the digest; `before` and `keep` are
    those of `front`."""
    files: Bundle = {}
    try:
        answer = answer_of(case.study, case.choice, tell, case.settings, before, keep, case.given)
    except ImpossibleError as error:
        data = {"impossible": json_value(error.__dict__)}
    else:
        data, runs = answer_data(answer)
        data["runs"] = sorted(runs)
        files |= {case.run_file(name): run.as_netcdf({"problem": digest}) for name, run in runs.items()}
        files[f"{ROBOTS}/{case.name}.toml"] = as_text(answer.robot)
    files[case.answer_file] = json.dumps({"digest": digest, **data}, indent=1, ensure_ascii=False) + "\n"
    return files


@dataclass(frozen=True)
class AnswerFolder:
    """Where answers are kept."""

    path: Path

    def run_file(self, case: DesignCase, name: str) -> Path:
        """The file of a run of a case."""
        return self.path / case.run_file(name)

    def write(self, case: DesignCase, bundle: Bundle) -> None:
        """Keep what a case has left."""
        for file, content in bundle.items():
            write_whole(self.path / file, content)
        self.note(*(self.path / file for file in bundle))
        with contextlib.suppress(OSError):
            os.remove(self.path / case.partial_file)

    def read(self, case: DesignCase) -> Answer | ImpossibleError | None:
        """What was found for a case; None: it is not finished, or is damaged, or of another problem or version."""
        data = _data(self.path / case.answer_file, case.digest)
        try:
            if "impossible" in data:
                told = data["impossible"]
                return ImpossibleError(told["conflict"], told["design"], made(dict[str, float], told["measures"]))
            runs = {name: load_run(self.run_file(case, name)) for name in data["runs"]}
            if any(run.data.attrs.get("problem") != data["digest"] for run in runs.values()):
                return None
            return answer_from(data, case.study, runs)
        except (FileError, KeyError, TypeError, ValueError, IndexError, AttributeError):  # damaged
            return None

    def note(self, *files: Path) -> None:
        """Remember that files of the folder are ours: they go when another problem comes."""
        known = self._noted() | {str(file.relative_to(self.path)): _digest(file) for file in files}
        write_whole(self.path / ANSWERS / NOTED, json.dumps(known, indent=1) + "\n")

    def _noted(self) -> dict[str, str]:
        """Files that are ours, and the digests of what we have written."""
        return _data(self.path / ANSWERS / NOTED)

    def is_ours(self, file: Path) -> bool:
        """Whether a file is as we have written it."""
        return file.is_file() and self._noted().get(str(file.relative_to(self.path))) == _digest(file)

    def forget(self) -> None:
        """Remove what we have written and nobody has changed since: it is of another problem."""
        for name in self._noted():
            if self.is_ours(self.path / name):
                (self.path / name).unlink()
        write_whole(self.path / ANSWERS / NOTED, "{}\n")

    def do(self, case: DesignCase, tell: Tell) -> None:
        """Solve a case here; each point of its front is kept as it comes."""
        digest, file, before = case.digest, self.path / case.partial_file, None
        with contextlib.suppress(KeyError, TypeError, ValueError):  # none, or damaged: begun again
            before = partial_from(_data(file, digest), len(case.study.variables), len(case.study.goals))

        def keep(partial: Partial) -> None:
            write_whole(file, json.dumps({"digest": digest, **json_value(partial)}) + "\n")

        self.write(case, solve_case(case, digest, tell, before, keep))

    def do_on_cluster(
        self, cases: Sequence[DesignCase], address: str, progress: Callable[[DesignCase], None],
        say: Callable[[str], None] = lambda text: None,
    ) -> None:  # fmt: skip
        """Solve cases on a cluster (see `do_on_cluster`); what each leaves is kept as soon as it comes."""

        def take(case: DesignCase, bundle: Bundle) -> None:
            self.write(case, bundle)
            progress(case)

        do_on_cluster(address, ((case, case.name, solve_case, (case, case.digest)) for case in cases), take, say)


def open_kept(path: Path, problem: str) -> AnswerFolder:
    """A folder made ready for the answers to a problem, which is given as text; refused if it has another problem file
    that is not a copy of ours. What it holds of another problem is removed, as far as it is still as it was written."""
    copy, kept = path / PROBLEM, AnswerFolder(path)
    same = is_there(copy) and copy.is_file() and copy.read_bytes() == problem.encode()
    if copy.exists() and not same and not kept.is_ours(copy):
        raise FileError(copy, "another file of that name is there; choose another folder by --out")
    for folder in (path, path / ANSWERS, path / ROBOTS, path / RUNS):
        ready_folder(folder)
    if not same:
        kept.forget()
        write_whole(copy, problem)
        kept.note(copy)
    return kept


def _digest(file: Path) -> str:
    return hashlib.sha256(read_bytes(file)).hexdigest()


def _data(file: Path, digest: str | None = None) -> dict[str, Any]:
    """What a file holds, if it is of the same problem; else nothing."""
    try:
        data = json.loads(read_bytes(file).decode())
    except (FileError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) and data.get("digest") == digest else {}
