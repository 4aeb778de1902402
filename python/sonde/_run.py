# SPDX-License-Identifier: Apache-2.0
"""The door to every verb of every instrument: what the program ``sonde`` does, with its names, checks, files and report.

>>> import sonde
>>> found = sonde.run("ptycho sweep", "sweep.toml", output="defocus")      # doctest: +SKIP
>>> found.facts["trials"][0]                                               # doctest: +SKIP
"""

from __future__ import annotations

import json
import keyword
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _sonde
from ._arrays import as_numpy
from ._types import Progress


@dataclass(frozen=True)
class Variable:
    """One array of a result: its values, the names of its axes (the last one fastest) and the unit of the values."""

    values: npt.NDArray[Any]
    axes: tuple[str, ...]
    unit: str


class Result:
    """What a verb found.

    ``result["object"]`` is an array by its name, ``result.variables`` has axes and units beside them.

    Attributes
    ----------
    facts : dict
        The results of the report: what ``sonde ... --json`` prints.
    report : dict
        All of it (``sonde.report/1``): settings, choices with their reasons, phases, memory, messages.
    variables : dict of str to Variable
        Arrays that the verb gives.
    said : list of str
        What the program prints for people.
    text : str
        The product of verbs that print one.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self.report: dict[str, Any] = found["report"] or {}
        self.facts: dict[str, Any] = self.report.get("results", {})
        self._kept = found["kept"]
        self.variables = {name: Variable(values, tuple(axes), unit) for name, values, axes, unit in self._kept.variables()}
        self.said: list[str] = found["said"]
        self.text: str = found["text"]

    @property
    def choices(self) -> list[dict[str, Any]]:
        """What was chosen, and why; of a dry run all there is."""
        return list(self.report.get("choices", []))

    @property
    def files(self) -> list[str]:
        """What was written, where the verb names it."""
        return [str(file) for file in self.facts.get("files", [])]

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self.variables:
            raise KeyError(f"no array {name!r}; there are: {', '.join(self.variables) or 'none'}")
        return self.variables[name].values

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        arrays = ", ".join(f"{name} {'x'.join(map(str, np.shape(variable.values)))}" for name, variable in self.variables.items() if np.ndim(variable.values))
        return f"<sonde.Result of {self.report.get('command', '?')}: {arrays or 'facts ' + ', '.join(self.facts)}>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the arrays with axes and units to a .h5, .nc or .npz: the file that ``output=`` would have written, which ``sonde view`` shows."""
        self._kept.save(os.fspath(path))

    def view(self, **settings: Any) -> Any:
        """Shows the result in the browser, as ``sonde view`` does with its file (:func:`sonde.view`)."""
        from .viewer import view

        return view(self, **settings)

    def save_report(self, path: str | os.PathLike[str]) -> None:
        """Writes the report as JSON; ``sonde view`` shows it."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.report, file, indent=2)


def verbs() -> dict[str, str]:
    """Every verb of this build and what it does in a line."""
    return {str(verb["name"]): str(verb["summary"]) for verb in _sonde.verbs()}


def run(verb: str, *inputs: Any, copy: bool = False, progress: Progress | None = None, **settings: Any) -> Result:
    """Does what ``sonde VERB INPUT... --settings`` does, in this process.

    Parameters
    ----------
    verb : str
        ``"ptycho run"``, ``"stem image"``: :func:`verbs` lists them.
    *inputs
        What follows the verb on a command line, in that order. Verbs that take the file of a scan or of patterns take an array
        too; it is read in place and passes the same checks as its file.
    copy : bool
        Makes an array contiguous where it is not; otherwise that is an error.
    progress : callable, optional
        Called as ``progress(stage, fraction, detail)`` from time to time. An exception ends the work.
    **settings
        The flags of the program with underscores (``det_bin=4``), and ``config``, ``report``, ``threads``, ``memory``, ``device``,
        ``dry_run``. ``None`` is as if not given. What is a word of Python ends with an underscore (``from_``). Tables of a run file
        are dicts, those that come several times lists of them: ``geometry={"energy_keV": 200}, engine=[{"name": "gd"}]``. Positions
        and mask of ``data`` may be arrays: ``data={"positions": positions}``.

    Without ``output`` nothing is written: the result has the arrays, and :meth:`Result.save` writes them. An error that leaves a
    state worth keeping (not converged, interrupted) has it as ``error.result``.
    """
    given = {name[:-1] if name.endswith("_") and keyword.iskeyword(name[:-1]) else name: value for name, value in settings.items()}
    left: list[dict[str, Any]] = []
    try:
        return Result(_sonde.run_verb(verb, tuple(_as_input(each, copy) for each in inputs), given, progress, left))
    except BaseException as error:
        if left:
            error.result = Result(left[0])  # type: ignore[attr-defined]
        raise


def _as_input(given: Any, copy: bool) -> Any:
    """A path as it is; whatever holds elements as a NumPy array on them."""
    if isinstance(given, (str, os.PathLike)) or not (hasattr(given, "__array__") or hasattr(given, "__dlpack__")):
        return given
    array = as_numpy(given)
    return np.ascontiguousarray(array, array.dtype.newbyteorder("=")) if copy else array
