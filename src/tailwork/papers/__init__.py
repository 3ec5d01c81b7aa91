"""The papers of Liu & Ben-Tzvi (2018, 2020), of Nelson & Quinn and of Biswal & Mohanty, a folder each.

A folder holds a paper's equations, in plain NumPy, one function an equation; `experiments.py`, which runs the paper's
own experiments with the engine; and `report.py`, which draws its figures and writes its report. The equations are
written to be read beside the paper, with misprints put right where a docstring says so. They share no code with the
engine: what both say is said twice.

In Liu & Ben-Tzvi's, q = [p, phi_x, phi_y, phi_z, tail coordinates] and v = [velocity of P, angular velocity, tail
rates], both velocities in the inertial frame. The angular velocity is the true one, not the rate of phi (2018, Eqs. 2,
3; 2020, Eqs. 5, 6 set the two equal, which holds for small angles only). Nelson & Quinn's velocities are q-dot itself,
with the rates of phi; theirs are free trees, without pinned feet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tailwork.papers.claims import silent
from tailwork.studies.compare.comparison import Progress


@dataclass(frozen=True)
class Paper:
    """A paper that is reproduced. Its modules are imported when they are needed."""

    title: str  # authors and year
    folder: str  # of tailwork.papers
    resumes: bool = False  # whether finished runs are taken from the folder when it is reproduced again

    def reproduce(self, folder: Path, progress: Progress = silent) -> Any:
        """Run all experiments and save their runs in `folder`/runs; the result has the paper's `claims`, and more."""
        experiments = self._module("experiments")
        if self.resumes:
            return experiments.reproduce(folder, progress)
        result = experiments.run_all(progress)
        for name, run in result.runs.items():
            run.save(folder / "runs" / f"{name}.nc")
        return result

    def tables(self, result: Any) -> Mapping[str, Any]:
        """Tables of the report that the terminal shows, too, by title: `tailwork.view.report.page.Table`."""
        from tailwork.papers.report import claim_table  # slow to import, and needed for pictures only

        return {self.title: claim_table(result.claims), **self._module("report").report(result).tables}

    def write_report(self, result: Any, folder: Path, progress: Progress = silent, processes: int = 1) -> Path:
        """Draw the figures into `folder`/figures and write `folder`/report.html; its path."""
        return self._module("report").report(result).write(self.title, result.claims, folder, progress, processes)

    def _module(self, name: str) -> Any:
        return import_module(f"tailwork.papers.{self.folder}.{name}")


PAPERS = {
    "liu2018": Paper("Liu & Ben-Tzvi 2018", "liu2018"),
    "liu2020": Paper("Liu & Ben-Tzvi 2020", "liu2020", resumes=True),
    "nelson-quinn": Paper("Nelson & Quinn", "nelson_quinn"),
    "biswal": Paper("Biswal & Mohanty", "biswal"),
}
"""By name on the command line."""
