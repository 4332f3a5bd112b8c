"""Servers whose runs need something of the user's, which simulations of an explanation do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def needed_guest(config: Mapping[str, Any]) -> str | None:
    """Names what must be given to each run of a server: a controller, a governor, or a tiering policy."""
    if (config.get("control") or {}).get("rule") == "user":
        return "its controller"
    if (config.get("power") or {}).get("governor") == "user":
        return "its governor"
    tiering = [one for one in config.get("workload", {}).values() if one["kind"] == "tiering"]
    return "its tiering policy" if any(one.get("policy", "user") == "user" for one in tiering) else None
