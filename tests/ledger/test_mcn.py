"""The study of iperf and ping between a host and DIMMs with processors: its rows agree with its page."""

from __future__ import annotations

from hostnet.ledger import validate


def test_orders_pings_and_what_was_fitted_are_as_the_page_says() -> None:
    ledger = validate("mcn", selection="quick", figures=["49", "table43"])
    verdicts = {row.id: row.verdict for row in ledger.rows if row.verdict != "context"}
    failing = {row for row, verdict in verdicts.items() if verdict == "fail"}
    assert len(verdicts) >= 20
    most = {"mcn.ping.hostmcn.mcn0/most", "mcn.ping.mcnmcn.mcn5/most"}
    assert all(row.startswith("mcn.t43.") for row in failing - most)
    assert not failing & {f"mcn.t43.1.5KB.10GbE.{part}" for part in ("driver_tx", "mid", "driver_rx")}
