"""Families of processors: how to recognise them, the nearest presets, and what is alike in all their members."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hostnet.hwloc.topology import Package

XEON = re.compile(r"xeon.*\b(?:gold|silver|bronze|platinum)\D*\d(\d)\d\d", re.IGNORECASE)
"""Name of a Xeon Scalable processor; the second digit of its number is the generation."""


@dataclass(frozen=True)
class Family:
    """Processors of one generation."""

    presets: tuple[str, ...]
    """Beginnings of the names of the nearest presets."""
    generation: int
    """Newest PCIe generation; links of drives may be of earlier ones."""
    slice_bytes: int = 0
    """L3 per slice; 0 if slices are those of the preset, whatever the L3."""
    l3_per_ccd: int = 0
    """L3 caches (CCXs) of a CCD; 0 for processors without chiplets."""


SKYLAKE = Family(("cascade-lake", "xeon-gold-5218"), 3, 1408 * 1024)
ICE_LAKE = Family(("ice-lake",), 4, 1536 * 1024)
SAPPHIRE_RAPIDS = Family(("xeon-platinum-84",), 5, 1920 * 1024)
EMERALD_RAPIDS = Family(("xeon-platinum-84",), 5, 5120 * 1024)
XEON_MAX = Family(("xeon-max",), 5, 1920 * 1024)
ROME = Family(("epyc-7742",), 4, l3_per_ccd=2)
MILAN = Family(("epyc-7763",), 4, l3_per_ccd=1)
GENOA = Family(("epyc-9654",), 5, l3_per_ccd=1)
BERGAMO = Family(("epyc-9654",), 5, l3_per_ccd=2)
NEOVERSE_V1 = Family(("graviton3",), 5)
NEOVERSE_V2 = Family(("grace",), 5)

GENERATIONS = {"1": SKYLAKE, "2": SKYLAKE, "3": ICE_LAKE, "4": SAPPHIRE_RAPIDS, "5": EMERALD_RAPIDS}
"""Family of each generation of Xeon Scalable. Cascade Lake equals Skylake. The nearest preset of Emerald
Rapids is one of Sapphire Rapids."""

NAMES = {
    r"xeon.*\bmax\b": XEON_MAX,
    r"neoverse.?v1|graviton ?3": NEOVERSE_V1,
    r"neoverse.?v2|\bgrace\b": NEOVERSE_V2,
}
"""Family by a part of the name. These names say more than family and model."""

FAMILIES = {
    "6/85": SKYLAKE,
    "6/106": ICE_LAKE,
    "6/108": ICE_LAKE,
    "6/143": SAPPHIRE_RAPIDS,
    "6/207": EMERALD_RAPIDS,
    "23/49": ROME,
    "25/1": MILAN,
    "25/17": GENOA,
    "25/160": BERGAMO,
    "0x41/0xd40": NEOVERSE_V1,
    "0x41/0xd4f": NEOVERSE_V2,
}
"""Family by family and model number (Intel Software Developer's Manual, volume 4, table 2-1; AMD revision guides),
or by implementer and part number (Arm technical reference manuals, MIDR_EL1)."""

EPYC = {
    r"\bepyc\D*7\w\w2[A-Z]?\b": ROME,
    r"\bepyc\D*7\w\w3[A-Z]?\b": MILAN,
    r"\bepyc\D*97\w4[A-Z]?\b": BERGAMO,
    r"\bepyc\D*9\w\w4[A-Z]?\b": GENOA,
}
"""Family by the number of an EPYC, whose last digit is the generation."""

ARM = ("0x41/",)
"""Beginning of family and model of cores by Arm."""

AMD = ("23/", "25/", "26/")
"""Beginnings of family and model of processors by AMD with an L3 in each CCX (Zen)."""

ARM_PRESETS = NEOVERSE_V1.presets + NEOVERSE_V2.presets
"""Beginnings of the names of presets with cores by Arm."""

SPECIAL = XEON_MAX.presets + ARM_PRESETS
"""Beginnings of the names of presets that do not stand in for a processor of unknown family: cores by Arm, and HBM."""


def family_of(package: Package) -> Family | None:
    """Returns the family of a processor, by its name or by family and model; None if unknown."""
    match = XEON.search(package.model)
    if match:
        return GENERATIONS.get(match[1])
    return _named(NAMES, package.model) or FAMILIES.get(package.family) or _named(EPYC, package.model)


def _named(names: dict[str, Family], model: str) -> Family | None:
    """Returns the family of the first pattern that a name contains."""
    return next((family for name, family in names.items() if re.search(name, model, re.IGNORECASE)), None)


def is_arm(package: Package) -> bool:
    """Returns True if the cores are by Arm."""
    return package.family.startswith(ARM)


def has_core_dies(package: Package) -> bool:
    """Returns True if the cores of a processor are on several dies, by its family or by its L3 caches."""
    family = family_of(package)
    if family is not None:
        return family.l3_per_ccd > 0
    return len(package.l3_cores) > 1 and package.family.startswith(AMD)
