"""Page of a comparison of places of the NIC: where the time of a packet goes, and what each place costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.attachments.advice import gap_notes
from hostnet.attachments.page_charts import host_charts, stages_section, traffic_charts
from hostnet.attachments.page_tables import tables_section
from hostnet.attachments.place import PLACES
from hostnet.report.html import Html, element, section, warning
from hostnet.report.numbers import number, time_from_ns
from hostnet.report.page import page
from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]


def whatif_page(content: Row, summary: Row) -> str:
    """Returns the page of the content of `whatif.json`; `summary` is that of one of the runs."""
    return page(
        f"{content['name']}, what if \u2013 hostnet",
        header(content, summary),
        *result_sections(content),
        runs_section(places_of(content)),
        element("footer", "hostnet whatif"),
    )


def result_sections(content: Row) -> list[Html | None]:
    """Creates the charts, warnings of losses and of places left out, the tables, and notes."""
    losses = [*content["losses"], *(f"{place} is left out: {why}" for place, why in content["refused"].items())]
    notes = [*gap_notes(content["traffic"], content["hosts"]), *content["unvalidated"]]
    return [
        stages_section(content["stages"]),
        *map(warning, losses),
        traffic_charts(content["traffic"]),
        host_charts(content["hosts"]),
        tables_section(content),
        notes_section(notes),
    ]


def places_of(content: Row) -> list[str]:
    """Returns the places that were compared."""
    return list(dict.fromkeys(row["place"] for row in content["traffic"]))


def header(content: Row, summary: Row) -> Html:
    """Creates the title, the answer for each class, and what was run."""
    window, warm_up = (time_from_ns(summary[key]) for key in ("window_ns", "warm_up_ns"))
    length = f"Each place simulated for {window} after {warm_up} of warm-up, seed {summary['seed']}."
    return element(
        "header",
        element("p", "What if the NIC sat elsewhere", class_="eyebrow"),
        element("h1", content["name"]),
        *(element("p", text, class_="lead") for text in answers(content["traffic"])),
        element("p", length, class_="sub"),
    )


def answers(traffic: Sequence[Row]) -> list[str]:
    """Returns a sentence for each class: its best place against the first one."""
    found = []
    for name in dict.fromkeys(row["class"] for row in traffic):
        own = [row for row in traffic if row["class"] == name]
        text = answer(name, own, "mean_us", "µs a round trip") or answer(name, own, "goodput_gbps", "Gbps")
        if text is not None:
            found.append(text)
    return found


def answer(name: str, rows: Sequence[Row], column: str, unit: str) -> str | None:
    """Compares the best place of a class with the first one; None unless two places have a value."""
    known = [row for row in rows if row[column]]
    if len(known) < 2:
        return None
    first = known[0]
    best = (min if column == "mean_us" else max)(known, key=lambda row: float(row[column]))
    if best is first:
        return f"{name}: {number(first[column])} {unit} {PLACES[first['place']]}, the best place."
    change = format_percent(best[column] / first[column] - 1, 0, "+")
    return (
        f"{name}: {number(best[column])} {unit} {PLACES[best['place']]}, "
        f"{number(first[column])} {PLACES[first['place']]} ({change})."
    )


def notes_section(notes: Sequence[str]) -> Html | None:
    """Creates the list of notes; None without any."""
    if not notes:
        return None
    return section("Notes", element("ul", *(element("li", note) for note in notes), class_="notes"))


def runs_section(places: Sequence[str]) -> Html:
    """Creates the links to the pages of the runs."""
    links = [
        element("li", element("a", f"{place}/report.html", href=f"{place}/report.html"), f": the NIC {PLACES[place]}")
        for place in places
    ]
    return section(
        "Runs", element("ul", *links, class_="notes"), note="The page of each run is in its folder beside this one."
    )
