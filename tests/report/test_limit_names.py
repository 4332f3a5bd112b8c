"""Limits that are unknown or uncertain are named accordingly."""

from __future__ import annotations

import pytest

from hostnet.cluster_view import reason_text
from hostnet.limit_names import DOUBTFUL, DOUBTFUL_NOTE, NOT_KNOWN, limit_notes


def test_a_question_mark_is_explained_where_there_is_one() -> None:
    assert limit_notes(["LFB", None, "DRAM channel" + DOUBTFUL]) == [DOUBTFUL_NOTE]
    assert limit_notes(["LFB", None, NOT_KNOWN]) == []


@pytest.mark.parametrize(("limit", "named"), [("LFB", True), ("LFB / WPQ" + DOUBTFUL, True), (NOT_KNOWN, False)])
def test_nothing_is_limited_by_what_is_not_known(limit: str, named: bool) -> None:
    assert ("limited by" in reason_text("w", limit, "why")) == named
