# SPDX-License-Identifier: Apache-2.0
"""The exception of the engine, and its kinds as Python names them.

============================ ========================================= =======================================
kind                         class                                     also a
============================ ========================================= =======================================
``usage``                    :class:`UsageError`                       ``TypeError``, ``ValueError``
``bad_input``                :class:`InputError`                       ``ValueError``
``bad_file``, ``io``         :class:`FileError`                        ``OSError``
``bad_file``, no such file   :class:`MissingFileError`                 ``FileNotFoundError``
``budget``                   :class:`BudgetError`                      ``MemoryError``
``not_supported``            :class:`UnsupportedError`                 ``NotImplementedError``
others                       :class:`Error`
============================ ========================================= =======================================
"""

from __future__ import annotations

import errno
from typing import Any

from . import _sonde


class Error(Exception):
    """What went wrong, as data and as the text that the program ``sonde`` shows. Catches all of the classes below.

    Attributes
    ----------
    kind : str
        ``"usage"`` (unknown keyword, wrong type), ``"bad_input"``, ``"bad_file"``, ``"budget"`` (memory), ``"io"``,
        ``"device"``, ``"not_converged"``, ``"not_supported"``, ``"internal"``, ``"interrupted"`` or ``"terminated"``.
    message : str
        The object, the fact and the numbers.
    hint : str
        Something that can be done now; empty when there is none.
    activities : tuple of str
        What was being done, from the inside out.
    problems : list of Error
        The single problems, when several were found at once.

    ``str(error)`` is the whole text: ``error:``, ``while:`` and ``hint:`` lines.
    """

    def __init__(self, kind: str, message: str, hint: str = "", activities: tuple[str, ...] = (),
                 problems: list["Error"] | None = None, text: str = "") -> None:
        super().__init__(kind, message, hint, activities, problems or [], text)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.activities = activities
        self.problems = problems or []
        self._text = text or message

    @property
    def exit_status(self) -> int:
        """With what the program ends on such an error."""
        return _sonde.exit_status(self.kind)

    def __repr__(self) -> str:
        return f"sonde.Error({self.kind!r}, {self.message!r})"

    def __str__(self) -> str:
        return self._text


class UsageError(Error, TypeError, ValueError):
    """An unknown keyword, a value of another type or out of range."""


class UnknownAttributeError(UsageError, AttributeError):
    """An attribute that an object does not have, or that cannot be set."""


class InputError(Error, ValueError):
    """A value or an array that makes no sense here."""


class OutsideError(InputError, IndexError):
    """A position outside of a scan."""


class FileError(Error, OSError):
    """A file that is foreign, short or inconsistent, or that could not be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that does not exist: ``filename`` and ``errno`` are those of ``FileNotFoundError``."""

    def __reduce__(self) -> tuple[Any, ...]:  # another process gets them as well
        return made, self.args


class BudgetError(Error, MemoryError):
    """Work that does not fit into the memory it may use."""


class UnsupportedError(Error, NotImplementedError):
    """Recognised, but not built or not implemented."""


_CLASSES: dict[str, type[Error]] = {"usage": UsageError, "bad_input": InputError, "bad_file": FileError, "io": FileError,
                                    "budget": BudgetError, "not_supported": UnsupportedError}
_MISSING = ": no such file"


def _is_missing(kind: str, message: str, problems: list[Error]) -> bool:
    if problems:
        return all(isinstance(problem, MissingFileError) for problem in problems)
    return kind == "bad_file" and (message.endswith(_MISSING) or _MISSING + ";" in message)


def made(kind: str, message: str, hint: str = "", activities: tuple[str, ...] = (), problems: list[Error] | None = None,
         text: str = "") -> Error:
    """The exception of a kind."""
    chosen = _CLASSES.get(kind, Error)
    if _is_missing(kind, message, problems or []):
        chosen = MissingFileError
    error = chosen(kind, message, hint, activities, problems, text)
    if isinstance(error, MissingFileError):
        error.errno = errno.ENOENT
        error.filename = (problems[0].message if problems else message).split(_MISSING)[0]
    return error


def unknown_attribute(message: str, hint: str) -> UnknownAttributeError:
    """For objects of Python: an attribute that is not there."""
    return UnknownAttributeError("usage", message, hint, text=f"error: {message}" + (f"\nhint: {hint}" if hint else ""))


def usage(message: str) -> UsageError:
    """For functions of Python: arguments that they do not have."""
    return UsageError("usage", message, text=f"error: {message}")


def outside(message: str) -> OutsideError:
    """For objects of Python: a position that is not there."""
    return OutsideError("bad_input", message, text=f"error: {message}")


_sonde.raise_as(made)
