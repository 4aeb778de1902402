# SPDX-License-Identifier: Apache-2.0
"""Signatures and documentation of keyword arguments, from the engine's one description of its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from . import _sonde
from ._calls import checked

#: Of a surface: what makes one of harmonics, and what not every kind of file takes.
_HARMONICS = ("m", "n", "b_cos", "b_sin", "nfp", "iota", "psi_p", "b_theta", "b_zeta")
_OF_BOOZER = ("psi_a", "wout", "signgs", "snap")

#: The classes of _keywords.py: the fields of which call, and which of them are no keywords.
KEYWORDS: dict[str, tuple[str, tuple[str, ...]]] = {
            "LoadKeywords": ("load", ()), "FolderKeywords": ("load_folder", ()),
            "ArinaKeywords": ("load", ("det_bin", "scan_bin", "scan_shape", "hot_pixels")),
            "ArinaFolderKeywords": ("load_folder", ("det_bin", "scan_bin", "scan_shape", "hot_pixels")), "ImageKeywords": ("image", ("detector",)),
            "SaveImageKeywords": ("save_image", ("detector",)), "SimulateKeywords": ("simulate", ("output",)),
            "ViewKeywords": ("view", ()), "PtychoSimulateKeywords": ("ptycho_simulate", ("output",)),
            "GridKeywords": ("neoclassical_grid", ("n_theta", "n_zeta", "n_xi")), "CaseKeywords": ("neoclassical_case", ("nu_hat",)),
            "ScanKeywords": ("neoclassical_scan", ("rho", "nu_v", "epsi_hat")),
            "SurfaceKeywords": ("neoclassical_surface", ("path",)),
            "VmecKeywords": ("neoclassical_surface", ("type", "path", "s", "rho", *_OF_BOOZER, *_HARMONICS)),
            "BoozerKeywords": ("neoclassical_surface", ("type", "path", "s", "rho", "vmec_radial_option", *_HARMONICS)),
            "StudyKeywords": ("neoclassical_study", ()),
            "SolverKeywords": ("neoclassical_solver", ("threads", "device")),
            "ConversionKeywords": ("neoclassical_conversion", ("from", "to")), "TransportKeywords": ("neoclassical_transport", ())}

Function = TypeVar("Function", bound=Callable[..., Any])

_TYPES = {"text": "str", "whole": "int", "real": "float", "toggle": "bool", "bytes": "int or str", "choice": "str",
          "list": "list of str"}


def type_text(field: dict[str, Any]) -> str:
    """"{'zero', 'none'}", "float in kV, 1 to 3000": what follows the name in documentation."""
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


_ANNOTATIONS = {"text": "Text", "whole": "SupportsIndex", "real": "SupportsFloat", "toggle": "bool", "bytes": "SupportsIndex | str",
                "list": "Text"}


def annotation(field: dict[str, Any]) -> str:
    """The type of a keyword. Words that are written like numbers may be the numbers."""
    words = field["choices"]
    if not words:
        return _ANNOTATIONS[field["type"]]
    numbers = words if all(word.isdecimal() for word in words) else []
    return "Literal[" + ", ".join([f'"{word}"' for word in words] + numbers) + "]"


def keywords_text() -> str:
    """The file _keywords.py: keywords as type checkers read them. `python -m sonde._options > _keywords.py` writes it."""
    lines = ["# SPDX-License-Identifier: Apache-2.0", '"""Keyword arguments for type checkers. Written by `python -m sonde._options`; do not edit."""', "",
             "from __future__ import annotations", "", "import os", "from collections.abc import Sequence",
             "from typing import Any, Literal, SupportsFloat, SupportsIndex, TypedDict", "", "import numpy.typing as npt", "",
             "#: Text, and what stands for it: a path, a number, a list with commas.",
             "Text = str | os.PathLike[str] | SupportsFloat | Sequence[str | SupportsFloat] | npt.NDArray[Any]"]
    for name, (call, without) in KEYWORDS.items():
        lines += ["", "", f"class {name}(TypedDict, total=False):", f'    """Keywords of {call}."""', ""]
        for field in _sonde.fields_of(call):
            if field["key"] in without:
                continue
            lines.append(f"    {field['key']}: {annotation(field)} | None")
    return "\n".join(lines) + "\n"


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
        return cast(Function, checked(function))

    return decorate


if __name__ == "__main__":
    print(keywords_text(), end="")
