# SPDX-License-Identifier: Apache-2.0
"""module.py FOLDER MASTER: uses the package installed in FOLDER; exit status 0 when every instrument has its verbs as functions,
and an image of a scan, where that can be made, all counts."""

import sys

import numpy as np

import sonde

folder, master = sys.argv[1:]
assert sonde.__file__.startswith(folder), sonde.__file__
for verb in sonde.verbs():
    instrument, name = verb.split()
    assert callable(getattr(getattr(sonde, instrument), name)), verb
if hasattr(sonde, "stem"):
    sonde.stem.simulate(master, scan_shape=(4, 4), detector_shape=(32, 32), disk_radius=4)
    with sonde.stem.load(master) as ds:
        np.testing.assert_array_equal(ds.image("all"), ds.array.sum(axis=(2, 3), dtype=np.uint64))
        print(f"import sonde {sonde.__version__}: {ds!r}")
