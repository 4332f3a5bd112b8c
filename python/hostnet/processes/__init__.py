"""Runs one simulation in several processes over MPI.

`mpirun -n 4 hostnet run cluster.toml` simulates a share of the partitions in each of four processes. Their results are
byte-identical to those of one process, and the first process writes them.
"""

from hostnet.processes.group import Group, OtherProcessError, ResultsElsewhereError, connect, launcher_rank

__all__ = ["Group", "OtherProcessError", "ResultsElsewhereError", "connect", "launcher_rank"]
