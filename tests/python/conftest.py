# SPDX-License-Identifier: Apache-2.0
"""What the tests share: one simulated scan, and h5py's own reading of it."""

import pathlib

import h5py
import hdf5plugin  # noqa: F401  (registers the bitshuffle filter)
import numpy as np
import pytest

import sonde

SCAN, DETECTOR = (12, 10), (64, 48)


NO_DATA = 77  # what tests/python/CMakeLists.txt calls skipped


def pytest_sessionfinish(session, exitstatus):
    """A file of tests that lacked test data and passed otherwise is skipped; with a failure it has failed."""
    skipped = session.config.pluginmanager.get_plugin("terminalreporter").stats.get("skipped", [])
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and any("no test data" in str(each.longrepr) for each in skipped):
        session.exitstatus = NO_DATA


@pytest.fixture(scope="session")
def scan(tmp_path_factory):
    """A master file; not square in scan or detector, so that exchanged axes show."""
    path = tmp_path_factory.mktemp("scan") / "scan_master.h5"
    sonde.stem.simulate(path, scan_shape=SCAN, detector_shape=DETECTOR, disk_radius=8, hot_pixels=2, masked_pixels=3, dose=4)
    return path


@pytest.fixture(scope="session")
def stored(scan):
    """The frames as h5py reads them, (scan rows, scan cols, rows, cols), and the file's pixel mask."""
    with h5py.File(scan) as file:
        frames = np.concatenate([file["entry/data"][name][()] for name in sorted(file["entry/data"])])
        mask = file["entry/instrument/detector/detectorSpecific/pixel_mask"][()]
    return frames.reshape(SCAN + DETECTOR), mask


@pytest.fixture(scope="session")
def clean(scan, stored):
    """The frames with zeros where the file's mask or the truth says that a pixel is bad."""
    with h5py.File(pathlib.Path(str(scan).replace("_master", "_truth"))) as truth:
        good = truth["good"][()].astype(bool)
    return np.where(good, stored[0], 0)


def address(array):
    return array.__array_interface__["data"][0]
