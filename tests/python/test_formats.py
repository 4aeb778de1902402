# SPDX-License-Identifier: Apache-2.0
"""Every file format of tests/support/stem_formats.py through sonde.stem: read as it was written, or refused by name."""

import pathlib
import sys

import numpy as np
import pytest

import sonde

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import stem_formats  # noqa: E402

KEYWORD = {"--scan-shape": "scan_shape", "--shape": "raw_shape", "--raw-dtype": "raw_dtype", "--preset": "preset"}


@pytest.fixture(scope="module")
def formats(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats")
    return folder, stem_formats.write_all(folder)


def keywords(flags):
    return {KEYWORD[name]: value for name, value in zip(flags[::2], flags[1::2])}


def test_load_gives_the_array_of_every_format(formats):
    folder, listed = formats
    for each in listed:
        if "says" in each:
            continue
        ds = sonde.stem.load(folder / each["file"], hot_pixels="none", layout="frame", **keywords(each["flags"]))
        expected = np.load(folder / each["expected"])
        np.testing.assert_array_equal(ds.array, expected, err_msg=each["file"])
        assert ds.metadata["format"] == each["format"]


def test_other_formats_are_refused_with_their_name_and_a_remedy(formats):
    folder, listed = formats
    refused = [each for each in listed if "says" in each]
    assert len(refused) >= 8
    for each in refused:
        with pytest.raises(sonde.Error) as error:
            sonde.stem.load(folder / each["file"])
        assert error.value.kind == "not_supported"
        assert each["says"] in str(error.value)
        assert error.value.hint


def test_axes_of_other_programs_are_the_calibration(formats):
    folder, _ = formats
    for name in ("scan.hspy", "scan.zspy", "nion.h5", "scan.ndata", "scan.emd", "scan.dm4"):
        calibration = sonde.stem.load(folder / name, hot_pixels="none").metadata["calibration"]
        assert calibration["scan_step_row_nm"]["value"] == 0.5, name
        assert calibration["scan_step_col_nm"]["value"] == 0.5, name
        assert calibration["detector_step_mrad"]["value"] == 2.0, name
