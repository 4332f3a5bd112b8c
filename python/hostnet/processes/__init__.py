"""One simulation in several processes, over MPI.

`mpirun -n 4 hostnet run cluster.toml` simulates a share of the partitions in each of four processes. What they find is
what one process finds, byte for byte; the first of them writes it.
"""

from hostnet.processes.group import Group, OtherProcessError, ResultsElsewhereError, connect, started

__all__ = ["Group", "OtherProcessError", "ResultsElsewhereError", "connect", "started"]
