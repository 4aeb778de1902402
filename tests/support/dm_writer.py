# SPDX-License-Identifier: Apache-2.0
"""Writes the tag trees of DigitalMicrograph files, DM3 and DM4 in both byte orders, with struct and NumPy."""

import struct

import numpy as np

ELEMENT = {"u1": 10, "i1": 9, "u2": 4, "i2": 2, "u4": 5, "i4": 3, "f4": 6, "f8": 7}
DATA_TYPE = {"u1": 6, "i2": 1, "u2": 10, "u4": 11, "f4": 2}


class Dm:
    def __init__(self, version=4, big=False):
        self.version, self.order = version, ">" if big else "<"

    def words(self, *numbers):
        return struct.pack(">%d%s" % (len(numbers), "Q" if self.version == 4 else "I"), *numbers)

    def tag(self, kind, name, body):
        name = name.encode("latin-1")
        length = struct.pack(">Q", len(body)) if self.version == 4 else b""
        return bytes([kind]) + struct.pack(">H", len(name)) + name + length + body

    def data(self, name, info, body):
        return self.tag(21, name, b"%%%%" + self.words(len(info), *info) + body)

    def value(self, name, value):
        order = self.order
        if isinstance(value, dict):
            return self.tag(20, name, self.group(value))
        if isinstance(value, list):
            return self.tag(20, name, self.group([("", item) for item in value]))
        if isinstance(value, str):
            text = value.encode("utf-16le" if order == "<" else "utf-16be")
            return self.data(name, (20, 4, len(value)), text)
        if isinstance(value, float):
            return self.data(name, (7,), struct.pack(order + "d", value))
        if isinstance(value, bool):
            return self.data(name, (8,), bytes([value]))
        if isinstance(value, int):
            return self.data(name, (3,), struct.pack(order + "i", value))
        if isinstance(value, tuple):  # a struct of 32-bit numbers
            fields = sum(((0, 3) for _ in value), ())
            return self.data(name, (15, 0, len(value)) + fields, struct.pack(order + "%di" % len(value), *value))
        stored = value.astype(value.dtype.newbyteorder(order)).tobytes()
        return self.data(name, (20, ELEMENT[value.dtype.str[1:]], value.size), stored)

    def group(self, tags):
        tags = list(tags.items()) if isinstance(tags, dict) else tags
        return b"\1\0" + self.words(len(tags)) + b"".join(self.value(name, value) for name, value in tags)

    def write(self, path, tags):
        body = self.group(tags)
        with open(path, "wb") as file:
            file.write(struct.pack(">I", self.version) + self.words(len(body)))
            file.write(struct.pack(">I", self.order == "<") + body + bytes(8))


def image(array, axes, meta=None, code=None):
    """One entry of the list of images. `axes`: (scale, units) of every dimension, the fast one first."""
    dimension = [{"Origin": -3.0, "Scale": scale, "Units": unit} for scale, unit in axes]
    brightness = {"Origin": 0.0, "Scale": 1.0, "Units": ""}
    return {
        "ImageData": {
            "Calibrations": {"Brightness": brightness, "Dimension": dimension},
            "Data": array.ravel(),
            "DataType": code or DATA_TYPE[array.dtype.str[1:]],
            "Dimensions": list(array.shape[::-1]),
            "PixelDepth": array.itemsize,
        },
        "ImageTags": {
            "Microscope Info": {"Voltage": 300000.0, "STEM Camera Length": 115.0, "Size": (1, 2)},
            "Meta Data": meta or {},
        },
        "Name": "x",
    }


#: The first image of most files: larger than the pattern, of more dimensions, and never meant.
THUMBNAIL = image(np.zeros((5, 5, 5, 2), "<u1"), [(1.0, "")] * 4, code=23)


def file(images):
    return {"ImageList": images, "Thumbnails": [{"ImageIndex": 0}], "Image\xb5": True}
