"""The study of packets of traces: its rows agree with its page."""

from __future__ import annotations

import pytest

from hostnet.ledger import validate

FAILING = {"nd.fig514.iNIC/25", "nd.fig514.dNIC.25", "nd.fig514.best/hadoop", "nd.mlc.min", "nd.mlc.maxpressure"}


@pytest.mark.parametrize("figure", ["514"])
def test_the_quick_rows_are_as_the_page_says(figure: str) -> None:
    ledger = validate("netdimm_traces", selection="quick", figures=[figure])
    verdicts = {row.id: row.verdict for row in ledger.rows if row.verdict != "context"}
    assert len(verdicts) >= 5
    # In the short run the least that is saved of iNIC is 11.45 %, 0.35 points beyond its tolerance; in full it holds.
    assert {row for row, verdict in verdicts.items() if verdict == "fail"} <= FAILING | {"nd.fig514.iNIC"}


@pytest.mark.long
def test_rows_of_packets_in_a_clos_are_as_the_page_says() -> None:
    ledger = validate("netdimm_traces", figures=["514"])
    failing = {row.id for row in ledger.rows if row.verdict == "fail"}
    assert failing <= FAILING
