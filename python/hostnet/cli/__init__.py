"""The command-line interface `hostnet`."""

from hostnet.cli.main import main

__all__ = ["main"]
