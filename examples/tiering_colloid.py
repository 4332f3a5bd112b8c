"""Balances the latencies of local memory and of memory behind a CXL link, as Colloid (SOSP 2024) does.

A page belongs to local memory only while that is the faster one. Under the load of a neighbour it is not: then pages
that are accessed often are moved behind the link, until both take equally long.

python examples/tiering_colloid.py
"""

from __future__ import annotations

from tiering_tpp import FILE, USER, Tpp

from hostnet import Pages, run


class Colloid:
    """Moves a share of the accesses from the slower node to the faster one."""

    def __init__(self, tolerance: float = 0.05, batch: int = 8) -> None:
        """Starts without any measurement; latencies that differ by less than the tolerance are equal."""
        self.tolerance, self.batch, self.heat, self.latency_ns = tolerance, batch, [0.0], [0.0, 0.0]

    def on_pages(self, pages: Pages) -> list[tuple[int, int]]:
        """Returns moves of the pages that carry the share of accesses to shift."""
        nodes, heat = pages.nodes, self.heat if len(self.heat) > 1 else [0.0] * len(pages.nodes)
        # Moving averages, since a period has few samples of a page, or of a node that is hardly used.
        self.heat = [old * 0.875 + count for old, count in zip(heat, pages.samples, strict=True)]
        for node, latency in enumerate(pages.latency_ns):
            if latency is not None:
                self.latency_ns[node] += (latency - self.latency_ns[node]) * (0.25 if self.latency_ns[node] else 1)
        local, link = self.latency_ns
        if pages.waiting or not local or not link or abs(local / link - 1) < self.tolerance:
            return []
        slow = 0 if local > link else 1
        by_heat = sorted(range(len(nodes)), key=lambda page: -self.heat[page])
        hottest = [page for page in by_heat if nodes[page] == slow]
        # A slower node that hardly carries accesses has nothing to give.
        if sum(self.heat[page] for page in hottest) < self.tolerance * sum(self.heat):
            return []
        moved, wanted = [], abs(local - link) / (local + link) / 4 * sum(self.heat)
        for page in hottest[: self.batch]:
            if wanted > 0:
                wanted -= self.heat[page]
                moved.append(page)
        # Promotions need room, which the pages that are accessed least make.
        coldest = [page for page in reversed(by_heat) if nodes[page] == 0]
        demoted = coldest[: max(0, len(moved) - pages.local_free)] if slow == 1 else []
        return [(page, 1) for page in demoted] + [(page, 1 - slow) for page in moved]


def main() -> None:
    """Runs the server with each policy, without and with load on the local channels."""
    print("neighbour   policy    hot GB/s   local pages   local ns   link ns")
    for neighbour, gap in (("idle", "1 us"), ("busy", "0 ns")):
        load = f"workload.neighbour.gap={gap}"
        runs = {"none": run(FILE, overrides=[load])}
        for policy in (Tpp(), Colloid()):
            runs[type(policy).__name__] = run(FILE, overrides=[load, USER], controllers={"server": policy})
        for name, results in runs.items():
            row, hot = results.summary["tiering"][0], results.workloads["hot"]["throughput_gb_per_s"]
            latencies = f"{row['local_latency_ns']:11.0f} {row['link_latency_ns']:9.0f}"
            print(f"{neighbour:11} {name:9} {hot:8.1f} {row['local_pages_end']:13}{latencies}")


if __name__ == "__main__":
    main()
