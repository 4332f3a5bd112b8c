# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""A whole configuration of a server."""

from dataclasses import dataclass

from hostnet.system.host import Run, Server
from hostnet.system.parts import Parts
from hostnet.system.whole import WholeServer


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(WholeServer, Parts):
    """Server, its workloads and the length of its run: the content of a configuration file.

    Absent values come from the preset that `server` names. Values with units are strings such as "70 ns", "46.9 GB/s"
    or "8 MiB" (GB = 10^9 bytes, GiB = 2^30 bytes).
    """

    server: Server = Server()
    """Preset and sockets of the server."""
    run: Run = Run()
    """Name, seed, length and memory of the run."""
    base_dir: str = "."
    """The folder that relative paths of fio job files start from. It is not part of the file."""
