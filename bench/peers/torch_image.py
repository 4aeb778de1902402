# SPDX-License-Identifier: Apache-2.0
"""Virtual image of a 256 x 256 x 96 x 96 u8 scan with PyTorch on the CPU: torch_image.py bf|adf. The best way counts."""
import json
import sys
import time

import numpy as np
import torch


def main() -> None:
    inner, outer = {"bf": (0.0, 10.03), "adf": (10.0, 19.72)}[sys.argv[1]]
    frames = torch.from_numpy(np.random.default_rng(1).integers(0, 4, (65536, 96 * 96), dtype=np.uint8))
    row, col = np.mgrid[:96, :96]
    distance = np.hypot(row - 47.5, col - 47.5)
    mask = torch.from_numpy(((distance >= inner) & (distance < outer)).ravel())
    chosen = torch.nonzero(mask).ravel()
    weights = mask.to(torch.float32)
    ways = {
        "tensordot": lambda: torch.tensordot(frames.to(torch.float32), weights, dims=1),
        "index_select": lambda: frames.index_select(1, chosen).sum(dim=1, dtype=torch.int32),
    }
    best = {}
    for name, way in ways.items():
        way()
        start = time.perf_counter()
        way()
        best[name] = time.perf_counter() - start
    print(json.dumps({"seconds": min(best.values()), "ways": best}))


main()
