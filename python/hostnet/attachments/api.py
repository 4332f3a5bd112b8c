"""The function `hostnet.whatif`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.attachments.place import parse_places, possible_places, what_if
from hostnet.attachments.results import WhatIfResults
from hostnet.running.ranges import check_seed
from hostnet.terminal.progress import follow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from hostnet.running.simulate import AnyConfig
    from hostnet.terminal.progress import ProgressArgument


def whatif(
    config: AnyConfig,
    *,
    attach: str | Sequence[str] | None = None,
    host: str | Sequence[str] = (),
    overrides: Sequence[str] = (),
    seed: int | None = None,
    threads: int | None = None,
    out: str | PathLike[str] | None = None,
    progress: ProgressArgument = None,
) -> WhatIfResults:
    """Compares attachments of the NIC: runs a cluster once for each, with nothing else changed.

    Args:
        config: Configuration of hosts on a network, as for `hostnet.run`.
        attach: Attachments, such as "pcie,onchip" or ["pcie", "onchip"]; by default all that are possible.
        host: Tables of the hosts whose NIC moves; all servers by default.
        overrides: Assignments that override values, as for `--set`.
        seed: Seed that overrides the one of the configuration.
        threads: Runs at a time; by default the number of cores. The results do not depend on it.
        out: Folder for the files of `hostnet whatif`, which must not exist; by default, none are written.
        progress: As for `hostnet.run_many`.

    Raises:
        ConfigError: The configuration or an argument is invalid, or a NIC cannot be attached as asked.
        SimulationError: A run failed.
        KeyboardInterrupt: `progress` stopped the runs.
        OSError: A file cannot be read or written.
    """
    check_seed("--seed", seed)
    hosts = (host,) if isinstance(host, str) else tuple(host)
    chosen: dict[str, Any] = {"hosts": hosts, "overrides": tuple(overrides), "seed": seed}
    refused: dict[str, str] = {}
    if attach is None:
        places, refused = possible_places(config, **chosen)
    else:
        places = parse_places(attach if isinstance(attach, str) else ",".join(attach))
    with follow(progress) as callback:
        placed = what_if(config, places, **chosen, threads=threads, progress=callback)
    if not all(one.results.complete for one in placed):
        raise KeyboardInterrupt
    found = WhatIfResults(tuple(placed), refused)
    if out is not None:
        found.save(out)
    return found
