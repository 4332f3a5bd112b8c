"""Counter files of perf and PCM, as far as hostnet can read them."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hostnet.calibrate.measurement import Conditions, DataError, Measurement
from hostnet.calibrate.readers.content import Found

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostnet.calibrate.readers.content import Content

MODULE = "hostnet.counters"
"""Reads counter files."""

LOOKS_LIKE = re.compile(r"(?:uncore|unc_|offcore|pcm\b|<not counted>|l1d_pend_miss|llc_misses|imc)", re.IGNORECASE)
"""Names that counter files are full of."""

MEANINGS = {
    "c2m_bandwidth_gb_per_s": "bandwidth",
    "lfb_latency_ns": "lfb_latency",
    "p2m_bandwidth_gb_per_s": "io_bandwidth",
    "iio_latency_ns": "iio_latency",
}
"""Which measurement each quantity of a counter file is."""


def matches(content: Content) -> bool:
    """Whether the text looks like counters."""
    return LOOKS_LIKE.search(content.text) is not None


def read(content: Content) -> Found:
    """What the counters say about the conditions that the user gives: counters do not tell what ran.

    Raises:
        DataError: They cannot be read, or the conditions are missing.
    """
    if importlib.util.find_spec(MODULE) is None:
        raise DataError(
            f"{content.file}: looks like counters of perf or PCM, which this build of hostnet does not read"
        )
    if not content.given:
        raise DataError(
            f"{content.file}: counters do not tell what ran; say it: {content.file}@cores=4,reads=100 "
            f"or {content.file}@rw=read,bs=8m,iodepth=64"
        )
    conditions = content.conditions(Conditions())
    quantities: Mapping[str, float] = importlib.import_module(MODULE).read(content.file)
    found = Found()
    for name, value in quantities.items():
        if name in MEANINGS:
            meaning = MEANINGS[name]
            asked = replace(conditions, probe="")
            found.measurements.append(Measurement(meaning, float(value), asked, content.file, name))
    return found
