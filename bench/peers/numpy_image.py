# SPDX-License-Identifier: Apache-2.0
"""Virtual image of a 256 x 256 x 96 x 96 u8 scan with NumPy: numpy_image.py bf|adf. The best of three ways counts."""
import json
import sys
import time

import numpy as np


def main() -> None:
    inner, outer = {"bf": (0.0, 10.03), "adf": (10.0, 19.72)}[sys.argv[1]]
    frames = np.random.default_rng(1).integers(0, 4, (65536, 96 * 96), dtype=np.uint8)
    row, col = np.mgrid[:96, :96]
    distance = np.hypot(row - 47.5, col - 47.5)
    mask = ((distance >= inner) & (distance < outer)).ravel()
    chosen = np.flatnonzero(mask)
    weights = mask.astype(np.float32)
    ways = {
        "tensordot": lambda: np.tensordot(frames, weights, axes=(1, 0)),
        "take": lambda: frames.take(chosen, axis=1).sum(axis=1, dtype=np.uint32),
        "boolean": lambda: frames[:, mask].sum(axis=1, dtype=np.uint32),
    }
    best = {}
    for name, way in ways.items():
        way()
        start = time.perf_counter()
        way()
        best[name] = time.perf_counter() - start
    print(json.dumps({"seconds": min(best.values()), "ways": best}))


main()
