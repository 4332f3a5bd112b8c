"""The study of a NIC at PCIe and on the die: its rows agree with its page."""

from __future__ import annotations

from hostnet.ledger import validate


def test_the_quick_rows_are_as_the_page_says() -> None:
    ledger = validate("netdimm", selection="quick")
    verdicts = {row.id: row.verdict for row in ledger.rows if row.verdict != "context"}
    failing = {row for row, verdict in verdicts.items() if verdict == "fail"}
    assert len(verdicts) >= 12
    baselines = {"nd.fig511.256.dNIC", "nd.iNIC_vs_dNIC", "nd.zcpy_iNIC.10", "nd.zcpy_iNIC.2000", "nd.pcie_share.2000"}
    slower = {f"nd.fig513.{size}.{unit}" for size in (64, 256, 1024) for unit in ("abs", "pct", "us")}
    of_dimm = {"nd.bandwidth", "nd.abs.vs_dNIC", "nd.abs.vs_iNIC", "nd.concl", "nd.ncache_hit", "nd.flush_ovh"}
    assert failing <= baselines | slower | of_dimm
