# SPDX-License-Identifier: Apache-2.0
"""Writes one scan of 3 x 4 positions in every format that `sonde stem` opens, and files of formats that it names.

    python3 stem_formats.py FOLDER

Layouts are written by hand, by NumPy or by h5py, never by sonde. FOLDER/formats.json lists what was written: for each
file its flags and the array that it holds (an NPY beside it), or what is said when it is refused.
"""

import io
import json
import os
import struct
import sys
import zipfile

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dm_writer  # noqa: E402

NM, ANGLE = (0.5, "nm"), (2.0, "mrad")


def counts(shape):
    """Values below 128, so that every element type holds them; no axis can be exchanged unseen."""
    r, c, y, x = np.indices(shape)
    return ((7 * r + 3 * c + 2 * y + x) % 50 + 1).astype("<u2")


class Writer:
    def __init__(self, folder):
        self.folder, self.listed = folder, []
        self.scan = counts((3, 4, 6, 5))

    def path(self, name):
        return os.path.join(self.folder, name)

    def reads(self, file, format, array=None, flags=()):
        array = self.scan if array is None else array
        np.save(self.path(f"{len(self.listed)}.expected.npy"), array.astype("<f8"))
        self.listed.append({"file": file, "format": format, "flags": list(flags),
                            "expected": f"{len(self.listed)}.expected.npy"})

    def refused(self, file, says):
        self.listed.append({"file": file, "says": says})

    def save(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def arrays(self):
        scan, shape = self.scan, ["--scan-shape", "3,4"]
        np.save(self.path("scan.npy"), scan)
        self.reads("scan.npy", "NPY")
        np.save(self.path("frames.npy"), scan.reshape(12, 6, 5))
        self.reads("frames.npy", "NPY", flags=shape)
        self.save("plain.raw", scan.tobytes())
        self.reads("plain.raw", "raw", flags=["--shape", "3,4,6,5", "--raw-dtype", "u2"])
        empad = counts((3, 4, 130, 128)).astype("<f4")
        empad.tofile(self.path("scan_x4_y3.raw"))
        self.reads("scan_x4_y3.raw", "EMPAD", empad[:, :, :128])
        empad.tofile(self.path("any.raw"))
        self.reads("any.raw", "EMPAD", empad[:, :, :128], ["--preset", "empad", *shape])
        self.save("empad.xml", b'<root><raw_file filename="any.raw"/><pix_x>4</pix_x><pix_y>3</pix_y></root>')
        self.reads("empad.xml", "EMPAD", empad[:, :, :128])

    def hdf5(self):
        scan = self.scan
        with h5py.File(self.path("cube.h5"), "w") as file:
            file["some/cube"] = scan
        self.reads("cube.h5", "HDF5")
        with h5py.File(self.path("packed.h5"), "w") as file:
            file.create_dataset("cube", data=scan, chunks=(1, 2, 3, 5), compression="gzip")
        self.reads("packed.h5", "HDF5")
        with h5py.File(self.path("scan.emd"), "w") as file:
            group = file.create_group("cube")
            file.attrs.update(version_major=1, version_minor=0)
            group["data"] = scan
            for i, (step, unit) in enumerate((NM, NM, ANGLE, ANGLE)):
                group[f"dim{i}"] = np.arange(2) * step
                group[f"dim{i}"].attrs["units"] = unit
        self.reads("scan.emd", "EMD 1.0")
        with h5py.File(self.path("scan.hspy"), "w") as file:
            group = file.create_group("Experiments/x")
            group.create_dataset("data", data=scan, chunks=(1, 4, 6, 5), compression="gzip")
            for i, axis in enumerate(self.hyperspy_axes()):
                group.create_group(f"axis-{i}").attrs.update(axis)
        self.reads("scan.hspy", "HyperSpy")
        with h5py.File(self.path("nion.h5"), "w") as file:
            file.create_dataset("data", data=scan).attrs["properties"] = json.dumps(self.nion())
        self.reads("nion.h5", "Nion Swift HDF5")
        self.electrons()
        with h5py.File(self.path("velox.emd"), "w") as file:
            file["Data/Image/0/Data"] = scan[0]
            file.create_group("Features")
            file.create_group("Operations")
        self.refused("velox.emd", "is a Velox EMD file, which is not read")

    def electrons(self):
        """Lists of pixels, each as often as it counted: sonde's file, and stempy's with two frames at each position."""
        lists = [np.repeat(np.arange(30), frame.ravel()) for frame in self.scan.reshape(12, 6, 5)]
        with h5py.File(self.path("electrons.h5"), "w") as file:
            file.attrs["schema"] = "sonde.stem.events/1"
            group = file.create_group("events")
            group.attrs.update(scan_shape=[3.0, 4.0], frame_shape=[6.0, 5.0])
            group["offsets"] = np.cumsum([0] + [len(one) for one in lists]).astype("<u8")
            group.create_dataset("index", data=np.concatenate(lists).astype("<u4"), chunks=(700,), compression="gzip")
            group["frames"] = np.ones(12, "<u4")
        self.reads("electrons.h5", "events")
        with h5py.File(self.path("stempy.h5"), "w") as file:
            file.attrs["version"] = 3
            group = file.create_group("electron_events")
            positions = group.create_dataset("scan_positions", data=np.repeat(np.arange(12), 2))
            positions.attrs.update(Nx=4, Ny=3)
            frames = group.create_dataset("frames", (24,), dtype=h5py.vlen_dtype(np.uint32))
            frames.attrs.update(Nx=6, Ny=5)
            for i, one in enumerate(lists):
                frames[2 * i], frames[2 * i + 1] = one[::3], np.delete(one, np.s_[::3])
        self.reads("stempy.h5", "stempy")

    def hyperspy_axes(self):
        return [dict(name="a", scale=scale, offset=0.0, units=unit, size=size, navigate=i < 2)
                for i, ((scale, unit), size) in enumerate(zip((NM, NM, ANGLE, ANGLE), self.scan.shape))]

    def nion(self):
        return dict(collection_dimension_count=2, datum_dimension_count=2, is_sequence=False,
                    dimensional_calibrations=[dict(offset=0, scale=scale, units=unit)
                                              for scale, unit in (NM, NM, ANGLE, ANGLE)])

    def zarr_array(self, folder):
        os.makedirs(self.path(folder))
        self.save(f"{folder}/.zarray", json.dumps(dict(
            zarr_format=2, shape=self.scan.shape, chunks=[2, 4, 6, 5], dtype="<u2", order="C", fill_value=0,
            filters=None, compressor=None)).encode())
        padded = np.concatenate([self.scan, self.scan[:1]])
        for i in range(2):
            self.save(f"{folder}/{i}.0.0.0", padded[2 * i:2 * i + 2].tobytes())

    def zarr(self):
        self.zarr_array("array.zarr")
        self.reads("array.zarr", "Zarr")
        self.zarr_array("group.zarr/inner/cube")
        self.save("group.zarr/.zgroup", b'{"zarr_format": 2}')
        self.reads("group.zarr/", "Zarr")  # as shells complete it
        self.zarr_array("scan.zspy/Experiments/x/data")
        self.save("scan.zspy/.zgroup", b'{"zarr_format": 2}')
        for i, axis in enumerate(self.hyperspy_axes()):
            os.makedirs(self.path(f"scan.zspy/Experiments/x/axis-{i}"))
            self.save(f"scan.zspy/Experiments/x/axis-{i}/.zattrs", json.dumps(axis).encode())
        self.reads("scan.zspy", "HyperSpy Zarr")
        os.makedirs(self.path("three.zarr"))
        self.save("three.zarr/zarr.json", b'{"zarr_format": 3}')
        self.refused("three.zarr", "is Zarr version 3, version 2 is read")

    def archives(self):
        npy = io.BytesIO()
        np.save(npy, self.scan)
        with zipfile.ZipFile(self.path("scan.ndata"), "w") as archive:
            archive.writestr("data.npy", npy.getvalue())
            archive.writestr("metadata.json", json.dumps(self.nion()))
        self.reads("scan.ndata", "Nion Swift ndata")
        np.savez(self.path("scan.npz"), self.scan)
        self.refused("scan.npz", "is an NPZ archive, which is not read")
        with zipfile.ZipFile(self.path("scan.zip"), "w") as archive:
            archive.writestr("scan.mib", "MQ1,")
        self.refused("scan.zip", "is a ZIP archive, which is not read")

    def detectors(self):
        scan, shape = self.scan, ["--scan-shape", "3,4"]
        frames = scan.reshape(12, 6, 5)
        mib = b""
        for n, frame in enumerate(frames):
            head = "MQ1,%06d,00384,01,0005,0006,U16,   1x1,01,2020-01-01 00:00:00.000000,0.001,0,0" % n
            mib += head.encode().ljust(384, b"\0") + frame.astype(">u2").tobytes()
        self.save("scan.mib", mib)
        self.reads("scan.mib", "MIB", flags=shape)
        square = counts((3, 4, 6, 6)).astype("u1")
        blo = bytearray(0x1000)
        blo[:6] = b"IMGBLO"
        struct.pack_into("<HIII", blo, 6, 0x0102, 0, 0x1000, 0)
        struct.pack_into("<HHHHH", blo, 20, 6, 0, 4, 3, 0)
        struct.pack_into("<ddI", blo, 30, 0.5, 0.5, 200000)
        for n, frame in enumerate(square.reshape(12, 6, 6)):
            blo += struct.pack("<HI", 0x55AA, n) + frame.tobytes()
        self.save("scan.blo", bytes(blo))
        self.reads("scan.blo", "BLO", square)
        mrc = bytearray(1024)
        struct.pack_into("<10i", mrc, 0, 5, 6, 12, 6, 0, 0, 0, 5, 6, 12)
        mrc[208:214] = b"MAP DD"
        self.save("scan.mrc", bytes(mrc) + scan.tobytes())
        self.reads("scan.mrc", "MRC", flags=shape)
        tvips = struct.pack("<13I", 256, 2, 5, 6, 16, 0, 0, 1, 1, 15500, 200, 0, 60).ljust(256, b"T")
        for part in range(2):
            body = b"".join(bytes(60) + frame.tobytes() for frame in frames[6 * part:6 * part + 6])
            self.save(f"scan_00{part}.tvips", (tvips if part == 0 else b"") + body)
        self.reads("scan_000.tvips", "TVIPS", flags=shape)
        fast = scan.transpose(2, 3, 0, 1)
        for version in (3, 4):
            images = [dm_writer.THUMBNAIL, dm_writer.image(fast, [NM, NM, ANGLE, ANGLE])]
            dm_writer.Dm(version).write(self.path(f"scan.dm{version}"), dm_writer.file(images))
            self.reads(f"scan.dm{version}", f"DM{version}")
        self.save("scan.tif", self.tiff(frames))
        self.reads("scan.tif", "TIFF", flags=shape)

    @staticmethod
    def tiff(frames):
        """A classic little-endian stack, one strip per page."""
        rows, cols = frames[0].shape
        out = b"II*\0" + struct.pack("<I", 8)
        for n, frame in enumerate(frames):
            tags = {256: cols, 257: rows, 258: 16, 259: 1, 262: 1, 273: 0, 277: 1, 278: rows, 279: frame.nbytes}
            tags[273] = len(out) + 2 + 12 * len(tags) + 4
            after = tags[273] + frame.nbytes if n + 1 < len(frames) else 0
            entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in sorted(tags.items()))
            out += struct.pack("<H", len(tags)) + entries + struct.pack("<I", after) + frame.tobytes()
        return out

    def foreign(self):
        self.save("scan.ser", b"\x49\x49\x97\x01" + bytes(100))
        self.refused("scan.ser", "is a TIA file (SER), which is not read")
        self.save("scan.seq", struct.pack("<I", 0xFEED) + "Norpix seq".encode("utf-16le") + bytes(1024))
        self.refused("scan.seq", "is a StreamPix sequence (SEQ), which is not read")
        self.save("scan.tpx3", b"TPX3" + bytes(100))
        self.refused("scan.tpx3", "is a stream of Timepix3 events (TPX3), which is not read")
        self.save("k2.bin", struct.pack(">I", 0xFFFF0055) + bytes(100))
        self.refused("k2.bin", "is raw data of a Gatan K2 camera, which is not read")
        dm_writer.Dm(4).write(self.path("k2.gtg"), {"x": 1})
        self.refused("k2.gtg", "is the header of raw data of a Gatan K2 camera, which is not read")

    def all(self):
        for part in (self.arrays, self.hdf5, self.zarr, self.archives, self.detectors, self.foreign):
            part()
        with open(self.path("formats.json"), "w") as file:
            json.dump({"formats": self.listed}, file, indent=1)
        return self.listed


def write_all(folder):
    return Writer(str(folder)).all()


if __name__ == "__main__":
    write_all(sys.argv[1])
