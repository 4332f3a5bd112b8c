"""Checks a wheel: its size, and that its module needs no newer glibc and no library beyond those its tag promises.

scripts/audit_wheel.py dist/hostnet-0.1.0-cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SIZE_MAX = 25_000_000
"""Largest size of a wheel, in bytes."""

TAG = "manylinux_2_17"
"""Oldest platform that Rust supports: glibc 2.17 of 2012."""


def faults(wheel: Path) -> list[str]:
    """Returns what is wrong with a wheel; empty if nothing is."""
    return [*size_faults(wheel.stat().st_size), *(tag_faults(wheel) if sys.platform == "linux" else ())]


def size_faults(size: int) -> list[str]:
    """Returns the fault of a wheel of `size` bytes that is too large."""
    return [f"{size / 1e6:.1f} MB; the limit is {SIZE_MAX / 1e6:.0f} MB"] if size >= SIZE_MAX else []


def tag_faults(wheel: Path) -> list[str]:
    """Returns what the module needs beyond its platform tag."""
    audit = audited(wheel)
    wrong = not audit["overall_tag"].startswith(TAG)
    found = (
        [f"runs on {audit['overall_tag']} only; it must run on {TAG}: {audit['versioned_symbols']}"] if wrong else []
    )
    return found if TAG in wheel.name else [*found, f"its name does not say {TAG}"]


def audited(wheel: Path) -> dict[str, str]:
    """Returns what auditwheel finds, including instructions beyond the baseline of the processor."""
    command = [str(Path(sys.executable).with_name("auditwheel")), "show", "--json", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def main(arguments: list[str]) -> int:
    """Prints the faults of each wheel, or its size and tag; returns 1 if there are faults."""
    wrong = 0
    for wheel in map(Path, arguments):
        found = faults(wheel)
        wrong += len(found)
        print("\n".join(f"{wheel}: {fault}" for fault in found) or f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
