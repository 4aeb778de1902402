# SPDX-License-Identifier: Apache-2.0
"""Every kind of error that can be provoked, and that it says what the program says."""

import os
import subprocess

import numpy as np
import pytest

import sonde


def error_of(kind, call, *arguments, **options):
    with pytest.raises(sonde.Error) as caught:
        call(*arguments, **options)
    assert caught.value.kind == kind, str(caught.value)
    return caught.value


def test_unknown_keywords_name_the_nearest(scan):
    error = error_of("usage", sonde.stem.load, scan, det_bim=2)
    assert error.message == 'unknown key "det_bim" in load(); did you mean "det_bin"?'
    assert error_of("usage", sonde.stem.simulate, "x", sede=1).message.endswith('did you mean "seed"?')
    assert "load_folder()" in error_of("usage", sonde.stem.load_folder, scan, patern="a").message


def test_all_wrong_settings_are_told_at_once(scan):
    error = error_of("usage", sonde.stem.load, scan, voltage="high", layout="pixels", scan_bin=0)
    assert len(error.problems) == 3
    assert str(error.problems[0]) == "error: voltage in load(): expected a number, found text"
    assert 'unknown word "pixels"; did you mean "pixel"?' in str(error)


def test_settings_of_a_foreign_type(scan):
    error = error_of("usage", sonde.stem.load, scan, det_bin=object())
    assert error.message == "det_bin: a value of type object is no setting"
    assert "beyond 64 bits" in error_of("usage", sonde.stem.load, scan, scan_bin=2**70).message


def test_bad_input(scan):
    ds = sonde.stem.load(scan)
    assert "outside the scan" in error_of("bad_input", ds.pattern, 12, 0).message
    assert "the mask has shape (3, 3)" in error_of("bad_input", ds.image, np.ones((3, 3))).message
    assert "no good pixel" in error_of("bad_input", ds.image, np.zeros((64, 48))).message
    assert "^" in str(error_of("usage", ds.image, "annulus(1,2"))
    assert "takes no options" in error_of("usage", ds.image, np.ones((64, 48)), radius=2).message
    compressed = sonde.stem.load(scan, layout="compressed")
    assert "not as an array" in error_of("bad_input", lambda: compressed.array).message


def test_bad_file(tmp_path):
    missing = error_of("bad_file", sonde.stem.load, tmp_path / "gone_master.h5")
    assert "gone_master.h5: no such file" in missing.message
    (tmp_path / "text.npy").write_text("no scan")
    assert error_of("bad_file", sonde.stem.validate, tmp_path / "text.npy").message


def test_what_was_being_done_is_told(scan):
    error = error_of("bad_input", sonde.stem.load, scan, scan_region=(0, 99, 0, 2))
    assert error.activities == (f"loading {scan}",)
    assert f"\nwhile: loading {scan}" in str(error)


def test_budget(scan):
    error = error_of("budget", sonde.stem.load, scan, memory="100k", layout="pixel")
    assert error.hint and "while" in str(error)


def test_io(scan, tmp_path):
    ds = sonde.stem.load(scan)
    error_of("io", ds.convert, tmp_path / "no" / "such" / "folder.npy")
    error_of("usage", ds.convert, tmp_path / "image.jpg")


def test_device(scan):
    assert "cuda:7" in error_of("device", sonde.stem.load, scan, device="cuda:7").message


def test_not_supported(tmp_path):
    path = tmp_path / "pattern.dm4"
    path.write_bytes((4).to_bytes(4, "big") + bytes(200))
    assert "DM4" in str(error_of("not_supported", sonde.stem.load, path))


def test_the_text_is_that_of_the_program(tmp_path):
    path = tmp_path / "gone_master.h5"
    program = subprocess.run([os.environ["SONDE_PROGRAM"], "stem", "load", path], capture_output=True, text=True, check=False)
    error = error_of("bad_file", sonde.stem.load, path)
    assert error.exit_status == program.returncode == 3
    assert str(error) == program.stderr.rstrip("\n")


def test_short_form(scan):
    error = error_of("usage", sonde.stem.load, scan, det_bim=2)
    assert repr(error).startswith("sonde.Error('usage', 'unknown key")
