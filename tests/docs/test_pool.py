"""The page of pools: its example runs, and its table matches the columns of the results."""

from __future__ import annotations

import re
from pathlib import Path

import hostnet
from hostnet import cluster_view

PAGE = Path(__file__).parents[2] / "docs" / "models" / "pool.md"


def test_the_example_of_shared_pages_grants_some(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "shared.toml").write_text(text, encoding="utf-8")
    for sharers, decides in ((4096, "tor"), (0, "controller")):
        keys = ["run.duration=100 us", f"network.switch.sharers={sharers}"]
        rows = {row["place"]: row for row in hostnet.run(tmp_path / "shared.toml", overrides=keys).summary["pool"]}
        assert rows["writer"]["write_grants"] > 0
        assert rows["reader-0"]["pages_taken"] > 0
        here = {place: row["grants_here"] for place, row in rows.items() if row["grants_here"]}
        assert list(here) == [decides]


def test_a_cluster_without_flows_has_no_table_of_names_alone(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "shared.toml").write_text(text, encoding="utf-8")
    results = hostnet.run(tmp_path / "shared.toml", overrides=["run.duration=20 us"])
    views = cluster_view.cluster_views(results.summary)
    assert [view.title for view in views] == ["Memory bandwidth", "Ports", "Memory pool"]
