# SPDX-License-Identifier: Apache-2.0
"""Decode a scan with h5py and take float32 means of 2 x 2 pixels, as most readers do: h5py_bin.py MASTER."""
import json
import os
import sys
import time

os.environ.setdefault("HDF5_PLUGIN_PATH", "/usr/lib/x86_64-linux-gnu/hdf5/serial/plugins")
import h5py  # noqa: E402
import numpy as np  # noqa: E402


def main() -> None:
    start = time.perf_counter()
    with h5py.File(sys.argv[1]) as file:
        group = file["/entry/data"]
        for name in sorted(key for key in group if key.startswith("data_")):
            dataset = group[name]
            frames, rows, cols = dataset.shape
            binned = np.empty((frames, rows // 2, cols // 2), np.float32)
            for first in range(0, frames, 512):  # blocks: the floats of a whole file would not fit
                block = dataset[first : first + 512]
                view = block.reshape(len(block), rows // 2, 2, cols // 2, 2)
                view.mean(axis=(2, 4), dtype=np.float32, out=binned[first : first + len(block)])
    print(json.dumps({"seconds": time.perf_counter() - start}))


main()
