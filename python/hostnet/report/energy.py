"""What the report of a server says of energy, and of frequencies and sleep."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hostnet.report.html import Html
    from hostnet.report.load import RunFiles


def energy_sections(run: RunFiles) -> list[Html]:
    """What the meter of the server says, and its cores' frequencies and sleep; nothing where there are neither."""
    summary = run.summary
    if not {"energy", "power"} & set(summary):
        return []
    from hostnet.energy_view import efficiency, energy
    from hostnet.power_view import power
    from hostnet.report.cluster_page import view_section

    views = [energy(summary["energy"]), efficiency(summary["efficiency"])] if "energy" in summary else []
    views += [power(summary)] if "power" in summary else []
    return [view_section(view.without_empty()) for view in views]
