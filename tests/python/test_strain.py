# SPDX-License-Identifier: Apache-2.0
"""From the lattices of a simulated scan, through files of Bragg disks, to strain; beside NumPy."""

import h5py
import numpy as np
import pytest

import sonde

CRYSTAL = {"sample": "disks", "scan_shape": "9,14", "detector_shape": "24,26", "disk_radius": 2, "lattice": "20,2,-3,22", "strain_field": "gradient",
           "strain": "0.04,-0.03,0.01", "lattice_turn": 3, "rotation": 20, "hot_pixels": 0, "masked_pixels": 0}
ORDERS = np.array([(h, k) for h in range(-2, 3) for k in range(-2, 3)])


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    path = tmp_path_factory.mktemp("crystal")
    sonde.stem.simulate(path / "scan_master.h5", **CRYSTAL)
    with h5py.File(path / "scan_truth.h5") as file:
        return {name: file[name][()] for name in ("beam", "g1_x", "g1_y", "g2_x", "g2_y", "e_xx", "e_yy", "e_xy", "theta")}


def draw(path, truth, noise=0.0, orders=ORDERS, **attributes):
    """The disks of every position in the layout of `sonde stem bragg`, off their sites by `noise` px."""
    random = np.random.default_rng(8)
    rows, cols = truth["g1_x"].shape
    at = [truth["beam"][..., axis, None] + sum(truth[f"g{1 + j}_{name}"][..., None] * orders[:, j] for j in range(2)) for axis, name in enumerate("yx")]
    at = [40 + each + noise * random.standard_normal(each.shape) for each in at]
    with h5py.File(path, "w") as file:
        file.attrs["schema"] = "sonde.stem.bragg/1"
        group = file.create_group("bragg")
        group["offsets"] = np.arange(rows * cols + 1, dtype=np.uint64) * len(orders)
        group["valid"] = np.ones(rows * cols, np.uint8)
        group["qy"], group["qx"] = (each.astype(np.float32).ravel() for each in at)
        group["intensity"] = np.full(rows * cols * len(orders), 7, np.float32)
        group.attrs.update({"scan_shape": [float(rows), cols], "detector_shape": [120.0, 130], "coordinates": "raw", "probe_radius": 6.0, **attributes})
    return path


def test_strain_is_that_of_the_crystal(truth, tmp_path):
    disks = draw(tmp_path / "bragg.h5", truth, rotation_rad=np.radians(20), transpose=0.0)
    made = sonde.stem.strain(disks, output=tmp_path / "strain.h5", reference="20,2,-3,22")
    for name in ("e_xx", "e_yy", "e_xy", "theta"):
        np.testing.assert_allclose(made[f"strain/{name}"], truth[name], atol=1e-6)  # places are held as f32
    assert made.facts["strain"]["warnings"] == [] and made.facts["strain"]["frame"]["name"] == "scan"
    with h5py.File(tmp_path / "strain.h5") as file:
        assert file["strain/theta"].attrs["units"] == "rad" and file["strain/e_xx"].attrs["frame"] == "scan"
        assert file["strain/valid"][()].all() and (file["strain/n_peaks"][()] == 25).all()
        np.testing.assert_array_equal(file["strain/e_xy"][()], made["strain/e_xy"])


def test_lattices_and_their_errors_are_those_of_numpy(truth, tmp_path):
    """Least squares with the same disks, and the errors that NumPy's covariance gives the vectors."""
    disks = draw(tmp_path / "bragg.h5", truth, noise=0.1)
    made = sonde.stem.strain(disks, basis="20,2,-3,22", robust=False, measure="infinitesimal", reference="20,2,-3,22")
    with h5py.File(disks) as file:
        qy, qx = (file[f"bragg/{name}"][()].reshape(9, 14, 25).astype(float) for name in ("qy", "qx"))
    matrix = np.column_stack([np.ones(25), ORDERS])
    for q, name in ((qy, "y"), (qx, "x")):
        fitted = np.linalg.lstsq(matrix, q.reshape(-1, 25).T, rcond=None)[0].reshape(3, 9, 14)
        np.testing.assert_allclose(made[f"lattice/g1_{name}"], fitted[1], rtol=1e-6, atol=1e-5)
        np.testing.assert_allclose(made[f"lattice/g2_{name}"], fitted[2], rtol=1e-6, atol=1e-5)
    residual = sum(((q - np.tensordot(q, matrix @ np.linalg.pinv(matrix), (2, 1))) ** 2).sum(2) for q in (qy, qx))
    np.testing.assert_allclose(made["strain/residual"], np.sqrt(residual / (2 * 25 - 6)), rtol=1e-5)
    # F = G^-T G0^T changes by -G^-T dG^T F.
    g = np.stack([[made["lattice/g1_x"], made["lattice/g2_x"]], [made["lattice/g1_y"], made["lattice/g2_y"]]]).transpose(2, 3, 0, 1).astype(float)
    f = np.linalg.inv(g).transpose(0, 1, 3, 2) @ np.array([[20, -3], [2, 22.0]]).T
    np.testing.assert_allclose(made["strain/e_xx"], f[..., 0, 0] - 1, atol=1e-6)
    np.testing.assert_allclose(made["strain/theta"], (f[..., 1, 0] - f[..., 0, 1]) / 2, atol=1e-6)
    covariance = residual / 44 / 50  # times (M^T M)^-1 of h and k from -2 to 2
    along = np.linalg.norm(np.linalg.inv(g)[..., 0], axis=-1) * np.hypot(f[..., 0, 0], f[..., 1, 0])
    np.testing.assert_allclose(made["strain/sigma_exx"], along * np.sqrt(covariance), rtol=1e-4)


def test_without_a_rotation_the_axes_are_the_detectors(truth, tmp_path):
    made = sonde.stem.strain(draw(tmp_path / "bragg.h5", truth))
    assert made.facts["strain"]["frame"]["name"] == "detector"
    assert made.facts["strain"]["warnings"][0].startswith("the rotation from detector to scan is not known")


def test_a_collinear_lattice_ends_with_its_name_and_a_file(truth, tmp_path):
    disks = draw(tmp_path / "bragg.h5", truth, orders=ORDERS[ORDERS[:, 1] == 0])
    with pytest.raises(sonde.Error, match="100 % of the patterns have no lattice: collinear lattice") as stopped:
        sonde.stem.strain(disks, output=tmp_path / "strain.h5", plot=tmp_path / "strain.png")
    assert stopped.value.kind == "not_converged"
    with h5py.File(tmp_path / "strain.h5") as file:
        assert not file["strain/valid"][()].any() and np.isnan(file["strain/e_xx"][()]).all()
    assert (tmp_path / "strain.png").exists()


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    path = tmp_path_factory.mktemp("film") / "scan_master.h5"
    sonde.stem.simulate(path, sample="disks", scan_shape="8,15", detector_shape="120,128", disk_radius=6, dose=15, seed=2)
    return path


def test_strain_of_a_scan_scatters_by_its_sigma(film):
    """From pixels: two thousand counts in a disk, beyond an interface at three fifths of the columns."""
    made = sonde.stem.strain(film, rotation=0, transpose="0", reference_region="0,8,0,9")
    assert made.facts["strain"]["warnings"] == [] and made.facts["strain"]["positions"]["fitted"] == 120
    assert made.facts["strain"]["residual_over_sigma"] == pytest.approx(1, abs=0.15)
    with h5py.File(str(film).replace("_master", "_truth")) as file:
        for name, sigma in (("e_xx", "exx"), ("e_yy", "eyy"), ("e_xy", "exy"), ("theta", "theta")):
            pulls = (made[f"strain/{name}"] - file[name][()]) / made[f"strain/sigma_{sigma}"]
            assert 0.8 < np.sqrt(np.mean(pulls**2)) < 1.25, name  # by chance 0.065, and the reference of 72 positions


def test_disks_of_a_file_are_those_of_the_scan(film, tmp_path):
    sonde.stem.bragg(film, output=tmp_path / "bragg.h5")
    of_file, of_scan = (sonde.stem.strain(source) for source in (tmp_path / "bragg.h5", film))
    for name in ("strain/e_xx", "strain/sigma_theta", "strain/n_peaks"):
        np.testing.assert_array_equal(of_file[name], of_scan[name])


def test_a_scan_in_memory_is_a_scan(film):
    frames = np.asarray(sonde.stem.load(film, layout="frame").array).reshape(8, 15, 120, 128)
    assert sonde.stem.strain(frames).facts["strain"]["positions"]["fitted"] == 120


def test_disks_that_are_close_are_on_their_lattice_and_a_file_gives_what_its_scan_gives(tmp_path):
    scan = tmp_path / "scan_master.h5"
    sonde.stem.simulate(scan, sample="disks", scan_shape="4,5", detector_shape="100,104", disk_radius=7, dose=15, hot_pixels=0, masked_pixels=0)
    sonde.stem.bragg(scan, output=tmp_path / "bragg.h5")
    of_file, of_scan = (sonde.stem.strain(source) for source in (tmp_path / "bragg.h5", scan))
    assert np.array_equal(of_file["strain/e_xx"], of_scan["strain/e_xx"], equal_nan=True)
    # With a template to 2 R, over their neighbours, 0.59 px.
    assert of_scan.facts["strain"]["residual_px"] < 0.3


def test_disks_are_never_replaced(truth, tmp_path):
    disks = draw(tmp_path / "bragg.h5", truth)
    before = disks.read_bytes()
    with pytest.raises(sonde.Error):
        sonde.stem.strain(disks, output=disks)
    assert disks.read_bytes() == before


def test_other_files_are_refused(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(sonde.Error, match="no scan found"):
        sonde.stem.strain(tmp_path / "other.h5", output=tmp_path / "strain.h5")
