# SPDX-License-Identifier: Apache-2.0
"""Bragg disks of patterns with SciPy: scipy_disks.py SIDE PATTERNS THREADS. A transcription of py4DSTEM's find_Bragg_disks
with a parabola, in batches: correlation with a template, smoothing, maxima above a threshold, the brightest 70 that are
apart, and a parabola in each axis."""
import json
import sys
import time

import numpy as np
from scipy import fft

side, patterns, threads = (int(word) for word in sys.argv[1:4])


def scene(random: np.random.Generator, count: int, radius: float) -> np.ndarray:
    row, col = np.mgrid[:side, :side]
    rate = np.full((side, side), 0.2)
    scale = side / 128
    for h in range(-2, 3):
        for k in range(-2, 3):
            y = side / 2 + (3.7 * h + 18.5 * k) * scale
            x = side / 2 + (17.6 * h - 3.2 * k) * scale
            rate += 8 * np.exp(-(h * h + k * k) / 4) / (1 + np.exp((np.hypot(row - y, col - x) - radius) / 0.8))
    return random.poisson(rate, (count, side, side)).astype(np.uint16)


def main() -> None:
    radius = 7 * side / 128
    part = min(patterns, 64)
    data = scene(np.random.default_rng(1), part, radius)
    distance = np.hypot(*np.meshgrid(fft.fftfreq(side, 1 / side), fft.fftfreq(side, 1 / side), indexing="ij"))
    disk = 1 / (1 + np.exp((distance - radius) / 0.5))
    trench = np.where((distance > radius) & (distance < 2 * radius),
                      np.cos(np.pi * (distance - 1.5 * radius) / radius) ** 2, 0)
    kernel = disk / disk.sum() - trench / trench.sum()
    qy, qx = fft.fftfreq(side)[:, None], fft.rfftfreq(side)[None]
    weight = np.conj(fft.rfft2(kernel)) * np.exp(-2 * np.pi**2 * 4 * (qy**2 + qx**2))
    weight = weight.astype(np.complex64)
    edge = int(radius) + 1

    def find(batch: np.ndarray) -> int:
        spectrum = fft.rfft2(batch.astype(np.float32), workers=threads)
        correlation = np.maximum(fft.irfft2(spectrum * weight, s=(side, side), workers=threads), 0)
        inner = correlation[:, 1:-1, 1:-1]
        peak = np.ones(inner.shape, bool)
        for dy in (0, 1, 2):
            for dx in (0, 1, 2):
                if (dy, dx) != (1, 1):
                    peak &= inner > correlation[:, dy:side - 2 + dy, dx:side - 2 + dx]
        peak[:, :edge], peak[:, -edge:], peak[:, :, :edge], peak[:, :, -edge:] = False, False, False, False
        found = 0
        for one, flags in zip(correlation, peak):
            row, col = (axis + 1 for axis in np.nonzero(flags))
            height = one[row, col]
            if not height.size:
                continue
            order = np.argsort(-height)
            order = order[height[order] > 0.005 * height[order[0]]]
            row, col, height = row[order], col[order], height[order]
            near = np.hypot(row[:, None] - row, col[:, None] - col) < 1.5 * radius
            keep = np.ones(height.size, bool)
            for i in range(height.size):
                if keep[i]:
                    keep[i + 1:] &= ~near[i, i + 1:]
            row, col, height = row[keep][:70], col[keep][:70], height[keep][:70]
            for before, after in ((one[row - 1, col], one[row + 1, col]), (one[row, col - 1], one[row, col + 1])):
                (after - before) / (4 * height - 2 * before - 2 * after)
            found += height.size
        return found

    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        found = sum(find(data[first:first + 16]) for first in range(0, part, 16))
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": min(seconds) * patterns / part, "disks": found / part}))


main()
