"""The ledger: published results, reproduced and compared row by row."""

from hostnet.ledger.demo import demo
from hostnet.ledger.errors import LedgerError
from hostnet.ledger.papers import Paper, paper_of, papers
from hostnet.ledger.reproduction import open_page, reproduce
from hostnet.ledger.rows import Row, Score
from hostnet.ledger.study import Study, load_study, study_names
from hostnet.ledger.validate import Ledger, cli_validate, validate

__all__ = [
    "Ledger",
    "LedgerError",
    "Paper",
    "Row",
    "Score",
    "Study",
    "cli_validate",
    "demo",
    "load_study",
    "open_page",
    "paper_of",
    "papers",
    "reproduce",
    "study_names",
    "validate",
]
