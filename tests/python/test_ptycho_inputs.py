# SPDX-License-Identifier: Apache-2.0
"""What `sonde ptycho run` reads: CXI, PtyD, 4D-STEM files and start values, written here with h5py as they are published, whole
and broken, with the exit status of each."""

import json
import os
import subprocess

import h5py
import numpy as np
import pytest

import sonde
from ptycho_scan import COLS, ROWS, scan

ENERGY_KEV, DISTANCE_M, PIXEL_M = 8.0, 1.0, 75e-6
WAVELENGTH_M = 12.398419843320026 / ENERGY_KEV * 1e-10
#: Object pixels: lambda z / (n p).
ROW_M, COL_M = (WAVELENGTH_M * DISTANCE_M / (n * PIXEL_M) for n in (ROWS, COLS))
JOULE_PER_KEV = 1.602176634e-16


@pytest.fixture(scope="module")
def made():
    return scan(dead=[(3, 4)])


@pytest.fixture(scope="module")
def raster():
    return scan(jitter=0.0)


class Program:
    """`sonde ptycho ...` in a folder of its own, with a cache that no other test writes."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = os.environ | {"XDG_CACHE_HOME": str(folder)}

    def run(self, data, *flags, extra="", geometry="", of_data="", iterations=3, output="result.h5"):
        path = self.folder / "run.toml"
        path.write_text(f'[data]\nfile = "{data}"\nholdout = 0.0\n{of_data}[geometry]\n{geometry}[probe]\n{extra}'
                        f'[[engine]]\nname = "gd"\nbatch = 16\niterations = {iterations}\n[stop]\nrule = "off"\n[output]\npictures = false\n')
        return self.call("run", path, "-o", self.folder / output, *flags)

    def call(self, *words):
        ended = subprocess.run([os.environ["SONDE_PROGRAM"], "ptycho", *words], capture_output=True, text=True, check=False,
                               env=self.environment, cwd=self.folder)
        assert ended.returncode in (0, 2, 3, 4, 5, 7, 8), ended.stderr  # it never ends by a fault
        return ended

    def result(self, output="result.h5"):
        return h5py.File(self.folder / output)


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


def refused(ended, *words, status=3):
    assert ended.returncode == status, ended.stderr
    for word in words:
        assert word in ended.stderr


def accepted(ended, *words):
    assert ended.returncode == 0, ended.stderr
    for word in words:
        assert word in ended.stderr


# CXI

def cxi(folder, made, **other):
    """A file as Maia (2012) describes it; `other` replaces a data set, or leaves it out when None."""
    x_y_z = np.zeros((len(made.positions), 3))
    x_y_z[:, 0], x_y_z[:, 1] = made.positions[:, 1] * COL_M, made.positions[:, 0] * ROW_M
    detector = "entry_1/instrument_1/detector_1/"
    content = {"entry_1/data_1/data": made.frames, "entry_1/data_1/translation": x_y_z, detector + "distance": DISTANCE_M,
               detector + "x_pixel_size": PIXEL_M, detector + "y_pixel_size": PIXEL_M,
               detector + "mask": (~made.good).astype(np.uint32), "entry_1/instrument_1/source_1/energy": ENERGY_KEV * JOULE_PER_KEV,
               "entry_1/instrument_1/source_1/illumination": made.start.astype(np.complex64)}
    names = {"data": "entry_1/data_1/data", "translation": "entry_1/data_1/translation", "mask": detector + "mask",
             "energy": "entry_1/instrument_1/source_1/energy", "distance": detector + "distance",
             "y_pixel_size": detector + "y_pixel_size", "illumination": "entry_1/instrument_1/source_1/illumination",
             "geometry": "entry_1/sample_1/geometry_1/translation"}
    content |= {names[name]: value for name, value in other.items()}
    path = folder / "scan.cxi"
    with h5py.File(path, "w") as file:
        for name, value in content.items():
            if value is not None:
                file[name] = value
    return path


def test_cxi_is_reconstructed(program, made, tmp_path):
    accepted(program.run(cxi(tmp_path, made)), "CXI")
    with program.result() as result:
        assert result["metrics/R_I"][-1] < 0.6 * result["metrics/R_I"][0]
        np.testing.assert_allclose(result["object"].attrs["pixel_size_A"], [1e10 * ROW_M, 1e10 * COL_M], rtol=1e-12)
        np.testing.assert_allclose(result["positions_A"], made.positions * [1e10 * ROW_M, 1e10 * COL_M], rtol=1e-12)
        # The dead pixel of the mask is no count of zero: the same as in memory.
        run = sonde.ptycho.Reconstruction(
            {"geometry": {"probe_type": "photon", "energy_keV": ENERGY_KEV, "distance_m": DISTANCE_M, "detector_pixel_m": PIXEL_M},
             "engine": [{"name": "gd", "batch": 16, "iterations": 3}], "data": {"holdout": 0.0}, "stop": {"rule": "off"}},
            data=made.frames, positions=made.positions * [1e10 * ROW_M, 1e10 * COL_M], mask=made.good, probe=made.start)
        np.testing.assert_allclose(result["metrics/R_I"], [step.metrics["R_I"] for step in run.run()], rtol=1e-4)


def test_cxi_keeps_translations_at_either_place(program, made, tmp_path):
    with h5py.File(cxi(tmp_path, made)) as file:
        x_y_z = file["entry_1/data_1/translation"][()]
    accepted(program.run(cxi(tmp_path, made, translation=None, geometry=x_y_z)))
    refused(program.run(cxi(tmp_path, made, translation=None)), "scan.cxi: no translation", "entry_1/sample_1/geometry_1")


def test_cxi_with_an_energy_in_electron_volts(program, made, tmp_path):
    accepted(program.run(cxi(tmp_path, made, energy=1000 * ENERGY_KEV)), "warning:", "8000 J is taken as eV")
    with program.result() as result:
        np.testing.assert_allclose(result["object"].attrs["pixel_size_A"], [1e10 * ROW_M, 1e10 * COL_M], rtol=1e-12)
    refused(program.run(cxi(tmp_path, made, energy=-1.0)), "energy")


def test_cxi_without_what_the_sampling_needs(program, made, tmp_path):
    path = cxi(tmp_path, made, energy=None, distance=None)
    refused(program.run(path), "energy_keV and distance_m are missing")
    accepted(program.run(path, geometry=f"energy_keV = {ENERGY_KEV}\ndistance_m = {DISTANCE_M}\n"))


@pytest.mark.parametrize("change, words", [
    ({"data": None}, ["no data set"]),
    ({"data": np.ones((4, 9, ROWS, COLS), np.uint16)}, ["/entry_1/data_1/data", "expected counts (frames, rows, columns)"]),
    ({"data": np.ones((36, ROWS, COLS), np.complex64)}, ["expected counts"]),
    ({"translation": np.zeros((36, 2))}, ["translation: shape (36, 2), expected (frames, 3)"]),
    ({"translation": np.zeros((30, 3))}, ["30 positions for 36 frames"]),
    ({"translation": np.full((36, 3), np.nan)}, ["position 0"]),
    ({"mask": np.zeros((COLS, ROWS), np.uint32)}, ["mask"]),
    ({"mask": np.zeros((5, ROWS, COLS), np.uint32)}, ["mask: shape (5, 24, 20), expected (rows, columns)"]),
])
def test_cxi_that_is_broken(program, made, tmp_path, change, words):
    refused(program.run(cxi(tmp_path, made, **change), of_data='format = "cxi"\n'), *words)
    assert not (tmp_path / "result.h5").exists()


def test_cxi_with_pixels_that_are_not_square_is_not_supported(program, made, tmp_path):
    refused(program.run(cxi(tmp_path, made, y_pixel_size=2 * PIXEL_M)), "not square", status=8)


def test_cxi_that_was_cut_off(program, made, tmp_path):
    path = cxi(tmp_path, made)
    path.write_bytes(path.read_bytes()[:4000])
    refused(program.run(path, of_data='format = "cxi"\n'), "scan.cxi")


def test_counts_that_make_no_sense(program, made, tmp_path):
    counts = made.frames.astype(np.float32)
    counts[5, 6, 7] = np.nan
    refused(program.run(cxi(tmp_path, made, data=counts)), "1 measured pixels", "first frame 5, row 6, column 7")
    counts[5, 6, 7] = -3
    path = cxi(tmp_path, made, data=counts)
    refused(program.run(path), "first frame 5, row 6, column 7", "--clip-negative")
    accepted(program.run(path, "--clip-negative"), "1 negative counts became zero")
    dark = made.frames.copy()
    dark[[2, 9]] = 0
    path = cxi(tmp_path, made, data=dark)
    refused(program.run(path), "2 frames have no count: 2 and 9", "--skip-empty")
    accepted(program.run(path, "--skip-empty"), "2 frames without a count are left out")


def test_positions_and_mask_of_a_run_file_count_more(program, made, tmp_path):
    np.save(tmp_path / "positions.npy", 1e10 * made.positions * [ROW_M, COL_M] + 7.0)
    np.save(tmp_path / "mask.npy", made.good)
    path = cxi(tmp_path, made, translation=np.zeros((36, 3)), mask=np.ones((ROWS, COLS), np.uint8))
    accepted(program.run(path, of_data='positions = "positions.npy"\nmask = "mask.npy"\n'))
    with program.result() as result:
        np.testing.assert_allclose(result["positions_A"], made.positions * [1e10 * ROW_M, 1e10 * COL_M] + 7, rtol=1e-12)


# PtyD

def ptyd(folder, made, chunks=(20, 16), **other):
    """A file as ptypy writes it: frames in chunks, positions in m, weights other than zero where a pixel is good."""
    path = folder / "scan.ptyd"
    meta = {"energy": ENERGY_KEV, "distance": DISTANCE_M, "psize": PIXEL_M, "num_frames": len(made.frames),
            "shape": [ROWS, COLS], "center": [ROWS // 2, COLS // 2], "version": "0.3"} | other.get("meta", {})
    with h5py.File(path, "w") as file:
        first = 0
        for i, count in enumerate(chunks):
            part = slice(first, first + count)
            chunk = {"data": made.frames[part], "positions": made.positions[part] * [ROW_M, COL_M],
                     "indices": np.arange(first, first + count), "weights": made.good.astype(np.uint8)} | other.get(f"chunk_{i}", {})
            for name, value in chunk.items():
                if value is not None:
                    file[f"chunks/{i}/{name}"] = value
            first += count
        for name, value in meta.items():
            if value is not None:
                file[f"meta/{name}"] = value
    return path


FWHM = f"fwhm = {1e10 * 6 * COL_M}\n"


def test_ptyd_is_reconstructed(program, made, tmp_path):
    accepted(program.run(ptyd(tmp_path, made), extra=FWHM), "PtyD")
    with program.result() as result:
        assert result["metrics/R_I"][-1] < 0.7 * result["metrics/R_I"][0]
        np.testing.assert_allclose(result["positions_A"], made.positions * [1e10 * ROW_M, 1e10 * COL_M], rtol=1e-12)
        two = result["metrics/R_I"][()]
    # How the frames are cut, and where the weights are, changes nothing but the order of sums; more than ten chunks too.
    for change in ({"chunks": (36,)}, {"chunks": (3,) * 12, "meta": {"weight2d": made.good.astype(float)},
                                       **{f"chunk_{i}": {"weights": None} for i in range(12)}},
                   {"meta": {"psize": [PIXEL_M, PIXEL_M]}}):
        accepted(program.run(ptyd(tmp_path, made, **change), extra=FWHM))
        with program.result() as result:
            order = np.lexsort(result["positions_A"][()].T)
            assert len(order) == 36
            assert result["metrics/R_I"][0] == pytest.approx(two[0], rel=0.3)


@pytest.mark.parametrize("change, words", [
    ({"chunk_0": {"data": None}}, ["no data set \"/chunks/0/data\""]),
    ({"chunk_1": {"positions": None}}, ["no data set \"/chunks/1/positions\""]),
    ({"chunk_0": {"positions": np.zeros((19, 2))}}, ["19 positions for 20 frames"]),
    ({"chunk_0": {"positions": np.zeros((2, 20))}}, ["shape (2, 20), expected (frames, 2)", "exchanged"]),
    ({"chunk_1": {"data": np.ones((16, ROWS, ROWS), np.uint16)}}, ["those before are"]),
    ({"chunk_1": {"data": np.ones((16, ROWS, COLS), np.float32)}}, ["those before are"]),
    ({"chunk_0": {"data": np.ones((20, ROWS), np.uint16)}}, ["expected counts (frames, rows, columns)"]),
    ({"chunk_0": {"weights": np.ones((COLS, ROWS))}}, ["mask"]),
    ({"chunks": ()}, ["/chunks"]),
    ({"meta": {"energy": None}}, ["energy_keV is missing"]),
    ({"meta": {"distance": 0.0}}, ["distance"]),
])
def test_ptyd_that_is_broken(program, made, tmp_path, change, words):
    refused(program.run(ptyd(tmp_path, made, **change), extra=FWHM, of_data='format = "ptyd"\n'), *words)


def test_ptyd_with_weights_of_single_frames(program, made, tmp_path):
    weights = np.broadcast_to(made.good, (20, ROWS, COLS)).astype(np.uint8)
    accepted(program.run(ptyd(tmp_path, made, chunk_0={"weights": weights}), extra=FWHM), "warning:", "weights of the first frame")


# Start values

def ptyr(folder, made, probe=None, object_=None, **origin):
    path = folder / "start.ptyr"
    with h5py.File(path, "w") as file:
        if probe is not None:
            file["content/probe/S00G00/data"] = probe
        if object_ is not None:
            file["content/obj/S00G00/data"] = object_
        for name, value in origin.items():
            file[f"content/obj/S00G00/{name}"] = value
    return path


def test_a_ptyr_gives_the_first_probe_and_object(program, made, tmp_path):
    data = cxi(tmp_path, made, illumination=None)
    # The first probe takes the counts of a frame as its power, and so what the object absorbs.
    scale = np.sqrt((np.abs(made.probe) ** 2).sum() / made.frames[:, made.good].sum(axis=1).mean())
    start = ptyr(tmp_path, made, probe=made.probe.astype(np.complex64), object_=(scale * made.object[None]).astype(np.complex64),
                 _psize=[ROW_M, COL_M], _origin=(made.positions - made.inside)[0] * [ROW_M, COL_M])
    accepted(program.run(data, extra='file = "start.ptyr"\n[object]\ninit = "file"\nfile = "start.ptyr"\n', iterations=1))
    with program.result() as result:
        # The true object where it belongs: what is left is counting noise.
        assert result["metrics/R_I"][0] < 1.05 * json.loads(result["diagnostics"][()])["R_I_floor"]
    accepted(program.run(data, extra=f'file = "{start}:/content/probe/S00G00/data"\n'))


@pytest.mark.parametrize("content, words", [
    ({"object_": np.ones((1, 9, 9), np.complex64)}, ["no probe in it", "start.ptyr"]),
    ({"probe": np.ones((1, COLS, ROWS), np.complex64)}, ["a probe of 20 x 24 pixels, the patterns have 24 x 20"]),
    ({"probe": np.ones((1, 2, 3, ROWS, COLS), np.complex64)}, ["expected two or three dimensions"]),
    ({"probe": np.full((1, ROWS, COLS), np.nan, np.complex64)}, ["element 0 is not finite"]),
    ({"probe": np.zeros((1, ROWS, COLS), np.complex64)}, ["power"]),
])
def test_a_ptyr_with_another_probe(program, made, tmp_path, content, words):
    ptyr(tmp_path, made, **content)
    refused(program.run(cxi(tmp_path, made), extra='file = "start.ptyr"\n'), *words)


def test_a_ptyr_with_an_object_of_unknown_place(program, made, tmp_path):
    ptyr(tmp_path, made, object_=np.ones((1, 40, 44), np.complex64))
    refused(program.run(cxi(tmp_path, made), extra='[object]\ninit = "file"\nfile = "start.ptyr"\n'), "an object of 40 x 44 pixels",
            "_origin")


@pytest.mark.parametrize("form", ["ptyr", "cxi"])
def test_what_is_exported_starts_another_run(program, made, tmp_path, form):
    data = cxi(tmp_path, made)
    accepted(program.run(data, iterations=20))
    assert program.call("export", tmp_path / "result.h5", "--to", form, "-o", tmp_path / f"start.{form}").returncode == 0
    accepted(program.run(data, extra=f'file = "start.{form}"\n[object]\ninit = "file"\nfile = "start.{form}"\n', iterations=1,
                         output="again.h5"))
    with program.result() as first, program.result("again.h5") as again:
        assert again["metrics/R_I"][0] < 1.02 * first["metrics/R_I"][-1]


def test_start_values_that_are_not_there(program, made, tmp_path):
    data = cxi(tmp_path, made)
    refused(program.run(data, extra='file = "gone.ptyr"\n'), "gone.ptyr")
    (tmp_path / "text.ptyr").write_text("no file of this kind")
    refused(program.run(data, extra='file = "text.ptyr"\n'), "text.ptyr")
    np.save(tmp_path / "probe.npy", made.start)
    accepted(program.run(data, extra='file = "probe.npy"\n'))


# 4D-STEM files: whatever `sonde stem` opens

STEM = "energy_keV = 200\ndetector_mrad_per_px = 2.0\nscan_step_px = 3.0\n"


def emd(folder, raster, *, inverse=None, step_a=None, frames=None):
    """EMD 1.0 as py4DSTEM knows it: a group with data and an axis per dimension."""
    path = folder / "scan.emd"
    frames = raster.frames.reshape(6, 6, ROWS, COLS) if frames is None else frames
    with h5py.File(path, "w") as file:
        file.attrs["version_major"], file.attrs["version_minor"] = 1, 0
        group = file.create_group("datacube")
        group.attrs["emd_group_type"] = 1
        group["data"] = frames
        for i, (extent, step, unit) in enumerate(zip(frames.shape, [step_a or 1, step_a or 1, inverse or 1, inverse or 1],
                                                     ["A" if step_a else "pixels"] * 2 + ["A^-1" if inverse else "pixels"] * 2), 1):
            group[f"dim{i}"] = np.arange(extent) * step
            group[f"dim{i}"].attrs["units"] = unit
    return path


def probe_file(folder, raster):
    np.save(folder / "probe.npy", raster.start)
    return 'file = "probe.npy"\n'


@pytest.fixture
def from_npy(program, raster, tmp_path):
    """The curve of the same counts as a plain array, which takes another way."""
    np.save(tmp_path / "scan.npy", raster.frames.reshape(6, 6, ROWS, COLS))
    accepted(program.run(tmp_path / "scan.npy", geometry=STEM, extra=probe_file(tmp_path, raster), output="npy.h5"), "NPY")
    with program.result("npy.h5") as result:
        return result["metrics/R_I"][()]


@pytest.mark.parametrize("name", ["scan_master.h5", "scan.emd"])
def test_a_scan_that_stem_opens_is_reconstructed(program, raster, tmp_path, name, from_npy):
    sonde.stem.from_array(raster.frames.reshape(6, 6, ROWS, COLS), hot_pixels="none").convert(tmp_path / name)
    of_data = 'scan_shape = "6,6"\n' if name.endswith("master.h5") else ""
    accepted(program.run(tmp_path / name, geometry=STEM, extra=probe_file(tmp_path, raster), of_data=of_data))
    with program.result() as result:
        np.testing.assert_allclose(result["metrics/R_I"], from_npy, rtol=1e-4)
        assert result["positions_A"].shape == (36, 2)


def test_the_calibration_of_a_scan_is_used(program, raster, tmp_path, from_npy):
    wavelength = sonde.ptycho.electron_wavelength(200)
    inverse = 2e-3 / wavelength  # 2 mrad per pixel
    step = 3.0 / (COLS * inverse)  # three object pixels along columns
    path = emd(tmp_path, raster, inverse=inverse, step_a=step)
    accepted(program.run(path, geometry="energy_keV = 200\n", extra=probe_file(tmp_path, raster)))
    with program.result() as result:
        np.testing.assert_allclose(result["object"].attrs["pixel_size_A"], [1 / (ROWS * inverse), 1 / (COLS * inverse)], rtol=1e-9)
        np.testing.assert_allclose(np.diff(result["positions_A"][:6, 1]), step, rtol=1e-9)


def test_a_binned_detector_has_wider_pixels(program, raster, tmp_path):
    wavelength = sonde.ptycho.electron_wavelength(200)
    path = emd(tmp_path, raster, inverse=2e-3 / wavelength, step_a=1.0)
    accepted(program.run(path, geometry="energy_keV = 200\n", of_data="detector_bin = 2\n"))
    with program.result() as result:
        assert result["probe"].shape == (1, 1, ROWS // 2, COLS // 2)
        # Half the pixels, twice as wide: the object pixel stays.
        np.testing.assert_allclose(result["object"].attrs["pixel_size_A"][1], wavelength / (COLS * 2e-3), rtol=1e-9)


def test_positions_and_mask_of_a_scan_are_used(program, raster, tmp_path, from_npy):
    path = emd(tmp_path, raster)
    np.save(tmp_path / "positions.npy", raster.positions)
    good = np.ones((ROWS, COLS), bool)
    good[5:8] = False
    with h5py.File(tmp_path / "mask.h5", "w") as file:
        file["mask"] = good
    settings = {"geometry": 'energy_keV = 200\ndetector_mrad_per_px = 2.0\n', "extra": probe_file(tmp_path, raster) +
                '[positions]\nunit = "px"\n'}
    accepted(program.run(path, of_data='format = "stem"\npositions = "positions.npy"\n', **settings))
    with program.result() as result:
        np.testing.assert_allclose(result["metrics/R_I"], from_npy, rtol=1e-4)
    accepted(program.run(path, of_data='format = "stem"\npositions = "positions.npy"\nmask = "mask.h5:mask"\n', **settings))
    run = sonde.ptycho.Reconstruction(
        {"geometry": {"energy_keV": 200, "detector_mrad_per_px": 2.0}, "positions": {"unit": "px"}, "data": {"holdout": 0.0},
         "engine": [{"name": "gd", "batch": 16, "iterations": 3}], "stop": {"rule": "off"}}, data=raster.frames,
        positions=raster.positions, probe=raster.start, mask=good)
    with program.result() as result:
        np.testing.assert_allclose(result["metrics/R_I"], [step.metrics["R_I"] for step in run.run()], rtol=1e-4)
    np.save(tmp_path / "positions.npy", raster.positions[:30])
    refused(program.run(path, of_data='format = "stem"\npositions = "positions.npy"\n', **settings), "30 positions for 36 frames")


def test_a_dry_run_decodes_nothing_and_knows_the_sizes(program, raster, tmp_path):
    path = emd(tmp_path, raster)
    ended = program.run(path, "--dry-run", geometry=STEM, of_data="detector_bin = 2\n")
    accepted(ended, "36 patterns of 12 x 10 pixels", "seconds per iteration")
    assert not (tmp_path / "result.h5").exists()


def test_scans_that_are_broken(program, raster, tmp_path):
    frames = raster.frames.reshape(6, 6, ROWS, COLS)
    refused(program.run(emd(tmp_path, raster)), "energy_keV and detector_mrad_per_px (or detector_inv_A_per_px) are missing")
    refused(program.run(emd(tmp_path, raster), geometry="energy_keV = 200\ndetector_mrad_per_px = 2.0\n"), "step of the raster")
    dark = frames.copy()
    dark[2, 3] = 0
    path = emd(tmp_path, raster, frames=dark)
    refused(program.run(path, geometry=STEM, extra=probe_file(tmp_path, raster)), "1 frames have no count: 15", "--skip-empty")
    accepted(program.run(path, "--skip-empty", geometry=STEM, extra=probe_file(tmp_path, raster)))
    negative = frames.astype(np.float32)
    negative[0, 1, 2, 3] = -4
    path = emd(tmp_path, raster, frames=negative)
    refused(program.run(path, geometry=STEM, extra=probe_file(tmp_path, raster)), "first frame 1, row 2, column 3")
    accepted(program.run(path, "--clip-negative", geometry=STEM, extra=probe_file(tmp_path, raster)))
    (tmp_path / "scan.emd").write_bytes(b"\x89HDF\r\n\x1a\n cut off")
    refused(program.run(tmp_path / "scan.emd", geometry=STEM), "scan.emd")
    refused(program.run(tmp_path / "gone.mib", geometry=STEM), "gone.mib")


def test_python_opens_the_same_scan(program, raster, tmp_path, from_npy):
    run = sonde.ptycho.Reconstruction(
        {"data": {"file": emd(tmp_path, raster), "holdout": 0.0}, "geometry": {"energy_keV": 200, "detector_mrad_per_px": 2.0,
         "scan_step_px": 3.0}, "engine": [{"name": "gd", "batch": 16, "iterations": 3}], "stop": {"rule": "off"}}, probe=raster.start)
    np.testing.assert_allclose([step.metrics["R_I"] for step in run.run()], from_npy, rtol=1e-4)


# Units: of positions, of values, of the probe

def plain(folder, made, name="positions", counts=None):
    """A file of patterns with positions in object pixels."""
    with h5py.File(folder / "plain.h5", "w") as file:
        file["data"] = made.frames if counts is None else counts
        file[name] = made.positions
    return "plain.h5"


ELECTRONS = "energy_keV = 200.0\ndetector_mrad_per_px = 1.0\nsemiangle_mrad = 3.0\n"


def first_floor(program):
    with program.result() as result:
        return json.loads(result["diagnostics"][()])["R_I_floor"], result["metrics/R_I"][0]


def test_a_list_called_px_is_in_pixels(program, made, tmp_path):
    with_unit = program.run(plain(tmp_path, made), extra=FWHM, geometry=ELECTRONS + "units = 'A'\n",
                            of_data='positions = "positions"\n[positions]\nunit = "px"\n')
    accepted(with_unit)
    expected = program.result()["positions_A"][()]
    accepted(program.run(plain(tmp_path, made, "positions_px"), extra=FWHM, geometry=ELECTRONS, of_data='positions = "positions_px"\n'),
             "object pixels, as the name says")
    np.testing.assert_array_equal(program.result()["positions_A"], expected)


def test_a_list_in_a_unit_that_is_not_read_is_reported(program, made, tmp_path):
    accepted(program.run(plain(tmp_path, made, "positions_nm"), extra=FWHM, geometry=ELECTRONS, of_data='positions = "positions_nm"\n'),
             "the name ends in _nm", "in A or in object pixels")
    ended = program.run(plain(tmp_path, made, "positions_PX"), extra=FWHM, geometry=ELECTRONS, of_data='positions = "positions_PX"\n')
    accepted(ended, "object pixels, as the name says")
    assert "the name ends in" not in ended.stderr


def test_values_that_are_counts_in_another_unit_have_the_floor_of_the_counts(program, made, tmp_path):
    pixels = 'units = "pixel"\n'
    accepted(program.run(plain(tmp_path, made), extra="fwhm = 6.0\n", geometry=pixels))
    floor, error = first_floor(program)
    scaled = made.frames.astype(np.float32) / np.float32(3000)
    ended = program.run(plain(tmp_path, made, counts=scaled), extra="fwhm = 6.0\n", geometry=pixels)
    accepted(ended, "every value is a multiple of 0.000333333")
    assert first_floor(program) == pytest.approx((floor, error), rel=1e-3)  # single precision of what follows
    with program.result() as result:  # of counts, not of values
        acquisition = json.loads(result["diagnostics"][()])["acquisition"]
    assert acquisition["counts_per_frame"] == pytest.approx(made.frames[:, made.good].sum() / len(made.frames), rel=1e-5)
    # Analogue values: no unit can be found, and no verdict is passed on the noise.
    gain = np.random.default_rng(5).uniform(0.9, 1.1, made.frames.shape)
    ended = program.run(plain(tmp_path, made, counts=scaled * gain), extra="fwhm = 6.0\n", geometry=pixels)
    accepted(ended, "no counts: the values are fractions without a common unit", "its floor is not known")
    assert "noise is fitted" not in ended.stderr and first_floor(program)[0] is None
    assert "counts per pixel: below one" not in ended.stdout + ended.stderr
    assert "dose         not known: the values are not counts" in program.call("diagnose", "result.h5").stderr
    ended = program.run(plain(tmp_path, made, counts=scaled * gain), extra="fwhm = 6.0\n", geometry=pixels,
                        of_data="counts_per_unit = 3000.0\n")
    accepted(ended)
    assert first_floor(program)[0] == pytest.approx(floor, rel=0.02)  # gains of +-10 % average out to 1


def test_cxi_of_electrons_asks_for_the_probe_type(program, made, tmp_path):
    # 300 keV, 0.2 mrad per pixel.
    path = cxi(tmp_path, made, energy=300 * JOULE_PER_KEV, distance=PIXEL_M / 2e-4)
    refused(program.run(path), "300 keV and 0.2 mrad per detector pixel are those of electrons", "geometry.probe_type")
    accepted(program.run(path, geometry='probe_type = "electron"\n', extra="fwhm = 20.0\n"))
    with program.result() as result:
        # lambda of 300 keV electrons is 0.0196875 A; a pixel is lambda / (n theta).
        np.testing.assert_allclose(result["object"].attrs["pixel_size_A"], [0.0196875 / (n * 2e-4) for n in (ROWS, COLS)], rtol=1e-5)


def exported_npy(folder):
    return [np.load(folder / f"out_{name}.npy") for name in ("object", "probe", "positions")]


def exported_cxi(folder):
    with h5py.File(folder / "out.cxi") as file:
        x_y_z, image = file["entry_1/sample_1/geometry_1/translation"][()], file["entry_1/image_1"]
        positions = np.stack([x_y_z[:, 1] / image["y_pixel_size"][()], x_y_z[:, 0] / image["x_pixel_size"][()]], axis=1)
        return image["data"][()], file["entry_1/instrument_1/source_1/illumination"][()], positions


def exported_ptyr(folder):
    with h5py.File(folder / "out.ptyr") as file:
        object_, positions = file["content/obj/S0"], file["content/positions/S0"][()]
        return object_["data"][()], file["content/probe/S0/data"][()], (positions - object_["_origin"][()]) / object_["_psize"][()]


@pytest.mark.parametrize("form, name, read", [("npy", "out", exported_npy), ("cxi", "out.cxi", exported_cxi),
                                              ("ptyr", "out.ptyr", exported_ptyr)])
def test_exported_arrays_give_the_patterns(program, made, tmp_path, form, name, read):
    with h5py.File(tmp_path / "far.h5", "w") as file:  # a scan that does not begin at 0
        file["data"] = made.frames
        file["positions_px"] = made.positions + (40.0, -25.0)
    accepted(program.run("far.h5", extra=FWHM, geometry=ELECTRONS, of_data='positions = "positions_px"\n', iterations=40))
    accepted(program.call("export", "result.h5", "--to", form, "-o", name))
    object_, probe, positions = read(tmp_path)
    assert positions.min() >= 0 and (positions.max(axis=0) < object_.shape[-2:]).all()
    model = sonde.ptycho.forward(object_, probe, positions)
    counts = made.frames.astype(float)
    model[:, ~made.good] = counts[:, ~made.good]
    with program.result() as result:
        expected = json.loads(result["diagnostics"][()])["R_I"]
    # What is reported is of the waves before the last update; afterwards the fit is a little better.
    assert 0.9 * expected < np.sqrt(((model - counts) ** 2).sum() / (counts**2).sum()) < 1.01 * expected


@pytest.mark.parametrize("semiangle, told", [(6.0, False), (6.3, False), (6.6, True), (5.4, True), (7.5, True)])
def test_a_semiangle_a_tenth_off_is_reported(program, tmp_path, semiangle, told):
    # A disk of 6 px on a detector of 1 mrad per pixel.
    y, x = np.mgrid[-16:16, -16:16]
    disk = 50.0 * np.clip(6.5 - np.hypot(y, x), 0, 1)
    with h5py.File(tmp_path / "disk.h5", "w") as file:
        file["data"] = np.random.default_rng(2).poisson(disk, (36, 32, 32)).astype(np.uint16)
        file["positions"] = [(2.0 * i, 2.0 * k) for i in range(6) for k in range(6)]
    ended = program.run("disk.h5", geometry=f"energy_keV = 200.0\ndetector_mrad_per_px = 1.0\nsemiangle_mrad = {semiangle}\n",
                        of_data='[positions]\nunit = "px"\n', iterations=1)
    accepted(ended)
    assert ("the bright disk of the mean pattern" in ended.stderr) == told, ended.stderr
