"""Studies of the network on a chip alone: results of another simulator for the same traffic."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hostnet.ledger.peers import Result

ROUTINGS = {"dor": "xy", "xy_yx": "o1turn"}
"""Names of routings in the file of the other simulator, and the names here."""

PACKETS_MIN = 10_000
"""A rate that was measured from fewer packets has a standard error above 1 %."""


@dataclass(frozen=True)
class NocPoint:
    """A simulated point: a network with one traffic, or with a trace."""

    family: str
    network: Mapping[str, Any]
    result: Result

    @property
    def name(self) -> str:
        """Unique name, such as `xy-1:uniform-0.05`."""
        return f"{self.family}:{self.x}"

    @property
    def x(self) -> str:
        """Pattern and offered load, or the name of the trace."""
        return self.result["name"]

    def config(self, preset: str, run: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the configuration of the network; `preset` is the topology."""
        result = self.result
        if "trace" in result:
            return {
                "noc": {"topology": preset, **self.network},
                "trace": {"path": f"../studies/noc/traces/{result['trace']}.txt"},
            }
        # Packets on a ring have one path, and the file no routing.
        routing = {"routing": ROUTINGS[result["routing"]]} if "routing" in result else {}
        return {
            "noc": {"topology": preset, **routing, **self.network},
            "traffic": {
                "pattern": result["traffic"],
                "rate": float(result["offered_flits_node_cycle"]),
                "packet_flits": int(result["packet_flits"]),
                "seed": run["seed"],
            },
            "run": {"warmup": run["warmup"], "measure": int(run["duration"].split()[0])},
        }


@dataclass(frozen=True)
class NocFamily:
    """A network with all traffic for which the file of the other simulator has results of `variant`."""

    name: str
    title: str
    file: Path
    variant: str
    network: Mapping[str, Any]

    def points(self) -> list[NocPoint]:
        """Returns the operating points in the order of the file."""
        own = [result for result in read_noc(self.file) if result["variant"] == self.variant]
        return [NocPoint(self.name, self.network, result) for result in own]


@cache
def read_noc(file: Path) -> tuple[Result, ...]:
    """Reads the simulated points of a file, or traces with the values of a closed form."""
    with file.open(newline="", encoding="utf-8") as lines:
        return tuple({**row, **description_of(row)} for row in csv.DictReader(lines))


def description_of(row: Result) -> Result:
    """Adds the name of a point, its variant, and whether its rate is based on enough packets."""
    if "trace" in row:
        return {"name": row["trace"], "variant": "alone"}
    name = f"{row['traffic']}-{row['offered_flits_node_cycle']}"
    if "nodes" in row:
        return {"name": name, "variant": f"ring-{row['nodes']}"}
    packets = int(row["flits_measured"]) / int(row["packet_flits"])
    return {
        "name": name,
        "variant": f"{ROUTINGS[row['routing']]}-{row['packet_flits']}",
        "packets": "many" if packets >= PACKETS_MIN else "few",
    }
