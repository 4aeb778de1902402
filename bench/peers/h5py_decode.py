# SPDX-License-Identifier: Apache-2.0
"""Decode a scan with h5py and the packaged bitshuffle filter: h5py_decode.py MASTER touched|fresh.

`touched` reads into memory that was written before the clock starts, `fresh` opens the file and lets NumPy allocate.
"""
import json
import os
import sys
import time

os.environ.setdefault("HDF5_PLUGIN_PATH", "/usr/lib/x86_64-linux-gnu/hdf5/serial/plugins")
import h5py  # noqa: E402
import numpy as np  # noqa: E402


def read_all(master: str, arrays: list | None) -> int:
    """Reads every data file behind the master; into `arrays` when given."""
    total = 0
    with h5py.File(master) as file:
        group = file["/entry/data"]
        for i, name in enumerate(sorted(key for key in group if key.startswith("data_"))):
            dataset = group[name]
            if arrays is None:
                total += dataset[...].nbytes
            else:
                dataset.read_direct(arrays[i])
                total += arrays[i].nbytes
    return total


def main() -> None:
    master, memory = sys.argv[1:3]
    arrays = None
    if memory == "touched":
        with h5py.File(master) as file:
            group = file["/entry/data"]
            names = sorted(key for key in group if key.startswith("data_"))
            arrays = [np.ones(group[name].shape, group[name].dtype) for name in names]
    start = time.perf_counter()
    total = read_all(master, arrays)
    print(json.dumps({"seconds": time.perf_counter() - start, "bytes": total}))


main()
