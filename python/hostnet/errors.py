"""Exceptions of hostnet, each with the code of the rule that an input breaks; `docs/errors.md` lists the codes."""

from __future__ import annotations

from typing import Any, Self


class CodedError(Exception):
    """Base class of errors with a stable code. The text may change between releases; the code does not."""

    code: str
    """Code of the broken rule, such as "out-of-range"."""
    file: str | None
    """File or override that the message is about; None if there is none or only the message names it."""
    line: int | None
    """Line in that file, from 1; None if unknown."""
    path: str | None
    """Dotted path of the key that the message is about; None if it is about no key."""

    def __init__(
        self, code: str, message: str, file: str | None = None, line: int | None = None, path: str | None = None
    ) -> None:
        """Creates the error from a code of `hostnet list errors`, the message and the known position."""
        super().__init__(message)
        self.code = code
        self.file = file
        self.line = line
        self.path = path

    def reworded(self, message: str) -> Self:
        """Returns a copy of the error with another message."""
        error = type(self).__new__(type(self))
        error.args = (message,)
        error.__dict__.update(self.__dict__)
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the message and the attributes, independent of the arguments of a subclass."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[CodedError], args: tuple[Any, ...], attributes: dict[str, Any]) -> CodedError:
    """Recreates a pickled error."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


class ConfigError(CodedError, ValueError):
    """Raised if the configuration is invalid; the message names the position, the mistake and the remedy."""


class MissingPackageError(ConfigError, ImportError):
    """Raised if a package is not installed that a function needs; the message says how to install it."""

    def __init__(self, what: str, package: str) -> None:
        """Creates the error of `what`, which needs a package."""
        super().__init__("missing-package", f"{what}: needs {package}; pip install {package}")


class SimulationError(CodedError, RuntimeError):
    """Raised if the run cannot continue; the message names the domain that is stuck."""


class CheckpointError(CodedError, ValueError):
    """Raised if the checkpoint is damaged or belongs to another configuration."""
