"""The ledger with the real simulator: a few operating points, enough to check names and units."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostnet.ledger import cli_validate, validate
from hostnet.ledger.runner import Progress


def test_a_panel_is_recomputed_the_same_on_any_number_of_threads() -> None:
    one = validate("host_network", figures=["6a"], selection="quick", threads=1)
    two = validate("host_network", figures=["6a"], selection="quick", threads=2)
    assert one.rows == two.rows
    assert [row.x for row in one.rows] == ["1", "6", "1", "6"]
    for row in one.rows:
        assert row.simulated is not None
        assert row.ci95 is not None
        assert row.published is not None
        assert 0.5 * row.published < row.simulated < 2 * row.published
        assert 0 < row.ci95 < 0.2 * row.published


def test_every_quantity_of_quadrant_three_is_there() -> None:
    ledger = validate("host_network", figures=["8"], selection="quick")
    missing = [row.id for row in ledger.rows if row.simulated is None]
    assert missing == []
    limit = next(row for row in ledger.rows if row.series == "Limit")
    assert limit.simulated == 92


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli_validate("host_network", ["6a"], tmp_path / "rows.json", False, True, 0) == 0
    assert (tmp_path / "rows.json").is_file()
    assert "of 4 rows pass" in capsys.readouterr().out.splitlines()[-1]


def test_a_place_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder"):
        cli_validate("host_network", [], tmp_path, False, False, 0)


def test_a_device_is_written_to_and_not_replaced() -> None:
    null = Path("/dev/null")
    assert cli_validate("host_network", ["6a"], null, False, True, 0) == 0
    assert null.is_char_device()


def test_runs_that_were_told_to_stop_give_no_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_but_progress(plans: list[object], *, threads: int | None, progress: Progress) -> list[object]:
        del plans, threads
        assert progress({"done": 0}) is False
        return []

    monkeypatch.setattr("hostnet.running.simulate.run_plans", nothing_but_progress)
    with pytest.raises(KeyboardInterrupt):
        validate("host_network", figures=["6a"], selection="quick", progress=lambda _: False)


@pytest.mark.long
def test_applications_are_recomputed_with_all_that_their_rows_need() -> None:
    ledger = validate("applications", figures=["2a"], selection="quick")
    rows = {(row.panel, row.series): row for row in ledger.rows}
    assert {row.x for row in rows.values()} == {"3"}
    assert all(row.simulated is not None for row in rows.values())
    drives = rows["fig02a_redis_degradation", "FIO (P2M), DDIO on"]
    assert (drives.verdict, drives.kind) == ("pass", "relation")


KNOWN_TO_FAIL = {
    "host_network/fig08c_row_miss_ratio/without-p2m/1",
    "host_network/fig12d_breakdown_c2m_q3/cha-admission-delay/6",
    "host_network/fig12e_breakdown_p2m_q3/cha-admission-delay/3",
    "host_network/fig12e_breakdown_p2m_q3/cha-admission-delay/6",
}


def test_the_ledger_gets_no_worse() -> None:
    """The quick selection. A row that begins to fail, or passes again, is a change of the model to explain."""
    ledger = validate("host_network", selection="quick")
    assert {row.id for row in ledger.rows if row.verdict == "fail"} == KNOWN_TO_FAIL


APPLICATIONS_KNOWN_TO_FAIL = {
    ("fig01c_redis_utilization", "Utilization", "1"),
    ("alone_icl_llc_misses", "Redis alone", "1"),
    ("alone_icl_llc_misses", "Redis alone", "15"),
    ("alone_icl_llc_misses", "GAPBS alone", "1"),
    ("alone_icl_llc_misses", "GAPBS alone", "13"),
    ("alone_icl_llc_misses", "GAPBS alone", "28"),
    ("alone_cl_llc_misses", "Redis alone", "3"),
    ("alone_cl_llc_misses", "GAPBS alone", "1"),
    ("alone_cl_llc_misses", "GAPBS alone", "6"),
}


@pytest.mark.long
def test_the_ledger_of_applications_gets_no_worse() -> None:
    ledger = validate("applications", selection="quick")
    failing = {(row.panel, row.series, row.x) for row in ledger.rows if row.verdict == "fail"}
    assert failing == APPLICATIONS_KNOWN_TO_FAIL
