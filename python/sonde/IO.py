# SPDX-License-Identifier: Apache-2.0
"""Other names for loading ARINA scans, for scripts that know them."""

from __future__ import annotations

import os
from typing import Literal, Unpack

from . import stem
from ._calls import checked
from ._keywords import ArinaFolderKeywords, ArinaKeywords

_HotPixels = Literal["auto", "zero", "sampled", "interpolate", "mark", "none"] | bool


@checked
def arina_file(path: str | os.PathLike[str], det_bin: int | str = 1, scan_bin: int = 1,
               scan_shape: tuple[int, int] | None = None, hot_pixels: _HotPixels = "auto",
               **options: Unpack[ArinaKeywords]) -> stem.Dataset:
    """:func:`sonde.stem.load` of one master file. ``hot_pixels`` may be True ("zero") or False ("none")."""
    return stem.load(path, det_bin=det_bin, scan_bin=scan_bin, scan_shape=scan_shape, hot_pixels=_word(hot_pixels),
                     **options)


@checked
def arina_folder(path: str | os.PathLike[str], det_bin: int | str = 1, scan_bin: int = 1,
                 scan_shape: tuple[int, int] | None = None, hot_pixels: _HotPixels = "auto",
                 **options: Unpack[ArinaFolderKeywords]) -> stem.Series:
    """:func:`sonde.stem.load_folder` of one folder. ``hot_pixels`` may be True ("zero") or False ("none")."""
    return stem.load_folder(path, det_bin=det_bin, scan_bin=scan_bin, scan_shape=scan_shape,
                            hot_pixels=_word(hot_pixels), **options)


def _word(hot_pixels: _HotPixels) -> Literal["auto", "zero", "sampled", "interpolate", "mark", "none"]:
    if isinstance(hot_pixels, bool):
        return "zero" if hot_pixels else "none"
    return hot_pixels
