"""Loads servers without their workloads, from presets and configuration files."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.files import parse_toml
from hostnet.running import simulate
from hostnet.running.results import Source
from hostnet.units import LINE_BYTES, parse_time_ps, size_bytes, transfers_per_s

if TYPE_CHECKING:
    from collections.abc import Mapping

    Tree = dict[str, Any]

PROBE = 'workload.hostnet={kind="stream",cores="0",working_set="64 B"}'
"""Assignment of a minimal workload, which completes the configuration of a server so that it can be resolved."""

PCIE_GENERATIONS = range(1, 7)
"""Supported generations of PCIe."""

BUFFER_BYTES = 1 << 30
"""Default buffer of one core, in bytes."""


@dataclass(frozen=True)
class ServerFile:
    """Server that a preset or a file describes."""

    name: str
    """Name of the preset, or of the file without its suffix."""
    label: str
    """Name of the server in messages."""
    tree: Tree
    """Configuration as written, as nested dicts, without workloads and run."""
    base_dir: str
    """Folder that relative paths start from."""
    text: str | None
    """Text of a TOML file; None for a preset and for JSON."""
    effective: Tree
    """All values of the server, as the simulator resolved them."""

    @property
    def is_preset(self) -> bool:
        """True for a preset as shipped, False for a file."""
        return self.tree == {"server": {"preset": self.name}}

    @property
    def cores(self) -> int:
        """Cores per socket."""
        return int(self.effective["core"]["count"])

    @property
    def drives(self) -> int:
        """Number of NVMe drives."""
        return int(self.effective["ssd"]["count"])

    @property
    def unvalidated(self) -> str | None:
        """Reason why results of this server are not validated against measurements; None if they are."""
        reason: str | None = self.effective["server"].get("unvalidated")
        return reason

    @property
    def memory_bytes(self) -> int:
        """Capacity of all channels, in bytes."""
        memory = self.effective["memory"]
        dram = memory["dram"]
        banks = dram["ranks"] * dram["bank_groups"] * dram["banks_per_group"]
        row_bytes = size_bytes(dram["row_size"])
        return int(memory["channels"] * dram["subchannels"] * banks * dram["rows"] * row_bytes)

    @property
    def buffer_bytes(self) -> int:
        """Buffer size per core, in bytes, such that the buffers of all cores fill at most half the memory.

        The size is a power of two of at most 1 GiB.
        """
        size = self.effective["memory"]["size"]
        memory = self.memory_bytes if size == "all" else size_bytes(size)
        share = max(memory // (2 * self.cores), 4096)
        return int(min(1 << share.bit_length() - 1, BUFFER_BYTES))

    @property
    def memory_peak_gb_per_s(self) -> float:
        """Peak bandwidth of the data buses of all channels, in GB/s."""
        memory = self.effective["memory"]
        dram = memory["dram"]
        clocks_per_s = transfers_per_s(dram["data_rate"]) / 2
        lines_per_s = clocks_per_s / (dram["timing"]["burst"] * dram["accesses_per_line"])
        return float(memory["channels"] * dram["subchannels"] * LINE_BYTES * lines_per_s / 10**9)

    @property
    def pcie_peak_gb_per_s(self) -> float:
        """Peak bandwidth of all PCIe lanes in one direction, packet headers included, in GB/s."""
        pcie = self.effective["pcie"]
        return _core.link_bytes_per_s(pcie["generation"], pcie["lanes"]) / 10**9

    @property
    def expander_peak_gb_per_s(self) -> float | None:
        """Raw bandwidth of the link to an expander in one direction, in GB/s; None without one."""
        link = self.effective.get("expander")
        return _core.link_bytes_per_s(link["generation"], link["lanes"]) / 10**9 if link else None

    @property
    def read_latency_ns(self) -> float:
        """Latency of an uncontended read that hits an open row, in ns."""
        timing = self.effective["memory"]["dram"]["timing"]
        clock_ns = 2e9 / transfers_per_s(self.effective["memory"]["dram"]["data_rate"])
        ways = ("core.to_cha", "cha.read_to_mc", "cha.from_mc", "core.from_cha")
        return sum(map(self.time_ns, ways)) + float(timing["cl"] + timing["burst"]) * clock_ns

    def core_peak_gb_per_s(self, cores: int) -> float:
        """Returns the bandwidth in GB/s at which the LFBs of `cores` cores read idle memory."""
        round_ns = self.read_latency_ns + self.time_ns("core.lfb.refill")
        return cores * int(self.effective["core"]["lfb"]["entries"]) * LINE_BYTES / round_ns

    def time_ns(self, path: str) -> float:
        """Returns the time at a dotted path, in ns."""
        text = value_at_path(self.effective, path)
        return 0.0 if text.startswith("0 ") else parse_time_ps(text, path) / 1000

    def configuration(self, workloads: Tree, run: Tree, values: Mapping[str, Any]) -> tuple[_core.Plan, Source]:
        """Resolves the server with some values replaced, running `workloads`.

        Raises:
            ConfigError: A value is out of its range.
        """
        tree = json.loads(json.dumps(self.tree))
        _split_bandwidth(tree)
        for path, value in values.items():
            set_at_path(tree, path, value)
        content = {**tree, "workload": workloads, "run": run}
        source = Source(json.dumps(content), "json", self.label, self.base_dir)
        return simulate.resolve_server(source), source


def load_server(name: str) -> ServerFile:
    """Reads a server from a preset, or from a configuration file, whose workloads are ignored.

    Raises:
        ConfigError: `name` is neither a preset nor a file, or the file has an error.
        OSError: The file cannot be read.
    """
    presets = [preset for preset, _, _ in _core.presets()]
    if name in presets:
        tree = {"server": {"preset": name}}
        source = Source(json.dumps(tree), "json", name, ".", (PROBE,))
        return ServerFile(name, name, tree, ".", None, _effective(source))
    path = Path(name)
    if not path.exists() and path.suffix not in (".toml", ".json"):
        near = difflib.get_close_matches(name, presets, 1)
        hint = f'did you mean "{near[0]}"?' if near else "`hostnet list presets` names all"
        raise _core.ConfigError("unknown-name", f"{name}: neither a file nor a preset; {hint}")
    source = simulate.source_of(path)
    tree = _parse(source)
    effective = _effective(source if tree.pop("workload", None) else _with_probe(source))
    tree.pop("run", None)
    text = source.text if source.format == "toml" else None
    return ServerFile(path.stem, name, tree, source.base_dir, text, effective)


def set_at_path(tree: Tree, path: str, value: Any) -> None:
    """Sets the value at a dotted path of nested dicts."""
    *tables, key = path.split(".")
    for table in tables:
        tree = tree.setdefault(table, {})
    tree[key] = value


def value_at_path(tree: Tree, path: str) -> Any:
    """Returns the value at a dotted path of nested dicts, or None if there is none."""
    value: Any = tree
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _split_bandwidth(tree: Tree) -> None:
    """Replaces `ssd.bandwidth` by the read and write bandwidth that it stands for, so that either can be set."""
    drives = tree.get("ssd", {})
    if "bandwidth" in drives:
        both = drives.pop("bandwidth")
        drives.setdefault("read_bandwidth", both)
        drives.setdefault("write_bandwidth", both)


def _parse(source: Source) -> Tree:
    """Parses a file to nested dicts. The simulator checks it first because its errors name lines and limits."""
    _core.check_syntax(source.text, source.format, source.file)
    if source.format == "json":
        tree: Tree = json.loads(source.text)
        return tree
    return parse_toml(source.text, source.file)


def _with_probe(source: Source) -> Source:
    """Adds a minimal workload to a server without any."""
    if _core.is_cluster(source.text, format=source.format):
        raise _core.ConfigError(
            "wrong-kind", f"{source.file}: host: describes hosts on a network; a server is wanted here"
        )
    return Source(source.text, source.format, source.file, source.base_dir, (PROBE,))


def _effective(source: Source) -> Tree:
    """Resolves a configuration and returns all its values."""
    effective: Tree = json.loads(simulate.resolve_server(source).effective_json())
    return effective
