"""Throttles the cores whose lines behind a CXL link hold the entries that local memory needs.

A controller of one's own reads the registers of the CHA, and delays the requests of the workload "far" (MBA) until
lines behind the link hold no more than a fifth of the entries. The table compares both workloads without and with it.

python examples/cxl_throttle.py
"""

from __future__ import annotations

from pathlib import Path

from hostnet import Actions, Signals, run

FOLDER = Path(__file__).parent
ENTRIES = 640
"""TOR entries of the server: 20 of each of 32 slices."""


class Share:
    """Raises the level while lines behind the link hold more than a share of the entries, and lowers it below half."""

    def __init__(self, share: float) -> None:
        """Starts without throttling."""
        self.most, self.changed_ns = share * ENTRIES, 0.0

    def on_sample(self, signals: Signals) -> Actions | None:
        """Returns the next level, if it changes."""
        held, level = signals.occupancy, signals.level
        # A change takes 22 us to be written; the entries follow it within microseconds.
        if signals.sampled != "occupancy" or signals.time_ns < self.changed_ns + 30_000:
            return None
        level += (held > self.most) - (held < self.most / 2)
        if not 0 <= level <= 3 or level == signals.level:
            return None
        self.changed_ns = signals.time_ns
        return Actions(level=level)


def main() -> None:
    """Runs the server without and with the controller."""
    control = ["control.rule=user", "control.side=expander", 'control.workloads=["far"]', "control.mba=3 us"]
    times = ["run.warmup=200 us", "run.duration=100 us"]
    unfair = FOLDER / "cxl-unfair.toml"
    without = run(unfair, overrides=times)
    throttled = run(unfair, overrides=[*times, *control], controllers={"server": Share(0.2)})
    print("workload   without   throttled, GB/s")
    for name in ("near", "far"):
        before, after = (results.workloads[name]["throughput_gb_per_s"] for results in (without, throttled))
        print(f"{name:8} {before:9.1f} {after:11.1f}")


if __name__ == "__main__":
    main()
