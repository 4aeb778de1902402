# SPDX-License-Identifier: Apache-2.0
"""Centre of mass of u16 frames in memory with NumPy: numpy_com.py py4dstem|best SIDE FRAMES THREADS, for a part of the
frames at a time. py4dstem is a transcription of its vectorised sums of patterns times coordinates; best the fastest of
three ways that give the same numbers."""
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
    data = np.random.default_rng(1).poisson(1.0, (min(part, 256), side, side)).astype(np.uint16)
    data = np.resize(data, (part, side, side))
    row, col = (axis.astype(np.float32) for axis in np.mgrid[:side, :side])
    weights = np.stack([np.ones_like(row), row, col]).reshape(3, -1).T.copy()
    chunk = max(1, (4 << 20) // (4 * side * side))  # frames as f32 that stay near the caches

    def product():
        for first in range(0, part, chunk):
            yield data[first:first + chunk].reshape(-1, side * side).astype(np.float32) @ weights

    def einsum():
        for first in range(0, part, chunk):
            some = data[first:first + chunk]
            yield np.einsum("nij,ij->n", some, row), np.einsum("nij,ij->n", some, col), some.sum((1, 2))

    def profiles():
        for first in range(0, part, chunk):
            some = data[first:first + chunk]
            rows, cols = some.sum(2, dtype=np.uint32), some.sum(1, dtype=np.uint32)
            yield rows @ np.arange(side), cols @ np.arange(side), rows.sum(1)

    best = {}
    for way in (einsum,) if kind == "py4dstem" else (product, einsum, profiles):
        seconds = []
        for _ in range(2):
            start = time.perf_counter()
            for result in way():
                del result
            seconds.append(time.perf_counter() - start)
        best[way.__name__] = min(seconds) * frames / part
    print(json.dumps({"seconds": min(best.values()), "ways": best}))


main()
