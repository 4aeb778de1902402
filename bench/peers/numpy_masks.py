# SPDX-License-Identifier: Apache-2.0
"""100 masks over u16 frames in memory as one product of matrices with NumPy: numpy_masks.py rings|random SIDE FRAMES
THREADS. A transcription of LiberTEM's way: frames become f32, and masks are the columns of a matrix."""
import json
import os
import sys
import time

kind = sys.argv[1]
side, frames, threads = (int(word) for word in sys.argv[2:5])
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = str(threads)
import numpy as np  # noqa: E402  (reads the number of threads)


def main() -> None:
    part = min(frames, max(1, (64 << 20) // (2 * side * side)))
    random = np.random.default_rng(1)
    data = np.resize(random.poisson(1.0, (min(part, 256), side * side)).astype(np.uint16), (part, side * side))
    if kind == "rings":
        row, col = np.mgrid[:side, :side] - side / 2
        ring = (np.hypot(row, col).ravel() / (side / 200)).astype(int)
        masks = (ring[:, None] == np.arange(100)).astype(np.float32)
    else:
        masks = random.integers(0, 2, (side * side, 100)).astype(np.float32)
    chunk = max(1, (4 << 20) // (4 * side * side))
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        for first in range(0, part, chunk):
            data[first:first + chunk].astype(np.float32) @ masks
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": min(seconds) * frames / part}))


main()
