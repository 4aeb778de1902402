# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of an object: a table, and small pictures beside it."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

#: Pixels along the longer edge of a picture; larger arrays are thinned out.
PICTURE_PX = 192


def table_html(title: str, rows: Sequence[tuple[str, str]], pictures: Sequence[tuple[str, npt.NDArray[Any]]] = ()) -> str:
    """A title, a table of names and values, and arrays of two dimensions as grey pictures. Texts are escaped."""
    lines = [f"<tr><th style='text-align: left'>{html.escape(name)}</th><td style='text-align: left'>{html.escape(value)}</td></tr>"
             for name, value in rows]
    figures = [f"<figure style='margin: 0'><img alt='{html.escape(caption)}' style='height: 8em; image-rendering: pixelated' "
               f"src='data:image/png;base64,{base64.b64encode(png(picture)).decode()}'><figcaption>{html.escape(caption)}</figcaption></figure>"
               for caption, picture in pictures]
    return f"<div style='display: flex; gap: 1em; align-items: flex-start'><div><b>{html.escape(title)}</b><table>{''.join(lines)}</table></div>" \
           f"{''.join(figures)}</div>"


def png(picture: npt.NDArray[Any]) -> bytes:
    """An array (rows, cols) as a grey PNG of 8 bits from its lowest to its highest finite value; others are black."""
    step = max(1, -(-max(picture.shape) // PICTURE_PX))
    values = np.asarray(picture[::step, ::step], np.float64)
    finite = np.isfinite(values)
    low, high = (values[finite].min(), values[finite].max()) if finite.any() else (0.0, 0.0)
    grey = np.where(finite, (values - low) * (255 / (high - low) if high > low else 0), 0).astype(np.uint8)
    rows, cols = grey.shape
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), grey], axis=1)  # each begins with its filter: none

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", cols, rows, 8, 0, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(lines.tobytes())) + chunk(b"IEND", b"")
