# SPDX-License-Identifier: Apache-2.0
"""One small file of every format that the program reads, and the commands that read it."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
import struct
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
from timepix_words import line_scan  # noqa: E402

SHARED = "stem/other"


@dataclasses.dataclass(frozen=True)
class Sample:
    """Files that belong together, in a folder of their own."""

    name: str
    victims: tuple[str, ...]  #: which of the files are damaged
    commands: tuple[str, ...]  #: words after `sonde`, relative to the folder; outputs are called out.*


def _stem(path: str, more: str = "") -> tuple[str, ...]:
    """Every command of 4D-STEM that reads a scan."""
    return tuple(f"{words} {more}".strip() for words in (
        f"stem info {path}", f"stem validate {path}", f"stem load {path} --memory 200M",
        f"stem image {path} -d circle(2,2,1.5) -o out.tif --memory 200M", f"stem convert {path} out.npy --memory 200M"))


class Maker:
    """Makes the samples with the program itself and with h5py and NumPy; foreign ones are copies of other people's files."""

    def __init__(self, program: str, root: pathlib.Path, data: pathlib.Path | None) -> None:
        self.program, self.root, self.data = program, root, data
        self.samples: list[Sample] = []
        self.left_out: list[str] = []

    def make(self) -> list[Sample]:
        """Samples of the instruments that the program has."""
        groups = {"stem": (self._detector_files, self._plain_arrays, self._electrons, self._hits, self._foreign_scans), "ptycho": (self._ptychography,),
                  "neoclassical": (self._transport, self._reports),
                  "maxwell": (self._radar, self._radar_frames, self._radar_lines, self._radar_inversion),
                  "separate": (self._networks, self._audio, self._drums)}
        for instrument, makers in groups.items():
            if subprocess.run([self.program, instrument, "--help"], capture_output=True, check=False).returncode == 0:
                for make in makers:
                    make()
        return self.samples

    def _folder(self, name: str) -> pathlib.Path:
        folder = self.root / name
        folder.mkdir(parents=True)
        return folder

    def _sonde(self, folder: pathlib.Path, words: str) -> None:
        subprocess.run([self.program, *words.split(), "--quiet"], cwd=folder, check=True, capture_output=True)

    def _add(self, folder: pathlib.Path, victims: list[str], commands: tuple[str, ...]) -> None:
        self.samples.append(Sample(folder.name, tuple(victims), commands))

    def _detector_files(self) -> None:
        folder = self._folder("nxmx")
        self._sonde(folder, "stem simulate scan_master.h5 --scan-shape 4,5 --detector-shape 24,20 --frames-per-file 12")
        self._add(folder, ["scan_master.h5", "scan_data_000001.h5", "scan_data_000002.h5"], _stem("scan_master.h5"))

        counts = np.random.default_rng(1).poisson(3, (4, 5, 24, 20))
        for kind, dtype, options in (("plain", "u2", {}), ("gzip", "u4", {"compression": "gzip", "shuffle": True, "fletcher32": True}),
                                     ("lzf", "f4", {"compression": "lzf"})):
            for libver in ("earliest", "latest"):
                folder = self._folder(f"hdf5_{kind}_{libver}")
                with h5py.File(folder / "scan.h5", "w", libver=libver) as file:
                    chunks = {"chunks": (1, 2, 24, 20)} if options else {}
                    file.create_dataset("entry/data/data", data=counts.astype(dtype), **chunks, **options)
                    file["entry/title"] = "a scan"
                    file["entry"].attrs.update(energy=2e5, names=["a", "b"], step=np.arange(3.0))
                    for i in range(12):
                        file[f"entry/many/value_{i}"] = i
                self._add(folder, ["scan.h5"], _stem("scan.h5"))

        folder = self._folder("hdf5_virtual")
        with h5py.File(folder / "part.h5", "w") as file:
            file["frames"] = counts.reshape(20, 24, 20).astype("u2")
        layout = h5py.VirtualLayout(shape=(4, 5, 24, 20), dtype="u2")
        source = h5py.VirtualSource("part.h5", "frames", shape=(20, 24, 20))
        for row in range(4):
            layout[row] = source[5 * row : 5 * row + 5]
        with h5py.File(folder / "scan.h5", "w", libver="latest") as file:
            file.create_virtual_dataset("data", layout)
        self._add(folder, ["scan.h5", "part.h5"], _stem("scan.h5"))

        folder = self._folder("emd")
        shutil.copytree(self.root / "nxmx", folder, dirs_exist_ok=True)
        self._sonde(folder, "stem convert scan_master.h5 scan.emd")
        for name in folder.glob("scan_*"):
            name.unlink()
        self._add(folder, ["scan.emd"], _stem("scan.emd"))

    def _plain_arrays(self) -> None:
        counts = np.random.default_rng(2).poisson(3, (4, 5, 24, 20))
        folder = self._folder("npy")
        np.save(folder / "scan.npy", counts.astype("u2"))
        self._add(folder, ["scan.npy"], _stem("scan.npy"))

        folder = self._folder("raw")
        counts.astype("<u2").tofile(folder / "scan.raw")
        self._add(folder, ["scan.raw"], _stem("scan.raw", "--raw-shape 4,5,24,20 --raw-dtype u2"))

        folder = self._folder("zarr")
        array = folder / "scan.zarr"
        array.mkdir()
        (array / ".zarray").write_text(
            '{"zarr_format": 2, "shape": [4, 5, 24, 20], "chunks": [1, 5, 24, 20], "dtype": "<u2", "compressor": null,'
            ' "fill_value": 0, "order": "C", "filters": null}')
        for row in range(4):
            counts[row].astype("<u2").tofile(array / f"{row}.0.0.0")
        self._add(folder, ["scan.zarr/.zarray", "scan.zarr/1.0.0.0"], _stem("scan.zarr"))

        folder = self._folder("mask")
        np.save(folder / "scan.npy", counts.astype("u2"))
        np.save(folder / "mask.npy", (counts[0, 0] > 6).astype("u1"))
        self._add(folder, ["mask.npy"], ("stem load scan.npy --mask-file mask.npy",))

    def _electrons(self) -> None:
        lists = [np.flatnonzero(frame) for frame in np.random.default_rng(4).poisson(0.1, (20, 480))]
        folder = self._folder("electrons")
        with h5py.File(folder / "electrons.h5", "w") as file:
            file.attrs["schema"] = "sonde.stem.events/1"
            group = file.create_group("events")
            group.attrs.update(scan_shape=[4.0, 5.0], frame_shape=[24.0, 20.0])
            group["offsets"] = np.cumsum([0] + [len(one) for one in lists]).astype("<u8")
            group["index"] = np.concatenate(lists).astype("<u4")
            group["frames"] = np.ones(20, "<u4")
        self._add(folder, ["electrons.h5"], _stem("electrons.h5"))
        folder = self._folder("stempy")
        with h5py.File(folder / "stempy.h5", "w") as file:
            file.attrs["version"] = 3
            file["electron_events/scan_positions"] = np.arange(20)
            file["electron_events/scan_positions"].attrs.update(Nx=5, Ny=4)
            frames = file.create_dataset("electron_events/frames", (20,), h5py.vlen_dtype("u4"))
            frames.attrs.update(Nx=24, Ny=20)
            for i, one in enumerate(lists):
                frames[i] = one
        self._add(folder, ["stempy.h5"], _stem("stempy.h5"))

    def _hits(self) -> None:
        folder = self._folder("timepix")
        (folder / "hits.tpx3").write_bytes(line_scan(4, 5, 2560, 60, late=2000)[0])
        (folder / "chips.toml").write_text("[[chip]]\nnumber = 0\nquarter_turns = 1\n[[chip]]\nnumber = 1\nx = 256\n")
        words = "stem events hits.tpx3 --dwell 4us --scan-shape 4x5 --memory 200M"
        self._add(folder, ["hits.tpx3", "chips.toml"], (
            f"{words} -o out.h5 --chips chips.toml", f"{words} -o out.npz --chips chips.toml --damage skip --cluster-time 0",
            f"{words} --png out.png --damage skip --chips chips.toml --lines none --start hit"))

        folder = self._folder("t3p")
        records = np.zeros(60, np.dtype([("index", "<u4"), ("toa", "<u8"), ("overflow", "u1"), ("ftoa", "u1"), ("tot", "<u2")]))
        records["index"] = np.random.default_rng(5).integers(0, 65536, 60)
        records["toa"], records["tot"] = 53 * np.arange(60), 9
        (folder / "hits.t3p").write_bytes(records.tobytes())
        words = "stem events hits.t3p --dwell 4us --scan-shape 4x5 --memory 200M"
        self._add(folder, ["hits.t3p"], (f"{words} -o out.h5 --format stempy", f"{words} --png out.png --damage skip"))

    def _foreign_scans(self) -> None:
        for name, path, more in (
                ("blo", f"{SHARED}/test2.blo", ""), ("py4dstem", f"{SHARED}/py4DSTEM_size2x3x4x5.h5", ""),
                ("emd_foreign", f"{SHARED}/Si100_4D.emd", ""), ("empad_xml", f"{SHARED}/map4x4.xml", ""),
                ("arina", "stem/quantem-fixture/fixture_master.h5", ""),
                ("mib", "stem/merlin/Quad_1_Frame_CounterDepth_1_Rows_256RAW.mib", ""),
                ("mrc", f"{SHARED}/Custom_movie.mrc", "--scan-shape 5,6"), ("tvips", f"{SHARED}/test_tvips_2345_000.tvips", "--scan-shape 2,3"),
                ("dm3", f"{SHARED}/test_diffraction_pattern.dm3", "")):
            if self.data is None or not (self.data / path).exists():
                self.left_out.append(name)
                continue
            original = self.data / path
            folder = self._folder(name)
            for beside in [original, *original.parent.glob(f"{original.stem.removesuffix('_master')}*")]:
                shutil.copyfile(beside, folder / beside.name)
            victims = [file.name for file in sorted(folder.iterdir()) if file.stat().st_size < 500_000]
            self._add(folder, victims, _stem(original.name, more))

    def _ptychography(self) -> None:
        rng = np.random.default_rng(3)
        n = 16
        y = np.arange(n) - n // 2
        probe = np.exp(-(y[:, None] ** 2 + y**2) / 15) * np.exp(0.05j * (y[:, None] ** 2 + y**2))
        probe *= np.sqrt(1e5 / np.sum(abs(probe) ** 2))
        wave = np.exp(1j * rng.uniform(0, 0.8, (30, 30)))
        places = [(2 * i, 2 * k) for i in range(6) for k in range(6)]
        frames = rng.poisson([np.fft.fftshift(abs(np.fft.fft2(probe * wave[i : i + n, k : k + n])) ** 2) / n**2 for i, k in places])
        positions = np.array(places, float) + n // 2
        run_file = ('[data]\nfile = "scan.h5"\npatterns = "data"\npositions = "positions"\n[geometry]\nunits = "pixel"\n'
                    '[probe]\nfile = "scan.h5:probe"\n[[engine]]\nname = "epie"\niterations = 1\n'
                    '[output]\ncheckpoint_every = 1\n[stop]\nrule = "off"\n')
        folder = self._folder("patterns")
        with h5py.File(folder / "scan.h5", "w") as file:
            file["data"], file["positions"], file["probe"] = frames.astype("u2"), positions, probe
        (folder / "run.toml").write_text(run_file)
        self._add(folder, ["scan.h5", "scan.h5", "run.toml"], ("ptycho run run.toml -o out.h5", "ptycho init scan.h5 -o out.toml"))

        joule, distance, pixel = 1.602176634e-16, 2.0, 55e-6
        step = 12.398419843320026e-10 / 8 * distance / (n * pixel)
        folder = self._folder("cxi")
        detector, source = "entry_1/instrument_1/detector_1/", "entry_1/instrument_1/source_1/"
        with h5py.File(folder / "scan.cxi", "w") as file:
            file["entry_1/data_1/data"] = frames.astype("u2")
            file["entry_1/data_1/translation"] = np.column_stack([positions[:, 1] * step, positions[:, 0] * step, np.zeros(36)])
            for key, value in {"distance": distance, "x_pixel_size": pixel, "y_pixel_size": pixel, "mask": np.zeros((n, n), "u4")}.items():
                file[detector + key] = value
            file[source + "energy"], file[source + "illumination"] = 8 * joule, probe.astype("c8")
        (folder / "run.toml").write_text('[data]\nfile = "scan.cxi"\n[[engine]]\nname = "epie"\niterations = 1\n[stop]\nrule = "off"\n')
        self._add(folder, ["scan.cxi"], ("ptycho run run.toml -o out.h5", "ptycho init scan.cxi -o out.toml"))

        folder = self._folder("ptyd")
        with h5py.File(folder / "scan.ptyd", "w") as file:
            for key, value in {"energy": 8.0, "distance": distance, "psize": pixel, "num_frames": 36, "shape": [n, n],
                               "center": [n // 2, n // 2], "version": "0.3"}.items():
                file[f"meta/{key}"] = value
            for i in range(2):
                part = slice(18 * i, 18 * i + 18)
                file[f"chunks/{i}/data"], file[f"chunks/{i}/positions"] = frames[part].astype("u2"), positions[part] * step
                file[f"chunks/{i}/indices"], file[f"chunks/{i}/weights"] = np.arange(36)[part], np.ones((n, n), "u1")
        (folder / "run.toml").write_text('[data]\nfile = "scan.ptyd"\n[probe]\nfwhm = 2000.0\n[[engine]]\nname = "epie"\niterations = 1\n'
                                         '[stop]\nrule = "off"\n')
        self._add(folder, ["scan.ptyd"], ("ptycho run run.toml -o out.h5",))

        folder = self._folder("result")
        shutil.copytree(self.root / "patterns", folder, dirs_exist_ok=True)
        self._sonde(folder, "ptycho run run.toml -o result.h5 --set engine.0.iterations=2")
        kept = {"result.h5", "scan.h5", "run.toml"} | {path.name for path in folder.glob("*.ckpt.h5")}
        for path in folder.iterdir():
            if path.name not in kept:
                path.unlink()
        self._add(folder, ["result.h5"], ("ptycho report result.h5 -o out.html", "ptycho export result.h5 --to npy -o out",
                                          "ptycho diagnose result.h5", "ptycho compare result.h5 result.h5",
                                          "view result.h5 --dry-run"))
        if checkpoints := sorted(path.name for path in folder.glob("*.ckpt.h5")):
            self._add(folder, checkpoints, (f"ptycho resume {checkpoints[0]} -o out.h5",))
        else:
            raise RuntimeError("the reconstruction left no checkpoint to damage")

    def _transport(self) -> None:
        grid = "--n-theta 5 --n-zeta 5 --n-xi 4"
        point = f"--nu-hat 1e-2 {grid} -o out.nc"
        equilibria = [("wout", "wout_circular_tokamak.nc", "--s 0.25 "), ("boozmn", "boozmn_circular_tokamak.nc", "--s 0.25 --snap ")]
        for name, file, where in equilibria:
            if self.data is None:
                self.left_out.append(name)
                continue
            folder = self._folder(name)
            shutil.copyfile(self.data / "neoclassical" / file, folder / file)
            boozer = (f"neoclassical boozer {file} -o out.nc",) if name == "wout" else ()
            self._add(folder, [file], (f"neoclassical run {file} {where}{point}", *boozer))
        folder = self._folder("dkes")
        (folder / "surface.ddkes2.data").write_text(
            " &datain\n nzperiod = 5, chip = -0.85, psip = 1.0, btheta = 0.05, bzeta = 1.0,\n"
            " borbi(0,0) = 1.0, borbi(0,1) = 0.06, borbi(1,1) = 0.025,\n borbi(-1,2) = 1.0E-2\n /\n")
        self._add(folder, ["surface.ddkes2.data"], (f"neoclassical run surface.ddkes2.data {point}",))

        folder = self._folder("surface_toml")
        (folder / "run.toml").write_text(
            '[surface]\ntype = "analytic"\nm = [0, 1]\nn = [0, 0]\nb_cos = [1.0, 0.1]\nnfp = 5\niota = 0.8\npsi_p = 1.0\n'
            'b_theta = 0.0\nb_zeta = 1.0\n[grid]\nn_theta = 5\nn_zeta = 5\nn_xi = 4\n[case]\nnu_hat = 1e-2\n')
        self._add(folder, ["run.toml"], ("neoclassical run run.toml -o out.nc",))

        for suffix in ("nc", "h5", "npz"):
            folder = self._folder(f"transport_{suffix}")
            self._sonde(folder, f"neoclassical run analytic-demo --nu-hat 1e-2 {grid} -o run.{suffix}")
            self._add(folder, [f"run.{suffix}"], (f"neoclassical convert run.{suffix} --to sfincs -o out.h5",
                                                  f"neoclassical plot run.{suffix} -o out.svg", f"view run.{suffix} --dry-run"))
        if self.data is None:
            self.left_out.append("database")
            return
        folder = self._folder("database")
        self._sonde(folder, f"neoclassical database {self.data / 'neoclassical' / 'wout_circular_tokamak.nc'} --rho 0.3,0.6 "
                            "--nu-v 1e-3,1e-2,1e-1 --er-tilde 0,1e-4,1e-3 --n-theta 9 --n-zeta 1 --n-xi 6 -o D.h5")
        self._add(folder, ["D.h5"], ("neoclassical convert D.h5 --to stars -o out.h5", "neoclassical profile D.h5 -o out.h5",
                                     "neoclassical plot D.h5 -o out.svg", "view D.h5 --dry-run"))

    def _radar(self) -> None:
        folder = self._folder("radar")
        (folder / "waveform.txt").write_text("time pulse\n" + "".join(f"{n * 2e-11:.2e} {np.sin(n / 4):.4f}\n" for n in range(24)))
        (folder / "model.in").write_text(
            "#title: layers\n#domain: 0.20 0.20 0.01\n#dx_dy_dz: 0.01 0.01 0.01\n#time_window: 40\n#pml_cells: 4\n"
            "#material: 4 0.01 1 0 sand\n#material: 3 0 1 0 clay\n#add_dispersion_debye: 1 2 1e-10 clay\n#box: 0 0 0 0.2 0.1 0.01 sand\n"
            "#box: 0 0 0 0.2 0.05 0.01 clay\n#cylinder: 0.1 0.05 0 0.1 0.05 0.01 0.02 pec\n#excitation_file: waveform.txt\n"
            "#waveform: ricker 1 5e8 wave\n#hertzian_dipole: z 0.08 0.12 0 wave\n#hertzian_dipole: z 0.06 0.12 0 pulse\n"
            "#rx: 0.12 0.12 0\n#src_steps: 0.01 0 0\n#rx_steps: 0.01 0 0\n")
        self._add(folder, ["model.in", "model.in", "waveform.txt"], ("maxwell run model.in -n 2 -o out.out --force --memory 20M",))
        folder = self._folder("radar_result")
        shutil.copytree(self.root / "radar", folder, dirs_exist_ok=True)
        self._sonde(folder, "maxwell run model.in -n 3 -o line.out --force")
        self._sonde(folder, "maxwell run model.in -n 3 -o traces.h5 --force")
        self._add(folder, ["line1.out"], ("maxwell plot line1.out -o out.svg",))
        self._add(folder, ["line_merged.out"], ("maxwell plot line_merged.out -o out.svg",))
        self._add(folder, ["traces.h5"], ("view traces.h5 --dry-run",))
        folder = self._folder("radar_native")
        with h5py.File(folder / "model.h5", "w") as file:
            file.attrs["format"] = "sonde-maxwell-1"
            file["model/eps_r"] = np.full((14, 16), 4, "f4")
            file["model"].attrs["spacing"] = 0.05
            file["survey/source_location"] = np.array([[[4, 3]]], "i4")
            file["survey/receiver_location"] = np.array([[[4.5, 12], [8, 12]]])
            file["source/amplitude"] = np.sin(np.arange(20) / 3)
        (folder / "run.toml").write_text('[model]\nfile = "model.h5"\nsigma = 0.01\n[grid]\npml = 4\n')
        self._sonde(folder, "maxwell run run.toml -o records.h5 --force")
        self._sonde(folder, "maxwell gradient run.toml --observed records.h5 -o gradient.h5 --force")
        self._add(folder, ["model.h5", "run.toml"], ("maxwell run run.toml -o out.h5 --force --memory 20M",))
        self._add(folder, ["records.h5"], ("maxwell plot records.h5 -o out.svg", "maxwell convert records.h5 out.sgy --dewow 1",
                                           "maxwell gradient run.toml --observed records.h5 -o out.h5 --force --memory 20M"))
        self._add(folder, ["gradient.h5"], ("maxwell born run.toml --direction gradient.h5 -o out.h5 --force --memory 20M",
                                            "view gradient.h5 --dry-run"))

    def _radar_frames(self) -> None:
        """Fields of a run, and cells of a model that are arrays."""
        folder = self._folder("radar_frames")
        shutil.copytree(self.root / "radar", folder, dirs_exist_ok=True)
        self._sonde(folder, "maxwell run model.in -o traces.out --force --snapshots frames.h5 --snapshot-every 8")
        self._add(folder, ["frames.h5"], ("maxwell plot frames.h5 -o out.svg", "view frames.h5 --dry-run"))
        folder = self._folder("radar_cells")
        with h5py.File(folder / "cells.h5", "w") as file:
            file.attrs["dx_dy_dz"] = (0.01, 0.01, 0.01)
            file["data"] = np.random.default_rng(4).integers(-1, 2, (6, 5, 1)).astype("i2")
            file["rigidE"], file["rigidH"] = np.zeros((12, 6, 5, 1), "i1"), np.zeros((6, 6, 5, 1), "i1")
            file["ID"] = np.zeros((6, 7, 6, 2), "u4")
        (folder / "cells.txt").write_text("#material: 4 0.02 1 0 plastic\n#material: 1 inf 1 0 metal\n")
        text = (self.root / "radar/model.in").read_text().replace("#excitation_file: waveform.txt\n", "").replace(
            "#hertzian_dipole: z 0.06 0.12 0 pulse\n", "#geometry_objects_read: 0.06 0.04 0 cells.h5 cells.txt\n")
        (folder / "model.in").write_text(text)
        self._sonde(folder, "maxwell run model.in -o field.out --force")
        self._add(folder, ["cells.h5", "cells.txt"], ("maxwell run model.in -o out.out --force --memory 20M", "maxwell plot model.in -o out.svg"))
        self._add(folder, ["field.out"], ("maxwell gradient model.in --observed field.out -o out.h5 --force --memory 20M",))

    def _radar_lines(self) -> None:
        """A line in each format of field data."""
        made = self._folder("radar_lines")
        for file in ("line_merged.out", "traces.h5"):
            shutil.copyfile(self.root / "radar_result" / file, made / file)
        head = np.zeros(512, "<u2")
        head[1:4], head[26] = (1, 16, 16), 1
        head[7:9], head[11:13], head[13:15] = (np.array([v], "<f4").view("<u2") for v in (50.0, -2.0, 40.0))
        counts = np.random.default_rng(5).integers(0, 65536, (8, 16)).astype("<u2")
        (made / "line.dzt").write_bytes(head.tobytes() + counts.tobytes())
        for file in ("line.dt1", "line.rd3", "line.rd7", "line.sgy"):
            self._sonde(made, f"maxwell convert line.dzt {file}")
        for name, victims in (("dzt", ["line.dzt"]), ("dt1", ["line.dt1", "line.hd"]), ("rd3", ["line.rd3", "line.rad"]),
                              ("rd7", ["line.rd7", "line.rad"]), ("sgy", ["line.sgy"]), ("out", ["line_merged.out"]), ("h5", ["traces.h5"])):
            folder = self._folder(f"radar_{name}")
            for victim in victims:
                shutil.copyfile(made / victim, folder / victim)
            other = "out.h5" if name in ("out", "dzt") else "out.dt1"
            self._add(folder, victims, (f"maxwell convert {victims[0]} {other} --memory 20M",
                                        f"maxwell convert {victims[0]} out.sgy --dewow 4 --background 0 --gain 1 --memory 20M",
                                        f"maxwell plot {victims[0]} -o out.svg --memory 20M"))
        shutil.rmtree(made)

    def _radar_inversion(self) -> None:
        folder = self._folder("radar_inversion")
        records = "--set data.file=records.h5"
        model = '[model]\neps_r = 4\nsigma = 0.002\nshape = [20, 16]\nspacing = 0.05\n[grid]\npml = 4\n'
        (folder / "run.toml").write_text(
            f'{model}[survey]\nsources = [6, 3, 14, 3]\nreceivers = [6, 12, 14, 12]\n[source]\nf0 = 2e8\n[time]\nnt = 60\n'
            '[inversion]\neps_r_bounds = [2, 9]\n[[inversion.stage]]\niterations = 2\n')
        self._sonde(folder, "maxwell run run.toml --set model.eps_r=4.3 -o records.h5 --force")
        self._sonde(folder, f"maxwell fwi run.toml {records} -o done --force --set output.checkpoint_every=1")
        shutil.copyfile(folder / "done/result.h5", folder / "result.h5")
        (folder / "next.toml").write_text((folder / "run.toml").read_text().replace(
            model, '[model]\nfile = "result.h5"\n[grid]\npml = 4\n'))
        self._add(folder, ["records.h5", "run.toml"], (f"maxwell fwi run.toml {records} -o fit --force --memory 20M",))
        self._add(folder, ["result.h5"], ("maxwell run next.toml -o out.h5 --force --memory 20M", "view result.h5 --dry-run"))
        self._add(folder, ["done/checkpoint.h5"], (f"maxwell fwi run.toml {records} -o done --resume --force --memory 20M",))

    def _networks(self) -> None:
        """Checkpoints in each format, and their configuration."""
        reference = self.data / "separation/reference" if self.data is not None else None
        for name in ("d_nonorm_gelu/model.ckpt", "d_nonorm_gelu/model.safetensors", "checkpoints/legacy_format.ckpt"):
            if reference is None or not (reference / name).exists():
                self.left_out.append(name)
                continue
            folder = self._folder(f"network_{len(self.samples)}")
            checkpoint = pathlib.Path(name).name
            shutil.copyfile(reference / name, folder / checkpoint)
            of = "b_batchnorm_relu_target" if "legacy" in name else "d_nonorm_gelu"
            shutil.copyfile(reference / of / "config.yaml", folder / "config.yaml")
            self._add(folder, [checkpoint, checkpoint, "config.yaml"], (f"separate info --checkpoint {checkpoint} --memory 200M",
                                                                        "separate info --checkpoint formula:1 --model config.yaml",
                                                                        f"separate convert {checkpoint} out.safetensors --memory 200M"))

    def _song(self, folder: pathlib.Path, name: str = "song.aiff", rate: int = 22050, seconds: float = 0.6) -> None:
        """Three hits of noise on two channels, as AIFF of 16 bits."""
        numbers = np.random.default_rng(6)
        since = np.arange(int(rate * seconds)) % int(0.2 * rate)
        samples = (8000 * numbers.normal(size=(2, since.size)) * np.exp(-since / 500)).astype(">i2")
        exponent = rate.bit_length() - 1  # the rate as a number of 80 bits
        common = struct.pack(">hIhHQ", 2, since.size, 16, 16383 + exponent, rate << 63 - exponent)
        sound = bytes(8) + samples.T.tobytes()
        chunks = b"COMM" + struct.pack(">I", len(common)) + common + b"SSND" + struct.pack(">I", len(sound)) + sound
        (folder / name).write_bytes(b"FORM" + struct.pack(">I", 4 + len(chunks)) + b"AIFF" + chunks)

    def _audio(self) -> None:
        """A song in each format, and a network of no size."""
        made = self._folder("audio")
        self._song(made)
        (made / "net.yaml").write_text(
            "audio: {chunk_size: 2016, dim_f: 16, hop_length: 32, n_fft: 64, sample_rate: 22050}\n"
            "model: {act: gelu, bottleneck_factor: 2, growth: 2, norm: InstanceNorm, num_blocks_per_scale: 1, num_channels: 2, num_scales: 1,\n"
            "        num_subbands: 2, scale: [2, 2]}\n"
            "training: {instruments: [snare, other], target_instrument: ~}\n"
            "inference: {num_overlap: 2}\n")
        network = "--checkpoint formula:1 --model net.yaml --memory 200M"
        for name, words in (("wav", "wav --subtype pcm16"), ("flac", "flac --subtype pcm16"), ("ogg", "ogg"), ("mp3", "mp3"), ("aiff", "")):
            folder = self._folder(f"audio_{name}")
            shutil.copyfile(made / "net.yaml", folder / "net.yaml")
            if words:
                self._sonde(made, f"separate run song.aiff {network} -o . --mix song=mixture --template {{stem}} --format {words}")
            shutil.copyfile(made / f"song.{name}", folder / f"song.{name}")
            self._add(folder, [f"song.{name}"], (f"separate run song.{name} {network} -o out --overlap 1",
                                                 f"separate midi snare=song.{name} -o out.mid --memory 200M",
                                                 f"separate eval song.{name} song.{name} -o out.csv --memory 200M"))
        shutil.rmtree(made)

    def _drums(self) -> None:
        """What was played, as a MIDI file and as a table; stems and their summary as a page."""
        folder = self._folder("drums")
        self._song(folder, "snare.aiff")
        self._sonde(folder, "separate midi snare.aiff -o played.mid --events played.csv")
        score = "separate midi snare.aiff --memory 200M --reference"
        self._add(folder, ["played.mid", "played.csv"], (f"{score} played.mid", f"{score} played.csv"))
        folder = self._folder("stems")
        shutil.copyfile(self.root / "audio_wav/song.wav", folder / "song.wav")
        shutil.copyfile(self.root / "audio_wav/net.yaml", folder / "net.yaml")
        self._sonde(folder, "separate run song.wav --checkpoint formula:1 --model net.yaml -o . --overlap 1")
        self._add(folder, ["song/separation.json", "song/snare.wav"], ("view song --dry-run",))

    def _reports(self) -> None:
        folder = self._folder("report")
        self._sonde(folder, "neoclassical run analytic-demo --nu-hat 1e-2 --n-theta 5 --n-zeta 5 --n-xi 4 -o run.nc --report a.json")
        (folder / "run.nc").unlink()
        shutil.copyfile(folder / "a.json", folder / "b.json")
        self._add(folder, ["a.json"], ("report show a.json", "report compare a.json b.json"))
