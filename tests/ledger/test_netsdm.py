"""The study of pooled memory over a rack's switch: its rows agree with its page."""

from __future__ import annotations

from hostnet.ledger import validate


def test_the_quick_rows_are_as_the_page_says() -> None:
    ledger = validate("netsdm", selection="quick")
    verdicts = {row.id: row.verdict for row in ledger.rows if row.verdict != "context"}
    failing = {row for row, verdict in verdicts.items() if verdict == "fail"}
    assert len(verdicts) >= 8
    assert failing <= {"sdm.prefetch_safe.8", "sdm.prefetch_safe.random"}
