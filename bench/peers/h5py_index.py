# SPDX-License-Identifier: Apache-2.0
"""Find every chunk of a data file through h5py, by coordinate: h5py_index.py DATA."""
import json
import sys
import time

import h5py


def main() -> None:
    with h5py.File(sys.argv[1]) as file:
        dataset = file["/entry/data/data"].id
        start = time.perf_counter()
        sizes = [dataset.get_chunk_info_by_coord((i, 0, 0)).size for i in range(dataset.shape[0])]
        print(json.dumps({"seconds": time.perf_counter() - start, "chunks": len(sizes)}))


main()
