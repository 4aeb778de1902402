# SPDX-License-Identifier: Apache-2.0
"""A calibration measured on rings and used by other verbs on other scans; what is given comes before it, the file of the scan after it."""

import h5py
import numpy as np
import pytest

import sonde

LINES = np.array([0.24521, 0.28314, 0.40042, 0.46953, 0.49041, 0.56628, 0.61711, 0.63313])  # of gold, 1/A
HEIGHTS = np.array([1, 0.6, 0.5, 0.6, 0.2, 0.1, 0.3, 0.3])
PIXEL, SHAPE, CENTRE = 0.0125, (118, 131), (57.3, 66.8)
RATIO, ANGLE = 1.06, 0.5
#: What the lenses make of a place on the detector, (x, y): areas stay.
TURN = np.array([[np.cos(ANGLE), -np.sin(ANGLE)], [np.sin(ANGLE), np.cos(ANGLE)]])
LENS = TURN @ np.diag([np.sqrt(RATIO), 1 / np.sqrt(RATIO)]) @ TURN.T


def powder(seed, frames=(2, 3)):
    """Rings of gold through these lenses, as counts."""
    row, col = np.mgrid[: SHAPE[0], : SHAPE[1]]
    x, y = np.linalg.inv(LENS) @ [(col - CENTRE[1]).ravel(), (row - CENTRE[0]).ravel()]
    r = np.hypot(x, y).reshape(SHAPE)
    rate = 60 * (sum(h * np.exp(-0.5 * ((r - line / PIXEL) / 0.8) ** 2) for line, h in zip(LINES, HEIGHTS)) + 0.8 * np.exp(-r / 25) + 0.05)
    rate += 4000 / (1 + np.exp((np.hypot(row - CENTRE[0], col - CENTRE[1]) - 6) / 0.4))
    return np.random.default_rng(seed).poisson(rate, (*frames, *SHAPE)).astype(np.uint16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("calibration")


@pytest.fixture(scope="module", params=["h5", "npz"])
def calibration(folder, request):
    (folder / "gold.D").write_text("".join(f"{1 / line} # (1, 1, {i}) {100 * h}\n" for i, (line, h) in enumerate(zip(LINES, HEIGHTS))))
    path = folder / f"calibration.{request.param}"
    sonde.stem.calibrate(powder(1), calibrant=folder / "gold.D", output=path)
    return path


def third_ring(made):
    """Middle and width of the ring at 0.400 1/A, above the line through its surroundings."""
    near = (made["radius"] > 0.365) & (made["radius"] < 0.435)  # the next ring is 5.5 px away
    radius, mean = made["radius"][near], made["radial/mean_of_scan"][near]
    weights = mean - np.interp(radius, radius[[0, -1]], mean[[0, -1]])
    middle = np.average(radius, weights=weights)
    return middle, np.sqrt(np.average((radius - middle) ** 2, weights=weights))


def test_rings_of_another_scan_are_round_and_in_inverse_angstrom(calibration):
    scan = powder(2)
    made = sonde.stem.radial(scan, calibration=calibration, bins=200)
    assert made.variables["radius"].unit == "1/A"
    assert made.facts["radial"]["ellipse"]["from"] == made.facts["radial"]["centre"]["from"] == "calibration"
    middle, width = third_ring(made)
    assert middle == pytest.approx(LINES[2], abs=0.1 * PIXEL)  # the background bends under the ring
    smeared = third_ring(sonde.stem.radial(scan, calibration=calibration, bins=200, skip_calibration="ellipse"))[1]
    assert width < PIXEL and smeared > 1.1 * width  # 0.8 px and the pixels; 6 % of 32 px spread it by 0.7 px
    assert any(choice["because"] == f"of {calibration}" for choice in made.report["choices"])
    assert sonde.stem.radial(scan).variables["radius"].unit == "px"


def test_what_is_given_comes_first_and_the_file_of_the_scan_last(calibration, tmp_path):
    with h5py.File(tmp_path / "scan.h5", "w") as file:
        file["root/cube/data"] = powder(3)
        for name, value in {"Q_pixel_size": 0.02, "Q_pixel_units": "A^-1", "a": 1.3, "b": 1.0, "theta": 0.0}.items():
            file[f"root/metadatabundle/calibration/{name}"] = value
    scan = tmp_path / "scan.h5"
    own, of_file, given = (sonde.stem.radial(scan, **asked) for asked in ({}, {"calibration": calibration}, {"calibration": calibration, "ellipse": "1.2,1,10", "centre": "50,60"}))
    assert own.facts["radial"]["ellipse"]["a"] == 1.3
    assert of_file.facts["radial"]["ellipse"]["a"] ** 2 == pytest.approx(RATIO, abs=3e-3)
    assert given.facts["radial"]["ellipse"] == {"a": 1.2, "b": 1.0, "degrees": pytest.approx(10), "from": "user"}
    assert (given.facts["radial"]["centre"]["row"], given.facts["radial"]["centre"]["col"]) == (50, 60)
    assert any("in place of what the file of the scan states" in choice["because"] for choice in of_file.report["choices"])


@pytest.mark.parametrize("verb", ["info", "load", "image", "com", "radial", "bragg", "convert"])
def test_every_verb_that_loads_a_scan_takes_it_and_refuses_that_of_another_detector(calibration, tmp_path, verb):
    np.save(tmp_path / "scan.npy", powder(4))
    np.save(tmp_path / "other.npy", powder(4)[:, :, :100])
    asked = {"calibration": calibration, **({"probe": "6"} if verb == "bragg" else {}), **({"output": tmp_path / "out.npy"} if verb == "convert" else {})}
    made = sonde.run(f"stem {verb}", tmp_path / "scan.npy", **asked)
    assert "calibration pixel" in json_of(made.report) + json_of(made.facts)
    with pytest.raises(sonde.Error, match="a calibration of a detector of 118 x 131 pixels; that of .* has 100 x 131"):
        sonde.run(f"stem {verb}", tmp_path / "other.npy", **asked)


def json_of(value):
    return str(value)


def test_a_result_never_replaces_the_calibration(calibration, tmp_path):
    before = calibration.read_bytes()
    np.save(tmp_path / "scan.npy", powder(4))
    for verb in ("com", "radial", "strain"):
        with pytest.raises(sonde.Error, match="an output never replaces an input"):
            sonde.run(f"stem {verb}", tmp_path / "scan.npy", calibration=calibration, output=calibration)
    assert calibration.read_bytes() == before


@pytest.fixture(scope="module")
def crystal(folder):
    """Patterns of a square lattice through the lenses, 24 px from disk to disk."""
    (g1x, g2x), (g1y, g2y) = 24 * LENS
    sonde.stem.simulate(folder / "crystal_master.h5", sample="disks", scan_shape="6,8", detector_shape=f"{SHAPE[0]},{SHAPE[1]}", disk_radius=5, dose=25,
                        lattice=f"{g1x},{g1y},{g2x},{g2y}", strain="0,0,0", hot_pixels=0, masked_pixels=0)
    return folder / "crystal_master.h5"


@pytest.mark.parametrize("path", ["scan", "bragg --calibration", "strain --calibration"])
def test_the_lattice_of_a_scan_is_square_without_its_lenses(calibration, crystal, tmp_path, path):
    given = {"calibration": calibration}
    if path == "scan":
        made = sonde.stem.strain(crystal, **given)
    else:
        first, then = (given, {}) if path.startswith("bragg") else ({}, given)
        sonde.stem.bragg(crystal, output=tmp_path / "bragg.h5", **first)
        made = sonde.stem.strain(tmp_path / "bragg.h5", **then)
    plain = sonde.stem.strain(crystal)

    def ratio(result):
        lattice = np.array([[np.median(result[f"lattice/g{i}_{axis}"]) for axis in "xy"] for i in (1, 2)])
        stretch = np.linalg.svd(lattice)[1]
        return stretch[0] / stretch[1]

    assert ratio(plain) == pytest.approx(RATIO, abs=2e-3)
    assert ratio(made) == pytest.approx(1, abs=4e-3)  # the ellipse is known to 1e-3, the lattice better


def test_rotation_and_origins_of_centres_of_mass_are_used(crystal, tmp_path):
    sonde.stem.com(crystal, output=tmp_path / "com.h5", units="px", rotation="33", transpose="0", fit="plane")
    made = sonde.stem.strain(crystal, calibration=tmp_path / "com.h5")
    frame = made.facts["strain"]["frame"]
    assert frame["name"] == "scan" and frame["degrees"] == pytest.approx(33) and not frame["transpose"]
    assert made.facts["strain"]["origin"]["fit"] == "file"  # that of every position
    phase = sonde.stem.phase(crystal, calibration=tmp_path / "com.h5", units="px")
    assert phase.facts["phase"]["rotation"]["degrees"] == pytest.approx(33)


def test_a_file_that_is_none_is_named(tmp_path):
    np.save(tmp_path / "plain.npy", powder(5))
    with pytest.raises(sonde.Error, match="gone.h5: no such file"):
        sonde.stem.load(tmp_path / "plain.npy", calibration=tmp_path / "gone.h5")
    with pytest.raises(sonde.Error, match="a scan that states no calibration of the detector(\n.*)*sonde stem calibrate"):
        sonde.stem.load(tmp_path / "plain.npy", calibration=tmp_path / "plain.npy")
