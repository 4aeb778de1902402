# SPDX-License-Identifier: Apache-2.0
"""Loads a scan and writes a dark-field image, in twenty lines: virtual_image.py SCAN_master.h5 OUT.tif"""

import sys

import sonde


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: virtual_image.py SCAN_master.h5 OUT.tif", file=sys.stderr)
        return 2
    scan, output = sys.argv[1:]
    try:
        with sonde.stem.load(scan, det_bin=2) as dataset:
            detector = "annulus(auto,auto,1.5rho,3rho)"
            dataset.save_image(output, detector)
            centre = dataset.centre
            print(f"{output}: {dataset.mask(detector).sum():.0f} detector pixels, centre {centre.row:.2f}, {centre.col:.2f}")
        return 0
    except sonde.Error as error:
        print(error, file=sys.stderr)
        return error.exit_status


if __name__ == "__main__":
    sys.exit(main())
