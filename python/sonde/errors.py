# SPDX-License-Identifier: Apache-2.0
"""The one exception of the engine."""

from __future__ import annotations

from . import _sonde


class Error(Exception):
    """What went wrong, as data and as the text that the program ``sonde`` shows.

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


_sonde.raise_as(Error)
