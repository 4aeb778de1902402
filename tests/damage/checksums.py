# SPDX-License-Identifier: Apache-2.0
"""Checksums of HDF5 structures put right after damage, as somebody who damages a file on purpose does: else all that is found in
files of the newer format is a wrong checksum."""

from __future__ import annotations

import functools
import struct
import zlib

import numpy as np

#: What begins a structure whose last four bytes are the checksum of those before.
SIGNATURES = [b"OHDR", b"OCHK", b"BTHD", b"BTIN", b"BTLF", b"FRHP", b"FHIB", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB"]
SEAL = b"\nsonde crc32 00000000\n"
LONGEST = 3072  #: longer structures keep their wrong checksum
MOST = 100  #: structures of one file


def _rotated(x: np.ndarray, turn: int) -> np.ndarray:
    return (x << np.uint32(turn)) | (x >> np.uint32(32 - turn))


def lookup3(data: bytes, lengths: np.ndarray) -> np.ndarray:
    """Bob Jenkins' hash of data[:length] for every length from 1 on."""
    blocks = (len(data) + 11) // 12
    words = np.frombuffer(data.ljust(12 * blocks, b"\0"), "<u4").reshape(-1, 3)
    state = [(np.uint32(0xDEADBEEF) + lengths.astype(np.uint32)) for _ in range(3)]

    def mix(a: int, b: int, c: int, turn: int) -> None:
        s[a] = (s[a] - s[c]) ^ _rotated(s[c], turn)
        s[c] = s[c] + s[b]

    last = (lengths - 1) // 12
    for block in range(int(last.max())):
        goes_on = block < last
        s = [x[goes_on] + w for x, w in zip(state, words[block])]
        for a, b, c, turn in ((0, 1, 2, 4), (1, 2, 0, 6), (2, 0, 1, 8), (0, 1, 2, 16), (1, 2, 0, 19), (2, 0, 1, 4)):
            mix(a, b, c, turn)
        for x, new in zip(state, s):
            x[goes_on] = new
    left = lengths - 12 * last
    tail = words[last].copy().view("u1").reshape(-1, 12)
    tail[np.arange(12)[None, :] >= left[:, None]] = 0
    a, b, c = (x + w for x, w in zip(state, tail.view("<u4").T))
    c = (c ^ b) - _rotated(b, 14)
    a = (a ^ c) - _rotated(c, 11)
    b = (b ^ a) - _rotated(a, 25)
    c = (c ^ b) - _rotated(b, 16)
    a = (a ^ c) - _rotated(c, 4)
    b = (b ^ a) - _rotated(a, 14)
    return (c ^ b) - _rotated(b, 24)


def _length(piece: bytes) -> int | None:
    """The length of a structure that begins here, its checksum included."""
    if piece.startswith(b"OHDR") and len(piece) > 34:
        flags = piece[5]
        size_at = 6 + (16 if flags & 32 else 0) + (4 if flags & 16 else 0)
        width = 1 << (flags & 3)
        return size_at + width + int.from_bytes(piece[size_at : size_at + width], "little") + 4
    for longest in (512, LONGEST):  # of the others only their neighbours know the length: where a checksum holds
        part = piece[:longest]
        lengths = np.arange(4, len(part) - 3)
        if len(lengths) == 0:
            return None
        stored = np.lib.stride_tricks.sliding_window_view(np.frombuffer(part, "u1"), 4)[4:].copy().view("<u4").ravel()
        if (found := lengths[lookup3(part, lengths) == stored]).size:
            return int(found[0]) + 4
    return None


@functools.lru_cache(maxsize=256)
def sealed(original: bytes) -> tuple[tuple[int, int], ...]:
    """Begin and end of every structure with a checksum that holds, the checksum included."""
    places = []
    if original.startswith(b"\x89HDF") and original[8] >= 2:
        places.append((0, 48))
    for signature in SIGNATURES:
        begin = original.find(signature)
        while begin >= 0 and len(places) < MOST:
            if length := _length(original[begin : begin + LONGEST]):
                places.append((begin, begin + length))
            begin = original.find(signature, begin + 4)
    return tuple(places)


def reseal(original: bytes, damaged: bytearray) -> None:
    """Corrects the checksums of what was damaged in place; damage that moves bytes is left as it is."""
    if len(original) != len(damaged) or not original.startswith(b"\x89HDF"):
        return
    _reseal_structures(original, damaged)
    if original[-len(SEAL) :].startswith(SEAL[:13]):  # of a checkpoint
        damaged[-len(SEAL) :] = b"\nsonde crc32 %08x\n" % zlib.crc32(damaged[: -len(SEAL)])


def _reseal_structures(original: bytes, damaged: bytearray) -> None:
    for begin, end in sealed(original):
        if original[begin:end] != damaged[begin:end]:
            content = bytes(damaged[begin : end - 4])
            damaged[end - 4 : end] = struct.pack("<I", int(lookup3(content, np.array([len(content)]))[0]))
