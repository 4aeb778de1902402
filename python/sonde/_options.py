# SPDX-License-Identifier: Apache-2.0
"""Signatures and documentation of keyword arguments, from the engine's one description of its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from . import _sonde

Function = TypeVar("Function", bound=Callable[..., Any])

_TYPES = {"text": "str", "whole": "int", "real": "float", "toggle": "bool", "bytes": "int or str", "choice": "str",
          "list": "list of str"}


def type_text(field: dict[str, Any]) -> str:
    """"{'zero', 'none'}", "float in kV, 1 to 3000": what stands behind the name in documentation."""
    if field["choices"]:
        return "{" + ", ".join(repr(word) for word in field["choices"]) + "}"
    text = _TYPES[field["type"]]
    if field["metavar"] and field["type"] == "text":
        text += f" ({field['metavar']})"
    if field["unit"]:
        text += f" in {field['unit']}"
    return text


def parameter_text(field: dict[str, Any]) -> str:
    """One entry of a NumPy docstring."""
    limits = [f"at least {field['min']:g}"] if field["min"] is not None else []
    limits += [f"at most {field['max']:g}"] if field["max"] is not None else []
    end = f" ({', '.join(limits)})" if limits else ""
    default = "unset" if field["default"] is None else repr(field["default"])
    return f"{field['key']} : {type_text(field)}, default {default}\n    {field['help']}{end}"


def takes_options_of(call: str, *, without: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Documents ``**options`` of a function: the fields of ``call`` in its signature and under Other Parameters."""
    fields = [field for field in _sonde.fields_of(call) if field["key"] not in without]

    def decorate(function: Function) -> Function:
        own = inspect.signature(function)
        named = [p for p in own.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        options = [inspect.Parameter(field["key"], inspect.Parameter.KEYWORD_ONLY, default=field["default"])
                   for field in fields if field["key"] not in own.parameters]
        function.__signature__ = own.replace(parameters=named + options)  # type: ignore[attr-defined]
        indent = "    " if "." not in function.__qualname__ else "        "
        lines = ["", "Other Parameters", "----------------"]
        lines += "\n".join(parameter_text(field) for field in fields).split("\n")
        function.__doc__ = (function.__doc__ or "").rstrip() + "\n" + "\n".join(indent + line for line in lines) + "\n"
        return function

    return decorate
