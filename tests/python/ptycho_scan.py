# SPDX-License-Identifier: Apache-2.0
"""A small scan for tests of ptychography, made by the slow loops of ptycho_reference.py."""

import types

import numpy as np

import ptycho_reference as reference

ROWS, COLS = 24, 20  # not square, so that exchanged axes show


def gaussian_modes(modes, rows=ROWS, cols=COLS):
    """Orthogonal enough: a Gaussian with curved phase, times the coordinates, weaker and weaker."""
    y, x = np.arange(rows)[:, None] - rows // 2, np.arange(cols)[None, :] - cols // 2
    first = np.exp(-(x**2 + y**2) / (2 * 3.5**2) + 0.04j * (x**2 + 0.7 * y**2))
    all_modes = [first, 0.15 * y * first, 0.12 * x * first][:modes]
    return np.array(all_modes)


def scan(*, side=6, step=3.0, modes=1, jitter=0.4, counts=1e5, whole=False, dead=(), seed=5):
    """Counts (frames, rows, cols) of uint16 with the zero frequency at floor(n / 2), and all they were made of."""
    random = np.random.default_rng(seed)
    grid = np.array([(step * i, step * k) for i in range(side) for k in range(side)])
    moved = grid + random.uniform(-jitter, jitter, grid.shape)
    positions = np.floor(moved + 0.5) if whole else moved
    # As the library places it: windows reach floor(n / 2) beyond the positions.
    inside = positions - np.floor(positions.min(axis=0) + 0.5) + (ROWS // 2, COLS // 2)
    extent = (np.floor(inside.max(axis=0) + 0.5) + (ROWS, COLS)).astype(int)
    y, x = np.meshgrid(np.arange(extent[0]), np.arange(extent[1]), indexing="ij")
    phase = 0.5 * np.sin(0.55 * y + 0.2 * x) + 0.4 * np.cos(0.7 * x) + 0.3 * ((x - 18) ** 2 + (y - 16) ** 2 < 40)
    object_ = (1 - 0.1 * (np.cos(0.3 * x * y / 20) + 1)) * np.exp(1j * phase)
    probe = gaussian_modes(modes)
    probe *= np.sqrt(counts / (np.abs(probe) ** 2).sum())
    rates = reference.intensities(object_, probe, inside)
    frames = random.poisson(np.fft.fftshift(rates, axes=(1, 2)))
    assert frames.max() < 65536
    good = np.ones((ROWS, COLS), bool)
    for row, col in dead:
        good[row, col] = False
    frames[:, ~good] = 0
    start = gaussian_modes(modes) * np.exp(0.1j * np.arange(COLS) / COLS)
    return types.SimpleNamespace(frames=frames.astype(np.uint16), positions=positions, object=object_, probe=probe, inside=inside,
                                 good=good, start=start, side=side, step=step)
