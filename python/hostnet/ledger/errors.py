"""The errors that a user of the ledger can meet."""


class LedgerError(Exception):
    """A study cannot be read or recomputed. The message says which file or row, and why."""
