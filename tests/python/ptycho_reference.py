# SPDX-License-Identifier: Apache-2.0
"""Ptychography written out in NumPy with a loop over every position and every mode, as slow as that is.

Nothing here comes from the library: the formulas are those of docs/ptycho-theory.md (forward model, losses, gd, projections), the random order
that of Philox4x32-10 (Salmon and others 2011) and of Fisher and Yates.
"""

import numpy as np


def shifted(wave, row, col):
    """psi(r) -> psi(r - shift), cyclic, by a phase ramp in Fourier space."""
    if row == 0 and col == 0:
        return wave
    ramp = np.exp(-2j * np.pi * (np.fft.fftfreq(wave.shape[0])[:, None] * row + np.fft.fftfreq(wave.shape[1])[None, :] * col))
    return np.fft.ifft2(np.fft.fft2(wave) * ramp)


def placed(position, shape):
    """The window's first row and column in the object, and the fraction of a pixel beyond."""
    whole = [int(np.floor(x + 0.5)) for x in position]
    origin = [whole[i] - shape[i] // 2 for i in (0, 1)]
    return origin[0], origin[1], position[0] - whole[0], position[1] - whole[1]


def far_field(wave):
    return np.fft.fft2(wave, norm="ortho")


def exit_plane(wave):
    return np.fft.ifft2(wave, norm="ortho")


def intensities(object_, probe, positions):
    """|F[P_j O]|^2 summed over modes, zero frequency at [0, 0]: (frames, rows, cols)."""
    rows, cols = probe.shape[1:]
    found = np.zeros((len(positions), rows, cols))
    for j, position in enumerate(positions):
        row, col, down, right = placed(position, (rows, cols))
        for mode in probe:
            found[j] += np.abs(far_field(shifted(mode, down, right) * object_[row:row + rows, col:col + cols])) ** 2
    return found


class Misfit:
    """R_I over the measured pixels of all frames: sqrt(sum (I_m - I)^2 / sum I_m^2)."""

    def __init__(self, counts, good):
        self.counts, self.good = counts, good
        self.total = (counts[:, good].astype(float) ** 2).sum()
        self.squares = 0.0

    def add(self, j, intensity):
        self.squares += ((self.counts[j] - intensity)[self.good] ** 2).sum()

    @property
    def value(self):
        return np.sqrt(self.squares / self.total)


def gd(object_, probe, positions, counts, good, *, iterations, step, g, batches, probe_start=2):
    """Preconditioned batch gradient (4.4); `batches(iteration)` lists the frames of each batch in order."""
    object_, probe = object_.copy(), probe.copy()
    rows, cols = probe.shape[1:]
    eps = 1e-10 * counts[:, good].sum(axis=1).mean()
    curve = []
    for iteration in range(1, iterations + 1):
        misfit = Misfit(counts, good)
        for batch in batches(iteration):
            object_sum, object_weight = np.zeros_like(object_), np.zeros(object_.shape)
            probe_sum, probe_weight = np.zeros_like(probe), np.zeros((rows, cols))
            for j in batch:
                row, col, down, right = placed(positions[j], (rows, cols))
                window = object_[row:row + rows, col:col + cols]
                probes = [shifted(mode, down, right) for mode in probe]
                waves = [far_field(mode * window) for mode in probes]
                intensity = sum(np.abs(wave) ** 2 for wave in waves)
                misfit.add(j, intensity)
                factor = np.where(good, np.sqrt(counts[j] / (intensity + eps)) - 1, 0)
                probe_weight += np.abs(window) ** 2
                for m, wave in enumerate(waves):
                    chi = exit_plane(factor * wave)
                    object_sum[row:row + rows, col:col + cols] += np.conj(probes[m]) * chi
                    object_weight[row:row + rows, col:col + cols] += np.abs(probes[m]) ** 2
                    probe_sum[m] += shifted(np.conj(window) * chi, -down, -right)

            def divisor(weight):
                return np.sqrt(1e-16 + ((1 - g) * weight) ** 2 + (g * weight.max()) ** 2)

            object_ += step * object_sum / divisor(object_weight)
            if iteration >= probe_start:
                probe += step * probe_sum / divisor(probe_weight)
        curve.append(misfit.value)
    return np.array(curve), object_, probe


def projections(object_, probe, positions, counts, good, *, iterations, a, b, c, relax=0.05, keep_object=1e-4,
                keep_probe=1e-9, rounds=10, probe_change=0.05, probe_start=2):
    """psi+ = (1 - a - b) psi + a PiO(psi) + b PiF(c PiO(psi) + (1 - c) psi) (4.5), for positions on whole pixels."""
    object_, probe = object_.copy(), probe.copy()
    frames, (modes, rows, cols) = len(positions), probe.shape
    eps = 1e-10 * counts[:, good].sum(axis=1).mean()
    bound = 0.25 * relax**2 * counts[:, good].sum(axis=1).max() / good.sum()
    corners = []
    for position in positions:
        row, col, down, right = placed(position, (rows, cols))
        assert down == 0 and right == 0
        corners.append((slice(row, row + rows), slice(col, col + cols)))
    psi = np.array([[mode * object_[corner] for mode in probe] for corner in corners])

    curve = []
    for iteration in range(1, iterations + 1):
        for _ in range(rounds):
            above, below = np.zeros_like(object_), np.zeros(object_.shape)
            for j, corner in enumerate(corners):
                for m in range(modes):
                    above[corner] += np.conj(probe[m]) * psi[j, m]
                    below[corner] += np.abs(probe[m]) ** 2
            keep = keep_object * below.mean()
            object_ = (keep * object_ + above) / (keep + below)
            if iteration < probe_start:
                break
            above, below = np.zeros_like(probe), np.zeros((rows, cols))
            for j, corner in enumerate(corners):
                below += np.abs(object_[corner]) ** 2
                for m in range(modes):
                    above[m] += np.conj(object_[corner]) * psi[j, m]
            keep = keep_probe * below.mean()
            before, probe = probe, (keep * probe + above) / (keep + below)
            if np.linalg.norm(probe - before) < probe_change * np.linalg.norm(before):
                break

        misfit = Misfit(counts, good)
        for j, corner in enumerate(corners):
            best = np.array([mode * object_[corner] for mode in probe])
            misfit.add(j, sum(np.abs(far_field(wave)) ** 2 for wave in best))
            mixed = [far_field(c * best[m] + (1 - c) * psi[j, m]) for m in range(modes)]
            modulus = np.sqrt(sum(np.abs(wave) ** 2 for wave in mixed))
            measured = np.sqrt(counts[j])
            error = ((modulus - measured)[good] ** 2).mean()
            left = 1 if error <= bound else np.sqrt(bound / error)
            wanted = measured + left * (modulus - measured)
            scale = np.where(good, wanted / np.sqrt(modulus**2 + eps), 1)
            for m in range(modes):
                psi[j, m] = (1 - a - b) * psi[j, m] + a * best[m] + b * exit_plane(scale * mixed[m])
        curve.append(misfit.value)
    return np.array(curve), object_, probe


# The order in which frames are worked on


def philox(counter, key):
    """Four words of 32 bits from a counter of four and a key of two."""
    for _ in range(10):
        left, right = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(right >> 32) ^ counter[1] ^ key[0], right & 0xFFFFFFFF, (left >> 32) ^ counter[3] ^ key[1], left & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def permutation(count, seed, stream):
    """0 ... count - 1 shuffled by the numbers of one stream: every block of four words gives two of 64 bits."""
    def numbers():
        block = 0
        while True:
            words = philox([block & 0xFFFFFFFF, block >> 32, stream & 0xFFFFFFFF, stream >> 32], [seed & 0xFFFFFFFF, seed >> 32])
            yield words[1] << 32 | words[0]
            yield words[3] << 32 | words[2]
            block += 1

    drawn = numbers()
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        n = last + 1
        number = next(drawn)
        while number < 2**64 % n:  # what is left divides evenly
            number = next(drawn)
        order[last], order[number % n] = order[number % n], order[last]
    return order


def random_batches(count, size, seed):
    """ceil(count / size) batches of one random order per iteration, as equal as they can be."""
    pieces = -(-count // size)

    def of(iteration):
        order = permutation(count, seed, iteration << 32)
        bounds = [piece * count // pieces for piece in range(pieces + 1)]
        return [order[bounds[i]:bounds[i + 1]] for i in range(pieces)]

    return of
