"""The study of a NIC at PCIe and on the die: its rows agree with its page."""

from __future__ import annotations

from hostnet.ledger import validate


def test_the_quick_rows_are_as_the_page_says() -> None:
    ledger = validate("netdimm", selection="quick")
    verdicts = {row.id: row.verdict for row in ledger.rows if row.verdict != "context"}
    failing = {row for row, verdict in verdicts.items() if verdict == "fail"}
    assert len(verdicts) >= 12
    baselines = {"nd.zcpy_iNIC.2000", "nd.pcie_share.10"}
    shorter = {f"nd.fig513.{size}.{unit}" for size in (256, 1024) for unit in ("pct", "us")}
    of_dimm = {"nd.abs.vs_dNIC", "nd.abs.vs_iNIC", "nd.concl", "nd.flush_ovh", "nd.flush_ovh/most"}
    assert failing <= baselines | shorter | of_dimm
