"""Published formula for the latency that queueing at the memory controller adds, evaluated on counters."""

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
"""Counters of a window, with the names of `summary["counters"]`. A missing counter, or None, was not read."""


@dataclass(frozen=True)
class FormulaConstants:
    """Constants of the formula, all in ns."""

    t_trans_ns: float
    """Transfer time of one line on the bus of a channel."""
    t_wtr_ns: float
    """Turnaround from writing to reading."""
    t_rtw_ns: float
    """Turnaround from reading to writing."""
    t_act_ns: float
    """Activation of a row (tRCD)."""
    t_pre_ns: float
    """Precharge of a row (tRP)."""
    const_read_ns: float = 0.0
    """Unloaded latency of the read domain."""
    const_write_ns: float = 0.0
    """Unloaded latency of the write domain."""

    @classmethod
    def of(cls, config: Config | str | PathLike[str]) -> FormulaConstants:
        """Returns the constants of a server: its DRAM timing, and unloaded latencies of loads and device writes.

        Raises:
            ConfigError: The configuration is invalid.
            OSError: The file cannot be read.
        """
        from hostnet.running.simulate import resolve_server, source_of

        return cls(**json.loads(_core.formula_constants(resolve_server(source_of(config)))))


@dataclass(frozen=True)
class Inflation:
    """Latency that queueing at the memory controller adds to a line, in ns, by cause."""

    switching_ns: float
    """Turnarounds of the bus."""
    write_hol_ns: float
    """Head-of-line blocking by writes."""
    read_hol_ns: float
    """Head-of-line blocking by reads."""
    top_of_queue_ns: float
    """Activations and precharges of rows."""

    @property
    def total_ns(self) -> float:
        """Sum of all causes, in ns. The latency of the domain is this sum plus its constant."""
        return self.switching_ns + self.write_hol_ns + self.read_hol_ns + self.top_of_queue_ns


def formula(
    counters: Counters | Any,
    constants: FormulaConstants,
    *,
    domain: Literal["read", "write"] = "read",
    form: Literal["published", "adj", "adj-cha"] = "adj",
) -> Inflation:
    """Computes the latency that queueing adds to a read, or to a write that waits for the WPQ.

    Args:
        counters: Counters of a window: a dict or a dataclass with the names of `summary["counters"]`.
        constants: The constants; `FormulaConstants.of` returns those of a server.
        domain: "read" for C2M-Read and P2M-Read, "write" for P2M-Write.
        form: "published" as printed; "adj" as in the authors' scripts, where no part is negative; "adj-cha" also counts
            reads in the CHA while the RPQ is full.

    Returns:
        The added latency in ns, by cause.

    Raises:
        ConfigError: A counter is missing, unknown or not a number; the message names it and the part that needs it.
    """
    found = _core.formula(counters_json(counters), json.dumps(asdict(constants)), domain=domain, form=form)
    return Inflation(**json.loads(found))


def cha_admission(
    counters: Counters | Any, *, way_ns: float, domain: Literal["core", "io-write", "io-read"] = "core"
) -> float:
    """Computes the time that lines wait for admission to the CHA, in ns.

    It is the time in the LFB or IIO, less the time in the CHA, less `way_ns`.

    Args:
        counters: Counters of a window, as for `formula`.
        way_ns: Round-trip time between the LFB or IIO and the CHA, in ns.
        domain: "core" for lines of cores, "io-write" and "io-read" for lines of devices.

    Returns:
        The mean waiting time, in ns.

    Raises:
        ConfigError: A counter is missing, unknown or not a number.
    """
    return _core.cha_admission(counters_json(counters, ("window_ns",)), domain=domain, way_ns=way_ns)


def counters_json(counters: Counters | Any, needed: tuple[str, ...] = ()) -> str:
    """Converts counters to the JSON that the Rust core reads.

    Raises:
        ConfigError: A counter is unknown or not a number, or one of those in `needed` is missing.
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
    """Raises ConfigError if a counter is unknown."""
    for name in given:
        if name not in known:
            close = get_close_matches(str(name), known, 1)
            hint = f'; did you mean "{close[0]}"?' if close else ""
            raise ConfigError("unknown-key", f'{where}: there is no counter "{name}"{hint}')


def _number(value: object, name: str) -> float | None:
    """Checks that a counter is a non-negative number."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ConfigError("out-of-range", f"counters: {name} is {value!r}; it must be a number from 0 on")
    return float(value)
