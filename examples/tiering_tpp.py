"""Keeps the pages that are accessed often in the memory of the socket, as TPP (ASPLOS 2023) does.

Pages behind the link with two or more sampled accesses since the last decision are promoted. Pages of the socket that
have not been accessed for long are demoted ahead of that, so that there is always room.

python examples/tiering_tpp.py
"""

from __future__ import annotations

from pathlib import Path

from hostnet import Pages, run

FILE = Path(__file__).parent / "tiering.toml"
USER = "workload.migration.policy=user"


class Tpp:
    """Promotes what is accessed, and demotes what has been idle the longest while little room is left."""

    def __init__(self, promote: int = 2, room: int = 16, batch: int = 8) -> None:
        """Starts without knowing any page."""
        self.promote, self.room, self.batch, self.idle = promote, room, batch, [0]

    def on_pages(self, pages: Pages) -> list[tuple[int, int]]:
        """Returns demotions and promotions in pairs, so that each promotion finds room."""
        samples, nodes = pages.samples, pages.nodes
        if len(self.idle) < len(samples):
            self.idle = [0] * len(samples)
        self.idle = [0 if count else idle + 1 for count, idle in zip(samples, self.idle, strict=True)]
        # As long as moves wait, the kernel's list of candidates is not looked at again.
        if pages.waiting:
            return []
        far = [page for page, node in enumerate(nodes) if node == 1 and samples[page] >= self.promote]
        far.sort(key=lambda page: -samples[page])
        near = [page for page, node in enumerate(nodes) if node == 0 and self.idle[page] > 1]
        near.sort(key=lambda page: -self.idle[page])
        demoted = near[: self.batch if far and pages.local_free < self.room else 0]
        promoted = far[: min(self.batch, pages.local_free + len(demoted))]
        return [(page, 1) for page in demoted] + [(page, 0) for page in promoted]


def main() -> None:
    """Runs the server without migration and with the policy."""
    print("policy   hot GB/s   local pages   to local   behind link")
    for name, results in (("none", run(FILE)), ("Tpp", run(FILE, overrides=[USER], controllers={"server": Tpp()}))):
        row, hot = results.summary["tiering"][0], results.workloads["hot"]["throughput_gb_per_s"]
        moved = f"{row['moved_to_local']:10} {row['moved_behind_link']:13}"
        print(f"{name:8} {hot:8.1f} {row['local_pages_end']:13} {moved}")


if __name__ == "__main__":
    main()
