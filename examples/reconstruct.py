# SPDX-License-Identifier: Apache-2.0
"""Simulates a scan and finds the phase of its specimen from the patterns: reconstruct.py SCAN.h5 PHASE.npy"""

import sys

import numpy as np

import sonde


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: reconstruct.py SCAN.h5 PHASE.npy", file=sys.stderr)
        return 2
    scan, output = sys.argv[1:]
    try:
        sonde.ptycho.simulate_file(scan, scan_shape=(12, 12), detector_px=48)

        # The tables of a run file; `sonde ptycho init` writes one with all keys.
        run = sonde.ptycho.Reconstruction({
            "data": {"file": scan, "patterns": "data", "positions": "positions_A", "mask": "mask", "holdout": 0.0},
            "geometry": {"energy_keV": 200, "semiangle_mrad": 20, "detector_mrad_per_px": 2.5},
            "probe": {"defocus_A": 135},  # it is 150, but nobody knows that
            "engine": [{"name": "gd", "iterations": 40}],
            "stop": {"rule": "off"},
        })
        steps = run.run()

        object_ = run.object[0]
        view = run.field_of_view
        # The phase relative to the mean direction: which zero it has, patterns cannot tell.
        phase = np.angle(object_[view] * np.conj(object_[view].sum()))
        np.save(output, phase.astype(np.float32))
        r = steps[-1].metrics["R_I"]
        print(f"{output}: R_I {r:.3f}, {r / run.floor:.2f} times the floor")
        return 0
    except sonde.Error as error:
        print(error, file=sys.stderr)
        return error.exit_status


if __name__ == "__main__":
    sys.exit(main())
