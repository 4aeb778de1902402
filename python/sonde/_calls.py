# SPDX-License-Identifier: Apache-2.0
"""Arguments that a function does not have: an error of this package as well as Python's ``TypeError``."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .errors import Error, usage

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R], name: str = "") -> Callable[P, R]:
    """``function``, whose unknown, missing and superfluous arguments raise ``Error("usage")`` with the nearest keyword. ``name`` is
    what users call it by."""
    if hasattr(function, "_checked"):
        return function

    @functools.wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        try:
            return function(*arguments, **keywords)
        except TypeError as error:
            # One frame: the call itself did not fit, and the function has not begun.
            inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            if inside or isinstance(error, Error):
                raise
            raise usage(_fault(function, name or function.__name__, keywords, str(error))) from None

    call._checked = True  # type: ignore[attr-defined]
    return call


def _fault(function: Callable[..., Any], name: str, keywords: dict[str, Any], text: str) -> str:
    known = inspect.signature(function).parameters
    unknown = [word for word in keywords if word not in known]
    if not unknown:
        return text
    near = difflib.get_close_matches(unknown[0], known, 1)
    return f'unknown key "{unknown[0]}" in {name}()' + (f'; did you mean "{near[0]}"?' if near else "")


def check_methods(kind: type) -> None:
    """The same for the constructor and the public methods of a class."""
    for name, member in list(vars(kind).items()):
        if name.startswith("_") and name != "__init__":
            continue
        called = kind.__name__ if name == "__init__" else name
        if inspect.isfunction(member):
            setattr(kind, name, checked(member, called))
        elif isinstance(member, (classmethod, staticmethod)):
            setattr(kind, name, type(member)(checked(member.__func__, called)))
