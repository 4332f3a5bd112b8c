"""What the report of a server says of energy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hostnet.report.html import Html
    from hostnet.report.load import RunFiles


def energy_sections(run: RunFiles) -> list[Html]:
    """What the meter of the server says; nothing without one."""
    summary = run.summary
    if "energy" not in summary:
        return []
    from hostnet.energy_view import efficiency, energy
    from hostnet.report.cluster_page import view_section

    return [
        view_section(view.without_empty()) for view in (energy(summary["energy"]), efficiency(summary["efficiency"]))
    ]
