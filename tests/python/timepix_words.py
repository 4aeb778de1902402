# SPDX-License-Identifier: Apache-2.0
"""Writes raw data of a Timepix3 detector from known hits and edges, after the tables of the SERVAL manual."""

from __future__ import annotations

import numpy as np

TICK_S = 25e-9 / 16  #: of a hit; edges are in sixths of it


def hit_words(ticks, x, y, tot):
    """ticks of 1.5625 ns; x and y on the chip."""
    ticks, x, y, tot = (np.asarray(each, np.uint64) for each in np.broadcast_arrays(ticks, x, y, tot))
    coarse = (ticks + np.uint64(15)) // np.uint64(16)
    fine = coarse * np.uint64(16) - ticks
    toa, spidr = coarse % np.uint64(1 << 14), coarse // np.uint64(1 << 14) % np.uint64(1 << 16)
    address = x // np.uint64(2) * np.uint64(512) + y // np.uint64(4) * np.uint64(8) + x % np.uint64(2) * np.uint64(4) + y % np.uint64(4)
    word = np.uint64(0xB) << np.uint64(60) | address << np.uint64(44) | toa << np.uint64(30)
    return word | tot << np.uint64(20) | fine << np.uint64(16) | spidr


def edge_words(sixths, kind=0xF):
    """sixths of 1.5625 ns; 0xF, 0xA: rise and fall of TDC1; 0xE, 0xB: of TDC2."""
    sixths = np.asarray(sixths, np.uint64)
    coarse, fine = sixths // np.uint64(12) % np.uint64(1 << 35), sixths % np.uint64(12) + np.uint64(1)
    return np.uint64(0x60 | kind) << np.uint64(56) | coarse << np.uint64(9) | fine << np.uint64(5)


def chunks(words, chip=0, each=1000):
    """The bytes of a file."""
    parts = []
    for first in range(0, len(words), each):
        part = np.asarray(words[first : first + each], np.uint64)
        head = 0x33585054 | chip << 32 | (8 * len(part)) << 48
        parts.append(np.array([head], "<u8").tobytes() + part.astype("<u8").tobytes())
    return b"".join(parts)


def line_scan(rows, cols, dwell_ticks, per_position, seed=1, flyback=0.2, hits_each=3, detector=256, late=64000):
    """A scan with an edge before every line: bytes of the file, and of every electron the position (-1 in flybacks) and pixel.

    Electrons have up to `hits_each` hits about one that has most of the time over threshold; words come up to `late` ticks late.
    """
    rng = np.random.default_rng(seed)
    period = int(round(cols * dwell_ticks * (1 + flyback)))
    start = 10_000 + period * np.arange(rows)
    count = int(per_position * rows * period / dwell_ticks)
    time = np.sort(rng.integers(start[0], start[0] + rows * period, count))
    x = np.clip(np.rint(rng.normal(detector / 2, detector / 6, count)), 2, detector - 3).astype(int)
    y = np.clip(np.rint(rng.normal(detector / 2 + 7, detector / 6, count)), 2, detector - 3).astype(int)
    words, order = [hit_words(time, x, y, 300)], [time]
    for step, more in ((1, 0), (0, 1), (-1, 0))[: hits_each - 1]:
        there = rng.random(count) < 0.5
        delay = rng.integers(0, 40, count)
        words.append(hit_words(time + delay, x + step, y + more, 20)[there])
        order.append((time + delay)[there])
    words.append(edge_words(6 * start))
    order.append(start)
    words, order = np.concatenate(words), np.concatenate(order)
    words = words[np.argsort(order + rng.integers(0, late + 1, len(order)), kind="stable")]
    line, since = (time - start[0]) // period, (time - start[0]) % period
    position = np.where(since < cols * dwell_ticks, line * cols + since // dwell_ticks, -1)
    return chunks(words), position, y * 256 + x
