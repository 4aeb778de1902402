# SPDX-License-Identifier: Apache-2.0
"""One small file of every kind that verbs read, and for every verb a use of it that takes milliseconds."""

import json
import os
import pathlib
import shutil
import struct

import h5py
import numpy as np

import sonde
import timepix_words
from test_neoclassical_database import write_database
from test_strain import draw

DATA = pathlib.Path(os.environ.get("SONDE_TEST_DATA", pathlib.Path(__file__).parents[3] / "shared/data")) / "neoclassical"
WOUT = DATA / "wout_circular_tokamak.nc"
SCAN, DETECTOR = (6, 5), (28, 26)

RECON = """
[data]
file = "ptycho.h5"
[[engine]]
name = "gd"
iterations = 2
[compute]
deterministic = true
[output]
report = false
pictures = false
"""
GEOMETRY = """
[geometry]
energy_keV = 200
semiangle_mrad = 20
detector_mrad_per_px = 3.75
scan_step_A = 0.9
"""
#: What a constraint needs to do anything.
ALSO = {"gaussian": "sigma = 1\n", "tv": "weight = 0.01\n", "butterworth": "low_pass = 0.5\n", "bounds": "phase_max = 0.1\n", "kz": "[object]\nslices = 2\n",
        "slice_equal": "[object]\nslices = 2\n", "orthogonalise": "[probe]\nmodes = 2\n"}
HARMONICS = """type = "analytic"
m = [0, 1]
n = [0, 0]
b_cos = [1, 0.1]
nfp = 2
iota = 0.5
psi_p = 1
b_theta = 0
b_zeta = 1"""
SWEEP = """
[sweep]
run = "recon.toml"
at_once = 1
[[vary]]
name = "values"
setting = "engine.0.iterations"
values = [1, 2]
"""
TRANSPORT = """
[surface]
path = "analytic-demo"
[grid]
n_theta = 5
n_zeta = 5
n_xi = 4
[case]
nu_hat = 1e-1
epsi_hat = 1e-3
[scan]
nu_v = "1e-2,1e-1"
epsi_hat = "0,1e-3"
"""

RADAR = """#title: a conductor in a half-space
#domain: 0.08 0.07 0.002
#dx_dy_dz: 0.002 0.002 0.002
#time_window: 300
#pml_cells: 5
#material: 6 0.01 1 0 soil
#waveform: ricker 1 {frequency} pulse
#hertzian_dipole: z 0.03 0.05 0 pulse
#rx: 0.05 0.05 0
#src_steps: 0.002 0 0
#rx_steps: 0.002 0 0
#box: 0 0 0 0.08 0.046 0.002 soil
#cylinder: 0.04 0.03 0 0.04 0.03 0.002 0.006 pec
"""


def damage(path):
    """Overwrites the first stored chunk of frames."""
    with h5py.File(path) as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) and item.ndim == 3 else None)
        chunk = file[names[0]].id.get_chunk_info(0)
    with open(path, "r+b") as file:
        file.seek(chunk.byte_offset + 12)
        file.write(b"\xff" * (chunk.size - 12))


#: Two shots over a strip, by themselves and over a native model.
STRIP = """
[survey]
sources = [4, 3, 8, 3]
receivers = [4, 12, 8, 12, 10, 12]
[source]
f0 = 100e6
[time]
nt = 160
"""


def radar(folder):
    """A small model of gprMax, one whose cells are too large, one with a view, a native one, and what was found of the first and the last."""
    (folder / "radar.in").write_text(RADAR.format(frequency="1.5e9"))
    (folder / "coarse.in").write_text(RADAR.format(frequency="2e10"))
    view = "#geometry_view: 0 0 0 0.08 0.06 0.002 0.002 0.002 0.002 ground n\n"
    (folder / "viewed.in").write_text(RADAR.format(frequency="1.5e9") + view)
    sonde.run("maxwell run", folder / "radar.in", output=folder / "radar.out", snapshots=folder / "frames.h5", snapshot_every=100)
    with h5py.File(folder / "strip.h5", "w") as file:
        file.attrs["format"] = "sonde-maxwell-1"
        file["model/eps_r"] = np.full((14, 16), 4.0)
        file["model"].attrs["spacing"] = 0.05
    (folder / "strip.toml").write_text('[model]\nfile = "strip.h5"\n' + STRIP)
    sonde.run("maxwell run", folder / "strip.toml", output=folder / "records.h5")
    inverted = (folder / "strip.toml").read_text().replace("sources = [4, 3, 8, 3]", "sources = [4, 3]").replace("nt = 160", "nt = 160\ndt = 1.6e-10")
    inverted += '[data]\nfile = "one_shot.h5"\n[inversion]\neps_r_bounds = [2, 9]\n[[inversion.stage]]\niterations = 3\n'
    (folder / "fwi.toml").write_text(inverted)
    (folder / "coarse_fwi.toml").write_text(inverted.replace("f0 = 100e6", "f0 = 1e9"))
    sonde.run("maxwell run", folder / "fwi.toml", output=folder / "one_shot.h5", set=["model.eps_r=4.2"])
    sonde.run("maxwell gradient", folder / "fwi.toml", output=folder / "gradient.h5")
    sonde.run("maxwell fwi", folder / "fwi.toml", output=folder / "parted_fwi", set=["output.checkpoint_every=1"])
    sonde.run("maxwell run", folder / "radar.in", output=folder / "radar_line.out", runs=3)
    sonde.run("maxwell convert", folder / "radar_line_merged.out", folder / "line.dt1")
    (folder / "two.dzt").write_bytes(dzt(2))
    (folder / "cut.dzt").write_bytes(dzt(1)[:-1])


def dzt(channels):
    """Three scans of four samples for each channel."""
    header = bytearray(1024)
    struct.pack_into("<4Hh5f", header, 0, 0xFF, 1024, 4, 16, 0, 100, 50, 0, 0, 8)
    struct.pack_into("<H", header, 52, channels)
    scans = np.arange(3 * channels * 4, dtype="<u2") ** 2
    return bytes(header) * channels + scans.tobytes()


def wav(samples, rate):
    """A WAV file of float32 samples (count, channels)."""
    data = np.ascontiguousarray(samples, "<f4")
    channels = data.shape[1]
    form = struct.pack("<HHIIHH", 3, channels, rate, 4 * rate * channels, 4 * channels, 32)
    return b"RIFF" + struct.pack("<I", 36 + data.nbytes) + b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", data.nbytes) + data.tobytes()


def songs(folder):
    """A short song at 48 kHz, one with four channels, and one with a sample that is not a number."""
    t = np.arange(6000) / 48000
    song = np.stack([0.3 * np.sin(2 * np.pi * 220 * t), 0.2 * np.sin(2 * np.pi * 1800 * t * (1 + t))], axis=1)
    (folder / "song.wav").write_bytes(wav(song, 48000))
    (folder / "album/disc").mkdir(parents=True)
    for name in ("album/one.wav", "album/disc/two.wav"):
        (folder / name).write_bytes(wav(song[:3000], 44100))
    (folder / "surround.wav").write_bytes(wav(np.tile(song, 2), 48000))
    song[1000, 1] = np.nan
    (folder / "holes.wav").write_bytes(wav(song, 48000))


def stems(folder):
    """Two true stems and estimates of them at 8 kHz, and an estimate that is shorter."""
    noise = np.random.default_rng(3)
    for name in ("true_stems", "made_stems"):
        (folder / name).mkdir()
    for name in ("kick", "snare"):
        stem = noise.standard_normal((1200, 1))
        (folder / f"true_stems/{name}.wav").write_bytes(wav(stem, 8000))
        (folder / f"made_stems/{name}.wav").write_bytes(wav(stem + 0.3 * noise.standard_normal(stem.shape), 8000))
    (folder / "short_stem.wav").write_bytes(wav(stem[:1000], 8000))


def drums(folder):
    """Stems of three drums, of whose first hi-hat the right side is late, and a table of what is in them."""
    rate, seconds = 44100, 2.5
    noise = np.random.default_rng(1).uniform(-1, 1, int(rate * seconds))

    def stem(hits, sound):
        samples = np.zeros((int(rate * seconds), 2))
        for left, right, size, fall_s in hits:
            for side, at in enumerate((left, right)):
                t = np.arange(len(samples) - int(at * rate)) / rate
                samples[len(samples) - len(t):, side] += size * sound(t) * 10 ** (-3 * t / fall_s)
        return wav(samples, rate)

    (folder / "drums").mkdir()
    (folder / "drums/hihat.wav").write_bytes(stem([(0.2, 0.28, 0.5, 0.1), (0.5, 0.5, 0.3, 0.8), (1.4, 1.4, 0.2, 0.1)], lambda t: noise[:len(t)]))
    (folder / "drums/cymbals.wav").write_bytes(stem([(0.2, 0.2, 0.3, 4), (1.5, 1.5, 0.6, 0.3)], lambda t: noise[:len(t)]))
    kick = lambda t: np.sin(2 * np.pi * 60 * t) + 0.3 * np.sin(2 * np.pi * 150 * t) + 0.3 * noise[:len(t)] * np.exp(-t / 0.01)  # noqa: E731
    (folder / "drums/kick.wav").write_bytes(stem([(0.3, 0.3, 0.5, 0.3), (0.9, 0.9, 0.3, 0.3), (1.5, 1.5, 0.4, 0.3)], kick))
    (folder / "drums.csv").write_text("time_s,event,gain\n0.2,hihat_closed,0.5\n0.3,kick,0.5\n0.9,kick,0.3\n")


def networks(folder):
    """network.ckpt with its YAML file, the YAML file of another network, and the stems of the song."""
    reference = DATA.parent / "separation/reference"
    for name in ("model.ckpt", "config.yaml"):
        shutil.copy(reference / "a_instancenorm_gelu" / name, folder / f"network{pathlib.Path(name).suffix}")
    shutil.copy(reference / "c_groupnorm_elu/config.yaml", folder / "other_network.yaml")
    sonde.run("separate run", folder / "song.wav", checkpoint=folder / "network.ckpt", output=folder / "separated")


def disks(folder):
    """Bragg disks of a scan, one of them off its site, with their variances."""
    vectors = {"g1_x": 20, "g1_y": 2, "g2_x": -3, "g2_y": 22}
    truth = {"beam": np.full((*SCAN, 2), 10.0), **{name: np.full(SCAN, float(value)) for name, value in vectors.items()}}
    draw(folder / "bragg.h5", truth, noise=0.1)
    with h5py.File(folder / "bragg.h5", "r+") as file:
        file["bragg/qx"][56] += 1.2
        file["bragg/intensity"][...] = 5 + np.arange(file["bragg/intensity"].size) % 7
        file["bragg/var_y"] = file["bragg/var_x"] = 0.08 / file["bragg/intensity"][()]


def gold(folder):
    """A crystal, and disks of a scan of it along one zone axis, turned by 20 degrees in the second column."""
    cell = "\n".join(f"_cell_length_{axis} 4.078(3)" for axis in "abc") + "\n" + "\n".join(f"_cell_angle_{name} 90" for name in ("alpha", "beta", "gamma"))
    sites = "loop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\nAu1 0 0 0\n"
    (folder / "gold.cif").write_text(f"data_gold\n{cell}\n_space_group_name_H-M_alt 'F m -3 m'\n{sites}")
    (folder / "iron.cif").write_text(f"data_iron\n{cell.replace('4.078(3)', '2.8665')}\n_space_group_name_H-M_alt 'I m -3 m'\n{sites.replace('Au1', 'Fe1')}")
    made = sonde.stem.crystal(folder / "gold.cif", zone="1,2,5", voltage=200)
    spots = made["spot/x"] + 1j * made["spot/y"]
    disks = [np.concatenate([[0], spots * np.exp(1j * np.deg2rad(20 * (col == 1)))]) / 0.02 for row in range(3) for col in range(2)]
    with h5py.File(folder / "gold_disks.h5", "w") as file:
        file.attrs["schema"] = "sonde.stem.bragg/1"
        group = file.create_group("bragg")
        group.attrs.update(scan_shape=[3.0, 2.0], detector_shape=[160.0, 170.0], coordinates="raw", probe_radius=3.0, parameters="{}",
                           pixel_inv_a=0.02, high_tension_v=200e3)
        group["offsets"] = np.cumsum([0] + [len(each) for each in disks]).astype("u8")
        group["valid"] = np.ones(6, "u1")
        group["qx"] = (85 + np.concatenate(disks).real).astype("f4")
        group["qy"] = (80 + np.concatenate(disks).imag).astype("f4")
        group["intensity"] = np.tile(np.concatenate([[1], made["spot/intensity"]]), 6).astype("f4")


def spots(folder):
    """A scan of a lattice of spots, which has a cepstrum."""
    rows, cols = np.mgrid[:DETECTOR[0], :DETECTOR[1]]
    places = [(13.2 + 6 * h - k, 14.6 + h + 5 * k) for h in range(-6, 7) for k in range(-6, 7)]
    pattern = sum(np.exp(-((cols - x) ** 2 + (rows - y) ** 2) / 1.6) for x, y in places)
    np.save(folder / "spots.npy", np.random.default_rng(6).poisson(300 * pattern, SCAN + DETECTOR).astype("<u2"))


def calibration(path, detector):
    """What sonde stem calibrate writes of a powder on such a detector."""
    with h5py.File(path, "w") as file:
        file.attrs["schema"] = "sonde.stem.calibration/1"
        of_rings = {"ellipse_a": 1.05, "ellipse_b": 1 / 1.05, "ellipse_theta": 0.5, "q_pixel": 0.013}
        frame = {"detector_rows": detector[0], "detector_cols": detector[1], "detector_transposed": 0, "det_bin": 1, "scan_rows": 2, "scan_cols": 3,
                 "scan_prescan": 0, "scan_flip_rows": 0, "scan_flip_cols": 0, "scan_transposed": 0}
        for group, values in {"calibration": of_rings, "frame": frame, "centre": {"row": detector[0] / 2, "col": detector[1] / 2}}.items():
            for name, value in values.items():
                file[f"{group}/{name}"] = np.int32(value) if group == "frame" else float(value)


def hits(folder):
    """A scan of 5 x 7 positions of 40 us with edges before its lines, as it is, cut off, and on a chip that is turned."""
    data, _, _ = timepix_words.line_scan(5, 7, 40 * 640, 1200)
    (folder / "hits.tpx3").write_bytes(data)
    (folder / "cut.tpx3").write_bytes(data[:-40])
    (folder / "turned.toml").write_text("[[chip]]\nnumber = 0\nquarter_turns = 1\n")


def make(folder):
    """Names and paths of all inputs."""
    scan = folder / "scan_master.h5"
    simulated = {"scan_shape": SCAN, "detector_shape": DETECTOR, "disk_radius": 6, "hot_pixels": 2, "masked_pixels": 3, "dose": 4, "seed": 3}
    sonde.stem.simulate(scan, **simulated)
    with h5py.File(scan) as file:
        frames = np.concatenate([file["entry/data"][name][()] for name in sorted(file["entry/data"])])
    np.save(folder / "frames.npy", frames.reshape(SCAN + DETECTOR))
    frames.astype("<u2").tofile(folder / "plain.bin")
    (folder / "gaps.bin").write_bytes(b"\0" * 8 + b"".join(frame.astype("<u2").tobytes() + b"\0" * 4 for frame in frames))
    (np.arange(4 * 130 * 128) % 77).astype("<f4").tofile(folder / "empad.bin")
    with h5py.File(folder / "two.h5", "w") as file:
        file["a"], file["b"] = frames.reshape(SCAN + DETECTOR), frames.reshape(SCAN + DETECTOR)[::-1]
    mask = np.zeros(DETECTOR, np.uint8)
    mask[3, 4] = 1
    np.save(folder / "mask.npy", mask)
    random = np.random.default_rng(4)
    dense = 20 + random.normal(size=SCAN + DETECTOR) + 30 * (random.random(SCAN + DETECTOR) < 0.02)
    np.save(folder / "dense.npy", dense.round().astype("<u2"))
    np.save(folder / "dark.npy", (np.arange(28 * 26) % 3).reshape(DETECTOR).astype("<f4"))
    np.save(folder / "gain.npy", (1 + np.arange(28 * 26) % 2).reshape(DETECTOR).astype("<f4"))
    (folder / "broken").mkdir()
    sonde.stem.simulate(folder / "broken/scan_master.h5", **simulated, frames_per_file=30)
    damage(folder / "broken/scan_data_000001.h5")
    series = folder / "series"
    (series / "deeper").mkdir(parents=True)
    for number, name in enumerate(["tilt_1", "other_2", "deeper/tilt_3"]):
        sonde.stem.simulate(series / f"{name}_master.h5", **{**simulated, "seed": number})
    sonde.stem.simulate(series / "wider_master.h5", **{**simulated, "scan_shape": (5, 5)})
    calibration(folder / "calibration.h5", DETECTOR)
    calibration(folder / "calibration_of_disks.h5", (120, 130))
    calibration(folder / "calibration_of_gold.h5", (160, 170))
    for truth in folder.rglob("*_truth.h5"):
        truth.unlink()
    kept = sonde.run("stem image", scan, detector=["annulus(14,13,2,9)"], output=folder / "kept.npy")
    assert kept.facts
    data = sonde.stem.load(scan)
    state = {"schema": "sonde.view.state/1", "dataset": 0, "channels": [{"detector": "bf"}], "datasets": [{"path": str(scan), "record": data.provenance}]}
    (folder / "state.json").write_text(json.dumps(state))

    sonde.run("ptycho simulate", output=folder / "ptycho.h5", scan_shape="5,4", detector_px=32)
    (folder / "recon.toml").write_text(RECON)
    sonde.run("ptycho simulate", output=folder / "ptycho_2.h5", scan_shape="5,4", detector_px=32, seed=2)
    with h5py.File(folder / "ptycho.h5") as file:
        counts = file["data"][()].astype("f4")
    counts[0, 0] = 0
    counts[2, 2, 3, 3] = -1
    with h5py.File(folder / "odd.h5", "w") as file:
        file["counts"] = counts
    (folder / "odd.toml").write_text(RECON.replace("ptycho.h5", "odd.h5") + GEOMETRY)
    (folder / "other.toml").write_text(RECON.replace("ptycho.h5", "odd.h5") + "[direct]\nfit = \"none\"\n[geometry]\nscan_rotation_deg = 30\n[probe]\ndefocus_A = 400\ninit = \"aperture\"\n")
    (folder / "parted.h5.part").write_bytes(b"no part")
    sonde.run("ptycho simulate", output=folder / "ptycho_8.h5", scan_shape="8,8", detector_px=32)
    for name, constraint in (("sharp", ""), ("smooth", "[[constraint]]\nname = \"gaussian\"\nsigma = 1\n")):
        (folder / f"{name}.toml").write_text(RECON.replace("ptycho.h5", "ptycho_8.h5").replace("iterations = 2", "iterations = 20") + constraint)
        sonde.run("ptycho run", folder / f"{name}.toml", output=folder / f"{name}.h5")
    for table in sonde._sonde.ptycho_tables():
        for kind in table["kinds"] if table["list"] else []:
            engine = kind["kind"] if table["name"] == "engine" else "gd"
            text = RECON.replace('name = "gd"\niterations = 2', f'name = "{engine}"\niterations = 4')
            if table["name"] == "constraint":
                text += f'[[constraint]]\nname = "{kind["kind"]}"\n' + ALSO.get(kind["kind"], "")
            (folder / f"{table['name']}_{kind['kind']}.toml").write_text(text)
    for method in ("ssb", "parallax"):
        (folder / f"{'direct' if method == 'ssb' else method}.toml").write_text(RECON.replace("ptycho.h5", "ptycho_8.h5") + f'[object]\ninit = "{method}"\n')
    with h5py.File(folder / "ptycho.h5") as file:
        np.save(folder / "places.npy", file["positions_A"][()] if "positions_A" in file else np.mgrid[:5, :4].reshape(2, -1).T * 0.9)
    (folder / "listed.toml").write_text(RECON.replace('file = "ptycho.h5"', 'file = "ptycho.h5"\npositions = "places.npy"'))
    rows, cols = np.mgrid[:32, :32]
    np.save(folder / "off_centre.npy", np.exp(-((rows - 20.0) ** 2 + (cols - 12.0) ** 2) / 30).astype(complex))
    np.save(folder / "mask_32.npy", np.pad(np.ones((30, 30), np.uint8), 1))
    (folder / "of_wout.toml").write_text(TRANSPORT.replace("analytic-demo", "wout.nc").replace("[grid]", "s = 0.25\n[grid]"))
    (folder / "harmonics.toml").write_text(TRANSPORT.replace('path = "analytic-demo"', HARMONICS))
    (folder / "sweep.toml").write_text(SWEEP)
    (folder / "transport.toml").write_text(TRANSPORT)
    sonde.run("ptycho run", folder / "recon.toml", output=folder / "result.h5")
    sonde.run("ptycho run", folder / "recon.toml", output=folder / "checked.h5", set=["output.checkpoint_every=1", "engine.0.iterations=3"])
    sonde.run("neoclassical scan", folder / "transport.toml", output=folder / "transport_scan.nc")
    radar(folder)
    gold(folder)
    hits(folder)
    spots(folder)
    (folder / "config.toml").write_text("threads = 1\n")
    (folder / "profiles.toml").write_text("[profiles]\nn0 = 1e20\nT0 = 2000\n")
    write_database(folder / "Dij.h5")
    shutil.copy(WOUT, folder / "wout.nc")
    shutil.copy(DATA / "boozmn_circular_tokamak.nc", folder / "boozmn.nc")
    songs(folder)
    networks(folder)
    stems(folder)
    drums(folder)
    disks(folder)
    return {"scan": scan, "in": folder}

