"""The published formula: from counters to the latency that queueing at the memory controller adds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from hostnet import _core
from hostnet._core import ConfigError

if TYPE_CHECKING:
    from os import PathLike

    from hostnet.system import Config

Counters = Mapping[str, Any]
"""What counters tell about a window, with the names of `summary["counters"]`. What is missing or None was not read."""


@dataclass(frozen=True)
class FormulaConstants:
    """The constants of the formula, all in ns."""

    t_trans_ns: float
    """One line on the bus of a channel."""
    t_wtr_ns: float
    """Change from writing to reading."""
    t_rtw_ns: float
    """Change from reading to writing."""
    t_act_ns: float
    """Activation of a row (tRCD)."""
    t_pre_ns: float
    """Precharge of a row (tRP)."""
    const_read_ns: float = 0.0
    """Latency of the read domain without load."""
    const_write_ns: float = 0.0
    """Latency of the write domain without load."""

    @classmethod
    def of(cls, config: Config | str | PathLike[str]) -> FormulaConstants:
        """The constants of a server: its DRAM timing, and the unloaded latencies of a load and of a device's write.

        Raises:
            ConfigError: The configuration is wrong.
            OSError: The file cannot be read.
        """
        from hostnet.running.simulate import resolve_server, source_of

        return cls(**json.loads(_core.formula_constants(resolve_server(source_of(config)))))


@dataclass(frozen=True)
class Inflation:
    """What queueing at the memory controller adds to the latency of a line, in ns, by cause."""

    switching_ns: float
    """The bus changes direction."""
    write_hol_ns: float
    """Writes go first."""
    read_hol_ns: float
    """Reads go first."""
    top_of_queue_ns: float
    """Rows are opened and closed."""

    @property
    def total_ns(self) -> float:
        """All of it. The latency of the domain is this and its constant."""
        return self.switching_ns + self.write_hol_ns + self.read_hol_ns + self.top_of_queue_ns


def formula(
    counters: Counters | Any,
    constants: FormulaConstants,
    *,
    domain: Literal["read", "write"] = "read",
    form: Literal["published", "adj", "adj-cha"] = "adj",
) -> Inflation:
    """What queueing adds to a read, or to a write that waits for the WPQ.

    Args:
        counters: What counters tell about a window: a dict or a dataclass with the names of `summary["counters"]`.
        constants: The constants; `FormulaConstants.of` has those of a server.
        domain: "read" for C2M-Read and P2M-Read, "write" for P2M-Write.
        form: "published" as printed; "adj" as the authors' scripts have it, where no part is negative; "adj-cha" in
            addition counts reads in the CHA while the RPQ is full.

    Raises:
        ConfigError: A counter is missing, unknown or no number; the message names it and what needs it.
    """
    found = _core.formula(counters_json(counters), json.dumps(asdict(constants)), domain=domain, form=form)
    return Inflation(**json.loads(found))


def cha_admission(
    counters: Counters | Any, *, way_ns: float, domain: Literal["core", "io-write", "io-read"] = "core"
) -> float:
    """What lines wait for admission to the CHA, in ns: time in the LFB or IIO, less time in the CHA, less `way_ns`.

    Raises:
        ConfigError: A counter is missing, unknown or no number.
    """
    return _core.cha_admission(counters_json(counters, ("window_ns",)), domain=domain, way_ns=way_ns)


def counters_json(counters: Counters | Any, needed: tuple[str, ...] = ()) -> str:
    """Counters as the native part reads them.

    Raises:
        ConfigError: One of them is unknown or no number, or one that is needed is not there.
    """
    from hostnet.counters.quantities import FLOWS, SCALARS

    given = asdict(counters) if is_dataclass(counters) and not isinstance(counters, type) else counters
    if not isinstance(given, Mapping):
        raise ConfigError("wrong-type", f"counters: {type(counters).__name__} is neither a dict nor a dataclass")
    scalars = ("window_ns", "channels", "lfb_full_cores", *SCALARS)
    _refuse_unknown(given, (*scalars, *FLOWS), "counters")
    missing = [name for name in needed if not given.get(name)]
    if missing:
        raise ConfigError("missing-key", f"counters: {missing[0]} is needed")
    whole: dict[str, Any] = {name: _number(given.get(name), name) for name in scalars}
    whole["window_ns"] = whole["window_ns"] or 0.0
    whole["channels"] = whole["channels"] or 0.0
    for name in FLOWS:
        flow = given.get(name) or {}
        if not isinstance(flow, Mapping):
            raise ConfigError("wrong-type", f"counters: {name} must have occupancy and lines")
        _refuse_unknown(flow, ("occupancy", "lines"), f"counters: {name}")
        whole[name] = {part: _number(flow.get(part), f"{name}.{part}") for part in ("occupancy", "lines")}
    return json.dumps(whole)


def _refuse_unknown(given: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for name in given:
        if name not in known:
            close = get_close_matches(str(name), known, 1)
            hint = f'; did you mean "{close[0]}"?' if close else ""
            raise ConfigError("unknown-key", f'{where}: there is no counter "{name}"{hint}')


def _number(value: object, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ConfigError("out-of-range", f"counters: {name} is {value!r}; it must be a number from 0 on")
    return float(value)
