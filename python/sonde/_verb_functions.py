# SPDX-License-Identifier: Apache-2.0
"""Writes ``sonde/_verbs/INSTRUMENT.py``: a function for every verb, from the engine's one description of it.

``python -m sonde._verb_functions FOLDER`` writes the files; a test says when they are out of date.
"""

from __future__ import annotations

import keyword
import pathlib
import sys
import textwrap
import types
from typing import Any

from . import _sonde
from ._options import annotation, parameter_text

_HEAD = '''# SPDX-License-Identifier: Apache-2.0
"""The verbs of `sonde {instrument}` as functions. Written by `python -m sonde._verb_functions`; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex

from .._calls import checked
from .._keywords import Text
from .._run import Result, run as _run
from .._types import Progress
'''

_TABLE = "Mapping[str, Any]"
_TABLES = "Sequence[Mapping[str, Any]]"


def _parameter(key: str) -> str:
    return key + "_" if keyword.iskeyword(key) else key


def _settings(fields: list[dict[str, Any]], tables: dict[str, bool]) -> dict[str, str]:
    """Annotations of the keywords: settings, and tables of a run file, of which a setting may have the name."""
    keywords = {_parameter(f["key"]): annotation(f) for f in fields}
    for name, is_list in tables.items():
        key, kind = _parameter(name), _TABLES if is_list else _TABLE
        keywords[key] = f"{keywords[key]} | {kind}" if key in keywords else kind
    return keywords


def _sentence(text: str) -> str:
    return text if text.endswith(".") else text + "."


def _wrapped(parts: list[str], head: str, indent: str) -> str:
    """The parts with commas, none of them broken."""
    text = textwrap.fill(", ".join(part.replace(" ", "\0") for part in parts), 130, initial_indent=head, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)
    return text.replace("\0", " ")


def function_text(verb: dict[str, Any]) -> str:
    """The function of one verb."""
    instrument, name = verb["name"].split(" ", 1)
    fields = _sonde.verb_fields(verb["name"])
    inputs = [field for field in fields if field["positional"]]
    settings = [field for field in fields if not field["positional"]]
    head = [f"*{_parameter(f['key'])}: {annotation(f)}" if f["type"] == "list"
            else f"{_parameter(f['key'])}: {annotation(f)}" + (" | None = None" if f["optional"] else "") for f in inputs]
    if not any(f["type"] == "list" for f in inputs):
        head.append("*")
    keywords = _settings(settings, verb["tables"])
    head += [f"{key}: {annotation} | None = None" for key, annotation in keywords.items()]
    arrays = any(f["array"] for f in inputs)
    head += ["copy: bool = False"] if arrays else []
    head.append("progress: Progress | None = None")
    indent = " " * (len(name) + 5)
    signature = _wrapped(head, f"def {name}(", indent) + ") -> Result:"
    lines = [f'"""{_sentence(verb["summary"])}', "", f"What ``sonde {verb['name']}`` does."]
    for paragraph in verb["details"].split("\n\n"):
        if paragraph:
            lines += ["", *(textwrap.wrap(paragraph, 126, break_long_words=False) if "\n" not in paragraph
                            else ["::", "", *("    " + line for line in paragraph.split("\n"))])]
    lines += ["", "Parameters", "----------"]
    for field in fields:
        lines += parameter_text({**field, "key": _parameter(field["key"])}).split("\n")
    if verb["tables"]:
        lines += [f"{', '.join(map(_parameter, verb['tables']))} : dict, or list of dicts where a table comes several times",
                  "    tables of the run file, by themselves or over those of one"]
    if arrays:
        lines += ["copy : bool, default False", "    make an array contiguous where it is not; otherwise that is an error"]
    lines += ['"""']
    passed = [f"*{_parameter(f['key'])}" if f["type"] == "list" else _parameter(f["key"]) for f in inputs if not f["optional"] or f["type"] == "list"]
    passed += [f"{_parameter(f['key'])}={_parameter(f['key'])}" for f in inputs if f["optional"] and f["type"] != "list"]
    passed += [f"{key}={key}" for key in [*keywords, *(["copy"] if arrays else [])]]
    call = _wrapped([f'"{verb["name"]}"', *passed, "progress=progress"], "    return _run(", " " * 16) + ")"
    document = "\n".join(("    " + line).rstrip() for line in lines).replace("\\", "\\\\")
    return f"\n\n@checked\n{signature}\n{document}\n{call}\n"


def module_texts() -> dict[str, str]:
    """The text of each file by the name of its instrument."""
    texts: dict[str, str] = {}
    for verb in _sonde.verbs():
        instrument = verb["name"].split(" ", 1)[0]
        texts.setdefault(instrument, _HEAD.format(instrument=instrument))
        texts[instrument] += function_text(verb)
    return texts


def functions_of(instrument: str) -> types.ModuleType:
    """The module ``sonde.INSTRUMENT`` of an instrument that has no Python of its own: its verbs as functions."""
    module = types.ModuleType(f"sonde.{instrument}")
    module.__package__ = "sonde._verbs"  # the text imports from there
    exec(module_texts()[instrument], module.__dict__)
    module.__doc__ = f"The verbs of `sonde {instrument}` as functions."
    sys.modules[module.__name__] = module
    return module


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for instrument, text in module_texts().items():
        (folder / f"{instrument}.py").write_text(text, encoding="utf-8")
