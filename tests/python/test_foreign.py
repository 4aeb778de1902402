# SPDX-License-Identifier: Apache-2.0
"""Files of real instruments, against h5py."""

import os
import pathlib

import h5py
import hdf5plugin  # noqa: F401
import numpy as np
import pytest

import sonde

DATA = pathlib.Path(os.environ.get("SONDE_TEST_DATA", pathlib.Path(__file__).parents[3] / "shared/data")) / "stem"

if not DATA.is_dir():
    if os.environ.get("SONDE_REQUIRE_DATA") == "1":
        raise FileNotFoundError(f"test data required, but {DATA} is not there")
    pytest.skip("no test data", allow_module_level=True)


def test_a_binned_arina_scan():
    master = DATA / "arina-binned/test_arina_master.h5"
    with h5py.File(DATA / "arina-binned/test_arina_data_000001.h5") as file:
        frames = file["entry/data/data"][()].reshape(4, 4, 24, 24)
    ds = sonde.IO.arina_file(master, scan_shape=(4, 4), hot_pixels="none")
    np.testing.assert_array_equal(ds.array, frames)
    np.testing.assert_array_equal(ds.moments.total, frames.sum(axis=(2, 3), dtype=np.uint64))


def test_a_dark_arina_scan_and_its_sidecar():
    ds = sonde.stem.load(DATA / "arina-empty/test_00_master.h5")
    assert ds.shape == (4, 4, 192, 192) and not ds.array.any()
    assert ds.calibration["high_tension_v"] == {"value": 300000, "from": "file"}


def test_a_small_array_of_another_program():
    path = DATA / "other/py4DSTEM_size2x3x4x5.h5"
    found = []
    with h5py.File(path) as file:
        file.visititems(lambda _, item: found.append(item[()]) if isinstance(item, h5py.Dataset) and item.ndim == 4 else None)
    ds = sonde.stem.load(path)
    np.testing.assert_array_equal(ds.array, found[0])
