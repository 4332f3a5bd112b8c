"""Common base of the results of simulations without a server: a summary."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Protocol


class NativeSummary(Protocol):
    """Results that the Rust core returns."""

    @property
    def summary_json(self) -> str:
        """The summary as JSON."""

    @property
    def complete(self) -> bool:
        """True if the run reached its end."""

    @property
    def result_hash(self) -> str:
        """Hash of all measured values."""


class SummaryResults:
    """Results that consist of a summary."""

    native: NativeSummary

    @property
    def complete(self) -> bool:
        """True if the run reached its end; False if it was stopped."""
        return self.native.complete

    @property
    def result_hash(self) -> str:
        """Hash of all measured values."""
        return self.native.result_hash

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All measured values and the configuration; a page in docs explains every key."""
        summary: dict[str, Any] = json.loads(self.native.summary_json)
        return summary
