# SPDX-License-Identifier: Apache-2.0
"""Functions of the user's own over all frames of a scan."""

import ctypes
import os
import signal
import subprocess
import threading

import numpy as np
import pytest

import sonde

SHAPE = (17, 19, 12, 14)


@pytest.fixture(scope="module")
def counts():
    return np.random.default_rng(3).integers(0, 200, SHAPE).astype(np.uint16)


@pytest.fixture(scope="module")
def scan(counts, tmp_path_factory):
    path = tmp_path_factory.mktemp("map") / "counts.npy"
    np.save(path, counts)
    return path


def test_what_the_function_returns_is_a_map(scan, counts):
    threads = set()

    def spread(patterns, positions):
        threads.add(threading.get_ident())
        assert patterns.shape == (len(positions), 12, 14) and 1 <= len(positions) <= 50
        patterns[patterns < 0] = 0  # a copy that may be written
        return np.stack([patterns.sum((1, 2)), patterns.max((1, 2))], 1)

    made = sonde.stem.map(scan, spread, frames=50)
    np.testing.assert_array_equal(made, np.stack([counts.sum((2, 3)), counts.max((2, 3))], 2))
    assert threads == {threading.get_ident()}


def test_layouts_and_bins_give_the_frames_of_the_data_set(scan):
    for options in ({"layout": "frame"}, {"layout": "pixel", "det_bin": 2}, {"layout": "compressed"}, {"det_bin": 2, "bin_mode": "mean", "layout": "frame"}):
        dataset = sonde.stem.load(scan, **options)
        found = sonde.stem.map(dataset, lambda patterns, positions: patterns)
        assert found.dtype == dataset.dtype and found.shape == dataset.shape
        np.testing.assert_array_equal(found, np.stack([[dataset.pattern(row, col) for col in range(19)] for row in range(17)]))


def test_positions_say_where_frames_belong(scan, counts):
    seen = np.zeros(17 * 19, int)

    def look(patterns, positions):
        seen[positions] += 1
        np.testing.assert_array_equal(patterns, counts.reshape(-1, 12, 14)[positions])

    assert sonde.stem.map(scan, look) is None
    assert (seen == 1).all()


def test_the_function_may_use_the_cores_but_not_the_data_set(scan):
    dataset = sonde.stem.load(scan, layout="file")
    other = sonde.stem.load(scan, layout="frame")
    made = sonde.stem.map(dataset, lambda patterns, positions: np.full(len(positions), other.image("circle(5,5,3)").sum()))
    assert (made == made[0, 0]).all()
    with pytest.raises(sonde.Error, match=r"the data set is being read by map\(\)"):
        sonde.stem.map(dataset, lambda patterns, positions: dataset.pattern(0, 0))
    dataset.pattern(0, 0)  # afterwards it may be read


def test_exceptions_of_the_function_end_the_work(scan):
    calls = []

    def fail(patterns, positions):
        calls.append(len(positions))
        raise ZeroDivisionError("of mine")

    dataset = sonde.stem.load(scan, layout="file")
    with pytest.raises(ZeroDivisionError, match="of mine"):
        sonde.stem.map(dataset, fail, frames=16)
    assert len(calls) == 1
    dataset.release()  # nothing still uses it


def test_control_c_ends_the_work(scan):
    def interrupt(patterns, positions):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        sonde.stem.map(scan, interrupt, frames=16)
    assert sonde.stem.map(scan, lambda patterns, positions: positions).shape == (17, 19)


def test_other_threads_of_python_may_map(scan, counts):
    found = []
    thread = threading.Thread(target=lambda: found.append(sonde.stem.map(scan, lambda patterns, positions: patterns.sum((1, 2)))))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0], counts.sum((2, 3)))


def test_wrong_results_are_named(scan):
    for function, words in ((lambda patterns, positions: 3, r"the function returned shape \(\) for 16 frames; expected \(16, \.\.\.\)"),
                            (lambda patterns, positions: patterns[1:], r"returned shape \(15, 12, 14\) for 16 frames; expected \(16, \.\.\.\)"),
                            (lambda patterns, positions: np.zeros((len(positions), len(positions))), r"for \d+ frames; expected \(\d+, 16\)"),
                            (lambda patterns, positions: None if len(positions) == 16 else positions, "None for some frames and values for others")):
        with pytest.raises(sonde.Error, match=words):
            sonde.stem.map(scan, function, frames=16)
    with pytest.raises(sonde.Error, match="blocks of 3 frames; expected 16 or more"):
        sonde.stem.map(scan, lambda patterns, positions: None, frames=3)
    with pytest.raises(sonde.Error, match="a data set is loaded already, but det_bin given"):
        sonde.stem.map(sonde.stem.load(scan), lambda patterns, positions: None, det_bin=2)


def test_results_of_several_types_are_joined(scan):
    first = []

    def sometimes_real(patterns, positions):
        first.append(len(positions))
        return np.zeros(len(positions), np.uint8) if len(first) == 1 else np.full(len(positions), np.nan, np.float32)

    made = sonde.stem.map(scan, sometimes_real, frames=16)
    assert made.dtype == np.float32 and np.isnan(made).sum() == 17 * 19 - first[0]


COMPILED = """
#include <stdint.h>
int second_moment(uint16_t *patterns, const int64_t *positions, int64_t n, int64_t rows, int64_t cols, double *values) {
  for (int64_t k = 0; k < n; ++k) {
    values[2 * k] = (double)positions[k];
    values[2 * k + 1] = 0;
    for (int64_t i = 0; i < rows * cols; ++i) values[2 * k + 1] += (double)(i / cols) * (double)(i / cols) * (double)*patterns++;
  }
  return 0;
}
int refuse(uint16_t *patterns, const int64_t *positions, int64_t n, int64_t rows, int64_t cols, double *values) { return 3; }
"""
POINTER = ctypes.POINTER


def takes(element):
    return [POINTER(element), POINTER(ctypes.c_int64), ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, POINTER(ctypes.c_double)]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "mine.c").write_text(COMPILED)
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", folder / "mine.so", folder / "mine.c"], check=True)
    library = ctypes.CDLL(str(folder / "mine.so"))
    for function in (library.second_moment, library.refuse):
        function.argtypes = takes(ctypes.c_uint16)
    return library


def test_a_c_function_is_called_with_every_pattern(scan, counts, compiled):
    made = sonde.stem.map(scan, compiled.second_moment, values=2)
    assert made.shape == (17, 19, 2) and made.dtype == np.float64
    np.testing.assert_array_equal(made[..., 0], np.arange(17 * 19).reshape(17, 19))
    np.testing.assert_array_equal(made[..., 1], (counts * np.arange(12.0)[:, None] ** 2).sum((2, 3)))


def test_a_function_that_offers_a_c_function_is_one(scan, counts):
    """As those of numba.cfunc do."""

    class Offers:
        def total(patterns, positions, n, rows, cols, values):
            np.ctypeslib.as_array(values, (n,))[:] = np.ctypeslib.as_array(patterns, (n, rows, cols)).sum((1, 2))
            return 0

        ctypes = ctypes.CFUNCTYPE(ctypes.c_int, *takes(ctypes.c_uint16))(total)

    np.testing.assert_array_equal(sonde.stem.map(scan, Offers()), counts.sum((2, 3)))


def test_a_c_function_for_other_patterns_is_refused(scan, compiled):
    plain = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
    nothing = ctypes.CFUNCTYPE(None, *takes(ctypes.c_uint16))(lambda *all: None)
    for function, words in ((plain, r"argtypes \(\) and restype c_int; expected \(POINTER\(c_uint8, c_uint16"), (nothing, "restype None; expected"),
                            (ctypes.CDLL(None).abs, "argtypes none")):
        with pytest.raises(sonde.Error, match=words):
            sonde.stem.map(scan, function)
    with pytest.raises(sonde.Error, match="the function takes patterns of u16, but the data set has elements of f32"):
        sonde.stem.map(scan, compiled.second_moment, det_bin=2, bin_mode="mean", layout="frame", values=2)


def test_a_c_function_that_fails_is_named(scan, compiled):
    with pytest.raises(sonde.Error, match=r"the function returned 3 for \d+ patterns, the first of scan position"):
        sonde.stem.map(scan, compiled.refuse)
    with pytest.raises(sonde.Error, match="0 values of each pattern; expected 1 or more"):
        sonde.stem.map(scan, compiled.second_moment, values=0)
    with pytest.raises(sonde.Error, match="frames given, but a C function"):
        sonde.stem.map(scan, compiled.second_moment, frames=16)
    with pytest.raises(sonde.Error, match="values given, but the function is not a C function"):
        sonde.stem.map(scan, lambda patterns, positions: positions, values=2)
