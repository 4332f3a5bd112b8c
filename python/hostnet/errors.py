"""The exceptions of hostnet. Each has the code of the rule that an input breaks; `docs/errors.md` lists the codes."""

from __future__ import annotations

from typing import Any, Self


class CodedError(Exception):
    """An error of the user's, with a stable code. Its text may change from release to release; the code does not."""

    code: str
    """The rule that is broken, such as "out-of-range"."""
    file: str | None
    """The file that the message blames, or the override; None where there is none or the message alone tells."""
    line: int | None
    """The line in that file, from 1; None where it is not known."""
    path: str | None
    """The dotted path of the key that the message blames; None where no key is to blame."""

    def __init__(
        self, code: str, message: str, file: str | None = None, line: int | None = None, path: str | None = None
    ) -> None:
        """Takes one of the codes of `hostnet list errors`, the whole message, and what of the place is known."""
        super().__init__(message)
        self.code = code
        self.file = file
        self.line = line
        self.path = path

    def reworded(self, message: str) -> Self:
        """The same error, said in other words."""
        error = type(self).__new__(type(self))
        error.args = (message,)
        error.__dict__.update(self.__dict__)
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the message and the attributes, whatever a subclass takes to make them."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[CodedError], args: tuple[Any, ...], attributes: dict[str, Any]) -> CodedError:
    """Makes an error anew from what was pickled."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


class ConfigError(CodedError, ValueError):
    """The configuration is wrong; the message says where, what and what would be right."""


class SimulationError(CodedError, RuntimeError):
    """The run could not go on; the message names the domain that is stuck."""


class CheckpointError(CodedError, ValueError):
    """The checkpoint is damaged or belongs to another configuration."""
