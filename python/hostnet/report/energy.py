"""Sections on energy, frequencies and sleep states of a server's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hostnet.report.html import Html
    from hostnet.report.load import RunFiles


def energy_sections(run: RunFiles) -> list[Html]:
    """Creates the sections on the energy meter and on frequencies and sleep states, as far as present."""
    summary = run.summary
    if not {"energy", "power"} & set(summary):
        return []
    from hostnet.energy_view import efficiency_view, energy_view
    from hostnet.power_view import power_view
    from hostnet.report.clusters.tables import view_section
    from hostnet.report.power import power_section

    views = [energy_view(summary["energy"]), efficiency_view(summary["efficiency"])] if "energy" in summary else []
    views += [power_view(summary)] if "power" in summary else []
    drawn = power_section(summary, run.power_series)
    return [*([drawn] if drawn is not None else []), *(view_section(view.without_empty()) for view in views)]
