"""The runs of the golden table that the default tests check."""

from __future__ import annotations

import pytest

from tests.golden.__main__ import difference, table
from tests.golden.measure import QUICK, measure, runs

GOLDEN = table()


@pytest.mark.parametrize("name", QUICK)
def test_a_run_measures_what_it_did(name: str) -> None:
    measured = measure(name)
    assert measured == GOLDEN[name], "\n".join(difference(GOLDEN[name], measured))


def test_every_run_is_in_the_table() -> None:
    assert list(GOLDEN) == list(runs())


def test_a_digit_that_differs_is_told() -> None:
    assert difference(["[a] 1", "  b 2"], ["[a] 1", "  b 3"]) == ["-   b 2", "+   b 3"]
