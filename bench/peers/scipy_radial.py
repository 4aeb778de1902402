# SPDX-License-Identifier: Apache-2.0
"""64 rings, or 64 rings of 180 sectors, of u16 frames in memory with SciPy: scipy_radial.py rings|sectors SIDE FRAMES
THREADS. A transcription of pyFAI's method "csr", a product with a sparse matrix, for many frames at a time; and
numpy.bincount frame by frame. The better one counts."""
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

kind = sys.argv[1]
side, frames, threads = (int(word) for word in sys.argv[2:5])
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = str(threads)
import numpy as np  # noqa: E402  (reads the number of threads)
from scipy import sparse  # noqa: E402


def main() -> None:
    part = min(frames, max(1, (32 << 20) // (2 * side * side)))
    random = np.random.default_rng(1)
    data = np.resize(random.poisson(1.0, (min(part, 128), side * side)).astype(np.uint16), (part, side * side))
    middle = (side - 1) / 2
    row, col = np.mgrid[:side, :side] - middle
    ring = (np.hypot(row, col).ravel() / middle * 64).astype(int)
    sectors = 180 if kind == "sectors" else 1
    sector = (np.arctan2(row, col).ravel() % (2 * np.pi) / (2 * np.pi) * sectors).astype(int) % sectors
    inside = np.flatnonzero(ring < 64)
    bins = 64 * sectors
    label = np.where(ring < 64, ring * sectors + sector, bins)
    matrix = sparse.csr_matrix((np.ones(inside.size, np.float32), (label[inside], inside)), (bins, side * side))
    chunk = 32

    def product(first: int) -> None:
        matrix @ data[first:first + chunk].astype(np.float32).T

    def bincount(first: int) -> None:
        for frame in data[first:first + chunk]:
            np.bincount(label, frame, bins + 1)

    best = {}
    with ThreadPoolExecutor(threads) as pool:
        for way in (product, bincount):
            seconds = []
            for _ in range(2):
                start = time.perf_counter()
                list(pool.map(way, range(0, part, chunk)))
                seconds.append(time.perf_counter() - start)
            best[way.__name__] = min(seconds) * frames / part
    print(json.dumps({"seconds": min(best.values()), "ways": best}))


main()
