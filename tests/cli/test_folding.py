"""Long tables fold: rows that are alike share one, and what is folded is counted."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hostnet.cli.show_cluster import FOLD_MIN, ROWS_MAX, fold_equal_rows, view_table
from hostnet.server_view import channel_table
from hostnet.view import View, text_column, value_column

ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from("12")).map(list), max_size=30)


@given(ROWS)
def test_folded_rows_stand_for_every_row_in_order(rows: list[list[str]]) -> None:
    folded = list(fold_equal_rows(rows, (0, 1)))
    assert sum(count for count, _ in folded) == len(rows)
    start = 0
    for count, row in folded:
        group = rows[start : start + count]
        assert [cell.partition(" and ")[0] for cell in row] == group[0]
        assert count == 1 or count >= FOLD_MIN
        assert len({one[2] for one in group}) == 1, "numbers are equal"
        assert sum(len({one[column] for one in group}) > 1 for column in (0, 1)) <= 1
        start += count


def test_rows_that_differ_in_a_number_stay() -> None:
    rows = [["a", str(number)] for number in range(5)]
    assert list(fold_equal_rows(rows, (0,))) == [(1, row) for row in rows]


def test_hidden_rows_are_counted_without_the_folded_ones() -> None:
    rows: list[dict[str, Any]] = [{"name": f"p-{number}", "value": 7} for number in range(50)]
    rows += [{"name": f"q-{number}", "value": number} for number in range(ROWS_MAX + 4)]
    view = View("Ports", "", [text_column("port", "name"), value_column("value", "value")], rows, "queues")
    table = view_table(view)
    assert next(iter(table.columns[0].cells)) == "p-0 and 49 more"
    assert str(table.caption).startswith("5 more rows")


def channel(number: int, read: float, write: float = 5.0, socket: int = 0) -> dict[str, Any]:
    rates = {"read_gb_per_s": read, "write_gb_per_s": write, "rpq_mean": read, "row_miss_ratio": None}
    return {"name": str(number), "channel": number, "socket": socket, "sources": f"a {read}", **rates}


def test_the_table_of_many_channels_has_every_row_beside_the_folded_ones() -> None:
    rows = [channel(number, 0.0, 0.0) if number > 20 else channel(number, 9.0) for number in range(24)]
    table = channel_table({"channels": [*rows, channel(-1, 9.0)]})
    assert len(table.rows) == 25
    assert [row["name"] for row in table.screen_rows or ()] == ["0-20, mean", "21-23", "all"]
