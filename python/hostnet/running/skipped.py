"""Tells what fast-forward (`run.forward`) skipped of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet import _core

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def skipped_share(summary: Mapping[str, Any]) -> float | None:
    """Returns the skipped share of a run, 0 to 1, or None if its configuration asks for no fast-forward."""
    return float(summary["forward"]["skipped_share"]) if "forward" in summary else None


def note_on(shares: Sequence[float]) -> str:
    """Returns the note on the skipped shares of several runs."""
    mean = _core.format_percent(sum(shares) / len(shares), 1)
    shortened = sum(share > 0 for share in shares)
    return f"run.forward: {mean} of the time was skipped, in {shortened} of {len(shares)} runs; a single run says why"
