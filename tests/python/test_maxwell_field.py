# SPDX-License-Identifier: Apache-2.0
"""What `sonde maxwell convert` writes, read by other programs."""

import os
import pathlib

import numpy as np
import pytest

import sonde

DATA = pathlib.Path(os.environ.get("SONDE_TEST_DATA", pathlib.Path(__file__).parents[3] / "shared/data")) / "maxwell/field"


@pytest.fixture
def line():
    """A line of Sensors & Software by NumPy: 1500 samples of 0.8 ns behind each header of 128 bytes."""
    path = DATA / "SnS/ComOffs/XLINE00.DT1"
    if not path.exists():
        pytest.skip("no test data")
    records = np.fromfile(path, dtype=np.dtype([("header", "<f4", 25), ("comment", "S28"), ("samples", "<i2", 1500)]))
    return path, records["header"], records["samples"]


def test_segyio_reads_what_is_written(line, tmp_path):
    segyio = pytest.importorskip("segyio")
    path, headers, samples = line
    sonde.run("maxwell convert", path, tmp_path / "line.sgy")
    with segyio.open(tmp_path / "line.sgy", ignore_geometry=True) as file:
        np.testing.assert_array_equal(file.trace.raw[:], samples.astype("f4"))
        assert segyio.dt(file) == 800  # ps
        assert file.bin[segyio.BinField.Format] == 5
        middle = file.attributes(segyio.TraceField.CDP_X)[:]
        np.testing.assert_array_equal(middle, np.round(headers[:, 1] * 304.8))  # mm
        source, receiver = (file.attributes(field)[:] for field in (segyio.TraceField.SourceX, segyio.TraceField.GroupX))
        assert set(receiver - source) <= {914, 915}  # 3 ft
        assert set(file.attributes(segyio.TraceField.SourceGroupScalar)[:]) == {-1000}
        assert file.header[0][segyio.TraceField.DelayRecordingTime] == -3  # ns
        assert bytes(file.text[0]).startswith(b"C 1 WRITTEN BY SONDE")


def test_segyio_makes_what_is_read(tmp_path):
    """IBM floats of another writer."""
    segyio = pytest.importorskip("segyio")
    values = np.random.default_rng(1).normal(size=(5, 40)).astype("f4")
    segyio.tools.from_array2D(str(tmp_path / "other.sgy"), values, dt=250, format=segyio.SegySampleFormat.IBM_FLOAT_4_BYTE)
    read = sonde.run("maxwell convert", tmp_path / "other.sgy")
    # 24 bits of a fraction to the base 16: 21 of them count in the worst case.
    np.testing.assert_allclose(read["data"], values, rtol=2**-20)
    assert read.facts["dt_s"] == pytest.approx(250e-12)


def test_arrays_are_those_of_the_file(line):
    path, headers, samples = line
    read = sonde.run("maxwell convert", path)
    np.testing.assert_array_equal(read["data"], samples)
    np.testing.assert_allclose(read["position"], headers[:, 1] * 0.3048, rtol=1e-6)
    np.testing.assert_allclose(read["time"], (np.arange(1500) - 3.18) * 0.8e-9, atol=1e-18)


def test_a_written_dt1_is_read_by_its_layout(line, tmp_path):
    path, _, samples = line
    sonde.run("maxwell convert", path, tmp_path / "copy.dt1")
    records = np.fromfile(tmp_path / "copy.dt1", dtype=np.dtype([("header", "<f4", 25), ("comment", "S28"), ("samples", "<i2", 1500)]))
    np.testing.assert_array_equal(records["samples"], samples)
    np.testing.assert_array_equal(records["header"][:, 0], np.arange(1, 532))
    assert set(records["header"][:, 6]) == {800}


def test_a_background_is_the_mean_of_all_traces(line):
    path, _, samples = line
    read = sonde.run("maxwell convert", path, background=0)
    np.testing.assert_allclose(read["data"], samples - samples.mean(0), atol=2e-3)  # float32 of 3e4
    assert read.facts["history"] == ["background: less the mean of all traces"]
