"""What the results of everything that runs without a server have in common: a summary."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Protocol


class Native(Protocol):
    """The simulator's own results."""

    @property
    def summary_json(self) -> str:
        """The summary as JSON."""

    @property
    def complete(self) -> bool:
        """Whether the run came to its end."""

    @property
    def result_hash(self) -> str:
        """Hash over everything that was measured."""


class Summarised:
    """Results that are a summary."""

    native: Native

    @property
    def complete(self) -> bool:
        """Whether the run came to its end; False if it was stopped."""
        return self.native.complete

    @property
    def result_hash(self) -> str:
        """Hash over everything that was measured."""
        return self.native.result_hash

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Everything that was measured, and the configuration; docs has a page that explains every key."""
        summary: dict[str, Any] = json.loads(self.native.summary_json)
        return summary
