# SPDX-License-Identifier: Apache-2.0
"""What objects that represent something in the engine have in common."""

from __future__ import annotations

import difflib
from typing import Any, ClassVar, NoReturn, SupportsIndex

from . import _sonde
from ._calls import check_methods
from .errors import unknown_attribute


class Checked:
    """An object whose mistyped attributes and keywords are errors that name the nearest."""

    __slots__ = ()
    #: Attributes that people look for here, and what to do.
    _elsewhere: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls) -> None:
        check_methods(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        held = getattr(type(self), name, None)
        if name.startswith("_") or (isinstance(held, property) and held.fset is not None):
            super().__setattr__(name, value)
            return
        kind = type(self).__name__
        if held is not None:
            raise unknown_attribute(f"{kind}.{name}: cannot be set", self._elsewhere.get(name, ""))
        near = difflib.get_close_matches(name, [each for each in dir(type(self)) if not each.startswith("_")], 1)
        suggestion = f'; did you mean "{near[0]}"?' if near and name not in self._elsewhere else ""
        raise unknown_attribute(f'{kind}: no attribute "{name}"{suggestion}', self._elsewhere.get(name, ""))


class Handle(Checked):
    """An object whose data are in the engine: pickling says what to do instead."""

    __slots__ = ()
    #: How its content gets to another process.
    _to_send: ClassVar[str] = "make it in the other process"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        _sonde.raise_error("usage", f"{type(self).__name__}: cannot be pickled or copied, its data belong to this process",
                           self._to_send)
