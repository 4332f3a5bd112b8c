"""Single parts in the picture of the host: cores, drives, queues of channels, banks. Many are grouped."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from hostnet.report.host import CreditPool, HostView, part_number, share_of
from hostnet.report.html import Html, element
from hostnet.report.load import Row
from hostnet.report.numbers import number, percent
from hostnet.report.svg import text

COLUMNS = 8
CELLS_MAX = 64
"""Maximum number of cells of cores; more cores are grouped with their neighbours."""

TALLEST = 90.0
"""Height of the cells of a few cores."""

STRIP_MAX = 64
WIDEST = 40.0
"""Width of the cells of a few channels."""

TILES_MAX = 8
"""Maximum number of tiles of channels; more channels are drawn as one tile."""

DRIVES_MAX = 16

Share = float | None


def grouped(shares: Sequence[Share], most: int) -> list[tuple[int, int, Share]]:
    """Returns at most `most` groups of neighbours: first and last number, and the mean of the known shares."""
    size = -(-len(shares) // most)
    groups = []
    for start in range(0, len(shares), size):
        known = [share for share in shares[start : start + size] if share is not None]
        groups.append((start, min(start + size, len(shares)) - 1, fmean(known) if known else None))
    return groups


def shares_by_number(rows: Sequence[Row], count: int, at: int = 0) -> list[Share]:
    """Returns the shares in use of `count` parts from number `at` on; None for parts without a row."""
    shares: list[Share] = [None] * count
    for row in rows:
        if 0 <= part_number(row) - at < count:
            shares[part_number(row) - at] = share_of(row)
    return shares


def numbered_name(noun: str, first: int, last: int) -> str:
    """Names a part or a range of parts."""
    return f"{noun} {first}" if first == last else f"{noun}s {first} to {last}"


def cell(x: float, y: float, width: float, height: float, share: Share, text: str, kind: str) -> list[Html]:
    """Draws a box that is filled from below; without a share it is idle."""
    frame = {"x": round(x, 2), "width": round(width, 2)}
    title = element("title", f"{text}: {'idle' if share is None else percent(share)}")
    parts = [
        element(
            "rect",
            title,
            **frame,
            y=round(y, 2),
            height=round(height, 2),
            class_="cell" if share is not None else "cell idle",
        )
    ]
    if share:
        filled = round(height * share, 2)
        parts.append(
            element("rect", title, **frame, y=round(y + height - filled, 2), height=filled, class_=f"fill-{kind}")
        )
    return parts


def core_cells(
    busy: Sequence[Row], count: int, left: float, right: float, top: float, bottom: float, at: int = 0
) -> list[Html]:
    """Draws a cell per core from number `at` on, in rows of eight, filled by its LFB occupancy."""
    count = max(count, 1 + max((part_number(row) - at for row in busy), default=0))
    groups = grouped(shares_by_number(busy, count, at), CELLS_MAX)
    pitch = (right - left + 3) / COLUMNS
    rows = -(-len(groups) // COLUMNS)
    height = min(TALLEST, (bottom - top + 3) / rows - 3)
    drawn = []
    for index, (first, last, share) in enumerate(groups):
        row, column = divmod(index, COLUMNS)
        text = f"{numbered_name('core', at + first, at + last)}, LFB in use"
        drawn += cell(left + column * pitch, top + row * (height + 3), pitch - 3, height, share, text, "a")
    return drawn


def drive_cells(
    links: Sequence[CreditPool], count: int, left: float, right: float, top: float, at: int = 0
) -> list[Html]:
    """Draws a cell per drive from number `at` on, filled by the share in use of its link's most used credits."""
    shares: list[Share] = [None] * count
    for pool in links:
        for index, share in enumerate(shares_by_number(pool.parts, count, at)):
            known = [value for value in (shares[index], share) if value is not None]
            shares[index] = max(known, default=None)
    groups = grouped(shares, DRIVES_MAX)
    pitch = min((right - left + 3) / len(groups), 24)
    return [
        part
        for index, (first, last, share) in enumerate(groups)
        for text in [f"{numbered_name('drive', at + first, at + last)}, PCIe credits in use"]
        for part in cell(left + index * pitch, top, pitch - 3, 18, share, text, "n")
    ]


def part_strip(pool: CreditPool, left: float, right: float, top: float, at: int = 0) -> list[Html]:
    """Draws a cell per channel below the bar of a queue."""
    groups = grouped([share_of(row) for row in pool.parts], STRIP_MAX)
    pitch = min((right - left + 2) / len(groups), WIDEST)
    return [
        part
        for index, (first, last, share) in enumerate(groups)
        for text in [f"{pool.name} of {numbered_name('channel', at + first, at + last)}"]
        for part in cell(left + index * pitch, top, pitch - 2, 12, share, text, "n")
    ]


def channel_tiles(host: HostView, left: float, right: float, top: float) -> list[Html]:
    """Draws a tile with its banks per channel, or a single one for many channels."""
    ranks, groups, banks = (host.get(f"memory.dram.{key}") or 1 for key in ("ranks", "bank_groups", "banks_per_group"))
    count = len(host.channels)
    many = count > TILES_MAX
    shown = 1 if many else count
    pitch = min((right - left + 4) / shown, 96)
    drawn = []
    for index, row in enumerate(host.channels[:shown]):
        x = left + index * pitch
        drawn += tile(x, top, pitch - 4, ranks * groups * banks, channel_title(row))
    if many:
        everything = host.channels_all or {}
        drawn.append(text(f"x {count}", left + pitch + 4, top + 15, class_="count"))
        drawn.append(text(activations(everything), left + pitch + 4, top + 31))
    return drawn


def channel_title(row: Row) -> str:
    """Describes the traffic of a channel."""
    return (
        f"channel {row['channel']}: {number(row['read_gb_per_s'])} GB/s read, {number(row['write_gb_per_s'])} GB/s "
        f"written, {activations(row)}"
    )


def activations(row: Row) -> str:
    """Describes the activations per read."""
    return f"{number(row.get('row_miss_ratio'))} ACTs per read"


def tile(x: float, y: float, width: float, banks: int, text: str) -> list[Html]:
    """Draws a channel as up to 64 banks in four rows."""
    columns = -(-min(banks, 64) // 4)
    pitch = min((width - 4) / columns, 8)
    frame = element(
        "rect", element("title", text), x=round(x, 2), y=y, width=round(width, 2), height=38, rx=3, class_="cell"
    )
    start, side = x + (width - pitch * columns) / 2, pitch - 1
    squares = " ".join(
        f"M{start + column * pitch:.1f} {y + 3.5 + row * 8:.1f}h{side:.1f}v6h-{side:.1f}z"
        for row in range(4)
        for column in range(columns)
        if row * columns + column < banks
    )
    return [frame, element("path", d=squares, class_="bank")]
