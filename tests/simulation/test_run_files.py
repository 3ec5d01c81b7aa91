"""Files of runs: what was written comes back, and what was not is refused with its reason."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import xarray

from pucks import thrown
from tailwork.errors import FileError
from tailwork.simulation import load_run
from tailwork.simulation.run import FORMAT


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a short run."""
    file = tmp_path_factory.mktemp("runs") / "run.nc"
    thrown(duration=0.01, samples=5).titled("dropped").save(file)
    return file


def test_a_run_comes_back_with_its_title(written: Path) -> None:
    assert load_run(written).title == "dropped"
    assert load_run(written).titled("again").title == "again"


@pytest.mark.parametrize("share", (0.01, 0.1, 0.5, 0.9, 0.999))
def test_files_that_are_cut_short(written: Path, tmp_path: Path, share: float) -> None:
    content = written.read_bytes()
    short = tmp_path / "short.nc"
    short.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileError, match=r"short\.nc: (cut short or )?damaged.*simulate again"):
        load_run(short)


def test_a_changed_number_is_noticed(written: Path, tmp_path: Path) -> None:
    content = bytearray(written.read_bytes())
    place = content.index(np.array(load_run(written).data["q"].to_numpy()[-1, 2], dtype=">f8").tobytes())
    content[place + 6] ^= 1
    changed = tmp_path / "changed.nc"
    changed.write_bytes(content)
    with pytest.raises(FileError, match="damaged: its content is not what was written"):
        load_run(changed)
    content = written.read_bytes()
    assert content.count(b"mass = 0.9") == 1
    changed.write_bytes(content.replace(b"mass = 0.9", b"mass = 0.8"))
    with pytest.raises(FileError, match="damaged: its content is not what was written"):
        load_run(changed)


@pytest.mark.parametrize(
    ("there", "instead"),
    [(b"phi_y", b"phi_z"), (b"m/s, rad/s", b"m/s, deg/s"), (b"implicit-euler", b"explicit-euler"),
     (b"energy_balance", b"energy_balanza"),
     (b"content", b"contenu"), (b"foot_force", b"boot_force")],
)  # fmt: skip
def test_names_units_method_and_certificate_are_protected(
    written: Path, tmp_path: Path, there: bytes, instead: bytes
) -> None:
    """What a file says in words is as safe from damage as its numbers."""
    content = written.read_bytes()
    assert there in content
    changed = tmp_path / "changed.nc"
    changed.write_bytes(content.replace(there, instead, 1))
    with pytest.raises(FileError, match="damaged"):
        load_run(changed)


def test_damage_anywhere_is_an_error_of_the_file(written: Path, tmp_path: Path) -> None:
    """A run that was saved comes back as it was or not at all, whichever byte of its file changes."""
    content, rng = written.read_bytes(), np.random.default_rng(4)
    header = len(content) // 2
    changed, same = tmp_path / "changed.nc", 0
    for k in range(80):
        bad = bytearray(content)
        place = int(rng.integers(4, header if k % 2 else len(content)))
        bad[place] ^= 1 << int(rng.integers(8))
        changed.write_bytes(bad)
        try:
            again = load_run(changed)
        except FileError:
            continue
        same += 1  # a byte that only fills up
        xarray.testing.assert_identical(again.data, load_run(written).data)
    assert same < 15


def test_what_is_a_coordinate_does_not_depend_on_the_file(written: Path, tmp_path: Path) -> None:
    """A file whose word on it is damaged, as any byte may be, gives the same data."""
    content, changed = written.read_bytes(), tmp_path / "changed.nc"
    word = b"\x0bcoordinates\x00\x00\x00\x00\x02\x00\x00\x00\x0f"
    assert content.count(word + b"coordinate_unit") == 1
    changed.write_bytes(content.replace(word + b"coordinate_unit", word + b"coordinate_unid"))
    xarray.testing.assert_identical(load_run(changed).data, load_run(written).data)


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    """A pipe, which would wait for ever, is refused."""
    os.mkfifo(tmp_path / "run.nc")
    with pytest.raises(FileError, match="not a regular file"):
        load_run(tmp_path / "run.nc")


def test_files_of_newer_and_of_older_versions(written: Path, tmp_path: Path) -> None:
    with xarray.open_dataset(written, engine="scipy") as opened:
        data = opened.load()
    newer = tmp_path / "newer.nc"
    newer.write_bytes(bytes(data.assign_attrs(format=FORMAT + 1).to_netcdf(None, engine="scipy")))
    with pytest.raises(FileError, match=f"format {FORMAT + 1}; this one reads up to {FORMAT}.*update tailwork"):
        load_run(newer)
    older = tmp_path / "older.nc"
    for name in ("format", "content", "title"):
        del data.attrs[name]
    older.write_bytes(bytes(data.to_netcdf(None, engine="scipy")))
    assert load_run(older).duration == load_run(written).duration and load_run(older).title == ""


def test_files_that_are_no_runs(tmp_path: Path) -> None:
    for name, content in (("empty.nc", b""), ("text.nc", b"time, q\n0, 1\n"), ("hdf.nc", b"\x89HDF\r\n\x1a\n")):
        file = tmp_path / name
        file.write_bytes(content)
        with pytest.raises(FileError, match="not a NetCDF file of a run"):
            load_run(file)
    with pytest.raises(FileError, match="no such file"):
        load_run(tmp_path / "none.nc")
    other = tmp_path / "other.nc"
    xarray.Dataset({"a": ("x", np.zeros(3))}).to_netcdf(other, engine="scipy")
    with pytest.raises(FileError, match="not a run that tailwork has saved"):
        load_run(other)
