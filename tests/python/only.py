# SPDX-License-Identifier: Apache-2.0
"""only.py INSTRUMENT OTHER...: exit status 0 when the package that is found has this instrument, and none of the others."""

import importlib
import pathlib
import sys

import sonde

instrument, *others = sys.argv[1:]
folder = pathlib.Path(sonde.__file__).parent
assert sonde.verbs() and {verb.split()[0] for verb in sonde.verbs()} == {instrument}, sonde.verbs()

# Every file of the package can be imported, and has what it says.
for file in sorted(folder.rglob("*.py")):
    name = ".".join(file.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(name)
    for each in getattr(module, "__all__", []):
        getattr(module, each)

for verb in sonde.verbs():
    assert getattr(getattr(sonde, instrument), verb.split()[1]).__doc__, verb
for name in others:
    assert not hasattr(sonde, name), name
