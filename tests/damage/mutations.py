# SPDX-License-Identifier: Apache-2.0
"""Damage to the bytes of a file, as copies break off, disks fail and attackers write. The same seed gives the same damage."""

from __future__ import annotations

import random
from collections.abc import Callable

from checksums import reseal

#: Numbers on which sizes, counts and addresses break.
EXTREMES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def flip_bits(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        data[_place(data, rng)] ^= 1 << rng.randrange(8)


def other_bytes(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 2, 8, 64])):
        data[_place(data, rng)] = rng.randrange(256)


def extreme_number(data: bytearray, rng: random.Random) -> None:
    width = rng.choice([1, 2, 4, 8])
    at = _place(data, rng)
    value = rng.choice(EXTREMES) & (1 << 8 * width) - 1
    number = value.to_bytes(width, rng.choice(["little", "big"]))
    data[at : at + width] = number[: len(data) - at]


def swap_pieces(data: bytearray, rng: random.Random) -> None:
    length = rng.randrange(1, max(2, min(512, len(data) // 2)))
    a, b = (rng.randrange(len(data) - length + 1) for _ in range(2))
    first, second = data[a : a + length], data[b : b + length]
    data[a : a + length], data[b : b + length] = second, first


def zero_range(data: bytearray, rng: random.Random) -> None:
    length = rng.randrange(1, max(2, min(1024, len(data))))
    at = _place(data, rng)
    data[at : at + length] = bytes(len(data[at : at + length]))


def repeat_piece(data: bytearray, rng: random.Random) -> None:
    length = rng.randrange(1, max(2, min(256, len(data))))
    at = _place(data, rng)
    data[at:at] = data[at : at + length]


def lose_piece(data: bytearray, rng: random.Random) -> None:
    length = rng.randrange(1, max(2, min(256, len(data))))
    at = _place(data, rng)
    del data[at : at + length]


MUTATIONS: list[Callable[[bytearray, random.Random], None]] = [
    cut, flip_bits, flip_bits, other_bytes, other_bytes, extreme_number, extreme_number, swap_pieces, zero_range, repeat_piece, lose_piece]


def _place(data: bytearray, rng: random.Random) -> int:
    """Anywhere; half of the time where formats keep their heads."""
    return rng.randrange(min(len(data), 4096) if rng.random() < 0.5 else len(data))


def mutated(original: bytes, rng: random.Random) -> bytes:
    """A copy with one to three damages, half of the time with right checksums; never the original."""
    while True:
        data = bytearray(original)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            if data:
                rng.choice(MUTATIONS)(data, rng)
        if rng.random() < 0.5:
            reseal(original, data)
        if bytes(data) != original:
            return bytes(data)
