"""Errors of the ledger."""

from hostnet.errors import CodedError


class LedgerError(CodedError):
    """Raised if a study cannot be read or reproduced; the message names the file or row, and the reason."""
