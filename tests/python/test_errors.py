# SPDX-License-Identifier: Apache-2.0
"""Every kind of error that can be provoked, and that it says what the program says."""

import dataclasses
import errno
import inspect
import os
import pickle
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
    assert error.message == "det_bin: a value of type object is not a setting"
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
    path = tmp_path / "events.tpx3"
    path.write_bytes(b"TPX3" + bytes(200))
    assert "Timepix3" in str(error_of("not_supported", sonde.stem.load, path))


def test_the_text_is_that_of_the_program(tmp_path):
    path = tmp_path / "gone_master.h5"
    program = subprocess.run([os.environ["SONDE_PROGRAM"], "stem", "load", path], capture_output=True, text=True, check=False)
    error = error_of("bad_file", sonde.stem.load, path)
    assert error.exit_status == program.returncode == 3
    assert str(error) == program.stderr.rstrip("\n")


def test_short_form(scan):
    error = error_of("usage", sonde.stem.load, scan, det_bim=2)
    assert repr(error).startswith("sonde.Error('usage', 'unknown key")


def test_kinds_are_what_python_calls_them(scan, tmp_path):
    for exception in (TypeError, ValueError):
        with pytest.raises(exception, match="det_bim"):
            sonde.stem.load(scan, det_bim=2)
    ds = sonde.stem.load(scan)
    with pytest.raises(ValueError, match="the mask has shape"):
        ds.image(np.ones((3, 3)))
    (tmp_path / "text.npy").write_text("no scan")
    with pytest.raises(OSError, match="text.npy"):
        sonde.stem.load(tmp_path / "text.npy")
    with pytest.raises(OSError, match="folder.npy"):
        ds.convert(tmp_path / "no" / "such" / "folder.npy")
    with pytest.raises(MemoryError):
        sonde.stem.load(scan, memory="100k", layout="pixel")
    path = tmp_path / "pattern.dm4"
    path.write_bytes((4).to_bytes(4, "big") + bytes(200))
    with pytest.raises((NotImplementedError, OSError)):  # a build that reads the format finds it damaged
        sonde.stem.load(path)
    for kind in ("usage", "bad_input", "bad_file", "io", "budget", "not_supported", "device", "internal"):
        with pytest.raises(sonde.Error):
            sonde._sonde.raise_error(kind, "text")
    with pytest.raises(NotImplementedError, match="^error: text\nhint: help$"):
        sonde._sonde.raise_error("not_supported", "text", "help")


@pytest.mark.parametrize("name", ["gone_master.h5", "gone.npy", "gone.mib", "gone.zarr", "folder/gone.h5"])
def test_a_missing_file_is_named(tmp_path, name):
    with pytest.raises(FileNotFoundError) as caught:
        sonde.stem.load(tmp_path / name)
    assert isinstance(caught.value, sonde.Error) and caught.value.kind == "bad_file"
    assert caught.value.errno == errno.ENOENT and caught.value.filename == str(tmp_path / name)


def test_errors_travel_between_processes(scan, tmp_path):
    for error in (error_of("usage", sonde.stem.load, scan, det_bim=2), error_of("bad_file", sonde.stem.load, tmp_path / "gone.npy")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error) and again.kind == error.kind and again.hint == error.hint
    assert again.errno == errno.ENOENT and again.filename == str(tmp_path / "gone.npy")


def modules(package):
    for module in filter(inspect.ismodule, (getattr(package, name) for name in getattr(package, "__all__", []))):
        yield module
        yield from modules(module)


def callables():
    """Every public function, constructor and method of the package that a mistyped keyword can be given to."""
    for module in modules(sonde):
        for name in getattr(module, "__all__", []):
            member = getattr(module, name)
            if inspect.ismodule(member):
                continue
            if inspect.isfunction(member):
                yield f"{module.__name__}.{name}", member
            elif not issubclass(member, tuple) and not dataclasses.is_dataclass(member):  # results are made by the package
                yield f"{module.__name__}.{name}", member
                for method, function in vars(member).items():
                    if method.startswith("_") or not (inspect.isfunction(function) or isinstance(function, classmethod)):
                        continue
                    if not takes_options(function):  # what takes them asks the engine, with an object that there is
                        yield f"{module.__name__}.{name}.{method}", getattr(member, method)
    for name in ("build_info", "devices", "set_thread_count", "thread_count", "view"):
        yield f"sonde.{name}", getattr(sonde, name)
    for name in ("arina_file", "arina_folder"):
        yield f"sonde.IO.{name}", getattr(sonde.IO, name)


def takes_options(function):
    inside = inspect.unwrap(getattr(function, "__func__", function))
    return bool(inside.__code__.co_flags & inspect.CO_VARKEYWORDS)


@pytest.mark.parametrize("function", [pytest.param(function, id=name) for name, function in callables()])
def test_every_wrong_keyword_is_an_error_of_the_package(function):
    with pytest.raises(sonde.Error) as caught:
        function(progres_of_it=1)
    assert isinstance(caught.value, TypeError) and caught.value.kind == "usage", repr(caught.value)
    assert str(caught.value).startswith("error: ")


def test_wrong_keywords_of_python_functions_name_the_nearest(scan):
    ds = sonde.stem.load(scan)
    assert error_of("usage", ds.find_centre, methd="com").message == 'unknown key "methd" in find_centre(); did you mean "method"?'
    assert error_of("usage", sonde.stem.centre, ds, goood=None).message == 'unknown key "goood" in centre(); did you mean "good"?'
    assert "missing 2 required positional arguments" in error_of("usage", ds.pattern).message
    # What goes wrong inside a call is passed on as it is.
    with pytest.raises(TypeError) as caught:
        ds.pattern("a", "b")
    assert not isinstance(caught.value, sonde.Error)


@pytest.mark.skipif(not hasattr(sonde, "neoclassical"), reason="a build without that instrument")
def test_attributes_of_a_grid_are_checked_and_it_can_be_pickled():
    grid = sonde.neoclassical.Grid(5, 7, 6)
    with pytest.raises(AttributeError, match='Grid: no attribute "n_zetta"; did you mean "n_zeta"?'):
        grid.n_zetta = 9
    assert pickle.loads(pickle.dumps(grid)) == grid


@pytest.mark.parametrize("layout", ["pixel", "frame", "compressed", "file"])
def test_places_outside_are_what_python_calls_them(scan, layout):
    ds = sonde.stem.load(scan, layout=layout)
    rows, cols, height, width = ds.shape
    for key in (rows, -rows - 1, (0, cols), (0, 0, height), (0, 0, 0, -width - 1)):
        with pytest.raises(sonde.Error) as caught:
            ds[key]
        assert isinstance(caught.value, IndexError), key
    with pytest.raises(IndexError, match=f"scan position {-rows - 1},0 is outside the scan of {rows} x {cols}"):
        ds.pattern(-rows - 1, 0)


def test_unknown_attributes_are_errors(scan):
    ds = sonde.stem.load(scan)
    with pytest.raises(AttributeError, match='Dataset: no attribute "calibraton"; did you mean "calibration"?') as caught:
        ds.calibraton = 1
    assert isinstance(caught.value, sonde.Error) and caught.value.kind == "usage"
    with pytest.raises(sonde.Error, match="Dataset.det_bin: cannot be set"):
        ds.det_bin = 2


def test_pickling_says_what_to_send(scan):
    ds = sonde.stem.load(scan)
    for made, hint in ((ds, "dataset.path"), (sonde.stem.VirtualImager(ds), "dataset.path"),
                       (sonde.stem.load_folder(scan), "series.items")):
        error = error_of("usage", pickle.dumps, made)
        assert error.message == f"{type(made).__name__}: cannot be pickled or copied, its data belong to this process"
        assert hint in error.hint
