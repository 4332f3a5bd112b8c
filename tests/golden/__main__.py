"""Compares runs with the golden table, or rewrites it: `python -m tests.golden [--write] [NAME ...]`."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.golden.measure import QUICK, measure, runs

TABLE = Path(__file__).with_name("table.txt")

Blocks = dict[str, list[str]]


def table() -> Blocks:
    """Returns the golden lines of every run."""
    blocks: Blocks = {}
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        if line.startswith("["):
            name = line[1 : line.index("]")]
            blocks[name] = []
        blocks[name].append(line)
    return blocks


def difference(golden: list[str], measured: list[str]) -> list[str]:
    """Returns the lines that differ, each prefixed with - or +."""
    return [line for line in difflib.ndiff(golden, measured) if line[0] in "-+"]


def main() -> int:
    """Makes the runs, prints the differences, and writes the table on request. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="runs; all of them if none is named")
    parser.add_argument("--quick", action="store_true", help="those that the gate makes")
    parser.add_argument("--write", action="store_true", help="write the table anew")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="runs at a time")
    asked = parser.parse_args()
    known = list(runs())
    unknown = [name for name in asked.names if name not in known]
    if unknown:
        parser.error(f"{unknown[0]}: no such run; there are {', '.join(known)}")
    wanted = list(QUICK) if asked.quick else asked.names or known
    # Off, so that this version measures its own tables.
    os.environ["HOSTNET_CACHE_DIR"] = ""
    golden, measured = table(), measured_blocks(wanted, asked.processes)
    changed = [name for name in wanted if golden.get(name) != measured[name]]
    for name in changed:
        print("\n".join([name, *difference(golden.get(name, []), measured[name])]))
    if asked.write:
        blocks = {name: measured.get(name, golden.get(name, [])) for name in known}
        TABLE.write_text("".join(f"{line}\n" for name in known for line in blocks[name]))
    print(f"{len(wanted) - len(changed)} of {len(wanted)} runs are as in the table")
    return int(bool(changed) and not asked.write)


def measured_blocks(names: list[str], processes: int) -> Blocks:
    """Returns the lines of some runs, and prints the progress."""
    blocks: Blocks = {}
    with ProcessPoolExecutor(processes) as pool:
        for number, lines in enumerate(pool.map(measure, names), start=1):
            blocks[names[number - 1]] = lines
            if sys.stderr.isatty():
                print(f"\r{number} of {len(names)} runs", end="\n" if number == len(names) else "", file=sys.stderr)
    return blocks


if __name__ == "__main__":
    sys.exit(main())
