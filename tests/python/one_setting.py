# SPDX-License-Identifier: Apache-2.0
"""What a verb finds, as plain data by which two runs compare, and other values that a setting can have."""

import hashlib
import json
import re
import shutil

import h5py
import numpy as np

import sonde
from sonde import _sonde

#: What repeats the settings, and what belongs to the moment: neither shows that a setting acts.
ECHO = {"options", "settings", "run_file", "input_toml", "config", "load"}
MOMENT = {"run", "fits_budget"}
#: Amounts of time and of memory that is free, in text for people.
MEASURED = re.compile(r"[\d.]+(e[+-]?\d+)? ?(s|ms|us|ns|min|core-seconds|KiB|MiB|GiB|B|[MG]B/s|[GM]?FLOP/s)\b")


def plain(value, folder):
    """Without echo, moment and the name of the folder that a run writes to."""
    if isinstance(value, dict):
        return {key: plain(item, folder) for key, item in value.items() if key not in ECHO | MOMENT}
    if isinstance(value, (list, tuple)):
        return [plain(item, folder) for item in value]
    if isinstance(value, float) and np.isnan(value):
        return None
    return value.replace(str(folder), "OUT") if isinstance(value, str) else value


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def array_digest(values):
    values = np.ascontiguousarray(values)
    return f"{values.dtype}{values.shape} {digest(values.tobytes())}"


def text_of(value, folder):
    """A text of a file; where that is JSON, without echo and moment."""
    text = value.decode() if isinstance(value, bytes) else str(value)
    try:
        return plain(json.loads(text), folder)
    except ValueError:
        return text.replace(str(folder), "OUT")


def contents(path, folder):
    """What a file holds, beside echo and moment."""
    if path.suffix in {".h5", ".nc", ".cxi", ".ptyr"} and h5py.is_hdf5(path):
        found = {}

        def visit(name, item):
            for attribute, value in item.attrs.items():
                found[f"{name} {attribute}"] = text_of(value, folder)
            if isinstance(item, h5py.Dataset) and not (ECHO | MOMENT) & set(name.split("/")):
                found[name] = array_digest(item[()]) if item.dtype.kind not in "OS" else text_of(item[()], folder)

        with h5py.File(path) as file:
            file.visititems(visit)
            found["attributes"] = {name: text_of(value, folder) for name, value in file.attrs.items() if name not in ECHO | MOMENT}
        return found
    if path.suffix == ".npz":
        with np.load(path) as loaded:
            return {name: array_digest(loaded[name]) for name in loaded if not (ECHO | MOMENT) & set(name.split("/"))}
    if path.suffix == ".jsonl":  # times end each line
        return len(path.read_text().splitlines())
    if path.suffix in {".html", ".pdf", ".part"} or path.name == "report.json":  # times and settings: that it is there says enough
        return "there"
    if path.suffix == ".csv":  # whose last column may be seconds
        lines = path.read_text().splitlines()
        return [line.rpartition(",")[0] for line in lines] if lines[0].endswith("seconds") else lines
    if path.suffix in {".toml", ".json"}:
        return text_of(path.read_text(), folder)
    return digest(path.read_bytes())


def found(verb, inputs, settings, folder):
    """Runs a verb in ``folder``, which is emptied afterwards: everything that it finds, says and writes, or how it refuses."""
    folder.mkdir(parents=True)
    _sonde.set_thread_count(2)
    try:
        result = sonde.run(verb, *inputs, **settings)
        report = result.report
        # Sorted: what works side by side reports in any order.
        said = sorted(MEASURED.sub("#", line) for line in result.said if not line.startswith(("times ", "paths ", "stages ")))
        limits = {where: limit for where, limit in report.get("memory", {}).get("limits", {}).items() if "available" not in limit["because"]}
        outcome = {"facts": result.facts, "choices": [{**c, "because": MEASURED.sub("#", c["because"])} for c in result.choices],
                   "checks": report.get("checks"), "messages": report.get("messages"), "said": said, "text": result.text, "limits": limits,
                   "arrays": {name: array_digest(result[name]) for name in result if not name.startswith("run/")}}  # of the moment
    except sonde.Error as error:
        outcome = {"refused": [error.kind, error.message]}
    outcome = plain(outcome, folder)
    outcome["threads"] = _sonde.thread_count()
    outcome["files"] = {str(path.relative_to(folder)): contents(path, folder) for path in sorted(folder.rglob("*")) if path.is_file()}
    shutil.rmtree(folder)
    return json.loads(json.dumps(outcome))


def differing(one, other):
    """Which parts of two outcomes differ."""
    return sorted(part for part in one.keys() | other.keys() if one.get(part) != other.get(part))


def other_values(field):
    """Values of a described setting beside its default, within its limits; none for a text."""
    if field["type"] == "toggle":
        return [not field["default"]]
    if field["choices"]:
        return [word for word in field["choices"] if word != field["default"]]
    if field["type"] not in {"whole", "real"}:
        return []
    low, high = field["min"], field["max"]
    now = field["default"]
    start = now if now is not None else low if low is not None else 0
    wanted = [start + 1, start * 1.5 if start else 0.5, start * 0.5 if start else 0.25, start - 1]
    if field["type"] == "whole":
        wanted = [int(value) for value in wanted]
    return [value for value in dict.fromkeys(wanted)
            if value != now and (low is None or value >= low) and (high is None or value <= high)][:2]


def path_of(text, places):
    """``"{scan}"`` as the file that the test has of it."""
    if isinstance(text, list):
        return [path_of(each, places) for each in text]
    return text.format(**places) if isinstance(text, str) else text


class Case:
    """Where a setting acts: what is given beside it, and the values that it takes in place of those made from its type."""

    def __init__(self, *values, inputs=None, **given):
        self.values, self.inputs, self.given = values, inputs, given
