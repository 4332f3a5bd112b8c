"""The ledger: published results, reproduced and compared row by row."""

from hostnet.ledger.demo import demo
from hostnet.ledger.errors import LedgerError
from hostnet.ledger.rows import Row, Score
from hostnet.ledger.study import Study, load_study, study_names
from hostnet.ledger.validate import Ledger, cli_validate, validate

__all__ = [
    "Ledger",
    "LedgerError",
    "Row",
    "Score",
    "Study",
    "cli_validate",
    "demo",
    "load_study",
    "study_names",
    "validate",
]
