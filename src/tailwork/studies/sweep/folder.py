"""The folder of a sweep: its plan, a Parquet file for each finished chunk, and at the end one file of all results.

    sweep/plan.json                  what the sweep is
    sweep/parts/part-000012.parquet  results of a chunk, written whole as soon as it is done
    sweep/results.parquet            all of them, in the order of their numbers

A part that is there is finished: a sweep that was interrupted does the others. Any reader of Parquet can open parts
while the sweep goes on; units stand in the metadata of the columns and, as JSON, of the file ("units").
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tailwork.errors import FileError
from tailwork.files import is_there, read_bytes, ready_folder, write_whole
from tailwork.studies.data import digest
from tailwork.studies.measures import meaning_of
from tailwork.studies.sweep.plan import DESIGN, REASON, TIME, WARNING, Columns, Sweep, as_data, column_units, versions
from tailwork.typing import Floats

PLAN, PARTS, RESULTS = "plan.json", "parts", "results.parquet"
WORDS = {
    "code": "the version of tailwork",
    "drawn": "how many designs are drawn",
    "chunk": "how many designs are kept together (--chunk)",
    "measures": "the measures",
    "varied": "what is varied",
}
"""What entries of a plan are called."""
OTHER_FOLDER = "choose another folder by --out, or remove this one"


@dataclass(frozen=True)
class SweepFolder:
    """Where a sweep is kept."""

    path: Path
    sweep: Sweep
    data: dict[str, Any]  # the plan

    @cached_property
    def digest(self) -> str:
        """Of the plan; every part bears it."""
        return digest(self.data)

    def part(self, chunk: int) -> Path:
        """The file of a chunk."""
        return self.path / PARTS / f"part-{chunk:06d}.parquet"

    def write(self, chunk: int, columns: Columns) -> None:
        """Keep the results of a chunk."""
        import pyarrow  # here and below: slow to import, and needed for sweeps only
        import pyarrow.parquet as parquet

        memory = io.BytesIO()
        table = pyarrow.table(columns, schema=_schema(self, {"chunk": str(chunk)}))
        parquet.write_table(table, memory, write_page_checksum=True)
        write_whole(self.part(chunk), memory.getvalue())

    def read(self, chunk: int) -> Any:
        """The table of a chunk that is finished; None: there is none, or it is damaged, or of another sweep."""
        import pyarrow
        import pyarrow.parquet as parquet

        try:
            content = pyarrow.BufferReader(read_bytes(self.part(chunk)))
            table = parquet.read_table(content, page_checksum_verification=True, use_threads=False)
        except (OSError, FileError, pyarrow.ArrowException):
            return None
        said = table.schema.metadata or {}
        ours = said.get(b"sweep") == self.digest.encode() and said.get(b"chunk") == str(chunk).encode()
        fits = table.schema.equals(_schema(self, {})) and len(table) == len(self.sweep.numbers(chunk))
        return table if ours and fits else None

    def finished(self) -> tuple[set[int], set[int]]:
        """Chunks that are done, and chunks whose files are damaged and have to be done again."""
        done: set[int] = set()
        damaged: set[int] = set()
        for file in (self.path / PARTS).glob("part-*.parquet"):
            name = file.stem.removeprefix("part-")
            if name.isdecimal() and int(name) < self.sweep.chunks:
                (done if self.read(int(name)) is not None else damaged).add(int(name))
        return done, damaged

    def gather(self) -> Path:
        """Write all results into one file; its path. Refused if a part is missing or damaged."""
        import pyarrow.parquet as parquet

        schema, memory = _schema(self, {}), io.BytesIO()
        with parquet.ParquetWriter(memory, schema) as writer:
            for chunk in range(self.sweep.chunks):
                table = self.read(chunk)
                if table is None:
                    raise FileError(self.part(chunk), "missing or damaged; run the same command again")
                writer.write_table(table.replace_schema_metadata(schema.metadata))
        write_whole(self.path / RESULTS, memory.getvalue())
        return self.path / RESULTS


def open_folder(path: Path, sweep: Sweep) -> SweepFolder:
    """The folder of a sweep, made ready; or what is there already, if it is of the same sweep. Else it is refused."""
    folder = SweepFolder(path, sweep, as_data(sweep))
    plan = path / PLAN
    parts, results = path / PARTS, is_there(path / RESULTS)
    waits = parts.is_dir() and not any(parts.iterdir()) and not results  # a sweep of which nothing has been done
    if plan.exists() and not waits:
        _check_same(folder, plan)
    elif not waits and (results or parts.exists()):
        raise FileError(path, f"holds results without the plan that they are of ({PLAN}); {OTHER_FOLDER}")
    else:
        ready_folder(path)
        told = {"designs": sweep.designs, **folder.data, "versions": versions()}
        write_whole(plan, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    ready_folder(path / PARTS)
    return folder


def _check_same(folder: SweepFolder, plan: Path) -> None:
    try:
        kept = json.loads(read_bytes(plan).decode())
        if not isinstance(kept, dict):
            raise ValueError
    except (ValueError, RecursionError):  # no JSON, no UTF-8
        raise FileError(plan, f"damaged: not the plan of a sweep; {OTHER_FOLDER}") from None
    differing = [_difference(name, kept.get(name), value) for name, value in folder.data.items()
                 if json.dumps(kept.get(name), sort_keys=True) != json.dumps(value, sort_keys=True)]  # fmt: skip
    if differing:
        raise FileError(
            folder.path,
            f"holds another sweep, which differs in {'; '.join(differing)}. To go on with that one, repeat its "
            f"command; for a new one, {OTHER_FOLDER}",
        )


def _difference(name: str, there: Any, here: Any) -> str:
    """What differs, with both values where they are short."""
    said = WORDS.get(name, f"the {name}")
    if name == "varied" and isinstance(there, list):
        there, here = (", ".join(str(one.get("path")) + _span(one) for one in values) for values in (there, here))
    elif name == "motion" and isinstance(there, dict):
        there, here = there.get("name"), here["name"]
    elif name == "measures" and isinstance(there, list):
        there, here = (", ".join(map(str, values)) for values in (there, here))
    elif name in ("robot", "code"):
        return said
    return f"{said} ({there} there, {here} here)"


def _span(varied: dict[str, Any]) -> str:
    values = varied.get("values") or [0.0]
    if varied.get("spacing") == "listed":
        return "=" + ",".join(f"{x:g}" for x in values)
    count = f":{varied.get('count')}" if varied.get("count") else ""
    return f"={values[0]:g}:{values[-1]:g}{count}" + (":log" if varied.get("spacing") == "log" else "")


def _schema(folder: SweepFolder, more: dict[str, str]) -> Any:
    """Columns with their units and meanings."""
    import pyarrow

    sweep, units = folder.sweep, column_units(folder.sweep)
    whole = {DESIGN, *(one.path for one in sweep.varied if one.whole)}
    meanings = {DESIGN: "number of the design", TIME: "time simulated; 0: the design is not possible"}
    meanings |= {name: meaning_of(name) for name in sweep.measures}
    fields = [
        pyarrow.field(
            name,
            pyarrow.int64() if name in whole else pyarrow.float64(),
            metadata={"unit": unit, "meaning": meanings.get(name, "varied")},
        )
        for name, unit in units.items()
    ]
    why_ended = pyarrow.field(REASON, pyarrow.string(), metadata={"meaning": "why it ended early; empty: it did not"})
    doubts = {"meaning": "what speaks against trusting it; empty: nothing that is known"}
    warning = pyarrow.field(WARNING, pyarrow.string(), metadata=doubts)
    return pyarrow.schema([*fields, why_ended, warning], {"sweep": folder.digest, "units": json.dumps(units), **more})


@dataclass(frozen=True)
class Results:
    """All results of a sweep, an entry a design."""

    sweep: Sweep
    values: dict[str, np.ndarray]  # what is varied, by path
    measures: dict[str, Floats]
    times: Floats  # simulated [s]
    texts: tuple[str, ...]  # reasons why runs ended early, each once, and "" for those that did not
    which: np.ndarray  # the place of each design's own among them
    warned: dict[int, str] = field(default_factory=dict)  # by design: what speaks against trusting its run

    @cached_property
    def whole(self) -> np.ndarray:
        """Which designs ran to their end."""
        return np.array([not text for text in self.texts], dtype=bool)[self.which]

    @cached_property
    def early(self) -> np.ndarray:
        """Which designs ran, and ended early."""
        return ~self.whole & (self.times > 0.0)

    @cached_property
    def refused(self) -> np.ndarray:
        """Which designs are not possible."""
        return ~self.whole & ~(self.times > 0.0)


def read_results(folder: SweepFolder) -> Results:
    """The results in the folder of a finished sweep."""
    import pyarrow.parquet as parquet

    table = parquet.read_table(io.BytesIO(read_bytes(folder.path / RESULTS)))
    sweep = folder.sweep
    reasons = table[REASON].combine_chunks().dictionary_encode()
    return Results(
        sweep,
        {one.path: table[one.path].to_numpy() for one in sweep.varied},
        {name: table[name].to_numpy() for name in sweep.measures},
        table[TIME].to_numpy(),
        tuple(reasons.dictionary.to_pylist()),
        reasons.indices.to_numpy(),
        {k: text for k, text in enumerate(table[WARNING].to_pylist()) if text},
    )
