"""Service level objectives on the latency of services, and their evaluation on a run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.notes import list_names
from hostnet.units import format_time, parse_time_ps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]
    Summary = Mapping[str, Any]

COLUMNS = {
    "mean": "mean_us",
    "p50": "p50_us",
    "p95": "p95_us",
    "p99": "p99_us",
    "p99.9": "p99_9_us",
    "max": "max_us",
}
"""Quantities that an objective may limit, and their columns in the table `services`."""

FORM = re.compile(
    r"\s*(?:(?P<service>.+?)\s*(?::|\s)\s*)?(?P<quantity>[a-z]+[0-9.]*)\s*(?P<sign><=?)\s*(?P<time>[^<=]+?)\s*"
)

RULE = f'write {", ".join(list(COLUMNS)[:-1])} or max, then < and a time, such as "p99 < 1 ms" or "load: p99 < 1 ms"'
"""Syntax of an objective, for error messages."""


@dataclass(frozen=True)
class Slo:
    """A service level objective of one service, or of all; `quantity` is a key of `COLUMNS`.

    With `inclusive`, the limit itself is allowed.
    """

    text: str
    service: str | None
    quantity: str
    limit_us: float
    inclusive: bool = False


@dataclass(frozen=True)
class Promise:
    """An objective for a service at a host, and the measured value; None if no request was answered."""

    slo: Slo
    service: str
    host: str
    value_us: float | None

    @property
    def met(self) -> bool:
        """True if the objective is met."""
        if self.value_us is None:
            return False
        return self.value_us < self.slo.limit_us or (self.slo.inclusive and self.value_us == self.slo.limit_us)

    @property
    def margin_us(self) -> float | None:
        """Limit minus value, in us; negative if the objective is missed."""
        return None if self.value_us is None else self.slo.limit_us - self.value_us

    def value_in(self, summary: Summary) -> float | None:
        """Returns the value of this objective in another run."""
        return next((value_of(row, self.slo) for row in services(summary) if name_of(row) == self.name), None)

    @property
    def name(self) -> tuple[str, str]:
        """The service and the host."""
        return self.service, self.host


def parse_slo(text: str) -> Slo:
    """Parses an objective such as "p99 < 1 ms", or "load: p99 < 1 ms" for the service `load`.

    Raises:
        ConfigError: The text is not an objective.
    """
    found = FORM.fullmatch(text)
    if found is None:
        raise ConfigError("malformed-value", f'--slo "{text}": {RULE}')
    quantity = found["quantity"]
    if quantity not in COLUMNS:
        near = get_close_matches(quantity, COLUMNS, 1)
        hint = f'did you mean "{near[0]}"? ' if near else ""
        raise ConfigError("unknown-name", f'--slo "{text}": there is no "{quantity}"; {hint}{RULE}')
    limit_us = parse_time_ps(found["time"], f'--slo "{text}"') / 1e6
    return Slo(text, found["service"], quantity, limit_us, inclusive=found["sign"] == "<=")


def services(summary: Summary) -> Sequence[Row]:
    """Returns the rows of the table `services`."""
    rows: Sequence[Row] = summary.get("services") or ()
    return rows


def name_of(row: Row) -> tuple[str, str]:
    """Returns the service and the host of a row."""
    return str(row["class"]), str(row["host"])


def value_of(row: Row, slo: Slo) -> float | None:
    """Returns the value of a row that an objective limits."""
    value = row.get(COLUMNS[slo.quantity])
    return None if value is None else float(value)


def promises(slos: Sequence[Slo], summary: Summary, servers: Sequence[str], host: str | None = None) -> list[Promise]:
    """Returns each objective for each service at a server that it applies to.

    Raises:
        ConfigError: No service is at a server, or at this one, or none has the name in an objective.
    """
    rows = [row for row in services(summary) if row["host"] in servers and host in (None, row["host"])]
    if not rows:
        where = f'the server "{host}"' if host is not None else "a server"
        raise ConfigError(
            "does-not-exist", f'--slo: the run has no service at {where}; one is a flow of kind = "service" to it'
        )
    known = list(dict.fromkeys(str(row["class"]) for row in rows))
    for slo in slos:
        if slo.service is not None and slo.service not in known:
            near = get_close_matches(slo.service, known, 1)
            hint = f'did you mean "{near[0]}"?' if near else f"the services are {list_names(known)}"
            raise ConfigError("does-not-exist", f'--slo "{slo.text}": there is no service "{slo.service}"; {hint}')
    return [
        Promise(slo, *name_of(row), value_of(row, slo))
        for slo in slos
        for row in rows
        if slo.service in (None, row["class"])
    ]


def microseconds(value_us: float) -> str:
    """Formats a time with a suitable unit."""
    return format_time(round(value_us * 1e6))
