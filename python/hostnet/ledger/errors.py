"""The errors that a user of the ledger can meet."""

from hostnet.errors import CodedError


class LedgerError(CodedError):
    """A study cannot be read or recomputed. The message says which file or row, and why."""
