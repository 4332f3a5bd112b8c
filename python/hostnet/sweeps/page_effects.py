"""Tiles of the swept parameters: how much each changes, the one that matters most first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hostnet.report.html import Html, element, section
from hostnet.report.numbers import number
from hostnet.sweeps.effects import Effect, effects_of
from hostnet.terminal.layout import short_paths
from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.sweeps.axis import Axis
    from hostnet.sweeps.series import Sweep

DOTS_MAX = 200_000
"""Largest number of values of which effects are looked for; of more it takes seconds."""

EFFECTS_MAX = 4
"""Maximum number of further effects of a parameter that its tile names."""

SMALLEST = 1.01
"""Smallest ratio of two values that counts as an effect."""

FACTOR_FROM = 2.0
"""Smallest ratio of two values that is shown as a factor; smaller ones are shown in percent."""

NOTE = (
    "The largest change of any result along one parameter while the others keep their values. A change may be noise if "
    "the confidence intervals overlap."
)

NOISE = "may be noise"

FIRST = "The charts show its first value."

TIMES, DIVIDED = "\u00d7", "\u00f7"


def effect_tiles(sweeps: Sequence[Sweep], idle: Sequence[Axis]) -> Html | None:
    """Creates a tile for each parameter; None for sweeps of very many points."""
    if not sweeps or sum(len(sweep.dots) for sweep in sweeps) > DOTS_MAX:
        return None
    axes = sweeps[0].axes
    effects = [effect for effect in effects_of(sweeps) if effect.ratio > SMALLEST]
    names = dict(zip([*axes, *idle], short_paths([axis.path for axis in (*axes, *idle)]), strict=True))
    own = {axis: [effect for effect in effects if effect.axis is axis] for axis in axes}
    ranked = sorted((axis for axis in axes if own[axis]), key=lambda axis: effects.index(own[axis][0]))
    several = len(sweeps) > 1
    tiles = [
        tile(names[axis], axis, own[axis], most=index == 0 and len(names) > 1, several=several)
        for index, axis in enumerate(ranked)
    ]
    tiles += [idle_tile(names[axis], axis, "changes hardly anything") for axis in axes if not own[axis]]
    tiles += [idle_tile(names[axis], axis, "changes no result", FIRST) for axis in idle]
    return section("What matters", element("div", *tiles, class_="tiles"), note=NOTE)


def tile(name: str, axis: Axis, effects: Sequence[Effect], *, most: bool, several: bool) -> Html:
    """Creates the tile of a parameter with its largest effect, and the next ones. `most` marks the one that matters."""
    first, *others = effects
    more = [effect_text(effect, several=several) for effect in others[:EFFECTS_MAX]]
    return element(
        "div",
        element(
            "h3",
            element("span", name, title=axis.path),
            " ",
            element("span", "matters most", class_="tag") if most else None,
        ),
        element("p", element("b", size_text(first)), f" {subject_text(first, several=several)}", class_="big"),
        element("p", span_text(first)),
        element("ul", *(element("li", text) for text in more), class_="evidence") if more else None,
        class_="card tile effect most" if most else "card tile effect",
    )


def idle_tile(name: str, axis: Axis, words: str, note: str | None = None) -> Html:
    """Creates the tile of a parameter without an effect."""
    return element(
        "div",
        element("h3", element("span", name, title=axis.path)),
        element("p", words, class_="big"),
        element("p", note, class_="sub") if note else None,
        class_="card tile effect",
    )


def size_text(effect: Effect) -> str:
    """Formats the size of an effect: in percent, or as a factor if it is large."""
    if not math.isfinite(effect.ratio):
        return f"{number(effect.high)} {effect.metric.unit}".rstrip()
    if effect.ratio >= FACTOR_FROM:
        return f"{TIMES if effect.rises else DIVIDED} {effect.ratio:.3g}"
    change = effect.ratio if effect.rises else 1 / effect.ratio
    return format_percent(change - 1, 1, "+")


def subject_text(effect: Effect, *, several: bool) -> str:
    """Names the result that an effect is of."""
    return f"{effect.metric.what} of {effect.workload}" if several else effect.metric.what


def span_text(effect: Effect) -> str:
    """Formats the values at both ends of an effect, in the order of the parameter's values."""
    ends = (effect.low, effect.high) if effect.rises else (effect.high, effect.low)
    noise = "" if effect.beyond else f" ({NOISE})"
    return f"from {number(ends[0])} to {number(ends[1])} {effect.metric.unit}".rstrip() + noise


def effect_text(effect: Effect, *, several: bool) -> str:
    """Describes an effect in a line. An effect from or to 0 has no size but its values."""
    size = f"{size_text(effect)} " if math.isfinite(effect.ratio) else ""
    return f"{size}{subject_text(effect, several=several)}, {span_text(effect)}"
