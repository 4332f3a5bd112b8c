"""What is promised about the latency of services, and what a run says to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.notes import some
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
"""What may be promised, and its column in table services."""

FORM = re.compile(
    r"\s*(?:(?P<service>.+?)\s*(?::|\s)\s*)?(?P<quantity>[a-z]+[0-9.]*)\s*(?P<sign><=?)\s*(?P<time>[^<=]+?)\s*"
)

RULE = f'write {", ".join(list(COLUMNS)[:-1])} or max, then < and a time, such as "p99 < 1 ms" or "load: p99 < 1 ms"'
"""What a promise looks like, for messages."""


@dataclass(frozen=True)
class Slo:
    """A promise (service level objective): of one service, or of all; `quantity` is a key of `COLUMNS`.

    With `inclusive` the limit itself is allowed.
    """

    text: str
    service: str | None
    quantity: str
    limit_us: float
    inclusive: bool = False


@dataclass(frozen=True)
class Promise:
    """A promise about a service at a host, and what a run has there; no value when no request was answered."""

    slo: Slo
    service: str
    host: str
    value_us: float | None

    @property
    def met(self) -> bool:
        """Whether it is kept."""
        if self.value_us is None:
            return False
        return self.value_us < self.slo.limit_us or (self.slo.inclusive and self.value_us == self.slo.limit_us)

    @property
    def margin_us(self) -> float | None:
        """How much less than promised; negative of what is more."""
        return None if self.value_us is None else self.slo.limit_us - self.value_us

    def value_in(self, summary: Summary) -> float | None:
        """What another run has in this place."""
        return next((value_of(row, self.slo) for row in services(summary) if name_of(row) == self.name), None)

    @property
    def name(self) -> tuple[str, str]:
        """The service and the host."""
        return self.service, self.host


def parse_slo(text: str) -> Slo:
    """Reads a promise such as "p99 < 1 ms", or "load: p99 < 1 ms" of the service `load`.

    Raises:
        ConfigError: It is none.
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
    """The rows of table services."""
    rows: Sequence[Row] = summary.get("services") or ()
    return rows


def name_of(row: Row) -> tuple[str, str]:
    """The service and the host of a row."""
    return str(row["class"]), str(row["host"])


def value_of(row: Row, slo: Slo) -> float | None:
    """What a row has of what is promised."""
    value = row.get(COLUMNS[slo.quantity])
    return None if value is None else float(value)


def promises(slos: Sequence[Slo], summary: Summary, servers: Sequence[str], host: str | None = None) -> list[Promise]:
    """Each promise about each service at a server that it is about.

    Raises:
        ConfigError: No service is at a server, or at this one, or none has the name that a promise gives.
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
            hint = f'did you mean "{near[0]}"?' if near else f"the services are {some(known)}"
            raise ConfigError("does-not-exist", f'--slo "{slo.text}": there is no service "{slo.service}"; {hint}')
    return [
        Promise(slo, *name_of(row), value_of(row, slo))
        for slo in slos
        for row in rows
        if slo.service in (None, row["class"])
    ]


def microseconds(value_us: float) -> str:
    """A time in the unit that suits it."""
    return format_time(round(value_us * 1e6))
