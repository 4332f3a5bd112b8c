"""Assignments to tables that do not exist: the error suggests the intended name, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet import ConfigError
from hostnet.running.simulate import resolve, source_of
from tests.docs.reference import ROOT

HOSTCC = ROOT / "examples/hostcc.toml"
QUADRANT = ROOT / "examples/quadrant1.toml"
JOB = ROOT / "examples/allreduce.toml"
PLACES = [
    (QUADRANT, "workload", "stream", "reads=0.5"),
    (QUADRANT, "workload", "disk", 'cores="6"'),
    (HOSTCC, "host.receiver.workload", "mapp", "reads=0.5"),
    (HOSTCC, "host", "receiver", "core.count=9"),
    (HOSTCC, "flow", "netapp", "count=2"),
    (JOB, "job", "train", "iterations=2"),
]


@st.composite
def mistyped(draw: st.DrawFn, name: str) -> str:
    """Returns a name with one letter missing, doubled or swapped with its neighbour."""
    at = draw(st.integers(1, len(name) - 2))
    return draw(
        st.sampled_from(
            [
                name[:at] + name[at + 1 :],
                name[:at] + name[at] + name[at:],
                name[:at] + name[at + 1] + name[at] + name[at + 2 :],
            ]
        )
    )


def said(file: Path, *overrides: str) -> str:
    """Returns the error of a configuration."""
    with pytest.raises(ConfigError) as caught:
        resolve(source_of(file, overrides))
    return str(caught.value)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_nearest_name_is_told(data: st.DataObject) -> None:
    file, place, name, rest = data.draw(st.sampled_from(PLACES))
    wrong = data.draw(mistyped(name).filter(lambda typed: typed != name))
    assert said(file, f"{place}.{wrong}.{rest}").endswith(f'; did you mean "{place}.{name}"?')
    assert said(file, f"{place}.{name}.{rest}", f"{place}.{wrong}.{rest}").endswith(f'"{place}.{name}"?')


@pytest.mark.parametrize(("file", "place", "name", "rest"), PLACES)
def test_what_is_like_no_name_is_not_taken_for_one(file: Path, place: str, name: str, rest: str) -> None:
    assert "did you mean" not in said(file, f"{place}.qqqq.{rest}")
    resolve(source_of(file, [f"{place}.{name}.{rest}"]))


@pytest.mark.parametrize(
    "wrong",
    [
        "workload.strem.kind=3",
        "workload.strem={}",
        "workload.stream.cores=3",
        "workload.strem",
        "a b.c=3",
        ".=3",
        "=",
        "",
    ],
)
def test_no_assignment_breaks_the_search(wrong: str) -> None:
    assert said(QUADRANT, wrong).count("did you mean") <= 1


def test_a_file_without_tables_is_refused_as_ever(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "broken.toml").write_text("[workload\n")
    for name in ("list.json", "broken.toml"):
        assert "did you mean" not in said(tmp_path / name, "workload.lod.reads=0.5")
