# SPDX-License-Identifier: Apache-2.0
"""User-defined functions as LiberTEM has them, against NumPy."""

import doctest

import numpy as np
import pytest

import sonde
from sonde.compat import libertem
from sonde.compat.libertem import UDF, Context

SHAPE = (17, 19, 12, 14)


@pytest.fixture(scope="module")
def counts():
    return np.random.default_rng(8).integers(0, 200, SHAPE).astype(np.uint16)


@pytest.fixture(scope="module")
def dataset(counts, tmp_path_factory):
    path = tmp_path_factory.mktemp("libertem") / "counts.npy"
    np.save(path, counts)
    with Context() as ctx, ctx.load("auto", path=path) as loaded:
        yield loaded


class SumUDF(UDF):
    """A pattern and a map, one frame at a time, with all that the interface has."""

    def get_result_buffers(self):
        return {"intensity": self.buffer(kind="sig", dtype="float64"), "moments": self.buffer(kind="nav", extra_shape=(2,), dtype=np.float64),
                "brightest": self.buffer(kind="nav"), "frames": self.buffer(kind="single", dtype=np.int64),
                "mean": self.buffer(kind="sig", use="result_only"), "hidden": self.buffer(kind="nav", use="private")}

    def get_task_data(self):
        return {"rows": np.arange(self.meta.sig_shape[0])[:, None]}

    def preprocess(self):
        assert self.results.intensity.sum() == 0

    def process_frame(self, frame):
        assert frame.shape == (12, 14) and self.meta.coordinates.shape == (1, 2)
        self.results.intensity += frame
        self.results.moments[:] = (frame * self.task_data.rows).sum() * self.params.weight, self.meta.coordinates[0, 0]
        self.results.brightest[:] = frame.max()
        self.results.frames[:] += 1

    def merge(self, dest, src):
        dest.intensity[:] += src.intensity
        dest.moments[:] = src.moments
        dest.brightest[:] = src.brightest
        dest.frames[:] += src.frames

    def get_results(self):
        return {"intensity": self.results.intensity, "moments": self.results.moments, "brightest": self.results.brightest, "frames": self.results.frames,
                "hidden": self.results.hidden, "mean": self.results.intensity / self.results.frames}


def test_frames_one_by_one(dataset, counts):
    found = Context().run_udf(dataset=dataset, udf=SumUDF(weight=2.0))
    np.testing.assert_array_equal(found["intensity"].data, counts.sum((0, 1)))
    np.testing.assert_array_equal(found["moments"].data[..., 0], 2.0 * (counts * np.arange(12)[:, None]).sum((2, 3)))
    np.testing.assert_array_equal(found["moments"].data[..., 1], np.repeat(np.arange(17)[:, None], 19, 1))
    np.testing.assert_array_equal(np.array(found["brightest"]), counts.max((2, 3)))
    assert found["frames"].data == 17 * 19 and "hidden" not in found
    np.testing.assert_allclose(found["mean"].data, counts.mean((0, 1)))
    assert found["moments"].raw_data.shape == (17 * 19, 2) and found["intensity"].raw_data.shape == (12 * 14,)


class BlockUDF(UDF):
    """With data of its own for each position, and whole blocks."""

    def get_result_buffers(self):
        return {"shifted": self.buffer(kind="nav", dtype=self.meta.input_dtype)}

    def get_preferred_input_dtype(self):
        return self.USE_NATIVE_DTYPE

    def process_partition(self, partition):
        self.results.shifted[:] = partition.sum((1, 2)) + self.params.offsets


def test_blocks_and_data_beside_the_patterns(dataset, counts):
    offsets = np.arange(17 * 19).reshape(17, 19)
    function = BlockUDF(offsets=BlockUDF.aux_data(offsets, kind="nav", dtype=np.int64))
    found = Context().run_udf(dataset=dataset, udf=function)["shifted"].data
    expected = (counts.sum((2, 3)) + offsets).astype(dataset.dtype)  # it asked for the type of the scan
    np.testing.assert_array_equal(found, expected)


def test_a_region_of_interest_and_several_functions(dataset, counts):
    roi = np.random.default_rng(1).random((17, 19)) < 0.3
    offsets = BlockUDF.aux_data(np.zeros((17, 19)), dtype=np.uint8)
    sums, blocks = Context().run_udf(dataset=dataset, udf=[SumUDF(weight=1.0), BlockUDF(offsets=offsets)], roi=roi)
    np.testing.assert_array_equal(sums["intensity"].data, counts[roi].sum(0))
    assert sums["frames"].data == roi.sum()
    np.testing.assert_array_equal(np.isnan(sums["brightest"].data), ~roi)
    np.testing.assert_array_equal(sums["brightest"].data[roi], counts[roi].max((1, 2)))
    assert (blocks["shifted"].data[~roi] == 0).all()


def test_a_map(dataset, counts):
    np.testing.assert_array_equal(Context().map(dataset, np.max).data, counts.max((2, 3)))
    roi = np.eye(17, 19, dtype=bool)
    assert np.isnan(Context().map(dataset, np.max, roi=roi).data).sum() == 17 * 19 - 17


def test_what_a_function_lacks_is_named(dataset):
    class Nothing(UDF):
        def get_result_buffers(self):
            return {}

    class Alone(UDF):
        def get_result_buffers(self):
            return {"pattern": self.buffer(kind="sig")}

        def process_frame(self, frame):
            self.results.pattern += frame

    for function, words in ((Nothing(), "Nothing has no process_frame; expected one of"), (Alone(), "no merge\\(\\), which its result 'pattern' of kind 'sig'")):
        with pytest.raises(sonde.Error, match=words):
            Context().run_udf(dataset=dataset, udf=function)
    with pytest.raises(sonde.Error, match="roi \\(3, 4\\); the scan has 17 x 19"):
        Context().run_udf(dataset=dataset, udf=SumUDF(weight=1.0), roi=np.ones((3, 4)))
    with pytest.raises(sonde.Error, match="kind 'detector'; expected nav, sig or single"):
        Nothing().buffer(kind="detector")

    class Fails(Alone):
        def process_frame(self, frame):
            raise ZeroDivisionError("of mine")

        def merge(self, dest, src):
            pass

    with pytest.raises(ZeroDivisionError, match="of mine"):
        Context().run_udf(dataset=dataset, udf=Fails())


def test_the_examples_of_the_documentation_are_true():
    assert doctest.testmod(libertem).failed == 0
