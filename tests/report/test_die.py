"""Pages and the screen of servers on a mesh."""

from __future__ import annotations

from pathlib import Path

import pytest

import hostnet
from hostnet.cli.show_server import fullest_mesh_link
from hostnet.report.server import die_section
from hostnet.server_view import mesh_table


@pytest.fixture(scope="module")
def results() -> hostnet.Results:
    """Returns a stream on a die with narrow links."""
    return hostnet.run(
        {
            "server": {"preset": "cascade-lake-6234"},
            "noc": {"die": "cascade-lake-18", "link": "2 B"},
            "workload": {"stream": {"kind": "stream", "cores": "0-3"}},
            "run": {"warmup": "20 us", "duration": "50 us"},
        }
    )


def test_the_map_has_every_stop_and_every_link_that_was_used(results: hostnet.Results) -> None:
    """A box per stop with a part, a line per direction, and the fullest link in the title."""
    die, rows = results.summary["dies"][0], results.summary["mesh"]
    picture = die_section(results.summary, "Mesh") or ""
    assert picture.count("<rect") == len(die["stops"])
    assert picture.count("<line") == sum(row["side"] not in ("in", "out") for row in rows)
    fullest = max(rows, key=lambda row: row["lines_busy_share"])
    assert f"the fullest is column {fullest['column']} row {fullest['row']} {fullest['side']}: lines" in picture


def test_the_screen_names_the_fullest_link(results: hostnet.Results) -> None:
    """The sentence fits the table."""
    fullest = max(results.mesh.values(), key=lambda row: row["lines_busy_share"])
    said = fullest_mesh_link(results.summary["mesh"])
    assert said.startswith("fullest link of the mesh: lines, column ")
    assert f"busy {100 * fullest['lines_busy_share']:.1f}"[:8] in said
    assert len(mesh_table(results.summary).rows) == len(results.mesh_ways) == 4


def test_a_page_without_a_die_has_no_map(tmp_path: Path) -> None:
    """Only servers on a mesh have the section."""
    plain = hostnet.run(
        {"workload": {"s": {"kind": "stream", "cores": "0"}}, "server": {"preset": "cascade-lake-6234"}}
    )
    assert die_section(plain.summary, "Mesh") is None
    assert plain.mesh == {}
    assert fullest_mesh_link([]) == "nothing went over the mesh"
    plain.save(tmp_path / "run")
    assert "<h2>Mesh</h2>" not in (tmp_path / "run/report.html").read_text(encoding="utf-8")
